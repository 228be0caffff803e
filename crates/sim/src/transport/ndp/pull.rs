//! The pacer of pulls that all NDP flows to one host share.

use forebay_tm::{Duration, Instant};
use std::collections::VecDeque;

/// The flows of one host that wait for a pull, served in turn: one pull for each time that a full packet takes on the
/// host's link.
///
/// A flow stands in the queue at most once; how many pulls it is owed is the receiver's business. So flows share the
/// link evenly, whatever they are owed. The host
/// * calls [`PullQueue::request`] when a receiver replies
///   [`Reply::PacketAndPull`](crate::transport::Reply::PacketAndPull),
/// * calls [`PullQueue::next`] at [`PullQueue::deadline`], sends the pull with the number that
///   [`NdpReceiver::pull_sent`](super::NdpReceiver::pull_sent) gives, and calls [`PullQueue::request`] again if
///   [`NdpReceiver::wants_pull`](super::NdpReceiver::wants_pull),
/// * calls [`PullQueue::forget`] when the flow is complete.
#[derive(Clone, Debug, Default)]
pub struct PullQueue {
    flows: VecDeque<u32>,
    /// No pull leaves before this time.
    free_at: Instant,
}

impl PullQueue {
    /// An empty queue.
    pub fn new() -> Self {
        Self::default()
    }

    /// A flow wants a pull. It must not be in the queue already.
    #[inline]
    pub fn request(&mut self, flow: u32) {
        self.flows.push_back(flow);
    }

    /// The flow whose pull leaves now, if one is due; the next follows `spacing` later at the earliest.
    #[inline]
    pub fn next(&mut self, now: Instant, spacing: Duration) -> Option<u32> {
        if now < self.free_at {
            return None;
        }
        let flow = self.flows.pop_front()?;
        self.free_at = now + spacing;
        Some(flow)
    }

    /// When [`PullQueue::next`] has a flow; this may be in the past, and then it has one now.
    #[inline]
    pub fn deadline(&self) -> Instant {
        if self.flows.is_empty() { Instant::NEVER } else { self.free_at }
    }

    /// A flow needs no more pulls.
    pub fn forget(&mut self, flow: u32) {
        self.flows.retain(|waiting| *waiting != flow);
    }
}
