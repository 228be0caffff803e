//! The shared buffer as hardware has it: cells, packet descriptors on free lists, queues as linked lists of
//! descriptors.
//!
//! A packet is charged in whole cells. Which cells it gets never changes a verdict, so by default cells are credits
//! that are counted; with [`CellMemory`] every cell is a pointer on a real list, as the hardware model needs it.

mod cells;
mod descriptors;
#[cfg(test)]
mod tests;

use crate::counters::Totals;
use crate::packet::{PacketId, Summary};
use crate::units::Bytes;
use alloc::vec;
use alloc::vec::Vec;
use cells::CellMemory;

pub(crate) use descriptors::Descriptor;
pub use descriptors::{Descriptors, List, Slot};

/// A packet that has left its queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    pub(crate) id: PacketId,
    pub(crate) summary: Summary,
    pub(crate) charge: u64,
    pub(crate) rank: u64,
    /// `q_i` without it.
    pub(crate) after: u64,
}

/// One queue: its packets and what the buffer charges it.
///
/// What has left is not counted: it is what has joined and neither waits nor was evicted.
///
/// The order of the fields is fixed, and no two that change together are neighbours: as a pair they would be packed
/// into a vector register, which costs more. Its size is a power of two, which makes finding it a shift.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Queue {
    /// Whole packets that joined.
    packets_in: u64,
    /// The waiting packets. Where the scheduler keeps its own order (PIFO, SP-PIFO, PIEO, AFQ) only the length is used.
    list: List,
    /// How many of the waiting packets are headers.
    headers: u32,
    /// The policy's factor for this queue; kept here because it is needed whenever the length is.
    pub(crate) alpha: f64,
    /// The lengths on the wire of the packets that joined.
    bytes_in: u64,
    /// The largest `q_i` so far.
    pub(crate) peak: u64,
    /// How much of `q_i` is not the length of a whole packet: the rest of cells, and headers.
    beyond: u64,
    /// `q_i`: bytes charged.
    pub(crate) bytes: u64,
}

impl Queue {
    /// Waiting packets.
    #[inline]
    pub(crate) fn packets(&self) -> u32 {
        self.list.len
    }

    /// A packet joins the queue, which holds `before` bytes, and is charged `charge`.
    #[inline(always)]
    fn charge<const PLAIN: bool>(&mut self, before: u64, summary: Summary, charge: u64) {
        self.bytes = before + charge;
        if self.bytes > self.peak {
            self.peak = self.bytes;
        }
        if PLAIN {
            self.packets_in += 1;
            self.bytes_in += u64::from(summary.bytes());
            return;
        }
        self.beyond += beyond(summary, charge);
        if summary.is_header() {
            self.headers += 1;
        } else {
            self.packets_in += 1;
            self.bytes_in += u64::from(summary.bytes());
        }
    }

    /// A packet has joined the empty queue and been picked in the same instant. Returns whether this was its peak.
    #[inline(always)]
    fn passed(&mut self, charge: u64) -> bool {
        self.packets_in += 1;
        self.bytes_in += charge;
        let is_peak = charge > self.peak;
        if is_peak {
            self.peak = charge;
        }
        is_peak
    }

    #[inline(always)]
    fn discharge<const PLAIN: bool>(&mut self, descriptor: &Descriptor, charge: u64) -> Taken {
        let Descriptor { id, summary, rank, .. } = *descriptor;
        self.bytes -= charge;
        if !PLAIN {
            self.beyond -= beyond(summary, charge);
            self.headers -= u32::from(summary.is_header());
        }
        Taken { id, summary, charge, rank, after: self.bytes }
    }

    /// Packets that joined whole, and what waits.
    pub(crate) fn totals(&self) -> Totals {
        let whole = u64::from(self.packets() - self.headers);
        Totals {
            admitted: Count { packets: self.packets_in, bytes: self.bytes_in },
            waiting: Count { packets: u64::from(self.packets()), bytes: self.bytes },
            waiting_whole: Count { packets: whole, bytes: self.bytes - self.beyond },
            peak: Bytes::new(self.peak),
        }
    }

    /// Headers that wait among the data.
    pub(crate) fn headers(&self) -> u32 {
        self.headers
    }

    /// The packet that has waited longest, in a queue that keeps the order of arrival.
    #[inline]
    pub(crate) fn head(&self) -> Option<Slot> {
        self.list.head()
    }
}

/// Bytes in whole cells.
#[inline(always)]
fn in_cells(bytes: u32, cell: u32) -> u64 {
    if cell == 1 { u64::from(bytes) } else { u64::from(bytes.div_ceil(cell)) * u64::from(cell) }
}

/// Bytes charged for a packet that are not the length of a whole packet.
fn beyond(summary: Summary, charge: u64) -> u64 {
    if summary.is_header() { charge } else { charge - u64::from(summary.bytes()) }
}

