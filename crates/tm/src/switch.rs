//! The traffic manager. [`Tm::offer`] takes an arriving packet, [`Tm::dequeue`] picks the next packet of a port.
//!
//! There are two kinds of internal events: periodic updates of a policy, and expulsions. They run lazily, at the next
//! call whose `now` has reached them, each as of its own time. So a caller need not schedule them: decisions are the
//! same whether it does or not. Evictions are reported, and a [`View`] is up to date, after the next call.
//!
//! Events with equal timestamps run in this order: dequeues, updates, arrivals, expulsions. A caller keeps to it. At
//! each instant it first dequeues from the ports whose transmission has ended, then offers the arrivals. After an offer
//! to an idle port that was not [`Outcome::Sent`], it dequeues from that port at once.
//!
//! This file decides when things happen. What happens to a packet is in `path.rs`, `path/arrivals.rs` and
//! `path/departures.rs`. The arrival path is chosen when the switch is built: `Plain` has the buffer policy alone,
//! `Checked` adds queue limits and ECN, `Aifo` adds its admission test, and the full path has everything.
//! [`Dispatch`] leads to the concrete type of the policy, so that each policy has compiled code of its own.

use crate::admit::{ActivePolicy, Dispatch, DynamicThresholds, Policy, Unobserved};
use crate::config::{ConfigError, TmConfig, ValidConfig};
use crate::counters::{Counters, MemoryReads};
use crate::mark::Marker;
use crate::packet::{Packet, PacketId, Summary};
use crate::path::{ArrivalPath, DeparturePath, FastRoundRobin, Path, Plain};
use crate::rank::Ranker;
use crate::schedule::Scheduler;
use crate::trim::TrimConfig;
use crate::units::{Bytes, Duration, Instant, Rate};
use crate::verdict::{Departure, Eviction, Explain, Explanation, Outcome, Reason, Refusal, Threshold, Wire};
use crate::view::View;
use alloc::collections::VecDeque;
use alloc::format;

/// How far the current instant has got. Internal events run in between.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Before the dequeues, which come first.
    Dequeues,
    /// Before the arrivals: updates have been made.
    Arrivals,
    /// After the expulsions, which come last.
    End,
}

/// The traffic manager of one switch.
///
/// A `Tm` has any policy, and a call branches on which one it is. A `Tm<P>` has a policy of one type: see
/// [`specialize`](crate::admit::specialize).
#[derive(Clone, Debug)]
pub struct Tm<P = ActivePolicy> {
    path: Path,
    policy: P,
    /// The policy is plain DT and nothing else looks at arrivals, as in most switches: `offer` takes the fast path
    /// after one branch.
    fast_dt: bool,
    /// The scheduler is round robin, and the policy has no use for departures.
    fast_dequeue: bool,
}

impl Tm {
    /// A traffic manager with an empty buffer at time 0.
    pub fn new(config: ValidConfig) -> Self {
        let policy = ActivePolicy::of(&config);
        let next_update = policy.update_interval().map_or(Instant::NEVER, |interval| Instant::ZERO + interval);
        let mut path = Path::new(config);
        (path.next_update, path.due) = (next_update, next_update);
        let mut tm = Self { path, policy, fast_dt: false, fast_dequeue: false };
        tm.choose_fast_paths();
        tm
    }

    /// The same switch, whose policy is called through a pointer, as those of other crates are.
    #[cfg(test)]
    pub(crate) fn with_erased_policy(mut self) -> Self {
        self.policy = crate::admit::with_policy!(self.policy.0, policy => ActivePolicy::new(policy));
        self.choose_fast_paths();
        self
    }

    /// The same traffic manager with its policy as another type.
    pub(crate) fn map_policy<P: Dispatch>(self, map: impl FnOnce(Policy) -> P) -> Tm<P> {
        let Self { path, policy, fast_dequeue, .. } = self;
        Tm { path, policy: map(policy.0), fast_dt: false, fast_dequeue }
    }

    /// Whether the policy of a traffic manager is such.
    pub(crate) fn has_policy(&self, is_such: impl Fn(&Policy) -> bool) -> bool {
        is_such(&self.policy.0)
    }

