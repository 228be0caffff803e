//! Packet descriptors, the lists that they are on, and the free list.

use crate::packet::{PacketId, Summary};
use alloc::vec::Vec;

/// "No descriptor", "no cell".
pub(super) const NIL: u32 = u32::MAX;

/// The index of a descriptor: a packet that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot(pub(super) u32);

/// A waiting packet. 32 bytes. What it is charged follows from its length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Descriptor {
    pub(super) next: u32,
    pub(super) prev: u32,
    pub(crate) summary: Summary,
    pub(crate) id: PacketId,
    pub(crate) rank: u64,
}

impl Descriptor {
    /// A packet that is not on any list yet.
    pub(crate) fn new(id: PacketId, summary: Summary, rank: u64) -> Self {
        Self { next: NIL, prev: NIL, summary, id, rank }
    }
}

/// A list of descriptors, first in first out, with a tail that can be taken back.
#[derive(Clone, Copy, Debug)]
pub struct List {
    pub(super) head: u32,
    pub(super) tail: u32,
    pub(super) len: u32,
}

impl Default for List {
    fn default() -> Self {
        Self { head: NIL, tail: NIL, len: 0 }
    }
}

impl List {
    /// Packets on it.
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The first.
    pub fn head(&self) -> Option<Slot> {
        (self.len > 0).then_some(Slot(self.head))
    }
}

/// All descriptors; the unused ones form a free list. Grows to the largest number of packets that ever waited, then
/// allocates no more.
#[derive(Clone, Debug, Default)]
pub struct Descriptors {
    pub(super) slots: Vec<Descriptor>,
    /// The first unused one; the others follow by their `next`, up to the first index beyond all descriptors.
    pub(super) free: u32,
}

impl Descriptors {
    /// The rank of a packet.
    pub fn rank(&self, slot: Slot) -> u64 {
        self.get(slot).rank
    }

    /// The length of a packet on the wire.
    pub fn bytes(&self, slot: Slot) -> u32 {
        self.get(slot).summary.bytes()
    }

    #[inline]
    pub(crate) fn get(&self, slot: Slot) -> &Descriptor {
        &self.slots[slot.0 as usize]
    }

    pub(crate) fn allocate(&mut self, descriptor: Descriptor) -> Slot {
        let free = self.free;
        if free as usize >= self.slots.len() {
            self.grow();
        }
        let slot = &mut self.slots[free as usize];
        self.free = slot.next;
        *slot = descriptor;
        Slot(free)
    }

    /// Makes one more free descriptor, which is the one that `free` names: the free list always ends with the first
    /// index that is not in use yet.
    #[cold]
    #[inline(never)]
    pub(super) fn grow(&mut self) {
        let next =
            u32::try_from(self.slots.len() + 1).ok().filter(|next| *next != NIL).expect("fewer than 2^32 packets wait");
        self.slots.push(Descriptor { next, ..Descriptor::new(PacketId::default(), Summary::default(), 0) });
    }

    #[inline(always)]
    pub(crate) fn release(&mut self, slot: Slot) -> Descriptor {
        let descriptor = &mut self.slots[slot.0 as usize];
        let taken = *descriptor;
        descriptor.next = self.free;
        self.free = slot.0;
        taken
    }

    /// Descriptors in use. Walks the free list; for checks.
    pub(crate) fn in_use(&self) -> usize {
        let free =
            core::iter::successors(self.slots.get(self.free as usize), |slot| self.slots.get(slot.next as usize));
        self.slots.len() - free.count()
    }

    /// Puts a packet at the end of a list.
    #[inline(always)]
    pub fn push_back(&mut self, list: &mut List, slot: Slot) {
        let tail = core::mem::replace(&mut list.tail, slot.0);
        if list.len == 0 {
            list.head = slot.0;
        } else {
            let slots = self.slots.as_mut_slice();
            slots[tail as usize].next = slot.0;
            slots[slot.0 as usize].prev = tail;
        }
        list.len += 1;
    }

    /// Takes the first packet off a list. The links at the ends of a list are whatever they were: its length says where
    /// it ends.
    #[inline(always)]
    pub fn pop_front(&mut self, list: &mut List) -> Option<Slot> {
        if list.len == 0 {
            return None;
        }
        let head = list.head;
        list.head = self.slots[head as usize].next;
        list.len -= 1;
        Some(Slot(head))
    }

    /// Takes the last packet off a list.
    pub fn pop_back(&mut self, list: &mut List) -> Option<Slot> {
        if list.len == 0 {
            return None;
        }
        let tail = list.tail;
        list.tail = self.slots[tail as usize].prev;
        list.len -= 1;
        Some(Slot(tail))
    }

    /// The slots of a list from head to tail, for checks.
    pub fn iter<'a>(&'a self, list: &List) -> impl Iterator<Item = Slot> + 'a {
        let mut next = list.head;
        (0..list.len).map(move |_| {
            let here = Slot(next);
            next = self.get(here).next;
            here
        })
    }
}
