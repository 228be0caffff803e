//! From a scenario and a plan of its traffic to a network that can run.

use super::deadlocks::DeadlockWatch;
use super::layout::Layout;
use super::links::{FabricLinks, connect, fastest};
use super::part::Part;
use super::{Control, World};
use crate::event_queue::EventQueue;
use crate::flow::TrafficPlan;
use crate::flows::FlowTable;
use crate::host::{self, Host};
use crate::measure::breakdown::Trails;
use crate::measure::drops::Drops;
use crate::measure::losses::Losses;
use crate::measure::progress::ProgressSampler;
use crate::measure::sample::Sampler;
use crate::measure::trace::Tracer;
use crate::net::Net;
use crate::nic::Nic;
use crate::paths::Fabric;
use crate::routing::{Addresses, Alive, Ports, Routes};
use crate::scenario::{NicSetup, Scenario};
use crate::switch::{Slots, Switch};
use crate::traffic::Traffic;
use crate::transport::TransportKind;
use crate::wires::Wires;
use forebay_tm::Duration;
use forebay_tm::random::mix;
use std::sync::Arc;

/// What belongs to so many links fits the caches of a core: a fat tree of 432 hosts has 2,592.
const LINKS_IN_CACHE: usize = 4_096;

impl<'s> World<'s> {
    /// The network of a scenario, before anything has happened.
    pub fn new(scenario: &'s Scenario, plan: &TrafficPlan) -> Self {
        let (network, measure, seed) = (&scenario.network, &scenario.measure, scenario.seed);
        let telemetry = scenario.transports.iter().any(|(_, config)| config.kind.settings().wants_telemetry());
        let tracer = Tracer::new(!measure.trace_flows.is_empty(), &measure.trace_switches, network.switches.len());
        let watched = telemetry || tracer.is_active();
        // What happens to a link comes too late for packets that were put on it before they are sent.
        let watch = watched || !scenario.changes.is_empty();
        let cabling = Ports::new(network);
        let slots = slots(scenario, &cabling, watch);
        let event_queues = slots.iter().map(|slots| EventQueue::new(slots.count)).collect();
        let mut wires = Wires::new(event_queues, telemetry);
        wires.arena.keep_holds(matches!(scenario.nic, NicSetup::Lossless { .. }));
        let links = connect(scenario, &cabling, &mut wires, &slots);
        let addresses = Addresses::new(network, &cabling);
        let mut flows = flow_table(scenario, plan, &addresses);
        let mut traffic = Traffic::new(plan, seed);
        let starts = starts(scenario, plan, &mut traffic, &mut flows);
        let alive = Alive::all(network);
        let routes = Routes::new(network, &cabling, &addresses, &alive);
        let hosts = hosts(scenario, starts, &links, &flows, &wires);
        let switches = switches(scenario, &links, &routes, watch);
        for (number, host) in hosts.iter().enumerate() {
            let key = host.next_start(&flows, &wires);
            wires.announce(number as u32, host::slot::STARTS, key);
        }
        for (number, switch) in switches.iter().enumerate() {
            for (slot, due) in switch.generators() {
                let key = wires.clock.timer(due, slot);
                wires.announce(network.switch_node(number), slot, key);
            }
        }
        if measure.breakdown {
            let trails = Trails::of_network(&links.outgoing, wires.links.len());
            wires.keep_trails(trails);
        }
        if measure.breakdown || !measure.drops.is_empty() {
            wires.losses = Losses::new(&links.outgoing, wires.links.len(), measure.drops_limit as usize);
        }
        let buffers = switches.iter().map(|switch| switch.views().count());
        let drops = Drops::new(&measure.drops, measure.drops_limit as usize, buffers);
        let sampler = Sampler::new(measure, &switches);
        let fabric = Arc::new(Fabric::new(network, routes, seed));
        let paths = scenario.paths;
        let is_large = wires.links.len() > LINKS_IN_CACHE;
        let net =
            Net { is_large, watched, wires, flows, traffic, fabric, tracer, drops, paths, telemetry, seed, events: 0 };
        Self {
            scenario,
            parts: vec![Part { net, hosts, switches, lookahead: lookahead(scenario), windows: 0, due: Vec::new() }],
            layout: Layout::whole(),
            control: Control {
                scenario,
                addresses,
                links_of: links.of_cable,
                alive,
                sampler,
                deadlocks: DeadlockWatch::new(scenario, &cabling),
                progress: ProgressSampler::new(&measure.progress, scenario.workloads.len()),
                cabling,
            },
        }
    }

