//! Buffer policies: who gets the shared buffer. One file a scheme.
//!
//! A policy is a `Scheme`: it reads the buffer and returns an `Admission`; the switch alone applies it. It keeps what it
//! needs up to date through two hooks, `Scheme::enqueued` and `Scheme::dequeued`, so that no packet costs a scan over the
//! queues.

mod abm;
mod abm_by_length;
mod abm_on_dt;
mod complete_partitioning;
mod complete_sharing;
mod congestion;
mod dynamic_thresholds;
mod fba;
mod flexible_buffer;
mod flow_aware;
mod intelligent_buffer;
mod occamy;
mod pushout;
mod shares;

pub use abm::AbmConfig;
pub use abm_on_dt::AbmOnDtConfig;
pub use dynamic_thresholds::DynamicThresholdsConfig;
pub use fba::FbaConfig;
pub use flexible_buffer::{Classes, FlexibleBufferConfig};
pub use flow_aware::FlowAwareConfig;
pub use intelligent_buffer::{Accounting, IntelligentBufferConfig};
pub use occamy::OccamyConfig;

pub(crate) use complete_sharing::CompleteSharing;
pub(crate) use dynamic_thresholds::DynamicThresholds;

use crate::buffer::{Buffer, Queue};
use crate::config::{ConfigError, PerQueue, TmConfig, ValidConfig};
use crate::described::kinds;
use crate::packet::Packet;
use crate::schedule::Place;
use crate::units::{Duration, Instant};
use crate::verdict::{Reason, Threshold, Why};
use abm::Abm;
use abm_by_length::AbmByLength;
use abm_on_dt::AbmOnDt;
use complete_partitioning::CompletePartitioning;
use dynamic_thresholds::ReservedThresholds;
use fba::Fba;
use flexible_buffer::FlexibleBuffer;
use flow_aware::FlowAware;
use intelligent_buffer::IntelligentBuffer;
use occamy::{Candidate, Occamy};
use pushout::Pushout;

kinds! {
    /// Which policy, with its settings.
    #[derive(Clone, Debug, PartialEq)]
    pub enum PolicyConfig {
        /// Complete sharing: a packet is admitted while the buffer has room.
        "cs" => CompleteSharing,
        /// Complete partitioning: each queue has an equal part of its own.
        "cp" => CompletePartitioning,
        /// Dynamic thresholds (DT): a queue may hold alpha times the free buffer.
        /// `T = alpha*(B-Q)`, where `B` is the buffer and `Q` what is in it.
        "dt" => DynamicThresholds(DynamicThresholdsConfig),
        /// Flexible buffer (FB): thresholds by priority and by the number of active queues.
        /// `T = ((alpha/N)*g)*(B-Q)`: `N` are the non-empty queues of the group, `g` is the share of the port.
        "fb" => FlexibleBuffer(FlexibleBufferConfig),
        /// FB approximated by setting DT's alphas anew at every interval (FBA).
        /// Every interval: `alpha_i = (alpha/N)*g`, as FB has it.
        "fba" => Fba(FbaConfig),
        /// Active buffer management (ABM): thresholds by congested queues and drain rates.
        /// `T = ((alpha*(B-Q))/n)*m`: `n` are the congested queues of the number, `m` is the drain rate over that of the port, both measured every interval.
        "abm" => Abm(AbmConfig),
        /// ABM approximated by setting DT's alphas anew at every interval.
        /// Every interval: `alpha_i = (alpha/n)*m`, as ABM has it.
        "abm-dt" => AbmOnDt(AbmOnDtConfig),
        /// Flow-aware buffer (FAB): DT with a larger alpha for the first packets of a flow.
        /// `T = alpha_short*(B-Q)` for flows that have sent less than `threshold` without a silence longer than `window`.
        "fab" => FlowAware(FlowAwareConfig),
        /// Intelligent buffer (IB): DT, fair dropping of long flows, a queue for short ones.
        /// Its fair dropping is AFD's, by flow or by queue; the queue for short flows is used if it is set.
        "ib" => IntelligentBuffer(IntelligentBufferConfig),
        /// The longest queue gives way to whoever comes.
        /// A packet that does not fit displaces the tail of the longest queue.
        "pushout" => Pushout,
        /// DT that expels from over-allocated queues with spare memory bandwidth.
        /// Heads of queues above their threshold are expelled in turn, as tokens of unused memory bandwidth allow.
        "occamy" => Occamy(OccamyConfig),
    }
}

