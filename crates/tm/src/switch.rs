//! The traffic manager: [`Tm::arrive`], [`Tm::transmit`], [`Tm::settle`].
//!
//! The core has no clock: every call says what time it is, and times never decrease. What the core does on its own (periodic
//! updates of a policy, expulsions) it does when a call shows that its time has come, in the order of the specification:
//! at one instant first transmissions, then updates, then arrivals, then expulsions. So a caller need not wake it, and gets the
//! same results whether it does or not.

use crate::admit::{Deaf, DynamicThresholds, Policy, Scheme, real, with_policy};
use crate::buffer::Queue;
use crate::config::{ConfigError, TmConfig, ValidConfig};
use crate::counters::{Counters, MemoryReads};
use crate::mark::Marker;
use crate::packet::{Packet, PacketId};
use crate::path::Path;
use crate::rank::Ranker;
use crate::schedule::{Place, Scheduler, SchedulerConfig};
use crate::trim::TrimConfig;
use crate::units::{Bytes, Duration, Instant, Rate};
use crate::verdict::{Departure, Explanation, Lost, Reason, Threshold, Verdict, Why};
use crate::view::View;
use alloc::format;

/// Where an instant is, for what the core does on its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Transmissions,
    Arrivals,
    Over,
}

/// How packets go through a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Route {
    /// The plain path, under DT.
    PlainDt,
    /// The plain path.
    Plain,
    /// The plain path behind AIFO's test.
    PlainAifo,
    /// The plain path with step marking.
    PlainStep,
    /// The whole path.
    Special,
}

impl Route {
    fn of(path: &Path, policy: &Policy) -> Self {
        match policy {
            _ if path.is_plain_aifo() => Self::PlainAifo,
            _ if path.is_plain_step() => Self::PlainStep,
            _ if !path.is_plain() => Self::Special,
            Policy::DynamicThresholds(_) => Self::PlainDt,
            _ => Self::Plain,
        }
    }
}

/// Whether packets can be let through by their length alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ByLength {
    Never,
    /// If they fit.
    Room,
    /// If their queue is within `alpha * (B - Q)`, too.
    Thresholds,
    /// As the policy says, which has to hear of them.
    Listening,
    /// As under `Room` or `Thresholds`, and AIFO remembers their ranks.
    Ranked,
}

/// DT's rule.
#[inline(always)]
fn within(bytes: u32) -> impl FnOnce(usize, &Queue, u64) -> bool {
    move |_, queue, remaining| real(queue.bytes + u64::from(bytes)) <= queue.alpha * real(remaining)
}

/// The traffic manager of one switch.
#[derive(Clone, Debug)]
pub struct Tm {
    path: Path,
    policy: Policy,
    /// What arrivals branch on first.
    route: Route,
    /// For [`Tm::pass_by_length`].
    by_length: ByLength,
    /// Departures take the plain path, and the policy does not listen to them.
    plain_and_deaf: bool,
    /// The next periodic update.
    next_update: Instant,
}

impl Tm {
    /// A traffic manager with an empty buffer at time 0.
    pub fn new(config: ValidConfig) -> Self {
        let policy = Policy::new(&config);
        let next_update = policy.interval().map_or(Instant::NEVER, |interval| Instant::ZERO + interval);
        let mut path = Path::new(config);
        path.due = next_update;
        let mut tm = Self {
            route: Route::Special,
            by_length: ByLength::Never,
            plain_and_deaf: false,
            path,
            policy,
            next_update,
        };
        tm.choose_route();
        tm
    }

    fn choose_route(&mut self) {
        self.route = Route::of(&self.path, &self.policy);
        self.by_length = match self.policy {
            _ if !self.path.may_pass_by_length() => ByLength::Never,
            Policy::CompleteSharing(_) | Policy::DynamicThresholds(_) if self.route == Route::PlainAifo => {
                ByLength::Ranked
            }
            _ if self.route == Route::PlainAifo => ByLength::Never,
            Policy::CompleteSharing(_) => ByLength::Room,
            Policy::DynamicThresholds(_) => ByLength::Thresholds,
            Policy::Occamy(_) | Policy::Abm(_) => ByLength::Listening,
            _ => ByLength::Never,
        };
        self.plain_and_deaf = self.route != Route::Special && !self.policy.listens();
    }

