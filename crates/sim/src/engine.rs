//! The run: nodes take turns, each as far as nothing from elsewhere can reach it.
//!
//! Nodes meet only through links, and a packet needs at least the shortest link's delay and serialization time, the *lookahead*, to get
//! from one to the next. So the node with the earliest event can handle all its events up to that event plus the
//! lookahead, one after the other, before anybody else has a turn: nothing that others do meanwhile can reach it before.
//! What a node does depends only on its own events in their own order (see `event_queue.rs`), not on who had a turn when. So a
//! run gives the same bytes however its nodes are spread over time, or over cores.
//!
//! What concerns the whole network (failures, samples, the end) happens between turns, at instants that no turn crosses: after
//! everything before such an instant and before anything in it.

use crate::event_queue::{EventQueue, Key, salt};
use crate::flow::{FlowRecord, TrafficPlan};
use crate::flows::FlowTable;
use crate::host::{self, Host};
use crate::measure::breakdown::Trails;
use crate::measure::drops::Drops;
use crate::measure::progress::ProgressSampler;
use crate::measure::sample::Sampler;
use crate::measure::trace::{TraceEvent, Tracer};
use crate::measure::{Cost, KeptSamples, RunResult, SampleSink, cost};
use crate::net::Net;
use crate::nic::Nic;
use crate::paths::Fabric;
use crate::routing::{Alive, Ports, Routes};
use crate::scenario::{Change, Scenario, SwitchSetup};
use crate::scripted::HOST_RATE;
use crate::switch::Switch;
use crate::traffic::Traffic;
use crate::transport::TransportKind;
use crate::wires::Wires;
use forebay_tm::random::mix;
use forebay_tm::{Duration, Instant, Rate};

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

/// Turns between two looks at the observer.
const TURNS_PER_LOOK: u32 = 4_096;

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
    turns: u32,
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

