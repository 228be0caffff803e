//! Packets on the move, and the arena they live in.
//!
//! A packet fits a cache line. Slots are recycled; in steady state nothing is allocated.

use crate::prefetch;
use crate::routing::Address;
use forebay_tm::{Duration, Instant, Packet as CorePacket, PacketId};

/// The slot of a packet in the [`Arena`].
pub type Slot = u32;

/// What a packet is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Carries payload; `seq` is its number in the flow.
    #[default]
    Data,
    /// Acknowledges; `seq` is the first packet number that is still missing, `echo` the number that asked for this.
    Ack,
    /// NDP: packet `echo` arrived as a header.
    Nack,
    /// NDP: the sender may have sent `seq` packets in all beyond its first window.
    Pull,
    /// Carries nothing and asks for a reply (pFabric).
    Probe,
    /// A frame of priority flow control between two ends of a link: `seq` has a bit for each class, `echo` the quanta.
    Pause,
}

/// Properties of a packet, as bits.
pub mod flag {
    /// ECN-capable.
    pub const ECT: u16 = 1 << 0;
    /// Congestion experienced; on an ACK: the echo of that.
    pub const CE: u16 = 1 << 1;
    /// Sent in the first bandwidth-delay product, before any feedback.
    pub const UNSCHEDULED: u16 = 1 << 2;
    /// Cut to its header.
    pub const TRIMMED: u16 = 1 << 3;
    /// Turned around by a switch; on its way back to the sender.
    pub const RETURNED: u16 = 1 << 4;
    /// Sent before.
    pub const RETRANSMISSION: u16 = 1 << 5;
    /// The last packet of its flow.
    pub const LAST: u16 = 1 << 6;
    /// Traced.
    pub const TRACED: u16 = 1 << 7;
    /// Data: the sender has cut its window for an echoed mark (CWR).
    pub const CWR: u16 = 1 << 8;
    /// An ACK: packet `echo` had come in before (a duplicate SACK).
    pub const DUPLICATE: u16 = 1 << 9;
    /// Data: the end of what an application wrote (PSH).
    pub const PUSH: u16 = 1 << 10;
    /// What a reply keeps on its way back.
    pub const OF_REPLIES: u16 = CE | TRACED | DUPLICATE;
}

/// A block of packet numbers, `from..to`.
pub type Block = (u32, u32);

/// An ACK's further blocks of packets that have arrived, as distances from `seq`; `(0, 0)` is none.
pub type MoreBlocks = [(u16, u16); 2];

/// The `window` of an ACK whose receiver has room for whatever comes.
pub const OPEN_WINDOW: u32 = u32::MAX;

/// A packet. It takes a cache line, and no part of another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(align(64))]
pub struct Packet {
    /// When its sender sent it; an ACK carries back the time of the packet that it acknowledges.
    pub sent_at: Instant,
    /// Its flow.
    pub flow: u32,
    /// A packet number, see [`Kind`].
    pub seq: u32,
    /// The packet number that a reply is about. Linux's ACKs have their time stamp here, unless they are about a
    /// duplicate, and data carries it back.
    pub echo: u32,
    /// The address of the host it goes to.
    pub to: Address,
    /// Bytes on the wire.
    pub bytes: u32,
    /// What equal-cost paths are chosen by.
    pub hash: u32,
    /// For schedulers that rank: bytes left of the flow, or what else the transport ranks by.
    pub rank: u32,
    /// What it is for.
    pub kind: Kind,
    /// Its class: the queue number it joins at every port that has more than one queue.
    pub class: u8,
    /// Switches that have sprayed it.
    pub spreads: u8,
    /// Bits of [`flag`].
    pub flags: u16,
    /// An ACK's block of packets beyond `seq` that have arrived, the one that holds `echo`; `(0, 0)` is none.
    pub block: Block,
    /// An ACK's blocks that were told before, the latest first.
    pub more: MoreBlocks,
    /// An ACK's receive window: packets from `seq` on that the receiver has room for.
    pub window: u32,
}

impl Packet {
    /// Whether a bit of [`flag`] is set.
    #[inline]
    pub fn has(&self, bit: u16) -> bool {
        self.flags & bit != 0
    }
}

/// What one switch stamped on a packet as it left (in-band telemetry).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HopStamp {
    /// When it was dequeued.
    pub at: Instant,
    /// Bytes that the port had sent until then.
    pub sent: u64,
    /// Bytes that waited at the port behind it.
    pub queued: u64,
    /// The rate of the port in bits per second.
    pub rate: u64,
}