    fn choose_fast_paths(&mut self) {
        self.fast_dt =
            self.path.arrival_path == ArrivalPath::Plain && matches!(self.policy.0, Policy::DynamicThresholds(_));
        let is_passive = !self.policy.observes() && !self.policy.expels() && self.policy.update_interval().is_none();
        self.fast_dequeue = self.path.departure_path == DeparturePath::FastRoundRobin && is_passive;
    }
}

impl<P: Dispatch> Tm<P> {
    // ---- Arrivals and departures ----------------------------------------------------------------

    /// A packet arrives, for a port whose wire is idle or busy: it is queued, trimmed, returned or dropped.
    ///
    /// [`Outcome::Sent`] says that it was admitted and has left at once: the wire is busy from now on. This is so
    /// exactly when it was admitted unmarked, the wire was idle, the port was empty, the policy did not move the packet
    /// to another queue, PIEO has it eligible, and no [`Tm::drain_evictions`] are pending. After any other outcome, a caller
    /// whose wire is idle calls [`Tm::dequeue`].
    ///
    /// # Panics
    /// If the packet names a port, queue or [`class`](Packet::class) that does not exist, or is empty or longer than
    /// [`MAX_PACKET_BYTES`](crate::packet::MAX_PACKET_BYTES).
    #[inline]
    pub fn offer(&mut self, now: Instant, packet: &Packet, wire: Wire) -> Outcome {
        self.offer_with(now, packet, 0, wire, &mut ())
    }

    /// [`Tm::offer`], with the numbers that led to the outcome.
    pub fn offer_explained(&mut self, now: Instant, packet: &Packet, wire: Wire) -> (Outcome, Explanation) {
        let mut why = Explanation::default();
        let outcome = self.offer_with(now, packet, Summary::of(packet).place(), wire, &mut why);
        why.verdict = Some(outcome.verdict());
        (outcome, why)
    }

    /// [`Tm::offer`] of a packet whose priority group is at `place`.
    #[inline(always)]
    pub(crate) fn offer_with(
        &mut self,
        now: Instant,
        packet: &Packet,
        place: usize,
        wire: Wire,
        why: &mut impl Explain,
    ) -> Outcome {
        if P::IS_ONE_OF_MANY && self.fast_dt {
            // DT has no internal events.
            self.advance_clock(now);
            return self.path.offer_fast::<_, Plain>(&mut DynamicThresholds, now, packet, place, wire, why);
        }
        if now >= self.path.due {
            self.catch_up(now, Phase::Arrivals);
        }
        self.advance_clock(now);
        self.policy.offer(&mut self.path, now, packet, place, wire, why)
    }

    /// Removes the next packet of an idle port and returns it. `None` if the port has none that may leave now.
    ///
    /// The wire is then busy for the serialization time of the packet. The caller keeps track of that, and calls again
    /// when it is over, before it offers the arrivals of that instant. Expulsions that were due are among the
    /// [`Tm::drain_evictions`].
    ///
    /// # Panics
    /// If the port does not exist.
    #[inline(always)]
    pub fn dequeue(&mut self, now: Instant, port: usize) -> Option<Departure> {
        if self.fast_dequeue {
            self.advance_clock(now);
            self.path.transmit::<_, FastRoundRobin>(&mut Unobserved, now, port)
        } else {
            self.dequeue_observed(now, port)
        }
    }

    #[inline]
    fn dequeue_observed(&mut self, now: Instant, port: usize) -> Option<Departure> {
        if now > self.path.due {
            self.catch_up(now, Phase::Dequeues);
        }
        self.advance_clock(now);
        if self.path.departure_path == DeparturePath::FastRoundRobin {
            self.policy.transmit_round_robin(&mut self.path, now, port)
        } else {
            self.dequeue_scheduled(now, port)
        }
    }

    /// [`Tm::dequeue`] with a scheduler other than round robin, or on the full path.
    #[inline(never)]
    fn dequeue_scheduled(&mut self, now: Instant, port: usize) -> Option<Departure> {
        self.policy.transmit_scheduled(&mut self.path, now, port)
    }

