//! What FB and FBA know of the other queues: how many of a priority group wait, and which share of its port a queue
//! gets from the scheduler.

use super::QueueId;
use crate::config::ValidConfig;
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
        let members = (0..switch.total_queues())
            .map(|i| i % switch.queues)
            .map(|k| Member { group: group_of[k] as u32, weight: switch.scheduler.weight(k) })
            .collect();
        let groups = group_of.iter().max().map_or(0, |last| last + 1);
        Self { members, group_busy: vec![0; groups], port_weight: vec![0; switch.rates.len()] }
    }

    #[inline]
    pub(super) fn enqueued(&mut self, queue: QueueId, before: u64) {
        if before == 0 {
            let member = self.members[queue.index];
            self.group_busy[member.group as usize] += 1;
            self.port_weight[queue.port] += u64::from(member.weight);
        }
    }

    #[inline]
    pub(super) fn dequeued(&mut self, queue: QueueId, after: u64) {
        if after == 0 {
            let member = self.members[queue.index];
            self.group_busy[member.group as usize] -= 1;
            self.port_weight[queue.port] -= u64::from(member.weight);
        }
    }

    /// `N_p` and `g_i` of FB: non-empty queues of the group, and the queue's share of its port, counting the queue as
    /// one of them.
    #[inline(always)]
    pub(super) fn counting(&self, queue: usize, port: usize, waits: bool) -> (f64, f64) {
        let Member { group, weight } = self.members[queue];
        let (mut busy, mut weights) = (self.group_busy[group as usize], self.port_weight[port]);
        if !waits {
            busy += 1;
            weights += u64::from(weight);
        }
        (super::real(u64::from(busy)), super::real(u64::from(weight)) / super::real(weights))
    }

    /// Non-empty queues of the group of `queue`, as they are.
    pub(super) fn busy(&self, queue: usize) -> u32 {
        self.group_busy[self.members[queue].group as usize]
    }

    /// `g_i`: the queue's weight over the weights of the port's non-empty queues, counting it as one of them.
    pub(super) fn share(&self, queue: usize, port: usize, waits: bool) -> f64 {
        self.counting(queue, port, waits).1
    }
}
