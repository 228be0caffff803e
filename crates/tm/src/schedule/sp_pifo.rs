//! SP-PIFO: `n` strict-priority FIFO queues that adapt which ranks they take (Alcoz et al., NSDI 2020).
//!
//! From the least important queue up, the first whose bound is not above the rank takes the packet and raises its bound to
//! the rank (push-up). If none does, the most important queue takes it and every bound falls by as much as the rank was
//! below that queue's bound (push-down).

use super::{Join, check_capacity};
use crate::buffer::{Buffer, List, Slot};
use crate::config::{ConfigError, ValidConfig};
use crate::described::settings;
use alloc::vec;
use alloc::vec::Vec;

settings! {
    /// Settings of SP-PIFO.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct SpPifoConfig {
        /// FIFO queues per port: `n`.
        pub queues: usize = 8 => needed "8",
        /// Packets that each holds.
        pub capacity: usize = 10 => needed "10",
    }
}

impl SpPifoConfig {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        check_capacity("scheduler.queues", self.queues)?;
        check_capacity("scheduler.capacity", self.capacity)
    }
}

#[derive(Clone, Debug)]
struct Port {
    bounds: Vec<u64>,
    lanes: Vec<List>,
}

#[derive(Clone, Debug)]
pub(crate) struct SpPifo {
    capacity: usize,
    ports: Vec<Port>,
}

impl SpPifo {
    pub(super) fn new(config: &SpPifoConfig, switch: &ValidConfig) -> Self {
        let port = Port { bounds: vec![0; config.queues], lanes: vec![List::default(); config.queues] };
        Self { capacity: config.capacity, ports: vec![port; switch.rates.len()] }
    }

    /// Moves the bounds, whether the packet finds room or not.
    pub(super) fn join(&mut self, port: usize, rank: u64) -> Join {
        let Port { bounds, lanes } = &mut self.ports[port];
        let lane = if let Some(lane) = bounds.iter().rposition(|bound| rank >= *bound) {
            bounds[lane] = rank;
            lane
        } else {
            let cost = bounds[0] - rank;
            for bound in bounds {
                *bound = bound.saturating_sub(cost);
            }
            0
        };
        if lanes[lane].len() < self.capacity { Join::Yes(lane as u32) } else { Join::No }
    }

    pub(super) fn insert(&mut self, port: usize, lane: u32, slot: Slot, buffer: &mut Buffer) {
        buffer.slots.push_back(&mut self.ports[port].lanes[lane as usize], slot);
    }

    pub(super) fn head(&self, port: usize) -> Option<Slot> {
        self.ports[port].lanes.iter().find_map(List::head)
    }

    pub(super) fn take_head(&mut self, port: usize, buffer: &mut Buffer) -> Option<Slot> {
        let lane = self.ports[port].lanes.iter_mut().find(|lane| !lane.is_empty())?;
        buffer.slots.pop_front(lane)
    }

    pub(super) fn take_tail(&mut self, port: usize, buffer: &mut Buffer) -> Option<Slot> {
        let lane = self.ports[port].lanes.iter_mut().rfind(|lane| !lane.is_empty())?;
        buffer.slots.pop_back(lane)
    }

    pub(super) fn lanes(&self, port: usize) -> &[List] {
        &self.ports[port].lanes
    }

    pub(super) fn inherit(&mut self, earlier: &Self) {
        self.ports.clone_from(&earlier.ports);
    }
}
