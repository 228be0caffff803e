//! Weighted round robin: a visit to a queue serves up to `w_k` packets and ends early if the queue empties.

use super::{ActiveScheduler, Discipline, Scheduler, SchedulerSettings, Service, Turn, check_weights, next_after};
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

impl SchedulerSettings for WrrConfig {
    fn service(&self) -> Service {
        Service::Weighted
    }

    fn weight(&self, number: usize) -> u32 {
        self.weights.at(number)
    }

    fn validate(&self, switch: &TmConfig) -> Result<(), ConfigError> {
        check_weights(&self.weights, switch.queues)
    }

    fn start(&self, switch: &ValidConfig) -> ActiveScheduler {
        let weights = (0..switch.queues).map(|k| self.weights.at(k)).collect();
        Scheduler::WeightedRoundRobin(Wrr { weights }).into()
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Wrr {
    weights: Vec<u32>,
}

impl Discipline for Wrr {
    #[inline]
    fn choose(&mut self, turn: Turn<'_>) -> usize {
        let Turn { first_queue, nonempty, cursor, buffer, .. } = turn;
        if cursor.left == 0 {
            cursor.queue = next_after(cursor.queue, nonempty);
            cursor.left = self.weights[cursor.queue as usize];
        }
        let k = cursor.queue as usize;
        let last = buffer.queues[first_queue + k].packets() == 1;
        cursor.left = if last { 0 } else { cursor.left - 1 };
        k
    }
}
