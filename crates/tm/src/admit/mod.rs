//! Buffer policies: who gets the shared buffer. One file a scheme.
//!
//! A policy reads the buffer and returns an [`Admission`]; the switch alone applies it. It keeps what it needs up to date
//! through two hooks, [`Policy::enqueued`] and [`Policy::dequeued`], so that no packet costs a scan over the queues.

mod abm;
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

pub(crate) use occamy::Occamy;

use crate::buffer::Buffer;
use crate::config::{ConfigError, TmConfig, ValidConfig};
use crate::packet::Packet;
use crate::units::{Duration, Instant};
use crate::verdict::{Reason, Threshold, Why};
use abm::Abm;
use abm_on_dt::AbmOnDt;
use complete_partitioning::CompletePartitioning;
use dynamic_thresholds::DynamicThresholds;
use fba::Fba;
use flexible_buffer::FlexibleBuffer;
use flow_aware::FlowAware;
use intelligent_buffer::IntelligentBuffer;
use pushout::Pushout;

/// Which policy, with its settings.
#[derive(Clone, Debug, PartialEq)]
pub enum PolicyConfig {
    /// Everyone may fill the buffer.
    CompleteSharing,
    /// Every queue owns an equal part.
    CompletePartitioning,
    /// Dynamic thresholds (DT).
    DynamicThresholds(DynamicThresholdsConfig),
    /// Flexible buffer (FB).
    FlexibleBuffer(FlexibleBufferConfig),
    /// FB approximated by reconfiguring DT (FBA).
    Fba(FbaConfig),
    /// Active buffer management (ABM).
    Abm(AbmConfig),
    /// ABM approximated by reconfiguring DT.
    AbmOnDt(AbmOnDtConfig),
    /// Flow-aware buffer (FAB).
    FlowAware(FlowAwareConfig),
    /// Intelligent buffer: DT, fair dropping and a queue for short flows.
    IntelligentBuffer(IntelligentBufferConfig),
    /// The longest queue gives way.
    Pushout,
    /// DT that expels from over-allocated queues with spare memory bandwidth.
    Occamy(OccamyConfig),
}