    /// [`Tm::dequeue`] among the queues that are not paused: bit `k` of `paused` says that queue `k` is paused. Queues
    /// of trimmed headers (NDP) are never paused. A paused queue loses the rest of its quantum in weighted round robin
    /// and DRR, as an empty one does.
    pub fn dequeue_unpaused(&mut self, now: Instant, port: usize, paused: u64) -> Option<Departure> {
        // Internal events see all queues.
        if now > self.path.due {
            self.catch_up(now, Phase::Dequeues);
        }
        let hidden = self.path.ports[port].nonempty & paused;
        for number in (0..u64::BITS as usize).filter(|number| hidden >> number & 1 != 0) {
            self.path.ports[port].cursor.emptied(number);
            self.path.scheduler.emptied(port, number);
        }
        self.path.ports[port].nonempty &= !hidden;
        let departure = self.dequeue(now, port);
        self.path.ports[port].nonempty |= hidden;
        departure
    }

    /// The earliest time at which a port that has only packets that are not eligible yet (PIEO) can send one.
    pub fn next_eligible(&self, port: usize) -> Option<Instant> {
        self.path.scheduler.next_eligible(port)
    }

    /// Drains the list of packets that were pushed out or expelled since the last call, oldest first. The list grows
    /// until it is drained, and while it is not empty no packet is [`Outcome::Sent`].
    pub fn drain_evictions(&mut self) -> impl Iterator<Item = Eviction> {
        self.path.evictions.drain(..).map(|(eviction, _)| eviction)
    }

    /// Whether [`Tm::drain_evictions`] are pending.
    #[inline(always)]
    pub fn has_evictions(&self) -> bool {
        !self.path.evictions.is_empty()
    }

    #[inline(always)]
    fn advance_clock(&mut self, now: Instant) {
        debug_assert!(now >= self.path.clock, "time does not run backwards: {now} after {}", self.path.clock);
        self.path.clock = now;
    }

    // ---- Internal events: updates and expulsions ------------------------------------------------

    /// Runs all internal events up to and including `now`, the expulsions at the end of this instant among them. What
    /// is offered or dequeued at the same `now` afterwards comes after these.
    pub fn advance(&mut self, now: Instant) {
        self.catch_up(now, Phase::End);
        self.advance_clock(now);
    }

    /// When the next internal event may run: possibly too early, never too late. [`Instant::NEVER`] if there is none.
    pub fn due(&self) -> Instant {
        self.path.due
    }

    /// Runs the internal events that come before the given phase of instant `now`.
    #[cold]
    #[inline(never)]
    fn catch_up(&mut self, now: Instant, phase: Phase) {
        let before = |instant: Instant| instant.ps().checked_sub(1).map(Instant::from_ps);
        // Expulsions come at the end of an instant, after its arrivals.
        let end = if phase == Phase::End { Some(now) } else { before(now) };
        let mut from = self.path.clock;
        loop {
            let next = self.path.next_update;
            let is_due = next < now || (next == now && phase != Phase::Dequeues);
            // `Instant::NEVER` is no time: there is no update then.
            let Some(interval) = self.policy.update_interval().filter(|_| is_due && next < Instant::NEVER) else {
                break;
            };
            self.expel(from, before(next));
            from = next;
            let changed = self.policy.make_update(&self.path.buffer);
            let mut next = next + interval;
            // There is no traffic in between: the updates that were missed change nothing, or one step has the effect
            // of all of them.
            let missed = now.since(next).ps() / interval.ps();
            if missed > 0 && !self.policy.expels() && (!changed || self.policy.repeat_update(&self.path.buffer, missed))
            {
                next = next + Duration::from_ps(missed * interval.ps());
            }
            self.path.next_update = next;
        }
        let expulsion = self.expel(from, end);
        self.path.due = self.path.next_update.min(expulsion);
    }

    /// Expels what can be expelled up to an instant, and returns when there may be more.
    fn expel(&mut self, from: Instant, until: Option<Instant>) -> Instant {
        self.policy.expel(&mut self.path, from, until)
    }

