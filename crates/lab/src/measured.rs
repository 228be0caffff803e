//! What a live run has measured, as the simulator's results: the same tables, summaries and pages can be made from it.
//!
//! Retransmissions and timeouts of a flow are what its sender's kernel has counted (`TCP_INFO`) when the flow was over;
//! flows that were not over, and requests of closed-loop clients, have 0. Drops of single flows are not known here and
//! count as 0; the kernels' own counters are kept beside the result.

use crate::fleet::Observed;
use forebay_live::snapshot::{PortState, QueueState, Snapshot};
use forebay_sim::flow::{FlowRecord, FlowSpec, NONE, TrafficPlan};
use forebay_sim::ideal::{Response, ideal_fct, ideal_query};
use forebay_sim::measure::histogram::{Occupancy, Shares};
use forebay_sim::measure::{Cost, FlowSample, PlaceRecord, QueryRecord, QueueSample, RunResult, TimelineSample};
use forebay_sim::network::CablePlan;
use forebay_sim::scenario::Scenario;
use forebay_sim::transport::{Common, FlowInfo};
use forebay_tm::{Counters, Duration, Instant, MemoryReads, Rate};

/// A snapshot of the switch, and when it was taken: nanoseconds from the start.
#[derive(Clone, Debug)]
pub struct Sample {
    /// When.
    pub at: u64,
    /// The switch.
    pub snapshot: Snapshot,
}

/// What was seen of a switch.
#[derive(Clone, Debug, Default)]
pub struct SeenSwitch {
    /// As the run went on.
    pub samples: Vec<Sample>,
    /// After it; all zeros if it has no counters.
    pub last: Snapshot,
}

/// Everything that was seen of a run.
pub struct Seen<'a> {
    /// What the agents told.
    pub observed: &'a Observed,
    /// The switches, in the order of the scenario.
    pub switches: &'a [SeenSwitch],
    /// How long the run took, in nanoseconds.
    pub end: u64,
}

fn instant(ns: u64) -> Instant {
    Instant::ZERO + Duration::from_ps(ns.saturating_mul(1_000))
}

fn at(times: &std::collections::BTreeMap<u32, u64>, number: u32) -> Instant {
    times.get(&number).map_or(Instant::NEVER, |ns| instant(*ns))
}

/// The results of a run.
pub fn result(scenario: &Scenario, plan: &TrafficPlan, seen: &Seen<'_>) -> RunResult {
    let ways = Ways { scenario };
    let mut flows: Vec<FlowRecord> =
        (0..).zip(&plan.flows).map(|(number, spec)| flow_record(&ways, number, spec, seen.observed)).collect();
    flows.extend(session_records(&ways, plan, seen.observed));
    let queries = query_records(&ways, plan, seen.observed);
    let (mut received, mut delivered, mut lost) = (0, 0, 0);
    for (number, switch) in seen.switches.iter().enumerate() {
        let own = outside(&switch.last, |port| ways.is_to_host(number, port));
        (received, delivered, lost) = (received + own.0, delivered + own.1, lost + own.2);
    }
    let sum = |of: &dyn Fn(&Snapshot) -> u64| seen.switches.iter().map(|switch| of(&switch.last)).sum::<u64>();
    let hops = sum(&|last| last.total.sent.packets + last.total.headers_sent.packets);
    let mut progress: Vec<FlowSample> = seen
        .observed
        .progress
        .iter()
        .map(|(flow, at, bytes)| FlowSample { at: instant(*at), flow: *flow, bytes: *bytes })
        .collect();
    progress.sort_by_key(|sample| (sample.at, sample.flow));
    RunResult {
        end: instant(seen.end),
        interrupted: false,
        flows,
        queries,
        places: places(scenario, seen),
        timeline: timeline(seen),
        queue_timeline: queue_timeline(scenario, seen),
        progress,
        sent: received,
        received: delivered,
        in_flight: sum(&|last| last.total.waiting.packets),
        lost_to_failures: lost,
        cost: Cost {
            events: sum(&|last| last.cost.packets),
            hops,
            cpu_seconds: sum(&|last| last.cost.core_ns + last.cost.io_ns) as f64 / 1e9,
            ..Cost::default()
        },
        ..RunResult::default()
    }
}

/// The ways through the switches.
struct Ways<'a> {
    scenario: &'a Scenario,
}

/// Rates and delays of the links of a way.
type Links = Vec<(Rate, Duration)>;

