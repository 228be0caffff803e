//! The shared buffer as hardware has it: cells, packet descriptors on free lists, queues as linked lists of descriptors.
//!
//! A packet is charged in whole cells. Which cells it gets never changes a verdict, so by default cells are credits
//! that are counted; with [`CellMemory`] every cell is a pointer on a real list, as the hardware model needs it.

use crate::packet::PacketId;
use crate::units::Bytes;
use alloc::vec;
use alloc::vec::Vec;

/// "No descriptor", "no cell".
const NIL: u32 = u32::MAX;

/// Set in [`Descriptor::length`] when the payload was cut.
const HEADER: u32 = 1 << 31;

/// The index of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot(u32);

/// A waiting packet. 32 bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Descriptor {
    next: u32,
    prev: u32,
    length: u32,
    /// Bytes charged to the shared buffer; 0 for a packet of a header queue.
    charge: u32,
    pub(crate) id: PacketId,
    pub(crate) rank: u64,
}

impl Descriptor {
    /// A packet that is not on any list yet.
    pub(crate) fn new(id: PacketId, bytes: u32, charge: u32, rank: u64) -> Self {
        Self { next: NIL, prev: NIL, length: bytes, charge, id, rank }
    }

    /// Marks the packet as cut to its header.
    pub(crate) fn cut(mut self) -> Self {
        self.length |= HEADER;
        self
    }

    /// Its length on the wire.
    pub(crate) fn bytes(&self) -> u32 {
        self.length & !HEADER
    }

    /// Bytes charged to the shared buffer.
    pub(crate) fn charge(&self) -> u64 {
        u64::from(self.charge)
    }

    /// Whether its payload was cut.
    pub(crate) fn is_header(&self) -> bool {
        self.length & HEADER != 0
    }
}

/// A list of descriptors, first in first out, with a tail that can be taken back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List {
    head: u32,
    tail: u32,
    len: u32,
}

impl Default for List {
    fn default() -> Self {
        Self { head: NIL, tail: NIL, len: 0 }
    }
}

impl List {
    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn head(&self) -> Option<Slot> {
        (self.len > 0).then_some(Slot(self.head))
    }
}

/// All descriptors; the unused ones form a free list. Grows to the largest number of packets that ever waited, then
/// allocates no more.
#[derive(Clone, Debug, Default)]
pub(crate) struct Descriptors {
    slots: Vec<Descriptor>,
    free: List,
}

impl Descriptors {
    #[inline]
    pub(crate) fn get(&self, slot: Slot) -> &Descriptor {
        &self.slots[slot.0 as usize]
    }

    #[inline]
    pub(crate) fn allocate(&mut self, descriptor: Descriptor) -> Slot {
        let free = self.free.head;
        if let Some(slot) = self.slots.get_mut(free as usize) {
            self.free.head = slot.next;
            self.free.len -= 1;
            *slot = descriptor;
            Slot(free)
        } else {
            self.grow(descriptor)
        }
    }

    #[cold]
    fn grow(&mut self, descriptor: Descriptor) -> Slot {
        let slot =
            u32::try_from(self.slots.len()).ok().filter(|slot| *slot != NIL).expect("fewer than 2^32 packets wait");
        self.slots.push(descriptor);
        Slot(slot)
    }

    #[inline]
    pub(crate) fn release(&mut self, slot: Slot) -> Descriptor {
        let descriptor = &mut self.slots[slot.0 as usize];
        descriptor.next = self.free.head;
        self.free.head = slot.0;
        self.free.len += 1;
        *descriptor
    }

    /// Descriptors in use.
    pub(crate) fn in_use(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    #[inline]
    pub(crate) fn push_back(&mut self, list: &mut List, slot: Slot) {
        let tail = list.tail;
        if let Some(last) = self.slots.get_mut(tail as usize) {
            last.next = slot.0;
            self.slots[slot.0 as usize].prev = tail;
        } else {
            list.head = slot.0;
        }
        list.tail = slot.0;
        list.len += 1;
    }

    #[inline]
    pub(crate) fn pop_front(&mut self, list: &mut List) -> Option<Slot> {
        let head = list.head;
        let next = self.slots.get(head as usize)?.next;
        list.head = next;
        list.len -= 1;
        if let Some(second) = self.slots.get_mut(next as usize) {
            second.prev = NIL;
        } else {
            list.tail = NIL;
        }
        Some(Slot(head))
    }

    pub(crate) fn pop_back(&mut self, list: &mut List) -> Option<Slot> {
        let tail = list.tail;
        let prev = self.slots.get(tail as usize)?.prev;
        list.tail = prev;
        list.len -= 1;
        if let Some(last) = self.slots.get_mut(prev as usize) {
            last.next = NIL;
        } else {
            list.head = NIL;
        }
        Some(Slot(tail))
    }

    /// The slots of a list from head to tail, for checks.
    pub(crate) fn iter<'a>(&'a self, list: &List) -> impl Iterator<Item = Slot> + 'a {
        let mut next = list.head;
        core::iter::from_fn(move || {
            let slot = self.slots.get(next as usize)?;
            let here = Slot(next);
            next = slot.next;
            Some(here)
        })
    }
}