    // ---- Decisions made elsewhere, and checks ---------------------------------------------------

    /// The ingress pipeline of a programmable switch has dropped or trimmed a packet, which was not offered. It counts
    /// as offered, and as dropped or trimmed.
    ///
    /// # Panics
    /// If the packet names a port or queue that does not exist.
    #[cold]
    pub fn refuse(&mut self, packet: &Packet, refusal: Refusal) {
        assert!((packet.queue as usize) < self.path.config.queues, "the packet names a queue of its port");
        let stats = &mut self.path.stats[packet.port as usize * self.path.config.queues + packet.queue as usize];
        match refusal {
            Refusal::Dropped(reason) => stats.drop(reason, packet.bytes),
            // The caller owns the header: it is trimmed in counters, but not queued here.
            Refusal::Trimmed => stats.mirrored.add(packet.bytes),
        }
    }

    /// Counts the latest drop as trimmed instead: the caller has mirrored the header of that packet (mirror on drop).
    /// Returns false and does nothing if `id` is not that of the latest drop. The header, if it is offered, is a packet
    /// like any other.
    #[cold]
    pub fn keep_header(&mut self, id: PacketId) -> bool {
        let Some(dropped) = self.path.last_drop.take_if(|dropped| dropped.id == id) else { return false };
        self.path.stats[dropped.queue as usize].keep_header(dropped.reason, dropped.bytes);
        true
    }

    /// The egress pipeline of a programmable switch drops a packet that was dequeued. It counts as expelled: that is
    /// how Occamy expels packets on such a switch.
    ///
    /// # Panics
    /// If the port does not exist.
    #[cold]
    #[allow(clippy::needless_pass_by_value, reason = "takes ownership, so that it cannot be sent as well")]
    pub fn discard(&mut self, port: usize, departure: Departure) {
        let (bytes, stats) =
            (departure.bytes(), &mut self.path.stats[port * self.path.config.queues + departure.number()]);
        if departure.is_header() {
            stats.discard_header(bytes);
        } else {
            stats.drop(Reason::Expelled, bytes);
            self.path.buffer.read_beyond_sent += u64::from(bytes);
        }
    }

    /// The packets of a queue.
    pub(crate) fn waiting_in(&self, queue: usize) -> impl Iterator<Item = (PacketId, Summary)> {
        let slots = self.path.scheduler.waiting(self.path.queue_id(queue), self.path.sorted, &self.path.buffer);
        slots.into_iter().map(|slot| {
            let descriptor = self.path.buffer.slots.get(slot);
            (descriptor.id, descriptor.summary)
        })
    }

    /// The packets of a queue with the bytes that they are charged; without a list, where packets wait in the order of
    /// their arrival.
    #[inline]
    pub(crate) fn visit_waiting_in(&self, queue: usize, mut visit: impl FnMut(PacketId, u32)) {
        let buffer = &self.path.buffer;
        let mut show = |id, summary: Summary| visit(id, buffer.charge(summary.bytes()) as u32);
        if self.path.sorted {
            return self.waiting_in(queue).for_each(|(id, summary)| show(id, summary));
        }
        for slot in buffer.in_order(queue) {
            let descriptor = buffer.slots.get(slot);
            show(descriptor.id, descriptor.summary);
        }
    }

