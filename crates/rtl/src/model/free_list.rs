//! `free_list.v`.

use std::collections::VecDeque;
use std::ops::Range;

/// Pointers that nobody uses: first those never used yet, then those given back, in that order.
#[derive(Clone, Debug)]
pub struct FreeList {
    fresh: Range<u32>,
    ring: VecDeque<u32>,
    /// Given back in the last cycle; can be taken in the one after the next.
    late: Option<u32>,
}

impl FreeList {
    /// All of these are free.
    pub fn new(pointers: Range<u32>) -> Self {
        Self { fresh: pointers, ring: VecDeque::new(), late: None }
    }

    /// The next pointer, if there is one.
    pub fn next(&self) -> Option<u32> {
        if self.fresh.is_empty() { self.ring.front().copied() } else { Some(self.fresh.start) }
    }

    /// The end of a cycle in which the next pointer was taken or not, and one was given back or not.
    pub fn tick(&mut self, taken: bool, given: Option<u32>) {
        if taken && self.fresh.next().is_none() {
            self.ring.pop_front();
        }
        self.ring.extend(self.late.take());
        self.late = given;
    }
}
