//! PIFO: sorted by rank, first come first served within a rank, up to `C` packets. A packet that finds it full
//! displaces the last one if its rank is smaller, and is dropped otherwise.

use super::{ActiveScheduler, Discipline, Join, Scheduler, SchedulerSettings, Service, check_capacity};
use crate::buffer::{Descriptors, Slot};
use crate::config::{ConfigError, TmConfig, ValidConfig};
use crate::described::settings;
use crate::packet::Packet;
use crate::rank_tree::RankTree;
use crate::units::Instant;
use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

settings! {
    /// Settings of PIFO.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct PifoConfig {
        /// Packets that a port's queue holds: `C`.
        pub capacity: usize = 64 => needed,
    }
}

impl SchedulerSettings for PifoConfig {
    fn service(&self) -> Service {
        Service::OwnOrder
    }

    fn uses_ranks(&self) -> bool {
        true
    }

    /// All of them sort in the same way.
    fn layout(&self) -> Option<Vec<u64>> {
        Some(Vec::new())
    }

    fn start(&self, switch: &ValidConfig) -> ActiveScheduler {
        Scheduler::Pifo(Pifo::new(self, switch)).into()
    }

    fn validate(&self, _: &TmConfig) -> Result<(), ConfigError> {
        check_capacity("scheduler.capacity", self.capacity)
    }
}

/// Up to this capacity packets stand in one sorted array, where making room moves a few cache lines; beyond, in a tree.
const ARRAY: usize = 4_096;

/// The packets of a port, by rank, first come first served within a rank.
#[derive(Clone, Debug)]
pub(super) enum Sorted {
    Array(VecDeque<(u64, Slot)>),
    Tree(RankTree<Slot>),
}

impl Sorted {
    fn len(&self) -> usize {
        match self {
            Self::Array(array) => array.len(),
            Self::Tree(tree) => tree.len(),
        }
    }

    fn insert(&mut self, rank: u64, eligible: Instant, slot: Slot) {
        match self {
            // Behind those of the same rank.
            Self::Array(array) => array.insert(array.partition_point(|(held, _)| *held <= rank), (rank, slot)),
            Self::Tree(tree) => tree.insert(rank, eligible, slot),
        }
    }

    fn first(&self) -> Option<Slot> {
        match self {
            Self::Array(array) => array.front().map(|(_, slot)| *slot),
            Self::Tree(tree) => tree.first(),
        }
    }

    fn last_rank(&self) -> Option<u64> {
        match self {
            Self::Array(array) => array.back().map(|(rank, _)| *rank),
            Self::Tree(tree) => tree.last_rank(),
        }
    }

    fn pop_first(&mut self) -> Option<Slot> {
        match self {
            Self::Array(array) => array.pop_front().map(|(_, slot)| slot),
            Self::Tree(tree) => tree.pop_first(),
        }
    }

    fn pop_last(&mut self) -> Option<Slot> {
        match self {
            Self::Array(array) => array.pop_back().map(|(_, slot)| slot),
            Self::Tree(tree) => tree.pop_last(),
        }
    }

    fn slots(&self) -> Vec<Slot> {
        match self {
            Self::Array(array) => array.iter().map(|(_, slot)| *slot).collect(),
            Self::Tree(tree) => tree.items(),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Pifo {
    capacity: usize,
    pub(super) ports: Vec<Sorted>,
}

impl Pifo {
    fn new(config: &PifoConfig, switch: &ValidConfig) -> Self {
        let ports = switch.rates.len();
        if config.capacity > ARRAY {
            return Self::with_trees(config, switch);
        }
        Self { capacity: config.capacity, ports: vec![Sorted::Array(VecDeque::new()); ports] }
    }

    /// A PIFO that can look for the first packet that is eligible.
    pub(super) fn with_trees(config: &PifoConfig, switch: &ValidConfig) -> Self {
        Self { capacity: config.capacity, ports: vec![Sorted::Tree(RankTree::new()); switch.rates.len()] }
    }

    /// A packet joins, which may leave from `eligible` on.
    pub(super) fn insert_eligible(&mut self, port: u32, slot: Slot, eligible: Instant, slots: &Descriptors) {
        self.ports[port as usize].insert(slots.get(slot).rank, eligible, slot);
    }
}

impl Discipline for Pifo {
    fn join(&mut self, packet: &Packet, rank: u64) -> Join {
        let queue = &self.ports[packet.port as usize];
        if queue.len() < self.capacity {
            Join::Yes(0)
        } else if queue.last_rank().is_some_and(|last| rank < last) {
            Join::Displace
        } else {
            Join::No
        }
    }

    fn insert(&mut self, packet: &Packet, slot: Slot, _: u32, slots: &mut Descriptors) {
        self.insert_eligible(packet.port, slot, Instant::ZERO, slots);
    }

    fn head(&self, port: usize) -> Option<Slot> {
        self.ports[port].first()
    }

    fn take_head(&mut self, port: usize, _: &mut Descriptors) -> Option<Slot> {
        self.ports[port].pop_first()
    }

    fn take_tail(&mut self, port: usize, _: &mut Descriptors) -> Option<Slot> {
        self.ports[port].pop_last()
    }

    fn waiting(&self, port: usize, _: &Descriptors) -> Vec<Slot> {
        self.ports[port].slots()
    }

    /// Takes over the packets, in the way that they are kept already.
    fn inherit(&mut self, earlier: &Self) {
        self.ports.clone_from(&earlier.ports);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::Descriptor;
    use crate::packet::{PacketId, Summary};

    #[test]
    fn the_array_and_the_tree_keep_the_same_order() {
        let mut slots = Descriptors::default();
        let mut sorted = [Sorted::Array(VecDeque::new()), Sorted::Tree(RankTree::new())];
        let mut state = 5u64;
        for _ in 0..20_000 {
            state = crate::random::mix(state);
            let taken = match state % 8 {
                0..=4 => {
                    let packet = Descriptor::new(PacketId(state), Summary::new(1, 0), 0);
                    let slot = slots.allocate(packet);
                    for sorted in &mut sorted {
                        sorted.insert(state >> 8 & 7, Instant::ZERO, slot);
                    }
                    [None, None]
                }
                5 | 6 => sorted.each_mut().map(Sorted::pop_first),
                _ => sorted.each_mut().map(Sorted::pop_last),
            };
            assert_eq!(taken[0], taken[1]);
            taken[0].map(|slot| slots.release(slot));
            let [array, tree] = &sorted;
            assert_eq!((array.len(), array.first(), array.last_rank()), (tree.len(), tree.first(), tree.last_rank()));
        }
        assert_eq!(sorted[0].slots(), sorted[1].slots());
    }
}
