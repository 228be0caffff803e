//! `fb_threshold.v`.

use super::factor::{expand, product};

/// The unit: counters of non-empty queues of each class and of each port.
#[derive(Clone, Debug)]
pub struct FbUnit {
    of_class: Vec<u64>,
    of_port: Vec<u64>,
    width: u32,
    terms: usize,
}

impl FbUnit {
    /// For so many ports and classes, numbers of `width` bits, and factors of `terms` digits.
    pub fn new(ports: usize, classes: usize, width: u32, terms: usize) -> Self {
        Self { of_class: vec![0; classes], of_port: vec![0; ports], width, terms }
    }

    /// A queue has got its first packet.
    pub fn fills(&mut self, port: usize, class: usize) {
        self.of_port[port] += 1;
        self.of_class[class] += 1;
    }

    /// The last packet of a queue has left.
    pub fn empties(&mut self, port: usize, class: usize) {
        self.of_port[port] -= 1;
        self.of_class[class] -= 1;
    }

    /// `N` and `M` for a packet of a queue.
    pub fn counts(&self, port: usize, class: usize, empty: bool) -> (u64, u64) {
        let own = u64::from(empty);
        (self.of_class[class] + own, self.of_port[port] + own)
    }

    /// The threshold.
    pub fn threshold(&self, port: usize, class: usize, empty: bool, remaining: u64, alpha_shift: u32) -> u64 {
        let (n, m) = self.counts(port, class, empty);
        product(remaining, alpha_shift, &expand(1, n * m, self.terms), self.width)
    }
}
