//! Step marking: a packet that finds `K_ecn` bytes or more in its queue is marked (DCTCP).

use super::{ActiveRule, MarkAction, MarkSettings, MarkingRule};
use crate::buffer::Buffer;
use crate::config::ValidConfig;
use crate::described::settings;
use crate::packet::Packet;
use crate::units::{Bytes, Instant};

settings! {
    /// Settings of step marking.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct StepConfig {
        /// The queue length from which on every packet is marked: `K_ecn`.
        pub threshold: Bytes = Bytes::new(30_000) => given,
        /// What happens to a packet that the rule selects.
        pub action: MarkAction = MarkAction::Mark,
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Step {
    threshold: u64,
    action: MarkAction,
}

impl MarkSettings for StepConfig {
    fn start(&self, _: &ValidConfig) -> ActiveRule {
        Step { threshold: self.threshold.get(), action: self.action }.into()
    }
}

impl MarkingRule for Step {
    #[inline]
    fn judge(&mut self, _: Instant, queue: usize, _: &Packet, buffer: &Buffer) -> Option<MarkAction> {
        (buffer.length(queue) >= self.threshold).then_some(self.action)
    }
}
