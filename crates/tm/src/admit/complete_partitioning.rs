//! Complete partitioning: every queue owns `floor(B / (P*K))` bytes and no more. No settings.

use super::{ActivePolicy, Admission, Arrival, BufferPolicy, PolicySettings, QueueId, real};
use crate::buffer::Buffer;
use crate::config::ValidConfig;
use crate::described::settings;
use crate::verdict::{Explain, Reason, Threshold};

settings! {
    /// Settings of complete partitioning: there are none.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct CompletePartitioningConfig {}
}

impl PolicySettings for CompletePartitioningConfig {
    fn start(&self, switch: &ValidConfig) -> ActivePolicy {
        CompletePartitioning::new(switch).into()
    }
}

#[derive(Clone, Debug)]
pub(crate) struct CompletePartitioning {
    share: u64,
}

impl CompletePartitioning {
    pub(super) fn new(switch: &ValidConfig) -> Self {
        Self { share: switch.buffer.get() / switch.total_queues() as u64 }
    }

    pub(super) fn threshold(&self) -> Threshold {
        Threshold { value: real(self.share), ..Threshold::default() }
    }
}

impl BufferPolicy for CompletePartitioning {
    #[inline(always)]
    fn admit(&mut self, arrival: Arrival<'_>, buffer: &Buffer, why: &mut impl Explain) -> Admission {
        why.note(|e| e.threshold = Some(self.threshold()));
        if buffer.length(arrival.queue.index) + arrival.charge <= self.share {
            // The parts add up to no more than the buffer, unless a queue outgrew its part: under another policy
            // before, or by headers of cut packets.
            if arrival.charge <= buffer.remaining() { Admission::Admit } else { Admission::Reject(Reason::Full) }
        } else {
            Admission::Reject(Reason::Threshold)
        }
    }

    fn threshold_of(&self, _: QueueId, _: &Buffer) -> Option<Threshold> {
        Some(self.threshold())
    }
}
