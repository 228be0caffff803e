//! What ABM measures: how many queues of each number are congested, and how fast each queue drains.

use super::real;
use crate::buffer::Buffer;
use crate::config::ValidConfig;
use crate::units::{Duration, PS_PER_SECOND, Rate};
use alloc::vec;
use alloc::vec::Vec;

/// A queue is congested at nine tenths of its threshold (ABM section 3.1).
const CONGESTED_AT: f64 = 0.9;

#[derive(Clone, Debug)]
pub(crate) struct Congestion {
    interval: Duration,
    /// `n_k`, at least 1.
    n: Vec<f64>,
    /// `m_i`: the drain rate over the port's.
    m: Vec<f64>,
    /// Bytes sent by each queue since the last update.
    sent: Vec<u64>,
    rates: Vec<Rate>,
}

impl Congestion {
    pub(super) fn new(interval: Duration, switch: &ValidConfig) -> Self {
        let queues = switch.total_queues();
        Self {
            interval,
            n: vec![1.0; switch.queues],
            m: vec![1.0; queues],
            sent: vec![0; queues],
            rates: switch.rates.clone(),
        }
    }

    pub(super) fn interval(&self) -> Duration {
        self.interval
    }

    /// How many queue numbers there are.
    pub(super) fn numbers(&self) -> usize {
        self.n.len()
    }

    #[inline]
    pub(super) fn n(&self, number: usize) -> f64 {
        self.n[number]
    }

    /// `n_k` of a queue index.
    pub(super) fn n_of(&self, queue: usize) -> f64 {
        self.n[queue % self.n.len()]
    }

    #[inline]
    pub(super) fn m(&self, queue: usize) -> f64 {
        self.m[queue]
    }

    #[inline]
    pub(super) fn sent(&mut self, queue: usize, bytes: u32) {
        self.sent[queue] += u64::from(bytes);
    }

    /// Measures again; `threshold` gives `T_i` with the old measurements. Returns whether anything changed.
    pub(super) fn update(&mut self, buffer: &Buffer, threshold: impl Fn(&Self, usize) -> f64) -> bool {
        let queues = self.n.len();
        let mut congested = vec![0u64; queues];
        for queue in 0..self.m.len() {
            let length = buffer.length(queue);
            if length > 0 && real(length) >= CONGESTED_AT * threshold(self, queue) {
                congested[queue % queues] += 1;
            }
        }
        let mut changed = false;
        for (number, congested) in congested.into_iter().enumerate() {
            let now = real(congested.max(1));
            changed |= self.n[number] != now;
            self.n[number] = now;
        }
        self.measure_rates() | changed
    }

    /// Sets `n_k`, at least 1, for a rule of its own.
    pub(super) fn set_n(&mut self, number: usize, n: f64) {
        self.n[number] = n.max(1.0);
    }

    /// Measures the drain rates again. Returns whether anything changed.
    pub(super) fn measure_rates(&mut self) -> bool {
        let queues = self.n.len();
        let mut changed = false;
        for (queue, (m, sent)) in self.m.iter_mut().zip(&mut self.sent).enumerate() {
            let possible = self.interval.ps() as f64 * self.rates[queue / queues].bps() as f64;
            let share = (8.0 * PS_PER_SECOND as f64) * (*sent as f64) / possible;
            // A queue that is idle or lightly used is not punished for its low rate.
            let now = if share < 1.0 / queues as f64 || share > 1.0 { 1.0 } else { share };
            changed |= *m != now || *sent > 0;
            *m = now;
            *sent = 0;
        }
        changed
    }

    /// Goes on from earlier measurements.
    pub(super) fn inherit(&mut self, earlier: &Self) {
        self.n.clone_from(&earlier.n);
        self.m.clone_from(&earlier.m);
        self.sent.clone_from(&earlier.sent);
    }
}
