//! What went wrong with a lab, and what to do about it.

use forebay_settings::Diagnostic;
use std::fmt::Display;
use std::path::Path;

/// A problem, and what would help.
pub fn problem(problem: impl Display, remedy: impl Display) -> Diagnostic {
    Diagnostic::of_file("", problem.to_string(), remedy.to_string())
}

/// A file that cannot be read or written.
pub fn of_file(path: &Path, doing: &str, error: &std::io::Error) -> Diagnostic {
    let help = "check the path and its permissions";
    Diagnostic::of_file(path.display().to_string(), format!("cannot {doing} it: {error}"), help)
}

/// What may fail in a lab.
pub type Result<T> = std::result::Result<T, Diagnostic>;
