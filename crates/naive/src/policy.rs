//! Buffer policies (section 6 of the specification); Occamy's expulsions are in `expel`.

use crate::config::{Policy, Scheduler, Switch};
use crate::packet::Reason;
use crate::switch::Model;
use std::collections::BTreeMap;

/// What the policies remember.
pub(crate) struct PolicyState {
    /// FBA: `a_i`.
    a: Vec<f64>,
    /// ABM: `n_k`.
    n: Vec<f64>,
    /// ABM: `m_i`.
    m: Vec<f64>,
    /// ABM: the bytes dequeued from queue i since the last update.
    dequeued: Vec<u64>,
    /// ABM with `congested_at`: queue i as its last packet found it.
    found: Vec<u64>,
    /// FAB: per flow the byte count and the time of the last packet.
    flows: BTreeMap<u64, (u64, u64)>,
    /// Reverie: the filtered length of queue i, in 1/65536 of a byte.
    filtered: Vec<u128>,
    /// Reverie: what is free on the ingress side when a packet comes, in bytes.
    pub(crate) free: Option<u64>,
}

impl PolicyState {
    pub(crate) fn new(switch: &Switch) -> Self {
        let count = switch.queue_count();
        let a = match &switch.policy {
            Policy::Fba { alpha, .. } => (0..count).map(|i| alpha[i % switch.queues]).collect(),
            _ => Vec::new(),
        };
        PolicyState {
            a,
            n: vec![1.0; switch.queues],
            m: vec![1.0; count],
            dequeued: vec![0; count],
            found: vec![0; count],
            flows: BTreeMap::new(),
            filtered: vec![0; count],
            free: None,
        }
    }
}

