//! Which nodes have events before a time.
//!
//! A tree of minima over the earliest events of all nodes, 16 to a branch. What is due is taken out in the order of the
//! nodes, which is that in which they stand in memory, and all at once: a network with much to do is swept, and one
//! with little to do is searched.

use crate::event_queue::{Key, NEVER};

/// Bits of a place among the branches of one.
const BITS: u32 = 4;
/// Branches of one.
const BRANCHES: usize = 1 << BITS;

/// The earliest event of every node.
#[derive(Debug, Default)]
pub(crate) struct NodeQueue {
    /// The events, then the least of each 16 of them, and so on; the last level is one branch.
    levels: Vec<Vec<Key>>,
}

impl NodeQueue {
    pub(crate) fn new(nodes: usize) -> Self {
        let mut levels = vec![vec![NEVER; nodes]];
        while levels[levels.len() - 1].len() > 1 {
            levels.push(vec![NEVER; levels[levels.len() - 1].len().div_ceil(BRANCHES)]);
        }
        Self { levels }
    }

    /// The earliest event.
    #[inline(always)]
    pub(crate) fn next(&self) -> Key {
        self.levels.last().and_then(|top| top.first()).copied().unwrap_or(NEVER)
    }

    /// A node has an event, and may have had one before.
    #[inline(always)]
    pub(crate) fn add(&mut self, node: usize, key: Key) {
        let mut place = node;
        for level in &mut self.levels {
            if level[place] <= key {
                return;
            }
            level[place] = key;
            place >>= BITS;
        }
    }

    /// A node has this event and none before it.
    pub(crate) fn replace(&mut self, node: usize, key: Key) {
        self.levels[0][node] = key;
        let mut place = node;
        for level in 1..self.levels.len() {
            place >>= BITS;
            self.levels[level][place] = *self.below(level, place).iter().min().unwrap_or(&NEVER);
        }
    }

    /// What a branch is the least of.
    fn below(&self, level: usize, place: usize) -> &[Key] {
        let all = &self.levels[level - 1];
        &all[place << BITS..((place + 1) << BITS).min(all.len())]
    }

    /// Takes out the nodes that have an event before the horizon, in their order. They have none until one is added.
    pub(crate) fn take_due(&mut self, horizon: Key, due: &mut Vec<u32>) {
        if self.next() < horizon {
            take_due(&mut self.levels, 0, horizon, due);
        }
    }

    /// Moves all events to an earlier epoch.
    pub(crate) fn rebase(&mut self, by: u64) {
        for key in self.levels.iter_mut().flatten() {
            *key = key.rebased(by);
        }
    }
}

/// Takes out what is due below a branch of the last of these levels, and returns the least of what is left.
fn take_due(levels: &mut [Vec<Key>], place: usize, horizon: Key, due: &mut Vec<u32>) -> Key {
    let Some((own, below)) = levels.split_last_mut() else { return NEVER };
    if below.is_empty() {
        // A network of one node.
        if own[place] < horizon {
            due.push(place as u32);
            own[place] = NEVER;
        }
        return own[place];
    }
    let (first, end) = (place << BITS, ((place + 1) << BITS).min(below[below.len() - 1].len()));
    let mut rest = NEVER;
    for branch in first..end {
        let mut key = below[below.len() - 1][branch];
        if key < horizon {
            key = if below.len() > 1 {
                take_due(below, branch, horizon, due)
            } else {
                due.push(branch as u32);
                below[0][branch] = NEVER;
                NEVER
            };
        }
        rest = rest.min(key);
    }
    own[place] = rest;
    rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event_queue::Clock;
    use forebay_tm::Instant;
    use forebay_tm::random::Random;

    #[test]
    fn agrees_with_a_list() {
        let mut random = Random::stream(5, "node_queue", 0);
        let key = |at: u64| Clock::default().timer(Instant::from_ps(at), 0);
        for nodes in [1usize, 2, 15, 16, 17, 256, 300, 5_000] {
            let mut queue = NodeQueue::new(nodes);
            let mut plain = vec![NEVER; nodes];
            for round in 0..2_000u64 {
                let node = (random.unit() * nodes as f64) as usize;
                let at = key(round + (random.unit() * 500.0) as u64);
                if random.unit() < 0.8 {
                    queue.add(node, at);
                    plain[node] = plain[node].min(at);
                } else {
                    queue.replace(node, at);
                    plain[node] = at;
                }
                assert_eq!(queue.next(), *plain.iter().min().unwrap());
                if random.unit() < 0.1 {
                    let horizon = key(round + (random.unit() * 100.0) as u64);
                    let mut due = Vec::new();
                    queue.take_due(horizon, &mut due);
                    let expected: Vec<u32> = (0..nodes as u32).filter(|node| plain[*node as usize] < horizon).collect();
                    assert_eq!(due, expected);
                    due.iter().for_each(|node| plain[*node as usize] = NEVER);
                    assert_eq!(queue.next(), *plain.iter().min().unwrap());
                }
            }
        }
    }
}
