//! The path of a packet through the switch: the only place that changes the buffer.
//!
//! [`Path`] is all of a traffic manager but its policy. Its methods are generic over the policy, so that a call branches on
//! the policy once, at the door, and the compiler makes a straight path for each. A second split, `PLAIN`, leaves out what most
//! switches do not need (ranks, limits, marking, trimming, cells, an order of the scheduler's own).

use crate::admit::{Admission, Request, Scheme};
use crate::buffer::{Buffer, Descriptor, List, Queue, Taken};
use crate::config::ValidConfig;
use crate::counters::Losses;
use crate::mark::{Mark, MarkAction, MarkConfig, Marker, StepConfig};
use crate::packet::{Packet, PacketId};
use crate::rank::{RankConfig, Ranker};
use crate::schedule::{Cursor, Join, Place, Scheduler, SchedulerConfig};
use crate::trim::{HeaderTurn, TrimConfig};
use crate::units::{Bytes, Instant};
use crate::verdict::{Departure, Explanation, Holder, Lost, Reason, Verdict, Why};
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

    /// A packet has left queue `number`, which holds `after` bytes.
    #[inline(always)]
    fn shrank(&mut self, number: usize, charge: u64, after: u64) {
        self.bytes -= charge;
        if after == 0 {
            self.waiting &= !(1 << number);
        }
    }
}