impl Model<'_> {
    /// Section 3, step 3: whether the policy admits packet `n`, charged `len`, to queue `i`, or why not.
    pub(crate) fn admit(&mut self, n: usize, i: usize, len: u64) -> Result<(), Reason> {
        let switch = self.switch;
        let arrival = &self.arrivals[n];
        let k = i % switch.queues;
        match &switch.policy {
            Policy::Cs => self.fits(len),
            Policy::Cp => {
                if self.q(i) + len <= switch.buffer / switch.queue_count() as u64 {
                    Ok(())
                } else {
                    Err(Reason::Threshold)
                }
            }
            Policy::Dt { alpha, reserved } => {
                if *reserved > 0.0 {
                    self.within_reserve_or_share(i, len, alpha[k], *reserved)
                } else {
                    self.within(i, len, alpha[k] * self.free())
                }
            }
            Policy::Fb { alpha, groups, packet_classes } => {
                let threshold = if *packet_classes {
                    let non_empty = (0..self.queues.len()).filter(|&j| j == i || self.q(j) > 0).count();
                    ((alpha[arrival.class] / non_empty as f64) * 1.0) * self.free()
                } else {
                    let non_empty = self
                        .queues_of_group(groups.as_deref(), k)
                        .into_iter()
                        .filter(|&j| j == i || self.q(j) > 0)
                        .count();
                    ((alpha[k] / non_empty as f64) * self.share(i)) * self.free()
                };
                self.within(i, len, threshold)
            }
            Policy::Fba { .. } => self.within(i, len, self.policy.a[i] * self.free()),
            Policy::Abm { alpha, alpha_unscheduled, .. } => {
                self.policy.found[i] = self.q(i);
                let a = match alpha_unscheduled {
                    Some(special) if arrival.unscheduled => *special,
                    _ => alpha[k],
                };
                self.within(i, len, self.abm_threshold(i, a))
            }
            Policy::Fab { alpha, alpha_short, threshold, window } => {
                let sent = self.count_flow(arrival.flow, arrival.bytes, *window);
                let a = if sent < *threshold { *alpha_short } else { alpha[k] };
                self.within(i, len, a * self.free())
            }
            Policy::Pools { .. } => self.within_pool(i, len),
            Policy::Reverie { alpha, lossless, .. } => self.within_filtered(i, len, alpha[k], lossless[k]),
            Policy::Pushout => self.push_out_until_it_fits(i, len),
            Policy::Occamy { alpha, .. } => self.within(i, len, alpha[k] * self.free()),
        }
    }

    /// `B - Q` as a double.
    pub(crate) fn free(&self) -> f64 {
        (self.switch.buffer - self.q_total()) as f64
    }

    /// Whether `Q + len <= B`.
    fn fits(&self, len: u64) -> Result<(), Reason> {
        if self.q_total() + len <= self.switch.buffer { Ok(()) } else { Err(Reason::Full) }
    }

    /// The common rule of the threshold policies.
    fn within(&self, i: usize, len: u64, threshold: f64) -> Result<(), Reason> {
        self.fits(len)?;
        if (self.q(i) + len) as f64 <= threshold { Ok(()) } else { Err(Reason::Threshold) }
    }

    /// DT with `reserved`.
    fn within_reserve_or_share(&self, i: usize, len: u64, alpha: f64, reserved: f64) -> Result<(), Reason> {
        let count = self.switch.queue_count();
        // R, S, x_i, X and y of the specification.
        let own = (reserved * self.switch.buffer as f64 / count as f64).floor() as u64;
        let shared = self.switch.buffer - own * count as u64;
        let x = |j: usize| self.q(j).saturating_sub(own);
        let x_total: u64 = (0..count).map(x).sum();
        let y = (self.q(i) + len).saturating_sub(own);
        if y == 0 {
            return Ok(());
        }
        if x_total - x(i) + y > shared {
            return Err(Reason::Full);
        }
        if y as f64 <= alpha * (shared - x_total) as f64 { Ok(()) } else { Err(Reason::Threshold) }
    }

    /// Pools: every number is counted anew.
    fn within_pool(&self, i: usize, len: u64) -> Result<(), Reason> {
        let Policy::Pools { pools, pool, minimum, alpha, limit, port_limit, fixed, partitions } = &self.switch.policy
        else {
            return Ok(());
        };
        let (number, ports) = (self.switch.queues, self.switch.rates.len());
        let k = i % number;
        let partition = |j: usize| (j / number) * partitions / ports;
        let shared = |j: usize, length: u64| length.saturating_sub(minimum[j % number]);
        let own = shared(i, self.q(i) + len);
        let more = own - shared(i, self.q(i));
        let beside = |j: &usize| pool[*j % number] == pool[k] && partition(*j) == partition(i);
        let taken: u64 = (0..self.queues.len()).filter(beside).map(|j| shared(j, self.q(j))).sum();
        let free = pools[pool[k]].saturating_sub(taken);
        self.fits(len)?;
        if more > free {
            return Err(Reason::Full);
        }
        let of_port = (0..self.queues.len()).filter(|j| beside(j) && j / number == i / number);
        let on_port: u64 = of_port.map(|j| shared(j, self.q(j))).sum();
        // A multiple of 1/1024 as a whole number.
        let factor = (alpha[k] * 1024.0) as u128;
        let is_beyond_alpha = !fixed[k] && u128::from(own) * 1024 > u128::from(free - more) * factor;
        let is_beyond_port = port_limit.is_some_and(|limit| on_port + more > limit);
        if more > 0 && (own > limit[k] || is_beyond_alpha || is_beyond_port) { Err(Reason::Threshold) } else { Ok(()) }
    }

    /// Reverie: what the threshold meets is the filtered length.
    fn within_filtered(&self, i: usize, len: u64, alpha: f64, lossless: bool) -> Result<(), Reason> {
        self.fits(len)?;
        let free = self.policy.free.unwrap_or(self.switch.buffer - self.q_total());
        if lossless {
            return Ok(());
        }
        if len > free {
            return Err(Reason::Full);
        }
        let factor = (alpha * 1024.0) as u128;
        let own = self.policy.filtered[i] + u128::from(len) * 65_536;
        if own * 1024 <= u128::from(free) * factor * 65_536 { Ok(()) } else { Err(Reason::Threshold) }
    }

    /// Reverie: a packet has left queue `i`.
    pub(crate) fn filter(&mut self, i: usize) {
        if let Policy::Reverie { filter, .. } = &self.switch.policy {
            self.policy.filtered[i] = filtered(self.policy.filtered[i], self.q(i), *filter);
        }
    }

    /// The indices, over all ports, of the queues whose number is in the same priority group as `k`.
    fn queues_of_group(&self, groups: Option<&[Vec<usize>]>, k: usize) -> Vec<usize> {
        let group = match groups {
            Some(groups) => {
                groups.iter().find(|group| group.contains(&k)).expect("every queue number is in a group").clone()
            }
            None => vec![k],
        };
        (0..self.queues.len()).filter(|j| group.contains(&(j % self.switch.queues))).collect()
    }

    /// `g_i`: the share of the port that the scheduler gives to queue `i`, counting i as non-empty.
    fn share(&self, i: usize) -> f64 {
        let k = i % self.switch.queues;
        let first = i - k;
        let counted = |j: &usize| *j == k || self.q(first + *j) > 0;
        match &self.switch.scheduler {
            Scheduler::Wrr { weights } | Scheduler::Drr { weights, .. } => {
                let sum: u64 = (0..self.switch.queues).filter(counted).map(|j| weights[j]).sum();
                weights[k] as f64 / sum as f64
            }
            Scheduler::Rr | Scheduler::Strict => 1.0 / (0..self.switch.queues).filter(counted).count() as f64,
            Scheduler::Fifo | Scheduler::Pifo { .. } | Scheduler::SpPifo { .. } | Scheduler::Aifo { .. } => 1.0,
        }
    }

    /// ABM: `T_i` with `a`.
    fn abm_threshold(&self, i: usize, a: f64) -> f64 {
        ((a * self.free()) / self.policy.n[i % self.switch.queues]) * self.policy.m[i]
    }

    /// FAB: counts `bytes` bytes for the flow and gives its count.
    fn count_flow(&mut self, flow: u64, bytes: u64, window: u64) -> u64 {
        let (mut count, last) = *self.policy.flows.get(&flow).unwrap_or(&(0, self.now));
        if self.now - last > window {
            count = 0;
        }
        count += bytes;
        self.policy.flows.insert(flow, (count, self.now));
        count
    }

    /// Pushout.
    fn push_out_until_it_fits(&mut self, i: usize, len: u64) -> Result<(), Reason> {
        while self.fits(len).is_err() {
            let mut longest = 0;
            for j in 1..self.queues.len() {
                if self.q(j) > self.q(longest) {
                    longest = j;
                }
            }
            if longest == i {
                return Err(Reason::Full);
            }
            let tail = self.queues[longest].len() - 1;
            self.drop_waiting(longest, tail, Reason::PushedOut);
        }
        Ok(())
    }

    /// Section 4 for ABM: `bytes` bytes were picked from queue `i`.
    pub(crate) fn count_dequeued(&mut self, i: usize, bytes: u64) {
        self.policy.dequeued[i] += bytes;
    }

    /// Section 5 (b): the periodic update of FBA or ABM.
    pub(crate) fn update_policy(&mut self) {
        let switch = self.switch;
        match &switch.policy {
            Policy::Fba { alpha, groups, .. } => {
                let a = |i: usize| {
                    let k = i % switch.queues;
                    let non_empty =
                        self.queues_of_group(groups.as_deref(), k).into_iter().filter(|&j| self.q(j) > 0).count();
                    (alpha[k] / non_empty.max(1) as f64) * self.share(i)
                };
                self.policy.a = (0..self.queues.len()).map(a).collect();
            }
            Policy::Abm { alpha, interval, congested_at, .. } => self.update_abm(alpha, *interval, *congested_at),
            _ => {}
        }
    }

    fn update_abm(&mut self, alpha: &[f64], interval: u64, congested_at: Option<u64>) {
        let count = self.queues.len();
        let number_of_queues = self.switch.queues;
        // Which queues are congested, by the old n and m.
        let congested: Vec<bool> = (0..count)
            .map(|i| {
                let threshold = self.abm_threshold(i, alpha[i % number_of_queues]);
                self.q(i) as f64 >= 0.9 * threshold && self.q(i) > 0
            })
            .collect();
        for k in 0..number_of_queues {
            let of_number = (0..count).filter(|&i| i % number_of_queues == k);
            self.policy.n[k] = match congested_at {
                None => of_number.filter(|&i| congested[i]).count().max(1) as f64,
                Some(full) => {
                    let found: u64 = of_number.map(|i| self.policy.found[i].min(full)).sum();
                    (found as f64 / full as f64).max(1.0)
                }
            };
        }
        for i in 0..count {
            let rate = self.switch.rates[i / number_of_queues];
            let s = (8e12 * self.policy.dequeued[i] as f64) / (interval as f64 * rate as f64);
            let ignored = s < 1.0 / number_of_queues as f64 || s > 1.0;
            self.policy.m[i] = if ignored { 1.0 } else { s };
            self.policy.dequeued[i] = 0;
        }
    }
}

/// A filtered length, in 1/65536 of its unit, after the length has become this: never above it.
pub(crate) fn filtered(before: u128, length: u64, filter: u32) -> u128 {
    let length = u128::from(length) * 65_536;
    if length < before { length } else { before + (length - before) / (1 << filter) }
}