impl<'s> World<'s> {
    /// The network of a scenario, before anything has happened.
    pub fn new(scenario: &'s Scenario, plan: &TrafficPlan) -> Self {
        let network = &scenario.network;
        let seed = scenario.seed;
        let hosts = network.hosts.len();
        let mut degree = vec![0usize; network.nodes()];
        for cable in &network.cables {
            degree[cable.a as usize] += 1;
            degree[cable.b as usize] += 1;
        }
        let event_queues = degree.iter().enumerate().map(|(node, ports)| match node.checked_sub(hosts) {
            None => EventQueue::new(host::slot::COUNT),
            Some(switch) => EventQueue::new(Switch::slots(*ports, &scenario.switches[switch])),
        });
        let transports: Vec<_> = scenario.transports.iter().map(|(_, config)| config.clone()).collect();
        let telemetry = transports.iter().any(|config| config.kind.wants_telemetry());
        let mut wires = Wires::new(event_queues.collect(), telemetry);

        let cabling = Ports::new(network);
        let fabric_links = connect(scenario, &cabling, &mut wires, &degree);
        let scripted =
            |node: usize| node.checked_sub(hosts).is_some_and(|switch| scenario.switches[switch].script.is_some());
        for node in (0..network.nodes()).filter(|node| scripted(*node)) {
            let first = fabric_links.first_incoming[node] as usize;
            for link in &mut wires.links[first..first + degree[node]] {
                link.set_rate(HOST_RATE);
            }
        }

        let mut flows = FlowTable::new(transports, seed);
        // A flow is named by its workload and its place in it, so that other workloads do not change its paths.
        let mut places = vec![0u64; scenario.workloads.len().max(1)];
        for spec in &plan.flows {
            let place = places.get_mut(usize::from(spec.workload)).map_or(0, |place| {
                *place += 1;
                *place
            });
            flows.add(*spec, mix(u64::from(spec.workload)) ^ place);
        }
        flows.applications.clone_from(&plan.applications);
        // A switch that plays a script holds packets.
        let scripts = scenario.switches.iter().filter_map(|setup| setup.script.as_ref());
        flows.held = scripts.map(|script| script.round_trip).max().unwrap_or(Duration::ZERO);
        for flow in &scenario.measure.trace_flows {
            if let Some(flow) = flows.flows.get_mut(*flow as usize) {
                flow.traced = true;
            }
        }
        let mut traffic = Traffic::new(plan, seed);
        let requests = traffic.first_requests(&mut flows);
        let mut starts: Vec<Vec<u32>> = vec![Vec::new(); hosts];
        for number in (0..plan.flows.len() as u32).chain(requests) {
            let flow = &flows.flows[number as usize];
            if flow.waits_for == 0 {
                starts[flow.src as usize].push(number);
            }
        }
        for starts in &mut starts {
            starts.sort_by_key(|number| (flows.records[*number as usize].spec.start, *number));
        }

        let alive = Alive::all(network);
        let routes = Routes::new(network, &cabling, &alive);
        let fabric = Fabric::new(network, routes.clone(), seed);
        // Pulls are as far apart as the packets that they ask for.
        let pulled = flows.transports.iter().filter(|config| matches!(config.kind, TransportKind::Ndp(_)));
        let full = pulled.map(|config| config.common.mss + config.common.header).max().unwrap_or(1_500);
        let host_nodes = starts.into_iter().enumerate().map(|(number, starts)| {
            let (out, incoming) = (fabric_links.out(number)[0], fabric_links.first_incoming[number]);
            let rate = wires.links[out as usize].rate;
            let nic = Nic::new(&scenario.nic, number, out, rate);
            let spacing = rate.serialization(u64::from(full));
            Host::new(number as u32, incoming, nic, starts, spacing)
        });
        let host_nodes: Vec<Host> = host_nodes.collect();
        let switches = scenario.switches.iter().enumerate().map(|(number, setup)| {
            let node = network.switch_node(number) as usize;
            let mut switch =
                Switch::new(number as u32, setup, fabric_links.out(node), fabric_links.first_incoming[node], seed);
            if let Some(mirror) = &setup.mirror {
                switch = switch.mirroring(mirror);
            }
            if let Some(chip) = &setup.chip {
                switch = switch.programmed(chip, seed);
            }
            if let Some(script) = &setup.script {
                switch = switch.playing(script);
            }
            switch.reroute(&routes);
            switch
        });
        let mut switches: Vec<Switch> = switches.collect();
        for (number, host) in host_nodes.iter().enumerate() {
            let key = host.next_start(&flows, &wires);
            wires.announce(number as u32, host::slot::STARTS, key);
        }
        for (number, switch) in switches.iter().enumerate() {
            for (slot, due) in switch.generators() {
                let key = wires.clock.timer(due, slot);
                wires.announce(network.switch_node(number), slot, key);
            }
        }
        // The shortest packet is a byte long, and hosts send it to a switch that plays a script faster than the cable says.
        let lookahead = network.cables.iter().map(|cable| {
            let faster = scripted(cable.a as usize) || scripted(cable.b as usize);
            let rate = if faster { cable.rate.max(HOST_RATE) } else { cable.rate };
            (cable.delay.ps() + rate.serialization(1).ps()).max(1)
        });
        let lookahead = lookahead.min().unwrap_or(1);
        let tracer = Tracer::new(
            !scenario.measure.trace_flows.is_empty(),
            &scenario.measure.trace_switches,
            network.switches.len(),
        );
        let watched = telemetry || tracer.is_active();
        // What happens to a link comes too late for packets that were lined up for it before.
        if !watched && scenario.changes.is_empty() {
            switches.iter_mut().for_each(Switch::line_up);
        }
        if scenario.measure.breakdown {
            wires.trails = Trails::of_network(&fabric_links.outgoing, wires.links.len());
        }
        let measure = &scenario.measure;
        let buffers = switches.iter().map(|switch| switch.views().count());
        let drops = Drops::new(&measure.drops, measure.drops_limit as usize, buffers);
        let sampler = Sampler::new(&scenario.measure, &switches);
        let progress = ProgressSampler::new(&scenario.measure.progress, scenario.workloads.len());
        Self {
            scenario,
            net: Net {
                watched,
                wires,
                flows,
                traffic,
                fabric,
                tracer,
                drops,
                paths: scenario.paths,
                telemetry,
                seed,
                events: 0,
            },
            hosts: host_nodes,
            switches,
            cabling,
            links_of: fabric_links.of_cable,
            alive,
            sampler,
            progress,
            lookahead,
            turns: 0,
        }
    }

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
            let idle = self.net.wires.earliest() == crate::event_queue::NEVER && changes.is_empty();
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

