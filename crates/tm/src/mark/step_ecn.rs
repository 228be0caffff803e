//! Step marking: a packet that finds `K_ecn` bytes or more in its queue is marked (DCTCP).

use super::MarkAction;
use crate::units::Bytes;

/// Settings of step marking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepConfig {
    /// `K_ecn`.
    pub threshold: Bytes,
    /// Default: mark.
    pub action: MarkAction,
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
