//! Files that appear whole or not at all.

use crate::error::ResultError;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Tells the temporary files of one process apart.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// A temporary file that is removed unless it is put in its place.
pub(crate) struct Temporary {
    path: PathBuf,
    placed: bool,
}

impl Temporary {
    /// A new file in the directory of the target, so that it can be renamed to it.
    pub(crate) fn beside(target: &Path) -> io::Result<(Self, File)> {
        let directory = target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = directory.join(format!(".forebay-{}-{number}.tmp", std::process::id()));
            match File::options().read(true).write(true).create_new(true).open(&path) {
                Ok(file) => return Ok((Self { path, placed: false }, file)),
                // Left behind by a process of the same number that was killed.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    pub(crate) fn rename(mut self, target: &Path) -> io::Result<()> {
        fs::rename(&self.path, target)?;
        self.placed = true;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.placed {
            // There is nobody left to tell.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Writes a file through a buffer and puts it in its place when `write` is done.
pub(crate) fn write_whole<E: std::fmt::Display>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), E>,
) -> Result<(), ResultError> {
    let io_error = |error: io::Error| ResultError::cannot_write(path, &error);
    let (temporary, file) = Temporary::beside(path).map_err(io_error)?;
    let mut writer = BufWriter::with_capacity(1 << 16, file);
    write(&mut writer).map_err(|error| ResultError::cannot_write(path, &error))?;
    writer.flush().map_err(io_error)?;
    drop(writer);
    temporary.rename(path).map_err(io_error)
}

/// Writes a text.
pub fn write_text(path: &Path, text: &str) -> Result<(), ResultError> {
    write_whole(path, |writer| writer.write_all(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_failure_half_way_leaves_the_old_file_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.txt");
        write_text(&path, "old").unwrap();
        let error = write_whole(&path, |writer| {
            writer.write_all(b"new").unwrap();
            Err(io::Error::other("out of luck"))
        })
        .unwrap_err();
        assert!(error.to_string().contains("a.txt: cannot write it: out of luck"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(names(directory.path()), ["a.txt"]);
    }

    #[test]
    fn a_directory_in_the_way_is_an_error_and_leaves_nothing_behind() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("taken");
        fs::create_dir(&path).unwrap();
        assert!(write_text(&path, "text").is_err());
        assert_eq!(names(directory.path()), ["taken"]);
    }
}