    /// Checks the invariants: packets, bytes and cells are conserved, per queue and in total. Slow; for tests.
    pub fn is_consistent(&self) -> bool {
        let Path { buffer, ports, scheduler, stats, header_queues, config, sorted, .. } = &self.path;
        let waiting = |queue| scheduler.waiting(self.path.queue_id(queue), *sorted, buffer);
        let ports_agree = ports.iter().zip(header_queues).enumerate().all(|(p, (port, headers))| {
            let queues = &buffer.queues[p * config.queues..(p + 1) * config.queues];
            let mask = queues.iter().enumerate().fold(0, |mask, (k, queue)| mask | u64::from(queue.bytes > 0) << k);
            port.nonempty == mask
                && port.bytes == queues.iter().map(|queue| queue.bytes).sum::<u64>()
                && port.headers as usize == headers.len()
        });
        // What has left is not counted: it is what was admitted, neither waits nor was evicted. It is never negative.
        let queues_agree = buffer.queues.iter().zip(stats).all(|(queue, stats)| {
            let (totals, evicted) = (queue.totals(), stats.evicted());
            totals.admitted.packets >= totals.waiting_whole.packets + evicted.packets
                && totals.admitted.bytes >= totals.waiting_whole.bytes + evicted.bytes
        });
        // A header waits in a queue of headers, waits among the data, has left, or was lost.
        let trimmed: u64 = stats.iter().map(|stats| stats.trimmed.packets).sum();
        let gone: u64 = stats.iter().map(|stats| stats.headers_sent.packets + stats.headers_lost.packets).sum();
        let in_header_queues: usize = header_queues.iter().map(VecDeque::len).sum();
        let in_data_queues: u64 = buffer.queues.iter().map(|queue| u64::from(queue.headers())).sum();
        buffer.is_consistent(waiting)
            && ports_agree
            && queues_agree
            && trimmed == gone + in_header_queues as u64 + in_data_queues
    }
}

impl Tm {
    // ---- Reconfiguration ------------------------------------------------------------------------

    /// Changes settings while packets wait: the policy and its parameters, weights, thresholds, capacities, marking,
    /// trimming and port rates. All of the new configuration applies at once, or none of it and an error says why. It
    /// applies from the time of the latest call on: [`Tm::advance`] first, to change settings at another instant.
    ///
    /// The numbers of ports and queues, the buffer and its cells cannot change. A policy of the same kind goes on from
    /// what it has measured. The scheduler may change at any time among those that keep packets in order of arrival,
    /// and among those with the same FIFO queues of their own; else only while the buffer is empty. Trimming other than
    /// NDP's has to wait until NDP's header queues are empty.
    pub fn reconfigure(&mut self, config: TmConfig) -> Result<(), ConfigError> {
        let new = config.validate()?;
        self.check_change(&new)?;
        self.apply(new);
        Ok(())
    }

    /// Whether these settings can take over from those in force, with the packets that wait.
    fn check_change(&self, new: &ValidConfig) -> Result<(), ConfigError> {
        let old = &self.path.config;
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
        // Schedulers with FIFO queues of their own, and as many of them.
        let same_lanes = new.scheduler.keeps_packets_of(&old.scheduler);
        let empty = self.path.buffer.used() == 0;
        if !empty && !in_order && !same_lanes {
            return Err(ConfigError::new(
                "scheduler.kind",
                new.scheduler.name(),
                format!("packets wait in the order of {}", old.scheduler.name()),
            )
            .remedy("change it while the switch is empty"));
        }
        let headers_wait = self.path.ports.iter().any(|port| port.headers > 0);
        if headers_wait && !matches!(new.trim, Some(TrimConfig::Ndp(_))) {
            return Err(ConfigError::new("trim", "changed", "headers wait in the header queues")
                .remedy("change it when they have left"));
        }
        Ok(())
    }

    /// Puts new settings into force, which have been checked.
    fn apply(&mut self, new: ValidConfig) {
        let old = &self.path.config;
        let same_lanes = new.scheduler.keeps_packets_of(&old.scheduler);
        let mut policy = ActivePolicy::of(&new);
        let mut scheduler = Scheduler::new(&new);
        if same_lanes {
            scheduler.inherit(&self.path.scheduler);
        }
        let mut marker = Marker::new(&new);
        marker.inherit(&self.path.marker);
        if new.rank != old.rank {
            self.path.ranker = Ranker::new(&new);
        }
        let interval = policy.update_interval();
        if interval != self.policy.update_interval() {
            self.path.next_update = interval.map_or(Instant::NEVER, |interval| self.path.clock + interval);
        }
        if new.scheduler != old.scheduler {
            // A visit of weighted round robin starts anew under new weights.
            for port in &mut self.path.ports {
                port.cursor.end_visit();
            }
        }
        self.path.scheduler = scheduler;
        self.path.marker = marker;
        self.path.config = new;
        self.path.read_settings();
        policy.inherit(&self.policy, self.path.clock, &self.path.buffer, self.path.config.queues);
        self.policy = policy;
        self.choose_fast_paths();
        self.path.due = self.path.next_update;
        self.policy.schedule_expulsion(&mut self.path);
    }

