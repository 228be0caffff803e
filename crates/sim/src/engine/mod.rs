//! The run: one node after the other handles its events, each for a window in which nothing from elsewhere can reach it.
//!
//! Nodes meet only through links, and a packet needs at least the shortest link's delay and serialization time, the *lookahead*, to get
//! from one to the next. So the node with the earliest event can handle all its events up to that event plus the
//! lookahead, its *window*, one after the other, before any other node runs: nothing that others do meanwhile can reach it before.
//! What a node does depends only on its own events in their own order (see `event_queue.rs`), not on the order of the nodes' windows. So a
//! run gives the same bytes however its nodes are spread over time, or over cores.
//!
//! What concerns the whole network (failures, samples, the end) happens between windows, at instants that no window crosses: after
//! everything before such an instant and before anything in it.

mod build;
mod links;

use crate::event_queue::{Key, NEVER};
use crate::flow::{FlowRecord, NONE, TrafficPlan};
use crate::host::Host;
use crate::measure::progress::ProgressSampler;
use crate::measure::sample::Sampler;
use crate::measure::trace::TraceEvent;
use crate::measure::{Cost, KeptSamples, RunResult, SampleSink, cost};
use crate::net::Net;
use crate::routing::{Alive, Ports, Routes};
use crate::scenario::{Change, Scenario};
use crate::switch::Switch;
use forebay_tm::{Duration, Instant};

/// How far a run has got.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Simulated time.
    pub now: Instant,
    /// The time of the scenario after which the run ends as soon as all flows are complete.
    pub duration: Instant,
    /// Events so far.
    pub events: u64,
    /// Flows with an end that are not complete.
    pub unfinished: u64,
}

/// Windows between two looks at the observer.
const WINDOWS_PER_LOOK: u32 = 4_096;

/// How often after the scenario's duration the engine looks whether all flows are complete.
const CHECK: Duration = Duration::from_us(10);

/// A network that runs.
pub struct World<'s> {
    scenario: &'s Scenario,
    net: Net,
    hosts: Vec<Host>,
    switches: Vec<Switch>,
    cabling: Ports,
    /// The two links of each cable.
    links_of: Vec<[u32; 2]>,
    alive: Alive,
    sampler: Sampler,
    progress: ProgressSampler,
    /// The least time from one node to the next.
    lookahead: u64,
    windows: u32,
}

/// Runs a scenario. `look` is shown the progress now and then, and stops the run by returning false.
pub fn run(scenario: &Scenario, plan: &TrafficPlan, look: &mut dyn FnMut(Progress) -> bool) -> RunResult {
    World::new(scenario, plan).run(look)
}

/// The same with samples that go to `sink` as they are taken: none are in the result.
pub fn run_into(
    scenario: &Scenario,
    plan: &TrafficPlan,
    sink: &mut dyn SampleSink,
    look: &mut dyn FnMut(Progress) -> bool,
) -> RunResult {
    World::new(scenario, plan).run_into(sink, look)
}

