//! The units as a switch asks them.

use super::{CLASSES, Form, LOG_WINDOW, PORTS, WIDTH};
use crate::model::abm::{AbmUnit, Size};
use crate::model::factor::{expand, product};
use crate::model::fb::FbUnit;
use crate::model::selector::fits;
use forebay_tm::Threshold;

/// A packet that a unit is asked about.
#[derive(Clone, Copy)]
pub(super) struct Asked {
    pub(super) queue: usize,
    pub(super) length: u64,
    pub(super) cells: u64,
    pub(super) remaining: u64,
    pub(super) alpha_shift: u32,
}

impl Asked {
    /// Whether the packet is admitted with this threshold.
    pub(super) fn fits(&self, threshold: u64) -> bool {
        fits(self.length, self.cells, self.remaining, threshold)
    }
}

/// A unit under test.
pub(super) trait Unit {
    fn new(form: Form) -> Self;
    /// The threshold by the unit's own counters.
    fn threshold(&mut self, cycle: u64, asked: &Asked) -> u64;
    /// The threshold by the n and m of the core.
    fn product(&self, asked: &Asked, exact: &Threshold) -> u64;
    /// A packet has joined a queue, which was empty or not.
    fn queued(&mut self, queue: usize, first: bool);
    /// A queue has sent, and is empty now or not.
    fn sent(&mut self, cycle: u64, queue: usize, cells: u64, empty: bool);
}

/// FB's.
pub(super) struct Fb {
    unit: FbUnit,
    form: Form,
}

impl Unit for Fb {
    fn new(form: Form) -> Self {
        Self { unit: FbUnit::new(PORTS, CLASSES, WIDTH, form.terms), form }
    }

    fn threshold(&mut self, _: u64, asked: &Asked) -> u64 {
        let (port, class) = (asked.queue / CLASSES, asked.queue % CLASSES);
        self.unit.threshold(port, class, asked.length == 0, asked.remaining, asked.alpha_shift)
    }

    fn product(&self, asked: &Asked, exact: &Threshold) -> u64 {
        let (n, g) = (exact.n.unwrap_or(1.0), exact.g.unwrap_or(1.0));
        let digits = expand(1, (n / g).round() as u64, self.form.terms);
        product(asked.remaining, asked.alpha_shift, &digits, WIDTH)
    }

    fn queued(&mut self, queue: usize, first: bool) {
        if first {
            self.unit.fills(queue / CLASSES, queue % CLASSES);
        }
    }

    fn sent(&mut self, _: u64, queue: usize, _: u64, empty: bool) {
        if empty {
            self.unit.empties(queue / CLASSES, queue % CLASSES);
        }
    }
}

/// ABM's.
pub(super) struct Abm {
    unit: AbmUnit,
    form: Form,
    /// The cycle that the unit is in, and what has happened in it.
    cycle: u64,
    sent: Vec<(usize, u64, bool)>,
    judged: Option<(usize, u64, u64)>,
}

impl Abm {
    fn advance(&mut self, cycle: u64) {
        while self.cycle < cycle {
            self.unit.tick(&self.sent, self.judged.take());
            self.sent.clear();
            self.cycle += 1;
        }
    }
}

impl Unit for Abm {
    fn new(form: Form) -> Self {
        let Form { terms, log_shares: shares, .. } = form;
        let size = Size { ports: 3, classes: 3, cells: WIDTH, window: LOG_WINDOW, shares, terms };
        Self { unit: AbmUnit::new(size), form, cycle: 0, sent: Vec::new(), judged: None }
    }

    fn threshold(&mut self, cycle: u64, asked: &Asked) -> u64 {
        self.advance(cycle);
        let threshold = self.unit.threshold(asked.queue, asked.remaining, asked.alpha_shift);
        self.judged = Some((asked.queue, asked.length, threshold));
        threshold
    }

    fn product(&self, asked: &Asked, exact: &Threshold) -> u64 {
        let (n, m) = (exact.n.unwrap_or(1.0) as u64, exact.mu.unwrap_or(1.0));
        let steps = (m * f64::from(1 << self.form.log_shares)).round() as u64;
        let digits = expand(steps, n << self.form.log_shares, self.form.terms);
        product(asked.remaining, asked.alpha_shift, &digits, WIDTH)
    }

    fn queued(&mut self, _: usize, _: bool) {}

    fn sent(&mut self, cycle: u64, queue: usize, cells: u64, empty: bool) {
        self.advance(cycle);
        self.sent.push((queue, cells, empty));
    }
}
