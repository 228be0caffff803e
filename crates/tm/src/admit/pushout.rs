//! Pushout: a packet that does not fit displaces the tail of the longest queue. No settings.
//!
//! The longest queue (the lowest index on a tie) is at the root of a tree of maxima, so that finding it costs no scan.

use super::{Admission, Request, Scheme};
use crate::buffer::Buffer;
use crate::config::ValidConfig;
use crate::max_tree::MaxTree;
use crate::schedule::Place;
use crate::verdict::{Reason, Threshold, Why};

#[derive(Clone, Debug)]
pub(crate) struct Pushout {
    lengths: MaxTree,
}

impl Pushout {
    pub(super) fn new(switch: &ValidConfig) -> Self {
        Self { lengths: MaxTree::new(switch.total_queues()) }
    }
}

impl Scheme for Pushout {
    const COUNTS_ARRIVALS: bool = true;
    const OBSERVES: bool = true;
    const TAKES_BACK: bool = true;

    #[inline(always)]
    fn admit(&mut self, request: Request<'_>, buffer: &Buffer, _: &mut impl Why) -> Admission {
        if request.charge <= buffer.remaining() {
            return Admission::Admit;
        }
        let longest = self.lengths.argmax();
        if longest == request.queue { Admission::Reject(Reason::Full) } else { Admission::PushOut(longest) }
    }

    fn threshold_of(&self, _: Place, _: &Buffer) -> Option<Threshold> {
        None
    }

    #[inline(always)]
    fn enqueued(&mut self, place: Place, _: u64, after: u64) {
        self.lengths.set(place.queue, after);
    }

    #[inline(always)]
    fn dequeued(&mut self, place: Place, _: u64, after: u64, _: u32) {
        self.lengths.set(place.queue, after);
    }

    #[inline(always)]
    fn passed(&mut self, _: Place, _: u32) {}
}
