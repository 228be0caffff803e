//! Occamy's prototype on a pipeline (Occamy, section 5.2).

use super::{
    Facts, Generator, Image, ProgramError, checked, fill_places, headers, kind, one_pipeline, up_to_64, within_ranges,
};
use crate::Target;
use forebay_tm::described::Wrong;
use forebay_tm::settings;

settings! {
    /// Settings of Occamy on a pipeline.
    #[derive(Clone, Debug, PartialEq)]
    pub struct OccamyProgram {
        /// A power of two from 1 to 64: the free buffer is shifted to the left.
        pub alpha: u64 = 8; is_shift,
        /// Over-allocated queues lose packets at their heads; without that it is DT.
        pub expel: bool = true,
        /// Control packets that recirculate, 1 to 64.
        pub syncs: u64 = 1; up_to_64,
    }
}

fn is_shift(alpha: &u64) -> Result<(), Wrong> {
    if alpha.is_power_of_two() && *alpha <= 64 {
        return Ok(());
    }
    Err(Wrong::new(format!("{alpha} is no power of two up to 64"), "a pipeline can only shift: give 1, 2, 4, ... 64"))
}

impl OccamyProgram {
    pub(super) fn load(&self, target: &Target, facts: &Facts) -> Result<Image, ProgramError> {
        one_pipeline("occamy", facts)?;
        within_ranges(self)?;
        if facts.buffer.saturating_mul(self.alpha) > u64::from(u32::MAX) {
            let problem = format!("a threshold of {} times {} cells does not fit 32 bits", self.alpha, facts.buffer);
            let remedy = "give the switch cells, such as cell = \"80B\", or less buffer";
            return Err(ProgramError::Option("switch.buffer", problem, remedy.to_owned()));
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
        // They start at different queues, so that they are spread over a round. What they sum up until they first come
        // to the last queue is too little, which does no harm while the queues are empty.
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
