//! What can be wrong with a program, and with what a control plane loads into it.

use std::fmt;

/// Something in a program that the chip cannot do, or that nobody can read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The file.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The part of the chip, such as "stage 2 of ingress"; empty outside stages.
    pub place: String,
    /// What is wrong.
    pub problem: String,
    /// What to do.
    pub remedy: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.file, self.line)?;
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        write!(f, "{}; {}", self.problem, self.remedy)
    }
}

/// All that is wrong with a program, by line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Errors(pub Vec<Error>);

/// A file that is no program at all has an error on each of its lines; a person reads the first ones.
const SHOWN: usize = 20;

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.0.iter().take(SHOWN).enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{error}")?;
        }
        match self.0.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(f, "\nand {more} more"),
        }
    }
}

impl std::error::Error for Errors {}

/// What a control plane cannot load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError(pub(crate) String);

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for LoadError {}

/// A problem and its remedy, before the line is known.
pub(crate) type Fault = (String, String);

/// A fault in a few words.
pub(crate) fn fault<T>(problem: impl Into<String>, remedy: impl Into<String>) -> Result<T, Fault> {
    Err((problem.into(), remedy.into()))
}

/// Longer names are compared with no other.
const LONGEST_NAME: usize = 64;

/// The remedy for an unknown name: the known one that looks most alike, else `otherwise`.
pub(crate) fn did_you_mean<'a>(name: &str, known: impl Iterator<Item = &'a str>, otherwise: &str) -> String {
    // Nobody meant this, and a comparison would take long.
    if name.len() > LONGEST_NAME {
        return otherwise.to_owned();
    }
    let near = known.map(|known| (strsim::osa_distance(name, known), known)).min();
    match near {
        Some((distance, known)) if distance <= 1 + name.len() / 4 => format!("did you mean {known}?"),
        _ => otherwise.to_owned(),
    }
}
