//! Weighted round robin: a visit to a queue serves up to `w_k` packets and ends early if the queue empties.

use super::{check_weights, next_after};
use crate::buffer::Buffer;
use crate::config::{ConfigError, PerQueue, TmConfig, ValidConfig};
use alloc::vec;
use alloc::vec::Vec;

/// Settings of weighted round robin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrrConfig {
    /// Packets per visit, by queue number. Default 1.
    pub weights: PerQueue<u32>,
}

impl Default for WrrConfig {
    fn default() -> Self {
        Self { weights: PerQueue::All(1) }
    }
}

impl WrrConfig {
    pub(super) fn validate(&self, switch: &TmConfig) -> Result<(), ConfigError> {
        check_weights(&self.weights, switch.queues)
    }
}

/// The queue visited last, and how many more packets the visit may serve.
#[derive(Clone, Copy, Debug)]
struct Visit {
    queue: u32,
    left: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Wrr {
    weights: Vec<u32>,
    visits: Vec<Visit>,
}

impl Wrr {
    pub(super) fn new(config: &WrrConfig, switch: &ValidConfig) -> Self {
        Self {
            weights: (0..switch.queues).map(|k| config.weights.at(k)).collect(),
            visits: vec![Visit { queue: switch.queues as u32 - 1, left: 0 }; switch.rates.len()],
        }
    }

    #[inline]
    pub(super) fn pick(&mut self, port: usize, first_queue: usize, waiting: u64, buffer: &Buffer) -> usize {
        let visit = &mut self.visits[port];
        if visit.left == 0 {
            visit.queue = next_after(visit.queue, waiting);
            visit.left = self.weights[visit.queue as usize];
        }
        let k = visit.queue as usize;
        let last = buffer.queues[first_queue + k].packets == 1;
        visit.left = if last { 0 } else { visit.left - 1 };
        k
    }

    pub(super) fn emptied(&mut self, port: usize, k: usize) {
        let visit = &mut self.visits[port];
        if visit.queue as usize == k {
            visit.left = 0;
        }
    }

    pub(super) fn inherit(&mut self, earlier: &Self) {
        self.visits.clone_from(&earlier.visits);
        for visit in &mut self.visits {
            visit.left = visit.left.min(self.weights[visit.queue as usize]);
        }
    }
}
