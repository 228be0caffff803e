//! What FB and FBA know of the other queues: how many of a priority group wait, and which share of its port a queue gets
//! from the scheduler.

use crate::config::ValidConfig;
use crate::schedule::SchedulerConfig;
use alloc::vec;
use alloc::vec::Vec;

#[derive(Clone, Copy, Debug)]
struct Member {
    group: u32,
    weight: u32,
}

/// Counts kept up to date as queues fill and empty.
#[derive(Clone, Debug)]
pub(crate) struct Shares {
    /// Per queue index.
    members: Vec<Member>,
    /// Non-empty queues of each group, over all ports.
    group_busy: Vec<u32>,
    /// Sum of the weights of each port's non-empty queues.
    port_weight: Vec<u64>,
}

impl Shares {
    /// `group_of` maps queue numbers to groups.
    pub(super) fn new(group_of: &[usize], switch: &ValidConfig) -> Self {
        let weight = |k: usize| match &switch.scheduler {
            SchedulerConfig::WeightedRoundRobin(config) => config.weights.at(k),
            SchedulerConfig::DeficitRoundRobin(config) => config.weights.at(k),
            SchedulerConfig::StrictOverDrr(config) => config.drr.weights.at(k),
            _ => 1,
        };
        let members = (0..switch.total_queues())
            .map(|i| i % switch.queues)
            .map(|k| Member { group: group_of[k] as u32, weight: weight(k) })
            .collect();
        let groups = group_of.iter().max().map_or(0, |last| last + 1);
        Self { members, group_busy: vec![0; groups], port_weight: vec![0; switch.rates.len()] }
    }

    #[inline]
    pub(super) fn enqueued(&mut self, queue: usize, port: usize, before: u64) {
        if before == 0 {
            let member = self.members[queue];
            self.group_busy[member.group as usize] += 1;
            self.port_weight[port] += u64::from(member.weight);
        }
    }

    #[inline]
    pub(super) fn dequeued(&mut self, queue: usize, port: usize, after: u64) {
        if after == 0 {
            let member = self.members[queue];
            self.group_busy[member.group as usize] -= 1;
            self.port_weight[port] -= u64::from(member.weight);
        }
    }

    /// Non-empty queues of the group of `queue`, as they are.
    #[inline]
    pub(super) fn busy(&self, queue: usize) -> u32 {
        self.group_busy[self.members[queue].group as usize]
    }

    /// `g_i`: the queue's weight over the weights of the port's non-empty queues, counting it as one of them.
    #[inline]
    pub(super) fn share(&self, queue: usize, port: usize, waits: bool) -> f64 {
        let weight = u64::from(self.members[queue].weight);
        let all = self.port_weight[port] + if waits { 0 } else { weight };
        super::real(weight) / super::real(all)
    }
}
