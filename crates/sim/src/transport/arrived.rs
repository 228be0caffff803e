//! Which packets of a flow have arrived: all below a number, and some beyond.

use super::bit_ring::BitRing;

/// A set of packet numbers in which all numbers below [`Arrived::base`] are contained. Only those beyond the base are
/// kept one by one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arrived {
    beyond: BitRing,
    base: u32,
}

impl Arrived {
    /// An empty set, with room for a range of so many numbers before it must grow.
    pub(crate) fn new(range: u32) -> Self {
        let mut beyond = BitRing::default();
        beyond.reserve(0, range);
        Self { beyond, base: 0 }
    }

    /// The first number that is not contained, once [`Arrived::settle`] has been called.
    #[inline]
    pub(crate) fn base(&self) -> u32 {
        self.base
    }

    /// Whether a number is contained.
    #[inline]
    pub(crate) fn contains(&self, number: u32) -> bool {
        number < self.base || (self.beyond.reaches(self.base, number) && self.beyond.contains(number))
    }

    /// Adds a number; says whether it was new.
    #[inline]
    pub(crate) fn insert(&mut self, number: u32) -> bool {
        number != u32::MAX && self.insert_range(number, number + 1) == 1
    }

    /// Adds the numbers `from..to`; says how many were new.
    pub(crate) fn insert_range(&mut self, from: u32, to: u32) -> u32 {
        let from = from.max(self.base);
        if from >= to {
            return 0;
        }
        self.beyond.reserve(self.base, to - self.base);
        self.beyond.insert_range(from, to)
    }

    /// Moves the base up to the first number that is not contained, and returns it.
    #[inline]
    pub(crate) fn settle(&mut self) -> u32 {
        let missing = self.beyond.first_missing(self.base, self.base);
        self.beyond.remove_range(self.base, missing);
        self.base = missing;
        missing
    }

    /// Adds all numbers below `to`; says how many were new. The base is `to` or above after that.
    #[inline]
    pub(crate) fn raise(&mut self, to: u32) -> u32 {
        if to <= self.base {
            return 0;
        }
        let span = to - self.base;
        // The ring may be shorter than the span; what it has lies within it.
        let end = if self.beyond.reaches(self.base, to) { to } else { self.beyond.end(self.base) };
        let known = self.beyond.remove_range(self.base, end);
        self.base = to;
        span - known
    }

    /// The first number from `from` on that is not contained.
    #[inline]
    pub(crate) fn next_missing(&self, from: u32) -> u32 {
        self.beyond.first_missing(self.base, from.max(self.base))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn behaves_like_a_set(
            steps in prop::collection::vec((0u32..4, 0u32..300, 0u32..200), 1..200),
            range in 0u32..200,
        ) {
            let mut ring = Arrived::new(range);
            let mut set = BTreeSet::new();
            for (what, at, length) in steps {
                let from = ring.base().saturating_sub(20) + at;
                match what {
                    0 => prop_assert_eq!(ring.insert(from), set.insert(from)),
                    1 => {
                        let new = (from..from + length).filter(|n| set.insert(*n)).count();
                        prop_assert_eq!(ring.insert_range(from, from + length) as usize, new);
                    }
                    2 => {
                        let new = (0..from).filter(|n| set.insert(*n)).count();
                        prop_assert_eq!(ring.raise(from) as usize, new);
                    }
                    _ => {
                        let missing = (0..).find(|n| !set.contains(n)).unwrap();
                        prop_assert_eq!(ring.settle(), missing);
                    }
                }
                let base = ring.base();
                prop_assert!((0..base).all(|n| set.contains(&n)));
                for n in base.saturating_sub(5)..base + 500 {
                    prop_assert_eq!(ring.contains(n), set.contains(&n), "{}", n);
                }
                let from = from.max(base);
                prop_assert_eq!(ring.next_missing(from), (from..).find(|n| !set.contains(n)).unwrap());
            }
        }
    }
}
