//! Made-up scenarios and results with known numbers.

use forebay_sim::flow::{FlowRecord, FlowSpec, QuerySpec};
use forebay_sim::measure::histogram::{Occupancy, Shares};
use forebay_sim::measure::{Cost, PlaceRecord, QueryRecord, RunResult};
use forebay_sim::network::{CablePlan, NetworkPlan, NodeId, SwitchPlan};
use forebay_sim::scenario::{MeasureSetup, NicSetup, PathChoice, Scenario};
use forebay_sim::transport::TransportConfig;
use forebay_sim::workload::{PermutationConfig, WorkloadConfig, WorkloadKind};
use forebay_tm::View as _;
use forebay_tm::{Bytes, Duration, Instant, MemoryReads, Packet, PacketId, Rate, Tm, TmConfig, Wire};

pub(crate) fn cable(a: NodeId, b: NodeId) -> CablePlan {
    CablePlan { a, b, rate: Rate::from_gbps(10), delay: Duration::from_us(1) }
}

fn workload(name: &str, class: u8) -> WorkloadConfig {
    WorkloadConfig {
        name: name.to_owned(),
        class,
        classes: 1,
        transport: 0,
        start: Instant::ZERO,
        stop: Instant::NEVER,
        allow_overload: false,
        kind: WorkloadKind::Permutation(PermutationConfig { bytes: None, hosts: None, spread: Duration::ZERO }),
    }
}

fn switch(name: &str, tier: &str) -> SwitchPlan {
    SwitchPlan { name: name.to_owned(), tier: tier.to_owned() }
}

/// Two leaves under one spine: leaf0 with host0 and host1 (ports 0 and 1), leaf1 with host2. Two workloads of two
/// classes.
pub(crate) fn scenario() -> Scenario {
    Scenario {
        name: "small".to_owned(),
        seed: 8,
        duration: Duration::from_us(1_000),
        drain: Duration::from_us(1_000),
        network: NetworkPlan {
            hosts: ["host0", "host1", "host2"].map(str::to_owned).to_vec(),
            switches: vec![switch("leaf0", "leaf"), switch("spine0", "spine"), switch("leaf1", "leaf")],
            cables: vec![cable(0, 3), cable(1, 3), cable(3, 4), cable(4, 5), cable(2, 5)],
        },
        paths: PathChoice::Ecmp,
        switches: Vec::new(),
        nic: NicSetup::Unlimited,
        transports: vec![("dctcp".to_owned(), TransportConfig::named("dctcp").unwrap())],
        workloads: vec![workload("websearch", 0), workload("incast", 1)],
        changes: Vec::new(),
        reroute: Duration::ZERO,
        measure: MeasureSetup::default(),
    }
}

/// A run in which nothing happened.
pub(crate) fn result() -> RunResult {
    RunResult {
        end: Instant::from_ps(2_000_000_000),
        cost: Cost { events: 3_000_000, hops: 1_000_000, cpu_seconds: 0.5, peak_memory: 32_000_000, ..Cost::default() },
        ..RunResult::default()
    }
}

/// A flow that started after 1 us and took `fct_us`, of a workload and its class.
pub(crate) fn flow(workload: u16, bytes: u64, fct_us: u64, ideal_us: u64) -> FlowRecord {
    let start = Instant::from_ps(1_000_000);
    let end = start + Duration::from_us(fct_us);
    FlowRecord {
        spec: FlowSpec { start, dst: 2, bytes, workload, class: workload as u8, ..FlowSpec::default() },
        end,
        acked: end + Duration::from_us(1),
        ideal: Duration::from_us(ideal_us),
        received: 1,
        retransmissions: 0,
        timeouts: 0,
        probes: 0,
        drops: 0,
        trims: 0,
        marks: 0,
    }
}

/// A query that started after 1 us, of the second workload.
pub(crate) fn query(qct_us: Option<u64>, ideal_us: u64, drops: u32) -> QueryRecord {
    let start = Instant::from_ps(1_000_000);
    QueryRecord {
        spec: QuerySpec { start, host: 2, fan_in: 2, bytes: 4_000, workload: 1 },
        end: qct_us.map_or(Instant::NEVER, |us| start + Duration::from_us(us)),
        ideal: Duration::from_us(ideal_us),
        drops,
        trims: 0,
        timeouts: u32::from(drops > 0),
    }
}

/// The buffer of a switch with room for three packets, its two ports and the queue of the first, after `offered`
/// packets for that port and no transmission; half of the time the buffer was empty, and half of the time it held one
/// packet.
pub(crate) fn places(switch: u32, offered: u64, utilization: f64) -> Vec<PlaceRecord> {
    let config = TmConfig::new(vec![Rate::from_gbps(10); 2], Bytes::new(4_500));
    let mut tm = Tm::new(config.validate().unwrap());
    for id in 0..offered {
        let packet = Packet { id: PacketId(id), bytes: 1_500, ..Packet::default() };
        tm.offer(Instant::ZERO, &packet, Wire::Busy);
    }
    let mut occupancy = Occupancy::default();
    occupancy.record_zeros(10);
    (0..10).for_each(|_| occupancy.record(1_500));
    let place = |port, queue, counters| PlaceRecord {
        switch,
        buffer: 0,
        port,
        queue,
        counters,
        occupancy: occupancy.clone(),
        utilization: if port == Some(0) && queue.is_none() { utilization } else { 0.0 },
        memory: MemoryReads::default(),
        memory_use_at_drops: Shares::default(),
        buffer_use_at_drops: Shares::default(),
        size: if port.is_none() { Bytes::new(4_500) } else { Bytes::ZERO },
    };
    vec![
        place(None, None, tm.pool_counters()),
        place(Some(0), None, tm.port_counters(0)),
        place(Some(0), Some(0), tm.queue_counters(0)),
        place(Some(1), None, tm.port_counters(1)),
    ]
}

/// A run with flows of all sizes, queries and drops, whose every time is stretched by `factor`.
pub(crate) fn busy(seed: u64, factor: u64) -> (Scenario, RunResult) {
    let scenario = Scenario { seed, ..scenario() };
    let mut result = result();
    // 100 flows of each size, with slowdowns from 1 to 100 times the factor.
    for bytes in [5_000, 50_000, 500_000, 5_000_000] {
        result.flows.extend((1..=100).map(|n| flow(0, bytes, factor * n * 10, 10)));
    }
    result.flows.extend((0..10).map(|_| flow(1, 2_000, factor * 20, 10)));
    result.flows[409].end = Instant::NEVER;
    result.queries = (1..=4).map(|n| query(Some(factor * n * 100), 100, u32::from(n == 4))).collect();
    result.queries.push(query(None, 100, 3));
    result.places = places(0, 3 + 2 * factor, 0.5);
    result.places.extend(places(1, 2, 0.25));
    result.places.extend(places(2, 0, 0.0));
    (scenario, result)
}
