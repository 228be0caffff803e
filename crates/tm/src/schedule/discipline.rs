//! What a scheduler is: the traits that those of this crate implement, and that others can implement.

use super::custom::AnyScheduler;
use super::{Cursor, Lanes, Scheduler};
use crate::buffer::{Buffer, Descriptors, Slot};
use crate::config::{ConfigError, TmConfig, ValidConfig};
use crate::custom::Custom;
use crate::described::Described;
use crate::packet::Packet;
use crate::units::Instant;
use crate::verdict::Explain;
use alloc::vec::Vec;
use core::fmt::Debug;

/// How a scheduler serves the queues of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// One queue, in order of arrival.
    Fifo,
    /// Several queues, a packet of each in turn. All there is to remember is the port's cursor, and the scheduler is
    /// not asked.
    RoundRobin,
    /// Several queues, by priority. There is nothing to remember.
    Strict,
    /// Several queues, by weights or in any other way. The scheduler remembers who has had what.
    Weighted,
    /// One queue, in an order that the scheduler keeps.
    OwnOrder,
}

/// The settings of a scheduler: what makes one.
pub trait SchedulerSettings {
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

    /// With an order of its own: the queues, and what else decides in which of them a packet waits. Only settings that
    /// agree in this can take over packets that wait, by [`Discipline::inherit`]. `None`: none can.
    fn layout(&self) -> Option<Vec<u64>> {
        None
    }

    /// Whether a switch can work with these settings.
    fn validate(&self, _switch: &TmConfig) -> Result<(), ConfigError> {
        Ok(())
    }

    /// The scheduler at work in an empty switch: [`ActiveScheduler::new`].
    fn start(&self, switch: &ValidConfig) -> ActiveScheduler;
}

/// A scheduler at work, whichever it is.
#[derive(Clone, Debug)]
pub struct ActiveScheduler(pub(super) Scheduler);

impl ActiveScheduler {
    /// A scheduler of another crate. It is called through a pointer; those of this crate are not.
    pub fn new(scheduler: impl Discipline) -> Self {
        Self(Scheduler::Custom(AnyScheduler::new(scheduler)))
    }
}

impl From<Scheduler> for ActiveScheduler {
    fn from(scheduler: Scheduler) -> Self {
        Self(scheduler)
    }
}

/// The choice of a scheduler of another crate, with its settings.
pub type CustomScheduler = Custom<dyn SchedulerSettings>;

impl CustomScheduler {
    /// A scheduler by the name that it has in files, one sentence about it, and its settings.
    pub fn new(
        name: &'static str,
        about: &'static str,
        settings: impl SchedulerSettings + Described + Clone + Send + Sync + 'static,
    ) -> Self {
        Self::of(name, about, settings, |settings| settings)
    }
}

/// Whether a packet that the policy admits may join its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// Yes, in this lane (SP-PIFO, AFQ, PACKS).
    Yes(u32),
    /// Yes, after the last packet of the queue has been taken out.
    Displace,
    /// No.
    No,
}

/// A port that may send a packet.
pub struct Turn<'a> {
    /// The port.
    pub port: usize,
    /// The index of its queue 0.
    pub first_queue: usize,
    /// Bit `k` says that queue `k` is not empty. One of them is.
    pub nonempty: u64,
    /// Where round robin is.
    pub cursor: &'a mut Cursor,
    /// The lengths of the queues.
    pub buffer: &'a Buffer,
}

/// A scheduler at work, for all ports. It has to have the methods of its [`Service`]: FIFO with an admission test
/// `admits`; several queues `choose`; an order of its own `join`, and either `lanes` and `lanes_mut`, where it keeps
/// packets in several FIFO queues, or `insert`, `head`, `take_head`, `take_tail` and `waiting`.
pub trait Discipline: Clone + Debug + Send + Sync + 'static {
    /// Of a FIFO queue with an admission test: whether a packet of this rank may come in. `packets` wait at the port.
    #[inline(always)]
    fn admits(&mut self, _port: usize, _rank: u64, _packets: u32, _why: &mut impl Explain) -> bool {
        true
    }

    /// Of several queues: the number of the one that is served next, which must not be empty.
    #[inline(always)]
    fn choose(&mut self, turn: Turn<'_>) -> usize {
        turn.nonempty.trailing_zeros() as usize
    }

    /// Of several queues: a push-out or an expulsion has emptied queue `number`.
    fn emptied(&mut self, _port: usize, _number: usize) {}

    /// With an order of its own: may a packet, which the policy admits, join?
    #[inline(always)]
    fn join(&mut self, _packet: &Packet, _rank: u64) -> Join {
        Join::Yes(0)
    }

    /// With an order of its own: the FIFO queues of a port, where it keeps packets in these.
    fn lanes(&self, _port: usize) -> Option<&Lanes> {
        None
    }

    /// With an order of its own: the FIFO queues of a port, to be changed.
    fn lanes_mut(&mut self, _port: usize) -> Option<&mut Lanes> {
        None
    }

    /// With an order of its own: a packet joins.
    fn insert(&mut self, packet: &Packet, slot: Slot, lane: u32, slots: &mut Descriptors) {
        if let Some(lanes) = self.lanes_mut(packet.port as usize) {
            lanes.push(lane, slot, slots);
        }
    }

    /// With an order of its own: the packet of a port that would be picked first.
    fn head(&self, port: usize) -> Option<Slot> {
        self.lanes(port)?.head()
    }

    /// With an order of its own: takes the packet that would be picked first.
    fn take_head(&mut self, port: usize, slots: &mut Descriptors) -> Option<Slot> {
        self.lanes_mut(port)?.take_head(slots)
    }

    /// With an order of its own: takes the packet that may leave now, if any may.
    #[inline(always)]
    fn take_next(&mut self, _now: Instant, port: usize, slots: &mut Descriptors) -> Option<Slot> {
        self.take_head(port, slots)
    }

    /// With an order of its own: takes the packet that would be picked last.
    fn take_tail(&mut self, port: usize, slots: &mut Descriptors) -> Option<Slot> {
        self.lanes_mut(port)?.take_tail(slots)
    }

    /// With an order of its own: when a port that has packets but may not send any yet can send again.
    fn next_eligible(&self, _port: usize) -> Option<Instant> {
        None
    }

    /// With an order of its own: the packets of a port, for checks.
    fn waiting(&self, port: usize, slots: &Descriptors) -> Vec<Slot> {
        self.lanes(port).map_or_else(Vec::new, |lanes| lanes.slots(slots))
    }

    /// Goes on from where an earlier scheduler of this kind was, with the packets that wait in an order of its own.
    fn inherit(&mut self, _earlier: &Self) {}
}
