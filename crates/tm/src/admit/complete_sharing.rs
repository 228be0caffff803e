//! Complete sharing: a packet is admitted if it fits, whoever holds the buffer. No settings.

use super::{ActivePolicy, Admission, Arrival, BufferPolicy, PolicySettings, QueueId};
use crate::buffer::Buffer;
use crate::config::ValidConfig;
use crate::described::settings;
use crate::verdict::{Explain, Reason, Threshold};

settings! {
    /// Settings of complete sharing: there are none.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct CompleteSharingConfig {}
}

impl PolicySettings for CompleteSharingConfig {
    fn start(&self, _: &ValidConfig) -> ActivePolicy {
        CompleteSharing.into()
    }
}

#[derive(Clone, Debug)]
pub(crate) struct CompleteSharing;

impl BufferPolicy for CompleteSharing {
    #[inline(always)]
    fn admit(&mut self, arrival: Arrival<'_>, buffer: &Buffer, _: &mut impl Explain) -> Admission {
        if arrival.charge <= buffer.remaining() { Admission::Admit } else { Admission::Reject(Reason::Full) }
    }

    fn threshold_of(&self, _: QueueId, _: &Buffer) -> Option<Threshold> {
        None
    }
}
