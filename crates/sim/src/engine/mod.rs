//! The run, window by window: in a window nothing that one node does can reach another.
//!
//! Nodes meet only through links, and a packet needs at least the shortest link's delay and serialization time, the
//! *lookahead*, to get from one to the next. So in the *window* that begins with the earliest event and lasts for the
//! lookahead, every node can handle all its events, one after the other, before any other node runs. What a node does
//! depends only on its own events in their own order (see `event_queue.rs`), not on the order of the nodes. So a run
//! gives the same bytes however its nodes are spread over time, or over cores.
//!
//! What concerns the whole network (failures, samples, the end) happens between windows, at instants that no window
//! crosses: after everything before such an instant and before anything in it.

mod ahead;
mod build;
mod crew;
mod deadlocks;
pub(crate) mod layout;
mod links;
mod meeting;
mod part;
mod threads;

pub use threads::Threads;

use crate::flow::{FlowRecord, NONE, TrafficPlan};
use crate::host::Host;
use crate::measure::pauses::PauseRecords;
use crate::measure::progress::{FlowViews, ProgressSampler};
use crate::measure::sample::Sampler;
use crate::measure::trace::TraceEvent;
use crate::measure::{Cost, KeptSamples, RunResult, SampleSink, cost};
use crate::routing::{Addresses, Alive, Ports, Routes};
use crate::scenario::{Change, Scenario};
use crate::switch::Switch;
use crew::Crew;
use deadlocks::DeadlockWatch;
use forebay_tm::{Duration, Instant};
use layout::Layout;
use part::Part;
use std::sync::MutexGuard;

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
    /// The network: one partition for each thread.
    parts: Vec<Part>,
    layout: Layout,
    control: Control<'s>,
}

/// What concerns the whole network, between windows.
struct Control<'s> {
    scenario: &'s Scenario,
    cabling: Ports,
    addresses: Addresses,
    /// The two links of each cable.
    links_of: Vec<[u32; 2]>,
    alive: Alive,
    sampler: Sampler,
    progress: ProgressSampler,
    /// If switches pause.
    deadlocks: Option<DeadlockWatch>,
}

/// Runs a scenario on one thread. `look` is shown the progress now and then, and stops the run by returning false.
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

/// The same on so many threads, or on fewer if there are not as many partitions: see [`Threads`]. The result is the
/// same for every number.
pub fn run_on(
    threads: usize,
    scenario: &Scenario,
    plan: &TrafficPlan,
    sink: &mut dyn SampleSink,
    look: &mut dyn FnMut(Progress) -> bool,
) -> RunResult {
    World::new(scenario, plan).split(plan, threads).run_into(sink, look)
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
    pub fn run_into(self, sink: &mut dyn SampleSink, look: &mut dyn FnMut(Progress) -> bool) -> RunResult {
        let started = cost::cpu_time();
        let Self { parts, layout, mut control, .. } = self;
        let crew = Crew::new(parts, layout.lookahead());
        let mut elsewhere = 0.0;
        let (end, interrupted) = std::thread::scope(|scope| {
            let crew = &crew;
            let _attendance = crew.attendance();
            let others: Vec<_> = (1..crew.threads()).map(|number| scope.spawn(move || crew.work(number))).collect();
            let ended = control.run(crew, &layout, sink, look);
            if crew.threads() > 1 {
                crew.dismiss();
            }
            elsewhere = others.into_iter().filter_map(|thread| thread.join().ok()).sum();
            ended
        });
        let tables = crew.parts();
        let views = FlowViews { tables: tables.iter().map(|part| &part.net.flows).collect(), layout: &layout };
        control.progress.sample_end(end, &views, sink);
        drop(views);
        drop(tables);
        let (mut parts, shared) = crew.into_parts();
        parts.iter_mut().for_each(|part| part.end_flows(end));
        let in_flight: i64 = parts.iter().map(|part| part.net.wires.arena.live() as i64 - part.net.wires.frames).sum();
        let parallel = (parts.len() > 1).then_some(shared);
        let mut result = control.finish(end, Part::join(parts, &layout), sink);
        (result.interrupted, result.in_flight) = (interrupted, in_flight.unsigned_abs());
        result.cost.cpu_seconds = cost::cpu_time() - started + elsewhere;
        result.cost.parallel = parallel;
        result
    }
}

