//! Schedulers: who leaves next. One file a scheme.
//!
//! FIFO, the round robins and strict priority choose a queue and take its head. PIFO, SP-PIFO, PIEO and AFQ keep the
//! packets of a port's only queue in an order of their own. AIFO is a FIFO queue with an admission test.

mod afq;
mod aifo;
mod drr;
mod pieo;
mod pifo;
mod round_robin;
mod sp_pifo;
mod strict;
mod wrr;

pub use afq::AfqConfig;
pub use aifo::AifoConfig;
pub use drr::{DrrConfig, StrictOverDrrConfig};
pub use pieo::PieoConfig;
pub use pifo::PifoConfig;
pub use sp_pifo::SpPifoConfig;
pub use wrr::WrrConfig;

pub(crate) use round_robin::Cursor;

use crate::admit::QueueId;
use crate::buffer::{Buffer, List, Slot, Taken};
use crate::config::{ConfigError, PerQueue, TmConfig, ValidConfig};
use crate::described::kinds;
use crate::packet::Packet;
use crate::units::Instant;
use crate::verdict::Explain;
use afq::Afq;
use aifo::Aifo;
use alloc::format;
use alloc::vec::Vec;
use drr::Drr;
use pieo::Pieo;
use pifo::Pifo;
use sp_pifo::SpPifo;
use wrr::Wrr;

kinds! {
    /// Which scheduler, with its settings.
    #[derive(Clone, Debug, PartialEq)]
    pub enum SchedulerConfig {
        /// One queue, first in first out.
        "fifo" => Fifo,
        /// Round robin: a packet of each queue in turn.
        "rr" => RoundRobin,
        /// Weighted round robin: up to a weight's number of packets of each queue in turn.
        "wrr" => WeightedRoundRobin(WrrConfig),
        /// Deficit round robin: bytes of each queue in turn, by weight.
        "drr" => DeficitRoundRobin(DrrConfig),
        /// Strict priority: the lowest queue number first.
        "strict" => Strict,
        /// Groups of queues in strict order, deficit round robin within each.
        "strict-drr" => StrictOverDrr(StrictOverDrrConfig),
        /// Sorted by rank.
        "pifo" => Pifo(PifoConfig),
        /// Strict-priority queues whose bounds follow the ranks.
        "sp-pifo" => SpPifo(SpPifoConfig),
        /// Sorted by rank among those that are eligible.
        /// A packet is eligible once its `eligible_ps` has come.
        "pieo" => Pieo(PieoConfig),
        /// One FIFO that admits by rank.
        /// A packet is admitted if the quantile of its rank in the window is at most `(1/(1-k)) * (C-c)/C`, where `c` packets wait.
        "aifo" => Aifo(AifoConfig),
        /// A calendar of FIFO queues: approximate fair queueing.
        /// A packet bids `max(last bid of its flow, round*bytes_per_round) + bytes`, leaves in round `bid/bytes_per_round`, and is dropped if that is `queues` or more rounds ahead.
        "afq" => Afq(AfqConfig),
    }
}

impl SchedulerConfig {
    /// Whether the rank of a packet matters.
    pub const fn uses_ranks(&self) -> bool {
        matches!(self, Self::Pifo(_) | Self::SpPifo(_) | Self::Pieo(_) | Self::Aifo(_))
    }

    /// Whether packets wait in the order of their arrival in every queue.
    pub const fn keeps_order(&self) -> bool {
        !matches!(self, Self::Pifo(_) | Self::SpPifo(_) | Self::Pieo(_) | Self::Afq(_))
    }

