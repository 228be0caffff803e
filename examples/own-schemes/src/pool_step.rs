//! Marking by the whole buffer: a packet is marked while the queues together hold a threshold or more.

use forebay_tm::admit::Buffer;
use forebay_tm::mark::{ActiveRule, MarkAction, MarkSettings, MarkingRule};
use forebay_tm::{Bytes, Instant, Packet, ValidConfig, settings};

settings! {
    /// Settings of marking by the whole buffer.
    #[derive(Clone, Debug, PartialEq)]
    pub struct PoolStepConfig {
        /// From so many bytes in the buffer on everything is marked.
        pub threshold: Bytes = Bytes::new(100_000) => needed,
    }
}

impl MarkSettings for PoolStepConfig {
    fn start(&self, _: &ValidConfig) -> ActiveRule {
        ActiveRule::new(PoolStep { threshold: self.threshold.get() })
    }
}

#[derive(Clone, Debug)]
struct PoolStep {
    threshold: u64,
}

impl MarkingRule for PoolStep {
    fn judge(&mut self, _: Instant, _: usize, _: &Packet, buffer: &Buffer) -> Option<MarkAction> {
        (buffer.used() >= self.threshold).then_some(MarkAction::Mark)
    }
}
