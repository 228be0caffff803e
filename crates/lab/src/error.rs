//! What went wrong with a lab, and what to do about it.

use forebay_settings::Diagnostic;
use std::fmt;
use std::path::Path;

/// An error that a person reads: a problem and its remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabError {
    text: String,
}

impl LabError {
    /// A problem, and what would help.
    pub fn new(problem: impl fmt::Display, remedy: impl fmt::Display) -> Self {
        Self { text: format!("error: {problem}\n  help: {remedy}") }
    }

    /// A file that cannot be read or written.
    pub fn of_file(path: &Path, doing: &str, error: &std::io::Error) -> Self {
        Self::new(format_args!("{}: cannot {doing} it: {error}", path.display()), "check the path and its permissions")
    }
}

impl fmt::Display for LabError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for LabError {}

impl From<Diagnostic> for LabError {
    fn from(diagnostic: Diagnostic) -> Self {
        Self { text: diagnostic.to_string() }
    }
}

/// What may fail in a lab.
pub type Result<T> = std::result::Result<T, LabError>;
