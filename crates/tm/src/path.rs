//! The path of a packet through the switch: the only place that changes the buffer.
//!
//! [`Path`] is all of a traffic manager but its policy. Its methods are generic over the policy, so that a call
//! branches on the policy once and the compiler makes a straight path for each. A [`ArrivalPath`], chosen when the
//! switch is built or reconfigured, says what else a packet has to go through: the fast path leaves out what most
//! switches do not have.

mod arrivals;
mod departures;

use crate::admit::QueueId;
use crate::buffer::Buffer;
use crate::config::ValidConfig;
use crate::counters::QueueStats;
use crate::mark::{MarkAction, MarkConfig, Marker, StepConfig};
use crate::packet::PacketId;
use crate::rank::Ranker;
use crate::schedule::{Cursor, Scheduler, SchedulerConfig, Service};
use crate::trim::{Header, HeaderTurn, TrimConfig};
use crate::units::{Bytes, Instant};
use crate::verdict::{Eviction, Explanation, Holder, Reason};
use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

/// A port. Its size is a power of two, which makes finding it a shift.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(crate) struct Port {
    /// Bit `k` says that queue `k` is not empty.
    pub(crate) nonempty: u64,
    /// The index of its queue 0.
    first_queue: usize,
    /// Bytes charged to its queues, now and at most.
    pub(crate) bytes: u64,
    pub(crate) peak: u64,
    /// Headers that wait in its header queue.
    pub(crate) headers: u32,
    turn: HeaderTurn,
    /// Where round robin is.
    pub(crate) cursor: Cursor,
}

impl Port {
    /// Whether neither data nor headers wait.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.nonempty == 0 && self.headers == 0
    }

    /// A packet has joined queue `number`, which held `before` bytes.
    #[inline(always)]
    fn grew(&mut self, number: usize, charge: u64, before: u64) {
        if before == 0 {
            self.nonempty |= 1 << number;
        }
        self.bytes += charge;
        if self.bytes > self.peak {
            self.peak = self.bytes;
        }
    }

    /// A packet has joined the empty queue `number` of the idle port and was picked in the same instant; whether the
    /// queue was never longer is known.
    #[inline(always)]
    fn passed(&mut self, number: usize, bytes: u32, is_peak: bool) {
        if is_peak {
            // A port's peak is never below those of its queues.
            self.peak = self.peak.max(u64::from(bytes));
        }
        self.cursor.arrive_at(number);
        self.turn = HeaderTurn::default();
    }

    /// A packet has left queue `number`, which holds `after` bytes.
    #[inline(always)]
    fn shrank(&mut self, number: usize, charge: u64, after: u64) {
        self.bytes -= charge;
        if after == 0 {
            self.nonempty &= !(1 << number);
        }
    }
}

/// What an arrival goes through beside the buffer policy, by the settings of the switch. All but the last are fast
/// paths: on these a packet is charged its bytes, not whole cells, and packets wait in order of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArrivalPath {
    /// The policy alone decides.
    Plain,
    /// There are limits of queues, or a step above which packets are marked.
    Checked,
    /// AIFO's test comes first, by ranks that packets carry; then the policy alone decides.
    Aifo,
    /// Any of: cells, an order by rank or by calendar, ranks that are computed, other tests by rank or AIFO's with
    /// limits, other rules for marking.
    Full,
}

/// What a fast path asks beside the policy.
pub(crate) trait Checks {
    /// Limits of queues and the step of marking.
    const LIMITS: bool;
    /// AIFO's test.
    const AIFO: bool;
}

/// [`ArrivalPath::Plain`].
pub(crate) struct Plain;

/// [`ArrivalPath::Checked`].
pub(crate) struct Checked;

/// [`ArrivalPath::Aifo`].
pub(crate) struct Aifo;

impl Checks for Plain {
    const LIMITS: bool = false;
    const AIFO: bool = false;
}

impl Checks for Checked {
    const LIMITS: bool = true;
    const AIFO: bool = false;
}

impl Checks for Aifo {
    const LIMITS: bool = false;
    const AIFO: bool = true;
}

