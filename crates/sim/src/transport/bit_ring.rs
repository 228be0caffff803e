//! A set of packet numbers within a sliding span, one bit each, in a ring of words.
//!
//! Senders and receivers keep what came out of order in it. Nothing is allocated until the first number goes in, so
//! that a flow without losses has no ring.

/// The smallest ring that is allocated, in bits.
const SMALLEST: u32 = 256;

/// A set of packet numbers. All members lie within one span of at most the capacity; who uses it calls
/// [`BitRing::reserve`] before a number goes in, and takes numbers out as they leave the span.
#[derive(Clone, Debug, Default)]
pub(super) struct BitRing {
    /// A power of two of them, or none.
    words: Vec<u64>,
}

impl BitRing {
    fn capacity(&self) -> u32 {
        (self.words.len() * 64) as u32
    }

    #[inline]
    fn place(&self, seq: u32) -> (usize, u32) {
        ((seq / 64) as usize & (self.words.len() - 1), seq % 64)
    }

    /// Makes room for the numbers `base..base + span`; all members must lie there.
    #[inline]
    pub(super) fn reserve(&mut self, base: u32, span: u32) {
        if span > self.capacity() {
            self.grow(base, span);
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, base: u32, span: u32) {
        let bits = span.max(SMALLEST).next_power_of_two();
        let mut larger = Self { words: vec![0; bits as usize / 64] };
        if !self.words.is_empty() {
            let end = base.saturating_add(self.capacity());
            let mut at = base;
            while let Some(seq) = self.first(at, end) {
                larger.insert(seq);
                at = seq + 1;
            }
        }
        *self = larger;
    }

    /// Where the ring ends if the span starts at `base`.
    pub(super) fn end(&self, base: u32) -> u32 {
        base.saturating_add(self.capacity())
    }

    /// Whether a number at or above `base`, where the span starts, has a place in the ring.
    #[inline]
    pub(super) fn reaches(&self, base: u32, seq: u32) -> bool {
        seq - base < self.capacity()
    }

    /// Whether a number within the span is a member.
    #[inline]
    pub(super) fn contains(&self, seq: u32) -> bool {
        if self.words.is_empty() {
            return false;
        }
        let (word, bit) = self.place(seq);
        self.words[word] >> bit & 1 != 0
    }

    /// Puts a number in; there must be room.
    #[inline]
    pub(super) fn insert(&mut self, seq: u32) {
        let (word, bit) = self.place(seq);
        self.words[word] |= 1 << bit;
    }

    /// Takes a number out.
    #[inline]
    pub(super) fn remove(&mut self, seq: u32) {
        let (word, bit) = self.place(seq);
        self.words[word] &= !(1 << bit);
    }

    /// Changes the words of `from..to` with their masks; the sum of what `change` returns.
    #[inline]
    fn each_word(&mut self, from: u32, to: u32, mut change: impl FnMut(&mut u64, u64) -> u32) -> u32 {
        let mut at = from;
        let mut sum = 0;
        while at < to {
            let (word, bit) = self.place(at);
            let width = (64 - bit).min(to - at);
            let mask = (u64::MAX >> (64 - width)) << bit;
            sum += change(&mut self.words[word], mask);
            at += width;
        }
        sum
    }

    /// Puts `from..to` in; how many of them are new. There must be room.
    pub(super) fn insert_range(&mut self, from: u32, to: u32) -> u32 {
        self.each_word(from, to, |word, mask| {
            let new = mask & !*word;
            *word |= mask;
            new.count_ones()
        })
    }

    /// Puts those of `from..to` in that are not in `other`, a ring of the same capacity; how many of them are new.
    pub(super) fn insert_range_except(&mut self, from: u32, to: u32, other: &Self) -> u32 {
        debug_assert_eq!(self.words.len(), other.words.len());
        let mut at = from;
        self.each_word(from, to, |word, mask| {
            let (place, bit) = other.place(at);
            at += 64 - bit;
            let new = mask & !*word & !other.words[place];
            *word |= new;
            new.count_ones()
        })
    }

    /// Takes `from..to` out; how many of them were in.
    pub(super) fn remove_range(&mut self, from: u32, to: u32) -> u32 {
        if self.words.is_empty() {
            return 0;
        }
        self.each_word(from, to, |word, mask| {
            let old = mask & *word;
            *word &= !mask;
            old.count_ones()
        })
    }

    /// The first member of `from..to`.
    pub(super) fn first(&self, from: u32, to: u32) -> Option<u32> {
        let mut at = from;
        while at < to {
            let (word, bit) = self.place(at);
            let rest = self.words[word] >> bit;
            if rest != 0 {
                return Some(at + rest.trailing_zeros()).filter(|seq| *seq < to);
            }
            at = at.checked_add(64 - bit)?;
        }
        None
    }

    /// The first number from `from` on that is no member, with a span that starts at `base`.
    #[inline]
    pub(super) fn first_missing(&self, base: u32, from: u32) -> u32 {
        let mut seq = from;
        while self.reaches(base, seq) {
            let (word, bit) = self.place(seq);
            let run = (self.words[word] >> bit).trailing_ones();
            seq += run;
            if run < 64 - bit {
                break;
            }
        }
        // A ring full of members starts again at its end.
        seq.min(self.end(base).max(from))
    }

    /// The block of members around a member: from the lowest to one past the highest with no gap between. There must be
    /// a number in the span that is no member.
    pub(super) fn block_around(&self, seq: u32) -> (u32, u32) {
        let mut to = seq;
        loop {
            let (word, bit) = self.place(to);
            let ones = (self.words[word] >> bit).trailing_ones();
            to += ones;
            if ones < 64 - bit {
                break;
            }
        }
        let mut from = seq;
        loop {
            let (word, bit) = self.place(from);
            let ones = (self.words[word] << (63 - bit)).leading_ones();
            // One more than the members below `from`, as `from` itself is counted; at the start of a word, go on below.
            if ones <= bit {
                break (from + 1 - ones, to);
            }
            from -= bit;
            if from == 0 || !self.contains(from - 1) {
                break (from, to);
            }
            from -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn it_is_a_set(base in 0u32..10_000, steps in prop::collection::vec((0u8..6, 0u32..700, 0u32..700), 1..60)) {
            let mut ring = BitRing::default();
            let mut twin = BitRing::default();
            let mut set = BTreeSet::new();
            let mut other = BTreeSet::new();
            ring.reserve(base, 64);
            twin.reserve(base, 64);
            for (step, a, b) in steps {
                let (from, to) = (base + a.min(b), base + a.max(b));
                // The number above all others stays out, so that every block ends.
                ring.reserve(base, 701);
                twin.reserve(base, 701);
                match step {
                    0 => {
                        let new = (from..to).filter(|seq| set.insert(*seq)).count();
                        prop_assert_eq!(ring.insert_range(from, to) as usize, new);
                    }
                    1 => {
                        let old = (from..to).filter(|seq| set.remove(seq)).count();
                        prop_assert_eq!(ring.remove_range(from, to) as usize, old);
                    }
                    2 => {
                        twin.insert(from);
                        other.insert(from);
                    }
                    3 => {
                        let new = (from..to).filter(|seq| !other.contains(seq) && set.insert(*seq)).count();
                        prop_assert_eq!(ring.insert_range_except(from, to, &twin) as usize, new);
                    }
                    4 => {
                        ring.remove(from);
                        set.remove(&from);
                    }
                    _ => prop_assert_eq!(ring.first(from, to), set.range(from..to).next().copied()),
                }
                prop_assert_eq!(ring.contains(from), set.contains(&from));
                if set.contains(&from) {
                    let low = (0..=from).rev().find(|seq| !set.contains(seq)).map_or(0, |seq| seq + 1);
                    let high = (from..).find(|seq| !set.contains(seq)).unwrap();
                    prop_assert_eq!(ring.block_around(from), (low, high));
                }
            }
        }

        #[test]
        fn growth_keeps_the_members(base in 0u32..100_000, members in prop::collection::btree_set(0u32..256, 0..100)) {
            let mut ring = BitRing::default();
            ring.reserve(base, 256);
            for member in &members {
                ring.insert(base + member);
            }
            ring.reserve(base, 3_000);
            for seq in base..base + 3_000 {
                prop_assert_eq!(ring.contains(seq), members.contains(&(seq - base)));
            }
        }
    }
}
