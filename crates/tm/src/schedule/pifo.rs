//! PIFO: sorted by rank, first come first served within a rank, up to `C` packets. A packet that finds it full displaces the
//! last one if its rank is smaller, and is dropped otherwise.

use super::{Join, check_capacity};
use crate::buffer::{Buffer, Slot};
use crate::config::{ConfigError, ValidConfig};
use crate::rank_tree::RankTree;
use crate::units::Instant;
use alloc::vec;
use alloc::vec::Vec;

/// Settings of PIFO.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PifoConfig {
    /// `C`: packets that a port's queue holds.
    pub capacity: usize,
}

impl PifoConfig {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        check_capacity("scheduler.capacity", self.capacity)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Pifo {
    capacity: usize,
    pub(super) ports: Vec<RankTree<Slot>>,
}

impl Pifo {
    pub(super) fn new(config: &PifoConfig, switch: &ValidConfig) -> Self {
        Self { capacity: config.capacity, ports: vec![RankTree::new(); switch.rates.len()] }
    }

    pub(super) fn join(&self, port: usize, rank: u64) -> Join {
        let queue = &self.ports[port];
        if queue.len() < self.capacity {
            Join::Yes(0)
        } else if queue.last_rank().is_some_and(|last| rank < last) {
            Join::Displace
        } else {
            Join::No
        }
    }

    /// `eligible` matters to PIEO only.
    pub(super) fn insert(&mut self, port: usize, slot: Slot, eligible: Instant, buffer: &Buffer) {
        self.ports[port].insert(buffer.slots.get(slot).rank, eligible, slot);
    }

    pub(super) fn head(&self, port: usize) -> Option<Slot> {
        self.ports[port].first()
    }

    pub(super) fn take_head(&mut self, port: usize) -> Option<Slot> {
        self.ports[port].pop_first()
    }

    pub(super) fn take_tail(&mut self, port: usize) -> Option<Slot> {
        self.ports[port].pop_last()
    }

    pub(super) fn waiting(&self, port: usize) -> Vec<Slot> {
        self.ports[port].items()
    }

    pub(super) fn inherit(&mut self, earlier: &Self) {
        self.ports.clone_from(&earlier.ports);
    }
}
