//! What a buffer policy is: the traits that the policies of this crate implement, and that others can implement.

use super::Policy;
use super::custom::AnyPolicy;
use crate::buffer::{Buffer, Queue};
use crate::config::{ConfigError, TmConfig, ValidConfig};
use crate::custom::Custom;
use crate::described::Described;
use crate::packet::Packet;
use crate::units::{Duration, Instant};
use crate::verdict::{Explain, Reason, Threshold};
use core::any::Any;
use core::fmt::Debug;

/// A queue of the switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueId {
    /// The port that it belongs to.
    pub port: usize,
    /// Its index among all queues of the switch: `port * K + number`, where `K` is the number of queues of a port.
    pub index: usize,
}

/// What a policy says of an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Let it in. It must fit: [`Arrival::charge`] is at most [`Buffer::remaining`].
    Admit,
    /// Keep it out.
    Reject(Reason),
    /// Push out the tail packet of the queue with this index, which must not be empty, then ask again.
    PushOut(usize),
}

impl Admission {
    /// The common rule of the threshold policies: `Q + len <= B` and `q_i + len <= T_i`.
    #[inline(always)]
    pub fn below(threshold: f64, arrival: &Arrival<'_>, buffer: &Buffer) -> Self {
        Self::within(threshold, buffer.remaining(), &buffer.queues[arrival.queue.index], arrival.charge)
    }

    /// [`Admission::below`] where the caller has looked up the queue: `charge <= remaining` (the packet fits the
    /// buffer) and `q_i + charge <= threshold`.
    #[inline(always)]
    pub(crate) fn within(threshold: f64, remaining: u64, queue: &Queue, charge: u64) -> Self {
        if charge > remaining {
            Self::Reject(Reason::Full)
        } else if real(queue.bytes + charge) <= threshold {
            Self::Admit
        } else {
            Self::Reject(Reason::Threshold)
        }
    }
}

/// An arriving packet and where it would go.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    /// The time.
    pub now: Instant,
    /// The packet.
    pub packet: &'a Packet,
    /// The queue that it would join.
    pub queue: QueueId,
    /// The number of that queue within its port.
    pub number: usize,
    /// What it would be charged.
    pub charge: u64,
}

/// An integer as a double. Sizes are below 2^44, so the signed conversion, which is one instruction, is exact.
#[inline(always)]
pub(crate) fn real(bytes: u64) -> f64 {
    bytes as i64 as f64
}

/// A packet that could be expelled: the head of a queue, and the threshold that the queue exceeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// The index of the queue, which must not be empty.
    pub queue: usize,
    /// The threshold, in bytes.
    pub threshold: f64,
}

