//! Random traffic: packets of small and full size at random times, in phases.
//!
//! Queues are busy in changing sets and at changing loads, some of them far above what their ports can send.

use super::{CLASSES, PORTS};
use forebay_tm::random::Random;

/// Packets in all.
const ARRIVALS: usize = 200_000;

/// A packet: when it comes, in cycles, its queue and its cells.
#[derive(Clone, Copy)]
pub(super) struct Arrival {
    pub(super) cycle: u64,
    pub(super) queue: usize,
    pub(super) cells: u64,
}

/// All packets; at most one in a cycle.
pub(super) fn arrivals() -> Vec<Arrival> {
    let mut traffic =
        Traffic { random: Random::stream(1, "threshold units", 0), now: 0, until: 0, gap: 1.0, queues: Vec::new() };
    (0..ARRIVALS).map(|_| traffic.next()).collect()
}

struct Traffic {
    random: Random,
    now: u64,
    until: u64,
    /// Cycles between packets, on average.
    gap: f64,
    queues: Vec<usize>,
}

impl Traffic {
    fn next(&mut self) -> Arrival {
        if self.now >= self.until {
            self.change();
        }
        self.now += 1 + (-(1.0 - self.random.unit()).ln() * self.gap) as u64;
        let queue = self.queues[self.random.below(self.queues.len() as u64) as usize];
        // 40% are small.
        let cells = if self.random.below(5) < 2 { 1 } else { 8 };
        Arrival { cycle: self.now, queue, cells }
    }

    /// Other queues and another load.
    fn change(&mut self) {
        self.until = self.now + 10_000 + self.random.below(60_000);
        let mut all: Vec<usize> = (0..PORTS * CLASSES).collect();
        self.random.shuffle(&mut all);
        let count = 1 + self.random.below(24) as usize;
        self.queues = all[..count].to_vec();
        let mut ports: Vec<usize> = self.queues.iter().map(|queue| queue / CLASSES).collect();
        ports.sort_unstable();
        ports.dedup();
        // 5.2 cells a packet, 8 cycles a cell and port.
        let load = 0.4 + 2.1 * self.random.unit();
        self.gap = 5.2 * 8.0 / (load * ports.len() as f64);
    }
}
