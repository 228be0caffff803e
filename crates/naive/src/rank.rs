//! Rank scheduling (section 8 of the specification). Smaller ranks are more important.
//!
//! A queue is a list of packets in the order in which they would be picked, so that a pick, an expulsion and a
//! push-out need not know about ranks.

use crate::config::Scheduler;
use crate::packet::{Reason, Verdict};
use crate::switch::{Model, Waiting};
use std::collections::VecDeque;

/// What a port remembers of the ranks that it has seen.
#[derive(Clone, Debug)]
pub(crate) struct RankState {
    /// SP-PIFO: the bounds `b_j`.
    bounds: Vec<u64>,
    /// AIFO: the window, oldest first.
    window: VecDeque<u64>,
    /// AIFO: the arrival counter.
    counter: u64,
}

impl RankState {
    pub(crate) fn new(scheduler: &Scheduler) -> Self {
        let bounds = match scheduler {
            Scheduler::SpPifo { queues, .. } => vec![0; *queues],
            _ => Vec::new(),
        };
        RankState { bounds, window: VecDeque::new(), counter: 0 }
    }
}

impl Model<'_> {
    /// Section 3, step 2: AIFO sees packet `n`, for queue `i`, and says whether it may go on. Other schedulers do not
    /// look.
    pub(crate) fn aifo_admits(&mut self, n: usize, i: usize) -> bool {
        let Scheduler::Aifo { capacity, headroom, window: window_size, sample } = self.switch.scheduler else {
            return true;
        };
        let arrival = &self.arrivals[n];
        let state = &mut self.ports[arrival.port].rank;
        if state.counter % sample == 0 {
            if state.window.len() == window_size {
                state.window.pop_front();
            }
            state.window.push_back(arrival.rank);
        }
        state.counter += 1;

        let c = self.queues[i].len();
        if c >= capacity {
            return false;
        }
        let entries = state.window.len();
        let smaller = state.window.iter().filter(|&&r| r < arrival.rank).count();
        smaller as f64 * (capacity as f64 * (1.0 - headroom)) <= (capacity - c) as f64 * entries as f64
    }

    /// Section 3, step 5, for PIFO. Says whether the packet joined.
    pub(crate) fn join_pifo(&mut self, i: usize, arriving: Waiting, capacity: usize) -> bool {
        if self.queues[i].len() >= capacity {
            // Sorted by rank, the last packet is the last of those with the largest rank.
            let last = self.queues[i].len().checked_sub(1);
            match last {
                Some(last) if arriving.rank < self.queues[i][last].rank => {
                    self.drop_waiting(i, last, Reason::PushedOut);
                }
                _ => {
                    self.settle(arriving.packet, Verdict::Dropped, Reason::Rank, None);
                    return false;
                }
            }
        }
        let place = self.queues[i].iter().filter(|waiting| waiting.rank <= arriving.rank).count();
        self.queues[i].insert(place, arriving);
        true
    }

    /// Section 3, step 5, for SP-PIFO. Says whether the packet joined.
    pub(crate) fn join_sp_pifo(&mut self, i: usize, mut arriving: Waiting, capacity: usize) -> bool {
        let rank = arriving.rank;
        let bounds = &mut self.ports[i / self.switch.queues].rank.bounds;
        let taker = (0..bounds.len()).rev().find(|&j| rank >= bounds[j]);
        arriving.lane = match taker {
            Some(lane) => {
                bounds[lane] = rank; // push-up
                lane
            }
            None => {
                let cost = bounds[0] - rank; // push-down
                for bound in bounds {
                    *bound = bound.saturating_sub(cost);
                }
                0
            }
        };
        let in_lane = self.queues[i].iter().filter(|waiting| waiting.lane == arriving.lane).count();
        if in_lane >= capacity {
            self.settle(arriving.packet, Verdict::Dropped, Reason::Rank, None);
            return false;
        }
        let place = self.queues[i].iter().filter(|waiting| waiting.lane <= arriving.lane).count();
        self.queues[i].insert(place, arriving);
        true
    }
}
