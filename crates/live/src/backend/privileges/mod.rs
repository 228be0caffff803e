//! Gives up what root may do and a switch does not need: the user, capabilities, and system calls.
//!
//! Linux keeps all of these per thread, and new threads get those of the thread that starts them: so this is called
//! before other threads are started, or in each of them.

mod capabilities;
mod filter;
mod user;

use capabilities::Set;
use rustix::process::{Resource, Rlimit, setpriority_process, setrlimit};
use std::io;
use std::sync::mpsc::channel;
use std::thread::{Builder, JoinHandle};
pub use user::{Identity, choose, chosen, own_user, owner};

/// Keeps these capabilities and no others; where a user was chosen, acts as that one, and makes only the system calls
/// of a switch.
fn give_up_all_but(kept: Set) -> io::Result<()> {
    capabilities::bound(kept)?;
    user::act()?;
    capabilities::keep(kept)?;
    match chosen() {
        Some(_) => filter::install(!kept.is_empty()),
        None => Ok(()),
    }
}

/// Keeps what it takes to attach to interfaces again: CAP_NET_RAW, CAP_NET_ADMIN and CAP_BPF.
pub fn drop() -> io::Result<()> {
    // The kernel counts the frames' memory against this limit when AF_XDP gets it again. Not everyone may raise it.
    let _ = setrlimit(Resource::Memlock, Rlimit { current: None, maximum: None });
    give_up_all_but(Set::NET_ADMIN | Set::NET_RAW | Set::BPF)
}

/// Keeps none at all: for threads that only work with what is open already.
pub fn drop_all() -> io::Result<()> {
    give_up_all_but(Set::empty())
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

/// Starts a thread that only works with what is open already, and whose end somebody waits for.
pub fn spawn_switch<T: Send + 'static>(
    name: &str,
    task: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<Option<T>>> {
    spawn_after(name, drop_all, task)
}

/// Starts a thread that only works with what is open already.
pub fn spawn_worker(name: &str, task: impl FnOnce() + Send + 'static) -> io::Result<()> {
    spawn_switch(name, task).map(|_| ())
}

/// Starts a thread that may do nothing more than any program of its user, and that leaves the machine to those that
/// handle frames. Threads that it starts are as it is. An error if the kernel does not take its privileges.
pub fn spawn_without(name: &str, task: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<Option<()>>> {
    let give_up = || {
        // Linux does this to the calling thread alone; to be nicer needs no privilege.
        let _ = setpriority_process(None, NICER);
        drop_all()
    };
    spawn_after(name, give_up, task)
}