    /// Cuts it into partitions, one for each of so many threads, as far as there are that many.
    pub fn split(mut self, plan: &TrafficPlan, threads: usize) -> Self {
        let mut layout = Layout::new(self.scenario, plan, &self.control.cabling, threads);
        if layout.parts() > 1 && self.parts.len() == 1 {
            let whole = self.parts.remove(0);
            layout.connect(self.scenario, &self.control.links_of, whole.net.wires.far_ends());
            self.parts = whole.split(&layout);
            self.layout = layout;
        }
        self
    }
}

/// The slots of each node's event queue.
fn slots(scenario: &Scenario, cabling: &Ports, watch: bool) -> Vec<Slots> {
    let network = &scenario.network;
    let of_hosts = network.hosts.iter().map(|_| Slots { count: host::slot::COUNT, first_arrival: host::slot::ARRIVAL });
    let of_switches = scenario.switches.iter().enumerate().map(|(switch, setup)| {
        let ports = cabling.of(network.switch_node(switch)).len();
        Switch::slots(ports, setup, watch)
    });
    of_hosts.chain(of_switches).collect()
}

/// The flows of a plan.
fn flow_table(scenario: &Scenario, plan: &TrafficPlan, addresses: &Addresses) -> FlowTable {
    let transports = scenario.transports.iter().map(|(_, config)| config.clone()).collect();
    let mut flows = FlowTable::new(transports, addresses.clone(), scenario.seed);
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
    flows
}

/// The flows of each host that start at their own time, in order: those of the plan, and the first requests of clients.
fn starts(scenario: &Scenario, plan: &TrafficPlan, traffic: &mut Traffic, flows: &mut FlowTable) -> Vec<Vec<u32>> {
    let requests = traffic.first_requests(flows);
    let mut starts: Vec<Vec<u32>> = vec![Vec::new(); scenario.network.hosts.len()];
    for number in (0..plan.flows.len() as u32).chain(requests) {
        if flows.flows[number as usize].waits_for == 0 {
            starts[flows.records[number as usize].spec.src as usize].push(number);
        }
    }
    for starts in &mut starts {
        starts.sort_by_key(|number| (flows.records[*number as usize].spec.start, *number));
    }
    starts
}

fn hosts(
    scenario: &Scenario,
    starts: Vec<Vec<u32>>,
    links: &FabricLinks,
    flows: &FlowTable,
    wires: &Wires,
) -> Vec<Host> {
    // Pulls are as far apart as the packets that they ask for.
    let pulled = flows.transports.iter().filter(|config| matches!(config.kind, TransportKind::Ndp(_)));
    let full = pulled.map(|config| config.common.mss + config.common.header).max().unwrap_or(1_500);
    let host = |(number, starts): (usize, Vec<u32>)| {
        let (out, incoming) = (links.out(number)[0], links.first_incoming[number]);
        let rate = wires.links[out as usize].rate;
        let nic = Nic::new(&scenario.nic, number, out, rate);
        Host::new(number as u32, incoming, nic, starts, rate.serialization(u64::from(full)))
    };
    starts.into_iter().enumerate().map(host).collect()
}

fn switches(scenario: &Scenario, links: &FabricLinks, routes: &Routes, watch: bool) -> Vec<Switch> {
    let switch = |(number, setup)| {
        let node = scenario.network.switch_node(number) as usize;
        let links = (links.out(node), links.first_incoming[node]);
        let mut switch = Switch::new(number as u32, setup, links, scenario.seed, watch);
        switch.forwarding_mut().reroute(routes);
        switch
    };
    scenario.switches.iter().enumerate().map(switch).collect()
}

/// The least time that a packet takes from one node to the next.
fn lookahead(scenario: &Scenario) -> u64 {
    scenario.network.cables.iter().map(|cable| fastest(scenario, cable)).min().unwrap_or(1)
}
