//! Deficit round robin, and groups of queues in strict order with deficit round robin within each.
//!
//! A visit to a queue adds `quantum * w_k` to its deficit and serves packets while the head fits; a head that does not
//! fit ends the visit and the deficit is kept; a queue that empties ends the visit and loses its deficit. A visit may
//! span many picks. Plain DRR is one group of all queues.

use super::{ActiveScheduler, Discipline, Scheduler, SchedulerSettings, Service, Turn, check_weights, next_after};
use crate::buffer::Buffer;
use crate::config::{ConfigError, PerQueue, TmConfig, ValidConfig, group_of};
use crate::described::settings;
use crate::packet::MAX_PACKET_BYTES;
use crate::units::Bytes;
use alloc::vec;
use alloc::vec::Vec;

settings! {
    /// Settings of deficit round robin.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct DrrConfig {
        /// By queue number.
        pub weights: PerQueue<u32> = PerQueue::All(1),
        /// Bytes that a visit adds per unit of weight.
        pub quantum: Bytes = Bytes::new(1_500),
    }
}

impl SchedulerSettings for DrrConfig {
    fn service(&self) -> Service {
        Service::Weighted
    }

    fn weight(&self, number: usize) -> u32 {
        self.weights.at(number)
    }

    fn start(&self, switch: &ValidConfig) -> ActiveScheduler {
        let groups = vec![(0..switch.queues).collect()];
        let Self { weights, quantum } = self.clone();
        Scheduler::DeficitRoundRobin(Drr::new(&StrictOverDrrConfig { groups, weights, quantum }, switch)).into()
    }

    fn validate(&self, switch: &TmConfig) -> Result<(), ConfigError> {
        check_weights(&self.weights, switch.queues)?;
        if self.quantum == Bytes::ZERO || self.quantum.get() > 1 << 31 {
            return Err(ConfigError::new("scheduler.quantum", self.quantum, "the quantum is out of range")
                .remedy("give 1 byte to 2GiB, such as quantum = 1500"));
        }
        Ok(())
    }
}

settings! {
    /// Settings of strict priority over groups of queues.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct StrictOverDrrConfig {
        /// Groups of queue numbers, the most important first; each queue number is in one of them.
        pub groups: Vec<Vec<usize>> = Vec::new() => needed "[[0], [1, 2]]",
        /// By queue number, within each group.
        pub weights: PerQueue<u32> = PerQueue::All(1),
        /// Bytes that a visit adds per unit of weight.
        pub quantum: Bytes = Bytes::new(1_500),
    }
}

impl SchedulerSettings for StrictOverDrrConfig {
    fn service(&self) -> Service {
        Service::Weighted
    }

    fn weight(&self, number: usize) -> u32 {
        self.weights.at(number)
    }

    fn start(&self, switch: &ValidConfig) -> ActiveScheduler {
        Scheduler::StrictOverDrr(Drr::new(self, switch)).into()
    }

    fn validate(&self, switch: &TmConfig) -> Result<(), ConfigError> {
        group_of("scheduler.groups", Some(&self.groups), switch.queues)?;
        DrrConfig { weights: self.weights.clone(), quantum: self.quantum }.validate(switch)
    }
}

/// The queue visited last, and whether the visit goes on.
#[derive(Clone, Copy, Debug)]
struct Visit {
    queue: u32,
    open: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Drr {
    /// `quantum * w_k`.
    grants: Vec<u64>,
    /// Which queues are in each group, the most important first.
    groups: Vec<u64>,
    /// Per queue number: its group.
    group_of: Vec<usize>,
    /// Per port and group.
    visits: Vec<Visit>,
    /// Per queue index.
    deficits: Vec<u64>,
}

impl Drr {
    fn new(config: &StrictOverDrrConfig, switch: &ValidConfig) -> Self {
        let group_of = group_of("scheduler.groups", Some(&config.groups), switch.queues).expect("validated");
        let mask = |group: &Vec<usize>| group.iter().fold(0u64, |mask, k| mask | 1 << k);
        Self {
            grants: (0..switch.queues).map(|k| config.quantum.get() * u64::from(config.weights.at(k))).collect(),
            groups: config.groups.iter().map(mask).collect(),
            group_of,
            visits: vec![
                Visit { queue: switch.queues as u32 - 1, open: false };
                switch.rates.len() * config.groups.len()
            ],
            deficits: vec![0; switch.total_queues()],
        }
    }
}

impl Discipline for Drr {
    #[inline]
    fn choose(&mut self, turn: Turn<'_>) -> usize {
        let Turn { port, first_queue, nonempty, buffer, .. } = turn;
        let mut group = 0;
        while nonempty & self.groups[group] == 0 {
            group += 1;
        }
        let nonempty = nonempty & self.groups[group];
        let visit = &mut self.visits[port * self.groups.len() + group];
        let deficits = &mut self.deficits[first_queue..first_queue + self.grants.len()];
        let mut unvisited = nonempty;
        loop {
            if !visit.open {
                visit.queue = next_after(visit.queue, nonempty);
                visit.open = true;
                deficits[visit.queue as usize] += self.grants[visit.queue as usize];
            }
            let k = visit.queue as usize;
            let head = head_bytes(buffer, first_queue + k);
            let deficit = &mut deficits[k];
            if head <= *deficit {
                let last = buffer.queues[first_queue + k].packets() == 1;
                *deficit = if last { 0 } else { *deficit - head };
                visit.open = !last;
                return k;
            }
            visit.open = false;
            unvisited &= !(1 << k);
            if unvisited == 0 {
                skip_fruitless_rounds(deficits, &self.grants, first_queue, nonempty, buffer);
                unvisited = nonempty;
            }
        }
    }

    fn emptied(&mut self, port: usize, k: usize) {
        self.deficits[port * self.group_of.len() + k] = 0;
        let visit = &mut self.visits[port * self.groups.len() + self.group_of[k]];
        if visit.queue as usize == k {
            visit.open = false;
        }
    }

    fn inherit(&mut self, earlier: &Self) {
        self.deficits.clone_from(&earlier.deficits);
        if self.groups == earlier.groups {
            self.visits.clone_from(&earlier.visits);
        } else {
            // Visits that went on are over. A visit that ends leaves less than a packet.
            for deficit in &mut self.deficits {
                *deficit = (*deficit).min(u64::from(MAX_PACKET_BYTES));
            }
        }
    }
}

/// The length of the packet at the head of a queue.
#[inline]
fn head_bytes(buffer: &Buffer, queue: usize) -> u64 {
    buffer.queues[queue].head().map_or(0, |slot| u64::from(buffer.slots.bytes(slot)))
}

/// Every non-empty queue was visited and none could send: adds the deficits of all the rounds, but the last, that would
/// go the same way, so that a small quantum does not mean many rounds.
#[cold]
fn skip_fruitless_rounds(deficits: &mut [u64], grants: &[u64], first_queue: usize, nonempty: u64, buffer: &Buffer) {
    let queues = || (0..grants.len()).filter(|k| nonempty & (1 << k) != 0);
    let rounds = queues().map(|k| head_bytes(buffer, first_queue + k).saturating_sub(deficits[k]).div_ceil(grants[k]));
    let skipped = rounds.min().unwrap_or(0).saturating_sub(1);
    for k in queues() {
        deficits[k] += skipped * grants[k];
    }
}
