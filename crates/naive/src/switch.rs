//! The switch itself: the order of events (section 5 of the specification), arrivals (section 3) and departures
//! (section 4). The rules that these refer to are in the other files.

use crate::config::{Policy, Scheduler, Switch, serialization_time};
use crate::expel::Tokens;
use crate::ingress::NaiveIngress;
use crate::packet::{Arrival, Outcome, Reason, Verdict};
use crate::policy::PolicyState;
use crate::rank::RankState;
use crate::scheduler::SchedulerState;
use crate::sides::{Request, Sides};
use crate::trim::Header;
use std::collections::VecDeque;

/// What becomes of every arrival, in arrival order.
///
/// # Panics
///
/// If the configuration or the arrivals are not valid under section 10 of the specification (a port that does not
/// exist, times that decrease, too few alphas, ...).
#[must_use]
pub fn run(switch: &Switch, arrivals: &[Arrival]) -> Vec<Outcome> {
    run_observed(switch, arrivals, &mut |_, _| {})
}

/// As [`run`]; calls `observe` at the end of every instant with the time and all `q_i` (index `p*K + k`).
///
/// An instant is a time at which a transmission ends, a packet arrives, a policy's periodic update is due (up to the
/// last arrival) or an expulsion's tokens have come together.
///
/// # Panics
///
/// As [`run`].
#[must_use]
pub fn run_observed(switch: &Switch, arrivals: &[Arrival], observe: &mut dyn FnMut(u64, &[u64])) -> Vec<Outcome> {
    let mut model = Model::new(switch, arrivals);
    while let Some(instant) = model.next_instant() {
        model.now = instant;
        model.live_through_instant();
        let lengths: Vec<u64> = (0..switch.queue_count()).map(|i| model.q(i)).collect();
        observe(instant, &lengths);
    }
    model.into_outcomes()
}

/// As [`run`], with an ingress side; `groups` has the group that each arrival is charged to. Also returns what groups
/// ask for.
///
/// # Panics
///
/// As [`run`].
#[must_use]
pub fn run_sides(
    switch: &Switch,
    ingress: &NaiveIngress,
    arrivals: &[Arrival],
    groups: &[usize],
) -> (Vec<Outcome>, Vec<Request>) {
    let mut model = Model::new(switch, arrivals);
    model.sides = Some(Sides::new(ingress.clone(), groups.to_vec()));
    while let Some(instant) = model.next_instant() {
        model.now = instant;
        model.live_through_instant();
    }
    let sides = model.sides.take();
    let requests = sides.map_or(Vec::new(), Sides::into_requests);
    (model.into_outcomes(), requests)
}

/// A packet that waits in a data queue.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    /// Its number among the arrivals.
    pub(crate) packet: usize,
    /// `L`, its real length.
    pub(crate) bytes: u64,
    /// `len`, what it is charged.
    pub(crate) len: u64,
    /// Its rank.
    pub(crate) rank: u64,
    /// Which of SP-PIFO's FIFOs it is in; 0 otherwise.
    pub(crate) lane: usize,
}

/// A port.
#[derive(Clone, Debug)]
pub(crate) struct Port {
    /// When the transmission under way ends; `None` if the port is idle.
    busy_until: Option<u64>,
    pub(crate) scheduler: SchedulerState,
    pub(crate) rank: RankState,
    /// The header queue.
    pub(crate) headers: VecDeque<Header>,
    /// The counter `h` of section 9.
    pub(crate) h: u64,
}

/// A switch at work.
pub(crate) struct Model<'a> {
    pub(crate) switch: &'a Switch,
    pub(crate) arrivals: &'a [Arrival],
    pub(crate) now: u64,
    /// The number of arrivals that have happened, the one under way included.
    arrived: usize,
    /// The waiting packets of every queue, in the order in which they would be picked.
    pub(crate) queues: Vec<Vec<Waiting>>,
    pub(crate) ports: Vec<Port>,
    pub(crate) policy: PolicyState,
    /// When the policy's next periodic update is due.
    next_update: Option<u64>,
    pub(crate) tokens: Tokens,
    /// What step 6 did to each packet.
    marked: Vec<bool>,
    outcomes: Vec<Option<Outcome>>,
    /// The ingress side, if there is one.
    sides: Option<Sides>,
}

