//! Runs of the scenarios in `scenarios/peers`, and the figures that the peers report for them.

use forebay_sim::flow::{FlowRecord, NONE};
use forebay_sim::measure::RunResult;
use forebay_sim::routing::Ports;
use forebay_sim::scenario::Scenario;
use forebay_sim::{engine, workload};
use forebay_tm::{Duration, Instant};

/// What is set in a scenario: keys and values.
pub(crate) type Sets = [(&'static str, &'static str)];

/// A peer's table.
pub(crate) struct Peer<const N: usize> {
    pub(crate) title: &'static str,
    pub(crate) columns: [&'static str; N],
    pub(crate) rows: &'static [Row<N>],
    /// Our values for a row and a seed.
    pub(crate) measure: fn(&str, &'static Sets, u64) -> [f64; N],
}

/// A row of a peer's table.
pub(crate) struct Row<const N: usize> {
    pub(crate) title: &'static str,
    /// The scenario, and what is set in it.
    pub(crate) name: &'static str,
    pub(crate) sets: &'static Sets,
    pub(crate) theirs: [f64; N],
}

const fn row<const N: usize>(title: &'static str, name: &'static str, sets: &'static Sets, theirs: [f64; N]) -> Row<N> {
    Row { title, name, sets, theirs }
}

/// ns-3 with the module of ABM's authors, without its quirks.
pub(crate) const ABM: Peer<7> = Peer {
    title: "ns-3, ABM's authors: load 0.4, request 0.3 B, Cubic",
    columns: ["incast p99", "short p99", "long p50", "occupancy p99 %", "uplinks %", "drops up", "drops down"],
    rows: &[
        row("DT", "abm-dt", &[], [116.8, 12.9, 1.68, 55.8, 39.5, 1561.0, 46.0]),
        row("CS", "abm-cs", &[], [114.9, 16.0, 1.68, 82.0, 39.3, 474.0, 31.0]),
        row("FAB", "abm-fab", &[], [122.8, 12.1, 1.63, 55.1, 39.5, 1666.0, 50.0]),
        row("ABM", "abm-abm", &[], [9.7, 6.7, 1.74, 24.8, 39.9, 3199.0, 398.0]),
    ],
    measure: |name, sets, seed| abm_row(&seeded(name, sets, seed)).values(),
};

/// Netbench, 0.04 s at the rate labelled 0.5.
pub(crate) const NETBENCH: Peer<3> = Peer {
    title: "Netbench, 0.04 s at load \"0.5\", in ms",
    columns: ["small mean", "small p99", "large mean"],
    rows: &[
        row("TCP", "netbench-tcp", &[], [0.2578, 1.285, 5.307]),
        row("DCTCP", "netbench-dctcp", &[], [0.0835, 0.409, 5.110]),
        row("PIFO", "netbench-pifo", &[], [0.0857, 0.257, 3.990]),
        row("SP-PIFO", "netbench-sp-pifo", &[], [0.0833, 0.251, 4.109]),
        row("AIFO", "netbench-aifo", &[], [0.1296, 0.534, 4.162]),
    ],
    measure: |name, sets, seed| {
        let row = netbench_row(&seeded(name, sets, seed));
        [row.small_mean, row.small_p99, row.large_mean]
    },
};

/// Netbench, fair queueing: 1 s at the rate labelled 0.2. Ports have 100 MB where packets are counted, not bytes.
pub(crate) const NETBENCH_FAIR: Peer<3> = Peer {
    title: "Netbench, fair queueing, 1 s at load \"0.2\", in ms",
    columns: ["small mean", "small p99", "large mean"],
    rows: &[
        row("TCP", "netbench-fair", FAIR_TCP, [1.773, 13.18, 41.70]),
        row("DCTCP", "netbench-fair", &[], [1.048, 7.04, 40.00]),
        row("AFQ", "netbench-fair", FAIR_AFQ, [0.557, 2.56, 43.52]),
        row("SP-PIFO", "netbench-fair", FAIR_SP_PIFO, [0.502, 2.39, 42.94]),
        row("PIFO", "netbench-fair", FAIR_PIFO, [0.426, 2.12, 39.47]),
        row("AIFO", "netbench-fair", FAIR_AIFO, [0.624, 3.25, 41.30]),
    ],
    measure: NETBENCH.measure,
};

const FAIR_TCP: &Sets = &[
    ("ecn.kind", "\"none\""),
    ("nic.ecn.kind", "\"none\""),
    ("switch.buffer", "146000"),
    ("nic.buffer", "146000"),
    ("workload.0.transport", "\"tcp\""),
];
const FAIR_AFQ: &Sets = &[
    ("switch.buffer", "\"100MB\""),
    ("nic.buffer", "\"100MB\""),
    ("scheduler.kind", "\"afq\""),
    ("scheduler.queues", "32"),
    ("scheduler.bytes_per_round", "80"),
    ("nic.scheduler.kind", "\"afq\""),
    ("nic.scheduler.queues", "32"),
    ("nic.scheduler.bytes_per_round", "80"),
];
const FAIR_SP_PIFO: &Sets = &[
    ("switch.buffer", "\"100MB\""),
    ("nic.buffer", "\"100MB\""),
    ("scheduler.kind", "\"sp-pifo\""),
    ("scheduler.queues", "32"),
    ("scheduler.capacity", "10"),
    ("scheduler.rank", "\"stfq\""),
    ("nic.scheduler.kind", "\"sp-pifo\""),
    ("nic.scheduler.queues", "32"),
    ("nic.scheduler.capacity", "10"),
    ("nic.scheduler.rank", "\"stfq\""),
];
/// 320 packets there, of which one is never used.
const FAIR_PIFO: &Sets = &[
    ("switch.buffer", "\"100MB\""),
    ("nic.buffer", "\"100MB\""),
    ("scheduler.kind", "\"pifo\""),
    ("scheduler.capacity", "319"),
    ("scheduler.rank", "\"stfq\""),
    ("nic.scheduler.kind", "\"pifo\""),
    ("nic.scheduler.capacity", "319"),
    ("nic.scheduler.rank", "\"stfq\""),
];
const FAIR_AIFO: &Sets = &[
    ("switch.buffer", "\"100MB\""),
    ("nic.buffer", "\"100MB\""),
    ("scheduler.kind", "\"aifo\""),
    ("scheduler.capacity", "100"),
    ("scheduler.window", "20"),
    ("scheduler.headroom", "0.1"),
    ("scheduler.rank", "\"stfq\""),
    ("nic.scheduler.kind", "\"aifo\""),
    ("nic.scheduler.capacity", "100"),
    ("nic.scheduler.window", "20"),
    ("nic.scheduler.headroom", "0.1"),
    ("nic.scheduler.rank", "\"stfq\""),
];

/// htsim: when the last flow ends.
pub(crate) const HTSIM: Peer<1> = Peer {
    title: "htsim, NDP, 100 Gb/s: the last flow ends, in us",
    columns: ["end"],
    rows: &[
        row("permutation, 128, window 30", "htsim-permutation-128", &[], [590.0]),
        row("permutation, 128, window 120", "htsim-permutation-128", WINDOW_120, [210.0]),
        row("permutation, 432, window 30", "htsim-permutation-432", &[], [591.0]),
        row("permutation, 432, window 120", "htsim-permutation-432", WINDOW_120, [218.0]),
        row("incast, 127 to 1", "htsim-incast", &[], [21_400.0]),
    ],
    measure: |name, sets, seed| [last_end(&seeded(name, sets, seed))],
};

const WINDOW_120: &Sets = &[("transport.ndp.initial_window", "120")];

/// A run with a seed.
pub(crate) fn seeded(name: &str, sets: &[(&str, &str)], seed: u64) -> Run {
    let seed = seed.to_string();
    let sets: Vec<(&str, &str)> = sets.iter().copied().chain([("seed", seed.as_str())]).collect();
    run(name, &sets)
}

/// A scenario and what came of it.
pub(crate) struct Run {
    pub(crate) scenario: Scenario,
    pub(crate) result: RunResult,
}

/// Runs `scenarios/peers/NAME.toml`, changed by `sets`.
pub(crate) fn run(name: &str, sets: &[(&str, &str)]) -> Run {
    let path = format!("{}/../../scenarios/peers/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let sets: Vec<(String, String)> = sets.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
    let scenario = Scenario::read(&path, &text, &sets).unwrap_or_else(|error| panic!("{error}"));
    let plan = workload::plan(&scenario.workloads, &scenario.network, &scenario.transports, scenario.seed);
    let result = engine::run(&scenario, &plan, &mut |_| true);
    Run { scenario, result }
}

/// Their percentile: no interpolation, and the sample before the one that one would expect.
pub(crate) fn percentile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let rank = (values.len() as f64 * share) as usize;
    values.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn us(span: Duration) -> f64 {
    span.ps() as f64 / 1e6
}

// ---- ns-3 with the module of ABM's authors
// -------------------------------------------------------------------------------

/// A row of the table of ABM's authors' runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AbmRow {
    pub(crate) incast_p99: f64,
    pub(crate) incast_p50: f64,
    pub(crate) short_p99: f64,
    pub(crate) long_p50: f64,
    pub(crate) occupancy_p99: f64,
    pub(crate) uplinks: f64,
    pub(crate) drops_up: u64,
    pub(crate) drops_down: u64,
    pub(crate) unfinished: usize,
}

impl AbmRow {
    /// In the order of [`ABM`]'s columns.
    pub(crate) fn values(&self) -> [f64; 7] {
        let AbmRow { incast_p99, short_p99, long_p50, occupancy_p99, uplinks, drops_up, drops_down, .. } = *self;
        [incast_p99, short_p99, long_p50, occupancy_p99, uplinks, drops_up as f64, drops_down as f64]
    }
}

/// The row of a run. The ideal time is theirs: 80 us and the payload at 10 Gb/s; the workload's own start is the
/// handshake, which belongs to the flow.
pub(crate) fn abm_row(run: &Run) -> AbmRow {
    let Run { scenario, result } = run;
    let slowdown = |flow: &FlowRecord| {
        let opened = scenario.workloads[usize::from(flow.spec.workload)].start.since(Instant::ZERO);
        flow.fct().map(|fct| (us(fct) + us(opened)) / (80.0 + flow.spec.bytes as f64 * 8.0 / 1e4))
    };
    let of = |wanted: &dyn Fn(&FlowRecord) -> bool| -> Vec<f64> {
        result.flows.iter().filter(|flow| wanted(flow)).filter_map(slowdown).collect()
    };
    let mut incast = of(&|flow| flow.spec.query != NONE);
    let mut short = of(&|flow| flow.spec.query == NONE && flow.spec.bytes < 100_000);
    let mut long = of(&|flow| flow.spec.query == NONE && flow.spec.bytes >= 1_000_000);
    let buffer = scenario.switches[0].buffers[0].buffer.as_f64();
    let mut occupancy: Vec<f64> = result.timeline.iter().map(|sample| sample.used.as_f64() / buffer * 100.0).collect();
    let plan = &scenario.network;
    let ports = Ports::new(plan);
    let (mut uplinks, mut drops) = (Vec::new(), [0; 2]);
    for place in result.places.iter().filter(|place| place.queue.is_none()) {
        let Some(port) = place.port else { continue };
        if plan.switches[place.switch as usize].tier == "spine" {
            continue;
        }
        let is_down = plan.is_host(ports.of(plan.switch_node(place.switch as usize))[port as usize].peer);
        drops[usize::from(is_down)] += place.counters.dropped.packets;
        if !is_down {
            uplinks.push(place.utilization * 100.0);
        }
    }
    AbmRow {
        incast_p99: percentile(&mut incast, 0.99),
        incast_p50: percentile(&mut incast, 0.5),
        short_p99: percentile(&mut short, 0.99),
        long_p50: percentile(&mut long, 0.5),
        occupancy_p99: percentile(&mut occupancy, 0.99),
        uplinks: mean(&uplinks),
        drops_up: drops[0],
        drops_down: drops[1],
        unfinished: result.flows.iter().filter(|flow| !flow.is_complete()).count(),
    }
}

/// The queries alone, with a policy.
pub(crate) fn abm_alone(policy: &str, seed: u64) -> AbmRow {
    let kind = format!("\"{policy}\"");
    abm_row(&seeded("abm-incast-alone", &[("policy.kind", kind.as_str())], seed))
}

// ---- Netbench
// ------------------------------------------------------------------------------------------------------------

/// A row of the table of Netbench runs; times in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NetbenchRow {
    pub(crate) small_mean: f64,
    pub(crate) small_p99: f64,
    pub(crate) large_mean: f64,
}

/// The row of a run: a flow has ended when its sender has every ACK, and counts if that was before the end of the run.
pub(crate) fn netbench_row(run: &Run) -> NetbenchRow {
    let flows = &run.result.flows;
    let ended = |wanted: &dyn Fn(u64) -> bool| -> Vec<f64> {
        let ended = flows.iter().filter(|flow| flow.acked != Instant::NEVER && wanted(flow.spec.bytes));
        ended.map(|flow| us(flow.acked.since(flow.spec.start)) / 1e3).collect()
    };
    let mut small = ended(&|bytes| bytes < 100_000);
    NetbenchRow {
        small_mean: mean(&small),
        small_p99: percentile(&mut small, 0.99),
        large_mean: mean(&ended(&|bytes| bytes >= 1_000_000)),
    }
}

// ---- htsim
// ---------------------------------------------------------------------------------------------------------------

/// When the last flow ended, in microseconds.
pub(crate) fn last_end(run: &Run) -> f64 {
    let end = run.result.flows.iter().map(|flow| flow.end).max().unwrap_or(Instant::NEVER);
    us(end.since(Instant::ZERO))
}
