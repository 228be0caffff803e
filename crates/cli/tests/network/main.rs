//! The command line with network namespaces, in one binary: a test has the machine to itself.

mod attacks;
mod book;
mod lab;
mod lab_experiments;
mod lab_live;
mod lab_script;
#[path = "../common/pages.rs"]
mod pages;
mod service;
mod sonic;
mod strangers;
mod switch;
#[path = "../common/trimming.rs"]
mod trimming;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Waits until no other test of this binary runs: the machine is small, and what is measured must not be disturbed.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}
