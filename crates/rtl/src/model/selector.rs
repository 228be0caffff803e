//! `occamy_threshold.v`, `round_robin.v` and `occamy_selector.v`.

/// `value * 2^(left - 3)`, rounded down; the largest number of `width` bits if that does not fit.
pub fn saturating_shift(value: u64, left: u32, width: u32) -> u64 {
    ((value << left) >> 3).min((1 << width) - 1)
}

/// Whether a packet fits what remains, and its queue then is not above the threshold.
pub fn fits(length: u64, cells: u64, remaining: u64, threshold: u64) -> bool {
    cells <= remaining && length + cells <= threshold
}

/// The head-drop selector.
#[derive(Clone, Debug)]
pub struct Selector {
    pointer: usize,
    width: u32,
}

impl Selector {
    /// For lengths of `width` bits.
    pub fn new(width: u32) -> Self {
        Self { pointer: 0, width }
    }

    /// `T = alpha * free`.
    pub fn threshold(&self, free: u64, alpha_shift: u32) -> u64 {
        saturating_shift(free, alpha_shift, self.width)
    }

    /// The over-allocated queues, as bits; at most 64.
    pub fn over(lengths: &[u64], threshold: u64) -> u64 {
        lengths.iter().enumerate().filter(|(_, length)| **length > threshold).map(|(queue, _)| 1 << queue).sum()
    }

    /// The first over-allocated queue at or after the pointer, cyclic.
    pub fn choose(&self, lengths: &[u64], threshold: u64) -> Option<usize> {
        let queues = lengths.len();
        (0..queues).map(|step| (self.pointer + step) % queues).find(|queue| lengths[*queue] > threshold)
    }

    /// A packet of a queue has been dropped.
    pub fn take(&mut self, queue: usize, queues: usize) {
        self.pointer = (queue + 1) % queues;
    }

    /// Starts again.
    pub fn reset(&mut self) {
        self.pointer = 0;
    }
}
