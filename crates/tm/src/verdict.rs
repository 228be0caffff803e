//! What became of a packet, why, and the numbers behind it.

use crate::ingress::{Charge, Occupancy};
use crate::packet::{Packet, PacketId, Summary};
use crate::units::{Bytes, Instant};
use alloc::vec::Vec;
use core::num::NonZeroU64;

/// Why a packet was rejected, dropped or turned around.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// Larger than the whole buffer.
    Oversize,
    /// Its rank: AIFO's admission, or PIFO, SP-PIFO, PIEO or AFQ had no place for it.
    Rank,
    /// Its queue holds `queue_capacity` packets.
    QueueFull,
    /// It does not fit the buffer.
    Full,
    /// Its queue is above its threshold.
    Threshold,
    /// Approximate fair dropping chose it (intelligent buffer).
    FairDrop,
    /// The marking rule drops instead of marking.
    Marking,
    /// Its queue is above the watermark of source flow control.
    Watermark,
    /// Admitted, then pushed out for another packet.
    PushedOut,
    /// Admitted, then expelled from an over-allocated queue.
    Expelled,
    /// Cut to its header, for which there was no room.
    HeaderFull,
    /// Ingress: the pool has no shared cells left for it.
    IngressPool,
    /// Ingress: the limit of its port.
    IngressPort,
    /// Ingress: the limit of its priority group.
    IngressGroup,
    /// Ingress: the headroom of its priority group.
    IngressHeadroom,
    /// Ingress: the headroom of its port.
    IngressPortHeadroom,
    /// Ingress: the shared headroom pool.
    IngressHeadroomPool,
}

impl Reason {
    /// Every reason of a traffic manager alone, in the order of their numbers.
    pub const ALL: [Self; 11] = [
        Self::Oversize,
        Self::Rank,
        Self::QueueFull,
        Self::Full,
        Self::Threshold,
        Self::FairDrop,
        Self::Marking,
        Self::Watermark,
        Self::PushedOut,
        Self::Expelled,
        Self::HeaderFull,
    ];

    /// The reasons of the ingress side, whose numbers follow.
    pub const INGRESS: [Self; 6] = [
        Self::IngressPool,
        Self::IngressPort,
        Self::IngressGroup,
        Self::IngressHeadroom,
        Self::IngressPortHeadroom,
        Self::IngressHeadroomPool,
    ];

    /// How many there are in all.
    pub const COUNT: usize = Self::ALL.len() + Self::INGRESS.len();

    /// All of them: those of the traffic manager, then those of the ingress side.
    pub fn every() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().chain(Self::INGRESS)
    }

    /// The side of the buffer that refused or gave up the packet.
    pub const fn side(self) -> Side {
        if self as usize >= Self::ALL.len() { Side::Ingress } else { Side::Egress }
    }

    /// Its name in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Oversize => "oversize",
            Self::Rank => "rank",
            Self::QueueFull => "queue-full",
            Self::Full => "full",
            Self::Threshold => "threshold",
            Self::FairDrop => "fair-drop",
            Self::Marking => "marking",
            Self::Watermark => "watermark",
            Self::PushedOut => "pushed-out",
            Self::Expelled => "expelled",
            Self::HeaderFull => "header-full",
            Self::IngressPool => "ingress-pool",
            Self::IngressPort => "ingress-port",
            Self::IngressGroup => "ingress-group",
            Self::IngressHeadroom => "ingress-headroom",
            Self::IngressPortHeadroom => "ingress-port-headroom",
            Self::IngressHeadroomPool => "ingress-headroom-pool",
        }
    }
}

/// A side of the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// Priority groups of the ports that packets come by.
    Ingress,
    /// Queues of the ports that packets leave by.
    Egress,
}

impl Side {
    /// Its name in messages and files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ingress => "ingress",
            Self::Egress => "egress",
        }
    }
}

/// What an arriving packet got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It was admitted to its queue.
    Queued {
        /// It carries a congestion mark now.
        marked: bool,
    },
    /// It was rejected, and its header was queued.
    Trimmed {
        /// Why the packet was rejected.
        reason: Reason,
    },
    /// It was rejected, and the caller sends its header back to the sender.
    Returned {
        /// Why the packet was rejected.
        reason: Reason,
    },
    /// It is gone.
    Dropped {
        /// Why.
        reason: Reason,
    },
}

/// What the ingress pipeline of a programmable switch did with a packet in front of the traffic manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is gone.
    Dropped(Reason),
    /// The pipeline cut its payload. Its header, if it gets to the traffic manager, is offered as a packet of its own.
    Trimmed,
}

