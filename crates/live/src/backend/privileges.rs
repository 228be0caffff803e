//! Gives up what root may do and a switch does not need.
//!
//! Linux keeps capabilities per thread, and new threads get those of the thread that starts them: so this is called before other threads are started, or in
//! each of them.

use super::socket::checked;
use std::io;
use std::sync::mpsc::channel;
use std::thread::{Builder, JoinHandle};

const NET_ADMIN: u32 = 12;
const NET_RAW: u32 = 13;
const BPF: u32 = 39;
/// The highest number that a kernel may know.
const HIGHEST: u32 = 63;
/// Two words for each set.
const VERSION: u32 = 0x2008_0522;

#[repr(C)]
struct Header {
    version: u32,
    thread: i32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Sets {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// What this thread may do, of each half of the numbers.
fn current() -> io::Result<[Sets; 2]> {
    let (header, mut sets) = (Header { version: VERSION, thread: 0 }, [Sets::default(); 2]);
    // SAFETY: the kernel reads the header and writes the two sets of this version.
    checked(unsafe { libc::syscall(libc::SYS_capget, &raw const header, sets.as_mut_ptr()) })?;
    Ok(sets)
}

/// Keeps these capabilities, as far as this thread has them, and no others, for good: no program that it starts gets more.
fn keep(kept: &[u32]) -> io::Result<()> {
    // SAFETY: no memory is involved.
    checked(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) })?;
    for capability in (0..=HIGHEST).filter(|capability| !kept.contains(capability)) {
        // Without the privilege to do this, or beyond the kernel's highest number, there is nothing to be done.
        // SAFETY: no memory is involved.
        unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) };
    }
    let mut sets = current()?;
    for (word, set) in sets.iter_mut().enumerate() {
        let mask =
            kept.iter().filter(|kept| **kept as usize / 32 == word).fold(0, |mask, kept| mask | 1 << (kept % 32));
        *set = Sets { effective: set.permitted & mask, permitted: set.permitted & mask, inheritable: 0 };
    }
    let header = Header { version: VERSION, thread: 0 };
    // SAFETY: the kernel reads the header and the two sets of this version.
    checked(unsafe { libc::syscall(libc::SYS_capset, &raw const header, sets.as_ptr()) })?;
    Ok(())
}

/// Keeps what it takes to attach to interfaces again: CAP_NET_RAW, CAP_NET_ADMIN and CAP_BPF. Files are then open to this thread as to any other
/// program of its user: root without the rest cannot write where only somebody else may.
pub fn drop() -> io::Result<()> {
    let unlimited = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // The kernel counts the frames' memory against this limit when AF_XDP gets it again. Not everyone may raise it.
    // SAFETY: the kernel reads the structure, which lives longer than the call.
    unsafe { libc::setrlimit(libc::RLIMIT_MEMLOCK, &raw const unlimited) };
    keep(&[NET_ADMIN, NET_RAW, BPF])
}

/// Keeps none at all: for threads that only work with what is open already.
pub fn drop_all() -> io::Result<()> {
    keep(&[])
}

/// What threads that talk to others are nicer by: frames come first.
const NICER: i32 = 10;

/// Starts a thread that gives up something before it does anything else. An error if it cannot.
fn spawn_after<T: Send + 'static>(
    name: &str,
    give_up: fn() -> io::Result<()>,
    task: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<Option<T>>> {
    let (tell, told) = channel();
    let thread = Builder::new().name(name.to_owned()).spawn(move || {
        let given_up = give_up();
        let may_run = given_up.is_ok();
        (tell.send(given_up).is_ok() && may_run).then(task)
    })?;
    told.recv().map_err(|_| io::ErrorKind::BrokenPipe)?.map_err(|error| {
        io::Error::new(error.kind(), format!("thread `{name}` cannot give up what it does not need: {error}"))
    })?;
    Ok(thread)
}

/// Starts a thread that keeps what it takes to attach to interfaces, as [`drop`] does. `None` never comes of it.
pub fn spawn_attacher<T: Send + 'static>(
    name: &str,
    task: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<Option<T>>> {
    spawn_after(name, drop, task)
}

/// Starts a thread that only works with what is open already.
pub fn spawn_worker(name: &str, task: impl FnOnce() + Send + 'static) -> io::Result<()> {
    spawn_after(name, drop_all, task).map(|_| ())
}

/// Starts a thread that may do nothing more than any program of its user, and that leaves the machine to those that handle frames. Threads that
/// it starts are as it is. An error if the kernel does not take its privileges.
pub fn spawn_without(name: &str, task: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<Option<()>>> {
    let give_up = || {
        // SAFETY: no memory is involved. Linux does this to the calling thread alone; to be nicer needs no privilege.
        unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, NICER) };
        drop_all()
    };
    spawn_after(name, give_up, task)
}