impl World<'_> {
    /// Runs to the end.
    pub fn run(self, look: &mut dyn FnMut(Progress) -> bool) -> RunResult {
        let mut kept = KeptSamples::default();
        let result = self.run_into(&mut kept, look);
        let KeptSamples { timeline, queue_timeline, progress } = kept;
        RunResult { timeline, queue_timeline, progress, ..result }
    }

    /// Runs to the end, with samples that go elsewhere.
    pub fn run_into(mut self, sink: &mut dyn SampleSink, look: &mut dyn FnMut(Progress) -> bool) -> RunResult {
        let started = cost::cpu_time();
        let duration = Instant::ZERO + self.scenario.duration;
        let last = duration + self.scenario.drain;
        let mut changes = self.changes();
        changes.reverse();
        let mut interrupted = false;
        let mut measured = duration == Instant::ZERO;
        let from = Instant::ZERO + self.scenario.measure.from;
        let mut warm = from == Instant::ZERO;
        // The first time to see whether all is over. The times do not depend on the samples, which only look.
        let mut check = duration;
        let end = loop {
            let sample = self.sampler.next();
            let change = changes.last().map_or(Instant::NEVER, |(at, _)| *at);
            let over = if measured { Instant::NEVER } else { duration };
            let warmed = if warm { Instant::NEVER } else { from };
            let until = sample.min(change).min(over).min(check).min(last).min(warmed);
            if !self.run_until(until, look) {
                interrupted = true;
                break self.now();
            }
            if until == change {
                while changes.last().is_some_and(|(at, _)| *at == until) {
                    let change = changes.pop().and_then(|(_, change)| change);
                    self.apply(change);
                }
            }
            if until == warmed {
                warm = true;
                for switch in &mut self.switches {
                    switch.settle_before(until, &mut self.net);
                }
                self.sampler.warmed_up(until, &mut self.switches, &self.net.wires);
            }
            if until == over {
                measured = true;
                self.sampler.duration_over(until, &self.net.wires);
            }
            if until == sample {
                for switch in &mut self.switches {
                    switch.settle_before(until, &mut self.net);
                }
                self.sampler.sample(until, &self.switches, sink);
                self.progress.sample(until, &self.net.flows, sink);
            }
            let idle = self.net.wires.earliest() == NEVER && changes.is_empty();
            let finished = self.net.flows.unfinished == 0 && until == check;
            if until == check {
                check = check + CHECK;
            }
            if until >= last || finished || idle {
                break until;
            }
        };
        self.finish(end, interrupted, started, sink)
    }

    /// Handles everything before an instant. Rewindows false if the observer stopped it.
    fn run_until(&mut self, until: Instant, look: &mut dyn FnMut(Progress) -> bool) -> bool {
        loop {
            self.net.wires.see_to_epoch();
            let first = self.net.wires.earliest();
            if first == NEVER {
                return true;
            }
            let barrier = self.net.wires.clock.time(until);
            let time = first.time();
            if time >= barrier {
                return true;
            }
            let horizon = Key::first_of((time + self.lookahead).min(barrier));
            self.run_window(first.node(), horizon);
            self.windows += 1;
            if self.windows >= WINDOWS_PER_LOOK {
                self.windows = 0;
                let progress = Progress {
                    now: self.net.wires.clock.instant(first),
                    duration: Instant::ZERO + self.scenario.duration,
                    events: self.net.events,
                    unfinished: self.net.flows.unfinished,
                };
                if !look(progress) {
                    return false;
                }
            }
        }
    }

    /// One node handles its events before the horizon.
    #[inline(always)]
    fn run_window(&mut self, node: usize, horizon: Key) {
        let mut events = self.net.wires.take_events(node);
        match self.hosts.get_mut(node) {
            Some(host) => host.run(&mut events, horizon, &mut self.net),
            None => self.switches[node - self.hosts.len()].run(&mut events, horizon, &mut self.net),
        }
        self.net.wires.return_events(node, events);
    }

    /// The time of the earliest event, or of the last barrier.
    fn now(&self) -> Instant {
        self.net.wires.clock.instant(self.net.wires.earliest())
    }

    // ---- Failures ----------------------------------------------------------------------------------------------------

    /// All changes of the network in order of time: failures and repairs, and the new routes that follow them.
    fn changes(&self) -> Vec<(Instant, Option<Change>)> {
        let mut changes: Vec<(Instant, Option<Change>)> = Vec::new();
        for change in &self.scenario.changes {
            changes.push((change.at, Some(*change)));
            changes.push((change.at + self.scenario.reroute, None));
        }
        // At one instant, what fails does so before routes are made anew.
        changes.sort_by_key(|(at, change)| (*at, change.is_none()));
        changes
    }

    fn apply(&mut self, change: Option<Change>) {
        let Some(change) = change else {
            let routes = Routes::new(&self.scenario.network, &self.cabling, &self.alive);
            for switch in &mut self.switches {
                switch.forwarding_mut().reroute(&routes);
            }
            return;
        };
        self.alive.apply(&change);
        let network = &self.scenario.network;
        let works = |node: u32| network.is_host(node) || self.alive.switch(node as usize - network.hosts.len());
        for (cable, plan) in network.cables.iter().enumerate() {
            let works = self.alive.cable(cable) && works(plan.a) && works(plan.b);
            for link in self.links_of[cable] {
                if self.net.wires.links[link as usize].up != works {
                    self.net.wires.set_up(link as usize, works, change.at);
                }
            }
        }
    }

    // ---- Results -----------------------------------------------------------------------------------------------------

    fn finish(mut self, end: Instant, interrupted: bool, started: f64, sink: &mut dyn SampleSink) -> RunResult {
        self.progress.sample_end(end, &self.net.flows, sink);
        for switch in &mut self.switches {
            switch.end(end);
        }
        for (number, flow) in self.net.flows.flows.iter().enumerate() {
            let record = &mut self.net.flows.records[number];
            if flow.waits_for > 0 || record.spec.start >= end {
                record.spec.start = Instant::NEVER;
            }
            if flow.sender != NONE {
                let stats = self.net.flows.senders.get_mut(flow.sender).machine.stats();
                record.retransmissions = stats.retransmissions;
                record.timeouts = stats.timeouts;
            }
            if flow.receiver != NONE {
                record.received = self.net.flows.receivers.get_mut(flow.receiver).machine.received();
            }
        }
        self.net.traffic.sum_up_queries(&self.net.flows.records);
        self.net.fabric.ideal_queries(&self.net.flows, &self.net.traffic.triggers, &mut self.net.traffic.queries);
        let planned = self.net.flows.records.len() - self.net.traffic.session_flows();
        let (flows, places_of) = in_order(&self.net.flows.records, planned, &mut self.net.tracer.events, sink);
        let place_of = |flow: u32| places_of.get(flow as usize).copied().unwrap_or(flow);
        let flow_times = self.net.wires.trails.finish(place_of);
        let (drops, holders) = self.net.drops.finish(place_of);
        let mut answers = core::mem::take(&mut self.net.tracer.answers);
        answers.iter_mut().for_each(|answer| answer.flow = place_of(answer.flow));
        answers.sort_by_key(|answer| (answer.at, answer.flow));
        let places = self.sampler.places(end, self.scenario, &self.switches, &self.net.wires);
        RunResult {
            end,
            interrupted,
            flows,
            queries: self.net.traffic.queries,
            places,
            recirculation: self.switches.iter().flat_map(Switch::recirculation).collect(),
            chips: self.switches.iter().filter_map(Switch::chip_record).collect(),
            timeline: Vec::new(),
            queue_timeline: Vec::new(),
            progress: Vec::new(),
            flow_times,
            drops,
            holders,
            answers,
            trace: self.net.tracer.events,
            script: self.switches.iter_mut().flat_map(Switch::seen_of_script).collect(),
            lost_to_failures: self.net.wires.lost,
            sent: self.hosts.iter().map(Host::sent).sum(),
            received: self.hosts.iter().map(Host::received).sum(),
            nic_drops: self.hosts.iter().map(|host| host.nic().drops()).sum(),
            in_flight: self.net.wires.arena.live() as u64,
            cost: Cost {
                events: self.net.events,
                hops: self.net.wires.hops(end),
                cpu_seconds: cost::cpu_time() - started,
                peak_memory: cost::peak_memory(),
            },
        }
    }
}

/// Puts the flows of closed-loop sessions, which came in the order of their hosts' windows, in order of start. Traces and
/// samples of their progress follow. Also returns the flows' new numbers; none if they keep theirs.
fn in_order(
    records: &[FlowRecord],
    planned: usize,
    trace: &mut [TraceEvent],
    sink: &mut dyn SampleSink,
) -> (Vec<FlowRecord>, Vec<u32>) {
    let mut order: Vec<u32> = (0..records.len() as u32).collect();
    order[planned..].sort_by_key(|number| {
        let spec = &records[*number as usize].spec;
        (spec.start, spec.session, spec.is_response)
    });
    let mut place = Vec::new();
    if planned < records.len() {
        place = vec![0; order.len()];
        for (new, old) in order.iter().enumerate() {
            place[*old as usize] = new as u32;
        }
        for event in trace {
            event.packet.flow = place[event.packet.flow as usize];
        }
        sink.renumber(&place);
    }
    (order.into_iter().map(|number| records[number as usize]).collect(), place)
}
