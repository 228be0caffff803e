//! Buffer policies: who gets the shared buffer. One file a scheme.
//!
//! A policy is a [`BufferPolicy`]: it reads the buffer and returns an [`Admission`]; the switch alone applies it. Its
//! settings are a config type that implements [`PolicySettings`]. `policies!` below lists all of them: a new one is a
//! file and its lines there. A policy of another crate is a [`CustomPolicy`].

mod abm;
mod abm_by_length;
mod abm_on_dt;
mod complete_partitioning;
mod complete_sharing;
mod congestion;
mod custom;
mod dispatch;
mod dynamic_thresholds;
mod enhanced_thresholds;
mod fba;
mod flexible_buffer;
mod flow_aware;
mod intelligent_buffer;
mod occamy;
mod policy;
mod pools;
mod pushout;
mod reverie;
mod shares;
mod traffic_aware;

pub use crate::buffer::Buffer;
pub use dispatch::{Dispatch, ForPolicy};
pub use flexible_buffer::Classes;
pub use intelligent_buffer::Accounting;
pub use policy::{ActivePolicy, Admission, Arrival, BufferPolicy, Candidate, CustomPolicy, PolicySettings, QueueId};

pub(crate) use policy::real;

use crate::config::{ConfigError, TmConfig};
use crate::described::kinds;
use crate::switch::Tm;
use crate::verdict::{Explain, Reason, Threshold};
use alloc::vec::Vec;
use custom::AnyPolicy;

/// Where the code of a policy is.
pub(crate) trait Placement {
    /// It is called. If not, it stands in the loops over packets.
    const CALLED: bool;
}

/// What is called through a pointer is called.
impl Placement for AnyPolicy {
    const CALLED: bool = true;
}