impl PolicyConfig {
    pub(crate) fn validate(&self, switch: &TmConfig) -> Result<(), ConfigError> {
        match self {
            Self::CompleteSharing | Self::CompletePartitioning | Self::Pushout => Ok(()),
            Self::DynamicThresholds(config) => config.validate(switch),
            Self::FlexibleBuffer(config) => config.validate(switch),
            Self::Fba(config) => config.validate(switch),
            Self::Abm(config) => config.validate(switch),
            Self::AbmOnDt(config) => config.validate(switch),
            Self::FlowAware(config) => config.validate(switch),
            Self::IntelligentBuffer(config) => config.validate(switch),
            Self::Occamy(config) => config.validate(switch),
        }
    }

    /// The factor of a queue number, for the policies that read it from the queue.
    pub(crate) fn alpha(&self, k: usize) -> f64 {
        match self {
            Self::DynamicThresholds(config) => config.alpha.at(k),
            Self::FlexibleBuffer(config) if config.classes == Classes::Queue => config.alpha.at(k),
            Self::Abm(config) => config.alpha.at(k),
            Self::FlowAware(config) => config.alpha.at(k),
            Self::IntelligentBuffer(config) => config.alpha.at(k),
            Self::Occamy(config) => config.alpha.at(k),
            // They have no alpha, or keep it themselves.
            Self::CompleteSharing
            | Self::CompletePartitioning
            | Self::FlexibleBuffer(_)
            | Self::Fba(_)
            | Self::AbmOnDt(_)
            | Self::Pushout => 0.0,
        }
    }

    /// How many classes of packets it can judge: FB with packet classes needs an alpha for each. `None` is any number.
    pub fn classes(&self) -> Option<usize> {
        match self {
            Self::FlexibleBuffer(FlexibleBufferConfig {
                classes: Classes::Packet,
                alpha: PerQueue::Each(alphas),
                ..
            }) => Some(alphas.len()),
            _ => None,
        }
    }

    /// Whether a packet of this class can be judged.
    pub fn knows_class(&self, class: u32) -> bool {
        self.classes().is_none_or(|classes| (class as usize) < classes)
    }
}

/// What a policy says of an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// Let it in.
    Admit,
    /// Keep it out.
    Reject(Reason),
    /// Push out the tail packet of this queue, then ask again.
    PushOut(usize),
}

impl Admission {
    /// The common rule of the threshold policies: `Q + len <= B` and `q_i + len <= T_i`.
    #[inline(always)]
    fn within(threshold: f64, remaining: u64, queue: &Queue, charge: u64) -> Self {
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
#[derive(Clone, Copy)]
pub(crate) struct Request<'a> {
    pub(crate) now: Instant,
    pub(crate) packet: &'a Packet,
    /// `port * K + number`.
    pub(crate) queue: usize,
    /// The queue number.
    pub(crate) number: usize,
    /// What it would be charged.
    pub(crate) charge: u64,
}

/// An integer as a double. Sizes are below 2^44, so the signed conversion, which is one instruction, is exact.
#[inline(always)]
pub(crate) fn real(bytes: u64) -> f64 {
    bytes as i64 as f64
}

/// What a buffer policy is to the switch. Only `admit` is needed; the rest is for policies that measure, change or expel.
pub(crate) trait Scheme {
    /// Whether [`Scheme::enqueued`], [`Scheme::dequeued`] and [`Scheme::passed`] do anything.
    const OBSERVES: bool = false;
    /// Whether it expels packets from their queues.
    const EXPELS: bool = false;
    /// Whether packets that it has admitted may be pushed out or expelled.
    const TAKES_BACK: bool = Self::EXPELS;
    /// Whether being asked about a packet changes anything, so that it must not be asked about one larger than the buffer.
    const COUNTS_ARRIVALS: bool = false;