impl<'a> Model<'a> {
    fn new(switch: &'a Switch, arrivals: &'a [Arrival]) -> Self {
        let port = Port {
            busy_until: None,
            scheduler: SchedulerState::new(switch.queues),
            rank: RankState::new(&switch.scheduler),
            headers: VecDeque::new(),
            h: 0,
        };
        Model {
            switch,
            arrivals,
            now: 0,
            arrived: 0,
            queues: vec![Vec::new(); switch.queue_count()],
            ports: vec![port; switch.rates.len()],
            policy: PolicyState::new(switch),
            next_update: update_interval(&switch.policy),
            tokens: Tokens::new(switch),
            marked: vec![false; arrivals.len()],
            outcomes: vec![None; arrivals.len()],
            sides: None,
        }
    }

    /// `q_i`.
    pub(crate) fn q(&self, i: usize) -> u64 {
        self.queues[i].iter().map(|waiting| waiting.len).sum()
    }

    /// `Q`.
    pub(crate) fn q_total(&self) -> u64 {
        (0..self.queues.len()).map(|i| self.q(i)).sum()
    }

    /// The time of the next instant at which anything happens.
    fn next_instant(&self) -> Option<u64> {
        let arrival = self.arrivals.get(self.arrived).map(|arrival| arrival.time);
        // A policy decides over arrivals only: after the last one its updates change nothing.
        let update = self.next_update.filter(|_| arrival.is_some());
        let expulsion = self.tokens.next_try;
        let ends = self.ports.iter().map(|port| port.busy_until);
        ends.chain([arrival, update, expulsion]).flatten().min()
    }

    /// Section 5: what happens at the instant `now`, in order.
    fn live_through_instant(&mut self) {
        // (a) Transmissions that end, each followed by the pick of the port's next packet.
        for p in 0..self.ports.len() {
            if self.ports[p].busy_until == Some(self.now) {
                self.ports[p].busy_until = None;
                self.pick(p);
                self.give_cells_back();
            }
        }
        // (b) Periodic updates.
        if self.next_update == Some(self.now) {
            self.update_policy();
            self.next_update = update_interval(&self.switch.policy).map(|interval| self.now + interval);
        }
        // (c) Arrivals.
        while let Some(arrival) = self.arrivals.get(self.arrived) {
            assert!(arrival.time >= self.now, "times never decrease");
            if arrival.time > self.now {
                break;
            }
            self.arrived += 1;
            self.arrive_at_both_sides(self.arrived - 1);
        }
        // (d) Expulsions.
        self.expel();
        self.give_cells_back();
        self.check();
    }

    /// Packet number `n` arrives: the ingress side is asked first, and is as before if the egress side drops the
    /// packet.
    fn arrive_at_both_sides(&mut self, n: usize) {
        let bytes = self.arrivals[n].bytes;
        let Some(sides) = &mut self.sides else { return self.arrive(n) };
        let before = sides.ingress.clone();
        self.policy.free = Some(sides.free_for(n));
        let pause = match sides.admit(n, bytes) {
            Err(refusal) => return self.settle(n, Verdict::Dropped, Reason::Ingress(refusal), None),
            Ok(pause) => pause,
        };
        self.arrive(n);
        let verdict = self.outcomes[n].as_ref().map(|outcome| outcome.verdict);
        let is_cut = self.ports.iter().any(|port| port.headers.iter().any(|header| header.packet == n));
        let left = self.switch.trim.as_ref().map_or(bytes, |trim| trim.size.min(bytes));
        let sides = self.sides.as_mut().expect("just looked at");
        match verdict {
            Some(Verdict::Dropped | Verdict::Returned) => sides.restore(n, before),
            Some(Verdict::Trimmed) => sides.keep(n, pause, left, self.now),
            None if is_cut => sides.keep(n, pause, left, self.now),
            Some(Verdict::Sent) | None => sides.keep(n, pause, bytes, self.now),
        }
        self.give_cells_back();
    }

