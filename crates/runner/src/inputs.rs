//! Files that are read, and must not be written over.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

/// A file, whatever it is called: links of either kind lead to the same one.
#[derive(Clone, Debug)]
pub struct Identity {
    /// With all links followed, as far as the path exists.
    path: PathBuf,
    /// Device and inode, if the file exists.
    inode: Option<(u64, u64)>,
}

impl Identity {
    /// Of the file of a name.
    pub fn of(path: &Path) -> Self {
        let inode = std::fs::metadata(path).ok().and_then(|there| inode(&there));
        Self { path: followed(path), inode }
    }

    /// Whether both are one file.
    pub fn is(&self, other: &Self) -> bool {
        self.path == other.path || (self.inode.is_some() && self.inode == other.inode)
    }
}

#[cfg(unix)]
fn inode(there: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((there.dev(), there.ino()))
}

#[cfg(not(unix))]
fn inode(_: &Metadata) -> Option<(u64, u64)> {
    None
}

/// A path with its links followed; of one that does not exist, those of its directory.
fn followed(path: &Path) -> PathBuf {
    if let Ok(path) = path.canonicalize() {
        return path;
    }
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (directory.canonicalize(), path.file_name()) {
        (Ok(directory), Some(name)) => directory.join(name),
        _ => path.to_owned(),
    }
}

/// The files that a command reads.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    files: Vec<Identity>,
}

impl Inputs {
    /// Takes note of a file that is read; `-` is what standard input was redirected from.
    pub fn reads(&mut self, path: &Path) {
        let path = if path.as_os_str() == "-" { Path::new("/dev/stdin") } else { path };
        self.files.push(Identity::of(path));
    }

    /// Whether a file is one that is read.
    pub fn is_read(&self, path: &Path) -> bool {
        self.has(&Identity::of(path))
    }

    /// Whether a file is one that is read.
    pub fn has(&self, file: &Identity) -> bool {
        self.files.iter().any(|input| input.is(file))
    }
}
