//! The path of a packet through the switch: the only place that changes the buffer.
//!
//! [`Path`] is all of a traffic manager but its policy. Its methods are generic over the policy, so that a call branches on
//! the policy once and the compiler makes a straight path for each. A [`Datapath`], chosen when the switch is built or
//! reconfigured, says what else a packet has to go through: the fast path leaves out what most switches do not have.

use crate::admit::{Admission, Arrival, BufferPolicy, QueueId};
use crate::buffer::{Buffer, Descriptor, List, Taken};
use crate::config::ValidConfig;
use crate::counters::Losses;
use crate::mark::{Mark, MarkAction, MarkConfig, Marker, StepConfig};
use crate::packet::{Packet, PacketId};
use crate::rank::{RankConfig, Ranker};
use crate::schedule::{Cursor, Join, Scheduler, SchedulerConfig, Service, Turn};
use crate::trim::{HeaderTurn, TrimConfig};
use crate::units::{Bytes, Instant};
use crate::verdict::{Departure, Explain, Explanation, Holder, Lost, Outcome, Reason, Verdict, Wire};
use alloc::vec;
use alloc::vec::Vec;

/// A port. Its size is a power of two, which makes finding it a shift.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(crate) struct Port {
    /// Bit `k` says that queue `k` is not empty.
    pub(crate) waiting: u64,
    /// The index of its queue 0.
    first_queue: usize,
    /// Bytes charged to its queues, now and at most.
    pub(crate) bytes: u64,
    pub(crate) peak: u64,
    pub(crate) headers: List,
    turn: HeaderTurn,
    /// Where round robin is.
    pub(crate) cursor: Cursor,
}

impl Port {
    /// Whether neither data nor headers wait.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting == 0 && self.headers.is_empty()
    }

    /// A packet has joined queue `number`, which held `before` bytes.
    #[inline(always)]
    fn grew(&mut self, number: usize, charge: u64, before: u64) {
        if before == 0 {
            self.waiting |= 1 << number;
        }
        self.bytes += charge;
        if self.bytes > self.peak {
            self.peak = self.bytes;
        }
    }

    /// A packet has joined the empty queue `number` of the idle port and was picked in the same instant; whether the queue was never
    /// longer is known.
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
            self.waiting &= !(1 << number);
        }
    }
}

/// How packets come into the switch: what its settings ask for beside the policy. All but the last are fast paths, on which packets are
/// charged by the byte and wait in order of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Datapath {
    /// The policy alone decides.
    Plain,
    /// There are limits of queues, or a step above which packets are marked.
    Checked,
    /// AIFO's test comes first, by ranks that packets carry; then the policy alone decides.
    Aifo,
    /// Any of: cells, an order by rank or by calendar, ranks that are computed, other tests by rank or AIFO's with limits, other rules for marking.
    Full,
}

/// What a fast path asks beside the policy.
pub(crate) trait Checks {
    /// Limits of queues and the step of marking.
    const LIMITS: bool;
    /// AIFO's test.
    const AIFO: bool;
}

/// [`Datapath::Plain`].
pub(crate) struct Plain;

/// [`Datapath::Checked`].
pub(crate) struct Checked;

/// [`Datapath::Aifo`].
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

/// How packets leave the switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Departing {
    /// [`FastRoundRobin`].
    FastRoundRobin,
    /// [`Fast`].
    Fast,
    /// [`Full`].
    Full,
}