    /// The queue number a packet is put in: its own, unless the policy moves it.
    #[inline(always)]
    fn classify(&mut self, _now: Instant, packet: &Packet) -> usize {
        packet.queue as usize
    }

    /// Step 3 of an arrival.
    fn admit(&mut self, request: Request<'_>, buffer: &Buffer, why: &mut impl Why) -> Admission;

    /// `q_i` has grown from `before` to `after`.
    #[inline(always)]
    fn enqueued(&mut self, _place: Place, _before: u64, _after: u64) {}

    /// `q_i` has shrunk from `before` to `after`, because a packet of `sent` bytes was picked, or one was pushed out or expelled
    /// (`sent` = 0).
    #[inline(always)]
    fn dequeued(&mut self, _place: Place, _before: u64, _after: u64, _sent: u32) {}

    /// A packet of `bytes` has joined an empty queue and been picked in the same instant.
    #[inline(always)]
    fn passed(&mut self, place: Place, bytes: u32) {
        self.enqueued(place, 0, u64::from(bytes));
        self.dequeued(place, u64::from(bytes), 0, bytes);
    }

    /// How often [`Scheme::update`] is due, if ever.
    fn interval(&self) -> Option<Duration> {
        None
    }

    /// The periodic update. Returns whether another one, with the buffer as it is, could change anything.
    fn update(&mut self, _buffer: &Buffer) -> bool {
        false
    }

    /// Makes `times` more updates at once, right after one, if it can tell beforehand what they come to. False if they have
    /// to be made one by one.
    fn repeat(&mut self, _buffer: &Buffer, _times: u64) -> bool {
        false
    }

    /// The threshold of a queue now, for an ordinary packet of class 0 of a flow not seen before; `None` where a policy has
    /// none.
    fn threshold_of(&self, place: Place, buffer: &Buffer) -> Option<Threshold>;

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

    /// The head of `queue`, of `bytes`, is expelled.
    fn expelled(&mut self, _now: Instant, _queue: usize, _bytes: u32) {}
}

/// For departures, what a policy that does not observe them is like.
pub(crate) struct Unobserved;

impl Scheme for Unobserved {
    fn admit(&mut self, _: Request<'_>, _: &Buffer, _: &mut impl Why) -> Admission {
        Admission::Reject(Reason::Full)
    }

    fn threshold_of(&self, _: Place, _: &Buffer) -> Option<Threshold> {
        None
    }
}

/// A policy at work. The representation keeps the tag a plain number, which is cheaper to branch on.
#[derive(Clone, Debug)]
#[repr(u8)]
pub(crate) enum Policy {
    CompleteSharing(CompleteSharing),
    CompletePartitioning(CompletePartitioning),
    DynamicThresholds(DynamicThresholds),
    ReservedThresholds(ReservedThresholds),
    FlexibleBuffer(FlexibleBuffer),
    Fba(Fba),
    Abm(Abm),
    AbmByLength(AbmByLength),
    AbmOnDt(AbmOnDt),
    FlowAware(FlowAware),
    IntelligentBuffer(IntelligentBuffer),
    Pushout(Pushout),
    Occamy(Occamy),
}

/// Runs code with a policy as what it is, rather than as one of many.
macro_rules! with_policy {
    ($policy:expr, $scheme:ident => $code:expr) => {
        match $policy {
            Policy::CompleteSharing($scheme) => $code,
            Policy::CompletePartitioning($scheme) => $code,
            Policy::DynamicThresholds($scheme) => $code,
            Policy::ReservedThresholds($scheme) => $code,
            Policy::FlexibleBuffer($scheme) => $code,
            Policy::Fba($scheme) => $code,
            Policy::Abm($scheme) => $code,
            Policy::AbmByLength($scheme) => $code,
            Policy::AbmOnDt($scheme) => $code,
            Policy::FlowAware($scheme) => $code,
            Policy::IntelligentBuffer($scheme) => $code,
            Policy::Pushout($scheme) => $code,
            Policy::Occamy($scheme) => $code,
        }
    };
}
pub(crate) use with_policy;

fn observes<P: Scheme>(_: &P) -> bool {
    P::OBSERVES
}

impl Policy {
    pub(crate) fn new(switch: &ValidConfig) -> Self {
        match &switch.policy {
            PolicyConfig::CompleteSharing => Self::CompleteSharing(CompleteSharing),
            PolicyConfig::CompletePartitioning => Self::CompletePartitioning(CompletePartitioning::new(switch)),
            PolicyConfig::DynamicThresholds(config) => match ReservedThresholds::new(config, switch) {
                Some(reserved) => Self::ReservedThresholds(reserved),
                None => Self::DynamicThresholds(DynamicThresholds),
            },
            PolicyConfig::FlexibleBuffer(config) => Self::FlexibleBuffer(FlexibleBuffer::new(config, switch)),
            PolicyConfig::Fba(config) => Self::Fba(Fba::new(config, switch)),
            PolicyConfig::Abm(config) => match config.congested_at {
                None => Self::Abm(Abm::new(config, switch)),
                Some(full) => Self::AbmByLength(AbmByLength::new(config, full, switch)),
            },
            PolicyConfig::AbmOnDt(config) => Self::AbmOnDt(AbmOnDt::new(config, switch)),
            PolicyConfig::FlowAware(config) => Self::FlowAware(FlowAware::new(config)),
            PolicyConfig::IntelligentBuffer(config) => Self::IntelligentBuffer(IntelligentBuffer::new(config, switch)),
            PolicyConfig::Pushout => Self::Pushout(Pushout::new(switch)),
            PolicyConfig::Occamy(config) => Self::Occamy(Occamy::new(config, switch)),
        }
    }