/// What a departure goes through, by the settings of the switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeparturePath {
    /// [`FastRoundRobin`].
    FastRoundRobin,
    /// [`Fast`].
    Fast,
    /// [`Full`].
    Full,
}

/// What is asked when a packet leaves.
pub(crate) trait Departures {
    /// No headers among the data, no cells, no order by rank. A port whose header queue (NDP) holds something leaves
    /// the fast path for the time being.
    const FAST: bool;
    /// The scheduler is round robin, or there is only one queue to go around.
    const ROUND_ROBIN: bool;
}

/// On the fast path, the queues in turn.
pub(crate) struct FastRoundRobin;

/// On the fast path.
pub(crate) struct Fast;

/// With everything that there is.
pub(crate) struct Full;

impl Departures for FastRoundRobin {
    const FAST: bool = true;
    const ROUND_ROBIN: bool = true;
}

impl Departures for Fast {
    const FAST: bool = true;
    const ROUND_ROBIN: bool = false;
}

impl Departures for Full {
    const FAST: bool = false;
    const ROUND_ROBIN: bool = false;
}

/// A packet that was dropped on arrival.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dropped {
    pub(crate) id: PacketId,
    pub(crate) queue: u32,
    pub(crate) bytes: u32,
    pub(crate) reason: Reason,
}

/// All of a traffic manager but its policy.
#[derive(Clone, Debug)]
pub struct Path {
    pub(crate) config: ValidConfig,
    pub(crate) buffer: Buffer,
    pub(crate) scheduler: Scheduler,
    pub(crate) ranker: Ranker,
    pub(crate) marker: Marker,
    pub(crate) ports: Vec<Port>,
    /// The header queue of each port (NDP).
    pub(crate) header_queues: Vec<VecDeque<Header>>,
    pub(crate) stats: Vec<QueueStats>,
    /// The packet that was dropped last, unless its header was kept.
    pub(crate) last_drop: Option<Dropped>,
    pub(crate) arrival_path: ArrivalPath,
    pub(crate) departure_path: DeparturePath,
    /// The scheduler is round robin, or there is only one queue to go around.
    round_robin: bool,
    /// A packet that meets no other need not pass through its queue: all that the scheduler would remember of it is the
    /// cursor of round robin.
    sends_at_once: bool,
    /// Packets have ranks.
    ranked: bool,
    /// The scheduler keeps packets in an order of its own.
    pub(crate) sorted: bool,
    /// `K`.
    queues: usize,
    /// `queue_capacity`, or no limit.
    queue_capacity: u32,
    /// Watermark of trimming, or no limit.
    watermark: u64,
    /// Where step marking starts, if that is the rule.
    step: u64,
    /// Packets that were pushed out, expelled or displaced since the caller asked, with the places of their priority
    /// groups.
    pub(crate) evictions: Vec<(Eviction, usize)>,
    /// From this instant on there is something that the core must do on its own.
    pub(crate) due: Instant,
    /// The next periodic update of the policy.
    pub(crate) next_update: Instant,
    /// The time of the latest call.
    pub(crate) clock: Instant,
}

impl Path {
    pub(crate) fn new(config: ValidConfig) -> Self {
        let mut path = Self {
            buffer: Buffer::new(config.buffer, config.cell.get() as u32, config.total_queues(), config.cell_pointers),
            scheduler: Scheduler::new(&config),
            ranker: Ranker::new(&config),
            marker: Marker::new(&config),
            ports: (0..config.rates.len())
                .map(|port| Port {
                    first_queue: port * config.queues,
                    cursor: Cursor::new(config.queues),
                    ..Port::default()
                })
                .collect(),
            header_queues: vec![VecDeque::new(); config.rates.len()],
            stats: vec![QueueStats::default(); config.total_queues()],
            last_drop: None,
            arrival_path: ArrivalPath::Full,
            departure_path: DeparturePath::Full,
            round_robin: false,
            sends_at_once: false,
            ranked: false,
            sorted: false,
            queues: config.queues,
            queue_capacity: 0,
            watermark: 0,
            step: u64::MAX,
            evictions: Vec::new(),
            due: Instant::NEVER,
            next_update: Instant::NEVER,
            clock: Instant::ZERO,
            config,
        };
        path.read_settings();
        path
    }

