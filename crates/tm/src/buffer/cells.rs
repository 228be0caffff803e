//! Cells as hardware has them: pointers on lists.

use super::Slot;
use super::descriptors::NIL;
use alloc::vec;
use alloc::vec::Vec;

/// Cells as pointers: a free list, and one list of cells per descriptor. Freeing splices a packet's whole list onto the
/// free list in one step, as the executor of Occamy's circuit does.
#[derive(Clone, Debug)]
pub(crate) struct CellMemory {
    next: Vec<u32>,
    pub(super) free_head: u32,
    free: u32,
    /// First and last cell of each descriptor.
    spans: Vec<(u32, u32)>,
}

impl CellMemory {
    /// A memory of `cells` cells, all free, in order.
    pub(crate) fn new(cells: u32) -> Self {
        let next = (1..cells).chain(core::iter::once(NIL)).take(cells as usize).collect();
        Self { next, free_head: if cells == 0 { NIL } else { 0 }, free: cells, spans: Vec::new() }
    }

    pub(super) fn take(&mut self, slot: Slot, cells: u32) {
        assert!(cells > 0 && cells <= self.free, "a packet is admitted only if its cells are there");
        let head = self.free_head;
        let mut tail = head;
        for _ in 1..cells {
            tail = self.next[tail as usize];
        }
        self.free_head = self.next[tail as usize];
        self.next[tail as usize] = NIL;
        self.free -= cells;
        let slot = slot.0 as usize;
        if slot >= self.spans.len() {
            self.spans.resize(slot + 1, (NIL, NIL));
        }
        self.spans[slot] = (head, tail);
    }

    pub(super) fn give_back(&mut self, slot: Slot, cells: u32) {
        let (head, tail) = core::mem::replace(&mut self.spans[slot.0 as usize], (NIL, NIL));
        self.next[tail as usize] = self.free_head;
        self.free_head = head;
        self.free += cells;
    }

    /// Whether every cell is on exactly one list: the free list or that of a descriptor in `waiting`.
    pub(super) fn is_whole(&self, waiting: impl Iterator<Item = Slot>) -> bool {
        let mut seen = vec![false; self.next.len()];
        let mut walk = |mut cell: u32| {
            let mut count = 0u32;
            while cell != NIL {
                if core::mem::replace(&mut seen[cell as usize], true) {
                    return None;
                }
                count += 1;
                cell = self.next[cell as usize];
            }
            Some(count)
        };
        if walk(self.free_head) != Some(self.free) {
            return false;
        }
        for slot in waiting {
            if walk(self.spans[slot.0 as usize].0).is_none() {
                return false;
            }
        }
        seen.iter().all(|cell| *cell)
    }
}
