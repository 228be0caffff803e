//! AIFO on a pipeline (AIFO, section 4.4).

use super::{Facts, Generator, Image, ProgramError, checked, headers, kind, one_pipeline, up_to_64, within_ranges};
use crate::Target;
use forebay_tm::described::Wrong;
use forebay_tm::{Bytes, settings};

settings! {
    /// Settings of AIFO on a pipeline.
    #[derive(Clone, Debug, PartialEq)]
    pub struct AifoProgram {
        /// `C`: the target size in packets.
        pub capacity: u64 = 20,
        /// Bytes of a packet: the chip counts cells.
        pub packet: Bytes = Bytes::new(1_500),
        /// `k`: the share of `C` within which everything is admitted, from 0 to below 1.
        pub headroom: f64 = 0.1; is_headroom,
        /// Every so many ranks enter the window, 1 to 32768.
        pub sample: u64 = 15; is_sample,
        /// Worker packets that recirculate, 1 to 64.
        pub workers: u64 = 1; up_to_64,
    }
}

fn is_headroom(share: &f64) -> Result<(), Wrong> {
    if (0.0..1.0).contains(share) {
        return Ok(());
    }
    Err(Wrong::new(format!("{share} is out of range"), "give a share from 0 to below 1"))
}

fn is_sample(ranks: &u64) -> Result<(), Wrong> {
    if (1..=1 << 15).contains(ranks) {
        return Ok(());
    }
    Err(Wrong::new(format!("{ranks} is out of range"), "give 1 to 32768"))
}

impl AifoProgram {
    /// Ranks in the window: registers in four stages of four.
    pub const WINDOW: usize = 16;

    /// The target size in cells.
    pub fn cells(&self, facts: &Facts) -> u64 {
        self.capacity.saturating_mul(facts.cells(self.packet.get()))
    }

    pub(super) fn load(&self, target: &Target, facts: &Facts) -> Result<Image, ProgramError> {
        one_pipeline("aifo", facts)?;
        within_ranges(self)?;
        let capacity = self.cells(facts);
        if capacity == 0 || capacity >= 1 << 31 {
            let (problem, remedy) = (format!("{} packets", self.capacity), "give 1 or more, below 2^31 cells");
            return Err(ProgramError::Option("capacity", problem, remedy.to_owned()));
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