    // ---- For both sides of a buffer -------------------------------------------------------------

    /// Runs the internal events that come before the arrivals of this instant. Returns whether there was any.
    #[inline(always)]
    pub(crate) fn settle(&mut self, now: Instant) -> bool {
        let is_due = now >= self.path.due;
        if is_due {
            self.catch_up(now, Phase::Arrivals);
        }
        is_due
    }

    /// Whether plain DT alone decides: there are no internal events and no evictions.
    pub(crate) fn is_dt_alone(&self) -> bool {
        self.fast_dt
    }

    /// [`Tm::offer_with`] where dynamic thresholds alone decide.
    #[inline(always)]
    pub(crate) fn offer_dt(&mut self, now: Instant, packet: &Packet, place: usize, wire: Wire) -> Outcome {
        self.advance_clock(now);
        self.path.offer_fast::<_, Plain>(&mut DynamicThresholds, now, packet, place, wire, &mut ())
    }

    /// [`Tm::drain_evictions`], with the places of their priority groups.
    pub(crate) fn placed_evictions(&mut self) -> impl Iterator<Item = (Eviction, usize)> {
        self.path.evictions.drain(..)
    }

    /// Reverie: what is free in the pool of the packet that comes next.
    pub(crate) fn tell_free(&mut self, bytes: u64) {
        if let Policy::Reverie(policy) = &mut self.policy.0 {
            policy.free = Some(bytes);
        }
    }

    /// Whether the policy expels packets.
    pub(crate) fn expels(&self) -> bool {
        self.policy.expels()
    }
}

impl<P: Dispatch> View for Tm<P> {
    fn config(&self) -> &ValidConfig {
        &self.path.config
    }

    #[inline]
    fn queue_bytes(&self, queue: usize) -> Bytes {
        Bytes::new(self.path.buffer.length(queue))
    }

    fn queue_packets(&self, queue: usize) -> usize {
        self.path.buffer.queues[queue].packets() as usize
    }

    fn header_packets(&self, port: usize) -> usize {
        self.path.ports[port].headers as usize
    }

    #[inline]
    fn used(&self) -> Bytes {
        Bytes::new(self.path.buffer.used())
    }

    #[inline]
    fn rate(&self, port: usize) -> Rate {
        self.path.config.rates[port]
    }

    #[inline]
    fn has_packets(&self, port: usize) -> bool {
        let port = &self.path.ports[port];
        !port.is_empty()
    }

    #[inline]
    fn port_bytes(&self, port: usize) -> Bytes {
        Bytes::new(self.path.ports[port].bytes)
    }

    #[inline]
    fn nonempty_queues(&self, port: usize) -> u64 {
        self.path.ports[port].nonempty
    }

    fn threshold(&self, queue: usize) -> Option<Threshold> {
        self.policy.threshold(self.path.queue_id(queue), &self.path.buffer)
    }

    fn queue_counters(&self, queue: usize) -> Counters {
        Counters::new(&self.path.buffer.queues[queue].totals(), &self.path.stats[queue])
    }

    fn dropped_packets(&self) -> u64 {
        self.path.stats.iter().map(|stats| stats.dropped_packets).sum()
    }

    fn memory_reads(&self) -> MemoryReads {
        MemoryReads {
            transmission: Bytes::new(self.pool_counters().sent.bytes + self.path.buffer.read_beyond_sent),
            expulsion: Bytes::new(self.path.buffer.read_for_eviction),
        }
    }

    fn port_peak(&self, port: usize) -> Bytes {
        Bytes::new(self.path.ports[port].peak)
    }

    fn peak(&self) -> Bytes {
        Bytes::new(self.path.buffer.peak())
    }
}
