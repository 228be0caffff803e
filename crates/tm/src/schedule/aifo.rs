//! AIFO: one FIFO whose admission approximates PIFO (AIFO algorithm 1).
//!
//! A window of recent ranks gives the quantile of an arriving rank: the share of the window that is strictly smaller.
//! It is admitted iff `c < C` and `quantile <= (1/(1-k)) * (C - c) / C`, computed as `smaller * (C*(1-k)) <= (C - c) *
//! entries`. The window takes every `sample`-th rank before the test. (AIFO's hardware section counts the entries
//! *larger* than the rank, which would admit the wrong packets; its algorithm and its theorems need the smaller ones.)

use super::{ActiveScheduler, Discipline, Scheduler, SchedulerSettings, Service, check_capacity};
use crate::config::{ConfigError, TmConfig, ValidConfig, check_share};
use crate::described::{Value, settings};
use crate::verdict::{Explain, RankTest};
use alloc::vec;
use alloc::vec::Vec;

settings! {
    /// Settings of AIFO.
    #[derive(Clone, Debug, PartialEq)]
    pub struct AifoConfig {
        /// The target size in packets: `C`.
        pub capacity: usize = 20 => needed,
        /// The share of `C` below which every packet is admitted: `k`.
        pub headroom: f64 = 0.1 => needed,
        /// Ranks in the window.
        pub window: usize = 20 => needed,
        /// One of this many ranks enters the window; 15 in the paper's evaluation.
        pub sample: u64 = 15 => otherwise Value::Integer(1),
    }
}

impl SchedulerSettings for AifoConfig {
    fn service(&self) -> Service {
        Service::Fifo
    }

    fn uses_ranks(&self) -> bool {
        true
    }

    fn start(&self, switch: &ValidConfig) -> ActiveScheduler {
        Scheduler::Aifo(Aifo::new(self, switch)).into()
    }