impl Ways<'_> {
    /// The node at the other end of a cable that ends at this one.
    fn peer(cable: &CablePlan, node: u32) -> Option<u32> {
        [(cable.a, cable.b), (cable.b, cable.a)].into_iter().find(|(own, _)| *own == node).map(|(_, peer)| peer)
    }

    /// Whether a port of a switch leads to a host.
    fn is_to_host(&self, switch: usize, port: usize) -> bool {
        let network = &self.scenario.network;
        let mut peers = network.cables.iter().filter_map(|cable| Self::peer(cable, network.switch_node(switch)));
        peers.nth(port).is_some_and(|peer| network.is_host(peer))
    }

    /// The switch that a host is at.
    fn switch_of(&self, host: u32) -> Option<u32> {
        self.scenario.network.cables.iter().find_map(|cable| Self::peer(cable, host))
    }

    /// Up to a spine and down again, if the two ends are at different leaves; all spines are alike.
    fn between(&self, from: u32, to: u32) -> Links {
        let (Some(from), Some(to)) = (self.switch_of(from), self.switch_of(to)) else { return Vec::new() };
        if from == to {
            return Vec::new();
        }
        let is_spine = |node: &u32| !self.scenario.network.is_host(*node);
        let link = |leaf: u32| {
            let cables = &self.scenario.network.cables;
            let up = cables.iter().find(|cable| Self::peer(cable, leaf).as_ref().is_some_and(is_spine));
            up.map(|cable| (cable.rate, cable.delay))
        };
        link(from).into_iter().chain(link(to)).collect()
    }

    fn link(&self, host: u32) -> (Rate, Duration) {
        let cables = &self.scenario.network.cables;
        let cable = cables.iter().find(|cable| cable.a == host || cable.b == host);
        cable.map_or((Rate::default(), Duration::ZERO), |cable| (cable.rate, cable.delay))
    }

    fn path(&self, spec: &FlowSpec) -> Links {
        let mut links = vec![self.link(spec.src)];
        links.extend(self.between(spec.src, spec.dst));
        links.push(self.link(spec.dst));
        links
    }

    fn common(&self, spec: &FlowSpec) -> &Common {
        &self.scenario.transports[usize::from(spec.transport)].1.common
    }

    /// Packets of a flow, and the bytes of a full one and of the last.
    fn packets(&self, spec: &FlowSpec) -> (u32, u32, u32) {
        let common = self.common(spec);
        let packets = spec.bytes.div_ceil(u64::from(common.mss)).max(1);
        let last = spec.bytes.saturating_sub((packets - 1) * u64::from(common.mss)) as u32 + common.header;
        (u32::try_from(packets).unwrap_or(u32::MAX), common.mss + common.header, last)
    }

    fn ideal(&self, spec: &FlowSpec) -> Duration {
        if spec.bytes == FlowInfo::ENDLESS {
            return Duration::ZERO;
        }
        let (packets, full, last) = self.packets(spec);
        ideal_fct(&self.path(spec), packets, full, last)
    }
}

fn flow_record(ways: &Ways<'_>, number: u32, spec: &FlowSpec, observed: &Observed) -> FlowRecord {
    let start = at(&observed.started, number);
    let end = at(&observed.ended, number);
    let (retransmissions, timeouts) = observed.repeated.get(&number).copied().unwrap_or_default();
    let whole = observed.datagrams.get(&number).map(|datagrams| datagrams.whole);
    let complete = || if end == Instant::NEVER { 0 } else { u64::from(ways.packets(spec).0) };
    FlowRecord {
        spec: FlowSpec { start, ..*spec },
        end,
        acked: at(&observed.acked, number),
        ideal: ways.ideal(spec),
        received: u32::try_from(whole.unwrap_or_else(complete)).unwrap_or(u32::MAX),
        retransmissions,
        timeouts,
        // The kernel does not tell them apart from its other retransmissions.
        probes: 0,
        drops: 0,
        trims: observed
            .datagrams
            .get(&number)
            .map_or(0, |datagrams| u32::try_from(datagrams.headers).unwrap_or(u32::MAX)),
        marks: 0,
    }
}