/// Cells as pointers: a free list, and one list of cells per descriptor. Freeing splices a packet's whole list onto the
/// free list in one step, as the executor of Occamy's circuit does.
#[derive(Clone, Debug)]
pub(crate) struct CellMemory {
    next: Vec<u32>,
    free_head: u32,
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

    fn take(&mut self, slot: Slot, cells: u32) {
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

    fn give_back(&mut self, slot: Slot, cells: u32) {
        let (head, tail) = core::mem::replace(&mut self.spans[slot.0 as usize], (NIL, NIL));
        self.next[tail as usize] = self.free_head;
        self.free_head = head;
        self.free += cells;
    }

    /// Whether every cell is on exactly one list: the free list or that of a descriptor in `waiting`.
    fn is_whole(&self, waiting: impl Iterator<Item = Slot>) -> bool {
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

/// One queue: its packets in order of arrival and what the buffer charges it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Queue {
    /// The waiting packets, unless the scheduler keeps its own order (PIFO, SP-PIFO, PIEO, AFQ).
    pub(crate) list: List,
    /// Waiting packets.
    pub(crate) packets: u32,
    /// `q_i`: bytes charged.
    pub(crate) bytes: u64,
    /// The largest `q_i` so far.
    pub(crate) peak: u64,
    /// Packets that joined, and their length on the wire.
    pub(crate) admitted: Count,
    /// Packets picked for transmission.
    pub(crate) sent: Count,
}

/// Packets and their bytes on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Packets.
    pub packets: u64,
    /// Their bytes on the wire.
    pub bytes: u64,
}

impl Count {
    #[inline]
    pub(crate) fn add(&mut self, bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(bytes);
    }
}

impl core::ops::AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.packets += other.packets;
        self.bytes += other.bytes;
    }
}

/// The shared buffer. Only `switch.rs` changes it; policies and schedulers read it.
#[derive(Clone, Debug)]
pub(crate) struct Buffer {
    pub(crate) slots: Descriptors,
    pub(crate) queues: Vec<Queue>,
    /// `B`.
    capacity: u64,
    /// `Q`: bytes charged to all queues.
    used: u64,
    /// The largest `Q` so far.
    peak: u64,
    cell: u32,
    cells: Option<CellMemory>,
    /// Charged bytes read from memory to be sent, and to be thrown away.
    pub(crate) read_for_transmission: u64,
    pub(crate) read_for_expulsion: u64,
}

impl Buffer {
    pub(crate) fn new(capacity: Bytes, cell: u32, queues: usize, cell_pointers: bool) -> Self {
        let cells = cell_pointers.then(|| {
            let cells = capacity.get() / u64::from(cell);
            CellMemory::new(u32::try_from(cells).expect("validated: fewer than 2^32 cells"))
        });
        Self {
            slots: Descriptors::default(),
            queues: vec![Queue::default(); queues],
            capacity: capacity.get(),
            used: 0,
            peak: 0,
            cell,
            cells,
            read_for_transmission: 0,
            read_for_expulsion: 0,
        }
    }

    /// `B`.
    #[inline]
    pub(crate) fn capacity(&self) -> u64 {
        self.capacity
    }

    /// `Q`.
    #[inline]
    pub(crate) fn used(&self) -> u64 {
        self.used
    }

    /// `B - Q`.
    #[inline]
    pub(crate) fn remaining(&self) -> u64 {
        self.capacity - self.used
    }

    pub(crate) fn peak(&self) -> u64 {
        self.peak
    }

    /// `q_i`.
    #[inline]
    pub(crate) fn length(&self, queue: usize) -> u64 {
        self.queues[queue].bytes
    }

    /// What a packet of `bytes` is charged: whole cells.
    #[inline]
    pub(crate) fn charge(&self, bytes: u32) -> u64 {
        if self.cell == 1 { u64::from(bytes) } else { u64::from(bytes.div_ceil(self.cell)) * u64::from(self.cell) }
    }

