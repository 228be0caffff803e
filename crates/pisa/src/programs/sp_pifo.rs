//! SP-PIFO on a pipeline.

use super::{Facts, Image, ProgramError, checked};
use crate::Target;

/// Queues that the program chooses among.
const QUEUES: usize = 8;

/// SP-PIFO on a pipeline; it has no settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpPifoProgram;

impl SpPifoProgram {
    pub(super) fn load(self, target: &Target, facts: &Facts) -> Result<Image, ProgramError> {
        if facts.queues != QUEUES {
            let problem = format!("ports have {} queues", facts.queues);
            let remedy = "the program chooses among 8: set queues = 8, and a strict [scheduler]".to_owned();
            return Err(ProgramError::Option("switch.queues", problem, remedy));
        }
        let program = checked("sp-pifo", target, &[("ports", facts.ports() as u64)])?;
        Ok(Image { program, generators: Vec::new() })
    }
}
