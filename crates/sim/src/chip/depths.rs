//! Queue lengths as ingress pipelines see them on chips where they can: as they were a while ago.

use forebay_tm::{Duration, Instant};
use std::collections::VecDeque;

/// The lengths of all queues, late.
pub(super) struct DelayedDepths {
    delay: Duration,
    queues: Vec<Late>,
}

/// One queue: its length as it is seen, and the changes that are not seen yet.
#[derive(Clone, Debug, Default)]
struct Late {
    seen: u64,
    changes: VecDeque<(Instant, u64)>,
}

impl DelayedDepths {
    pub(super) fn new(queues: usize, delay: Duration) -> Self {
        Self { delay, queues: vec![Late::default(); queues] }
    }

    /// A queue has another length from now on.
    pub(super) fn changed(&mut self, now: Instant, queue: usize, depth: u64) {
        self.queues[queue].changes.push_back((now + self.delay, depth));
        // Nobody may look at a queue for long; what is seen by now need not be kept.
        self.read(now, queue);
    }

    /// The length of a queue as it is seen now.
    pub(super) fn read(&mut self, now: Instant, queue: usize) -> u64 {
        let late = &mut self.queues[queue];
        while late.changes.front().is_some_and(|(from, _)| *from <= now) {
            late.seen = late.changes.pop_front().map_or(late.seen, |(_, depth)| depth);
        }
        late.seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_seen_after_the_delay() {
        let at = |ns: u64| Instant::from_ps(ns * 1_000);
        let mut depths = DelayedDepths::new(2, Duration::from_ps(100_000));
        depths.changed(at(10), 1, 7);
        depths.changed(at(50), 1, 9);
        for (now, seen) in [(10, 0), (109, 0), (110, 7), (149, 7), (150, 9), (1_000, 9)] {
            assert_eq!((depths.read(at(now), 1), depths.read(at(now), 0)), (seen, 0), "at {now}");
        }
    }
}
