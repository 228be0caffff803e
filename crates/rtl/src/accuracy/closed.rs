//! A switch in which a unit decides: so that its queues settle at its thresholds, not at the formula's.

use super::asked::{Asked, Unit};
use super::traffic::Arrival;
use super::{ALPHA_SHIFTS, CELLS, CLASSES, PORTS};
use std::collections::VecDeque;

/// Cycles that a port takes to send a cell.
const CYCLES_PER_CELL: u64 = 8;

struct Switch<'u, U> {
    unit: &'u mut U,
    queues: Vec<VecDeque<u64>>,
    lengths: Vec<u64>,
    ports: Vec<Port>,
}

/// When a port is free, and where its round robin goes on.
#[derive(Clone, Copy, Default)]
struct Port {
    free_at: u64,
    next: usize,
}

impl<U: Unit> Switch<'_, U> {
    fn is_empty(&self, port: usize) -> bool {
        self.lengths[port * CLASSES..][..CLASSES].iter().all(|length| *length == 0)
    }

    /// Everything that is sent before or at a cycle.
    fn advance(&mut self, cycle: u64) {
        let due = |switch: &Self| {
            let ports = (0..PORTS).filter(|port| switch.ports[*port].free_at <= cycle && !switch.is_empty(*port));
            ports.min_by_key(|port| switch.ports[*port].free_at)
        };
        while let Some(port) = due(self) {
            self.send(port, self.ports[port].free_at);
        }
    }

    /// A port that is free sends its next packet.
    fn send(&mut self, port: usize, cycle: u64) {
        let next = self.ports[port].next;
        let mut numbers = (0..CLASSES).map(|step| (next + step) % CLASSES);
        let Some(number) = numbers.find(|number| self.lengths[port * CLASSES + number] > 0) else { return };
        let queue = port * CLASSES + number;
        let cells = self.queues[queue].pop_front().unwrap_or(0);
        self.lengths[queue] -= cells;
        self.ports[port] = Port { free_at: cycle + CYCLES_PER_CELL * cells, next: (number + 1) % CLASSES };
        self.unit.sent(cycle, queue, cells, self.lengths[queue] == 0);
    }

    /// A packet comes; whether it is admitted.
    fn arrive(&mut self, arrival: &Arrival) -> bool {
        let Arrival { cycle, queue, cells } = *arrival;
        self.advance(cycle);
        let asked = Asked {
            queue,
            length: self.lengths[queue],
            cells,
            remaining: CELLS - self.lengths.iter().sum::<u64>(),
            alpha_shift: ALPHA_SHIFTS[queue % CLASSES],
        };
        let threshold = self.unit.threshold(cycle, &asked);
        if !asked.fits(threshold) {
            return false;
        }
        self.unit.queued(queue, asked.length == 0);
        self.queues[queue].push_back(cells);
        self.lengths[queue] += cells;
        let port = queue / CLASSES;
        if self.ports[port].free_at <= cycle {
            self.send(port, cycle);
        }
        true
    }
}

/// Per packet, whether it is admitted.
pub(super) fn run<U: Unit>(unit: &mut U, arrivals: &[Arrival]) -> Vec<bool> {
    let queues = PORTS * CLASSES;
    let ports = vec![Port::default(); PORTS];
    let mut switch = Switch { unit, queues: vec![VecDeque::new(); queues], lengths: vec![0; queues], ports };
    arrivals.iter().map(|arrival| switch.arrive(arrival)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::asked::{Asked, Unit};
    use super::super::{CLASSES, FB, Form, PORTS, fb_policy, open, traffic};
    use super::*;
    use forebay_tm::Threshold;

    /// FB's formula, as a unit.
    struct Exact {
        waits: Vec<bool>,
    }

    impl Unit for Exact {
        fn new(_: Form) -> Self {
            Self { waits: vec![false; PORTS * CLASSES] }
        }

        fn threshold(&mut self, _: u64, asked: &Asked) -> u64 {
            let counts = |same: &dyn Fn(usize) -> bool| {
                (0..self.waits.len())
                    .filter(|queue| same(*queue) && (self.waits[*queue] || *queue == asked.queue))
                    .count()
            };
            let n = counts(&|queue| queue % CLASSES == asked.queue % CLASSES) as f64;
            let m = counts(&|queue| queue / CLASSES == asked.queue / CLASSES) as f64;
            let alpha = 2f64.powi(asked.alpha_shift as i32 - 3);
            (((alpha / n) * (1.0 / m)) * asked.remaining as f64) as u64
        }

        fn product(&self, _: &Asked, exact: &Threshold) -> u64 {
            exact.value as u64
        }

        fn queued(&mut self, queue: usize, _: bool) {
            self.waits[queue] = true;
        }

        fn sent(&mut self, _: u64, queue: usize, _: u64, empty: bool) {
            self.waits[queue] = !empty;
        }
    }

    #[test]
    fn with_the_formula_it_is_the_core() {
        let arrivals = &traffic::arrivals()[..50_000];
        let core = open::run::<Exact>(fb_policy(), arrivals, &FB[..1]);
        assert_eq!(core.product[0], Default::default());
        assert_eq!(core.whole[0], Default::default());
        let closed = run(&mut Exact::new(FB[0]), arrivals);
        assert!(closed.iter().filter(|admitted| !**admitted).count() > 1_000);
        assert_eq!(closed, core.admitted);
    }
}