/// The wire of an arriving packet's port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// It can take a packet now.
    Idle,
    /// It cannot: whatever arrives has to wait.
    Busy,
}

/// What becomes of a packet that is offered: a verdict, and whether the packet has left already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The wire was idle and nothing waited: the packet joined its queue, unmarked, and has left at once. Nothing was
    /// evicted. [`Tm::offer`](crate::Tm::offer) has the conditions.
    Sent,
    /// The packet waits, or its header does, or it was rejected.
    Verdict(Verdict),
}

impl Outcome {
    /// What the packet got on arrival, whether or not it has left since.
    pub const fn verdict(self) -> Verdict {
        match self {
            Self::Sent => Verdict::Queued { marked: false },
            Self::Verdict(verdict) => verdict,
        }
    }

    /// How the packet leaves, if it leaves at once.
    #[inline(always)]
    pub fn departure(self, packet: &Packet) -> Option<Departure> {
        match self {
            Self::Sent => Some(Departure::of_queue(packet.id, Summary::new(packet.bytes, 0), packet.queue as usize)),
            Self::Verdict(_) => None,
        }
    }
}

impl From<Verdict> for Outcome {
    #[inline(always)]
    fn from(verdict: Verdict) -> Self {
        Self::Verdict(verdict)
    }
}

/// A packet that was waiting and is gone: pushed out for another packet, or expelled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Eviction {
    /// The packet.
    pub id: PacketId,
    /// When.
    pub at: Instant,
    /// The index of its queue, `port * queues + queue`.
    pub queue: usize,
    /// Its length on the wire.
    pub bytes: u32,
    /// [`Reason::PushedOut`] or [`Reason::Expelled`].
    pub reason: Reason,
    /// Bytes charged to its queue just before.
    pub length: Bytes,
    /// The threshold that its queue exceeded, if it was expelled.
    pub threshold: Option<f64>,
}

/// A packet that a port starts to send. It is sent, or given back once ([`Tm::discard`](crate::Tm::discard)): it is no
/// `Copy`, and clones are for records.
#[derive(Clone, PartialEq, Eq)]
pub struct Departure {
    /// The packet.
    pub id: PacketId,
    /// The packet's [`Summary`] and the queue in one word, which is never 0: so a departure, or none, is returned in two registers.
    rest: NonZeroU64,
}

impl Departure {
    /// The bit of packets that leave from a queue, whose number follows, and the bit of headers. One of them is always
    /// set.
    const QUEUED: NonZeroU64 = NonZeroU64::MIN.saturating_add((1 << 32) - 1);
    const HEADER: NonZeroU64 = NonZeroU64::MIN.saturating_add(Summary::HEADER - 1);

    /// A packet leaves from a queue.
    #[inline(always)]
    pub(crate) fn of_queue(id: PacketId, summary: Summary, number: usize) -> Self {
        Self { id, rest: Self::QUEUED | (number as u64) << 33 | summary.0 }
    }

    /// A header leaves from the queue of headers; its packet found no room in queue `number`.
    pub(crate) fn of_header(id: PacketId, summary: Summary, number: u32) -> Self {
        Self { id, rest: Self::HEADER | u64::from(number) << 33 | summary.0 }
    }

    /// The same with another length.
    pub(crate) fn with_bytes(self, bytes: u32) -> Self {
        // One of the upper bits is always set.
        let rest = NonZeroU64::new(self.rest.get() & !u64::from(u32::MAX) | u64::from(bytes)).unwrap_or(self.rest);
        Self { rest, ..self }
    }

    /// The place of the packet's priority group.
    #[inline(always)]
    pub(crate) const fn place(&self) -> usize {
        Summary(self.rest.get()).place()
    }

    /// Bytes to put on the wire.
    #[inline(always)]
    pub const fn bytes(&self) -> u32 {
        self.rest.get() as u32
    }

    /// The queue number it waited in; `None` if it comes from the header queue.
    #[inline(always)]
    pub const fn queue(&self) -> Option<u8> {
        if self.rest.get() & Self::QUEUED.get() == 0 { None } else { Some((self.rest.get() >> 33) as u8) }
    }

    /// The number of the queue that it waited in, or in which its packet found no room.
    pub(crate) const fn number(&self) -> usize {
        (self.rest.get() >> 33) as u8 as usize
    }

    /// Only its header is left.
    #[inline(always)]
    pub const fn is_header(&self) -> bool {
        self.rest.get() & Self::HEADER.get() != 0
    }
}

