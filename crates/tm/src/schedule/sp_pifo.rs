//! SP-PIFO: `n` strict-priority FIFO queues that adapt which ranks they take (Alcoz et al., NSDI 2020).
//!
//! From the least important queue up, the first whose bound is not above the rank takes the packet and raises its bound to
//! the rank (push-up). If none does, the most important queue takes it and every bound falls by as much as the rank was
//! below that queue's bound (push-down).

use super::lanes::Lanes;
use super::{Discipline, Join, Scheduler, SchedulerSettings, Service, check_capacity};
use crate::buffer::{Descriptors, Slot};
use crate::config::{ConfigError, TmConfig, ValidConfig};
use crate::described::settings;
use crate::packet::Packet;
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

impl SchedulerSettings for SpPifoConfig {
    fn service(&self) -> Service {
        Service::OwnOrder
    }

    fn uses_ranks(&self) -> bool {
        true
    }

    fn lanes(&self) -> Vec<u64> {
        vec![self.queues as u64]
    }

    fn start(&self, switch: &ValidConfig) -> Scheduler {
        let port = Port { bounds: vec![0; self.queues], lanes: Lanes::new(self.queues) };
        Scheduler::SpPifo(SpPifo { capacity: self.capacity, ports: vec![port; switch.rates.len()] })
    }

    fn validate(&self, _: &TmConfig) -> Result<(), ConfigError> {
        check_capacity("scheduler.queues", self.queues)?;
        check_capacity("scheduler.capacity", self.capacity)
    }
}

#[derive(Clone, Debug)]
struct Port {
    bounds: Vec<u64>,
    lanes: Lanes,
}

#[derive(Clone, Debug)]
pub(crate) struct SpPifo {
    capacity: usize,
    ports: Vec<Port>,
}

impl Discipline for SpPifo {
    /// Moves the bounds, whether the packet finds room or not.
    fn join(&mut self, packet: &Packet, rank: u64) -> Join {
        let Port { bounds, lanes } = &mut self.ports[packet.port as usize];
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
        if lanes.len(lane) < self.capacity { Join::Yes(lane as u32) } else { Join::No }
    }

    fn insert(&mut self, packet: &Packet, slot: Slot, lane: u32, slots: &mut Descriptors) {
        self.ports[packet.port as usize].lanes.push(lane, slot, slots);
    }

    fn head(&self, port: usize) -> Option<Slot> {
        self.ports[port].lanes.head()
    }

    fn take_head(&mut self, port: usize, slots: &mut Descriptors) -> Option<Slot> {
        self.ports[port].lanes.take_head(slots)
    }

    fn take_tail(&mut self, port: usize, slots: &mut Descriptors) -> Option<Slot> {
        self.ports[port].lanes.take_tail(slots)
    }

    fn waiting(&self, port: usize, slots: &Descriptors) -> Vec<Slot> {
        self.ports[port].lanes.slots(slots)
    }

    fn inherit(&mut self, earlier: &Self) {
        self.ports.clone_from(&earlier.ports);
    }
}