impl Control<'_> {
    /// Runs to the end. Returns when that is, and whether the observer made it so.
    fn run(
        &mut self,
        crew: &Crew,
        layout: &Layout,
        sink: &mut dyn SampleSink,
        look: &mut dyn FnMut(Progress) -> bool,
    ) -> (Instant, bool) {
        let duration = Instant::ZERO + self.scenario.duration;
        let last = duration + self.scenario.drain;
        let mut changes = self.changes();
        changes.reverse();
        let mut measured = duration == Instant::ZERO;
        let from = Instant::ZERO + self.scenario.measure.from;
        let mut warm = from == Instant::ZERO;
        // The first time to see whether all is over. The times do not depend on the samples, which only look.
        let mut check = duration;
        loop {
            let sample = self.sampler.next();
            let change = changes.last().map_or(Instant::NEVER, |(at, _)| *at);
            let over = if measured { Instant::NEVER } else { duration };
            let warmed = if warm { Instant::NEVER } else { from };
            let looked = self.deadlocks.as_ref().map_or(Instant::NEVER, DeadlockWatch::next);
            let until = sample.min(change).min(over).min(check).min(last).min(warmed).min(looked);
            let goes_on = crew.run_until(until, duration, look);
            let mut parts = Parts { parts: crew.parts(), layout };
            if !goes_on {
                return (parts.now(), true);
            }
            while changes.last().is_some_and(|(at, _)| *at == until) {
                let change = changes.pop().and_then(|(_, change)| change);
                self.apply(change, &mut parts);
            }
            if until == warmed || until == sample {
                parts.settle_before(until);
            }
            if until == warmed {
                warm = true;
                parts.forget_drops();
                self.sampler.warmed_up(parts.switches(self.scenario), parts.sent_before(until));
            }
            if until == over {
                measured = true;
                self.sampler.duration_over(parts.sent_before(until));
            }
            if until == sample {
                self.sampler.sample(until, parts.switches(self.scenario), sink);
                let tables = parts.parts.iter().map(|part| &part.net.flows).collect();
                self.progress.sample(until, &FlowViews { tables, layout }, sink);
            }
            let idle = parts.now() == Instant::NEVER && changes.is_empty();
            let finished = until == check && parts.unfinished() == 0;
            if until == check {
                check = check + CHECK;
            }
            let ends = until >= last || finished || idle;
            if let Some(deadlocks) = self.deadlocks.as_mut().filter(|_| ends || until == looked) {
                deadlocks.look(until, &mut parts);
            }
            if ends {
                return (until, false);
            }
        }
    }

    // ---- Failures
    // ----------------------------------------------------------------------------------------------------

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

    fn apply(&mut self, change: Option<Change>, parts: &mut Parts<'_>) {
        let Some(change) = change else {
            let routes = Routes::new(&self.scenario.network, &self.cabling, &self.addresses, &self.alive);
            for switch in parts.parts.iter_mut().flat_map(|part| &mut part.switches) {
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
                parts.set_up(link as usize, works, change.at);
            }
        }
    }

    // ---- Results
    // -----------------------------------------------------------------------------------------------------

    fn finish(&mut self, end: Instant, whole: Part, sink: &mut dyn SampleSink) -> RunResult {
        let Part { mut net, mut hosts, mut switches, .. } = whole;
        switches.iter_mut().for_each(|switch| switch.end(end));
        net.traffic.sum_up_queries(&net.flows.records);
        net.fabric.ideal_queries(&net.flows, &net.traffic.triggers, &mut net.traffic.queries);
        let (flows, places_of) = in_order(&net.flows.records, net.traffic.planned, &mut net.tracer.events, sink);
        let place_of = |flow: u32| places_of.get(flow as usize).copied().unwrap_or(flow);
        let flow_times = net.wires.trails.finish(place_of);
        let (drops, holders) = net.drops.finish(place_of);
        let losses = net.wires.losses.finish(place_of);
        let mut responses = core::mem::take(&mut net.tracer.responses);
        responses.iter_mut().for_each(|response| response.flow = place_of(response.flow));
        responses.sort_by_key(|response| (response.at, response.flow));
        let places = self.sampler.places(end, self.scenario, &switches, &net.wires);
        let mut pauses = pauses_of(&mut switches, &mut hosts, end);
        pauses.victims.iter_mut().for_each(|victim| victim.flow = place_of(victim.flow));
        pauses.victims.sort_by_key(|victim| (victim.flow, victim.switch, victim.port, victim.group));
        pauses.deadlocks = self.deadlocks.as_mut().map(DeadlockWatch::records).unwrap_or_default();
        RunResult {
            end,
            flows,
            queries: net.traffic.queries,
            places,
            recirculation: switches.iter().flat_map(Switch::recirculation).collect(),
            chips: switches.iter().filter_map(Switch::chip_record).collect(),
            flow_times,
            drops,
            holders,
            losses,
            pauses,
            responses,
            trace: net.tracer.events,
            script: switches.iter_mut().flat_map(Switch::seen_of_script).collect(),
            lost_to_failures: net.wires.lost,
            sent: hosts.iter().map(Host::sent).sum(),
            received: hosts.iter().map(Host::received).sum(),
            nic_drops: hosts.iter().map(|host| host.nic().drops()).sum(),
            cost: Cost {
                events: net.events,
                hops: net.wires.hops(end),
                peak_memory: cost::peak_memory(),
                ..Cost::default()
            },
            ..RunResult::default()
        }
    }
}

