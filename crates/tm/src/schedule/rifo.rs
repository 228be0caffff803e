//! RIFO, rank-range FIFO (Mostafaei, Pacut and Schmid, 2024): one FIFO that admits by where a rank lies between the
//! smallest and the largest of its window.
//!
//! The relative rank is `(rank - min) / (max - min)`, or 0 where all ranks are the same. A packet is admitted iff `c <
//! C` and its relative rank is at most `(1/(1-k)) * (C - c) / C`, computed as `(rank - min) * (C*(1-k)) <= (C - c) *
//! (max - min)`. All that a port remembers is the range, which is that of the last `window` packets at most: it starts
//! anew when so many have come, as hardware does it.

use super::{ActiveScheduler, Discipline, Scheduler, SchedulerSettings, Service, check_capacity};
use crate::config::{ConfigError, TmConfig, ValidConfig, check_share};
use crate::described::settings;
use crate::verdict::Explain;
use alloc::vec;
use alloc::vec::Vec;

settings! {
    /// Settings of RIFO.
    #[derive(Clone, Debug, PartialEq)]
    pub struct RifoConfig {
        /// The target size in packets: `C`.
        pub capacity: usize = 20 => needed,
        /// The share of `C` below which every packet is admitted: `k`.
        pub headroom: f64 = 0.1 => needed,
        /// Packets after which the range is reset.
        pub window: usize = 100,
    }
}

impl SchedulerSettings for RifoConfig {
    fn service(&self) -> Service {
        Service::Fifo
    }

    fn uses_ranks(&self) -> bool {
        true
    }

    fn validate(&self, _: &TmConfig) -> Result<(), ConfigError> {
        check_capacity("scheduler.capacity", self.capacity)?;
        check_capacity("scheduler.window", self.window)?;
        check_share("scheduler.headroom", self.headroom)
    }

    fn start(&self, switch: &ValidConfig) -> ActiveScheduler {
        let ports = vec![Range::default(); switch.rates.len()];
        Scheduler::Rifo(Rifo { config: self.clone(), ports }).into()
    }
}

/// The ranks of the window.
#[derive(Clone, Copy, Debug, Default)]
struct Range {
    min: u64,
    max: u64,
    packets: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Rifo {
    config: RifoConfig,
    ports: Vec<Range>,
}

impl Discipline for Rifo {
    #[inline]
    fn admits(&mut self, port: usize, rank: u64, packets: u32, _: &mut impl Explain) -> bool {
        let RifoConfig { capacity, headroom, window } = self.config;
        let range = &mut self.ports[port];
        *range = match range.packets {
            0 => Range { min: rank, max: rank, packets: 1 },
            packets => Range { min: range.min.min(rank), max: range.max.max(rank), packets: packets + 1 },
        };
        let Range { min, max, .. } = *range;
        if range.packets == window {
            range.packets = 0;
        }
        let free = capacity.saturating_sub(packets as usize);
        free > 0 && (rank - min) as f64 * (capacity as f64 * (1.0 - headroom)) <= free as f64 * (max - min) as f64
    }

    fn inherit(&mut self, earlier: &Self) {
        self.ports.clone_from(&earlier.ports);
        for range in &mut self.ports {
            range.packets %= self.config.window;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rifo(window: usize) -> Rifo {
        let config = RifoConfig { capacity: 6, headroom: 1.0 / 6.0, window };
        Rifo { config, ports: vec![Range::default(); 1] }
    }

    /// `C` = 6, `k` = 1/6, as in AIFO's figure 4: 80% of the range are admitted with 2 packets waiting, 20% with 5.
    #[test]
    fn the_relative_rank_decides() {
        let mut rifo = rifo(1_000);
        assert!(rifo.admits(0, 100, 5, &mut ()), "one rank is as good as another");
        assert!(rifo.admits(0, 200, 0, &mut ()), "an empty queue takes the largest");
        for (rank, packets, admitted) in
            [(180, 2, true), (181, 2, false), (120, 5, true), (121, 5, false), (100, 6, false), (200, 1, true)]
        {
            assert_eq!(rifo.admits(0, rank, packets, &mut ()), admitted, "{rank} {packets}");
        }
    }

    #[test]
    fn the_range_starts_anew_after_a_window() {
        let mut rifo = rifo(3);
        for rank in [0, 1_000, 900] {
            rifo.admits(0, rank, 5, &mut ());
        }
        assert!(rifo.admits(0, 900, 5, &mut ()), "the first of a window is its whole range");
        assert!(!rifo.admits(0, 901, 5, &mut ()));
    }
}
