//! Files that appear whole or not at all.

use crate::Failure;
use forebay_live::backend::privileges;
use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::NamedTempFile;

/// Temporary files that must not be left behind.
static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Whether Ctrl-C only asks to stop, and whether it has.
static GENTLE: AtomicBool = AtomicBool::new(false);
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// From here on, the first Ctrl-C or SIGTERM only asks to stop; the work looks for it with [`is_interrupted`].
pub(crate) fn stop_gently() {
    GENTLE.store(true, Ordering::Relaxed);
}

/// Whether the work should stop and write what is finished.
pub(crate) fn is_interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// On Ctrl-C or SIGTERM: removes temporary files, says so and exits with 130. Outputs that were finished stay.
pub(crate) fn clean_up_on_interrupt() {
    // The thread that waits for signals needs no privileges: it has those of the thread that starts it. Where signals
    // cannot be handled, the default (to stop) is right, too.
    let handler = privileges::spawn_without("signals", handle_interrupts);
    let _ = handler.map(std::thread::JoinHandle::join);
}

fn handle_interrupts() {
    let _ = ctrlc::set_handler(|| {
        if GENTLE.load(Ordering::Relaxed) && !INTERRUPTED.swap(true, Ordering::Relaxed) {
            return;
        }
        // Nothing is put in its place from here on.
        let temporary = TEMPORARY.lock();
        for path in temporary.iter().flat_map(|paths| paths.iter()) {
            let _ = std::fs::remove_file(path);
        }
        eprintln!("interrupted; what was not finished has not been written");
        std::process::exit(130);
    });
}

/// Where an output goes in the end.
enum Target {
    /// A temporary file beside the target, to be renamed.
    File(NamedTempFile, PathBuf),
    /// A temporary file without a name, to be copied to a device or a pipe that is there already.
    Existing(File, PathBuf),
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
        let path = path.filter(|path| path.as_os_str() != "-");
        let name = path.map_or("standard output".to_owned(), |path| path.display().to_string());
        let open = || {
            let (file, target) = match path {
                None => nameless(Target::Stdout)?,
                Some(path) => match std::fs::metadata(path) {
                    Ok(there) if there.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
                    // A device or a pipe is written to, not replaced.
                    Ok(there) if !there.is_file() => nameless(|file| Target::Existing(file, path.to_owned()))?,
                    // A link stays, and what it points to is replaced.
                    Ok(_) => beside(&std::fs::canonicalize(path)?)?,
                    Err(_) => beside(path)?,
                },
            };
            Ok((BufWriter::with_capacity(1 << 16, file), target))
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
                let mut temporary = lock_temporary();
                let name = file.path().to_owned();
                let persisted = file.persist(path).map_err(|error| error.error);
                temporary.retain(|path| *path != name);
                persisted.map(|_| ())
            }),
            Target::Existing(file, path) => {
                File::options().write(true).open(path).and_then(|mut target| copy(file, &mut target))
            }
            Target::Stdout(file) => copy(file, &mut io::stdout().lock()),
        };
        result.map_err(|error| cannot_write(&self.name, &error))
    }
}

fn lock_temporary() -> MutexGuard<'static, Vec<PathBuf>> {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A temporary file in the directory of the target.
fn beside(path: &Path) -> io::Result<(File, Target)> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut temporary = lock_temporary();
    let file = tempfile::Builder::new().prefix(".forebay-").tempfile_in(directory)?;
    temporary.push(file.path().to_owned());
    Ok((file.as_file().try_clone()?, Target::File(file, path.to_owned())))
}

/// A temporary file without a name.
fn nameless(target: impl FnOnce(File) -> Target) -> io::Result<(File, Target)> {
    let file = tempfile::tempfile()?;
    Ok((file.try_clone()?, target(file)))
}

/// Copies a file from its start. A reader that has seen enough, such as head, is not an error.
fn copy(mut file: File, to: &mut impl Write) -> io::Result<()> {
    file.rewind()?;
    match io::copy(&mut file, to).and_then(|_| to.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
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
    forebay_runner::cannot_write(name, error).into()
}

/// Writes JSON, as people can read it, to standard output.
pub(crate) fn print_json(value: &serde_json::Value) -> Result<(), Failure> {
    print(&format!("{value:#}\n"))
}

/// Prints a text that was made beforehand; a reader that has gone away is not an error.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(cannot_write("standard output", &error)),
        _ => Ok(()),
    }
}
