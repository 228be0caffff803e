//! AIFO on a pipeline (AIFO, section 4.4).

use super::{Facts, Generator, Image, ProgramError, checked, headers, kind, one_pipeline};
use crate::Target;

/// Settings of AIFO on a pipeline.
#[derive(Clone, Debug, PartialEq)]
pub struct AifoProgram {
    /// `C`: the target size in packets. Default 20.
    pub capacity: u64,
    /// Bytes of a packet: the chip counts cells. Default 1,500.
    pub packet: u64,
    /// `k`: the share of `C` within which everything is admitted. Default 0.1.
    pub headroom: f64,
    /// Every so many ranks enter the window. Default 15.
    pub sample: u64,
    /// Worker packets that go around. Default 1.
    pub workers: u64,
}

impl Default for AifoProgram {
    fn default() -> Self {
        Self { capacity: 20, packet: 1_500, headroom: 0.1, sample: 15, workers: 1 }
    }
}

impl AifoProgram {
    /// Ranks in the window: registers in four stages of four.
    pub const WINDOW: usize = 16;

    /// The target size in cells.
    pub fn cells(&self, facts: &Facts) -> u64 {
        self.capacity * facts.cells(self.packet)
    }

    pub(super) fn load(&self, target: &Target, facts: &Facts) -> Result<Image, ProgramError> {
        one_pipeline("aifo", facts)?;
        let refuse =
            |option, problem: String, remedy: &str| Err(ProgramError::Option(option, problem, remedy.to_owned()));
        if !(0.0..1.0).contains(&self.headroom) {
            return refuse("program.headroom", self.headroom.to_string(), "give a share from 0 to below 1");
        }
        if self.sample == 0 || self.sample > 1 << 15 {
            return refuse("program.sample", self.sample.to_string(), "give 1 to 32768");
        }
        if self.workers == 0 || self.workers > 64 {
            return refuse("program.workers", self.workers.to_string(), "give 1 to 64");
        }
        let capacity = self.cells(facts);
        if capacity == 0 || capacity >= 1 << 31 {
            return refuse(
                "program.capacity",
                format!("{} packets", self.capacity),
                "give 1 or more, below 2^31 cells",
            );
        }
        let ports = facts.ports() as u64;
        let constants =
            [("ports", ports), ("capacity", capacity), ("last_port", ports - 1), ("last_sample", self.sample - 1)];
        let mut program = checked("aifo", target, &constants)?;
        for smaller in 0..=Self::WINDOW as u64 {
            let share = capacity as f64 * (1.0 - self.headroom) / Self::WINDOW as f64 * smaller as f64;
            program.insert("product", &[smaller], &[share.round() as u64])?;
        }
        // A rank that is not there yet is smaller than none.
        for register in 0..Self::WINDOW {
            program.set_initial(&format!("w{register}"), u64::from(u32::MAX))?;
        }
        let generators = (0..self.workers).map(|worker| Generator {
            pipeline: 0,
            start: worker * 1_000,
            period: 0,
            kind: kind(&program, "WORKER"),
            headers: headers(&program, &[("port", worker * ports / self.workers)]),
        });
        Ok(Image { generators: generators.collect(), program })
    }
}
