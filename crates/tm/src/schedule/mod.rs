//! Schedulers: who leaves next. One file a scheme.
//!
//! FIFO, the round robins and strict priority choose a queue and take its head. PIFO, SP-PIFO, PIEO, AFQ and PACKS keep
//! the packets of a port's only queue in an order of their own. AIFO and RIFO are a FIFO queue with an admission test.
//!
//! A scheduler is a [`Discipline`], its settings are a config type that implements [`SchedulerSettings`]. `schedulers!`
//! below lists all of them: a new one is a file and its lines there. One of another crate is a [`CustomScheduler`].

mod afq;
mod aifo;
mod custom;
mod discipline;
mod drr;
mod fifo;
mod lanes;
mod packs;
mod pieo;
mod pifo;
mod rifo;
mod round_robin;
mod sp_pifo;
mod strict;
mod wrr;

pub use crate::buffer::{Descriptors, List, Slot};
pub use discipline::{ActiveScheduler, CustomScheduler, Discipline, Join, SchedulerSettings, Service, Turn};
pub use lanes::Lanes;
pub use round_robin::Cursor;

use crate::admit::QueueId;
use crate::buffer::{Buffer, Taken};
use crate::config::{ConfigError, PerQueue, TmConfig, ValidConfig};
use crate::described::kinds;
use crate::packet::Packet;
use crate::units::Instant;
use crate::verdict::Explain;
use alloc::format;
use alloc::vec::Vec;
use custom::AnyScheduler;

