//! Trimming that owes packets: an alternative that the trimming paper rejects.

use super::trim::{Notify, one_rate};
use super::{Facts, Image, ProgramError, checked, single_rate, within_ranges};
use crate::Target;
use forebay_tm::described::Wrong;
use forebay_tm::{Bytes, describe};

/// Settings of trimming that owes packets.
#[derive(Clone, Debug, PartialEq)]
pub struct TrimNProgram {
    /// Packets to trim for each notification. Default 12: the most by which a deflection port can be overloaded.
    pub packets: u64,
    /// Who is told: all pipelines, or the one that saw the deflected packet. Default: that one.
    pub notify: Notify,
    /// Bytes that the meters let through at once. Default 15,000.
    pub burst: Bytes,
    /// The queue for headers. Default 0.
    pub header_queue: u64,
}

impl Default for TrimNProgram {
    fn default() -> Self {
        Self { packets: 12, notify: Notify::One, burst: Bytes::new(15_000), header_queue: 0 }
    }
}

describe! {
    TrimNProgram {
        /// Packets to trim for each notification.
        packets: u64,
        /// Who is told: `"all"` pipelines, or the `"one"` that saw the deflected packet.
        notify: Notify; is_somebody,
        /// Bytes that the meters let through at once.
        burst: Bytes,
    }
}

fn is_somebody(notify: &Notify) -> Result<(), Wrong> {
    if *notify != Notify::Nobody {
        return Ok(());
    }
    Err(Wrong::new("this program does nothing if nobody is told", "give \"one\" or \"all\""))
}

impl TrimNProgram {
    pub(super) fn load(&self, target: &Target, facts: &Facts) -> Result<Image, ProgramError> {
        within_ranges(self)?;
        let constants = [
            ("ports", facts.ports() as u64),
            ("packets", self.packets),
            ("header_queue", self.header_queue),
            ("tell_all", u64::from(self.notify == Notify::All)),
        ];
        let mut program = checked("trim-n", target, &constants)?;
        program.set_meter("full_rate", single_rate(one_rate(facts)?, self.burst.get()))?;
        Ok(Image { program, generators: Vec::new() })
    }
}
