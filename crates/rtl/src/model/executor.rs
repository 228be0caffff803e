//! `occamy_executor.v`: a packet leaves the head of its queue.

use std::collections::VecDeque;

/// Where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Executor {
    /// Nothing to do, or cycle 1.
    Idle,
    /// Cycle 2: the head of this queue is about to move on.
    Advance(usize),
    /// From cycle 3 on: cells that are to be given back.
    Free(VecDeque<u32>),
}

impl Executor {
    /// The queue in cycle 2.
    pub fn advances(&self) -> Option<usize> {
        if let Self::Advance(queue) = self { Some(*queue) } else { None }
    }

    /// The next cell to give back.
    pub fn cell(&self) -> Option<u32> {
        if let Self::Free(cells) = self { cells.front().copied() } else { None }
    }

    /// The end of a cycle. `start`: cycle 1 was granted for this queue; `packet`: the cells of the packet that left in
    /// cycle 2, if it was not aborted; `frees`: a cell was given back.
    pub fn tick(&mut self, start: Option<usize>, packet: Option<VecDeque<u32>>, frees: bool) {
        *self = match std::mem::replace(self, Self::Idle) {
            Self::Idle => start.map_or(Self::Idle, Self::Advance),
            Self::Advance(_) => packet.map_or(Self::Idle, Self::Free),
            Self::Free(mut cells) => {
                if frees {
                    cells.pop_front();
                }
                if cells.is_empty() { Self::Idle } else { Self::Free(cells) }
            }
        };
    }
}
