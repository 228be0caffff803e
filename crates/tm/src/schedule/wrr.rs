//! Weighted round robin: a visit to a queue serves up to `w_k` packets and ends early if the queue empties.

use super::round_robin::Cursor;
use super::{check_weights, next_after};
use crate::buffer::Buffer;
use crate::config::{ConfigError, PerQueue, TmConfig, ValidConfig};
use crate::described::settings;
use alloc::vec::Vec;

settings! {
    /// Settings of weighted round robin.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct WrrConfig {
        /// Packets per visit, by queue number.
        pub weights: PerQueue<u32> = PerQueue::All(1),
    }
}

impl WrrConfig {
    pub(super) fn validate(&self, switch: &TmConfig) -> Result<(), ConfigError> {
        check_weights(&self.weights, switch.queues)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Wrr {
    weights: Vec<u32>,
}

impl Wrr {
    pub(super) fn new(config: &WrrConfig, switch: &ValidConfig) -> Self {
        Self { weights: (0..switch.queues).map(|k| config.weights.at(k)).collect() }
    }

    #[inline]
    pub(super) fn pick(&self, cursor: &mut Cursor, first_queue: usize, waiting: u64, buffer: &Buffer) -> usize {
        if cursor.left == 0 {
            cursor.queue = next_after(cursor.queue, waiting);
            cursor.left = self.weights[cursor.queue as usize];
        }
        let k = cursor.queue as usize;
        let last = buffer.queues[first_queue + k].packets() == 1;
        cursor.left = if last { 0 } else { cursor.left - 1 };
        k
    }
}
