//! A program: read, then checked against a target.

use crate::check;
use crate::checked::Checked;
use crate::error::Errors;
use crate::parse;
use crate::syntax::Syntax;
use crate::target::Target;

/// A program as it was read.
#[derive(Clone, Debug)]
pub struct Program {
    file: String,
    syntax: Syntax,
}

impl Program {
    /// Reads a program; `file` is named in errors.
    pub fn parse(file: &str, text: &str) -> Result<Self, Errors> {
        Ok(Self { file: file.to_owned(), syntax: parse::parse(file, text)? })
    }

    /// Holds the program to what a chip can do, and makes it ready to be loaded and run. Constants are those of the
    /// program; what has a default need not be given.
    pub fn check(&self, target: &Target, constants: &[(&str, u64)]) -> Result<Checked, Errors> {
        check::check(&self.file, &self.syntax, target, constants)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.syntax.name
    }

    /// The names of its constants.
    pub fn constants(&self) -> impl Iterator<Item = &str> {
        self.syntax.constants.iter().map(|constant| constant.name.as_str())
    }

    /// The program as it is written.
    pub fn syntax(&self) -> &Syntax {
        &self.syntax
    }
}
