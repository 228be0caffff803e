//! The traffic manager: [`Tm::arrive`], [`Tm::transmit`], [`Tm::settle`]. The only place that changes the buffer.
//!
//! The core has no clock: every call says what time it is, and times never decrease. What the core does on its own (periodic
//! updates of a policy, expulsions) it does when a call shows that its time has come, in the order of the specification:
//! at one instant first transmissions, then updates, then arrivals, then expulsions. So a caller need not wake it, and gets the
//! same results whether it does or not.

use crate::admit::{Admission, Policy, Request};
use crate::buffer::{Buffer, Descriptor, List, Slot};
use crate::config::{ConfigError, TmConfig, ValidConfig};
use crate::counters::{Counters, Losses, MemoryReads};
use crate::mark::{Mark, Marker};
use crate::packet::Packet;
use crate::rank::Ranker;
use crate::schedule::{Join, Place, Scheduler};
use crate::trim::{HeaderTurn, TrimConfig};
use crate::units::{Bytes, Duration, Instant, Rate};
use crate::verdict::{Departure, Explanation, Holder, Lost, Reason, Threshold, Verdict, Why};
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

/// A port.
#[derive(Clone, Copy, Debug, Default)]
struct Port {
    /// Bit `k` says that queue `k` is not empty.
    waiting: u64,
    headers: List,
    turn: HeaderTurn,
    /// Bytes charged to its queues, now and at most.
    bytes: u64,
    peak: u64,
}

/// Where an instant is, for what the core does on its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Transmissions,
    Arrivals,
    Over,
}

/// The traffic manager of one switch.
#[derive(Clone, Debug)]
pub struct Tm {
    config: ValidConfig,
    buffer: Buffer,
    policy: Policy,
    scheduler: Scheduler,
    ranker: Ranker,
    marker: Marker,
    ports: Vec<Port>,
    losses: Vec<Losses>,
    uses_ranks: bool,
    /// `queue_capacity`, or no limit.
    queue_capacity: u32,
    /// Watermark of trimming, or no limit.
    watermark: u64,
    /// The next periodic update.
    next_update: Instant,
    /// From this instant on there is something that the core must do on its own.
    due: Instant,
    /// The latest time that a call gave.
    clock: Instant,
}

impl Tm {
    /// A traffic manager with an empty buffer at time 0.
    pub fn new(config: ValidConfig) -> Self {
        let mut tm = Self {
            buffer: Buffer::new(config.buffer, config.cell.get() as u32, config.total_queues(), config.cell_pointers),
            policy: Policy::new(&config),
            scheduler: Scheduler::new(&config),
            ranker: Ranker::new(&config),
            marker: Marker::new(&config),
            ports: vec![Port::default(); config.rates.len()],
            losses: vec![Losses::default(); config.total_queues()],
            uses_ranks: config.scheduler.uses_ranks(),
            queue_capacity: 0,
            watermark: 0,
            next_update: Instant::NEVER,
            due: Instant::NEVER,
            clock: Instant::ZERO,
            config,
        };
        tm.read_limits();
        tm.next_update = tm.policy.interval().map_or(Instant::NEVER, |interval| Instant::ZERO + interval);
        tm.due = tm.next_update;
        tm
    }

    fn read_limits(&mut self) {
        self.queue_capacity =
            self.config.queue_capacity.map_or(u32::MAX, |capacity| u32::try_from(capacity).unwrap_or(u32::MAX));
        self.watermark = self.config.trim.as_ref().map_or(u64::MAX, TrimConfig::watermark);
    }

    // ---- Arrivals ----------------------------------------------------------------------------------------------------

    /// A packet arrives: it is queued, trimmed, returned or dropped. Packets that lose their place are told to `lost`.
    ///
    /// # Panics
    /// If the packet names a port, queue or class that does not exist, or is empty or longer than
    /// [`MAX_PACKET_BYTES`](crate::packet::MAX_PACKET_BYTES).
    #[inline]
    pub fn arrive(&mut self, now: Instant, packet: &Packet, lost: &mut impl FnMut(Lost)) -> Verdict {
        self.arrive_and_tell(now, packet, lost, &mut ())
    }

    /// [`Tm::arrive`], with the numbers that led to the verdict.
    pub fn arrive_explained(
        &mut self,
        now: Instant,
        packet: &Packet,
        lost: &mut impl FnMut(Lost),
    ) -> (Verdict, Explanation) {
        let mut why = Explanation::default();
        let verdict = self.arrive_and_tell(now, packet, lost, &mut why);
        why.verdict = Some(verdict);
        (verdict, why)
    }