    /// Packets that are gone give their cells back, in that order.
    fn give_cells_back(&mut self) {
        if let Some(sides) = &mut self.sides {
            sides.give_back(self.now);
        }
    }

    /// Section 3: packet number `n` arrives.
    fn arrive(&mut self, n: usize) {
        let arrival = &self.arrivals[n];
        let p = arrival.port;
        assert!(p < self.ports.len() && arrival.queue < self.switch.queues);
        assert!(arrival.bytes > 0, "a packet has at least one byte");
        let i = p * self.switch.queues + arrival.queue;
        let len = self.switch.charge(arrival.bytes);

        // Step 1.
        if len > self.switch.buffer {
            self.settle(n, Verdict::Dropped, Reason::Oversize, None);
            return;
        }
        // Steps 2 to 4.
        if let Err(reason) = self.consider(n, i, len) {
            self.reject(n, reason);
            return;
        }
        // Step 5. The length that step 6 looks at is the one at the beginning of step 5.
        let q_before = self.q(i);
        let Ok(marked) = self.wred_marks(arrival, q_before) else {
            self.settle(n, Verdict::Dropped, Reason::Marking, None);
            return;
        };
        let waiting = Waiting { packet: n, bytes: arrival.bytes, len, rank: arrival.rank, lane: 0 };
        if !self.join(i, waiting) {
            return;
        }
        // Step 6.
        if arrival.ect && self.switch.ecn.is_some_and(|k_ecn| q_before >= k_ecn) {
            self.marked[n] = true;
        }
        self.marked[n] |= marked;
        // Step 7.
        self.pick_if_idle(p);
        self.check();
    }

    /// Whether WRED marks a packet that found so much in its queue; an error if it drops it.
    fn wred_marks(&self, arrival: &Arrival, q_before: u64) -> Result<bool, ()> {
        let Some(wred) = &self.switch.wred else { return Ok(false) };
        let (k, colour) = (arrival.queue, arrival.colour);
        if q_before < wred.from[k][colour] {
            return Ok(false);
        }
        if wred.marks[k][colour] && arrival.ect {
            return Ok(true);
        }
        if wred.drops[k][colour] { Err(()) } else { Ok(false) }
    }

    /// Steps 2 and 3: whether the packet may join its queue, or why not.
    fn consider(&mut self, n: usize, i: usize, len: u64) -> Result<(), Reason> {
        if !self.aifo_admits(n, i) {
            return Err(Reason::Rank);
        }
        let capacity = self.switch.queue_capacity;
        if capacity.is_some_and(|capacity| self.queues[i].len() >= capacity) {
            return Err(Reason::QueueFull);
        }
        self.admit(n, i, len)
    }

    /// Step 5: the packet joins queue `i`, unless PIFO or SP-PIFO drop it. Says whether it joined.
    fn join(&mut self, i: usize, waiting: Waiting) -> bool {
        match self.switch.scheduler {
            Scheduler::Pifo { capacity } => self.join_pifo(i, waiting, capacity),
            Scheduler::SpPifo { capacity, .. } => self.join_sp_pifo(i, waiting, capacity),
            _ => {
                self.queues[i].push(waiting);
                true
            }
        }
    }

    /// Section 3, step 7, and the same for a header (section 9).
    pub(crate) fn pick_if_idle(&mut self, p: usize) {
        if self.ports[p].busy_until.is_none() {
            self.pick(p);
        }
    }