/// Requests and responses of closed-loop clients, in order of start.
fn session_records(ways: &Ways<'_>, plan: &TrafficPlan, observed: &Observed) -> Vec<FlowRecord> {
    let mut records = Vec::new();
    for (number, server, bytes, [start, there, back]) in &observed.asked {
        let Some(session) = plan.sessions.get(*number as usize) else { continue };
        let request = FlowSpec {
            start: instant(*start),
            src: session.client,
            dst: *server as u32,
            bytes: session.request_bytes,
            class: session.class,
            transport: session.transport,
            workload: session.workload,
            session: *number,
            ..FlowSpec::default()
        };
        let response = FlowSpec {
            start: instant(*there),
            src: request.dst,
            dst: request.src,
            bytes: *bytes,
            is_response: true,
            ..request
        };
        for (spec, end) in [(request, *there), (response, *back)] {
            let (ideal, received) = (ways.ideal(&spec), ways.packets(&spec).0);
            let end = instant(end);
            let (acked, zero) = (Instant::NEVER, 0);
            records.push(FlowRecord {
                spec,
                end,
                acked,
                ideal,
                received,
                retransmissions: zero,
                timeouts: zero,
                probes: zero,
                drops: zero,
                trims: zero,
                marks: zero,
            });
        }
    }
    records.sort_by_key(|record| (record.spec.start, record.spec.session, record.spec.is_response));
    records
}

fn query_records(ways: &Ways<'_>, plan: &TrafficPlan, observed: &Observed) -> Vec<QueryRecord> {
    let mut responses: Vec<Vec<u32>> = vec![Vec::new(); plan.queries.len()];
    for (number, flow) in (0..).zip(&plan.flows) {
        let is_response = flow.query != NONE && plan.queries[flow.query as usize].host == flow.dst;
        if is_response {
            responses[flow.query as usize].push(number);
        }
    }
    let record = |(spec, responses): (&_, &Vec<u32>)| {
        let ends = responses.iter().map(|number| at(&observed.ended, *number));
        let end = ends.max().filter(|_| !responses.is_empty()).unwrap_or(Instant::NEVER);
        // The flows' own starts say when the query really started.
        let started = responses.iter().map(|number| at(&observed.started, *number)).min();
        let waits = responses.iter().any(|number| plan.flows[*number as usize].waits_for > 0);
        let spec: forebay_sim::flow::QuerySpec = *spec;
        let start = started.filter(|start| !waits && *start != Instant::NEVER).unwrap_or(spec.start);
        let paths: Vec<_> = responses
            .iter()
            .map(|number| {
                let flow = &plan.flows[*number as usize];
                (ways.path(flow), ways.packets(flow))
            })
            .collect();
        let ideal = ideal_query(paths.iter().map(|(path, (packets, full, last))| Response {
            path,
            packets: *packets,
            full_bytes: *full,
            last_bytes: *last,
        }));
        let spec = forebay_sim::flow::QuerySpec { start, ..spec };
        let timeouts =
            responses.iter().filter_map(|number| observed.repeated.get(number)).map(|(_, timeouts)| timeouts).sum();
        QueryRecord { spec, end, ideal, drops: 0, trims: 0, timeouts }
    };
    plan.queries.iter().zip(&responses).map(record).collect()
}

/// Frames that were received by the ports to hosts, that were sent by these, and that were lost outside the buffer at
/// any port.
fn outside(snapshot: &Snapshot, is_to_host: impl Fn(usize) -> bool) -> (u64, u64, u64) {
    let of_hosts = || snapshot.ports.iter().enumerate().filter(|(number, _)| is_to_host(*number)).map(|(_, port)| port);
    let sent = |port: &PortState| port.counters.sent.packets + port.counters.headers_sent.packets;
    (
        of_hosts().map(|port| port.received.packets).sum(),
        of_hosts().map(sent).sum(),
        snapshot.ports.iter().map(|port| port.outside.total()).sum(),
    )
}

/// The buffers, their ports and their queues.
fn places(scenario: &Scenario, seen: &Seen<'_>) -> Vec<PlaceRecord> {
    (0..).zip(seen.switches).flat_map(|(number, switch)| places_of(scenario, number, switch, seen.end)).collect()
}

