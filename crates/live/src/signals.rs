//! SIGHUP asks a switch to read its file again.

use std::io;
use std::mem::zeroed;
use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

extern "C" fn note(_: libc::c_int) {
    ASKED.store(true, Ordering::Relaxed);
}

/// From now on a SIGHUP is noted, and does nothing else.
pub fn note_hangups() -> io::Result<()> {
    // SAFETY: the structure is plain numbers; the handler stores to an atomic, which is allowed in one; the kernel
    // reads the structure before the call returns.
    let failed = unsafe {
        let mut action: libc::sigaction = zeroed();
        action.sa_sigaction = note as *const () as usize;
        action.sa_flags = libc::SA_RESTART;
        libc::sigaction(libc::SIGHUP, &raw const action, std::ptr::null_mut())
    };
    if failed != 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Whether there was one since this was last asked.
pub fn take_hangup() -> bool {
    ASKED.swap(false, Ordering::Relaxed)
}
