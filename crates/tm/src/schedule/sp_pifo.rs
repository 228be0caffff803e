//! SP-PIFO: `n` strict-priority FIFO queues that adapt which ranks they take (Alcoz et al., NSDI 2020).
//!
//! From the least important queue up, the first whose bound is not above the rank takes the packet and raises its bound
//! to the rank (push-up). If none does, the most important queue takes it and every bound falls by as much as the rank
//! was below that queue's bound (push-down).

use super::{ActiveScheduler, Discipline, Join, Lanes, Scheduler, SchedulerSettings, Service, check_capacity};
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
        pub queues: usize = 8 => needed,
        /// Packets that each holds.
        pub capacity: usize = 10 => needed,
    }
}

impl SchedulerSettings for SpPifoConfig {
    fn service(&self) -> Service {
        Service::OwnOrder
    }

    fn uses_ranks(&self) -> bool {
        true
    }

    fn layout(&self) -> Option<Vec<u64>> {
        Some(vec![self.queues as u64])
    }

    fn start(&self, switch: &ValidConfig) -> ActiveScheduler {
        let port = Port { bounds: vec![0; self.queues], lanes: Lanes::new(self.queues) };
        Scheduler::SpPifo(SpPifo { capacity: self.capacity, ports: vec![port; switch.rates.len()] }).into()
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

    fn lanes(&self, port: usize) -> Option<&Lanes> {
        Some(&self.ports[port].lanes)
    }

    fn lanes_mut(&mut self, port: usize) -> Option<&mut Lanes> {
        Some(&mut self.ports[port].lanes)
    }

    fn inherit(&mut self, earlier: &Self) {
        self.ports.clone_from(&earlier.ports);
    }
}
