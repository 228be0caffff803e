//! The FIFO queues of a port that keeps its packets in several (SP-PIFO, PACKS), the most important first.

use crate::buffer::{Descriptors, List, Slot};
use alloc::vec;
use alloc::vec::Vec;

/// FIFO queues of a port, the most important first.
#[derive(Clone, Debug)]
pub struct Lanes(Vec<List>);

impl Lanes {
    /// So many, all empty.
    pub fn new(lanes: usize) -> Self {
        Self(vec![List::default(); lanes])
    }

    /// Packets in a lane.
    pub fn len(&self, lane: usize) -> usize {
        self.0[lane].len()
    }

    pub(super) fn push(&mut self, lane: u32, slot: Slot, slots: &mut Descriptors) {
        slots.push_back(&mut self.0[lane as usize], slot);
    }

    /// The head of the most important lane that holds packets.
    pub(super) fn head(&self) -> Option<Slot> {
        self.0.iter().find_map(List::head)
    }

    pub(super) fn take_head(&mut self, slots: &mut Descriptors) -> Option<Slot> {
        slots.pop_front(self.0.iter_mut().find(|lane| !lane.is_empty())?)
    }

    /// Takes the tail of the least important lane that holds packets.
    pub(super) fn take_tail(&mut self, slots: &mut Descriptors) -> Option<Slot> {
        slots.pop_back(self.0.iter_mut().rfind(|lane| !lane.is_empty())?)
    }

    pub(super) fn slots(&self, slots: &Descriptors) -> Vec<Slot> {
        self.0.iter().flat_map(|lane| slots.iter(lane)).collect()
    }
}