    /// Section 4: the idle port `p` picks a packet, or a header, if it has one.
    fn pick(&mut self, p: usize) {
        let first = p * self.switch.queues;
        let data = (first..first + self.switch.queues).any(|i| self.q(i) > 0);
        let headers = !self.ports[p].headers.is_empty();
        if !data && !headers {
            return;
        }
        if self.header_goes_first(p, data, headers) {
            let header = self.ports[p].headers.pop_front().expect("a header waits");
            let verdict = Verdict::Trimmed;
            self.transmit(p, header.packet, header.bytes, verdict, header.reason);
        } else {
            let i = first + self.scheduled_queue(p);
            let head = self.take(i, 0);
            self.count_dequeued(i, head.bytes);
            self.transmit(p, head.packet, head.bytes, Verdict::Sent, Reason::None);
        }
    }

    /// Puts `bytes` bytes of packet `n` on the wire of port `p`.
    fn transmit(&mut self, p: usize, n: usize, bytes: u64, verdict: Verdict, reason: Reason) {
        let end = self.now + serialization_time(bytes, self.switch.rates[p]);
        self.ports[p].busy_until = Some(end);
        self.pay_for_pick(bytes);
        self.settle(n, verdict, reason, Some((self.now, end)));
    }

    /// Takes the packet at `position` out of queue `i`.
    pub(crate) fn take(&mut self, i: usize, position: usize) -> Waiting {
        let taken = self.queues[i].remove(position);
        self.filter(i);
        if self.queues[i].is_empty() {
            self.queue_emptied(i);
        }
        taken
    }

    /// Takes the packet at `position` out of queue `i` and drops it.
    pub(crate) fn drop_waiting(&mut self, i: usize, position: usize, reason: Reason) {
        let dropped = self.take(i, position);
        self.settle(dropped.packet, Verdict::Dropped, reason, None);
    }

    /// What became of packet `n`; `times` are the start and the end of its transmission.
    pub(crate) fn settle(&mut self, n: usize, verdict: Verdict, reason: Reason, times: Option<(u64, u64)>) {
        assert!(self.outcomes[n].is_none(), "a packet has one outcome");
        if let Some(sides) = &mut self.sides {
            sides.gone.push(n);
        }
        self.outcomes[n] = Some(Outcome {
            verdict,
            reason,
            marked: self.marked[n],
            start: times.map(|(start, _)| start),
            end: times.map(|(_, end)| end),
        });
    }

    /// What must hold between events.
    fn check(&self) {
        if !cfg!(debug_assertions) {
            return;
        }
        assert!(self.q_total() <= self.switch.buffer, "the buffer holds");
        for (p, port) in self.ports.iter().enumerate() {
            let first = p * self.switch.queues;
            let data = (first..first + self.switch.queues).any(|i| self.q(i) > 0);
            let waits = data || !port.headers.is_empty();
            assert!(!waits || port.busy_until.is_some(), "no port idles");
            let room = self.switch.trim.as_ref().map_or(0, |t| t.header_capacity);
            assert!(port.headers.len() <= room, "the header queue holds");
        }
        // Every packet that has arrived waits in exactly one place or has an outcome.
        let data: usize = self.queues.iter().map(Vec::len).sum();
        let headers: usize = self.ports.iter().map(|port| port.headers.len()).sum();
        let settled = self.outcomes.iter().flatten().count();
        assert_eq!(data + headers + settled, self.arrived);
    }

    fn into_outcomes(self) -> Vec<Outcome> {
        let outcomes = self.outcomes.into_iter();
        outcomes.map(|outcome| outcome.expect("every packet has an outcome in the end")).collect()
    }
}

/// The time between a policy's periodic updates, if it has them.
fn update_interval(policy: &Policy) -> Option<u64> {
    match policy {
        Policy::Fba { interval, .. } | Policy::Abm { interval, .. } => Some(*interval),
        _ => None,
    }
}