    /// Whether it observes packets that leave.
    pub(crate) fn observes(&self) -> bool {
        with_policy!(self, policy => observes(policy))
    }

    /// How often [`Policy::update`] is due, if ever.
    pub(crate) fn interval(&self) -> Option<Duration> {
        with_policy!(self, policy => policy.interval())
    }

    /// The periodic update; see [`Scheme::update`].
    pub(crate) fn update(&mut self, buffer: &Buffer) -> bool {
        with_policy!(self, policy => policy.update(buffer))
    }

    /// Several updates at once; see [`Scheme::repeat`].
    pub(crate) fn repeat(&mut self, buffer: &Buffer, times: u64) -> bool {
        with_policy!(self, policy => policy.repeat(buffer, times))
    }

    /// The threshold of a queue now; see [`Scheme::threshold_of`].
    pub(crate) fn threshold(&self, place: Place, buffer: &Buffer) -> Option<Threshold> {
        with_policy!(self, policy => policy.threshold_of(place, buffer))
    }

    /// Takes over what an earlier policy had learned, where it is of the same kind, and else starts from the buffer as
    /// it is.
    pub(crate) fn succeed(&mut self, earlier: &Self, now: Instant, buffer: &Buffer, queues: usize) {
        for queue in (0..buffer.queues.len()).filter(|queue| buffer.length(*queue) > 0) {
            let place = Place { port: queue / queues, queue };
            with_policy!(&mut *self, policy => policy.enqueued(place, 0, buffer.length(queue)));
        }
        match (self, earlier) {
            (Self::Fba(new), Self::Fba(old)) => new.inherit(old),
            (Self::Abm(new), Self::Abm(old)) => new.congestion.inherit(&old.congestion),
            (Self::Abm(new), Self::AbmByLength(old)) => new.congestion.inherit(&old.abm.congestion),
            (Self::AbmByLength(new), Self::Abm(old)) => new.abm.congestion.inherit(&old.congestion),
            (Self::AbmByLength(new), Self::AbmByLength(old)) => new.inherit(old),
            (Self::AbmOnDt(new), Self::AbmOnDt(old)) => new.inherit(old),
            (Self::FlowAware(new), Self::FlowAware(old)) => new.inherit(old),
            (Self::IntelligentBuffer(new), Self::IntelligentBuffer(old)) => new.inherit(old),
            (Self::Occamy(new), Self::Occamy(old)) => new.inherit(old, now),
            _ => {}
        }
    }
}
