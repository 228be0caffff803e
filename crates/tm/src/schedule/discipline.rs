//! What a scheduler is to the switch.

use super::{Cursor, Scheduler};
use crate::buffer::{Buffer, Descriptors, Slot};
use crate::config::{ConfigError, TmConfig, ValidConfig};
use crate::packet::Packet;
use crate::units::Instant;
use crate::verdict::Explain;
use alloc::vec::Vec;
use core::fmt::Debug;

/// How a scheduler serves the queues of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Service {
    /// One queue, in order of arrival.
    Fifo,
    /// Several queues, a packet of each in turn. All there is to remember is the port's cursor.
    RoundRobin,
    /// Several queues, by priority. There is nothing to remember.
    Strict,
    /// Several queues, by weights. The scheduler remembers who has had what.
    Weighted,
    /// One queue, in an order that the scheduler keeps.
    OwnOrder,
}

/// The settings of a scheduler: what makes one.
pub(crate) trait SchedulerSettings {
    /// How it serves the queues of a port.
    fn service(&self) -> Service;

    /// Whether the rank of a packet matters.
    fn uses_ranks(&self) -> bool {
        false
    }

    /// How many packets or bytes queue `number` gets for one of a queue of weight 1.
    fn weight(&self, _number: usize) -> u32 {
        1
    }

    /// The queues and what else decides in which of them a packet waits, where it keeps packets in several: settings that differ in this
    /// cannot take over packets.
    fn lanes(&self) -> Vec<u64> {
        Vec::new()
    }

    /// Whether a switch can work with these settings.
    fn validate(&self, _switch: &TmConfig) -> Result<(), ConfigError> {
        Ok(())
    }

    /// The scheduler at work in an empty switch.
    fn start(&self, switch: &ValidConfig) -> Scheduler;
}

/// Whether a packet that the policy admits may join its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Join {
    /// Yes, in this lane (SP-PIFO, AFQ, PACKS).
    Yes(u32),
    /// Yes, after the last packet of the queue has been taken out.
    Displace,
    /// No.
    No,
}

/// A port that may send a packet.
pub(crate) struct Turn<'a> {
    pub(crate) port: usize,
    /// The index of its queue 0.
    pub(crate) first_queue: usize,
    /// Bit `k` says that queue `k` is not empty. One of them is.
    pub(crate) waiting: u64,
    /// Where round robin is.
    pub(crate) cursor: &'a mut Cursor,
    pub(crate) buffer: &'a Buffer,
}

/// A scheduler at work, for all ports. It has to have the methods of its [`Service`].
pub(crate) trait Discipline: Clone + Debug {
    /// Of a FIFO queue with an admission test: whether a packet of this rank may come in. `packets` wait at the port.
    #[inline(always)]
    fn admits(&mut self, _port: usize, _rank: u64, _packets: u32, _why: &mut impl Explain) -> bool {
        true
    }

    /// Of several queues: the number of the one that is served next.
    #[inline(always)]
    fn choose(&mut self, _turn: Turn<'_>) -> usize {
        0
    }

    /// Of several queues: a push-out or an expulsion has emptied queue `number`.
    fn emptied(&mut self, _port: usize, _number: usize) {}

    /// With an order of its own: may a packet, which the policy admits, join?
    #[inline(always)]
    fn join(&mut self, _packet: &Packet, _rank: u64) -> Join {
        Join::Yes(0)
    }

    /// With an order of its own: a packet joins.
    fn insert(&mut self, _packet: &Packet, _slot: Slot, _lane: u32, _slots: &mut Descriptors) {}

    /// With an order of its own: the packet of a port that would be picked first.
    fn head(&self, _port: usize) -> Option<Slot> {
        None
    }

    /// With an order of its own: takes the packet that would be picked first.
    fn take_head(&mut self, _port: usize, _slots: &mut Descriptors) -> Option<Slot> {
        None
    }

    /// With an order of its own: takes the packet that may leave now, if any may.
    #[inline(always)]
    fn take_next(&mut self, _now: Instant, port: usize, slots: &mut Descriptors) -> Option<Slot> {
        self.take_head(port, slots)
    }

    /// With an order of its own: takes the packet that would be picked last.
    fn take_tail(&mut self, _port: usize, _slots: &mut Descriptors) -> Option<Slot> {
        None
    }

    /// With an order of its own: when a port that has packets but may not send any yet can send again.
    fn next_eligible(&self, _port: usize) -> Option<Instant> {
        None
    }

    /// With an order of its own: the packets of a port, for checks.
    fn waiting(&self, _port: usize, _slots: &Descriptors) -> Vec<Slot> {
        Vec::new()
    }

    /// Goes on from where an earlier scheduler of this kind was.
    fn inherit(&mut self, _earlier: &Self) {}
}