    /// Whether a port may have more than one queue.
    pub const fn serves_several_queues(&self) -> bool {
        matches!(
            self,
            Self::RoundRobin
                | Self::WeightedRoundRobin(_)
                | Self::DeficitRoundRobin(_)
                | Self::Strict
                | Self::StrictOverDrr(_)
        )
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
        match self {
            Self::Fifo | Self::RoundRobin | Self::Strict => Ok(()),
            Self::WeightedRoundRobin(config) => config.validate(switch),
            Self::DeficitRoundRobin(config) => config.validate(switch),
            Self::StrictOverDrr(config) => config.validate(switch),
            Self::Pifo(config) => config.validate(),
            Self::SpPifo(config) => config.validate(),
            Self::Pieo(config) => config.validate(),
            Self::Aifo(config) => config.validate(),
            Self::Afq(config) => config.validate(),
        }
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

/// The first of the `waiting` queues after number `k`, cyclically; `k` itself comes last.
#[inline]
fn next_after(k: u32, waiting: u64) -> u32 {
    let later = waiting & (!1 << k);
    if later != 0 { later.trailing_zeros() } else { waiting.trailing_zeros() }
}

/// Whether a packet that the policy admits may join its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Join {
    /// Yes, in this lane (SP-PIFO, AFQ).
    Yes(u32),
    /// Yes, after the last packet of the queue has been taken out.
    Displace,
    /// No.
    No,
}

/// A scheduler at work, for all ports. The representation keeps the tag a plain number, which is cheaper to branch on.
#[derive(Clone, Debug)]
#[repr(u8)]
pub(crate) enum Scheduler {
    Fifo,
    RoundRobin,
    Wrr(Wrr),
    Drr(Drr),
    Strict,
    Pifo(Pifo),
    SpPifo(SpPifo),
    Pieo(Pieo),
    Aifo(Aifo),
    Afq(Afq),
}

impl Scheduler {
    pub(crate) fn new(switch: &ValidConfig) -> Self {
        match &switch.scheduler {
            SchedulerConfig::Fifo => Self::Fifo,
            SchedulerConfig::RoundRobin => Self::RoundRobin,
            SchedulerConfig::WeightedRoundRobin(config) => Self::Wrr(Wrr::new(config, switch)),
            SchedulerConfig::DeficitRoundRobin(config) => Self::Drr(Drr::new(config, switch)),
            SchedulerConfig::Strict => Self::Strict,
            SchedulerConfig::StrictOverDrr(config) => Self::Drr(Drr::with_groups(config, switch)),
            SchedulerConfig::Pifo(config) => Self::Pifo(Pifo::new(config, switch)),
            SchedulerConfig::SpPifo(config) => Self::SpPifo(SpPifo::new(config, switch)),
            SchedulerConfig::Pieo(config) => Self::Pieo(Pieo::new(config, switch)),
            SchedulerConfig::Aifo(config) => Self::Aifo(Aifo::new(config, switch)),
            SchedulerConfig::Afq(config) => Self::Afq(Afq::new(config, switch)),
        }
    }

    /// Step 2 of an arrival: AIFO sees the packet and may reject it. `packets` wait at the port.
    #[inline(always)]
    pub(crate) fn admits(&mut self, port: usize, rank: u64, packets: u32, why: &mut impl Explain) -> bool {
        match self {
            Self::Aifo(aifo) => aifo.admits(port, rank, packets as usize, why),
            _ => true,
        }
    }

    /// Step 5 of an arrival: may the packet join?
    #[inline]
    pub(crate) fn join(&mut self, packet: &Packet, rank: u64) -> Join {
        match self {
            Self::Pifo(pifo) => pifo.join(packet.port as usize, rank),
            Self::SpPifo(sp_pifo) => sp_pifo.join(packet.port as usize, rank),
            Self::Pieo(pieo) => pieo.0.join(packet.port as usize, rank),
            Self::Afq(afq) => afq.join(packet),
            _ => Join::Yes(0),
        }
    }

    /// A packet joins the order that the scheduler keeps.
    pub(crate) fn insert(&mut self, port: usize, slot: Slot, lane: u32, packet: &Packet, buffer: &mut Buffer) {
        match self {
            Self::Pifo(pifo) => pifo.insert(port, slot, Instant::ZERO, buffer),
            Self::SpPifo(sp_pifo) => sp_pifo.insert(port, lane, slot, buffer),
            Self::Pieo(pieo) => pieo.0.insert(port, slot, packet.eligible, buffer),
            Self::Afq(afq) => afq.insert(port, lane, slot, buffer),
            _ => unreachable!("the queues of this scheduler are in order of arrival"),
        }
    }

    /// The queue number that a port serves next. Bit `k` of `waiting`, which is not 0, says that queue `k` is not empty.
    #[inline(always)]
    pub(crate) fn choose(
        &mut self,
        port: usize,
        first_queue: usize,
        waiting: u64,
        cursor: &mut Cursor,
        buffer: &Buffer,
    ) -> usize {
        match self {
            Self::RoundRobin => cursor.advance(waiting),
            Self::Strict => strict::pick(waiting),
            Self::Wrr(_) | Self::Drr(_) => self.choose_weighted(port, first_queue, waiting, cursor, buffer),
            _ => 0,
        }
    }

    #[inline(never)]
    fn choose_weighted(
        &mut self,
        port: usize,
        first_queue: usize,
        waiting: u64,
        cursor: &mut Cursor,
        buffer: &Buffer,
    ) -> usize {
        match self {
            Self::Wrr(wrr) => wrr.pick(cursor, first_queue, waiting, buffer),
            Self::Drr(drr) => drr.pick(port, first_queue, waiting, buffer),
            _ => 0,
        }
    }

