//! What can go wrong with a file of results.

use std::fmt;
use std::path::{Path, PathBuf};

/// A file or directory that could not be written or read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultError {
    /// Which one.
    pub path: PathBuf,
    /// What is wrong with it, without a full stop.
    pub problem: String,
    /// What would help.
    pub remedy: String,
}

impl ResultError {
    pub(crate) fn cannot_write(path: &Path, cause: &(impl fmt::Display + ?Sized)) -> Self {
        Self {
            path: path.to_owned(),
            problem: format!("cannot write it: {cause}"),
            remedy: "check the directory, its permissions and the space left".to_owned(),
        }
    }

    pub(crate) fn cannot_read(path: &Path, cause: &impl fmt::Display) -> Self {
        Self {
            path: path.to_owned(),
            problem: format!("cannot read it: {cause}"),
            remedy: "make the result again with `forebay run`".to_owned(),
        }
    }
}

impl fmt::Display for ResultError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.path.display(), self.problem, self.remedy)
    }
}

impl std::error::Error for ResultError {}

impl From<ResultError> for forebay_settings::Diagnostic {
    fn from(error: ResultError) -> Self {
        Self::of_file(error.path.display().to_string(), error.problem, error.remedy)
    }
}
