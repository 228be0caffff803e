//! The largest of many changing numbers, and the first above a bound, in a number of steps that grows with the
//! logarithm.
//!
//! A complete binary tree of maxima. A change climbs only as far as a maximum changes, which for a number that is not
//! near the top is a step or two, however many numbers there are.

use alloc::vec;
use alloc::vec::Vec;

/// A tree of maxima over `len` numbers, all 0 at first.
#[derive(Clone, Debug)]
pub struct MaxTree {
    /// Siblings together: node 1 is the root, node `n` has the children `2n` and `2n + 1`, and node `n` stands in
    /// `pairs[n / 2]`. The leaves start at node `leaves`.
    pairs: Vec<[u64; 2]>,
    leaves: usize,
}

impl MaxTree {
    /// A tree over `len` numbers.
    pub fn new(len: usize) -> Self {
        let leaves = len.next_power_of_two().max(1);
        Self { pairs: vec![[0; 2]; leaves], leaves }
    }

    #[inline]
    fn node(&self, node: usize) -> u64 {
        self.pairs[node / 2][node % 2]
    }

    /// The largest number.
    #[inline]
    pub fn max(&self) -> u64 {
        self.node(1)
    }

    /// Sets a number.
    #[inline]
    pub fn set(&mut self, index: usize, value: u64) {
        let mut node = self.leaves + index;
        let mut value = value;
        let pairs = self.pairs.as_mut_slice();
        loop {
            let pair = &mut pairs[node / 2];
            if pair[node % 2] == value {
                break;
            }
            pair[node % 2] = value;
            if node == 1 {
                break;
            }
            value = pair[0].max(pair[1]);
            node /= 2;
        }
    }

    /// The lowest index that holds the largest number.
    pub fn argmax(&self) -> usize {
        let mut node = 1;
        while node < self.leaves {
            let [left, right] = self.pairs[node];
            node = 2 * node + usize::from(left < right);
        }
        node - self.leaves
    }

    /// The first index at or after `from` whose number satisfies `above`, which must hold for every number larger than
    /// one it holds for.
    pub fn first_from(&self, from: usize, above: impl Fn(u64) -> bool) -> Option<usize> {
        if from >= self.leaves {
            return None;
        }
        // Climb from the leaf to the first subtree to its right (or itself) that has one, then descend to its first.
        let mut node = self.leaves + from;
        while !above(self.node(node)) {
            while node % 2 == 1 {
                node /= 2;
                if node <= 1 {
                    return None;
                }
            }
            node += 1;
        }
        while node < self.leaves {
            let [left, _] = self.pairs[node];
            node = 2 * node + usize::from(!above(left));
        }
        Some(node - self.leaves)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_a_scan() {
        for len in [1usize, 2, 3, 7, 64, 100] {
            let mut tree = MaxTree::new(len);
            let mut plain = vec![0u64; len];
            let mut state = 7u64 + len as u64;
            let mut random = |bound: u64| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) % bound
            };
            for _ in 0..3_000 {
                let index = random(len as u64) as usize;
                let value = random(20);
                tree.set(index, value);
                plain[index] = value;
                let max = *plain.iter().max().unwrap();
                assert_eq!(tree.max(), max);
                assert_eq!(tree.argmax(), plain.iter().position(|v| *v == max).unwrap());
                let (from, bound) = (random(len as u64) as usize, random(22));
                let expected = (from..len).find(|i| plain[*i] > bound);
                assert_eq!(tree.first_from(from, |v| v > bound), expected, "len {len} from {from} bound {bound}");
            }
        }
    }

    #[test]
    fn padding_is_never_found_before_a_real_number() {
        let tree = MaxTree::new(3);
        assert_eq!(tree.argmax(), 0);
        assert_eq!(tree.first_from(0, |v| v > 0), None);
    }
}
