//! Who is at the other end of a Unix socket.

use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;

/// The user that this process acts as.
pub fn own_user() -> u32 {
    // SAFETY: geteuid has no arguments, cannot fail and touches no memory of ours.
    unsafe { libc::geteuid() }
}

/// The user that the process at the other end acted as when it connected.
pub fn user_of(stream: &UnixStream) -> io::Result<u32> {
    let mut credentials = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the descriptor is open as long as `stream` is borrowed. The kernel writes at most `length` bytes to `credentials`, which
    // has that size, is plain integers and outlives the call; it writes `length` itself, which outlives the call, too.
    let failed = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut credentials).cast(),
            &raw mut length,
        )
    };
    if failed != 0 { Err(io::Error::last_os_error()) } else { Ok(credentials.uid) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn the_other_end_of_a_pair_is_this_process() {
        let (one, _other) = UnixStream::pair().unwrap();
        assert_eq!(user_of(&one).unwrap(), own_user());
        assert_eq!(own_user(), std::fs::metadata("/proc/self").unwrap().uid(), "as the kernel says elsewhere");
    }
}
