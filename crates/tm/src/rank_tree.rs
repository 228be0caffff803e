//! Packets sorted by rank, first come first served within a rank, with the first, the last and the first *eligible* one
//! at hand: what PIFO and PIEO need of a queue.
//!
//! A treap in an arena: a search tree by (rank, number of insertion) that is a heap by pseudo-random priorities. Every
//! node knows the earliest eligibility in its subtree. Nothing is allocated once the arena has grown to the largest
//! number of packets that ever waited.

use crate::random::mix;
use crate::units::Instant;
use alloc::vec::Vec;

const NIL: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Node<T> {
    rank: u64,
    eligible: u64,
    /// The smallest `eligible` of the subtree.
    earliest: u64,
    left: u32,
    right: u32,
    priority: u32,
    item: T,
}

/// A sorted queue of items.
#[derive(Clone, Debug)]
pub(crate) struct RankTree<T> {
    nodes: Vec<Node<T>>,
    free: Vec<u32>,
    root: u32,
    sequence: u64,
}

impl<T: Copy> RankTree<T> {
    pub(crate) fn new() -> Self {
        Self { nodes: Vec::new(), free: Vec::new(), root: NIL, sequence: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len() - self.free.len()
    }

    /// Adds an item behind those of the same rank.
    pub(crate) fn insert(&mut self, rank: u64, eligible: Instant, item: T) {
        let sequence = self.sequence;
        self.sequence += 1;
        let eligible = eligible.ps();
        let priority = mix(sequence) as u32;
        let node = Node { rank, eligible, earliest: eligible, left: NIL, right: NIL, priority, item };
        let new = if let Some(slot) = self.free.pop() {
            self.nodes[slot as usize] = node;
            slot
        } else {
            self.nodes.push(node);
            u32::try_from(self.nodes.len() - 1).expect("fewer than 2^32 packets wait")
        };
        self.root = self.insert_below(self.root, new);
    }

    fn insert_below(&mut self, root: u32, new: u32) -> u32 {
        if root == NIL {
            return new;
        }
        let (at, node) = (self.nodes[root as usize], self.nodes[new as usize]);
        if node.priority > at.priority {
            // The new node comes last within its rank, so equal ranks go to its left.
            let (left, right) = self.split(root, node.rank);
            self.nodes[new as usize].left = left;
            self.nodes[new as usize].right = right;
            self.refresh(new);
            return new;
        }
        if node.rank < at.rank {
            self.nodes[root as usize].left = self.insert_below(at.left, new);
        } else {
            self.nodes[root as usize].right = self.insert_below(at.right, new);
        }
        self.refresh(root);
        root
    }

    /// Splits a subtree into ranks up to and including `rank`, and those above.
    fn split(&mut self, root: u32, rank: u64) -> (u32, u32) {
        if root == NIL {
            return (NIL, NIL);
        }
        let node = self.nodes[root as usize];
        if node.rank <= rank {
            let (left, right) = self.split(node.right, rank);
            self.nodes[root as usize].right = left;
            self.refresh(root);
            (root, right)
        } else {
            let (left, right) = self.split(node.left, rank);
            self.nodes[root as usize].left = right;
            self.refresh(root);
            (left, root)
        }
    }

    fn merge(&mut self, left: u32, right: u32) -> u32 {
        if left == NIL {
            return right;
        }
        if right == NIL {
            return left;
        }
        if self.nodes[left as usize].priority >= self.nodes[right as usize].priority {
            self.nodes[left as usize].right = self.merge(self.nodes[left as usize].right, right);
            self.refresh(left);
            left
        } else {
            self.nodes[right as usize].left = self.merge(left, self.nodes[right as usize].left);
            self.refresh(right);
            right
        }
    }

    fn earliest(&self, node: u32) -> u64 {
        self.nodes.get(node as usize).map_or(u64::MAX, |node| node.earliest)
    }

    fn refresh(&mut self, node: u32) {
        let Node { left, right, eligible, .. } = self.nodes[node as usize];
        self.nodes[node as usize].earliest = eligible.min(self.earliest(left)).min(self.earliest(right));
    }

    /// Removes the node that `step` leads to from the root: left, right or here.
    fn remove(&mut self, step: impl Fn(&Self, u32) -> Step + Copy) -> Option<T> {
        if self.root == NIL {
            return None;
        }
        let (root, removed) = self.remove_below(self.root, step);
        self.root = root;
        self.free.push(removed);
        Some(self.nodes[removed as usize].item)
    }

    fn remove_below(&mut self, root: u32, step: impl Fn(&Self, u32) -> Step + Copy) -> (u32, u32) {
        let Node { left, right, .. } = self.nodes[root as usize];
        match step(self, root) {
            Step::Here => (self.merge(left, right), root),
            Step::Left => {
                let (subtree, removed) = self.remove_below(left, step);
                self.nodes[root as usize].left = subtree;
                self.refresh(root);
                (root, removed)
            }
            Step::Right => {
                let (subtree, removed) = self.remove_below(right, step);
                self.nodes[root as usize].right = subtree;
                self.refresh(root);
                (root, removed)
            }
        }
    }

    /// Takes the first item.
    pub(crate) fn pop_first(&mut self) -> Option<T> {
        self.remove(|tree, at| if tree.nodes[at as usize].left == NIL { Step::Here } else { Step::Left })
    }

    /// Takes the last item.
    pub(crate) fn pop_last(&mut self) -> Option<T> {
        self.remove(|tree, at| if tree.nodes[at as usize].right == NIL { Step::Here } else { Step::Right })
    }

    /// Takes the first item that is eligible.
    pub(crate) fn pop_first_eligible(&mut self, now: Instant) -> Option<T> {
        let now = now.ps();
        if self.earliest(self.root) > now {
            return None;
        }
        self.remove(|tree, at| {
            let node = &tree.nodes[at as usize];
            if node.left != NIL && tree.earliest(node.left) <= now {
                Step::Left
            } else if node.eligible <= now {
                Step::Here
            } else {
                Step::Right
            }
        })
    }

    /// When the next item becomes eligible.
    pub(crate) fn next_eligible(&self) -> Option<Instant> {
        (self.root != NIL).then(|| Instant::from_ps(self.earliest(self.root)))
    }

    /// The first item.
    pub(crate) fn first(&self) -> Option<T> {
        let mut at = self.nodes.get(self.root as usize)?;
        while let Some(left) = self.nodes.get(at.left as usize) {
            at = left;
        }
        Some(at.item)
    }

    /// The rank of the last item.
    pub(crate) fn last_rank(&self) -> Option<u64> {
        let mut at = self.nodes.get(self.root as usize)?;
        while let Some(right) = self.nodes.get(at.right as usize) {
            at = right;
        }
        Some(at.rank)
    }

    /// All items in order, for checks.
    pub(crate) fn items(&self) -> Vec<T> {
        let mut items = Vec::new();
        let mut path = Vec::new();
        let mut at = self.root;
        while at != NIL || !path.is_empty() {
            while at != NIL {
                path.push(at);
                at = self.nodes[at as usize].left;
            }
            if let Some(node) = path.pop() {
                items.push(self.nodes[node as usize].item);
                at = self.nodes[node as usize].right;
            }
        }
        items
    }
}

#[derive(Clone, Copy)]
enum Step {
    Left,
    Here,
    Right,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_a_sorted_vector() {
        let mut tree = RankTree::new();
        let mut plain: Vec<(u64, u64, u64)> = Vec::new(); // rank, number, eligible
        let mut state = 1u64;
        let mut random = |bound: u64| {
            state = mix(state);
            state % bound
        };
        for number in 0..20_000u64 {
            let now = Instant::from_ps(random(50));
            match random(6) {
                0..=2 => {
                    let (rank, eligible) = (random(10), random(50));
                    tree.insert(rank, Instant::from_ps(eligible), number);
                    let at = plain.partition_point(|(held, _, _)| *held <= rank);
                    plain.insert(at, (rank, number, eligible));
                }
                3 => {
                    let expected = if plain.is_empty() { None } else { Some(plain.remove(0).1) };
                    assert_eq!(tree.pop_first(), expected);
                }
                4 => assert_eq!(tree.pop_last(), plain.pop().map(|(_, number, _)| number)),
                _ => {
                    let at = plain.iter().position(|(_, _, eligible)| *eligible <= now.ps());
                    assert_eq!(tree.pop_first_eligible(now), at.map(|at| plain.remove(at).1));
                }
            }
            assert_eq!(tree.len(), plain.len());
            assert_eq!(tree.first(), plain.first().map(|item| item.1));
            assert_eq!(tree.last_rank(), plain.last().map(|item| item.0));
            assert_eq!(tree.next_eligible().map(Instant::ps), plain.iter().map(|item| item.2).min());
        }
        assert_eq!(tree.items(), plain.iter().map(|item| item.1).collect::<Vec<_>>());
    }
}