/// The buffer of a switch, its ports and its queues.
fn places_of(scenario: &Scenario, switch: u32, seen: &SeenSwitch, end: u64) -> Vec<PlaceRecord> {
    let size = scenario.switches[switch as usize].buffers[0].buffer;
    let place = |port: Option<usize>, queue: Option<usize>, counters: Counters, occupancy: Occupancy| PlaceRecord {
        switch,
        buffer: 0,
        port: port.map(|port| port as u32),
        queue: queue.map(|queue| queue as u32),
        counters,
        occupancy,
        utilization: 0.0,
        memory: MemoryReads::default(),
        memory_use_at_drops: Shares::default(),
        buffer_use_at_drops: Shares::default(),
        size,
    };
    let occupancy = |value: &dyn Fn(&Snapshot) -> u64| {
        let mut occupancy = Occupancy::default();
        for sample in &seen.samples {
            occupancy.record(value(&sample.snapshot));
        }
        occupancy
    };
    let total = place(None, None, seen.last.total, occupancy(&|own| own.used.get()));
    let mut places = vec![PlaceRecord { memory: seen.last.memory, ..total }];
    let seconds = (scenario.duration.ps() as f64 / 1e12).min(end as f64 / 1e9).max(1e-9);
    for (number, port) in seen.last.ports.iter().enumerate() {
        let waiting = |own: &Snapshot| {
            own.ports.get(number).map_or(0, |port| port.queues.iter().map(|queue| queue.bytes.get()).sum())
        };
        // What was sent after the scenario's duration does not count.
        let during = seen.samples.iter().rfind(|sample| instant(sample.at) <= Instant::ZERO + scenario.duration);
        let then = during.and_then(|sample| sample.snapshot.ports.get(number)).unwrap_or(port).counters;
        let sent = then.sent.bytes + then.headers_sent.bytes;
        let utilization = sent as f64 * 8.0 / (port.rate.bps() as f64).max(1.0) / seconds;
        let own = place(Some(number), None, port.counters, occupancy(&waiting));
        places.push(PlaceRecord { utilization: utilization.min(1.0), ..own });
        for (place_in_port, queue) in port.queues.iter().enumerate() {
            let waiting = |own: &Snapshot| {
                let port = own.ports.get(number);
                port.and_then(|port| port.queues.get(place_in_port)).map_or(0, |queue| queue.bytes.get())
            };
            places.push(place(Some(number), Some(place_in_port), queue.counters, occupancy(&waiting)));
        }
    }
    places
}

/// All queues of a snapshot: port, queue, what is known.
fn all_queues(snapshot: &Snapshot) -> impl Iterator<Item = (usize, usize, &QueueState)> {
    let ports = snapshot.ports.iter().enumerate();
    ports.flat_map(|(port, state)| state.queues.iter().enumerate().map(move |(queue, value)| (port, queue, value)))
}

/// All samples of all switches, in order of time, with the numbers of their switches.
fn in_order<'a>(seen: &'a Seen<'_>) -> Vec<(u32, &'a Sample)> {
    let of_switch = |(number, switch): (u32, &'a SeenSwitch)| switch.samples.iter().map(move |sample| (number, sample));
    let mut samples: Vec<_> = (0..).zip(seen.switches).flat_map(of_switch).collect();
    samples.sort_by_key(|(number, sample)| (sample.at, *number));
    samples
}

fn timeline(seen: &Seen<'_>) -> Vec<TimelineSample> {
    in_order(seen).into_iter().filter_map(|(switch, sample)| timeline_sample(switch, sample)).collect()
}

fn timeline_sample(switch: u32, sample: &Sample) -> Option<TimelineSample> {
    let (port, queue, longest) = all_queues(&sample.snapshot).max_by_key(|(_, _, queue)| queue.bytes)?;
    Some(TimelineSample {
        at: instant(sample.at),
        switch,
        buffer: 0,
        used: sample.snapshot.used,
        longest: (port as u32, queue as u32),
        longest_bytes: longest.bytes,
        threshold: longest.threshold,
        drops: sample.snapshot.total.dropped.packets,
    })
}

/// Queues from their first packet on, if the scenario asks for them.
fn queue_timeline(scenario: &Scenario, seen: &Seen<'_>) -> Vec<QueueSample> {
    if scenario.measure.queues.is_empty() {
        return Vec::new();
    }
    let of_sample = |(switch, sample): (u32, &Sample)| {
        let used = |(_, _, queue): &(usize, usize, &QueueState)| queue.counters.offered.packets > 0;
        let queue_sample = |(port, queue, value): (usize, usize, &QueueState)| QueueSample {
            at: instant(sample.at),
            switch,
            port: port as u32,
            queue: queue as u32,
            bytes: value.bytes,
            threshold: value.threshold,
        };
        all_queues(&sample.snapshot).filter(used).map(queue_sample).collect::<Vec<_>>()
    };
    in_order(seen).into_iter().flat_map(of_sample).collect()
}