    #[inline]
    fn arrive_and_tell(
        &mut self,
        now: Instant,
        packet: &Packet,
        lost: &mut impl FnMut(Lost),
        why: &mut impl Why,
    ) -> Verdict {
        if now >= self.due {
            self.catch_up(now, Phase::Arrivals, lost);
        }
        self.advance_clock(now);
        let port = packet.port as usize;
        let number = self.policy.classify(now, packet);
        assert!(
            number < self.config.queues && packet.bytes > 0,
            "the packet names a queue of its port and is not empty"
        );
        let place = Place { port, queue: port * self.config.queues + number };
        let charge = self.buffer.charge(packet.bytes);
        why.note(|e| self.describe(e, now, place.queue, charge));
        // Step 1.
        if charge > self.buffer.capacity() {
            self.losses[place.queue].drop(Reason::Oversize, packet.bytes);
            return Verdict::Dropped { reason: Reason::Oversize };
        }
        let rank = if self.uses_ranks { self.ranker.rank(now, packet) } else { 0 };
        let request = Request { now, packet, queue: place.queue, charge };
        match self.admit(request, place, rank, lost, why) {
            Ok(()) => self.enqueue(now, packet, place, charge, rank, lost),
            Err(reason) => {
                why.note(|e| e.holders = self.holders());
                self.reject(packet, place, reason)
            }
        }
    }

    /// Steps 2 and 3.
    #[inline]
    fn admit(
        &mut self,
        request: Request<'_>,
        place: Place,
        rank: u64,
        lost: &mut impl FnMut(Lost),
        why: &mut impl Why,
    ) -> Result<(), Reason> {
        let queue = &self.buffer.queues[place.queue];
        let (length, packets) = (queue.bytes, queue.packets);
        if !self.scheduler.admits(place.port, rank, packets, why) {
            return Err(Reason::Rank);
        }
        if packets >= self.queue_capacity {
            return Err(Reason::QueueFull);
        }
        if length > self.watermark {
            return Err(Reason::Watermark);
        }
        loop {
            match self.policy.admit(request, &self.buffer, why) {
                Admission::Admit => return Ok(()),
                Admission::Reject(reason) => return Err(reason),
                Admission::PushOut(victim) => self.push_out(request.now, victim, lost),
            }
        }
    }

    /// Steps 5 and 6.
    #[inline]
    fn enqueue(
        &mut self,
        now: Instant,
        packet: &Packet,
        place: Place,
        charge: u64,
        rank: u64,
        lost: &mut impl FnMut(Lost),
    ) -> Verdict {
        let length = self.buffer.length(place.queue);
        let mark = self.marker.judge(now, place.queue, length, packet.ect);
        if mark == Mark::Drop {
            self.losses[place.queue].drop(Reason::Marking, packet.bytes);
            return Verdict::Dropped { reason: Reason::Marking };
        }
        let lane = match self.scheduler.join(packet, rank) {
            Join::Yes(lane) => lane,
            Join::Displace => {
                self.push_out(now, place.queue, lost);
                0
            }
            Join::No => {
                self.losses[place.queue].drop(Reason::Rank, packet.bytes);
                return Verdict::Dropped { reason: Reason::Rank };
            }
        };
        if mark == Mark::Yes {
            self.losses[place.queue].marked.add(packet.bytes);
        }
        let slot = self.put(Descriptor::new(packet.id, packet.bytes, charge as u32, rank), place, charge);
        self.scheduler.insert(place, slot, lane, packet, &mut self.buffer);
        if self.uses_ranks {
            self.ranker.joined(packet, rank);
        }
        self.see_to_expulsions(now);
        Verdict::Queued { marked: mark == Mark::Yes }
    }

    /// Charges a packet to its queue.
    #[inline]
    fn put(&mut self, descriptor: Descriptor, place: Place, charge: u64) -> Slot {
        let bytes = descriptor.bytes();
        let slot = self.buffer.slots.allocate(descriptor);
        let before = self.buffer.charge_in(place.queue, slot, bytes, charge);
        let port = &mut self.ports[place.port];
        port.waiting |= 1 << (place.queue - place.port * self.config.queues);
        port.bytes += charge;
        port.peak = port.peak.max(port.bytes);
        self.policy.enqueued(place.queue, place.port, before, &self.buffer);
        slot
    }