    /// Takes the next packet of a queue whose order the scheduler keeps, if it may leave.
    pub(crate) fn take_next(&mut self, now: Instant, port: usize, buffer: &mut Buffer) -> Option<Slot> {
        match self {
            Self::Pieo(pieo) => pieo.pick(now, port),
            _ => self.take_first(port, buffer),
        }
    }

    fn take_first(&mut self, port: usize, buffer: &mut Buffer) -> Option<Slot> {
        match self {
            Self::Pifo(pifo) => pifo.take_head(port),
            Self::SpPifo(sp_pifo) => sp_pifo.take_head(port, buffer),
            Self::Pieo(pieo) => pieo.0.take_head(port),
            Self::Afq(afq) => afq.take_head(port, buffer),
            _ => None,
        }
    }

    /// The packet that would be picked first of a queue.
    pub(crate) fn head(&self, place: QueueId, buffer: &Buffer) -> Option<Slot> {
        match self {
            Self::Pifo(pifo) => pifo.head(place.port),
            Self::SpPifo(sp_pifo) => sp_pifo.head(place.port),
            Self::Pieo(pieo) => pieo.0.head(place.port),
            Self::Afq(afq) => afq.head(place.port),
            _ => buffer.queues[place.queue].head(),
        }
    }

    /// Takes the packet that would be picked first of a queue, which is not empty, out of the buffer.
    pub(crate) fn take_head(&mut self, place: QueueId, buffer: &mut Buffer) -> Taken {
        match self {
            Self::Pifo(_) | Self::SpPifo(_) | Self::Pieo(_) | Self::Afq(_) => {
                let slot = self.take_first(place.port, buffer).expect("the queue is not empty");
                buffer.release(place.queue, slot, false)
            }
            _ => buffer.pop_head::<false>(place.queue, false),
        }
    }

    /// Takes the packet that would be picked last of a queue, which is not empty, out of the buffer.
    pub(crate) fn take_tail(&mut self, place: QueueId, buffer: &mut Buffer) -> Taken {
        let slot = match self {
            Self::Pifo(pifo) => pifo.take_tail(place.port),
            Self::SpPifo(sp_pifo) => sp_pifo.take_tail(place.port, buffer),
            Self::Pieo(pieo) => pieo.0.take_tail(place.port),
            Self::Afq(afq) => afq.take_tail(place.port, buffer),
            _ => return buffer.pop_tail(place.queue),
        };
        buffer.release(place.queue, slot.expect("the queue is not empty"), false)
    }

    /// A push-out or an expulsion has emptied queue number `k` of a port.
    pub(crate) fn emptied(&mut self, port: usize, k: usize) {
        if let Self::Drr(drr) = self {
            drr.emptied(port, k);
        }
    }

    /// When a port that has packets but may not send any yet can send again.
    pub(crate) fn next_eligible(&self, port: usize) -> Option<Instant> {
        match self {
            Self::Pieo(pieo) => pieo.next_eligible(port),
            _ => None,
        }
    }

    /// The packets of a queue, first to last, for checks.
    pub(crate) fn waiting(&self, place: QueueId, buffer: &Buffer) -> Vec<Slot> {
        let of = |list: &List| buffer.slots.iter(list).collect::<Vec<_>>();
        match self {
            Self::Pifo(pifo) => pifo.waiting(place.port),
            Self::SpPifo(sp_pifo) => sp_pifo.lanes(place.port).iter().flat_map(of).collect(),
            Self::Pieo(pieo) => pieo.0.waiting(place.port),
            Self::Afq(afq) => afq.lanes(place.port).iter().flat_map(of).collect(),
            _ => buffer.in_order(place.queue),
        }
    }

    /// Takes over where an earlier scheduler was, if it is of the same kind. The caller has made sure that packets are
    /// kept in the same way.
    pub(crate) fn succeed(&mut self, earlier: &Self) {
        match (self, earlier) {
            (Self::Drr(new), Self::Drr(old)) => new.inherit(old),
            (Self::Aifo(new), Self::Aifo(old)) => new.inherit(old),
            (Self::Pifo(new), Self::Pifo(old)) => new.inherit(old),
            (Self::SpPifo(new), Self::SpPifo(old)) => new.inherit(old),
            (Self::Pieo(new), Self::Pieo(old)) => new.0.inherit(&old.0),
            (Self::Afq(new), Self::Afq(old)) => new.inherit(old),
            _ => {}
        }
    }
}