/// Switches whose stamps a packet can carry.
pub const MAX_STAMPS: usize = 8;

/// The stamps of one packet; `count` of them are valid.
#[derive(Clone, Copy, Debug, Default)]
pub struct Telemetry {
    /// How many switches have stamped.
    pub count: u8,
    /// In the order of the path.
    pub stamps: [HopStamp; MAX_STAMPS],
}

impl Telemetry {
    /// The stamps, in the order of the path.
    pub fn hops(&self) -> &[HopStamp] {
        &self.stamps[..usize::from(self.count)]
    }

    /// Adds a stamp; the first [`MAX_STAMPS`] are kept.
    pub fn push(&mut self, stamp: HopStamp) {
        if let Some(place) = self.stamps.get_mut(usize::from(self.count)) {
            *place = stamp;
            self.count += 1;
        }
    }
}

/// What a switch needs of most packets. It travels with a packet on a link, so that a switch through which a packet
/// only passes does not have to look at the packet itself, which may be far away in memory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Metadata {
    pub(crate) packet: Slot,
    pub(crate) to: Address,
    pub(crate) hash: u32,
    /// The bytes on the wire, the class, whether it is ECN-capable and whether it is unscheduled, in one word: a
    /// metadata is 16 bytes, which move at once.
    rest: u32,
}

impl Metadata {
    const BYTES: u32 = 24;
    const CLASS: u32 = 6;

    /// The metadata of a packet that leaves with so many bytes.
    #[inline(always)]
    pub(crate) fn of(packet: &Packet, slot: Slot, bytes: u32) -> Self {
        let unscheduled = (packet.flags & flag::UNSCHEDULED) / flag::UNSCHEDULED;
        let flags = u32::from(packet.flags & flag::ECT | unscheduled << 1);
        let marks = flags << Self::CLASS | u32::from(packet.class);
        Self { packet: slot, to: packet.to, hash: packet.hash, rest: marks << Self::BYTES | bytes }
    }

    /// The metadata of something that never leaves its switch: a number that means something there, and bytes.
    pub(crate) fn inside(number: u32, bytes: u32) -> Self {
        Self { packet: number, rest: bytes, ..Self::default() }
    }

    #[inline(always)]
    pub(crate) fn bytes(self) -> u32 {
        self.rest & ((1 << Self::BYTES) - 1)
    }

    #[inline(always)]
    pub(crate) fn class(self) -> u32 {
        (self.rest >> Self::BYTES) & ((1 << Self::CLASS) - 1)
    }

    #[inline(always)]
    pub(crate) fn ect(self) -> bool {
        self.rest >> (Self::BYTES + Self::CLASS) & 1 != 0
    }

    #[inline(always)]
    pub(crate) fn unscheduled(self) -> bool {
        self.rest >> (Self::BYTES + Self::CLASS + 1) != 0
    }

    /// The packet as a traffic manager sees it: at a port, in the queue of its class as far as the mask lets classes
    /// have queues of their own.
    #[inline(always)]
    pub(crate) fn to_core(self, port: u32, queue_mask: u8, rank: u32) -> CorePacket {
        CorePacket {
            id: PacketId(u64::from(self.packet)),
            bytes: self.bytes(),
            port,
            queue: self.class() & u32::from(queue_mask),
            class: self.class(),
            // Not its number: those of clients' flows depend on which host was first.
            flow: u64::from(self.hash),
            rank: u64::from(rank),
            eligible: Instant::ZERO,
            unscheduled: self.unscheduled(),
            ect: self.ect(),
            ..CorePacket::default()
        }
    }
}

/// What is known of a packet in a network that pauses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hold {
    /// The request for pause that it waited for in front of its last link, counted from 1 on at the switch that asked;
    /// 0 is none.
    pub(crate) request: u32,
    /// The port that it came by, while it is at a switch, and the priority group that it is charged to.
    pub(crate) in_port: u32,
    pub(crate) group: u8,
    /// While it waits: how long its class had been paused there when it came. On a link: how long it waited for the
    /// request.
    pub(crate) time: Duration,
}