    // ---- The path of a packet ----------------------------------------------------------------------------------------

    /// A packet arrives: it is queued, trimmed, returned or dropped. Packets that lose their place are told to `lost`.
    ///
    /// # Panics
    /// If the packet names a port, queue or class that does not exist, or is empty or longer than
    /// [`MAX_PACKET_BYTES`](crate::packet::MAX_PACKET_BYTES).
    #[inline(always)]
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

    #[inline(always)]
    fn arrive_and_tell(
        &mut self,
        now: Instant,
        packet: &Packet,
        lost: &mut impl FnMut(Lost),
        why: &mut impl Why,
    ) -> Verdict {
        if now >= self.path.due {
            self.catch_up(now, Phase::Arrivals, lost);
        }
        self.advance_clock(now);
        // The most common path is short enough to become part of the caller.
        if self.route == Route::PlainDt {
            self.path.arrive::<_, true, false, false>(&mut DynamicThresholds, now, packet, lost, why)
        } else {
            self.arrive_otherwise(now, packet, lost, why)
        }
    }

    #[inline(always)]
    fn arrive_otherwise(
        &mut self,
        now: Instant,
        packet: &Packet,
        lost: &mut impl FnMut(Lost),
        why: &mut impl Why,
    ) -> Verdict {
        if self.route == Route::Special {
            return self.arrive_special(now, packet, lost, why);
        }
        if self.route == Route::PlainStep {
            return with_policy!(&mut self.policy, policy => {
                self.path.arrive::<_, true, false, true>(policy, now, packet, lost, why)
            });
        }
        if self.route == Route::PlainAifo {
            return with_policy!(&mut self.policy, policy => {
                self.path.arrive::<_, true, true, false>(policy, now, packet, lost, why)
            });
        }
        with_policy!(&mut self.policy, policy => self.path.arrive::<_, true, false, false>(policy, now, packet, lost, why))
    }

    #[inline(never)]
    fn arrive_special(
        &mut self,
        now: Instant,
        packet: &Packet,
        lost: &mut impl FnMut(Lost),
        why: &mut impl Why,
    ) -> Verdict {
        with_policy!(&mut self.policy, policy => self.path.arrive::<_, false, false, false>(policy, now, packet, lost, why))
    }

    /// A packet of so many bytes arrives for a queue of a port whose wire is idle. If nothing waits there and the packet is simply let
    /// in, unmarked, this does what [`Tm::arrive`] and [`Tm::transmit`] do, at a fraction of the cost, and returns true. Else it does
    /// nothing and returns false. Only for policies that judge a packet by little more than its queue and its length. `rank` is
    /// asked only where ranks count. The caller sees to it that the port has such a queue and that the packet has a length.
    #[inline(always)]
    pub fn pass_by_length(
        &mut self,
        now: Instant,
        port: u32,
        queue: u32,
        bytes: u32,
        unscheduled: bool,
        rank: impl FnOnce() -> u64,
    ) -> bool {
        match self.by_length {
            ByLength::Never => false,
            ByLength::Room => self.path.pass_by_length(now, port, queue, bytes, |_, _, _| true),
            ByLength::Thresholds => self.path.pass_by_length(now, port, queue, bytes, within(bytes)),
            ByLength::Listening => self.pass_heard(now, port, queue, bytes, unscheduled),
            ByLength::Ranked => self.pass_ranked(now, port, queue, bytes, rank()),
        }
    }

    /// [`Tm::pass_by_length`] under a policy that has to hear of it.
    #[inline(never)]
    fn pass_heard(&mut self, now: Instant, port: u32, queue: u32, bytes: u32, unscheduled: bool) -> bool {
        if now >= self.path.due {
            // What is due comes first.
            return false;
        }
        match &mut self.policy {
            Policy::Occamy(policy) => {
                let passed = self.path.pass_by_length(now, port, queue, bytes, within(bytes));
                if passed {
                    policy.sent(now, bytes);
                    self.path.see_to_expulsions(policy, now, false);
                }
                passed
            }
            Policy::Abm(policy) => {
                let passed = self.path.pass_by_length(now, port, queue, bytes, |index, state, remaining| {
                    real(u64::from(bytes)) <= policy.limit(index, queue as usize, state, unscheduled, remaining)
                });
                if passed {
                    let index = port as usize * self.path.config.queues + queue as usize;
                    let place = Place { port: port as usize, queue: index };
                    policy.dequeued(place, u64::from(bytes), 0, &self.path.buffer, bytes);
                }
                passed
            }
            _ => false,
        }
    }