/// Makes [`SchedulerConfig`], the choice of a scheduler, and [`Scheduler`], a scheduler at work. A row has a sentence,
/// the rule where one is needed, the name in files, the module, the variant with its config type, and the type of the
/// scheduler. One without settings is its own config type.
macro_rules! schedulers {
    (
        ($d:tt)
        $($(#[doc = $about:literal])+ $word:literal => $module:ident::$variant:ident $(($config:ident))?: $type:ident;)*
    ) => {
        $($(pub use $module::$config;)?)*

        kinds! {
            /// Which scheduler, with its settings.
            #[derive(Clone, Debug, PartialEq)]
            pub enum SchedulerConfig {
                $($(#[doc = $about])+ $word => $variant $(($config))?,)*
            }
            custom CustomScheduler
        }

        impl SchedulerConfig {
            fn as_settings(&self) -> &dyn SchedulerSettings {
                match self {
                    $(schedulers!(@pattern $variant config $($config)?) => {
                        schedulers!(@settings config $module::$type $($config)?)
                    })*
                    Self::Custom(custom) => custom.role(),
                }
            }
        }

        /// A scheduler at work, for all ports. The representation keeps the tag a plain number, which is cheaper to
        /// branch on.
        #[derive(Clone, Debug)]
        #[repr(u8)]
        pub(crate) enum Scheduler {
            $($variant($module::$type),)*
            Custom(AnyScheduler),
        }

        /// Runs code with a scheduler as what it is, rather than as one of many.
        macro_rules! with_scheduler {
            ($d scheduler:expr, $d one:ident => $d code:expr) => {
                match $d scheduler {
                    $(Scheduler::$variant($d one) => $d code,)*
                    Scheduler::Custom($d one) => $d code,
                }
            };
        }

        impl Scheduler {
            /// Takes over where an earlier scheduler was, if it is of the same kind. The caller has made sure that
            /// packets are
            /// kept in the same way.
            pub(crate) fn inherit(&mut self, earlier: &Self) {
                match (self, earlier) {
                    $((Self::$variant(new), Self::$variant(old)) => new.inherit(old),)*
                    (Self::Custom(new), Self::Custom(old)) => new.inherit(old),
                    _ => {}
                }
            }
        }
    };
    (@pattern $variant:ident $config:ident) => { Self::$variant };
    (@pattern $variant:ident $config:ident $type:ident) => { Self::$variant($config) };
    (@settings $config:ident $module:ident::$scheduler:ident) => { &$module::$scheduler };
    (@settings $config:ident $module:ident::$scheduler:ident $type:ident) => { $config };
}

schedulers! {
    ($)
    /// One queue, first in first out.
    "fifo" => fifo::Fifo: Fifo;
    /// Round robin: a packet of each queue in turn.
    "rr" => round_robin::RoundRobin: RoundRobin;
    /// Weighted round robin: up to a weight's number of packets of each queue in turn.
    "wrr" => wrr::WeightedRoundRobin(WrrConfig): Wrr;
    /// Deficit round robin: bytes of each queue in turn, by weight.
    "drr" => drr::DeficitRoundRobin(DrrConfig): Drr;
    /// Strict priority: the lowest queue number first.
    "strict" => strict::Strict: Strict;
    /// Groups of queues in strict order, deficit round robin within each.
    "strict-drr" => drr::StrictOverDrr(StrictOverDrrConfig): Drr;
    /// Sorted by rank.
    "pifo" => pifo::Pifo(PifoConfig): Pifo;
    /// Strict-priority queues whose bounds follow the ranks.
    "sp-pifo" => sp_pifo::SpPifo(SpPifoConfig): SpPifo;
    /// Sorted by rank among those that are eligible.
    /// A packet is eligible once its `eligible_ps` has come.
    "pieo" => pieo::Pieo(PieoConfig): Pieo;
    /// One FIFO that admits by rank.
    /// A packet is admitted if the quantile of its rank in the window is at most `(1/(1-k)) * (C-c)/C`, where `c`
    /// packets wait.
    "aifo" => aifo::Aifo(AifoConfig): Aifo;
    /// One FIFO that admits by the range of ranks.
    /// A packet is admitted if `(rank-min)/(max-min)` is at most `(1/(1-k)) * (C-c)/C`, where `c` packets wait, and
    /// `min` and `max` are those of the window.
    "rifo" => rifo::Rifo(RifoConfig): Rifo;
    /// Strict-priority queues, admitted to and assigned by the quantile of the rank.
    /// A packet joins the first queue with room for which the quantile of its rank in the window is at most `(1/(1-k))
    /// * F/C`, where `F` of `C` places are free in the queues up to it.
    "packs" => packs::Packs(PacksConfig): Packs;
    /// A calendar of FIFO queues: approximate fair queueing.
    /// A packet bids `max(last bid of its flow, round*bytes_per_round) + bytes`, leaves in round `bid/bytes_per_round`,
    /// and is dropped if that is `queues` or more rounds ahead.
    "afq" => afq::Afq(AfqConfig): Afq;
}

impl SchedulerConfig {
    /// Whether the rank of a packet matters.
    pub fn uses_ranks(&self) -> bool {
        self.as_settings().uses_ranks()
    }

    /// Whether packets wait in the order of their arrival in every queue.
    pub fn keeps_order(&self) -> bool {
        self.service() != Service::OwnOrder
    }

    /// Whether a port may have more than one queue.
    pub fn serves_several_queues(&self) -> bool {
        matches!(self.service(), Service::RoundRobin | Service::Strict | Service::Weighted)
    }

    /// How many packets or bytes queue `number` gets for one of a queue of weight 1.
    pub fn weight(&self, number: usize) -> u32 {
        self.as_settings().weight(number)
    }

    pub(crate) fn service(&self) -> Service {
        self.as_settings().service()
    }

    pub(crate) fn validate(&self, switch: &TmConfig) -> Result<(), ConfigError> {
        if !self.serves_several_queues() && switch.queues != 1 {
            return Err(ConfigError::new(
                "queues",
                switch.queues,
                format!("{} serves one queue per port", self.name()),
            )
            .remedy("set queues = 1, or use rr, wrr, drr, strict or strict-drr"));
        }
        if !self.keeps_order() && matches!(switch.trim, Some(crate::trim::TrimConfig::CutPayload(_))) {
            return Err(ConfigError::new(
                "trim.kind",
                "cut-payload",
                format!("{} does not keep packets in order", self.name()),
            )
            .remedy("use it with fifo, aifo, rr, wrr, drr or strict, or trim with kind = \"ndp\""));
        }
        self.as_settings().validate(switch)
    }

    /// Whether the packets that wait can stay where they are when these settings take over from earlier ones.
    pub(crate) fn keeps_packets_of(&self, earlier: &Self) -> bool {
        let layout = self.as_settings().layout();
        let agree = self.keeps_order() || (layout.is_some() && layout == earlier.as_settings().layout());
        self.name() == earlier.name() && self.service() == earlier.service() && agree
    }
}

fn check_weights(weights: &PerQueue<u32>, queues: usize) -> Result<(), ConfigError> {
    weights.check_len("scheduler.weights", queues)?;
    if weights.values().contains(&0) {
        return Err(ConfigError::new("scheduler.weights", 0, "a queue without weight is never served")
            .remedy("give weights of 1 or more"));
    }
    Ok(())
}

/// Largest number of packets or ranks that a scheduler keeps room for.
const MAX_CAPACITY: usize = 1 << 24;

fn check_capacity(field: &'static str, capacity: usize) -> Result<(), ConfigError> {
    if (1..=MAX_CAPACITY).contains(&capacity) {
        return Ok(());
    }
    Err(ConfigError::new(field, capacity, "it is out of range").remedy(format!("give 1 to {MAX_CAPACITY}")))
}

/// The first of the `nonempty` queues after number `k`, cyclically; `k` itself comes last.
#[inline]
fn next_after(k: u32, nonempty: u64) -> u32 {
    let later = nonempty & (!1 << k);
    if later != 0 { later.trailing_zeros() } else { nonempty.trailing_zeros() }
}

impl Scheduler {
    pub(crate) fn new(switch: &ValidConfig) -> Self {
        switch.scheduler.as_settings().start(switch).0
    }

    /// Step 2 of an arrival: the admission test of a FIFO queue sees the packet and may reject it.
    #[inline(never)]
    pub(crate) fn admits(&mut self, port: usize, rank: u64, packets: u32, why: &mut impl Explain) -> bool {
        with_scheduler!(self, one => one.admits(port, rank, packets, why))
    }

    /// [`Scheduler::admits`] on the fast path, where the test is AIFO's if there is one.
    #[inline(always)]
    pub(crate) fn aifo_admits(&mut self, port: usize, rank: u64, packets: u32, why: &mut impl Explain) -> bool {
        match self {
            Self::Aifo(aifo) => aifo.admits(port, rank, packets, why),
            _ => true,
        }
    }

    /// Step 5 of an arrival: may the packet join?
    #[inline]
    pub(crate) fn join(&mut self, packet: &Packet, rank: u64) -> Join {
        with_scheduler!(self, one => one.join(packet, rank))
    }

    /// A packet joins the order that the scheduler keeps.
    pub(crate) fn insert(&mut self, packet: &Packet, slot: Slot, lane: u32, slots: &mut Descriptors) {
        with_scheduler!(self, one => one.insert(packet, slot, lane, slots));
    }

    /// The queue number that a port serves next.
    #[inline(always)]
    pub(crate) fn choose(&mut self, turn: Turn<'_>) -> usize {
        match self {
            Self::RoundRobin(one) => one.choose(turn),
            Self::Strict(one) => one.choose(turn),
            other => other.choose_otherwise(turn),
        }
    }

    #[inline(never)]
    fn choose_otherwise(&mut self, turn: Turn<'_>) -> usize {
        with_scheduler!(self, one => one.choose(turn))
    }

    /// Takes the next packet of a queue whose order the scheduler keeps, if it may leave.
    pub(crate) fn take_next(&mut self, now: Instant, port: usize, slots: &mut Descriptors) -> Option<Slot> {
        with_scheduler!(self, one => one.take_next(now, port, slots))
    }

    /// The packet that would be picked first of a queue.
    pub(crate) fn head(&self, queue: QueueId, sorted: bool, buffer: &Buffer) -> Option<Slot> {
        if sorted { with_scheduler!(self, one => one.head(queue.port)) } else { buffer.queues[queue.index].head() }
    }

    /// Takes the packet that would be picked first of a queue, which is not empty, out of the buffer.
    pub(crate) fn take_head(&mut self, queue: QueueId, sorted: bool, buffer: &mut Buffer) -> Taken {
        if !sorted {
            return buffer.pop_head::<false>(queue.index);
        }
        let slot = with_scheduler!(self, one => one.take_head(queue.port, &mut buffer.slots));
        buffer.release(queue.index, slot.expect("the queue is not empty"))
    }

    /// Takes the packet that would be picked last of a queue, which is not empty, out of the buffer.
    pub(crate) fn take_tail(&mut self, queue: QueueId, sorted: bool, buffer: &mut Buffer) -> Taken {
        if !sorted {
            return buffer.pop_tail(queue.index);
        }
        let slot = with_scheduler!(self, one => one.take_tail(queue.port, &mut buffer.slots));
        buffer.release(queue.index, slot.expect("the queue is not empty"))
    }

    /// A push-out or an expulsion has emptied queue number `k` of a port.
    pub(crate) fn emptied(&mut self, port: usize, k: usize) {
        with_scheduler!(self, one => one.emptied(port, k));
    }

    /// When a port that has packets but may not send any yet can send again.
    pub(crate) fn next_eligible(&self, port: usize) -> Option<Instant> {
        with_scheduler!(self, one => one.next_eligible(port))
    }

    /// The packets of a queue, first to last, for checks.
    pub(crate) fn waiting(&self, queue: QueueId, sorted: bool, buffer: &Buffer) -> Vec<Slot> {
        if sorted {
            with_scheduler!(self, one => one.waiting(queue.port, &buffer.slots))
        } else {
            buffer.in_order(queue.index).collect()
        }
    }
}