/// What is asked when a packet leaves.
pub(crate) trait Departures {
    /// No headers, no cells, no order by rank.
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

/// All of a traffic manager but its policy.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub(crate) config: ValidConfig,
    pub(crate) buffer: Buffer,
    pub(crate) scheduler: Scheduler,
    pub(crate) ranker: Ranker,
    pub(crate) marker: Marker,
    pub(crate) ports: Vec<Port>,
    pub(crate) losses: Vec<Losses>,
    pub(crate) datapath: Datapath,
    pub(crate) departing: Departing,
    /// The scheduler is round robin, or there is only one queue to go around.
    round_robin: bool,
    /// What the scheduler remembers of a packet that meets no other is a port's cursor at most.
    sends_at_once: bool,
    /// Packets have ranks.
    ranked: bool,
    /// Packets are admitted to a FIFO queue by their rank.
    by_rank: bool,
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
    /// Packets that were pushed out, expelled or displaced since the caller asked.
    pub(crate) untold: Vec<Lost>,
    /// From this instant on there is something that the core must do on its own.
    pub(crate) due: Instant,
    /// The next periodic update of the policy.
    pub(crate) next_update: Instant,
    /// The latest time that a call gave.
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
            losses: vec![Losses::default(); config.total_queues()],
            datapath: Datapath::Full,
            departing: Departing::Full,
            round_robin: false,
            sends_at_once: false,
            ranked: false,
            by_rank: false,
            sorted: false,
            queues: config.queues,
            queue_capacity: 0,
            watermark: 0,
            step: u64::MAX,
            untold: Vec::new(),
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
        self.by_rank = config.scheduler.admits_by_rank();
        self.datapath = self.choose_datapath();
        let cuts = matches!(self.config.trim, Some(TrimConfig::CutPayload(_)));
        self.departing = match self.datapath == Datapath::Full || cuts || self.headers_among_data() > 0 {
            true => Departing::Full,
            false if self.round_robin => Departing::FastRoundRobin,
            false => Departing::Fast,
        };
    }

    fn choose_datapath(&self) -> Datapath {
        let config = &self.config;
        let by_the_byte = config.cell.get() == 1 && !config.cell_pointers;
        // A step of 0 marks packets that find an idle wire, too.
        let simple_marking = config.mark.is_none() || (self.step != u64::MAX && self.step > 0);
        let carried = matches!(config.rank, RankConfig::Given | RankConfig::Srpt);
        let is_aifo = matches!(config.scheduler, SchedulerConfig::Aifo(_));
        let limited = self.queue_capacity != u32::MAX || self.watermark != u64::MAX || self.step != u64::MAX;
        let other_test = self.by_rank && (!is_aifo || limited);
        if !by_the_byte || !simple_marking || self.sorted || (self.ranked && !carried) || other_test {
            Datapath::Full
        } else if is_aifo {
            Datapath::Aifo
        } else if limited {
            Datapath::Checked
        } else {
            Datapath::Plain
        }
    }

    /// Headers of cut packets that wait among the data. They may outlast the setting that cut them.
    fn headers_among_data(&self) -> u64 {
        let cut = |losses: &Losses| losses.trimmed.packets - losses.headers_sent.packets - losses.headers_lost;
        let apart: usize = self.ports.iter().map(|port| port.headers.len()).sum();
        self.losses.iter().map(cut).sum::<u64>() - apart as u64
    }

    // ---- Arrivals ----------------------------------------------------------------------------------------------------

    /// The place of a packet in queue `number` of its port.
    #[inline(always)]
    fn place_of(&self, packet: &Packet, number: usize) -> QueueId {
        // One test for a length of 1 to `MAX_PACKET_BYTES`.
        let has_length = packet.bytes as i32 > 0;
        assert!(
            number < self.queues && has_length,
            "the packet names a queue of its port and is not empty nor too long"
        );
        QueueId { port: packet.port as usize, queue: packet.port as usize * self.queues + number }
    }

    /// Steps 1 to 6 of an arrival on the fast path. At an idle wire a packet that meets no other leaves at once.
    #[inline(always)]
    pub(crate) fn offer_fast<P: BufferPolicy, C: Checks>(
        &mut self,
        policy: &mut P,
        now: Instant,
        packet: &Packet,
        wire: Wire,
        why: &mut impl Explain,
    ) -> Outcome {
        let number = policy.classify(now, packet);
        let place = self.place_of(packet, number);
        let charge = u64::from(packet.bytes);
        why.note(|e| self.describe(e, now, place.queue, charge));
        // Step 1. Where it makes no difference to the policy, it waits until the packet is found not to fit.
        if P::COUNTS_ARRIVALS && charge > self.buffer.capacity() {
            return self.oversize(packet.bytes, place).into();
        }
        // Step 2.
        if C::AIFO && charge <= self.buffer.capacity() {
            let waiting = self.buffer.queues[place.queue].packets();
            if !self.scheduler.aifo_admits(place.port, packet.rank, waiting, why) {
                return self.reject(policy, packet, charge, place, Reason::Rank, why).into();
            }
        }
        if C::LIMITS {
            if let Some(reason) = self.check_limits(place) {
                return self.reject(policy, packet, charge, place, reason, why).into();
            }
        }
        // Step 3.
        loop {
            match policy.admit(Arrival { now, packet, queue: place.queue, number, charge }, &self.buffer, why) {
                Admission::Admit => break,
                Admission::Reject(reason) => {
                    return self.reject(policy, packet, charge, place, reason, why).into();
                }
                Admission::PushOut(victim) => self.push_out(policy, now, victim),
            }
        }
        // Steps 5 and 6.
        let Self { ports, buffer, .. } = self;
        let port = &mut ports[place.port];
        // A packet that the policy has moved to another queue waits there until the caller asks for it and is told the queue;
        // and so does one that others had to give way to.
        let alone = wire == Wire::Idle
            && number == packet.queue as usize
            && port.is_empty()
            && (!P::TAKES_BACK || self.untold.is_empty());
        if alone && self.sends_at_once {
            port.passed(number, packet.bytes, buffer.passed(place.queue, charge));
            policy.passed(place, packet.bytes);
            policy.sent(now, packet.bytes);
            self.see_to_expulsions(policy, now, false);
            return Outcome::Sent;
        }
        let descriptor = Descriptor::new(packet.id, packet.bytes, packet.bytes, packet.rank);
        let before = buffer.append::<true>(place.queue, descriptor);
        self.joined(policy, now, place, number, charge, before);
        let marked = C::LIMITS && before >= self.step && packet.ect;
        if marked {
            self.losses[place.queue].marked.add(packet.bytes);
        }
        if alone { self.send_alone(policy, now, place.port) } else { Verdict::Queued { marked }.into() }
    }

    /// An arrival at a switch that is not on the fast path. It takes the packet by value, so that on the fast path a caller can keep
    /// the packet in registers.
    #[inline(never)]
    pub(crate) fn offer_full<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        now: Instant,
        packet: Packet,
        wire: Wire,
        why: &mut impl Explain,
    ) -> Outcome {
        let was_empty = self.ports[packet.port as usize].is_empty();
        let (number, verdict) = self.arrive(policy, now, &packet, why);
        let is_first = wire == Wire::Idle && was_empty && number == packet.queue as usize && self.untold.is_empty();
        if is_first && verdict == (Verdict::Queued { marked: false }) {
            return self.send_alone(policy, now, packet.port as usize);
        }
        verdict.into()
    }

    /// Steps 1 to 6 of an arrival. Returns the number of the packet's queue, and what it got.
    #[inline]
    fn arrive<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        now: Instant,
        packet: &Packet,
        why: &mut impl Explain,
    ) -> (usize, Verdict) {
        let number = policy.classify(now, packet);
        let place = self.place_of(packet, number);
        let charge = self.buffer.charge(packet.bytes);
        why.note(|e| self.describe(e, now, place.queue, charge));
        // Step 1.
        if charge > self.buffer.capacity() {
            return (number, self.oversize(packet.bytes, place));
        }
        // Step 2.
        let rank = if self.ranked { self.ranker.rank(now, packet) } else { packet.rank };
        let waiting = self.buffer.queues[place.queue].packets();
        let refused = match self.by_rank && !self.scheduler.admits(place.port, rank, waiting, why) {
            true => Some(Reason::Rank),
            false => self.check_limits(place),
        };
        if let Some(reason) = refused {
            return (number, self.reject(policy, packet, charge, place, reason, why));
        }
        // Step 3.
        loop {
            match policy.admit(Arrival { now, packet, queue: place.queue, number, charge }, &self.buffer, why) {
                Admission::Admit => break,
                Admission::Reject(reason) => {
                    return (number, self.reject(policy, packet, charge, place, reason, why));
                }
                Admission::PushOut(victim) => self.push_out(policy, now, victim),
            }
        }
        // Step 5.
        let mark = self.marker.judge(now, place.queue, self.buffer.length(place.queue), packet.ect);
        if mark == Mark::Drop {
            return (number, self.drop(packet.bytes, place, Reason::Marking, why));
        }
        // Step 6.
        let descriptor = Descriptor::new(packet.id, packet.bytes, charge as u32, rank);
        let before = if self.sorted {
            let lane = match self.scheduler.join(packet, rank) {
                Join::Yes(lane) => lane,
                Join::Displace => {
                    self.push_out(policy, now, place.queue);
                    0
                }
                Join::No => return (number, self.drop(packet.bytes, place, Reason::Rank, why)),
            };
            let (slot, before) = self.buffer.adopt(place.queue, descriptor);
            self.scheduler.insert(packet, slot, lane, &mut self.buffer.slots);
            before
        } else {
            self.buffer.append::<false>(place.queue, descriptor)
        };
        let marked = mark == Mark::Yes;
        if marked {
            self.losses[place.queue].marked.add(packet.bytes);
        }
        self.joined(policy, now, place, number, charge, before);
        if self.ranked {
            self.ranker.joined(packet, rank);
        }
        (number, Verdict::Queued { marked })
    }

    /// The only packet of an idle port, which was queued unmarked, leaves at once, unless it is not eligible yet (PIEO).
    #[inline(never)]
    fn send_alone<P: BufferPolicy>(&mut self, policy: &mut P, now: Instant, port: usize) -> Outcome {
        if self.transmit::<_, Full>(policy, now, port).is_some() {
            return Outcome::Sent;
        }
        Outcome::Verdict(Verdict::Queued { marked: false })
    }

    #[cold]
    fn oversize(&mut self, bytes: u32, place: QueueId) -> Verdict {
        self.losses[place.queue].drop(Reason::Oversize, bytes);
        Verdict::Dropped { reason: Reason::Oversize }
    }

    /// Step 2: `queue_capacity` and the watermark. A packet that step 1 would drop goes on to the policy, which rejects it.
    #[inline(always)]
    fn check_limits(&self, place: QueueId) -> Option<Reason> {
        let queue = &self.buffer.queues[place.queue];
        if queue.packets() >= self.queue_capacity {
            Some(Reason::QueueFull)
        } else if queue.bytes > self.watermark {
            Some(Reason::Watermark)
        } else {
            None
        }
    }

    /// What follows when a packet has joined its queue, which held `before` bytes.
    #[inline(always)]
    fn joined<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        now: Instant,
        place: QueueId,
        number: usize,
        charge: u64,
        before: u64,
    ) {
        self.ports[place.port].grew(number, charge, before);
        policy.enqueued(place, before, before + charge);
        self.see_to_expulsions(policy, now, true);
    }

    /// Step 4 where nothing is trimmed.
    #[inline(always)]
    fn drop(&mut self, bytes: u32, place: QueueId, reason: Reason, why: &mut impl Explain) -> Verdict {
        why.note(|e| e.holders = self.holders());
        self.losses[place.queue].drop(reason, bytes);
        Verdict::Dropped { reason }
    }

    /// Step 4: a packet that was rejected.
    #[inline(always)]
    fn reject<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        packet: &Packet,
        charge: u64,
        place: QueueId,
        reason: Reason,
        why: &mut impl Explain,
    ) -> Verdict {
        if charge > self.buffer.capacity() {
            self.oversize(packet.bytes, place)
        } else if self.config.trim.is_some() {
            self.trim(policy, packet.id, packet.bytes, place, reason, why)
        } else {
            self.drop(packet.bytes, place, reason, why)
        }
    }

    /// Step 4 where rejected packets are trimmed or returned.
    #[inline(never)]
    fn trim<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        id: PacketId,
        bytes: u32,
        place: QueueId,
        reason: Reason,
        why: &mut impl Explain,
    ) -> Verdict {
        let Some(trim) = &self.config.trim else { return self.drop(bytes, place, reason, why) };
        why.note(|e| e.holders = self.holders());
        let losses = &mut self.losses[place.queue];
        match trim {
            TrimConfig::SourceFlowControl(_) => {
                losses.returned.add(bytes);
                Verdict::Returned { reason }
            }
            TrimConfig::Ndp(config) => {
                let headers = &mut self.ports[place.port].headers;
                if headers.len() < config.header_capacity {
                    losses.trimmed.add(bytes);
                    let size = bytes.min(config.size.get() as u32);
                    // The rank of a header tells its queue, for the counters.
                    let header = Descriptor::new(id, size, 0, place.queue as u64).cut();
                    let slot = self.buffer.slots.allocate(header);
                    self.buffer.slots.push_back(headers, slot);
                    Verdict::Trimmed { reason }
                } else if config.return_to_sender {
                    losses.returned.add(bytes);
                    Verdict::Returned { reason }
                } else {
                    losses.drop(Reason::HeaderFull, bytes);
                    Verdict::Dropped { reason: Reason::HeaderFull }
                }
            }
            TrimConfig::CutPayload(config) => {
                let size = bytes.min(config.size.get() as u32);
                let charge = self.buffer.charge(size);
                if charge > self.buffer.remaining() {
                    losses.drop(Reason::HeaderFull, bytes);
                    return Verdict::Dropped { reason: Reason::HeaderFull };
                }
                losses.trimmed.add(bytes);
                let header = Descriptor::new(id, size, charge as u32, 0).cut();
                let before = self.buffer.append::<false>(place.queue, header);
                self.joined(policy, self.clock, place, self.number(place), charge, before);
                Verdict::Trimmed { reason }
            }
        }
    }

    /// Takes the tail of a queue away for another packet.
    fn push_out<P: BufferPolicy>(&mut self, policy: &mut P, now: Instant, queue: usize) {
        let place = self.place(queue);
        let taken = self.scheduler.take_tail(place, self.sorted, &mut self.buffer);
        self.evicted(policy, now, place, taken, Reason::PushedOut, None);
    }

    fn evicted<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        now: Instant,
        place: QueueId,
        taken: Taken,
        reason: Reason,
        threshold: Option<f64>,
    ) {
        let Taken { id, bytes, charge, after, header, .. } = taken;
        let number = self.number(place);
        self.ports[place.port].shrank(number, charge, after);
        self.buffer.read_for_expulsion += charge;
        policy.dequeued(place, after + charge, after, 0);
        self.losses[place.queue].drop(reason, bytes);
        self.losses[place.queue].headers_lost += u64::from(header);
        if after == 0 {
            self.marker.emptied(now, place.queue);
            self.ports[place.port].cursor.emptied(number);
            self.scheduler.emptied(place.port, number);
        }
        let length = Bytes::new(after + charge);
        self.untold.push(Lost { id, at: now, queue: place.queue, bytes, reason, length, threshold });
    }

    // ---- Departures --------------------------------------------------------------------------------------------------

    /// Picks the next packet of an idle port.
    #[inline(always)]
    pub(crate) fn transmit<P: BufferPolicy, D: Departures>(
        &mut self,
        policy: &mut P,
        now: Instant,
        port: usize,
    ) -> Option<Departure> {
        if D::FAST {
            if !self.ports[port].headers.is_empty() {
                return self.transmit_full(policy, now, port);
            }
        } else if self.header_next(now, port) {
            return self.transmit_header(policy, now, port);
        }
        let Self { ports, buffer, scheduler, sorted, round_robin, .. } = self;
        let state = &mut ports[port];
        let first_queue = state.first_queue;
        if state.waiting == 0 {
            return None;
        }
        state.turn = HeaderTurn::default();
        let (number, taken) = if !D::FAST && *sorted {
            let slot = scheduler.take_next(now, port, &mut buffer.slots)?;
            (0, buffer.release(first_queue, slot, true))
        } else {
            let number = if D::ROUND_ROBIN || *round_robin {
                state.cursor.advance(state.waiting)
            } else {
                scheduler.choose(Turn { port, first_queue, waiting: state.waiting, cursor: &mut state.cursor, buffer })
            };
            (
                number,
                if D::FAST {
                    buffer.pop_head::<true>(first_queue + number, true)
                } else {
                    buffer.pop_head::<false>(first_queue + number, true)
                },
            )
        };
        let place = QueueId { port, queue: first_queue + number };
        let Taken { id, bytes, charge, rank, header, after } = taken;
        state.shrank(number, charge, after);
        if !D::FAST {
            buffer.read_beyond_sent += if header { charge } else { charge - u64::from(bytes) };
        }
        policy.dequeued(place, after + charge, after, bytes);
        if !D::FAST {
            if after == 0 {
                self.marker.emptied(now, place.queue);
            }
            if header {
                self.losses[place.queue].headers_sent.add(bytes);
            }
            if self.ranked && !header {
                self.ranker.picked(port, rank, self.ports[port].waiting == 0);
            }
        }
        policy.sent(now, bytes);
        self.see_to_expulsions(policy, now, false);
        Some(Departure::of_queue(id, bytes, number, header))
    }

    /// [`Path::transmit`] with everything that there is, out of line.
    #[inline(never)]
    pub(crate) fn transmit_full<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        now: Instant,
        port: usize,
    ) -> Option<Departure> {
        self.transmit::<P, Full>(policy, now, port)
    }

    /// Whether a header leaves before the data of a port.
    fn header_next(&mut self, now: Instant, port: usize) -> bool {
        let Some(TrimConfig::Ndp(config)) = &self.config.trim else { return false };
        let state = &mut self.ports[port];
        // Data that may not leave yet does not hold up headers.
        let may_leave = self.scheduler.next_eligible(port).is_none_or(|at| at <= now);
        let (headers, data) = (!state.headers.is_empty(), state.waiting != 0 && may_leave);
        (headers || data) && state.turn.header_next(config, headers, data)
    }

    fn transmit_header<P: BufferPolicy>(&mut self, policy: &mut P, now: Instant, port: usize) -> Option<Departure> {
        let slot = self.buffer.slots.pop_front(&mut self.ports[port].headers)?;
        let header = self.buffer.slots.release(slot);
        self.losses[header.rank as usize].headers_sent.add(header.bytes());
        policy.sent(now, header.bytes());
        self.see_to_expulsions(policy, now, false);
        Some(Departure::of_header(header.id, header.bytes()))
    }

    // ---- Expulsion ---------------------------------------------------------------------------------------------------

    /// After a change of the buffer or of the tokens: expulsions are to be tried at the end of this instant.
    #[inline(always)]
    pub(crate) fn see_to_expulsions<P: BufferPolicy>(&mut self, policy: &P, now: Instant, filled: bool) {
        if P::EXPELS {
            let likely = filled && self.due != Instant::NEVER;
            let expulsion = policy.not_before(now, &self.buffer, likely);
            self.due = if P::EXPELS_AND_UPDATES { expulsion.min(self.next_update) } else { expulsion };
        }
    }

    /// Expels all packets that can be expelled by the end of an instant. Returns when there may be more.
    pub(crate) fn expel<P: BufferPolicy>(&mut self, policy: &mut P, from: Instant, until: Option<Instant>) -> Instant {
        if !P::EXPELS {
            return Instant::NEVER;
        }
        let Some(until) = until else { return from };
        let mut at = from;
        loop {
            match self.expel_one(policy, at, until) {
                Ok(when) => at = when,
                Err(next) => return next,
            }
        }
    }

    /// Expels the next packet that can be expelled by the end of an instant. Returns when that was, or, if none can, when
    /// the next try is.
    fn expel_one<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        from: Instant,
        until: Instant,
    ) -> Result<Instant, Instant> {
        let Some(candidate) = policy.candidate(&self.buffer) else { return Err(Instant::NEVER) };
        let place = self.place(candidate.queue);
        let head =
            self.scheduler.head(place, self.sorted, &self.buffer).expect("an over-allocated queue holds packets");
        let bytes = self.buffer.slots.get(head).bytes();
        let at = policy.ready(from, bytes);
        if at > until || at == Instant::NEVER {
            return Err(at);
        }
        policy.expelled(at, candidate.queue, bytes);
        let taken = self.scheduler.take_head(place, self.sorted, &mut self.buffer);
        self.evicted(policy, at, place, taken, Reason::Expelled, Some(candidate.threshold));
        Ok(at)
    }

    // ---- Looking in --------------------------------------------------------------------------------------------------

    pub(crate) fn place(&self, queue: usize) -> QueueId {
        QueueId { port: queue / self.queues, queue }
    }

    fn number(&self, place: QueueId) -> usize {
        place.queue - self.ports[place.port].first_queue
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