/// Packets and their bytes on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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

    /// Takes one back that was added.
    pub(crate) fn take_back(&mut self, bytes: u32) {
        self.packets -= 1;
        self.bytes -= u64::from(bytes);
    }
}

impl core::ops::Sub for Count {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self { packets: self.packets - other.packets, bytes: self.bytes - other.bytes }
    }
}

impl core::ops::AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.packets += other.packets;
        self.bytes += other.bytes;
    }
}

/// The shared buffer, which policies and schedulers read and the switch alone changes.
#[derive(Clone, Debug)]
pub struct Buffer {
    pub(crate) slots: Descriptors,
    pub(crate) queues: Vec<Queue>,
    /// `B`.
    capacity: u64,
    /// `B - Q`: bytes that are not charged to any queue.
    free: u64,
    /// The least of that so far.
    least_free: u64,
    cell: u32,
    cells: Option<CellMemory>,
    /// Charged bytes read from memory to be sent beyond the bytes that the queues count as sent (the rest of cells, and
    /// headers), and to be thrown away.
    pub(crate) read_beyond_sent: u64,
    pub(crate) read_for_eviction: u64,
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
            free: capacity.get(),
            least_free: capacity.get(),
            cell,
            cells,
            read_beyond_sent: 0,
            read_for_eviction: 0,
        }
    }

    /// `B`: its size in bytes.
    #[inline]
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// `Q`: bytes charged to all queues.
    #[inline]
    pub fn used(&self) -> u64 {
        self.capacity - self.free
    }

    /// `B - Q`: bytes that are free.
    #[inline]
    pub fn remaining(&self) -> u64 {
        self.free
    }

    pub(crate) fn peak(&self) -> u64 {
        self.capacity - self.least_free
    }

    /// `q_i`: bytes charged to the queue with this index.
    #[inline]
    pub fn length(&self, queue: usize) -> u64 {
        self.queues[queue].bytes
    }

    /// Packets in the queue with this index.
    #[inline]
    pub fn packets(&self, queue: usize) -> u32 {
        self.queues[queue].packets()
    }

    /// The factor that the policy's settings give the queue with this index.
    #[inline]
    pub fn alpha(&self, queue: usize) -> f64 {
        self.queues[queue].alpha
    }

    /// How many queues there are.
    #[inline]
    pub fn queues(&self) -> usize {
        self.queues.len()
    }

    /// What a packet of `bytes` is charged: whole cells.
    #[inline]
    pub(crate) fn charge(&self, bytes: u32) -> u64 {
        in_cells(bytes, self.cell)
    }

    /// Puts a packet at the tail of a queue. Returns `q_i` before.
    ///
    /// `PLAIN` switches charge bytes, have no headers in their queues and no cell pointers.
    #[inline(always)]
    pub(crate) fn append<const PLAIN: bool>(&mut self, queue: usize, descriptor: Descriptor, charge: u64) -> u64 {
        let q = &mut self.queues[queue];
        let (before, tail, len) = (q.bytes, q.list.tail, q.list.len);
        let free = self.slots.free;
        if free as usize >= self.slots.slots.len() {
            self.slots.grow();
            let Descriptor { id, rank, summary, .. } = descriptor;
            return self.append_again::<PLAIN>(queue, id, rank, summary, charge);
        }
        // Field by field: a copy of the whole would be put together elsewhere first.
        let slots = self.slots.slots.as_mut_slice();
        let slot = &mut slots[free as usize];
        self.slots.free = slot.next;
        slot.prev = tail;
        slot.id = descriptor.id;
        slot.rank = descriptor.rank;
        slot.summary = descriptor.summary;
        if len == 0 {
            q.list.head = free;
        } else {
            slots[tail as usize].next = free;
        }
        q.list.tail = free;
        q.list.len = len + 1;
        q.charge::<PLAIN>(before, descriptor.summary, charge);
        self.charge_pool::<PLAIN>(Slot(free), charge);
        before
    }

    /// A packet has joined an empty queue and been picked in the same instant. Returns whether this was the peak of the
    /// queue.
    #[inline(always)]
    pub(crate) fn passed(&mut self, queue: usize, charge: u64) -> bool {
        let free = self.free - charge;
        if free < self.least_free {
            self.least_free = free;
        }
        self.queues[queue].passed(charge)
    }

    #[cold]
    #[inline(never)]
    fn append_again<const PLAIN: bool>(
        &mut self,
        queue: usize,
        id: PacketId,
        rank: u64,
        summary: Summary,
        charge: u64,
    ) -> u64 {
        self.append::<PLAIN>(queue, Descriptor::new(id, summary, rank), charge)
    }

    /// Charges a packet to a queue whose order the scheduler keeps. Returns its descriptor and `q_i` before.
    pub(crate) fn adopt(&mut self, queue: usize, descriptor: Descriptor, charge: u64) -> (Slot, u64) {
        let slot = self.slots.allocate(descriptor);
        let q = &mut self.queues[queue];
        q.list.len += 1;
        let before = q.bytes;
        q.charge::<false>(before, descriptor.summary, charge);
        self.charge_pool::<false>(slot, charge);
        (slot, before)
    }

    /// Takes the head of a queue that is not empty off its list and out of the accounts.
    #[inline(always)]
    pub(crate) fn pop_head<const PLAIN: bool>(&mut self, queue: usize) -> Taken {
        let cell = self.cell;
        let q = &mut self.queues[queue];
        let slot = q.list.head;
        let descriptor = &mut self.slots.slots[slot as usize];
        q.list.head = descriptor.next;
        q.list.len -= 1;
        descriptor.next = self.slots.free;
        self.slots.free = slot;
        let bytes = descriptor.summary.bytes();
        let charge = if PLAIN { u64::from(bytes) } else { in_cells(bytes, cell) };
        let taken = q.discharge::<PLAIN>(descriptor, charge);
        self.discharge_pool::<PLAIN>(Slot(slot), taken.charge);
        taken
    }

    /// Takes the tail of a queue that is not empty off its list and out of the accounts.
    pub(crate) fn pop_tail(&mut self, queue: usize) -> Taken {
        let slot = self.slots.pop_back(&mut self.queues[queue].list).expect("the queue is not empty");
        self.discharge(queue, slot)
    }

    /// Takes a packet out of a queue whose order the scheduler keeps, after the scheduler has let it go.
    pub(crate) fn release(&mut self, queue: usize, slot: Slot) -> Taken {
        self.queues[queue].list.len -= 1;
        self.discharge(queue, slot)
    }

    fn discharge(&mut self, queue: usize, slot: Slot) -> Taken {
        let descriptor = self.slots.release(slot);
        let charge = self.charge(descriptor.summary.bytes());
        let taken = self.queues[queue].discharge::<false>(&descriptor, charge);
        self.discharge_pool::<false>(slot, taken.charge);
        taken
    }

    #[inline(always)]
    fn charge_pool<const PLAIN: bool>(&mut self, slot: Slot, charge: u64) {
        self.free -= charge;
        if self.free < self.least_free {
            self.least_free = self.free;
        }
        if !PLAIN && self.cells.is_some() {
            self.take_cells(slot, charge);
        }
    }

    #[inline(always)]
    fn discharge_pool<const PLAIN: bool>(&mut self, slot: Slot, charge: u64) {
        self.free += charge;
        if !PLAIN && self.cells.is_some() {
            self.give_cells_back(slot, charge);
        }
    }

    #[cold]
    fn take_cells(&mut self, slot: Slot, charge: u64) {
        if let Some(cells) = &mut self.cells {
            cells.take(slot, (charge / u64::from(self.cell)) as u32);
        }
    }

    #[cold]
    fn give_cells_back(&mut self, slot: Slot, charge: u64) {
        if let Some(cells) = &mut self.cells {
            cells.give_back(slot, (charge / u64::from(self.cell)) as u32);
        }
    }

    /// The waiting packets of a queue that keeps the order of arrival, first to last.
    pub(crate) fn in_order(&self, queue: usize) -> impl Iterator<Item = Slot> {
        self.slots.iter(&self.queues[queue].list)
    }

    /// Whether the accounts agree with the lists: `Q = sum q_i`, `q_i` = the charges of the packets in `waiting(i)`,
    /// cells used + cells free = cells in all, no descriptor lost. A slow check for tests.
    pub(crate) fn is_consistent(&self, waiting: impl Fn(usize) -> Vec<Slot>) -> bool {
        let mut all = Vec::new();
        let mut used = 0;
        for (i, queue) in self.queues.iter().enumerate() {
            let slots = waiting(i);
            let packets = || slots.iter().map(|slot| self.slots.get(*slot).summary);
            let bytes: u64 = packets().map(|packet| self.charge(packet.bytes())).sum();
            let whole = packets().filter(|packet| !packet.is_header());
            let mut sum = Count::default();
            whole.for_each(|packet| sum.add(packet.bytes()));
            if bytes != queue.bytes || slots.len() != queue.packets() as usize || sum != queue.totals().waiting_whole {
                return false;
            }
            used += bytes;
            all.extend(slots);
        }
        used == self.used()
            && used <= self.capacity
            && used % u64::from(self.cell) == 0
            && all.len() == self.slots.in_use()
            && self.cells.as_ref().is_none_or(|cells| cells.is_whole(all.iter().copied()))
    }
}
