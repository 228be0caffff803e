//! Round robin: the next queue that waits after the one served last, starting at queue 0.

use super::next_after;
use crate::config::ValidConfig;
use alloc::vec;
use alloc::vec::Vec;

#[derive(Clone, Debug)]
pub(crate) struct RoundRobin {
    /// Per port: the queue served last.
    last: Vec<u32>,
}

impl RoundRobin {
    pub(super) fn new(switch: &ValidConfig) -> Self {
        Self { last: vec![switch.queues as u32 - 1; switch.rates.len()] }
    }

    #[inline]
    pub(super) fn pick(&mut self, port: usize, waiting: u64) -> usize {
        let last = &mut self.last[port];
        *last = next_after(*last, waiting);
        *last as usize
    }
}
