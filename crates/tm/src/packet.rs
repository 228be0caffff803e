//! What the core knows of a packet: numbers, no payload.

use crate::ingress::GROUPS_PER_PORT;
use crate::units::Instant;

/// The caller's name for a packet. The core stores it and gives it back; it never looks inside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PacketId(pub u64);

/// The longest packet, in bytes.
pub const MAX_PACKET_BYTES: u32 = (1 << 31) - 1;

/// A packet as it arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// Given back with every outcome.
    pub id: PacketId,
    /// Its length on the wire, 1 to [`MAX_PACKET_BYTES`].
    pub bytes: u32,
    /// The port it leaves by.
    pub port: u32,
    /// The queue of that port that it joins.
    pub queue: u32,
    /// Its class, for policies that tell packets of one queue apart.
    pub class: u32,
    /// Its flow.
    pub flow: u64,
    /// What the rank function starts from: the rank itself, the flow's bytes left (SRPT) or its slack in picoseconds
    /// (LSTF).
    pub rank: u64,
    /// PIEO: not to be sent before this instant.
    pub eligible: Instant,
    /// Sent in the first round trip, before any feedback (ABM).
    pub unscheduled: bool,
    /// ECN-capable.
    pub ect: bool,
    /// The port that it came by: for the ingress side.
    pub in_port: u32,
    /// The priority group of that port that it is charged to.
    pub group: u8,
    /// What a meter has made of it: for WRED.
    pub colour: Colour,
}

/// What is kept of a packet that waits, in one word: its length, whether only its header is left, and the place of its
/// priority group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Summary(pub(crate) u64);

impl Summary {
    /// Below it are the length, and what a [`Departure`](crate::Departure) adds.
    const PLACE: u32 = u64::BITS - 16;
    /// Set when the payload was cut.
    pub(crate) const HEADER: u64 = 1 << (Self::PLACE - 1);

    /// Of a packet of `bytes`.
    #[inline(always)]
    pub(crate) const fn new(bytes: u32, place: usize) -> Self {
        Self(bytes as u64 | (place as u64) << Self::PLACE)
    }

    /// Of a packet as it arrives.
    #[inline(always)]
    pub(crate) const fn of(packet: &Packet) -> Self {
        Self::new(packet.bytes, packet.in_port as usize * GROUPS_PER_PORT + packet.group as usize)
    }

    /// Only the header is left of the packet.
    pub(crate) const fn cut(self) -> Self {
        Self(self.0 | Self::HEADER)
    }

    /// Its length on the wire.
    #[inline(always)]
    pub(crate) const fn bytes(self) -> u32 {
        self.0 as u32
    }

    /// Whether its payload was cut.
    #[inline(always)]
    pub(crate) const fn is_header(self) -> bool {
        self.0 & Self::HEADER != 0
    }

    /// The place of its priority group: `port * GROUPS_PER_PORT + number`.
    #[inline(always)]
    pub(crate) const fn place(self) -> usize {
        (self.0 >> Self::PLACE) as usize
    }
}

/// What a meter in front of the switch has made of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Colour {
    /// Within its rate.
    #[default]
    Green,
    /// Above its rate, within its burst.
    Yellow,
    /// Beyond both.
    Red,
}

impl Colour {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 3] = [Self::Green, Self::Yellow, Self::Red];
}
