//! Pushout: a packet that does not fit displaces the tail of the longest queue. No settings.
//!
//! The longest queue (the lowest index on a tie) is at the root of a tree of maxima, so that finding it costs no scan.

use super::{ActivePolicy, Admission, Arrival, BufferPolicy, PolicySettings, QueueId};
use crate::buffer::Buffer;
use crate::config::ValidConfig;
use crate::described::settings;
use crate::max_tree::MaxTree;
use crate::verdict::{Explain, Reason, Threshold};

settings! {
    /// Settings of pushout: there are none.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct PushoutConfig {}
}

impl PolicySettings for PushoutConfig {
    fn start(&self, switch: &ValidConfig) -> ActivePolicy {
        Pushout::new(switch).into()
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Pushout {
    lengths: MaxTree,
}

impl Pushout {
    pub(super) fn new(switch: &ValidConfig) -> Self {
        Self { lengths: MaxTree::new(switch.total_queues()) }
    }
}

impl BufferPolicy for Pushout {
    const COUNTS_ARRIVALS: bool = true;
    const OBSERVES: bool = true;
    const TAKES_BACK: bool = true;

    #[inline(always)]
    fn admit(&mut self, arrival: Arrival<'_>, buffer: &Buffer, _: &mut impl Explain) -> Admission {
        if arrival.charge <= buffer.remaining() {
            return Admission::Admit;
        }
        let longest = self.lengths.argmax();
        if longest == arrival.queue.index { Admission::Reject(Reason::Full) } else { Admission::PushOut(longest) }
    }

    fn threshold_of(&self, _: QueueId, _: &Buffer) -> Option<Threshold> {
        None
    }

    #[inline(always)]
    fn enqueued(&mut self, queue: QueueId, _: u64, after: u64) {
        self.lengths.set(queue.index, after);
    }

    #[inline(always)]
    fn dequeued(&mut self, queue: QueueId, _: u64, after: u64, _: u32) {
        self.lengths.set(queue.index, after);
    }

    #[inline(always)]
    fn passed(&mut self, _: QueueId, _: u32) {}
}