    fn validate(&self, _: &TmConfig) -> Result<(), ConfigError> {
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

/// Ranks that fit this are kept in lanes that are compared together.
type Lane = i32;

/// Windows up to this size are counted through in lanes, unless they rarely change; others are kept sorted.
const LANES: usize = 64;

/// From this sampling on a window changes rarely enough to be kept sorted.
const RARELY: u64 = 4;

/// Ranks side by side; what is not filled yet holds the largest number, which is smaller than no rank.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Lanes([Lane; LANES]);

impl Lanes {
    /// How many of the first `N` are smaller.
    #[inline(always)]
    fn smaller<const N: usize>(&self, rank: Lane) -> usize {
        self.0[..N].iter().map(|held| Lane::from(*held < rank)).sum::<Lane>() as usize
    }
}

/// The last `size` ranks.
#[derive(Clone, Debug)]
pub(super) struct Window {
    /// Whether ranks are in `ring` and `sorted`, or in `lanes`.
    is_sorted: bool,
    /// Where the next rank goes.
    next: u32,
    entries: u32,
    size: u32,
    sorted: Vec<u64>,
    /// In the order they came.
    ring: Vec<u64>,
    lanes: Lanes,
}

impl Window {
    /// A window of which every `sample`-th rank is in.
    pub(super) fn sampled(size: usize, sample: u64) -> Self {
        Self::new(size, size > LANES || sample >= RARELY)
    }

    /// Ranks in it.
    pub(super) fn entries(&self) -> usize {
        self.entries as usize
    }

    fn new(size: usize, is_sorted: bool) -> Self {
        Self {
            is_sorted,
            next: 0,
            entries: 0,
            size: size as u32,
            sorted: Vec::new(),
            ring: Vec::new(),
            lanes: Lanes([Lane::MAX; LANES]),
        }
    }

    /// Entries that are strictly smaller.
    #[inline(always)]
    pub(super) fn smaller(&self, rank: u64) -> usize {
        if self.is_sorted {
            return self.sorted.partition_point(|held| *held < rank);
        }
        // A rank that does not fit a lane is above all that do.
        let Ok(rank) = Lane::try_from(rank) else { return self.entries as usize };
        if self.size <= 24 { self.lanes.smaller::<24>(rank) } else { self.lanes.smaller::<LANES>(rank) }
    }

    /// Whether at most `limit` entries are strictly smaller.
    #[inline(always)]
    fn at_most(&self, limit: usize, rank: u64) -> bool {
        if self.is_sorted {
            // The entry at index `limit` has that many before it.
            self.sorted.get(limit).is_none_or(|held| *held >= rank)
        } else {
            self.smaller(rank) <= limit
        }
    }

    #[inline(always)]
    pub(super) fn push(&mut self, rank: u64) {
        // The largest number marks lanes that are not filled, so it is no rank.
        if self.is_sorted || rank >= Lane::MAX as u64 {
            self.push_sorted(rank);
        } else {
            self.lanes.0[self.next as usize % LANES] = rank as Lane;
        }
        self.next += 1;
        if self.entries < self.size {
            self.entries = self.next;
        }
        if self.next == self.size {
            self.next = 0;
        }
    }

    #[inline(never)]
    fn push_sorted(&mut self, rank: u64) {
        if !self.is_sorted {
            self.is_sorted = true;
            self.ring = self.lanes.0[..self.entries as usize].iter().map(|rank| *rank as u64).collect();
            self.sorted.clone_from(&self.ring);
            self.sorted.sort_unstable();
        }
        let to = self.smaller(rank);
        let Some(oldest) = self.ring.get_mut(self.next as usize) else {
            self.ring.push(rank);
            return self.sorted.insert(to, rank);
        };
        let oldest = core::mem::replace(oldest, rank);
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
    sample: u64,
    /// For every number of waiting packets up to the capacity: the most entries of a full window that may be smaller.
    /// This is the test worked out beforehand.
    limits: Vec<u32>,
    ports: Vec<Port>,
}

/// The test: `smaller * (C*(1-k)) <= (C - c) * entries`.
fn passes(smaller: usize, entries: usize, waiting: usize, capacity: usize, headroom: f64) -> bool {
    waiting < capacity
        && smaller as f64 * (capacity as f64 * (1.0 - headroom)) <= (capacity - waiting) as f64 * entries as f64
}

impl Aifo {
    fn new(config: &AifoConfig, switch: &ValidConfig) -> Self {
        let AifoConfig { capacity, headroom, window, sample } = *config;
        let port = Port { window: Window::sampled(window, sample), until_sample: 0 };
        // The more wait, the fewer may be smaller, so the limits are found in one pass. Very large queues do without.
        let mut limits = Vec::new();
        if capacity <= 1 << 16 {
            let mut limit = window;
            for waiting in 0..capacity {
                while limit > 0 && !passes(limit, window, waiting, capacity, headroom) {
                    limit -= 1;
                }
                limits.push(limit as u32);
            }
        }
        Self { capacity, headroom, sample, limits, ports: vec![port; switch.rates.len()] }
    }
}

impl Discipline for Aifo {
    #[inline(always)]
    fn admits(&mut self, port: usize, rank: u64, packets: u32, why: &mut impl Explain) -> bool {
        let waiting = packets as usize;
        let Port { window, until_sample } = &mut self.ports[port];
        if *until_sample == 0 {
            window.push(rank);
            *until_sample = self.sample;
        }
        *until_sample -= 1;
        why.note(|e| {
            let (smaller, entries) = (window.smaller(rank), window.entries());
            let (capacity, headroom) = (self.capacity, self.headroom);
            e.rank_test = Some(RankTest { rank, smaller, entries, waiting, capacity, headroom });
        });
        match self.limits.get(waiting) {
            Some(limit) if window.entries == window.size => window.at_most(*limit as usize, rank),
            _ => {
                let (smaller, entries) = (window.smaller(rank), window.entries());
                passes(smaller, entries, waiting, self.capacity, self.headroom)
            }
        }
    }

    fn inherit(&mut self, earlier: &Self) {
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
    fn the_window_slides_in_lanes_and_sorted() {
        for (size, is_sorted) in
            [1, 5, 20, 24, 25, LANES, LANES + 1].into_iter().flat_map(|n| [(n, true), (n, n > LANES)])
        {
            let mut window = Window::new(size, is_sorted);
            let mut plain: Vec<u64> = Vec::new();
            let mut state = 3u64;
            for number in 0..2_000 {
                state = crate::random::mix(state);
                // Late in the run some ranks are too large for a lane.
                let rank = if number > 1_000 && state % 16 == 8 { u64::MAX - state % 3 } else { state % 8 };
                window.push(rank);
                plain.push(rank);
                let recent = &plain[plain.len().saturating_sub(size)..];
                assert_eq!(window.entries as usize, recent.len());
                for rank in [0, 1, 2, 3, 4, 5, 6, 7, 8, (1 << 31) - 1, 1 << 31, u64::MAX - 1, u64::MAX] {
                    assert_eq!(
                        window.smaller(rank),
                        recent.iter().filter(|held| **held < rank).count(),
                        "{size} {rank}"
                    );
                }
            }
        }
    }

    #[test]
    fn figure_4_admits_at_two_and_drops_at_five() {
        // C = 6, k = 1/6: the quantile threshold is 80% with 2 packets waiting and 20% with 5 (AIFO figure 4).
        let config = AifoConfig { capacity: 6, headroom: 1.0 / 6.0, window: 2, sample: 1 };
        let switch = TmConfig::new(vec![crate::units::Rate::from_gbps(10)], crate::units::Bytes::new(99_999));
        let mut aifo = Aifo::new(&config, &switch.validate().unwrap());
        assert!(aifo.admits(0, 10, 0, &mut ()));
        assert!(aifo.admits(0, 20, 2, &mut ()), "quantile 1/2 against 4/5");
        assert!(!aifo.admits(0, 30, 5, &mut ()), "quantile 1/2 against 1/5");
    }
}