    /// Brings what is derived from the configuration up to date.
    pub(crate) fn read_settings(&mut self) {
        let config = &self.config;
        self.queue_capacity =
            config.queue_capacity.map_or(u32::MAX, |capacity| u32::try_from(capacity).unwrap_or(u32::MAX));
        self.watermark = config.trim.as_ref().map_or(u64::MAX, TrimConfig::watermark);
        for (index, queue) in self.buffer.queues.iter_mut().enumerate() {
            queue.alpha = config.policy.alpha(index % config.queues);
        }
        self.step = match &config.mark {
            Some(MarkConfig::Step(StepConfig { threshold, action: MarkAction::Mark })) => threshold.get(),
            _ => u64::MAX,
        };
        let service = config.scheduler.service();
        self.round_robin = matches!(service, Service::Fifo | Service::RoundRobin);
        self.sends_at_once = self.round_robin || service == Service::Strict;
        self.ranked = config.scheduler.uses_ranks();
        self.sorted = service == Service::OwnOrder;
        self.arrival_path = self.choose_arrival_path();
        let cuts = matches!(self.config.trim, Some(TrimConfig::CutPayload(_) | TrimConfig::ToQueue(_)));
        // Headers of cut packets may outlast the setting that cut them.
        let headers_wait = self.buffer.queues.iter().any(|queue| queue.headers() > 0);
        self.departure_path = match self.arrival_path == ArrivalPath::Full || cuts || headers_wait {
            true => DeparturePath::Full,
            false if self.round_robin => DeparturePath::FastRoundRobin,
            false => DeparturePath::Fast,
        };
    }

    fn choose_arrival_path(&self) -> ArrivalPath {
        let config = &self.config;
        let by_the_byte = config.cell.get() == 1 && !config.cell_pointers;
        // A step of 0 marks packets that find an idle wire, too.
        let simple_marking = config.mark.is_none() || (self.step != u64::MAX && self.step > 0);
        let carried = config.rank.is_carried();
        let is_aifo = matches!(config.scheduler, SchedulerConfig::Aifo(_));
        let limited = self.queue_capacity != u32::MAX || self.watermark != u64::MAX || self.step != u64::MAX;
        let other_test = self.ranked && !self.sorted && (!is_aifo || limited);
        if !by_the_byte || !simple_marking || self.sorted || (self.ranked && !carried) || other_test {
            ArrivalPath::Full
        } else if is_aifo {
            ArrivalPath::Aifo
        } else if limited {
            ArrivalPath::Checked
        } else {
            ArrivalPath::Plain
        }
    }

    // ---- Looking in -----------------------------------------------------------------------------

    pub(crate) fn queue_id(&self, queue: usize) -> QueueId {
        QueueId { port: queue / self.queues, index: queue }
    }

    fn number(&self, queue: QueueId) -> usize {
        queue.index - self.ports[queue.port].first_queue
    }

    fn describe(&self, e: &mut Explanation, now: Instant, queue: usize, charge: u64) {
        e.at = now;
        e.queue = queue;
        e.charge = Bytes::new(charge);
        e.length = Bytes::new(self.buffer.length(queue));
        e.waiting = self.buffer.queues[queue].packets() as usize;
        e.total = Bytes::new(self.buffer.used());
        e.buffer = Bytes::new(self.buffer.capacity());
    }

    /// The queues that hold the buffer, the longest first.
    fn holders(&self) -> Vec<Holder> {
        let mut holders: Vec<Holder> = (0..self.buffer.queues.len())
            .map(|queue| Holder { queue, bytes: Bytes::new(self.buffer.length(queue)) })
            .filter(|holder| holder.bytes > Bytes::ZERO)
            .collect();
        holders.sort_by_key(|holder| (core::cmp::Reverse(holder.bytes), holder.queue));
        holders
    }
}
