//! Complete partitioning: every queue owns `floor(B / (P*K))` bytes and no more. No settings.

use super::{Admission, Request, Scheme, real};
use crate::buffer::Buffer;
use crate::config::ValidConfig;
use crate::schedule::Place;
use crate::verdict::{Reason, Threshold, Why};

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

impl Scheme for CompletePartitioning {
    #[inline(always)]
    fn admit(&mut self, request: Request<'_>, buffer: &Buffer, why: &mut impl Why) -> Admission {
        why.note(|e| e.threshold = Some(self.threshold()));
        if buffer.length(request.queue) + request.charge <= self.share {
            // The parts add up to no more than the buffer, unless a queue outgrew its part: under another policy before,
            // or by headers of cut packets.
            if request.charge <= buffer.remaining() { Admission::Admit } else { Admission::Reject(Reason::Full) }
        } else {
            Admission::Reject(Reason::Threshold)
        }
    }

    fn threshold_of(&self, _: Place, _: &Buffer) -> Option<Threshold> {
        Some(self.threshold())
    }
}
