//! System calls as functions that return errors.

use std::io;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;
use std::time::Duration;

/// What a system call returned, or why it failed.
pub(super) fn checked(result: impl Into<i64>) -> io::Result<i64> {
    match result.into() {
        -1 => Err(io::Error::last_os_error()),
        result => Ok(result),
    }
}

/// A descriptor that a system call returned.
pub(super) fn owned(result: impl Into<i64>) -> io::Result<OwnedFd> {
    let fd = checked(result)? as i32;
    // SAFETY: the kernel has just made this descriptor for us, and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// A socket that does not outlive an exec.
pub(super) fn socket(domain: i32, kind: i32) -> io::Result<OwnedFd> {
    // SAFETY: no memory is involved.
    owned(unsafe { libc::socket(domain, kind | libc::SOCK_CLOEXEC, 0) })
}

/// Sets an option. `T` is the kernel's own type of it: plain numbers.
pub(super) fn set_option<T>(fd: &OwnedFd, level: i32, option: i32, value: &T) -> io::Result<()> {
    let size = size_of::<T>() as libc::socklen_t;
    // SAFETY: the kernel reads `size` bytes of a value that lives longer than the call.
    checked(unsafe { libc::setsockopt(fd.as_raw_fd(), level, option, std::ptr::from_ref(value).cast(), size) })?;
    Ok(())
}

/// An option's value.
///
/// # Safety
/// `T` must be made of plain numbers, so that every pattern of bits, zeros included, is a value.
pub(super) unsafe fn option<T>(fd: &OwnedFd, level: i32, option: i32) -> io::Result<T> {
    let mut value = MaybeUninit::<T>::zeroed();
    let mut size = size_of::<T>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `size` bytes, which there are.
    checked(unsafe { libc::getsockopt(fd.as_raw_fd(), level, option, value.as_mut_ptr().cast(), &mut size) })?;
    // SAFETY: zeroed, and every pattern of bits is a value, as the caller says.
    Ok(unsafe { value.assume_init() })
}

/// Binds a socket to an address of the kernel's own type for its family.
pub(super) fn bind<T>(fd: &OwnedFd, address: &T) -> io::Result<()> {
    let size = size_of::<T>() as libc::socklen_t;
    // SAFETY: the kernel reads `size` bytes of an address that lives longer than the call.
    checked(unsafe { libc::bind(fd.as_raw_fd(), std::ptr::from_ref(address).cast(), size) })?;
    Ok(())
}

/// Memory that is shared with the kernel.
#[derive(Debug)]
pub(super) struct Mapping {
    start: NonNull<u8>,
    size: usize,
}

// SAFETY: a mapping is an address and a size. What is read and written there is the business of its users.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps what a socket offers at an offset.
    pub(super) fn new(fd: &OwnedFd, size: usize, offset: i64) -> io::Result<Self> {
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_POPULATE);
        // SAFETY: a new mapping at an address that the kernel chooses; no memory that exists is touched.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), size, access, flags, fd.as_raw_fd(), offset) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, size })
    }

    /// An address within it.
    pub(super) fn at(&self, offset: usize) -> *mut u8 {
        assert!(offset < self.size, "byte {offset} of a mapping of {}", self.size);
        // SAFETY: within the mapping.
        unsafe { self.start.as_ptr().add(offset) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped with this size; whoever used it kept it alive for as long.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.size) };
    }
}

/// Waits until one of the descriptors has something to read, or the time is over.
pub(super) fn wait_for<'f>(descriptors: impl Iterator<Item = BorrowedFd<'f>>, time: Duration) {
    let mut list: Vec<libc::pollfd> = descriptors
        .map(|descriptor| libc::pollfd { fd: descriptor.as_raw_fd(), events: libc::POLLIN, revents: 0 })
        .collect();
    let time = libc::timespec { tv_sec: time.as_secs() as libc::time_t, tv_nsec: time.subsec_nanos().into() };
    // SAFETY: the kernel writes to the entries of the list, which are as many as it is told. Being interrupted is no
    // harm: whoever waits looks again.
    unsafe { libc::ppoll(list.as_mut_ptr(), list.len() as libc::nfds_t, &time, std::ptr::null()) };
}

/// Lets timers of this thread end when they are due, not up to 50 us later.
pub fn be_punctual() {
    // SAFETY: no memory is involved. Where it is refused, timers stay late.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
}
