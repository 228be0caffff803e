//! AIFO: one FIFO whose admission approximates PIFO (AIFO algorithm 1).
//!
//! A window of recent ranks gives the quantile of an arriving rank: the share of the window that is strictly smaller. It is
//! admitted iff `c < C` and `quantile <= (1/(1-k)) * (C - c) / C`, computed as `smaller * (C*(1-k)) <= (C - c) * entries`. The
//! window takes every `sample`-th rank before the test. (AIFO's hardware section counts the entries *larger* than the
//! rank, which would admit the wrong packets; its algorithm and its theorems need the smaller ones.)

use super::check_capacity;
use crate::admit::real;
use crate::config::{ConfigError, ValidConfig, check_share};
use crate::verdict::{RankTest, Why};
use alloc::vec;
use alloc::vec::Vec;

/// Settings of AIFO.
#[derive(Clone, Debug, PartialEq)]
pub struct AifoConfig {
    /// `C`: the target size in packets. Default 20.
    pub capacity: usize,
    /// `k`: the share of `C` within which everything is admitted. Default 0.1.
    pub headroom: f64,
    /// Ranks in the window. Default 20.
    pub window: usize,
    /// Every so many ranks enter the window. Default 1.
    pub sample: u64,
}

impl Default for AifoConfig {
    fn default() -> Self {
        Self { capacity: 20, headroom: 0.1, window: 20, sample: 1 }
    }
}

impl AifoConfig {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        check_capacity("scheduler.capacity", self.capacity)?;
        check_capacity("scheduler.window", self.window)?;
        check_share("scheduler.headroom", self.headroom)?;
        if self.sample == 0 {
            return Err(ConfigError::new("scheduler.sample", 0, "every how many ranks are sampled is 1 or more")
                .remedy("give 1 to sample all ranks"));
        }
        Ok(())
    }
}

/// The last `size` ranks, in the order they came and sorted.
#[derive(Clone, Debug)]
struct Window {
    /// A ring; `next` is where the next rank goes.
    ring: Vec<u64>,
    sorted: Vec<u64>,
    next: usize,
    size: usize,
}

impl Window {
    fn new(size: usize) -> Self {
        Self { ring: Vec::with_capacity(size), sorted: Vec::with_capacity(size), next: 0, size }
    }

    fn entries(&self) -> usize {
        self.sorted.len()
    }

    #[inline]
    fn smaller(&self, rank: u64) -> usize {
        self.sorted.partition_point(|held| *held < rank)
    }

    #[inline]
    fn push(&mut self, rank: u64) {
        let to = self.smaller(rank);
        if self.ring.len() < self.size {
            self.ring.push(rank);
            self.sorted.insert(to, rank);
        } else {
            let oldest = core::mem::replace(&mut self.ring[self.next], rank);
            let from = self.smaller(oldest);
            // One entry moves from `from` to `to`; those between shift by one.
            if from < to {
                self.sorted.copy_within(from + 1..to, from);
                self.sorted[to - 1] = rank;
            } else {
                self.sorted.copy_within(to..from, to + 1);
                self.sorted[to] = rank;
            }
        }
        self.next += 1;
        if self.next == self.size {
            self.next = 0;
        }
    }
}

#[derive(Clone, Debug)]
struct Port {
    window: Window,
    /// Arrivals until the next rank is sampled.
    until_sample: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Aifo {
    capacity: usize,
    headroom: f64,
    /// `C*(1-k)`.
    scaled: f64,
    sample: u64,
    ports: Vec<Port>,
}

impl Aifo {
    pub(super) fn new(config: &AifoConfig, switch: &ValidConfig) -> Self {
        let port = Port { window: Window::new(config.window), until_sample: 0 };
        Self {
            capacity: config.capacity,
            headroom: config.headroom,
            scaled: config.capacity as f64 * (1.0 - config.headroom),
            sample: config.sample,
            ports: vec![port; switch.rates.len()],
        }
    }

    #[inline]
    pub(super) fn admits(&mut self, port: usize, rank: u64, waiting: usize, why: &mut impl Why) -> bool {
        let Port { window, until_sample } = &mut self.ports[port];
        if *until_sample == 0 {
            window.push(rank);
            *until_sample = self.sample;
        }
        *until_sample -= 1;
        let (smaller, entries) = (window.smaller(rank), window.entries());
        let (capacity, headroom) = (self.capacity, self.headroom);
        why.note(|e| e.rank_test = Some(RankTest { rank, smaller, entries, waiting, capacity, headroom }));
        waiting < capacity
            && real(smaller as u64) * self.scaled <= real((capacity - waiting) as u64) * real(entries as u64)
    }

    pub(super) fn inherit(&mut self, earlier: &Self) {
        if self.ports.iter().zip(&earlier.ports).all(|(new, old)| new.window.size == old.window.size) {
            self.ports.clone_from(&earlier.ports);
        }
        for port in &mut self.ports {
            port.until_sample = port.until_sample.min(self.sample - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_is_sorted_and_slides() {
        let mut window = Window::new(5);
        let mut plain: Vec<u64> = Vec::new();
        let mut state = 3u64;
        for _ in 0..2_000 {
            state = crate::random::mix(state);
            let rank = state % 8;
            window.push(rank);
            plain.push(rank);
            let recent = &plain[plain.len().saturating_sub(5)..];
            let mut sorted = recent.to_vec();
            sorted.sort_unstable();
            assert_eq!(window.sorted, sorted);
            assert_eq!(window.smaller(4), recent.iter().filter(|held| **held < 4).count());
        }
    }

    #[test]
    fn figure_4_admits_at_two_and_drops_at_five() {
        // C = 6, k = 1/6: the quantile threshold is 80% with 2 packets waiting and 20% with 5 (AIFO figure 4).
        let config = AifoConfig { capacity: 6, headroom: 1.0 / 6.0, window: 2, sample: 1 };
        let switch =
            crate::config::TmConfig::new(vec![crate::units::Rate::from_gbps(10)], crate::units::Bytes::new(99_999));
        let mut aifo = Aifo::new(&config, &switch.validate().unwrap());
        assert!(aifo.admits(0, 10, 0, &mut ()));
        assert!(aifo.admits(0, 20, 2, &mut ()), "quantile 1/2 against 4/5");
        assert!(!aifo.admits(0, 30, 5, &mut ()), "quantile 1/2 against 1/5");
    }
}
