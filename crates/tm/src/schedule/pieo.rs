//! PIEO: sorted by rank like PIFO, but a packet leaves only from its eligibility time on: the smallest rank among those
//! that are eligible (Shrivastav, SIGCOMM 2019). A full queue treats an arrival as PIFO does. A port whose packets are
//! all too early stays idle until the first of them may go.
//!
//! The head and the tail of such a queue, for push-out and expulsion, are its smallest and largest rank, eligible or
//! not.

use super::pifo::{Pifo, PifoConfig, Sorted};
use super::{ActiveScheduler, Discipline, Join, Scheduler, SchedulerSettings, Service};
use crate::buffer::{Descriptors, Slot};
use crate::config::{ConfigError, TmConfig, ValidConfig};
use crate::described::settings;
use crate::packet::Packet;
use crate::units::Instant;
use alloc::vec::Vec;

settings! {
    /// Settings of PIEO.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct PieoConfig {
        /// Packets that a port's queue holds.
        pub capacity: usize = 64 => needed,
    }
}

impl SchedulerSettings for PieoConfig {
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

    fn validate(&self, switch: &TmConfig) -> Result<(), ConfigError> {
        PifoConfig { capacity: self.capacity }.validate(switch)
    }

    fn start(&self, switch: &ValidConfig) -> ActiveScheduler {
        Scheduler::Pieo(Pieo(Pifo::with_trees(&PifoConfig { capacity: self.capacity }, switch))).into()
    }
}

/// A PIFO whose head may have to wait.
#[derive(Clone, Debug)]
pub(crate) struct Pieo(Pifo);

impl Discipline for Pieo {
    fn join(&mut self, packet: &Packet, rank: u64) -> Join {
        self.0.join(packet, rank)
    }

    fn insert(&mut self, packet: &Packet, slot: Slot, _: u32, slots: &mut Descriptors) {
        self.0.insert_eligible(packet.port, slot, packet.eligible, slots);
    }

    fn head(&self, port: usize) -> Option<Slot> {
        self.0.head(port)
    }

    fn take_head(&mut self, port: usize, slots: &mut Descriptors) -> Option<Slot> {
        self.0.take_head(port, slots)
    }

    fn take_next(&mut self, now: Instant, port: usize, _: &mut Descriptors) -> Option<Slot> {
        match &mut self.0.ports[port] {
            Sorted::Tree(tree) => tree.pop_first_eligible(now),
            Sorted::Array(_) => None,
        }
    }

    fn take_tail(&mut self, port: usize, slots: &mut Descriptors) -> Option<Slot> {
        self.0.take_tail(port, slots)
    }

    fn next_eligible(&self, port: usize) -> Option<Instant> {
        match &self.0.ports[port] {
            Sorted::Tree(tree) => tree.next_eligible(),
            Sorted::Array(_) => None,
        }
    }

    fn waiting(&self, port: usize, slots: &Descriptors) -> Vec<Slot> {
        self.0.waiting(port, slots)
    }

    fn inherit(&mut self, earlier: &Self) {
        self.0.inherit(&earlier.0);
    }
}
