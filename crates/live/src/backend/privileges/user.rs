//! The user that a switch acts as: one of its own where root has started it.

use crate::backend::socket::checked;
use std::ffi::{CStr, CString};
use std::io;
use std::mem::zeroed;
use std::sync::OnceLock;

/// The account that is used if it is there.
const ACCOUNT: &str = "forebay";
/// Numbers that are nobody's account and that systems keep for services without one (as systemd does).
const UNNAMED: std::ops::RangeInclusive<u32> = 61_584..=65_519;

/// Who has started the switch, and who it acts as from then on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The user that has started it.
    pub owner: u32,
    /// The user that it acts as.
    pub user: u32,
    /// The group that it acts as.
    pub group: u32,
}

static CHOSEN: OnceLock<Identity> = OnceLock::new();

/// The user that this thread acts as.
pub fn own_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn own_group() -> u32 {
    rustix::process::getegid().as_raw()
}

/// The user that this process belongs to: whoever has started it.
pub fn owner() -> u32 {
    CHOSEN.get().map_or_else(own_user, |identity| identity.owner)
}

/// Who the switch acts as, if that was chosen.
pub fn chosen() -> Option<Identity> {
    CHOSEN.get().copied()
}

/// What an account is looked up by.
enum Key<'a> {
    Name(&'a CStr),
    User(u32),
}

/// User and group of an account; none if there is none.
fn account(key: &Key<'_>) -> io::Result<Option<(u32, u32)>> {
    // SAFETY: the structure is plain numbers and pointers that may be null.
    let mut entry: libc::passwd = unsafe { zeroed() };
    let (mut text, mut found) = (vec![0; 16_384], std::ptr::null_mut());
    // SAFETY: the name is a C string; the library writes to the entry, to the text, of which it is told the length, and
    // to `found`, all of which outlive the call.
    let failed = unsafe {
        match key {
            Key::Name(name) => {
                libc::getpwnam_r(name.as_ptr(), &raw mut entry, text.as_mut_ptr(), text.len(), &raw mut found)
            }
            Key::User(user) => libc::getpwuid_r(*user, &raw mut entry, text.as_mut_ptr(), text.len(), &raw mut found),
        }
    };
    match failed {
        0 if found.is_null() => Ok(None),
        0 => Ok(Some((entry.pw_uid, entry.pw_gid))),
        libc::ENOENT => Ok(None),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

fn named(name: &str) -> io::Result<Option<(u32, u32)>> {
    let name = CString::new(name).map_err(|_| io::ErrorKind::InvalidInput)?;
    account(&Key::Name(&name))
}

/// Chooses, once, who the switch acts as: the account that is wanted; without a wish and started by root, the account
/// `forebay`, or a number that is nobody's account; otherwise whoever has started it.
pub fn choose(wanted: Option<&str>) -> io::Result<Identity> {
    let (owner, own_group) = (own_user(), own_group());
    let (user, group) = match wanted {
        Some(name) => named(name)?.ok_or_else(|| io::Error::other(format!("there is no user `{name}`")))?,
        None if owner != 0 => (owner, own_group),
        None => match named(ACCOUNT)? {
            Some(found) => found,
            None => {
                let unnamed = UNNAMED.into_iter().find(|user| matches!(account(&Key::User(*user)), Ok(None)));
                unnamed.map(|user| (user, user)).ok_or_else(|| io::Error::other("every number is an account's"))?
            }
        },
    };
    if owner != 0 && user != owner {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "only root can act as another user"));
    }
    let identity = Identity { owner, user, group };
    Ok(*CHOSEN.get_or_init(|| identity))
}

/// From now on this thread acts as the user that was chosen. What it may do is kept until it is given up.
pub(super) fn act() -> io::Result<()> {
    let Some(Identity { user, group, .. }) = chosen() else { return Ok(()) };
    if own_user() == user {
        return Ok(());
    }
    // The library's functions would change all threads, and those that have given up everything already cannot.
    // SAFETY: no memory is involved: the list of groups is empty. These calls change the calling thread alone.
    let change = || unsafe {
        checked(libc::prctl(libc::PR_SET_KEEPCAPS, 1, 0, 0, 0))?;
        checked(libc::syscall(libc::SYS_setgroups, 0, std::ptr::null::<u32>()))?;
        checked(libc::syscall(libc::SYS_setresgid, group, group, group))?;
        checked(libc::syscall(libc::SYS_setresuid, user, user, user))
    };
    change().map_err(|error: io::Error| {
        let remedy = "root needs CAP_SETUID and CAP_SETGID for that, or `live.user` = \"root\"";
        io::Error::new(error.kind(), format!("it cannot act as user {user} ({error}): {remedy}"))
    })?;
    match own_user() == user {
        true => Ok(()),
        false => Err(io::Error::other(format!("the kernel does not make this thread user {user}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_found() {
        assert_eq!(named("root").unwrap(), Some((0, 0)));
        assert_eq!(account(&Key::User(0)).unwrap(), Some((0, 0)));
        assert_eq!(named("no-such-account").unwrap(), None);
        assert!(named("with\0zero").is_err());
    }
}
