//! Deflection alone.

use super::{Image, ProgramError, checked};
use crate::Target;

/// Settings of deflection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeflectProgram {
    /// The queue for headers. Default 0.
    pub header_queue: u64,
}

impl DeflectProgram {
    pub(super) fn load(&self, target: &Target) -> Result<Image, ProgramError> {
        let program = checked("deflect", target, &[("header_queue", self.header_queue)])?;
        Ok(Image { program, generators: Vec::new() })
    }
}
