//! Long work without the interpreter lock, in a thread of its own: Ctrl-C stops it, and a panic becomes an exception.

use crate::error::InternalError;
use pyo3::prelude::*;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How often signals are looked for and progress is shown.
const EVERY: Duration = Duration::from_millis(50);
/// As much as a main thread has.
const STACK: usize = 8 << 20;

/// Does the work, which is told to stop by the flag that it is given, and calls `tick` now and then until it is done,
/// and once more.
pub(crate) fn watch<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> T + Send,
    mut tick: impl FnMut(Python<'_>) -> PyResult<()>,
) -> PyResult<T> {
    let (stop, done, over) = (AtomicBool::new(false), Mutex::new(false), Condvar::new());
    let (stop, done, over) = (&stop, &done, &over);
    let mut failure = None;
    let result = thread::scope(|scope| {
        let worker = move || {
            let result = catch_unwind(AssertUnwindSafe(|| work(stop)));
            *done.lock().unwrap_or_else(PoisonError::into_inner) = true;
            over.notify_all();
            result
        };
        let handle = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, worker)?;
        let wait = || {
            let guard = done.lock().unwrap_or_else(PoisonError::into_inner);
            let waited = over.wait_timeout_while(guard, EVERY, |done| !*done);
            *waited.unwrap_or_else(PoisonError::into_inner).0
        };
        while !py.detach(wait) {
            if failure.is_none() {
                failure = py.check_signals().and_then(|()| tick(py)).err();
                stop.fetch_or(failure.is_some(), Ordering::Relaxed);
            }
        }
        // Short work is told, too.
        if failure.is_none() {
            failure = tick(py).err();
        }
        Ok::<_, std::io::Error>(py.detach(|| handle.join()))
    });
    // Of a thread whose panics are caught, only the result is left.
    match (failure, result?) {
        (Some(failure), _) => Err(failure),
        (None, Ok(Ok(value))) => Ok(value),
        // An exception of a scheme written in Python leaves the simulator as a panic.
        (None, Ok(Err(panic)) | Err(panic)) => Err(match panic.downcast::<PyErr>() {
            Ok(error) => *error,
            Err(panic) => InternalError::new_err(message(panic.as_ref())),
        }),
    }
}

/// What a panic has said.
fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    format!("this is a mistake in Forebay: {}", text.unwrap_or("a panic without a text"))
}

/// Panics in a worker, so that a test can see what becomes of it.
#[pyfunction]
pub(crate) fn panic_for_tests(py: Python<'_>) -> PyResult<()> {
    watch(py, |_| panic!("on purpose"), |_| Ok(()))
}
