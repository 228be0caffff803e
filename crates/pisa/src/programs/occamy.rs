//! Occamy's prototype on a pipeline (Occamy, section 5.2).

use super::{Facts, Generator, Image, ProgramError, checked, fill_places, headers, kind, one_pipeline};
use crate::Target;

/// Settings of Occamy on a pipeline.
#[derive(Clone, Debug, PartialEq)]
pub struct OccamyProgram {
    /// A power of two from 1 on: the free buffer is shifted to the left. Default 8.
    pub alpha: u64,
    /// Whether over-allocated queues lose packets at their heads. Default: yes; without that it is DT.
    pub expel: bool,
    /// Control packets that go around. Default 1.
    pub syncs: u64,
}

impl Default for OccamyProgram {
    fn default() -> Self {
        Self { alpha: 8, expel: true, syncs: 1 }
    }
}

impl OccamyProgram {
    pub(super) fn load(&self, target: &Target, facts: &Facts) -> Result<Image, ProgramError> {
        one_pipeline("occamy", facts)?;
        let refuse =
            |option, problem: String, remedy: &str| Err(ProgramError::Option(option, problem, remedy.to_owned()));
        if !self.alpha.is_power_of_two() || self.alpha > 64 {
            return refuse("program.alpha", self.alpha.to_string(), "a pipeline can only shift: give 1, 2, 4, ... 64");
        }
        if self.syncs == 0 || self.syncs > 64 {
            return refuse("program.syncs", self.syncs.to_string(), "give 1 to 64");
        }
        if facts.buffer.saturating_mul(self.alpha) > u64::from(u32::MAX) {
            let problem = format!("a threshold of {} times {} cells does not fit 32 bits", self.alpha, facts.buffer);
            return refuse("switch.buffer", problem, "give the switch cells, such as cell = \"80B\", or less buffer");
        }
        let queues = facts.all_queues() as u64;
        let constants = [
            ("queues", queues),
            ("buffer", facts.buffer),
            ("alpha", u64::from(self.alpha.trailing_zeros())),
            ("expel", u64::from(self.expel)),
        ];
        let mut program = checked("occamy", target, &constants)?;
        fill_places(&mut program, "routing", facts)?;
        fill_places(&mut program, "place", facts)?;
        let free = facts.buffer * self.alpha;
        program.set_initial("bound", free)?;
        program.set_initial("bound_here", free)?;
        // They start at different queues, so that they are spread over a round. What they sum up until they first come to the last queue is too little, which
        // does no harm while the queues are empty.
        let generators = (0..self.syncs).map(|number| Generator {
            pipeline: 0,
            start: number * 1_000,
            period: 0,
            kind: kind(&program, "SYNC"),
            headers: headers(&program, &[("cursor", number * queues / self.syncs), ("last", queues - 1)]),
        });
        Ok(Image { generators: generators.collect(), program })
    }
}
