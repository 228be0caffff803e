//! Step marking: a packet that finds `K_ecn` bytes or more in its queue is marked (DCTCP).

use super::MarkAction;
use crate::described::settings;
use crate::units::Bytes;

settings! {
    /// Settings of step marking.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct StepConfig {
        /// The queue length from which on every packet is marked: `K_ecn`.
        pub threshold: Bytes = Bytes::new(30_000) => given "\"30KB\"",
        /// What happens to a packet that the rule selects.
        pub action: MarkAction = MarkAction::Mark,
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Step {
    threshold: u64,
}

impl Step {
    pub(super) fn new(config: &StepConfig) -> Self {
        Self { threshold: config.threshold.get() }
    }

    #[inline]
    pub(super) fn hits(&self, length: u64) -> bool {
        length >= self.threshold
    }
}
