//! `abm_threshold.v`.

use super::factor::{expand, product};

/// How large it is: logarithms, as the parameters of the module.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Ports.
    pub ports: u32,
    /// Classes, each a queue of every port.
    pub classes: u32,
    /// Bits of a length.
    pub cells: u32,
    /// Cycles of a window.
    pub window: u32,
    /// Steps of a share.
    pub shares: u32,
    /// Digits of a factor; not a logarithm.
    pub terms: usize,
}

/// The unit.
#[derive(Clone, Debug)]
pub struct AbmUnit {
    size: Size,
    now: u64,
    /// Per queue: cells sent in its window, its share in steps, and whether it is congested.
    sent: Vec<u64>,
    shares: Vec<u64>,
    congested: Vec<bool>,
    /// Per class.
    counting: Vec<u64>,
    n: Vec<u64>,
}

impl AbmUnit {
    /// At its start: no queue is congested, and every share is 1.
    pub fn new(size: Size) -> Self {
        let queues = 1usize << (size.ports + size.classes);
        Self {
            size,
            now: 0,
            sent: vec![0; queues],
            shares: vec![1 << size.shares; queues],
            congested: vec![false; queues],
            counting: vec![0; 1 << size.classes],
            n: vec![1; 1 << size.classes],
        }
    }

    /// `n` and `m` of a queue: congested queues of its class, and its share in steps.
    pub fn measured(&self, queue: usize) -> (u64, u64) {
        (self.n[queue % self.n.len()], self.shares[queue])
    }

    /// The threshold of a packet of a queue.
    pub fn threshold(&self, queue: usize, remaining: u64, alpha_shift: u32) -> u64 {
        let (n, share) = self.measured(queue);
        product(remaining, alpha_shift, &expand(share, n << self.size.shares, self.size.terms), self.size.cells)
    }

    /// The end of a cycle, with what happened in it: cells sent by queues, and whether these are empty now; and a
    /// packet with its queue's alpha, the length it found and its threshold.
    pub fn tick(&mut self, sent: &[(usize, u64, bool)], judged: Option<(usize, u64, u64)>) {
        let queues = self.sent.len() as u64;
        let ends = (self.now < queues).then_some(self.now as usize);
        if let Some(queue) = ends {
            let class = queue % self.n.len();
            self.counting[class] += u64::from(self.congested[queue]);
            self.shares[queue] = self.share_of(self.sent[queue]);
            self.sent[queue] = 0;
        }
        if self.now == queues {
            for (n, count) in self.n.iter_mut().zip(&mut self.counting) {
                *n = (*count).max(1);
                *count = 0;
            }
        }
        if let Some((queue, length, threshold)) = judged {
            self.congested[queue] = length > 0 && length >= threshold - (threshold >> 4) - (threshold >> 5);
        }
        for (queue, cells, empties) in sent {
            self.sent[*queue] = (self.sent[*queue] + cells).min(2 * self.full() - 1);
            self.congested[*queue] &= !empties;
        }
        self.now = (self.now + 1) % (1 << self.size.window);
    }

    /// What a port can send in a window.
    fn full(&self) -> u64 {
        1 << (self.size.window - self.size.ports)
    }

    fn share_of(&self, sent: u64) -> u64 {
        let all = 1 << self.size.shares;
        if sent < self.full() >> self.size.classes || sent > self.full() {
            return all;
        }
        let step = self.full() >> self.size.shares;
        (sent + step / 2) / step
    }
}