/// Makes [`PolicyConfig`], the choice of a policy, and [`Policy`], a policy at work. A row has a sentence, the rule
/// where one is needed, the name in files, the module, the policy with its config type, and the other policies that
/// these settings may start. The code of a policy stands in the loops over packets, unless its row ends in `called`:
/// each one that stands there takes registers from the others.
macro_rules! policies {
    (
        ($d:tt)
        $($(#[doc = $about:literal])+
        $word:literal => $module:ident::$policy:ident($config:ident) $(or $other:ident)* $(, $called:ident)?;)*
    ) => {
        $(pub use $module::$config;
        pub(crate) use $module::{$policy, $($other),*};)*

        kinds! {
            /// Which policy, with its settings.
            #[derive(Clone, Debug, PartialEq)]
            pub enum PolicyConfig {
                $($(#[doc = $about])+ $word => $policy($config),)*
            }
            custom CustomPolicy
        }

        impl PolicyConfig {
            fn as_settings(&self) -> &dyn PolicySettings {
                match self {
                    $(Self::$policy(config) => config,)*
                    Self::Custom(custom) => custom.role(),
                }
            }
        }

        /// A policy at work. The representation keeps the tag a plain number, which is cheaper to branch on.
        #[derive(Clone, Debug)]
        #[repr(u8)]
        pub(crate) enum Policy {
            $($policy($policy), $($other($other),)*)*
            Custom(AnyPolicy),
        }

        $(policies!(@active ($($called)?) $policy $($other)*);)*

        /// Runs code with a policy as what it is, rather than as one of many.
        macro_rules! with_policy {
            ($d policy:expr, $d scheme:ident => $d code:expr) => {
                match $d policy {
                    $(Policy::$policy($d scheme) => $d code, $(Policy::$other($d scheme) => $d code,)*)*
                    Policy::Custom($d scheme) => $d code,
                }
            };
        }
        pub(crate) use with_policy;

        /// Makes something of traffic managers whose policies are of one type, such as a loop over packets that is
        /// compiled for that type. What they decide is the same. They cannot be reconfigured.
        pub fn specialize<F: ForPolicy>(tms: Vec<Tm>, maker: F) -> F::Made {
            $(policies!(@special tms maker $policy $($other)*);)*
            // Policies of other crates, or of several kinds.
            let erase = |tm: Tm| {
                tm.map_policy(|policy| match policy {
                    Policy::Custom(policy) => policy,
                    policy => with_policy!(policy, policy => AnyPolicy::new(policy)),
                })
            };
            maker.make(tms.into_iter().map(erase).collect())
        }
    };
    (@special $tms:ident $maker:ident $($policy:ident)+) => {
        $(if $tms.iter().all(|tm| tm.has_policy(|policy| matches!(policy, Policy::$policy(_)))) {
            let narrow = |tm: Tm| {
                tm.map_policy(|policy| match policy {
                    Policy::$policy(policy) => policy,
                    _ => unreachable!("all are of this kind"),
                })
            };
            return $maker.make($tms.into_iter().map(narrow).collect());
        })+
    };
    (@active $called:tt $($policy:ident)+) => {
        $(impl From<$policy> for ActivePolicy {
            fn from(policy: $policy) -> Self {
                Self(Policy::$policy(policy))
            }
        }

        impl Placement for $policy {
            const CALLED: bool = policies!(@is $called);
        })+
    };
    (@is ()) => { false };
    (@is (called)) => { true };
}

policies! {
    ($)
    /// Complete sharing: a packet is admitted while the buffer has room.
    "cs" => complete_sharing::CompleteSharing(CompleteSharingConfig);
    /// Complete partitioning: each queue has an equal, fixed share.
    "cp" => complete_partitioning::CompletePartitioning(CompletePartitioningConfig), called;
    /// Dynamic thresholds (DT): a queue may hold alpha times the free buffer.
    /// `T = alpha*(B-Q)`, where `B` is the size of the buffer and `Q` its occupancy.
    "dt" => dynamic_thresholds::DynamicThresholds(DynamicThresholdsConfig) or ReservedThresholds;
    /// Enhanced dynamic thresholds (EDT): DT that lets a burst through for a bounded time.
    /// `T = max(alpha*(B-Q), B/n)` for a queue that was empty less than `burst_time` ago, where `n` is the number of
    /// such queues; else `T = alpha*(B-Q)`.
    "edt" => enhanced_thresholds::EnhancedThresholds(EnhancedThresholdsConfig), called;
    /// Traffic-aware thresholds (TDT): DT with more for bursts and less for congested queues.
    /// `T = a*(B-Q)`: `a` is `alpha_absorb` for a queue that grows by `burst` within `window`, `alpha_evacuate` for one
    /// that has not been empty for `evacuate_after`, else `alpha`.
    "tdt" => traffic_aware::TrafficAware(TrafficAwareConfig), called;
    /// Flexible buffer (FB): thresholds by priority and by the number of active queues.
    /// `T = ((alpha/N)*g)*(B-Q)`: `N` is the number of non-empty queues of the group, `g` the queue's share of its
    /// port.
    "fb" => flexible_buffer::FlexibleBuffer(FlexibleBufferConfig);
    /// FB on DT (FBA): sets DT's alphas to those of FB once per interval.
    /// `alpha_i = (alpha/N)*g` with FB's `N` and `g`, once per interval.
    "fba" => fba::Fba(FbaConfig), called;
    /// Active buffer management (ABM): thresholds by congested queues and drain rates.
    /// `T = ((alpha*(B-Q))/n)*m`: `n` is the number of congested queues with the same queue number, `m` the drain rate
    /// divided by the rate of the port; both are measured once per interval.
    "abm" => abm::Abm(AbmConfig) or AbmByLength;
    /// ABM on DT: sets DT's alphas to those of ABM once per interval.
    /// `alpha_i = (alpha/n)*m` with ABM's `n` and `m`, once per interval.
    "abm-dt" => abm_on_dt::AbmOnDt(AbmOnDtConfig), called;
    /// Flow-aware buffer (FAB): DT with a larger alpha for the first packets of a flow.
    /// `T = alpha_short*(B-Q)` for flows that have sent less than `threshold` since their last pause longer than
    /// `window`.
    "fab" => flow_aware::FlowAware(FlowAwareConfig);
    /// Intelligent buffer (IB): DT, fair dropping of long flows, a queue for short ones.
    /// Fair dropping is AFD, per flow or per queue. Short flows have a queue of their own if `short_queue` is set.
    "ib" => intelligent_buffer::IntelligentBuffer(IntelligentBufferConfig), called;
    /// Pools of queues with minimums, as switch chips and SONiC have them.
    /// What a queue has beyond its minimum is at most `limit` and, with the packet in it, `alpha*free`, where `free` is
    /// what is left of its pool; `fixed`: the limit alone.
    "pools" => pools::Pools(PoolsConfig), called;
    /// Reverie: one buffer for lossy queues and lossless groups, by filtered lengths.
    /// `T = alpha*free`, where `free` is what is left of the pool of the packet's group (of the buffer without an
    /// ingress
    /// side). It is met by a low-pass filter of the queue's length. Lossless queues have no `T`; their groups have
    /// (`filter`).
    "reverie" => reverie::Reverie(ReverieConfig), called;
    /// Pushout: the longest queue makes room for an arriving packet.
    /// A packet that does not fit displaces the tail of the longest queue.
    "pushout" => pushout::Pushout(PushoutConfig);
    /// DT that expels from over-allocated queues with spare memory bandwidth.
    /// Heads of queues above their threshold are expelled in turn, as tokens of unused memory bandwidth allow.
    "occamy" => occamy::Occamy(OccamyConfig);
}

impl PolicyConfig {
    pub(crate) fn validate(&self, switch: &TmConfig) -> Result<(), ConfigError> {
        self.as_settings().validate(switch)
    }

    /// The factor of a queue number, for the policies that read it from the queue.
    pub(crate) fn alpha(&self, number: usize) -> f64 {
        self.as_settings().alpha(number)
    }

    /// How many classes of packets it can judge: FB with packet classes needs an alpha for each. `None` is any number.
    pub fn classes(&self) -> Option<usize> {
        self.as_settings().classes()
    }

    /// Whether a packet of this class can be judged.
    pub fn knows_class(&self, class: u32) -> bool {
        self.classes().is_none_or(|classes| (class as usize) < classes)
    }
}

/// For departures, what a policy that does not observe them is like.
#[derive(Clone, Debug)]
pub(crate) struct Unobserved;

impl BufferPolicy for Unobserved {
    fn admit(&mut self, _: Arrival<'_>, _: &Buffer, _: &mut impl Explain) -> Admission {
        Admission::Reject(Reason::Full)
    }

    fn threshold_of(&self, _: QueueId, _: &Buffer) -> Option<Threshold> {
        None
    }
}