    /// Handles everything before an instant. Returns false if the observer stopped it.
    fn run_until(&mut self, until: Instant, look: &mut dyn FnMut(Progress) -> bool) -> bool {
        loop {
            self.net.wires.see_to_epoch();
            let first = self.net.wires.earliest();
            if first == crate::event_queue::NEVER {
                return true;
            }
            let barrier = self.net.wires.clock.time(until);
            let time = first.time();
            if time >= barrier {
                return true;
            }
            let horizon = Key::first_of((time + self.lookahead).min(barrier));
            self.run_batch(first.node(), horizon);
            self.turns += 1;
            if self.turns >= TURNS_PER_LOOK {
                self.turns = 0;
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
    fn run_batch(&mut self, node: usize, horizon: Key) {
        let mut event_queue = self.net.wires.borrow_agenda(node);
        match self.hosts.get_mut(node) {
            Some(host) => host.run(&mut event_queue, horizon, &mut self.net),
            None => {
                let switch = &mut self.switches[node - self.hosts.len()];
                if switch.lines_up() {
                    switch.run_lined_up(&mut event_queue, horizon, &mut self.net);
                } else {
                    switch.run(&mut event_queue, horizon, &mut self.net);
                }
            }
        }
        self.net.wires.return_agenda(node, event_queue);
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
                switch.reroute(&routes);
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
            switch.settle_lined_up(end);
        }
        for (number, flow) in self.net.flows.flows.iter().enumerate() {
            let record = &mut self.net.flows.records[number];
            if flow.waits_for > 0 || record.spec.start >= end {
                record.spec.start = Instant::NEVER;
            }
            if flow.sender != crate::flow::NONE {
                let stats = self.net.flows.senders.get_mut(flow.sender).machine.stats();
                record.retransmissions = stats.retransmissions;
                record.timeouts = stats.timeouts;
            }
            if flow.receiver != crate::flow::NONE {
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

/// Puts the flows of closed-loop sessions, which came in the order of their hosts' turns, in order of start. Traces and
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

/// Where the links of a network are.
struct FabricLinks {
    /// The links that end at a node stand together, in the order of its ports, from here on.
    first_incoming: Vec<u32>,
    /// From end `a` to end `b` of each cable, and back.
    of_cable: Vec<[u32; 2]>,
    /// The links that leave each node, in the order of its ports.
    outgoing: Vec<Vec<u32>>,
}

impl FabricLinks {
    fn out(&self, node: usize) -> &[u32] {
        &self.outgoing[node]
    }
}

/// The recirculation ports of a switch, if it has any: how many, their rate, and how long it takes to come around.
fn recirculation(setup: &SwitchSetup, ports: usize) -> Option<(usize, Rate, Duration)> {
    if let Some(chip) = &setup.chip {
        return Some((chip.pipelines(ports), chip.recirculation.rate, chip.latency));
    }
    setup.mirror.as_ref().map(|mirror| (mirror.pipelines(ports), mirror.rate, mirror.delay))
}

/// Makes two links for each cable, which end at the arrival slots of their nodes' ports, and the recirculation links of switches that
/// mirror.
fn connect(scenario: &Scenario, cabling: &Ports, wires: &mut Wires, degree: &[usize]) -> FabricLinks {
    let (network, seed) = (&scenario.network, scenario.seed);
    let hosts = network.hosts.len();
    // Names for recirculation links, behind those of the cables.
    let mut names = 2 * network.cables.len() as u32..;
    let mut links = FabricLinks {
        first_incoming: Vec::new(),
        of_cable: vec![[0; 2]; network.cables.len()],
        outgoing: degree.iter().map(|ports| vec![0; *ports]).collect(),
    };
    for (node, ports) in degree.iter().enumerate() {
        links.first_incoming.push(wires.links.len() as u32);
        let setup = node.checked_sub(hosts).map(|switch| &scenario.switches[switch]);
        let first_slot = setup.map_or(host::slot::ARRIVAL, |setup| Switch::slots(*ports, setup) / 2);
        for (number, port) in cabling.of(node as u32).iter().enumerate() {
            let slot = first_slot + number;
            let cable = &network.cables[port.link.cable];
            // The port sends one way; what it receives comes the other way. The salt is the cable's and the direction's own.
            let backward = usize::from(port.link.forward);
            let name = (2 * port.link.cable + backward) as u32;
            let link = wires.connect(cable.rate, cable.delay, node as u32, slot as u32, salt(seed, name));
            links.of_cable[port.link.cable][backward] = link;
        }
        let Some((pipelines, rate, delay)) = setup.and_then(|setup| recirculation(setup, *ports)) else { continue };
        for (pipeline, name) in (0..pipelines).zip(&mut names) {
            let slot = first_slot + ports + pipeline;
            wires.connect(rate, delay, node as u32, slot as u32, salt(seed, name));
        }
    }
    for node in 0..network.nodes() {
        for (number, port) in cabling.of(node as u32).iter().enumerate() {
            links.outgoing[node][number] = links.of_cable[port.link.cable][usize::from(!port.link.forward)];
        }
    }
    links
}
