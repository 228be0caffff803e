//! Pushout: a packet that does not fit displaces the tail of the longest queue. No settings.
//!
//! The longest queue (the lowest index on a tie) is at the root of a tree of maxima, so that finding it costs no scan.

use super::{Admission, Request};
use crate::buffer::Buffer;
use crate::config::ValidConfig;
use crate::max_tree::MaxTree;
use crate::verdict::Reason;

#[derive(Clone, Debug)]
pub(crate) struct Pushout {
    lengths: MaxTree,
}

impl Pushout {
    pub(super) fn new(switch: &ValidConfig) -> Self {
        Self { lengths: MaxTree::new(switch.total_queues()) }
    }

    #[inline]
    pub(super) fn changed(&mut self, queue: usize, buffer: &Buffer) {
        self.lengths.set(queue, buffer.length(queue));
    }

    #[inline]
    pub(super) fn admit(&self, request: Request<'_>, buffer: &Buffer) -> Admission {
        if request.charge <= buffer.remaining() {
            return Admission::Admit;
        }
        let longest = self.lengths.argmax();
        if longest == request.queue { Admission::Reject(Reason::Full) } else { Admission::PushOut(longest) }
    }
}