/// All packets on the move.
#[derive(Debug, Default)]
pub struct Arena {
    packets: Vec<Packet>,
    free: Vec<Slot>,
    /// One for each slot, if any transport wants telemetry.
    telemetry: Vec<Telemetry>,
    with_telemetry: bool,
    /// One for each slot, if any switch pauses. Whoever puts a packet in front of a link for the first time sets it.
    holds: Vec<Hold>,
    with_holds: bool,
}

impl Arena {
    /// An empty arena.
    pub fn new(with_telemetry: bool) -> Self {
        Self { with_telemetry, ..Self::default() }
    }

    /// Puts a packet into a slot.
    #[inline]
    pub fn insert(&mut self, packet: Packet) -> Slot {
        if let Some(slot) = self.free.pop() {
            self.packets[slot as usize] = packet;
            if self.with_telemetry {
                self.telemetry[slot as usize].count = 0;
            }
            slot
        } else {
            self.grow(packet)
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, packet: Packet) -> Slot {
        let slot = self.packets.len() as Slot;
        self.packets.push(packet);
        if self.with_telemetry {
            self.telemetry.push(Telemetry::default());
        }
        if self.with_holds {
            self.holds.push(Hold::default());
        }
        slot
    }

    /// Asks for a packet that will be looked at.
    pub(crate) fn ask(&self, slot: Slot) {
        prefetch::element(&self.packets, slot as usize);
    }

    /// Gives a slot back.
    #[inline]
    pub fn remove(&mut self, slot: Slot) {
        self.free.push(slot);
    }

    /// A packet.
    #[inline]
    pub fn get(&self, slot: Slot) -> &Packet {
        &self.packets[slot as usize]
    }

    /// The metadata of a packet that leaves with so many bytes.
    #[inline(always)]
    pub(crate) fn metadata(&self, slot: Slot, bytes: u32) -> Metadata {
        Metadata::of(self.get(slot), slot, bytes)
    }

    /// A packet, to be changed.
    #[inline]
    pub fn get_mut(&mut self, slot: Slot) -> &mut Packet {
        &mut self.packets[slot as usize]
    }

    /// The telemetry of a packet; only there if the arena was made with it.
    #[inline]
    pub fn telemetry_mut(&mut self, slot: Slot) -> Option<&mut Telemetry> {
        self.telemetry.get_mut(slot as usize)
    }

    /// The telemetry of a packet; only there if the arena was made with it.
    #[inline]
    pub fn telemetry(&self, slot: Slot) -> Option<&Telemetry> {
        self.telemetry.get(slot as usize)
    }

    /// Whether it was made with telemetry.
    pub(crate) fn has_telemetry(&self) -> bool {
        self.with_telemetry
    }

    /// Keeps what pauses do to packets. There is no packet yet.
    pub(crate) fn keep_holds(&mut self, keep: bool) {
        self.with_holds = keep;
    }

    /// Whether it keeps what pauses do to packets.
    pub(crate) fn keeps_holds(&self) -> bool {
        self.with_holds
    }

    /// What pauses have done to a packet, if that is kept.
    pub(crate) fn hold(&self, slot: Slot) -> Option<&Hold> {
        self.holds.get(slot as usize)
    }

    /// The same, to be changed.
    pub(crate) fn hold_mut(&mut self, slot: Slot) -> Option<&mut Hold> {
        self.holds.get_mut(slot as usize)
    }

    /// Packets on the move now.
    pub fn live(&self) -> usize {
        self.packets.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_says_what_the_packet_says() {
        let mut arena = Arena::new(false);
        let to = Address::new(9, 3);
        for (bytes, class, flags) in [
            (64, 0, 0u16),
            (1_500, 7, flag::ECT),
            (16_000_000, 63, flag::ECT | flag::CE),
            (9_000, 1, flag::UNSCHEDULED),
        ] {
            let slot = arena.insert(Packet { bytes, class, flags, to, hash: 77, ..Packet::default() });
            let metadata = arena.metadata(slot, bytes);
            assert_eq!((metadata.packet, metadata.to, metadata.hash, metadata.bytes()), (slot, to, 77, bytes));
            assert_eq!((metadata.class(), metadata.ect()), (u32::from(class), flags & flag::ECT != 0));
            assert_eq!(metadata.unscheduled(), flags & flag::UNSCHEDULED != 0);
        }
        assert_eq!(size_of::<Metadata>(), 16);
    }

    #[test]
    fn a_packet_fits_a_cache_line() {
        assert_eq!(size_of::<Packet>(), 64);
    }
}
