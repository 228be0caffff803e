//! Files that appear whole or not at all.

use crate::Failure;
use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Where an output goes in the end.
enum Target {
    /// A temporary file beside the target, to be renamed.
    File(NamedTempFile, PathBuf),
    /// A temporary file without a name, to be copied to standard output.
    Stdout(File),
}

/// An output that is kept back until [`Output::finish`]; dropped before, it leaves nothing behind.
pub(crate) struct Output {
    name: String,
    writer: BufWriter<File>,
    target: Target,
}

impl Output {
    /// An output to a file, or to standard output for `-` and `None`.
    pub(crate) fn create(path: Option<&Path>) -> Result<Self, Failure> {
        let Some(path) = path.filter(|path| path.as_os_str() != "-") else {
            let name = "standard output".to_owned();
            let open = || {
                let file = tempfile::tempfile()?;
                Ok((BufWriter::with_capacity(1 << 16, file.try_clone()?), Target::Stdout(file)))
            };
            let (writer, target) = open().map_err(|error| cannot_write(&name, &error))?;
            return Ok(Self { name, writer, target });
        };
        let name = path.display().to_string();
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let open = || {
            if path.is_dir() {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            let file = tempfile::Builder::new().prefix(".forebay-").tempfile_in(directory)?;
            Ok((BufWriter::with_capacity(1 << 16, file.as_file().try_clone()?), Target::File(file, path.to_owned())))
        };
        let (writer, target) = open().map_err(|error| cannot_write(&name, &error))?;
        Ok(Self { name, writer, target })
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.writer.write_all(bytes).map_err(|error| cannot_write(&self.name, &error))
    }

    /// Puts everything in its place.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        self.writer.flush().map_err(|error| cannot_write(&self.name, &error))?;
        let result = match self.target {
            Target::File(file, path) => readable(file.as_file()).and_then(|()| {
                file.persist(path).map_err(|error| error.error)?;
                Ok(())
            }),
            Target::Stdout(mut file) => file.rewind().and_then(|()| {
                let copied = io::copy(&mut file, &mut io::stdout().lock());
                // A reader that has seen enough, such as head, is not an error.
                match copied {
                    Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
                    other => other.map(|_| ()),
                }
            }),
        };
        result.map_err(|error| cannot_write(&self.name, &error))
    }
}

/// A temporary file is for its owner alone; a result is an ordinary file.
fn readable(file: &File) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.set_permissions(std::fs::Permissions::from_mode(0o644))?;
    }
    let _ = file;
    Ok(())
}

/// The error of a file that cannot be written.
pub(crate) fn cannot_write(name: &str, error: &io::Error) -> Failure {
    // A temporary file's own path is of no use to the reader: only the cause is told.
    let error_text = error.to_string();
    let cause = error_text.split(" at path ").next().unwrap_or(&error_text);
    let remedy = match error.kind() {
        io::ErrorKind::IsADirectory => "give the name of a file",
        _ => "check the directory, its permissions and the space left",
    };
    Failure::Input(format!("error: {name}: cannot write it: {cause}\n  help: {remedy}"))
}

/// Prints a text that was made beforehand; a reader that has gone away is not an error.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(cannot_write("standard output", &error)),
        _ => Ok(()),
    }
}
