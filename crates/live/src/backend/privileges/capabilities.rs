//! What root may do, one by one.

use crate::backend::socket::checked;
use std::io;

pub(super) const NET_ADMIN: u32 = 12;
pub(super) const NET_RAW: u32 = 13;
pub(super) const BPF: u32 = 39;
/// To take capabilities off the list of those that programs can ever get.
const SETPCAP: u32 = 8;
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

/// No program that this thread starts ever gets other capabilities than these.
pub(super) fn bound(kept: &[u32]) -> io::Result<()> {
    // SAFETY: no memory is involved.
    checked(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) })?;
    // Without this privilege, that no program gets more has to do.
    if current()?[0].effective & 1 << SETPCAP == 0 {
        return Ok(());
    }
    for capability in (0..=HIGHEST).filter(|capability| !kept.contains(capability)) {
        // SAFETY: no memory is involved. The kernel does not know numbers beyond its highest.
        if unsafe { libc::prctl(libc::PR_CAPBSET_READ, capability, 0, 0, 0) } == 1 {
            // SAFETY: as above.
            checked(unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) })?;
        }
    }
    Ok(())
}

/// Keeps these capabilities, as far as this thread has them, and no others, for good.
pub(super) fn keep(kept: &[u32]) -> io::Result<()> {
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