/// What a switch does beyond the plain path of a packet, as bits, so that one test tells whether anything is needed.
mod extra {
    /// Packets have ranks.
    pub(super) const RANKS: u32 = 1 << 0;
    /// There is a `queue_capacity` or a watermark.
    pub(super) const LIMITS: u32 = 1 << 1;
    /// There is a marking rule.
    pub(super) const MARKING: u32 = 1 << 2;
    /// The scheduler keeps packets in an order of its own.
    pub(super) const SORTED: u32 = 1 << 3;
    /// There may be headers.
    pub(super) const TRIMMING: u32 = 1 << 4;
    /// Cells are larger than a byte, or are pointers.
    pub(super) const CELLS: u32 = 1 << 5;
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
    /// Bits of [`extra`].
    extras: u32,
    /// The scheduler is round robin, or there is only one queue to go around.
    round_robin: bool,
    /// Packets can pass an idle port: see [`Path::can_pass`].
    passable: bool,
    /// `K`.
    queues: usize,
    /// `queue_capacity`, or no limit.
    queue_capacity: u32,
    /// Watermark of trimming, or no limit.
    watermark: u64,
    /// Where step marking starts, if that is the rule.
    step: u64,
    /// From this instant on there is something that the core must do on its own.
    pub(crate) due: Instant,
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
            extras: 0,
            round_robin: false,
            passable: false,
            queues: config.queues,
            queue_capacity: 0,
            watermark: 0,
            step: u64::MAX,
            due: Instant::NEVER,
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
        self.round_robin =
            matches!(config.scheduler, SchedulerConfig::RoundRobin | SchedulerConfig::Fifo | SchedulerConfig::Aifo(_));
        self.extras = [
            (config.scheduler.uses_ranks(), extra::RANKS),
            (self.queue_capacity != u32::MAX || self.watermark != u64::MAX, extra::LIMITS),
            (config.mark.is_some(), extra::MARKING),
            (!config.scheduler.keeps_order(), extra::SORTED),
            (config.trim.is_some() || self.headers_among_data() > 0, extra::TRIMMING),
            (config.cell.get() != 1 || config.cell_pointers, extra::CELLS),
        ]
        .into_iter()
        .fold(0, |bits, (needed, bit)| if needed { bits | bit } else { bits });
        let plain = self.is_plain() || self.is_plain_aifo() || (self.is_plain_step() && self.step > 0);
        let remembers_little = self.round_robin || matches!(self.config.scheduler, SchedulerConfig::Strict);
        self.passable = plain && remembers_little;
    }

    /// Headers of cut packets that wait among the data. They may outlast the setting that cut them.
    fn headers_among_data(&self) -> u64 {
        let cut = |losses: &Losses| losses.trimmed.packets - losses.headers_sent.packets - losses.headers_lost;
        let apart: usize = self.ports.iter().map(|port| port.headers.len()).sum();
        self.losses.iter().map(cut).sum::<u64>() - apart as u64
    }

    /// Whether packets take the plain path.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        self.extras == 0
    }

    #[inline(always)]
    fn has(&self, extras: u32) -> bool {
        self.extras & extras != 0
    }

    // ---- Arrivals ----------------------------------------------------------------------------------------------------

    /// Steps 1 to 6 of an arrival.
    ///
    /// `AIFO` says that its test is all that is beyond the plain path, `STEP` that step marking is.
    #[inline(always)]
    pub(crate) fn arrive<P: Scheme, const PLAIN: bool, const AIFO: bool, const STEP: bool>(
        &mut self,
        policy: &mut P,
        now: Instant,
        packet: &Packet,
        lost: &mut impl FnMut(Lost),
        why: &mut impl Why,
    ) -> Verdict {
        let port = packet.port as usize;
        let number = policy.classify(now, packet);
        // One test for a length of 1 to `MAX_PACKET_BYTES`.
        let has_length = packet.bytes as i32 > 0;
        assert!(
            number < self.queues && has_length,
            "the packet names a queue of its port and is not empty nor too long"
        );
        let place = Place { port, queue: port * self.queues + number };
        let charge = if PLAIN { u64::from(packet.bytes) } else { self.buffer.charge(packet.bytes) };
        why.note(|e| self.describe(e, now, place.queue, charge));
        // Step 1. Where it makes no difference to the policy, it waits until the packet is found not to fit.
        if (!PLAIN || AIFO || P::COUNTS_ARRIVALS) && charge > self.buffer.capacity() {
            return self.oversize(packet, place);
        }
        let mut rank = packet.rank;
        // Step 2.
        if AIFO {
            let waiting = self.buffer.queues[place.queue].packets();
            if !self.scheduler.admits(port, packet.rank, waiting, why) {
                return self.drop(packet, place, Reason::Rank, why);
            }
        }
        if !PLAIN && self.has(extra::RANKS | extra::LIMITS) {
            rank = self.ranker.rank(now, packet);
            if let Some(reason) = self.limit(place, rank, why) {
                return self.reject(policy, packet, place, reason, why);
            }
        }
        // Step 3.
        let request = Request { now, packet, queue: place.queue, number, charge };
        loop {
            match policy.admit(request, &self.buffer, why) {
                Admission::Admit => break,
                Admission::Reject(_) if PLAIN && charge > self.buffer.capacity() => {
                    return self.oversize(packet, place);
                }
                Admission::Reject(reason) if PLAIN => return self.drop(packet, place, reason, why),
                Admission::Reject(reason) => return self.reject(policy, packet, place, reason, why),
                Admission::PushOut(victim) => self.push_out(policy, now, victim, lost),
            }
        }
        // Steps 5 and 6.
        if !PLAIN && self.has(extra::MARKING | extra::SORTED) {
            return self.enqueue_with_care(policy, now, packet, place, charge, rank, lost, why);
        }
        let descriptor = Descriptor::new(packet.id, packet.bytes, charge as u32, rank);
        let before = self.buffer.append::<PLAIN>(place.queue, descriptor);
        self.joined(policy, now, place, number, charge, before);
        if !PLAIN && self.has(extra::RANKS) {
            self.ranker.joined(packet, rank);
        }
        if STEP && before >= self.step && packet.ect {
            self.losses[place.queue].marked.add(packet.bytes);
            return Verdict::Queued { marked: true };
        }
        Verdict::Queued { marked: false }
    }

    /// Whether a packet that comes to this port, while its wire is idle, would leave it at once and be the only one: nothing waits,
    /// and what the scheduler remembers of such a packet is a port's cursor at most. On the plain path.
    #[inline(always)]
    pub(crate) fn can_pass(&self, port: usize) -> bool {
        self.passable && self.ports[port].waiting == 0
    }

    /// A packet arrives at an idle port where nothing waits, and leaves at once, if it fits the buffer and the policy `admits` it:
    /// that gets the empty queue and `B - Q`. Returns false, and changes nothing, if it is not as simple as that.
    #[inline(always)]
    pub(crate) fn pass_by_length(
        &mut self,
        now: Instant,
        port: u32,
        number: u32,
        bytes: u32,
        admits: impl FnOnce(usize, &Queue, u64) -> bool,
    ) -> bool {
        let Some(state) = self.ports.get_mut(port as usize) else { return false };
        let index = port as usize * self.queues + number as usize;
        let (charge, remaining) = (u64::from(bytes), self.buffer.remaining());
        let Some(queue) = self.buffer.queues.get_mut(index) else { return false };
        debug_assert!((number as usize) < self.queues && bytes as i32 > 0, "a queue of the port, and a length");
        let alone = state.waiting == 0 && state.headers.is_empty();
        if !(alone && charge <= remaining && admits(index, queue, remaining)) {
            return false;
        }
        self.clock = now;
        if queue.passed(charge) {
            // A port's peak is never below those of its queues.
            state.peak = state.peak.max(charge);
        }
        state.cursor.arrive_at(number as usize);
        state.turn = HeaderTurn::default();
        self.buffer.passed(charge);
        true
    }

    /// A packet arrives and joins its queue, if it fits the buffer and the policy `admits` it. Returns whether it was marked, or `None`,
    /// with nothing changed, if it does not simply join.
    #[inline(always)]
    #[allow(clippy::too_many_arguments, reason = "a record of these would be put together and taken apart at once")]
    pub(crate) fn join_by_length(
        &mut self,
        now: Instant,
        id: PacketId,
        port: u32,
        number: u32,
        bytes: u32,
        rank: u64,
        ect: bool,
        admits: impl FnOnce(usize, &Queue, u64) -> bool,
    ) -> Option<bool> {
        let index = port as usize * self.queues + number as usize;
        let (charge, remaining) = (u64::from(bytes), self.buffer.remaining());
        let state = self.ports.get_mut(port as usize)?;
        let queue = self.buffer.queues.get(index)?;
        let within = queue.packets() < self.queue_capacity && queue.bytes <= self.watermark;
        debug_assert!((number as usize) < self.queues && bytes as i32 > 0, "a queue of the port, and a length");
        if !(within && charge <= remaining && admits(index, queue, remaining)) {
            return None;
        }
        self.clock = now;
        let before = self.buffer.append::<true>(index, Descriptor::new(id, bytes, bytes, rank));
        state.grew(number as usize, charge, before);
        if before >= self.step && ect {
            self.losses[index].marked.add(bytes);
            return Some(true);
        }
        Some(false)
    }

    /// AIFO remembers the rank of a packet that it lets into an empty queue, as it does with every rank.
    #[inline(always)]
    pub(crate) fn note_rank(&mut self, port: usize, rank: u64) {
        let admitted = self.scheduler.admits(port, rank, 0, &mut ());
        debug_assert!(admitted, "AIFO admits everything to an empty queue");
    }

    /// Whether [`Path::pass_by_length`] may be tried: nothing that it leaves out happens to a packet that meets no other.
    pub(crate) fn may_pass_by_length(&self) -> bool {
        let marking = !self.has(extra::MARKING) || (self.step != u64::MAX && self.step > 0);
        let remembers_little = self.round_robin || matches!(self.config.scheduler, SchedulerConfig::Strict);
        let ranks = !self.has(extra::RANKS) || self.is_plain_aifo();
        marking && remembers_little && ranks && !self.has(extra::SORTED | extra::CELLS)
    }

    /// [`Path::arrive`] and [`Path::transmit`] in one, for a port where [`Path::can_pass`]. Returns false, and changes nothing, if the
    /// packet is not simply let in.
    #[inline(always)]
    pub(crate) fn pass<P: Scheme, const AIFO: bool>(&mut self, policy: &mut P, now: Instant, packet: &Packet) -> bool {
        let port = packet.port as usize;
        let number = packet.queue as usize;
        let charge = u64::from(packet.bytes);
        if P::REMEMBERS_QUESTIONS
            || number >= self.queues
            || packet.bytes as i32 <= 0
            || charge > self.buffer.remaining()
        {
            return false;
        }
        let place = Place { port, queue: port * self.queues + number };
        let request = Request { now, packet, queue: place.queue, number, charge };
        if policy.admit(request, &self.buffer, &mut ()) != Admission::Admit {
            return false;
        }
        if AIFO {
            self.note_rank(port, packet.rank);
        }
        self.clock = now;
        let state = &mut self.ports[port];
        state.peak = state.peak.max(charge);
        state.cursor.arrive_at(number);
        self.buffer.pass_in(place.queue, packet.bytes);
        policy.enqueued(place, 0, charge, &self.buffer);
        self.see_to_expulsions(policy, now, true);
        self.buffer.pass_out(place.queue, packet.bytes);
        policy.dequeued(place, charge, 0, &self.buffer, packet.bytes);
        policy.sent(now, packet.bytes);
        self.see_to_expulsions(policy, now, false);
        true
    }

    /// Whether step marking is all that is beyond the plain path.
    pub(crate) fn is_plain_step(&self) -> bool {
        self.extras == extra::MARKING && self.step != u64::MAX
    }

    /// Whether AIFO, with ranks that packets carry, is all that is beyond the plain path.
    pub(crate) fn is_plain_aifo(&self) -> bool {
        let carried = matches!(self.config.rank, RankConfig::Given | RankConfig::Srpt);
        self.extras == extra::RANKS && carried && matches!(self.config.scheduler, SchedulerConfig::Aifo(_))
    }

    #[cold]
    fn oversize(&mut self, packet: &Packet, place: Place) -> Verdict {
        self.losses[place.queue].drop(Reason::Oversize, packet.bytes);
        Verdict::Dropped { reason: Reason::Oversize }
    }

    /// Step 2: AIFO, `queue_capacity` and the watermark.
    #[inline]
    fn limit(&mut self, place: Place, rank: u64, why: &mut impl Why) -> Option<Reason> {
        let queue = &self.buffer.queues[place.queue];
        let (length, packets) = (queue.bytes, queue.packets());
        if !self.scheduler.admits(place.port, rank, packets, why) {
            Some(Reason::Rank)
        } else if packets >= self.queue_capacity {
            Some(Reason::QueueFull)
        } else if length > self.watermark {
            Some(Reason::Watermark)
        } else {
            None
        }
    }

    /// Steps 5 and 6 where the packet may be marked, or the scheduler has an order of its own.
    #[inline]
    #[allow(clippy::too_many_arguments, reason = "all of it is at hand, and this is the hot path")]
    fn enqueue_with_care<P: Scheme>(
        &mut self,
        policy: &mut P,
        now: Instant,
        packet: &Packet,
        place: Place,
        charge: u64,
        rank: u64,
        lost: &mut impl FnMut(Lost),
        why: &mut impl Why,
    ) -> Verdict {
        let length = self.buffer.length(place.queue);
        let mark = self.marker.judge(now, place.queue, length, packet.ect);
        if mark == Mark::Drop {
            return self.drop(packet, place, Reason::Marking, why);
        }
        let descriptor = Descriptor::new(packet.id, packet.bytes, charge as u32, rank);
        let before = if self.has(extra::SORTED) {
            let lane = match self.scheduler.join(packet, rank) {
                Join::Yes(lane) => lane,
                Join::Displace => {
                    self.push_out(policy, now, place.queue, lost);
                    0
                }
                Join::No => return self.drop(packet, place, Reason::Rank, why),
            };
            let (slot, before) = self.buffer.adopt(place.queue, descriptor);
            self.scheduler.insert(place.port, slot, lane, packet, &mut self.buffer);
            before
        } else {
            self.buffer.append::<false>(place.queue, descriptor)
        };
        if mark == Mark::Yes {
            self.losses[place.queue].marked.add(packet.bytes);
        }
        self.joined(policy, now, place, self.number(place), charge, before);
        if self.has(extra::RANKS) {
            self.ranker.joined(packet, rank);
        }
        Verdict::Queued { marked: mark == Mark::Yes }
    }

    /// What follows when a packet has joined its queue, which held `before` bytes.
    #[inline(always)]
    fn joined<P: Scheme>(
        &mut self,
        policy: &mut P,
        now: Instant,
        place: Place,
        number: usize,
        charge: u64,
        before: u64,
    ) {
        self.ports[place.port].grew(number, charge, before);
        policy.enqueued(place, before, before + charge, &self.buffer);
        self.see_to_expulsions(policy, now, true);
    }

    /// Step 4 where nothing is trimmed.
    #[inline(always)]
    fn drop(&mut self, packet: &Packet, place: Place, reason: Reason, why: &mut impl Why) -> Verdict {
        why.note(|e| e.holders = self.holders());
        self.losses[place.queue].drop(reason, packet.bytes);
        Verdict::Dropped { reason }
    }

    /// Step 4: a packet that was rejected.
    #[inline(never)]
    fn reject<P: Scheme>(
        &mut self,
        policy: &mut P,
        packet: &Packet,
        place: Place,
        reason: Reason,
        why: &mut impl Why,
    ) -> Verdict {
        let Some(trim) = &self.config.trim else { return self.drop(packet, place, reason, why) };
        why.note(|e| e.holders = self.holders());
        let losses = &mut self.losses[place.queue];
        match trim {
            TrimConfig::SourceFlowControl(_) => {
                losses.returned.add(packet.bytes);
                Verdict::Returned { reason }
            }
            TrimConfig::Ndp(config) => {
                let headers = &mut self.ports[place.port].headers;
                if headers.len() < config.header_capacity {
                    losses.trimmed.add(packet.bytes);
                    let bytes = packet.bytes.min(config.size.get() as u32);
                    // The rank of a header tells its queue, for the counters.
                    let header = Descriptor::new(packet.id, bytes, 0, place.queue as u64).cut();
                    let slot = self.buffer.slots.allocate(header);
                    self.buffer.slots.push_back(headers, slot);
                    Verdict::Trimmed { reason }
                } else if config.return_to_sender {
                    losses.returned.add(packet.bytes);
                    Verdict::Returned { reason }
                } else {
                    losses.drop(Reason::HeaderFull, packet.bytes);
                    Verdict::Dropped { reason: Reason::HeaderFull }
                }
            }
            TrimConfig::CutPayload(config) => {
                let bytes = packet.bytes.min(config.size.get() as u32);
                let charge = self.buffer.charge(bytes);
                if charge > self.buffer.remaining() {
                    losses.drop(Reason::HeaderFull, packet.bytes);
                    return Verdict::Dropped { reason: Reason::HeaderFull };
                }
                losses.trimmed.add(packet.bytes);
                let header = Descriptor::new(packet.id, bytes, charge as u32, 0).cut();
                let before = self.buffer.append::<false>(place.queue, header);
                self.joined(policy, self.clock, place, self.number(place), charge, before);
                Verdict::Trimmed { reason }
            }
        }
    }

    /// Takes the tail of a queue away for another packet.
    fn push_out<P: Scheme>(&mut self, policy: &mut P, now: Instant, queue: usize, lost: &mut impl FnMut(Lost)) {
        let place = self.place(queue);
        let taken = self.scheduler.take_tail(place, &mut self.buffer);
        self.evicted(policy, now, place, taken, Reason::PushedOut, None, lost);
    }

    #[allow(clippy::too_many_arguments, reason = "a record of these would be made and taken apart at once")]
    fn evicted<P: Scheme>(
        &mut self,
        policy: &mut P,
        now: Instant,
        place: Place,
        taken: Taken,
        reason: Reason,
        threshold: Option<f64>,
        lost: &mut impl FnMut(Lost),
    ) {
        let Taken { id, bytes, charge, after, header, .. } = taken;
        let number = self.number(place);
        self.ports[place.port].shrank(number, charge, after);
        self.buffer.read_for_expulsion += charge;
        policy.dequeued(place, after + charge, after, &self.buffer, 0);
        self.losses[place.queue].drop(reason, bytes);
        self.losses[place.queue].headers_lost += u64::from(header);
        if after == 0 {
            self.marker.emptied(now, place.queue);
            self.ports[place.port].cursor.emptied(number);
            self.scheduler.emptied(place.port, number);
        }
        let length = Bytes::new(after + charge);
        lost(Lost { id, at: now, queue: place.queue, bytes, reason, length, threshold });
    }

    // ---- Departures --------------------------------------------------------------------------------------------------

    /// Picks the next packet of an idle port.
    #[inline(always)]
    pub(crate) fn transmit<P: Scheme, const PLAIN: bool>(
        &mut self,
        policy: &mut P,
        now: Instant,
        port: usize,
    ) -> Option<Departure> {
        if !PLAIN && self.has(extra::TRIMMING) && self.header_next(now, port) {
            return self.transmit_header(policy, now, port);
        }
        let Self { ports, buffer, scheduler, extras, round_robin, .. } = self;
        let state = &mut ports[port];
        let first_queue = state.first_queue;
        if state.waiting == 0 {
            return None;
        }
        let (number, taken) = if !PLAIN && *extras & extra::SORTED != 0 {
            let slot = scheduler.take_next(now, port, buffer)?;
            (0, buffer.release(first_queue, slot, true))
        } else {
            let number = if *round_robin {
                state.cursor.advance(state.waiting)
            } else {
                scheduler.choose(port, first_queue, state.waiting, &mut state.cursor, buffer)
            };
            (number, buffer.pop_head::<PLAIN>(first_queue + number, true))
        };
        let place = Place { port, queue: first_queue + number };
        let Taken { id, bytes, charge, rank, header, after } = taken;
        state.shrank(number, charge, after);
        if !PLAIN {
            buffer.read_beyond_sent += if header { charge } else { charge - u64::from(bytes) };
        }
        policy.dequeued(place, after + charge, after, buffer, bytes);
        if !PLAIN {
            if after == 0 && self.has(extra::MARKING) {
                self.marker.emptied(now, place.queue);
            }
            if header {
                self.losses[place.queue].headers_sent.add(bytes);
            }
            if self.has(extra::RANKS) && !header {
                self.ranker.picked(port, rank, self.ports[port].waiting == 0);
            }
        }
        policy.sent(now, bytes);
        self.see_to_expulsions(policy, now, false);
        Some(Departure { id, bytes, queue: Some(number as u8), header, rank })
    }

    /// Whether a header leaves before the data of a port.
    fn header_next(&mut self, now: Instant, port: usize) -> bool {
        let state = &mut self.ports[port];
        // Data that may not leave yet does not hold up headers.
        let may_leave = self.scheduler.next_eligible(port).is_none_or(|at| at <= now);
        let (headers, data) = (!state.headers.is_empty(), state.waiting != 0 && may_leave);
        match &self.config.trim {
            Some(TrimConfig::Ndp(config)) if headers || data => state.turn.header_next(config, headers, data),
            _ => false,
        }
    }

    fn transmit_header<P: Scheme>(&mut self, policy: &mut P, now: Instant, port: usize) -> Option<Departure> {
        let slot = self.buffer.slots.pop_front(&mut self.ports[port].headers)?;
        let header = self.buffer.slots.release(slot);
        self.losses[header.rank as usize].headers_sent.add(header.bytes());
        policy.sent(now, header.bytes());
        self.see_to_expulsions(policy, now, false);
        Some(Departure { id: header.id, bytes: header.bytes(), queue: None, header: true, rank: 0 })
    }

    // ---- Expulsion ---------------------------------------------------------------------------------------------------

    /// After a change of the buffer or of the tokens: expulsions are to be tried at the end of this instant.
    #[inline(always)]
    pub(crate) fn see_to_expulsions<P: Scheme>(&mut self, policy: &P, now: Instant, filled: bool) {
        if P::EXPELS {
            let likely = filled && self.due != Instant::NEVER;
            self.due = policy.not_before(now, &self.buffer, likely);
        }
    }

    /// Expels the next packet that can be expelled by the end of an instant. Returns when that was, or, if none can, when
    /// the next try is.
    pub(crate) fn expel_one<P: Scheme>(
        &mut self,
        policy: &mut P,
        from: Instant,
        until: Instant,
        lost: &mut impl FnMut(Lost),
    ) -> Result<Instant, Instant> {
        let Some(candidate) = policy.candidate(&self.buffer) else { return Err(Instant::NEVER) };
        let place = self.place(candidate.queue);
        let head = self.scheduler.head(place, &self.buffer).expect("an over-allocated queue holds packets");
        let bytes = self.buffer.slots.get(head).bytes();
        let at = policy.ready(from, bytes);
        if at > until || at == Instant::NEVER {
            return Err(at);
        }
        policy.expelled(at, candidate.queue, bytes);
        let taken = self.scheduler.take_head(place, &mut self.buffer);
        self.evicted(policy, at, place, taken, Reason::Expelled, Some(candidate.threshold), lost);
        Ok(at)
    }

    // ---- Looking in --------------------------------------------------------------------------------------------------

    pub(crate) fn place(&self, queue: usize) -> Place {
        Place { port: queue / self.queues, queue }
    }

    fn number(&self, place: Place) -> usize {
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
