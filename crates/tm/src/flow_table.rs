//! A table of per-flow state that forgets flows that no longer matter, so that it grows with the flows alive and not
//! with the flows seen.

use alloc::vec;
use alloc::vec::Vec;

/// Open addressing with linear probing over a power of two of slots, at most half full.
#[derive(Clone, Debug)]
pub(crate) struct FlowTable<V> {
    slots: Vec<Option<(u64, V)>>,
    used: usize,
}

impl<V: Copy> FlowTable<V> {
    const SMALLEST: usize = 16;

    pub(crate) fn new() -> Self {
        Self { slots: vec![None; Self::SMALLEST], used: 0 }
    }

    /// Fibonacci hashing: the high bits of a product with the golden ratio.
    #[inline]
    fn start(&self, flow: u64) -> usize {
        let shift = 64 - self.slots.len().trailing_zeros();
        (flow.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> shift) as usize
    }

    /// The state of a flow, if it has any.
    #[inline]
    pub(crate) fn get(&self, flow: u64) -> Option<V> {
        let mask = self.slots.len() - 1;
        let mut at = self.start(flow);
        while let Some((held, value)) = &self.slots[at & mask] {
            if *held == flow {
                return Some(*value);
            }
            at += 1;
        }
        None
    }

    /// The state of a flow, made with `fresh` if it has none. When the table is about to fill up, flows whose state
    /// is not `needed` any more are forgotten first.
    #[inline]
    pub(crate) fn entry(&mut self, flow: u64, fresh: impl FnOnce() -> V, needed: impl Fn(&V) -> bool) -> &mut V {
        let mask = self.slots.len() - 1;
        let mut at = self.start(flow) & mask;
        loop {
            match &self.slots[at] {
                Some((held, _)) if *held == flow => break,
                Some(_) => at = (at + 1) & mask,
                None => {
                    if 2 * (self.used + 1) > self.slots.len() {
                        self.rebuild(&needed);
                        return self.entry(flow, fresh, needed);
                    }
                    self.slots[at] = Some((flow, fresh()));
                    self.used += 1;
                    break;
                }
            }
        }
        &mut self.slots[at].as_mut().expect("found or just made").1
    }

    /// Keeps what is needed, in a table at most a quarter full.
    #[cold]
    fn rebuild(&mut self, needed: &impl Fn(&V) -> bool) {
        let kept: Vec<(u64, V)> = self.slots.iter().flatten().filter(|(_, value)| needed(value)).copied().collect();
        let size = (4 * (kept.len() + 1)).next_power_of_two().max(Self::SMALLEST);
        self.slots.clear();
        self.slots.resize(size, None);
        self.used = kept.len();
        for (flow, value) in kept {
            let mut at = self.start(flow);
            while self.slots[at & (size - 1)].is_some() {
                at += 1;
            }
            self.slots[at & (size - 1)] = Some((flow, value));
        }
    }

    /// Slots in memory, for tests of its size.
    #[cfg(test)]
    pub(crate) fn capacity(&self) -> usize {
        self.slots.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_every_flow_that_is_needed() {
        let mut table = FlowTable::new();
        for flow in 0..1_000u64 {
            *table.entry(flow * 64, || 0, |_| true) += flow;
        }
        for flow in 0..1_000u64 {
            assert_eq!(table.get(flow * 64), Some(flow));
        }
        assert_eq!(table.get(1), None);
    }

    #[test]
    fn forgets_flows_that_are_over() {
        let mut table = FlowTable::new();
        for flow in 0..100_000u64 {
            table.entry(flow, || flow, |last| *last + 10 > flow);
        }
        assert!(table.capacity() <= 64, "{}", table.capacity());
        assert_eq!(table.get(99_999), Some(99_999));
    }
}