/// What was paused: at switches, then at hosts.
fn pauses_of(switches: &mut [Switch], hosts: &mut [Host], end: Instant) -> PauseRecords {
    let mut all = PauseRecords::default();
    for switch in switches {
        all.extend(switch.pause_records(end));
    }
    for (number, host) in hosts.iter_mut().enumerate() {
        all.add_host(number as u32, |class| host.paused(class, end));
    }
    all
}

/// All partitions between two stretches of the run.
struct Parts<'p> {
    parts: Vec<MutexGuard<'p, Part>>,
    layout: &'p Layout,
}

impl Parts<'_> {
    /// The time of the earliest event.
    fn now(&self) -> Instant {
        let first = |part: &MutexGuard<'_, Part>| part.now().min(part.net.wires.first_to_leave().0);
        self.parts.iter().map(first).min().unwrap_or(Instant::NEVER)
    }

    /// Flows with an end that are not complete.
    fn unfinished(&self) -> u64 {
        crew::unfinished(self.parts.iter().map(|part| part.net.flows.unfinished))
    }

    /// All switches, in the order of their numbers.
    fn switches<'w>(&'w self, scenario: &Scenario) -> impl Iterator<Item = &'w Switch> {
        let first = scenario.network.hosts.len();
        (first..scenario.network.nodes()).map(|node| {
            let part = &self.parts[self.layout.of_node(node)];
            &part.switches[self.layout.local(node) as usize - part.hosts.len()]
        })
    }

    /// Lets all switches do what was due before an instant.
    fn settle_before(&mut self, until: Instant) {
        for part in &mut self.parts {
            let Part { net, switches, .. } = &mut **part;
            switches.iter_mut().for_each(|switch| switch.settle_before(until, net));
        }
    }

    /// What was found at drops so far is in no result.
    fn forget_drops(&mut self) {
        let switches = self.parts.iter_mut().flat_map(|part| &mut part.switches);
        for at_drops in switches.flat_map(|switch| &mut switch.forwarding_mut().at_drops) {
            *at_drops = Default::default();
        }
    }

    /// Bytes that each link has started to send before this time.
    fn sent_before(&self, now: Instant) -> Vec<u64> {
        let links = self.parts[0].net.wires.links.len();
        let link = |link: usize| &self.parts[self.layout.of_link(link).0].net.wires.links[link];
        (0..links).map(|number| link(number).sent_before(now).bytes).collect()
    }

    /// Sets whether a link works from now on, at both of its ends.
    fn set_up(&mut self, link: usize, up: bool, now: Instant) {
        let (from, to) = self.layout.of_link(link);
        if self.parts[from].net.wires.links[link].up == up {
            return;
        }
        self.parts[from].net.wires.set_up(link, up, now);
        if to != from {
            self.parts[to].net.wires.set_up(link, up, now);
        }
    }
}

/// Puts the flows of closed-loop sessions, which came in the order of their hosts' windows, in order of start. Traces
/// and samples of their progress follow. Also returns the flows' new numbers; none if they keep theirs.
fn in_order(
    records: &[FlowRecord],
    planned: usize,
    trace: &mut [TraceEvent],
    sink: &mut dyn SampleSink,
) -> (Vec<FlowRecord>, Vec<u32>) {
    // Numbers that no flow has: those of partitions are as far apart as there are partitions.
    let is_flow = |number: &u32| records[*number as usize].spec.src != NONE;
    let mut order: Vec<u32> = (0..records.len() as u32).filter(is_flow).collect();
    order[planned..].sort_by_key(|number| {
        let spec = &records[*number as usize].spec;
        (spec.start, spec.session, spec.is_response)
    });
    let mut place = Vec::new();
    if planned < records.len() {
        place = vec![NONE; records.len()];
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