    /// [`Tm::pass_by_length`] behind AIFO.
    #[inline(never)]
    fn pass_ranked(&mut self, now: Instant, port: u32, queue: u32, bytes: u32, rank: u64) -> bool {
        let passed = match &self.policy {
            Policy::CompleteSharing(_) => self.path.pass_by_length(now, port, queue, bytes, |_, _, _| true),
            Policy::DynamicThresholds(_) => self.path.pass_by_length(now, port, queue, bytes, within(bytes)),
            _ => false,
        };
        if passed {
            self.path.note_rank(port as usize, rank);
        }
        passed
    }

    /// A packet arrives for a queue. If it is simply let in, this does what [`Tm::arrive`] does, at a fraction of the cost, and returns
    /// whether it was marked. Else it does nothing and returns `None`. Only for policies and callers as in [`Tm::pass_by_length`].
    #[inline(always)]
    #[allow(clippy::too_many_arguments, reason = "a record of these would be put together and taken apart at once")]
    pub fn join_by_length(
        &mut self,
        now: Instant,
        id: PacketId,
        port: u32,
        queue: u32,
        bytes: u32,
        rank: u64,
        ect: bool,
        unscheduled: bool,
    ) -> Option<bool> {
        match self.by_length {
            ByLength::Room => self.path.join_by_length(now, id, port, queue, bytes, rank, ect, |_, _, _| true),
            ByLength::Thresholds => self.path.join_by_length(now, id, port, queue, bytes, rank, ect, within(bytes)),
            ByLength::Listening => self.join_heard(now, id, port, queue, bytes, rank, ect, unscheduled),
            _ => None,
        }
    }

    /// [`Tm::join_by_length`] under a policy that has to hear of it.
    #[inline(never)]
    #[allow(clippy::too_many_arguments, reason = "a record of these would be put together and taken apart at once")]
    fn join_heard(
        &mut self,
        now: Instant,
        id: PacketId,
        port: u32,
        queue: u32,
        bytes: u32,
        rank: u64,
        ect: bool,
        unscheduled: bool,
    ) -> Option<bool> {
        if now >= self.path.due {
            // What is due comes first.
            return None;
        }
        match &mut self.policy {
            Policy::Occamy(policy) => {
                let marked = self.path.join_by_length(now, id, port, queue, bytes, rank, ect, within(bytes))?;
                let index = port as usize * self.path.config.queues + queue as usize;
                let after = self.path.buffer.length(index);
                let place = Place { port: port as usize, queue: index };
                policy.enqueued(place, after - u64::from(bytes), after, &self.path.buffer);
                self.path.see_to_expulsions(policy, now, true);
                Some(marked)
            }
            // ABM does not hear of packets that join.
            Policy::Abm(policy) => {
                self.path.join_by_length(now, id, port, queue, bytes, rank, ect, |index, state, remaining| {
                    let limit = policy.limit(index, queue as usize, state, unscheduled, remaining);
                    real(state.bytes + u64::from(bytes)) <= limit
                })
            }
            _ => None,
        }
    }

    /// [`Tm::transmit`] where a departure concerns nobody but its queue; `None` if it is not as simple as that, or nothing waits.
    #[inline(always)]
    pub fn transmit_plainly(&mut self, now: Instant, port: usize) -> Option<Departure> {
        if !self.plain_and_deaf || now > self.path.due {
            return None;
        }
        self.path.clock = now;
        self.path.transmit::<_, true>(&mut Deaf, now, port)
    }

    /// Whether this is a switch for [`Tm::pass_by_length`].
    #[inline(always)]
    pub fn passes_by_length(&self) -> bool {
        self.by_length != ByLength::Never
    }

