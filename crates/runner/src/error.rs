//! What keeps a run, a sweep or a replay from its work.

use forebay_results::ResultError;
use forebay_settings::Diagnostic;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// An error that a person can put right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// In what somebody wrote or asked for, or of a file of results.
    Settings(Diagnostic),
    /// A directory that cannot take the results.
    Directory {
        /// The directory.
        path: PathBuf,
        /// What is wrong with it, without a full stop.
        problem: String,
        /// What can be done.
        way_out: WayOut,
    },
}

/// What can be done about a directory that cannot take the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WayOut {
    /// Another directory.
    Another,
    /// Another directory, or to replace what is there.
    Replace,
    /// To wait for the process that writes to it.
    Wait,
    /// More space, or fewer samples.
    Room,
}

impl WayOut {
    /// In the words of the command line.
    fn help(self) -> &'static str {
        match self {
            Self::Another => "give another directory with --out",
            Self::Replace => "give another directory with --out, or replace what is here with --force",
            Self::Wait => "wait for it, stop it, or give another directory with --out",
            Self::Room => {
                "make room, give another directory with --out, or take fewer samples: measure.sample, queues, timeline"
            }
        }
    }
}

impl Error {
    /// The error of something that was asked for.
    pub fn refused(what: impl Into<String>, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Diagnostic::of_file(what, problem, remedy).into()
    }
}

/// The error of a file that cannot be written.
pub fn cannot_write(name: &str, error: &io::Error) -> Error {
    // A temporary file's own path is of no use to the reader: only the cause is told.
    let error_text = error.to_string();
    let cause = error_text.split(" at path ").next().unwrap_or(&error_text);
    let remedy = match error.kind() {
        io::ErrorKind::IsADirectory => "give the name of a file",
        _ => "check the directory, its permissions and the space left",
    };
    Error::refused(name, format!("cannot write it: {cause}"), remedy)
}

impl From<Error> for Diagnostic {
    /// In the words of the command line.
    fn from(error: Error) -> Self {
        match error {
            Error::Settings(diagnostic) => diagnostic,
            Error::Directory { path, problem, way_out } => {
                Self::of_file(path.display().to_string(), problem, way_out.help())
            }
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Diagnostic::from(self.clone()).fmt(f)
    }
}

impl std::error::Error for Error {}

impl From<Diagnostic> for Error {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Settings(diagnostic)
    }
}

impl From<ResultError> for Error {
    fn from(error: ResultError) -> Self {
        Self::Settings(error.into())
    }
}
