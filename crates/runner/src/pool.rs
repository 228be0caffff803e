//! The one pool of threads: numbered tasks, the first ones first.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// As many threads as there are cores.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Runs tasks 0 to `count` - 1 on several threads, each by `one`, until all are finished, one fails or `stopped` says
/// so. A task that was not reached, or gave nothing, has `None`. Of several errors the caller gets that of the lowest
/// number, and a panic as it was.
pub fn run<T: Send, E: Send>(
    count: usize,
    threads: usize,
    stopped: &(dyn Fn() -> bool + Sync),
    one: impl Fn(usize) -> Result<Option<T>, E> + Sync,
) -> Result<Vec<Option<T>>, E> {
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let results: Vec<Mutex<Result<Option<T>, E>>> = (0..count).map(|_| Mutex::new(Ok(None))).collect();
    let panicked: Mutex<Option<Box<dyn Any + Send>>> = Mutex::new(None);
    let work = || {
        while !stopped() && !failed.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(place) = results.get(number) else { return };
            match catch_unwind(AssertUnwindSafe(|| one(number))) {
                Ok(result) => {
                    failed.fetch_or(result.is_err(), Ordering::Relaxed);
                    *place.lock().unwrap_or_else(PoisonError::into_inner) = result;
                }
                Err(panic) => {
                    failed.store(true, Ordering::Relaxed);
                    *panicked.lock().unwrap_or_else(PoisonError::into_inner) = Some(panic);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(count) {
            scope.spawn(work);
        }
        work();
    });
    if let Some(panic) = panicked.into_inner().unwrap_or_else(PoisonError::into_inner) {
        resume_unwind(panic);
    }
    results.into_iter().map(|result| result.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_and_the_first_error_counts() {
        let never = || false;
        let squares = run(100, 4, &never, |number| Ok::<_, ()>((number % 3 != 0).then_some(number * number))).unwrap();
        assert!((0..100).all(|number| squares[number] == (number % 3 != 0).then_some(number * number)));
        let failed = run(8, 1, &never, |number| if number >= 3 { Err(number) } else { Ok(Some(number)) });
        assert_eq!(failed, Err(3));
        assert_eq!(run(3, 2, &|| true, |number| Ok::<_, ()>(Some(number))), Ok(vec![None; 3]), "stopped");
        let panicked = catch_unwind(|| run(8, 3, &never, |_| -> Result<Option<()>, ()> { panic!("as it was") }));
        assert_eq!(panicked.unwrap_err().downcast_ref::<&str>(), Some(&"as it was"));
    }
}