    /// [`Tm::pass_by_length`] for other policies, which may see to what was due before.
    #[inline(always)]
    pub fn pass(&mut self, now: Instant, packet: &Packet, lost: &mut impl FnMut(Lost)) -> bool {
        if !self.path.can_pass(packet.port as usize) {
            return false;
        }
        if now >= self.path.due {
            self.catch_up(now, Phase::Arrivals, lost);
        }
        if self.route == Route::PlainAifo {
            return with_policy!(&mut self.policy, policy => self.path.pass::<_, true>(policy, now, packet));
        }
        with_policy!(&mut self.policy, policy => self.path.pass::<_, false>(policy, now, packet))
    }

    /// Picks the next packet of an idle port. `None` if it has none that may leave now.
    ///
    /// The port is then busy for the serialization time of the packet; the caller keeps track of that, and calls again
    /// when it is over, before it brings the arrivals of that instant. Expulsions that were due are told to `lost`.
    #[inline(always)]
    pub fn transmit(&mut self, now: Instant, port: usize, lost: &mut impl FnMut(Lost)) -> Option<Departure> {
        if now > self.path.due {
            self.catch_up(now, Phase::Transmissions, lost);
        }
        self.advance_clock(now);
        if self.plain_and_deaf {
            self.path.transmit::<_, true>(&mut Deaf, now, port)
        } else {
            self.transmit_otherwise(now, port)
        }
    }

    #[inline(always)]
    fn transmit_otherwise(&mut self, now: Instant, port: usize) -> Option<Departure> {
        if self.route == Route::Special {
            return self.transmit_special(now, port);
        }
        with_policy!(&mut self.policy, policy => self.path.transmit::<_, true>(policy, now, port))
    }

    #[inline(never)]
    fn transmit_special(&mut self, now: Instant, port: usize) -> Option<Departure> {
        with_policy!(&mut self.policy, policy => self.path.transmit::<_, false>(policy, now, port))
    }

    #[inline(always)]
    fn advance_clock(&mut self, now: Instant) {
        debug_assert!(now >= self.path.clock, "time does not run backwards: {now} after {}", self.path.clock);
        self.path.clock = now;
    }

    // ---- What the core does on its own -------------------------------------------------------------------------------

    /// Does everything that is due up to and including `now`, as if nothing else happened in this instant.
    pub fn settle(&mut self, now: Instant, lost: &mut impl FnMut(Lost)) {
        self.catch_up(now, Phase::Over, lost);
        self.advance_clock(now);
    }

    /// The first instant at which there may be something that the core will do on its own; [`Instant::NEVER`] if there is
    /// nothing.
    pub fn due(&self) -> Instant {
        self.path.due
    }