/// A buffer policy at work. It reads the buffer and returns an [`Admission`]; the switch alone applies it.
///
/// Only `admit` and `threshold_of` are needed; the rest is for policies that measure, change or expel. Policies keep
/// what they need up to date through `enqueued` and `dequeued`, so that no packet costs a scan over the queues.
pub trait BufferPolicy: Clone + Debug + Send + Sync + 'static {
    /// Whether [`enqueued`](Self::enqueued), [`dequeued`](Self::dequeued) and [`passed`](Self::passed) do anything.
    const OBSERVES: bool = false;
    /// Whether it has an [`interval`](Self::interval) at which [`update`](Self::update) is due.
    const UPDATES: bool = false;
    /// Whether it expels packets from their queues.
    const EXPELS: bool = false;
    /// Whether packets that it has admitted may be pushed out or expelled.
    const TAKES_BACK: bool = Self::EXPELS;
    /// Whether being asked about a packet changes anything, so that it must not be asked about one larger than the
    /// buffer.
    const COUNTS_ARRIVALS: bool = false;

    /// The number of the queue that a packet is put in: the one that the packet names, unless the policy moves it (IB
    /// puts short flows in a queue of their own).
    #[inline(always)]
    fn select_queue(&mut self, _now: Instant, packet: &Packet) -> usize {
        packet.queue as usize
    }

    /// Whether the packet may join its queue.
    fn admit(&mut self, arrival: Arrival<'_>, buffer: &Buffer, why: &mut impl Explain) -> Admission;

    /// A queue has grown from `before` to `after` bytes.
    #[inline(always)]
    fn enqueued(&mut self, _queue: QueueId, _before: u64, _after: u64) {}

    /// A queue has shrunk from `before` to `after` bytes, because a packet of `sent` bytes was picked, or one was
    /// pushed out or expelled (`sent` = 0).
    #[inline(always)]
    fn dequeued(&mut self, _queue: QueueId, _before: u64, _after: u64, _sent: u32) {}

    /// A packet of `bytes` has joined an empty queue and been picked in the same instant.
    #[inline(always)]
    fn passed(&mut self, queue: QueueId, bytes: u32) {
        self.enqueued(queue, 0, u64::from(bytes));
        self.dequeued(queue, u64::from(bytes), 0, bytes);
    }

    /// How often [`update`](Self::update) is due, if ever. It is asked where [`UPDATES`](Self::UPDATES) says so.
    fn interval(&self) -> Option<Duration> {
        None
    }

    /// The periodic update. Returns whether another one, with the buffer as it is, could change anything.
    fn update(&mut self, _buffer: &Buffer) -> bool {
        false
    }

    /// Makes `times` more updates at once, right after one, if it can tell beforehand what they come to. False if they
    /// have to be made one by one.
    fn repeat(&mut self, _buffer: &Buffer, _times: u64) -> bool {
        false
    }

    /// The threshold of a queue now, for an ordinary packet of class 0 of a flow not seen before; `None` where a policy
    /// has none.
    fn threshold_of(&self, queue: QueueId, buffer: &Buffer) -> Option<Threshold>;

    /// Goes on from what an earlier policy had learned, when the settings of a switch change. `earlier` is a policy of
    /// any kind: look with `downcast_ref` whether it is of this one. Lengths of queues are known already, by
    /// `enqueued`.
    fn inherit(&mut self, _earlier: &dyn Any, _now: Instant) {}

    /// A packet, or a header, was picked for transmission.
    #[inline(always)]
    fn sent(&mut self, _now: Instant, _bytes: u32) {}

    /// No packet will be expelled before this instant, unless the buffer changes first. `likely` says that a queue may
    /// have been over-allocated before and that the buffer has only filled since.
    #[inline(always)]
    fn not_before(&self, _now: Instant, _buffer: &Buffer, _likely: bool) -> Instant {
        Instant::NEVER
    }

    /// The queue whose head is to be expelled next.
    fn candidate(&mut self, _buffer: &Buffer) -> Option<Candidate> {
        None
    }

    /// When a head of `bytes` can be expelled, not before `from`.
    fn ready(&mut self, _from: Instant, _bytes: u32) -> Instant {
        Instant::NEVER
    }

    /// The head of the queue with this index, of `bytes`, is expelled.
    fn expelled(&mut self, _now: Instant, _queue: usize, _bytes: u32) {}
}

/// The settings of a buffer policy: what makes one.
pub trait PolicySettings: Described {
    /// Whether a switch can work with these settings.
    fn validate(&self, _switch: &TmConfig) -> Result<(), ConfigError> {
        Ok(())
    }

    /// The factor of a queue number, for the policies that read it from the queue ([`Buffer::alpha`]).
    fn alpha(&self, _number: usize) -> f64 {
        0.0
    }

    /// How many classes of packets the policy can judge. `None` is any number.
    fn classes(&self) -> Option<usize> {
        None
    }

    /// The policy at work in an empty switch: [`ActivePolicy::new`].
    fn start(&self, switch: &ValidConfig) -> ActivePolicy;
}

/// A buffer policy at work, whichever it is.
#[derive(Clone, Debug)]
pub struct ActivePolicy(pub(crate) Policy);

impl ActivePolicy {
    /// A policy of another crate. It is called through a pointer; those of this crate are not.
    pub fn new(policy: impl BufferPolicy) -> Self {
        Self(Policy::Custom(AnyPolicy::new(policy)))
    }
}

/// The choice of a buffer policy of another crate, with its settings.
pub type CustomPolicy = Custom<dyn PolicySettings>;

impl CustomPolicy {
    /// A policy by the name that it has in files, one sentence about it, and its settings.
    pub fn new(
        name: &'static str,
        about: &'static str,
        settings: impl PolicySettings + Clone + Send + Sync + 'static,
    ) -> Self {
        Self::of(name, about, settings, |settings| settings)
    }
}