    /// Charges a descriptor to a queue. Returns `q_i` before.
    #[inline]
    pub(crate) fn charge_in(&mut self, queue: usize, slot: Slot, bytes: u32, charge: u64) -> u64 {
        let q = &mut self.queues[queue];
        let before = q.bytes;
        q.bytes = before + charge;
        q.packets += 1;
        q.peak = q.peak.max(q.bytes);
        q.admitted.add(bytes);
        self.used += charge;
        self.peak = self.peak.max(self.used);
        if let Some(cells) = &mut self.cells {
            cells.take(slot, (charge / u64::from(self.cell)) as u32);
        }
        before
    }

    /// Takes a descriptor that has left its list out of the accounts. Returns it and `q_i` after.
    #[inline]
    pub(crate) fn charge_out(&mut self, queue: usize, slot: Slot) -> (Descriptor, u64) {
        let descriptor = self.slots.release(slot);
        let charge = descriptor.charge();
        let q = &mut self.queues[queue];
        q.bytes -= charge;
        q.packets -= 1;
        let after = q.bytes;
        self.used -= charge;
        if let Some(cells) = &mut self.cells {
            cells.give_back(slot, (charge / u64::from(self.cell)) as u32);
        }
        (descriptor, after)
    }

    /// Whether the accounts agree with the lists: `Q = sum q_i`, `q_i` = the charges of the packets in `waiting(i)`,
    /// cells used + cells free = cells in all, no descriptor lost. A slow check for tests.
    pub(crate) fn is_consistent(&self, waiting: impl Fn(usize) -> Vec<Slot>, header_packets: usize) -> bool {
        let mut all = Vec::new();
        let mut used = 0;
        for (i, queue) in self.queues.iter().enumerate() {
            let slots = waiting(i);
            let bytes: u64 = slots.iter().map(|slot| self.slots.get(*slot).charge()).sum();
            if bytes != queue.bytes || slots.len() != queue.packets as usize {
                return false;
            }
            used += bytes;
            all.extend(slots);
        }
        used == self.used
            && used <= self.capacity
            && used % u64::from(self.cell) == 0
            && all.len() + header_packets == self.slots.in_use()
            && self.cells.as_ref().is_none_or(|cells| cells.is_whole(all.iter().copied()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(id: u64) -> Descriptor {
        Descriptor::new(PacketId(id), 100, 128, 0)
    }

    #[test]
    fn lists_are_fifo_and_give_back_their_tail() {
        let mut slots = Descriptors::default();
        let mut list = List::default();
        for id in 0..4 {
            let slot = slots.allocate(packet(id));
            slots.push_back(&mut list, slot);
        }
        let mut take = |front: bool| {
            let slot = if front { slots.pop_front(&mut list) } else { slots.pop_back(&mut list) }?;
            Some(slots.release(slot).id.0)
        };
        assert_eq!(
            [take(true), take(false), take(true), take(false), take(true), take(false)],
            [Some(0), Some(3), Some(1), Some(2), None, None]
        );
        assert_eq!(slots.in_use(), 0);
        assert_eq!(slots.slots.len(), 4);
    }

    #[test]
    fn a_packet_is_charged_whole_cells() {
        let buffer = Buffer::new(Bytes::new(1_000), 208, 1, false);
        assert_eq!([1, 208, 209, 417].map(|bytes| buffer.charge(bytes)), [208, 208, 416, 624]);
        assert_eq!(Buffer::new(Bytes::new(1_000), 1, 1, false).charge(417), 417);
    }

    #[test]
    fn cell_pointers_are_spliced_back_whole() {
        let mut buffer = Buffer::new(Bytes::new(1_000), 100, 1, true);
        let mut waiting = Vec::new();
        for id in 0..3 {
            let charge = buffer.charge(250);
            let slot = buffer.slots.allocate(Descriptor::new(PacketId(id), 250, charge as u32, 0));
            buffer.charge_in(0, slot, 250, charge);
            waiting.push(slot);
        }
        assert_eq!(buffer.remaining(), 100);
        assert!(buffer.is_consistent(|_| waiting.clone(), 0));
        buffer.charge_out(0, waiting.remove(1));
        assert_eq!(buffer.remaining(), 400);
        assert!(buffer.is_consistent(|_| waiting.clone(), 0));
        let mut broken = buffer.clone();
        broken.cells.as_mut().unwrap().free_head = 1;
        assert!(!broken.is_consistent(|_| waiting.clone(), 0));
    }
}