    /// Does what is due before the given phase of instant `now`.
    #[cold]
    #[inline(never)]
    fn catch_up(&mut self, now: Instant, phase: Phase, lost: &mut impl FnMut(Lost)) {
        if let Policy::Occamy(policy) = &mut self.policy {
            // The end of an instant comes after its arrivals.
            let until = if phase == Phase::Over { Some(now) } else { now.ps().checked_sub(1).map(Instant::from_ps) };
            let Some(until) = until else { return };
            let mut at = self.path.clock;
            loop {
                match self.path.expel_one(policy, at, until, lost) {
                    Ok(when) => at = when,
                    Err(next) => {
                        self.path.due = next;
                        return;
                    }
                }
            }
        }
        while self.next_update < now || (self.next_update == now && phase != Phase::Transmissions) {
            // The last instant there is stands for "never": no update comes then, with an interval or without.
            let Some(interval) = self.policy.interval().filter(|_| self.next_update < Instant::NEVER) else { break };
            let unsettled = self.policy.update(&self.path.buffer);
            self.next_update = self.next_update + interval;
            // Nothing changes until the next arrival or departure: all updates before the last one come to nothing, or can
            // be made at once.
            let missed = now.since(self.next_update).ps() / interval.ps();
            if missed > 0 && (!unsettled || self.policy.repeat(&self.path.buffer, missed)) {
                self.next_update = self.next_update + Duration::from_ps(missed * interval.ps());
            }
        }
        self.path.due = self.next_update;
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
        let same_lanes = match (&new.scheduler, &old.scheduler) {
            (SchedulerConfig::SpPifo(new), SchedulerConfig::SpPifo(old)) => new.queues == old.queues,
            (SchedulerConfig::Afq(new), SchedulerConfig::Afq(old)) => new == old,
            (new, old) => new.name() == old.name(),
        };
        let idle = self.path.buffer.used() == 0;
        if !idle && !in_order && !same_lanes {
            return Err(ConfigError::new(
                "scheduler.kind",
                new.scheduler.name(),
                format!("packets wait in the order of {}", old.scheduler.name()),
            )
            .remedy("change it while the switch is empty"));
        }
        let headers_wait = self.path.ports.iter().any(|port| !port.headers.is_empty());
        if headers_wait && !matches!(new.trim, Some(TrimConfig::Ndp(_))) {
            return Err(ConfigError::new("trim", "changed", "headers wait in the header queues")
                .remedy("change it when they have left"));
        }
        // Nothing can fail from here on.
        let mut policy = Policy::new(&new);
        let mut scheduler = Scheduler::new(&new);
        if same_lanes {
            scheduler.succeed(&self.path.scheduler);
        }
        let mut marker = Marker::new(&new);
        marker.succeed(&self.path.marker);
        if new.rank != old.rank {
            self.path.ranker = Ranker::new(&new);
        }
        let interval = policy.interval();
        if interval != self.policy.interval() {
            self.next_update = interval.map_or(Instant::NEVER, |interval| self.path.clock + interval);
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
        policy.succeed(&self.policy, self.path.clock, &self.path.buffer, self.path.config.queues);
        self.policy = policy;
        self.choose_route();
        self.path.due = self.next_update;
        if let Policy::Occamy(policy) = &self.policy {
            self.path.see_to_expulsions(policy, self.path.clock, false);
        }
        Ok(())
    }

    // ---- Looking in --------------------------------------------------------------------------------------------------

    /// The configuration in force.
    pub fn config(&self) -> &ValidConfig {
        &self.path.config
    }

    /// The index of a queue, `port * K + queue`.
    pub fn queue_index(&self, port: usize, queue: usize) -> usize {
        port * self.path.config.queues + queue
    }

    /// Bytes charged to a queue: `q_i`.
    #[inline]
    pub fn queue_bytes(&self, queue: usize) -> Bytes {
        Bytes::new(self.path.buffer.length(queue))
    }

    /// Packets waiting in a queue.
    pub fn queue_packets(&self, queue: usize) -> usize {
        self.path.buffer.queues[queue].packets() as usize
    }

    /// Headers waiting at a port.
    pub fn header_packets(&self, port: usize) -> usize {
        self.path.ports[port].headers.len()
    }

    /// Bytes charged to all queues: `Q`.
    #[inline]
    pub fn used(&self) -> Bytes {
        Bytes::new(self.path.buffer.used())
    }

    /// The rate of a port.
    #[inline]
    pub fn rate(&self, port: usize) -> Rate {
        self.path.config.rates[port]
    }

    /// Whether a port has anything to send, now or later.
    #[inline]
    pub fn has_packets(&self, port: usize) -> bool {
        let port = &self.path.ports[port];
        port.waiting != 0 || !port.headers.is_empty()
    }

    /// Bytes charged to the queues of a port.
    #[inline]
    pub fn port_bytes(&self, port: usize) -> Bytes {
        Bytes::new(self.path.ports[port].bytes)
    }

    /// Which queues of a port hold packets: bit `k` stands for queue number `k`.
    #[inline]
    pub fn waiting_queues(&self, port: usize) -> u64 {
        self.path.ports[port].waiting
    }

    /// For a port that has packets but may not send any yet (PIEO): when it may.
    pub fn next_eligible(&self, port: usize) -> Option<Instant> {
        self.path.scheduler.next_eligible(port)
    }

    /// The threshold of a queue as it is now, for an ordinary packet; `None` where the policy has none.
    pub fn threshold(&self, queue: usize) -> Option<Threshold> {
        self.policy.threshold(self.path.place(queue), &self.path.buffer)
    }

    /// The caller has kept the header of a packet that was dropped on arrival (mirror on drop): it counts as trimmed, not as dropped.
    /// Its header, if it arrives here again, is a packet like any other.
    pub fn mirrored(&mut self, queue: usize, reason: Reason, bytes: u32) {
        self.path.losses[queue].mirror(reason, bytes);
    }

    /// The caller has dropped a packet for a queue before it got here (a program in front of the traffic manager): it counts as
    /// offered and dropped.
    pub fn refuse(&mut self, queue: usize, reason: Reason, bytes: u32) {
        self.path.losses[queue].drop(reason, bytes);
    }

    /// The caller has dropped a packet that was picked for transmission (a program behind the traffic manager): it counts as expelled,
    /// not as sent.
    pub fn expel_sent(&mut self, queue: usize, bytes: u32) {
        self.path.buffer.queues[queue].unsend(bytes);
        self.path.buffer.read_beyond_sent += u64::from(bytes);
        self.path.losses[queue].drop(Reason::Expelled, bytes);
    }

    /// The counters of a queue.
    pub fn queue_counters(&self, queue: usize) -> Counters {
        Counters::new(&self.path.buffer.queues[queue].totals(), &self.path.losses[queue])
    }

    /// The counters of a port: the sums over its queues, and its own peak.
    pub fn port_counters(&self, port: usize) -> Counters {
        View::port_counters(self, port)
    }

    /// The counters of the whole buffer: the sums over all queues, and its own peak.
    pub fn pool_counters(&self) -> Counters {
        View::pool_counters(self)
    }

    /// Memory bandwidth used so far.
    pub fn memory_reads(&self) -> MemoryReads {
        MemoryReads {
            transmission: Bytes::new(self.pool_counters().sent.bytes + self.path.buffer.read_beyond_sent),
            expulsion: Bytes::new(self.path.buffer.read_for_expulsion),
        }
    }

    /// Whether all accounts agree: packets, bytes and cells are conserved, in every queue and in all. Slow; for tests.
    pub fn is_consistent(&self) -> bool {
        let headers = self.path.ports.iter().map(|port| port.headers.len()).sum();
        let waiting = |queue| self.path.scheduler.waiting(self.path.place(queue), &self.path.buffer);
        let ports = self.path.ports.iter().enumerate().all(|(p, port)| {
            let first = p * self.path.config.queues;
            let queues = &self.path.buffer.queues[first..first + self.path.config.queues];
            let mask = queues.iter().enumerate().fold(0, |mask, (k, queue)| mask | u64::from(queue.bytes > 0) << k);
            port.waiting == mask && port.bytes == queues.iter().map(|queue| queue.bytes).sum::<u64>()
        });
        let counters = self.pool_counters();
        let gone =
            counters.sent.packets + counters.dropped.packets + counters.returned.packets + counters.trimmed.packets;
        // A header that waited in a data queue and was pushed out or expelled counts as trimmed and as dropped.
        let headers_lost: u64 = self.path.losses.iter().map(|losses| losses.headers_lost).sum();
        let trimmed: u64 = self.path.losses.iter().map(|losses| losses.trimmed.packets).sum();
        let headers_in_queues = trimmed - counters.headers_sent.packets - headers as u64 - headers_lost;
        let data_waiting = counters.waiting.packets - headers_in_queues;
        self.path.buffer.is_consistent(waiting, headers)
            && ports
            && counters.offered.packets + headers_lost == gone + data_waiting
    }
}

impl View for Tm {
    fn config(&self) -> &ValidConfig {
        self.config()
    }

    fn used(&self) -> Bytes {
        self.used()
    }

    fn queue_bytes(&self, queue: usize) -> Bytes {
        self.queue_bytes(queue)
    }

    fn threshold(&self, queue: usize) -> Option<Threshold> {
        self.threshold(queue)
    }

    fn queue_counters(&self, queue: usize) -> Counters {
        self.queue_counters(queue)
    }

    fn port_peak(&self, port: usize) -> Bytes {
        Bytes::new(self.path.ports[port].peak)
    }

    fn peak(&self) -> Bytes {
        Bytes::new(self.path.buffer.peak())
    }

    fn memory_reads(&self) -> MemoryReads {
        self.memory_reads()
    }
}
