//! One switch for an interface: a second one would see half of the frames, or send all of them twice.
//!
//! A lock on a file that only the owner of the switch can open, in a directory of its own: it goes with the process,
//! however that ends, and a stranger can neither take nor hold it. It is kept while an interface is away: whoever the
//! switch acts as by then cannot take it again.

use super::interface::Interface;
use super::privileges;
use super::socket::checked;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::PathBuf;

/// An interface that is ours until this is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A program that is being started at this moment has our descriptors for a while: to close ours would not do.
        // SAFETY: the descriptor is open, and no memory is involved.
        unsafe { libc::flock(self.file.as_raw_fd(), libc::LOCK_UN) };
    }
}

/// Where locks are: for root, and for others.
fn directory() -> PathBuf {
    let user = privileges::owner();
    match std::env::var_os("XDG_RUNTIME_DIR") {
        _ if user == 0 => PathBuf::from("/run/forebay"),
        Some(own) => PathBuf::from(own).join("forebay"),
        None => PathBuf::from(format!("/tmp/forebay-{user}")),
    }
}

/// Why an interface cannot be had.
pub(super) fn taken(name: &str) -> io::Error {
    let text = format!("interface `{name}` belongs to another switch that runs: stop that one first");
    io::Error::new(io::ErrorKind::AddrInUse, text)
}

impl Lock {
    /// Takes an interface; an error if another switch of this user has it.
    pub(super) fn take(interface: &Interface) -> io::Result<Self> {
        let directory = directory();
        let named = |error: io::Error| {
            let text = format!("no lock in {}: {error}: remove it, or make it yours alone", directory.display());
            io::Error::new(error.kind(), text)
        };
        match DirBuilder::new().mode(0o700).create(&directory) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(named(error)),
            _ => {}
        }
        let found = fs::symlink_metadata(&directory).map_err(named)?;
        if !found.is_dir() || found.uid() != privileges::owner() || found.mode() & 0o022 != 0 {
            return Err(named(io::ErrorKind::PermissionDenied.into()));
        }
        // Names of interfaces are those of a network namespace.
        let space = fs::metadata("/proc/thread-self/ns/net")?;
        let path = directory.join(format!("{}-{}-{}", space.dev(), space.ino(), interface.own_name()?));
        let file = File::options().write(true).create(true).truncate(false).mode(0o600).open(path).map_err(named)?;
        // SAFETY: the descriptor is open, and no memory is involved.
        match checked(unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) }) {
            Ok(_) => Ok(Self { file }),
            Err(error) if error.raw_os_error() == Some(libc::EWOULDBLOCK) => Err(taken(interface.name())),
            Err(error) => Err(named(error)),
        }
    }
}