impl PolicyConfig {
    /// The policies' names in files.
    pub const NAMES: [&'static str; 11] =
        ["cs", "cp", "dt", "fb", "fba", "abm", "abm-dt", "fab", "ib", "pushout", "occamy"];

    /// A policy by its name in files, with the defaults of its config type.
    pub fn by_name(name: &str) -> Option<Self> {
        Some(match name {
            "cs" => Self::CompleteSharing,
            "cp" => Self::CompletePartitioning,
            "dt" => Self::DynamicThresholds(DynamicThresholdsConfig::default()),
            "fb" => Self::FlexibleBuffer(FlexibleBufferConfig::default()),
            "fba" => Self::Fba(FbaConfig::default()),
            "abm" => Self::Abm(AbmConfig::default()),
            "abm-dt" => Self::AbmOnDt(AbmOnDtConfig::default()),
            "fab" => Self::FlowAware(FlowAwareConfig::default()),
            "ib" => Self::IntelligentBuffer(IntelligentBufferConfig::default()),
            "pushout" => Self::Pushout,
            "occamy" => Self::Occamy(OccamyConfig::default()),
            _ => return None,
        })
    }

    /// Its name in files.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::CompleteSharing => "cs",
            Self::CompletePartitioning => "cp",
            Self::DynamicThresholds(_) => "dt",
            Self::FlexibleBuffer(_) => "fb",
            Self::Fba(_) => "fba",
            Self::Abm(_) => "abm",
            Self::AbmOnDt(_) => "abm-dt",
            Self::FlowAware(_) => "fab",
            Self::IntelligentBuffer(_) => "ib",
            Self::Pushout => "pushout",
            Self::Occamy(_) => "occamy",
        }
    }

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

    /// Whether a packet of this class can be judged: FB with packet classes needs an alpha for each.
    pub fn knows_class(&self, class: u32) -> bool {
        match self {
            Self::FlexibleBuffer(config) if config.classes == Classes::Packet => {
                config.alpha.get(class as usize).is_some()
            }
            _ => true,
        }
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
    #[inline]
    fn within(threshold: f64, buffer: &Buffer, queue: usize, charge: u64) -> Self {
        if charge > buffer.remaining() {
            Self::Reject(Reason::Full)
        } else if real(buffer.length(queue) + charge) <= threshold {
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
    /// `port * K + queue`.
    pub(crate) queue: usize,
    /// What it would be charged.
    pub(crate) charge: u64,
}

/// An integer as a double. Sizes are below 2^44, so the signed conversion, which is one instruction, is exact.
#[inline(always)]
pub(crate) fn real(bytes: u64) -> f64 {
    bytes as i64 as f64
}

/// A policy at work.
#[derive(Clone, Debug)]
pub(crate) enum Policy {
    CompleteSharing,
    CompletePartitioning(CompletePartitioning),
    DynamicThresholds(DynamicThresholds),
    FlexibleBuffer(FlexibleBuffer),
    Fba(Fba),
    Abm(Abm),
    AbmOnDt(AbmOnDt),
    FlowAware(FlowAware),
    IntelligentBuffer(IntelligentBuffer),
    Pushout(Pushout),
    Occamy(Occamy),
}

impl Policy {
    pub(crate) fn new(switch: &ValidConfig) -> Self {
        match &switch.policy {
            PolicyConfig::CompleteSharing => Self::CompleteSharing,
            PolicyConfig::CompletePartitioning => Self::CompletePartitioning(CompletePartitioning::new(switch)),
            PolicyConfig::DynamicThresholds(config) => Self::DynamicThresholds(DynamicThresholds::new(config, switch)),
            PolicyConfig::FlexibleBuffer(config) => Self::FlexibleBuffer(FlexibleBuffer::new(config, switch)),
            PolicyConfig::Fba(config) => Self::Fba(Fba::new(config, switch)),
            PolicyConfig::Abm(config) => Self::Abm(Abm::new(config, switch)),
            PolicyConfig::AbmOnDt(config) => Self::AbmOnDt(AbmOnDt::new(config, switch)),
            PolicyConfig::FlowAware(config) => Self::FlowAware(FlowAware::new(config, switch)),
            PolicyConfig::IntelligentBuffer(config) => Self::IntelligentBuffer(IntelligentBuffer::new(config, switch)),
            PolicyConfig::Pushout => Self::Pushout(Pushout::new(switch)),
            PolicyConfig::Occamy(config) => Self::Occamy(Occamy::new(config, switch)),
        }
    }

    /// The queue number a packet is put in, which is its own unless the policy moves it.
    #[inline]
    pub(crate) fn classify(&mut self, now: Instant, packet: &Packet) -> usize {
        match self {
            Self::IntelligentBuffer(policy) => policy.classify(now, packet),
            _ => packet.queue as usize,
        }
    }

    /// Step 3 of an arrival.
    #[inline]
    pub(crate) fn admit(&mut self, request: Request<'_>, buffer: &Buffer, why: &mut impl Why) -> Admission {
        match self {
            Self::CompleteSharing => complete_sharing::admit(request, buffer),
            Self::CompletePartitioning(policy) => policy.admit(request, buffer, why),
            Self::DynamicThresholds(policy) => policy.admit(request, buffer, why),
            Self::FlexibleBuffer(policy) => policy.admit(request, buffer, why),
            Self::Fba(policy) => policy.admit(request, buffer, why),
            Self::Abm(policy) => policy.admit(request, buffer, why),
            Self::AbmOnDt(policy) => policy.admit(request, buffer, why),
            Self::FlowAware(policy) => policy.admit(request, buffer, why),
            Self::IntelligentBuffer(policy) => policy.admit(request, buffer, why),
            Self::Pushout(policy) => policy.admit(request, buffer),
            Self::Occamy(policy) => policy.admit(request, buffer, why),
        }
    }

    /// `q_i` has grown from `before`.
    #[inline]
    pub(crate) fn enqueued(&mut self, queue: usize, port: usize, before: u64, buffer: &Buffer) {
        match self {
            Self::DynamicThresholds(policy) => policy.changed(before, buffer.length(queue)),
            Self::FlexibleBuffer(policy) => policy.shares.enqueued(queue, port, before),
            Self::Fba(policy) => policy.shares.enqueued(queue, port, before),
            Self::Pushout(policy) => policy.changed(queue, buffer),
            Self::Occamy(policy) => policy.changed(queue, buffer),
            Self::CompleteSharing
            | Self::CompletePartitioning(_)
            | Self::Abm(_)
            | Self::AbmOnDt(_)
            | Self::FlowAware(_)
            | Self::IntelligentBuffer(_) => {}
        }
    }

    /// `q_i` has shrunk from `before`, because a packet of `sent` bytes was picked, or one was pushed out or expelled
    /// (`sent` = 0).
    #[inline]
    pub(crate) fn dequeued(&mut self, queue: usize, port: usize, before: u64, buffer: &Buffer, sent: u32) {
        match self {
            Self::DynamicThresholds(policy) => policy.changed(before, buffer.length(queue)),
            Self::FlexibleBuffer(policy) => policy.shares.dequeued(queue, port, buffer.length(queue)),
            Self::Fba(policy) => policy.shares.dequeued(queue, port, buffer.length(queue)),
            Self::Abm(policy) => policy.congestion.sent(queue, sent),
            Self::AbmOnDt(policy) => policy.congestion.sent(queue, sent),
            Self::Pushout(policy) => policy.changed(queue, buffer),
            Self::Occamy(policy) => policy.changed(queue, buffer),
            Self::CompleteSharing | Self::CompletePartitioning(_) | Self::FlowAware(_) | Self::IntelligentBuffer(_) => {
            }
        }
    }

    /// How often [`Policy::update`] is due, if ever.
    pub(crate) fn interval(&self) -> Option<Duration> {
        match self {
            Self::Fba(policy) => Some(policy.interval()),
            Self::Abm(policy) => Some(policy.congestion.interval()),
            Self::AbmOnDt(policy) => Some(policy.congestion.interval()),
            Self::IntelligentBuffer(policy) => Some(policy.interval()),
            _ => None,
        }
    }

    /// The periodic update. Returns whether another one, with the buffer as it is, could change anything.
    pub(crate) fn update(&mut self, buffer: &Buffer) -> bool {
        match self {
            Self::Fba(policy) => policy.update(buffer),
            Self::Abm(policy) => policy.update(buffer),
            Self::AbmOnDt(policy) => policy.update(buffer),
            Self::IntelligentBuffer(policy) => policy.update(buffer),
            _ => false,
        }
    }

    /// The threshold of a queue now, for an ordinary packet of class 0 of a flow not seen before; `None` where a
    /// policy has none.
    pub(crate) fn threshold(&self, queue: usize, port: usize, buffer: &Buffer) -> Option<Threshold> {
        Some(match self {
            Self::CompleteSharing | Self::Pushout(_) => return None,
            Self::CompletePartitioning(policy) => policy.threshold(),
            Self::DynamicThresholds(policy) => policy.threshold(queue, buffer),
            Self::FlexibleBuffer(policy) => policy.threshold(queue, port, 0, buffer),
            Self::Fba(policy) => policy.threshold(queue, port, buffer),
            Self::Abm(policy) => policy.threshold(queue, false, buffer),
            Self::AbmOnDt(policy) => policy.threshold(queue, buffer),
            Self::FlowAware(policy) => policy.threshold(queue, None, buffer),
            Self::IntelligentBuffer(policy) => policy.threshold(queue, buffer),
            Self::Occamy(policy) => policy.threshold(queue, buffer),
        })
    }

    /// Takes over what an earlier policy had learned, where it is of the same kind, and else starts from the buffer as
    /// it is.
    pub(crate) fn succeed(&mut self, earlier: &Self, buffer: &Buffer, queues: usize) {
        for queue in 0..buffer.queues.len() {
            if buffer.length(queue) > 0 {
                self.enqueued(queue, queue / queues, 0, buffer);
            }
        }
        match (self, earlier) {
            (Self::Abm(new), Self::Abm(old)) => new.congestion.inherit(&old.congestion),
            (Self::AbmOnDt(new), Self::AbmOnDt(old)) => new.inherit(old),
            (Self::FlowAware(new), Self::FlowAware(old)) => new.inherit(old),
            (Self::IntelligentBuffer(new), Self::IntelligentBuffer(old)) => new.inherit(old),
            (Self::Occamy(new), Self::Occamy(old)) => new.inherit(old),
            _ => {}
        }
    }
}