impl core::fmt::Debug for Departure {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Departure")
            .field("id", &self.id)
            .field("bytes", &self.bytes())
            .field("queue", &self.queue())
            .field("is_header", &self.is_header())
            .finish()
    }
}

/// The threshold a packet met, and what went into it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Threshold {
    /// Its value in bytes.
    pub value: f64,
    /// The alpha of the queue, class or packet.
    pub alpha: Option<f64>,
    /// What alpha multiplies: the remaining buffer in bytes (of the shared part, where some is reserved).
    pub remaining: Option<Bytes>,
    /// `N` (FB: non-empty queues of the group) or `n` (ABM: congested queues of the priority).
    pub n: Option<f64>,
    /// `g` (FB): the share of the port that the scheduler gives the queue.
    pub g: Option<f64>,
    /// `m` (ABM): the measured drain rate of the queue over that of the port.
    pub mu: Option<f64>,
    /// Bytes the queue owns (DT with a reserve).
    pub reserved: Option<Bytes>,
    /// Bytes of the flow within the window (FAB), or in the interval before (intelligent buffer).
    pub flow_bytes: Option<u64>,
    /// The probability of a fair drop (intelligent buffer).
    pub drop_probability: Option<f64>,
    /// The filtered length that meets it in place of the length (Reverie), in bytes.
    pub filtered: Option<f64>,
}

/// AIFO's admission test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankTest {
    /// The packet's rank.
    pub rank: u64,
    /// Ranks of the window that are smaller, and ranks in it.
    pub smaller: usize,
    /// Ranks in the window.
    pub entries: usize,
    /// Packets waiting.
    pub waiting: usize,
    /// The target size `C`.
    pub capacity: usize,
    /// The headroom `k`.
    pub headroom: f64,
}

/// A queue and the bytes it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    /// `port * queues + queue`.
    pub queue: usize,
    /// Bytes charged to it.
    pub bytes: Bytes,
}

/// Why a packet got its verdict: the state it met and what was compared with what.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Explanation {
    /// When it arrived.
    pub at: Instant,
    /// The index of its queue, `port * queues + queue`.
    pub queue: usize,
    /// What it would be charged.
    pub charge: Bytes,
    /// `q_i` before it.
    pub length: Bytes,
    /// Packets in its queue before it.
    pub waiting: usize,
    /// `Q` before it.
    pub total: Bytes,
    /// `B`.
    pub buffer: Bytes,
    /// The threshold, where the policy has one.
    pub threshold: Option<Threshold>,
    /// AIFO's test, if it was made.
    pub rank_test: Option<RankTest>,
    /// What it got.
    pub verdict: Option<Verdict>,
    /// For a packet that was not admitted: the queues that held the buffer, the longest first.
    pub holders: Vec<Holder>,
    /// What it met on the ingress side, where there is one.
    pub ingress: Option<GroupExplanation>,
}

/// What a packet met on the ingress side. All sizes are in cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupExplanation {
    /// The port that it came by.
    pub port: usize,
    /// The number of its priority group.
    pub group: u8,
    /// Its own cells.
    pub cells: u64,
    /// What the group had before it.
    pub has: Occupancy,
    /// The minimum of the group.
    pub minimum: u64,
    /// The most shared cells that the group could have.
    pub limit: u64,
    /// Shared cells that were free in its pool.
    pub free: u64,
    /// Where its cells were charged; none if it was refused, here or by the egress side.
    pub charge: Option<Charge>,
}

/// Somebody who may want to know why. `()` does not, and then nothing is computed for it.
pub trait Explain {
    /// Takes notes; the closure is not called when nobody asks.
    fn note(&mut self, write: impl FnOnce(&mut Explanation));

    /// Where the notes go, if anybody asks.
    fn explanation(&mut self) -> Option<&mut Explanation>;
}

impl Explain for () {
    #[inline(always)]
    fn note(&mut self, _: impl FnOnce(&mut Explanation)) {}

    fn explanation(&mut self) -> Option<&mut Explanation> {
        None
    }
}

impl Explain for Explanation {
    fn note(&mut self, write: impl FnOnce(&mut Explanation)) {
        write(self);
    }

    fn explanation(&mut self) -> Option<&mut Explanation> {
        Some(self)
    }
}

impl Explain for Option<&mut Explanation> {
    fn note(&mut self, write: impl FnOnce(&mut Explanation)) {
        if let Some(explanation) = self {
            write(explanation);
        }
    }

    fn explanation(&mut self) -> Option<&mut Explanation> {
        self.as_deref_mut()
    }
}
