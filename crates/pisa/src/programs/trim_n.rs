//! Trimming that owes packets: an alternative that the trimming paper rejects.

use super::trim::one_rate;
use super::{Facts, Image, ProgramError, checked, single_rate};
use crate::Target;

/// Settings of trimming that owes packets.
#[derive(Clone, Debug, PartialEq)]
pub struct TrimNProgram {
    /// Packets to trim for each notification. Default 12: the most by which a deflection port can be overloaded.
    pub packets: u64,
    /// Whether all pipelines are told, or the one that saw the deflected packet. Default: that one.
    pub all: bool,
    /// Bytes that the meters let through at once. Default 15,000.
    pub burst: u64,
    /// The queue for headers. Default 0.
    pub header_queue: u64,
}

impl Default for TrimNProgram {
    fn default() -> Self {
        Self { packets: 12, all: false, burst: 15_000, header_queue: 0 }
    }
}

impl TrimNProgram {
    pub(super) fn load(&self, target: &Target, facts: &Facts) -> Result<Image, ProgramError> {
        let constants = [
            ("ports", facts.ports() as u64),
            ("packets", self.packets),
            ("header_queue", self.header_queue),
            ("tell_all", u64::from(self.all)),
        ];
        let mut program = checked("trim-n", target, &constants)?;
        program.set_meter("full_rate", single_rate(one_rate(facts)?, self.burst))?;
        Ok(Image { program, generators: Vec::new() })
    }
}