    /// Takes a packet that has left its list out of its queue; `sent` if it goes onto the wire.
    #[inline]
    fn take(&mut self, now: Instant, place: Place, slot: Slot, sent: bool) -> Descriptor {
        let before = self.buffer.length(place.queue);
        let (descriptor, after) = self.buffer.charge_out(place.queue, slot);
        let port = &mut self.ports[place.port];
        port.bytes -= descriptor.charge();
        if after == 0 {
            port.waiting &= !(1 << (place.queue - place.port * self.config.queues));
            self.marker.emptied(now, place.queue);
        }
        let bytes = if sent { descriptor.bytes() } else { 0 };
        self.policy.dequeued(place.queue, place.port, before, &self.buffer, bytes);
        descriptor
    }

    /// Step 4: a packet that was rejected.
    fn reject(&mut self, packet: &Packet, place: Place, reason: Reason) -> Verdict {
        let losses = &mut self.losses[place.queue];
        match &self.config.trim {
            None => {
                losses.drop(reason, packet.bytes);
                Verdict::Dropped { reason }
            }
            Some(TrimConfig::SourceFlowControl(_)) => {
                losses.returned.add(packet.bytes);
                Verdict::Returned { reason }
            }
            Some(TrimConfig::Ndp(config)) => {
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
            Some(TrimConfig::CutPayload(config)) => {
                let bytes = packet.bytes.min(config.size.get() as u32);
                let charge = self.buffer.charge(bytes);
                if charge > self.buffer.remaining() {
                    losses.drop(Reason::HeaderFull, packet.bytes);
                    return Verdict::Dropped { reason: Reason::HeaderFull };
                }
                losses.trimmed.add(packet.bytes);
                let now = self.clock;
                let slot = self.put(Descriptor::new(packet.id, bytes, charge as u32, 0).cut(), place, charge);
                let queue = &mut self.buffer.queues[place.queue];
                // A header is not a packet that was admitted.
                queue.admitted.packets -= 1;
                queue.admitted.bytes -= u64::from(bytes);
                self.buffer.slots.push_back(&mut queue.list, slot);
                self.see_to_expulsions(now);
                Verdict::Trimmed { reason }
            }
        }
    }

    /// Takes the tail of a queue away for another packet.
    fn push_out(&mut self, now: Instant, queue: usize, lost: &mut impl FnMut(Lost)) {
        let place = self.place(queue);
        let slot =
            self.scheduler.take_tail(place, &mut self.buffer).expect("only a queue that holds packets is pushed out");
        self.evict(now, place, slot, Reason::PushedOut, None, lost);
    }

    fn evict(
        &mut self,
        now: Instant,
        place: Place,
        slot: Slot,
        reason: Reason,
        threshold: Option<f64>,
        lost: &mut impl FnMut(Lost),
    ) {
        let length = Bytes::new(self.buffer.length(place.queue));
        let descriptor = self.take(now, place, slot, false);
        self.buffer.read_for_expulsion += descriptor.charge();
        self.losses[place.queue].drop(reason, descriptor.bytes());
        self.losses[place.queue].headers_lost += u64::from(descriptor.is_header());
        if self.buffer.length(place.queue) == 0 {
            self.scheduler.emptied(place.port, place.queue % self.config.queues);
        }
        lost(Lost {
            id: descriptor.id,
            at: now,
            queue: place.queue,
            bytes: descriptor.bytes(),
            reason,
            length,
            threshold,
        });
    }

    // ---- Departures --------------------------------------------------------------------------------------------------

    /// Picks the next packet of an idle port. `None` if it has none that may leave now.
    ///
    /// The port is then busy for the serialization time of the packet; the caller keeps track of that, and calls again
    /// when it is over, before it brings the arrivals of that instant. Expulsions that were due are told to `lost`.
    #[inline]
    pub fn transmit(&mut self, now: Instant, port: usize, lost: &mut impl FnMut(Lost)) -> Option<Departure> {
        if now > self.due {
            self.catch_up(now, Phase::Transmissions, lost);
        }
        self.advance_clock(now);
        let state = &mut self.ports[port];
        if !state.headers.is_empty() {
            if let Some(TrimConfig::Ndp(config)) = &self.config.trim {
                if state.turn.header_next(config, true, state.waiting != 0) {
                    return self.transmit_header(now, port);
                }
            }
        } else if state.waiting != 0 && self.config.trim.is_some() {
            state.turn = HeaderTurn::default();
        }
        let waiting = state.waiting;
        let first_queue = port * self.config.queues;
        let (k, slot) = self.scheduler.pick(now, port, first_queue, waiting, &mut self.buffer)?;
        let place = Place { port, queue: first_queue + k };
        let descriptor = self.take(now, place, slot, true);
        let bytes = descriptor.bytes();
        self.buffer.read_for_transmission += descriptor.charge();
        let header = descriptor.is_header();
        if header {
            self.losses[place.queue].headers_sent.add(bytes);
        } else {
            self.buffer.queues[place.queue].sent.add(bytes);
        }
        if self.uses_ranks {
            self.ranker.picked(port, descriptor.rank, self.ports[port].waiting == 0);
        }
        self.spend(now, bytes);
        Some(Departure { id: descriptor.id, bytes, queue: Some(k), header, rank: descriptor.rank })
    }

    fn transmit_header(&mut self, now: Instant, port: usize) -> Option<Departure> {
        let slot = self.buffer.slots.pop_front(&mut self.ports[port].headers)?;
        let header = self.buffer.slots.release(slot);
        self.losses[header.rank as usize].headers_sent.add(header.bytes());
        self.spend(now, header.bytes());
        Some(Departure { id: header.id, bytes: header.bytes(), queue: None, header: true, rank: 0 })
    }

    /// Sending uses memory bandwidth that expulsion then lacks.
    #[inline]
    fn spend(&mut self, now: Instant, bytes: u32) {
        if let Policy::Occamy(occamy) = &mut self.policy {
            occamy.sent(now, bytes);
            self.see_to_expulsions(now);
        }
    }

    // ---- What the core does on its own -------------------------------------------------------------------------------

    /// Does everything that is due up to and including `now`, as if nothing else happened in this instant.
    pub fn settle(&mut self, now: Instant, lost: &mut impl FnMut(Lost)) {
        self.catch_up(now, Phase::Over, lost);
        self.advance_clock(now);
    }

    /// The first instant at which there is something that the core will do on its own; [`Instant::NEVER`] if there is
    /// nothing.
    pub fn due(&self) -> Instant {
        self.due
    }

    #[inline]
    fn advance_clock(&mut self, now: Instant) {
        debug_assert!(now >= self.clock, "time does not run backwards: {now} after {}", self.clock);
        self.clock = now;
    }

    /// After a change of the buffer: expulsions are to be tried at the end of this instant.
    #[inline]
    fn see_to_expulsions(&mut self, now: Instant) {
        if let Policy::Occamy(occamy) = &self.policy {
            self.due = if occamy.over_allocated() { now } else { self.next_update };
        }
    }

    /// Does what is due before the given phase of instant `now`.
    #[cold]
    #[inline(never)]
    fn catch_up(&mut self, now: Instant, phase: Phase, lost: &mut impl FnMut(Lost)) {
        self.expel(now, phase, lost);
        while self.next_update < now || (self.next_update == now && phase != Phase::Transmissions) {
            let interval = self.policy.interval().expect("only a policy with an interval has updates");
            let unsettled = self.policy.update(&self.buffer);
            self.next_update = self.next_update + interval;
            if !unsettled && self.next_update < now {
                // Nothing changes until the next arrival or departure: skip to the last update before it.
                let missed = now.since(self.next_update).ps() / interval.ps();
                self.next_update = self.next_update + Duration::from_ps(missed * interval.ps());
            }
        }
        if !matches!(self.policy, Policy::Occamy(_)) {
            self.due = self.next_update;
        }
    }

    /// Expels what can be expelled before the given phase of `now`: each packet at the first instant, from the last change
    /// of the buffer on, at which there are tokens for it.
    fn expel(&mut self, now: Instant, phase: Phase, lost: &mut impl FnMut(Lost)) {
        let mut at = self.clock;
        loop {
            let Policy::Occamy(occamy) = &mut self.policy else { return };
            self.due = Instant::NEVER;
            let Some(candidate) = occamy.candidate(&self.buffer) else { return };
            let place = Place { port: candidate.queue / self.config.queues, queue: candidate.queue };
            let head = self.scheduler.head(place, &self.buffer).expect("an over-allocated queue holds packets");
            let bytes = self.buffer.slots.get(head).bytes();
            at = occamy.ready(at, bytes);
            // The end of an instant comes after its arrivals.
            let past = if phase == Phase::Over { at <= now } else { at < now };
            if !past {
                self.due = at;
                return;
            }
            occamy.expelled(at, candidate.queue, bytes);
            let slot = self.scheduler.take_head(place, &mut self.buffer).expect("its head was just looked at");
            self.evict(at, place, slot, Reason::Expelled, Some(candidate.threshold), lost);
        }
    }

    // ---- Reconfiguration ---------------------------------------------------------------------------------------------

    /// Changes settings while packets wait: the policy and its parameters, weights, thresholds, capacities, marking, trimming
    /// and port rates. All of the new configuration applies at once, or none of it and an error says why.
    ///
    /// The ports, the queues, the buffer and its cells stay as they are. A policy of the same kind goes on from what
    /// it has measured. The scheduler may change among those that keep packets in order of arrival at any time; to or from
    /// one that sorts them, only while nothing waits.
    pub fn reconfigure(&mut self, config: TmConfig) -> Result<(), ConfigError> {
        let new = config.validate()?;
        let old = &self.config;
        let fixed = |field, value: &dyn core::fmt::Display| {
            Err(ConfigError::new(field, value, "it cannot change while the switch runs")
                .remedy("keep it, or start a new switch"))
        };
        if new.rates.len() != old.rates.len() {
            return fixed("ports", &new.rates.len());
        }
        if new.queues != old.queues {
            return fixed("queues", &new.queues);
        }
        if new.buffer != old.buffer {
            return fixed("buffer", &new.buffer);
        }
        if new.cell != old.cell {
            return fixed("cell", &new.cell);
        }
        if new.cell_pointers != old.cell_pointers {
            return fixed("cell_pointers", &new.cell_pointers);
        }
        let in_order = new.scheduler.keeps_order() && old.scheduler.keeps_order();
        let same_lanes = match (&new.scheduler, &old.scheduler) {
            (crate::schedule::SchedulerConfig::SpPifo(new), crate::schedule::SchedulerConfig::SpPifo(old)) => {
                new.queues == old.queues
            }
            (crate::schedule::SchedulerConfig::Afq(new), crate::schedule::SchedulerConfig::Afq(old)) => new == old,
            (new, old) => new.name() == old.name(),
        };
        let idle = self.buffer.used() == 0;
        if !idle && !in_order && !same_lanes {
            return Err(ConfigError::new(
                "scheduler.kind",
                new.scheduler.name(),
                format!("packets wait in the order of {}", old.scheduler.name()),
            )
            .remedy("change it while the switch is empty"));
        }
        let headers_wait = self.ports.iter().any(|port| !port.headers.is_empty());
        if headers_wait && !matches!(new.trim, Some(TrimConfig::Ndp(_))) {
            return Err(ConfigError::new("trim", "changed", "headers wait in the header queues")
                .remedy("change it when they have left"));
        }
        // Nothing can fail from here on.
        let mut policy = Policy::new(&new);
        policy.succeed(&self.policy, &self.buffer, new.queues);
        let mut scheduler = Scheduler::new(&new);
        if same_lanes {
            scheduler.succeed(&self.scheduler);
        }
        let mut marker = Marker::new(&new);
        marker.succeed(&self.marker);
        if new.rank != old.rank {
            self.ranker = Ranker::new(&new);
        }
        let interval = policy.interval();
        if interval != self.policy.interval() {
            self.next_update = interval.map_or(Instant::NEVER, |interval| self.clock + interval);
        }
        self.policy = policy;
        self.scheduler = scheduler;
        self.marker = marker;
        self.uses_ranks = new.scheduler.uses_ranks();
        self.config = new;
        self.due = self.next_update;
        self.read_limits();
        self.see_to_expulsions(self.clock);
        Ok(())
    }

    // ---- Looking in --------------------------------------------------------------------------------------------------

    /// The configuration in force.
    pub fn config(&self) -> &ValidConfig {
        &self.config
    }

    /// The index of a queue, `port * K + queue`.
    pub fn queue_index(&self, port: usize, queue: usize) -> usize {
        port * self.config.queues + queue
    }

    /// Bytes charged to a queue: `q_i`.
    #[inline]
    pub fn queue_bytes(&self, queue: usize) -> Bytes {
        Bytes::new(self.buffer.length(queue))
    }

    /// Packets waiting in a queue.
    pub fn queue_packets(&self, queue: usize) -> usize {
        self.buffer.queues[queue].packets as usize
    }

    /// Headers waiting at a port.
    pub fn header_packets(&self, port: usize) -> usize {
        self.ports[port].headers.len()
    }

    /// Bytes charged to all queues: `Q`.
    #[inline]
    pub fn used(&self) -> Bytes {
        Bytes::new(self.buffer.used())
    }

    /// The rate of a port.
    #[inline]
    pub fn rate(&self, port: usize) -> Rate {
        self.config.rates[port]
    }

    /// Whether a port has anything to send, now or later.
    #[inline]
    pub fn has_packets(&self, port: usize) -> bool {
        let port = &self.ports[port];
        port.waiting != 0 || !port.headers.is_empty()
    }

    /// For a port that has packets but may not send any yet (PIEO): when it may.
    pub fn next_eligible(&self, port: usize) -> Option<Instant> {
        self.scheduler.next_eligible(port)
    }

    /// The threshold of a queue as it is now, for an ordinary packet; `None` where the policy has none.
    pub fn threshold(&self, queue: usize) -> Option<Threshold> {
        self.policy.threshold(queue, queue / self.config.queues, &self.buffer)
    }

    /// The counters of a queue.
    pub fn queue_counters(&self, queue: usize) -> Counters {
        Counters::of_queue(&self.buffer.queues[queue], &self.losses[queue])
    }

    /// The counters of a port: the sums over its queues, and its own peak.
    pub fn port_counters(&self, port: usize) -> Counters {
        let first = port * self.config.queues;
        let mut sum = self.sum(first..first + self.config.queues);
        sum.peak = Bytes::new(self.ports[port].peak);
        sum
    }

    /// The counters of the whole buffer: the sums over all queues, and its own peak.
    pub fn pool_counters(&self) -> Counters {
        let mut sum = self.sum(0..self.buffer.queues.len());
        sum.peak = Bytes::new(self.buffer.peak());
        sum
    }

    fn sum(&self, queues: core::ops::Range<usize>) -> Counters {
        queues.fold(Counters::default(), |mut sum, queue| {
            sum.add(&self.queue_counters(queue));
            sum
        })
    }

    /// Memory bandwidth used so far.
    pub fn memory_reads(&self) -> MemoryReads {
        MemoryReads {
            transmission: Bytes::new(self.buffer.read_for_transmission),
            expulsion: Bytes::new(self.buffer.read_for_expulsion),
        }
    }

    /// Whether all accounts agree: packets, bytes and cells are conserved, in every queue and in all. Slow; for tests.
    pub fn is_consistent(&self) -> bool {
        let headers = self.ports.iter().map(|port| port.headers.len()).sum();
        let waiting = |queue| self.scheduler.waiting(self.place(queue), &self.buffer);
        let ports = self.ports.iter().enumerate().all(|(p, port)| {
            let first = p * self.config.queues;
            let queues = &self.buffer.queues[first..first + self.config.queues];
            let mask = queues.iter().enumerate().fold(0, |mask, (k, queue)| mask | u64::from(queue.bytes > 0) << k);
            port.waiting == mask && port.bytes == queues.iter().map(|queue| queue.bytes).sum::<u64>()
        });
        let counters = self.pool_counters();
        let gone =
            counters.sent.packets + counters.dropped.packets + counters.returned.packets + counters.trimmed.packets;
        // A header that waited in a data queue and was pushed out or expelled counts as trimmed and as dropped.
        let headers_lost: u64 = self.losses.iter().map(|losses| losses.headers_lost).sum();
        let headers_in_queues =
            counters.trimmed.packets - counters.headers_sent.packets - headers as u64 - headers_lost;
        let data_waiting = counters.waiting.packets - headers_in_queues;
        self.buffer.is_consistent(waiting, headers)
            && ports
            && counters.offered.packets + headers_lost == gone + data_waiting
    }

    fn place(&self, queue: usize) -> Place {
        Place { port: queue / self.config.queues, queue }
    }

    fn describe(&self, e: &mut Explanation, now: Instant, queue: usize, charge: u64) {
        e.at = now;
        e.queue = queue;
        e.charge = Bytes::new(charge);
        e.length = self.queue_bytes(queue);
        e.waiting = self.queue_packets(queue);
        e.total = self.used();
        e.buffer = Bytes::new(self.buffer.capacity());
    }

    /// The queues that hold the buffer, the longest first.
    fn holders(&self) -> Vec<Holder> {
        let mut holders: Vec<Holder> = (0..self.buffer.queues.len())
            .map(|queue| Holder { queue, bytes: self.queue_bytes(queue) })
            .filter(|holder| holder.bytes > Bytes::ZERO)
            .collect();
        holders.sort_by_key(|holder| (core::cmp::Reverse(holder.bytes), holder.queue));
        holders
    }
}
