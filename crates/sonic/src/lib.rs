//! SONiC's buffer configuration as a switch chip reads it.
//!
//! * [`chip`]: chip families, as data.
//! * [`db`]: a CONFIG_DB file as tables; [`config`]: what it says about buffers; [`findings`]: what is wrong with it.
//! * [`rules`]: from pools and profiles to cells, with the derivation in words.
//! * [`fill`]: packets sent into the core's accounting until it pauses and drops; [`blocked`]: through both sides of
//!   the core.
//! * [`device`]: a configuration on a chip; [`predict`]: where it pauses, resumes and drops.
//! * [`import`]: both sides as a switch file.
//! * [`hardware`]: points that hardware tests assert, beside what the core does.

#![forbid(unsafe_code)]

pub mod blocked;
pub mod chip;
pub mod config;
pub mod db;
pub mod device;
pub mod fill;
pub mod findings;
pub mod hardware;
pub mod import;
mod keys;
pub mod lint;
pub mod predict;
mod read;
pub mod rules;

use std::fmt;

/// Something that the user can put right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SonicError {
    /// The file, table, key or argument, with the value.
    pub place: String,
    /// What is wrong.
    pub problem: String,
    /// What would be right.
    pub remedy: String,
}

impl SonicError {
    /// An error.
    pub fn new(place: impl Into<String>, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { place: place.into(), problem: problem.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for SonicError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        forebay_settings::Diagnostic::from(self.clone()).fmt(f)
    }
}

impl From<SonicError> for forebay_settings::Diagnostic {
    fn from(error: SonicError) -> Self {
        Self::of_file(error.place, error.problem, error.remedy)
    }
}

impl std::error::Error for SonicError {}
