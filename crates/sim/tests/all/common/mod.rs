//! What the tests share: scenarios from text, and numbers from results.

// Every test file uses a part of this.
#![allow(dead_code)]

use forebay_sim::engine;
use forebay_sim::flow::{FlowSpec, TrafficPlan};
use forebay_sim::measure::{PlaceRecord, RunResult};
use forebay_sim::scenario::Scenario;
use forebay_sim::workload;
use forebay_tm::{Duration, Instant};

/// Reads a scenario.
pub(crate) fn scenario(text: &str) -> Scenario {
    Scenario::read("test.toml", text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Runs a scenario with its own workloads.
pub(crate) fn run(text: &str) -> RunResult {
    run_scenario(&scenario(text))
}

/// Runs a scenario with its own workloads.
pub(crate) fn run_scenario(scenario: &Scenario) -> RunResult {
    let plan = workload::plan(&scenario.workloads, &scenario.network, &scenario.transports, scenario.seed);
    engine::run(scenario, &plan, &mut |_| true)
}

/// Runs the network of a scenario, which needs no workload, with these flows alone. They use its first transport.
pub(crate) fn run_flows(text: &str, flows: &[FlowSpec]) -> RunResult {
    // A scenario without traffic is refused; what is planned here takes the place of this.
    let text = if text.contains("[[workload]]") {
        text.to_owned()
    } else {
        format!("{text}\n[[workload]]\nkind = \"permutation\"\nbytes = 1\n")
    };
    let mut flows = flows.to_vec();
    flows.sort_by_key(|flow| flow.start);
    let plan = TrafficPlan { flows, ..TrafficPlan::default() };
    engine::run(&scenario(&text), &plan, &mut |_| true)
}

/// A flow that starts at so many picoseconds.
pub(crate) fn flow(start: u64, src: u32, dst: u32, bytes: u64) -> FlowSpec {
    FlowSpec { start: Instant::from_ps(start), src, dst, bytes, ..FlowSpec::default() }
}

/// Microseconds.
pub(crate) const fn us(us: u64) -> u64 {
    us * 1_000_000
}

/// The record of a port, of all its queues together.
pub(crate) fn port(result: &RunResult, switch: u32, port: u32) -> &PlaceRecord {
    let is = |place: &&PlaceRecord| place.switch == switch && place.port == Some(port) && place.queue.is_none();
    result.places.iter().find(is).expect("there is such a port")
}

/// The record of a queue.
pub(crate) fn queue(result: &RunResult, switch: u32, port: u32, queue: u32) -> &PlaceRecord {
    let is = |place: &&PlaceRecord| place.switch == switch && place.port == Some(port) && place.queue == Some(queue);
    result.places.iter().find(is).expect("there is such a queue")
}

/// The records of whole buffers.
pub(crate) fn buffers(result: &RunResult) -> impl Iterator<Item = &PlaceRecord> {
    result.places.iter().filter(|place| place.port.is_none())
}

/// Packets dropped in all buffers of switches.
pub(crate) fn dropped(result: &RunResult) -> u64 {
    buffers(result).map(|place| place.counters.dropped.packets).sum()
}

/// Every packet that hosts sent is accounted for. Switches make no packets, and a packet that is trimmed or turned
/// around stays the same packet.
pub(crate) fn assert_conserved(result: &RunResult, what: &str) {
    let accounted = result.received + dropped(result) + result.nic_drops + result.lost_to_failures + result.in_flight;
    assert_eq!(
        result.sent,
        accounted,
        "{what}: received {}, dropped {}, at hosts {}, lost {}, in flight {}",
        result.received,
        dropped(result),
        result.nic_drops,
        result.lost_to_failures,
        result.in_flight
    );
    for place in &result.places {
        let c = &place.counters;
        assert!(c.offered.packets >= c.admitted.packets, "{what}: {place:?}");
    }
}

/// What must be the same in two runs: everything but the cost and the samples.
pub(crate) fn outcome(result: &RunResult) -> String {
    let counters: Vec<_> = result
        .places
        .iter()
        .map(|place| (place.switch, place.buffer, place.port, place.queue, place.counters, place.memory))
        .collect();
    let totals = (result.sent, result.received, result.nic_drops, result.lost_to_failures);
    format!("{:?}\n{:?}\n{counters:?}\n{totals:?}", result.flows, result.queries)
}

/// Everything but the cost.
pub(crate) fn everything(result: &RunResult) -> String {
    let end = (result.end, result.in_flight);
    format!(
        "{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{end:?}",
        result.flows,
        result.queries,
        result.places,
        result.timeline,
        result.queue_timeline,
        result.progress,
        result.losses,
        result.trace
    )
}

/// The mean of some numbers, and half of the 95% confidence interval of it (Student's t).
pub(crate) fn interval(values: &[f64]) -> (f64, f64) {
    // Quantiles of Student's distribution at 0.975 for 1, 2, ... degrees of freedom.
    const T: [f64; 19] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
        2.120, 2.110, 2.101, 2.093,
    ];
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, T[values.len() - 2] * (variance / n).sqrt())
}

/// Asserts that a theory's value lies within the 95% confidence interval of what was measured with several seeds, and
/// that the interval is no wider to either side than this share of the value: a wide one would prove nothing.
pub(crate) fn assert_theory(what: &str, theory: f64, measured: &[f64], narrow: f64) {
    let (mean, half) = interval(measured);
    println!("{what}: theory {theory:.5}, measured {mean:.5} ± {half:.5} ({} seeds)", measured.len());
    assert!(half <= narrow * theory, "{what}: {mean} ± {half} is too wide to say anything about {theory}");
    assert!((mean - theory).abs() <= half, "{what}: {mean} ± {half} does not cover {theory}");
}

/// Jain's index of fairness.
pub(crate) fn jain(values: &[f64]) -> f64 {
    let sum: f64 = values.iter().sum();
    let squares: f64 = values.iter().map(|value| value * value).sum();
    sum * sum / (values.len() as f64 * squares)
}

/// A duration in seconds.
pub(crate) fn seconds(span: Duration) -> f64 {
    span.ps() as f64 / 1e12
}

/// Every policy with settings that make it act in a small buffer of ports with two queues.
pub(crate) const POLICIES: [(&str, &str); 14] = [
    ("cs", "kind = \"cs\""),
    ("cp", "kind = \"cp\""),
    ("pushout", "kind = \"pushout\""),
    ("dt", "kind = \"dt\"\nalpha = 1.0"),
    ("edt", "kind = \"edt\"\nalpha = 0.5\nburst_time = \"50us\""),
    ("tdt", "kind = \"tdt\"\nalpha = 0.5\nburst = \"6KB\"\nwindow = \"10us\"\nevacuate_after = \"100us\""),
    ("fb", "kind = \"fb\"\nalpha = 1.0"),
    ("fba", "kind = \"fba\"\nalpha = 1.0\ninterval = \"20us\""),
    ("abm", "kind = \"abm\"\nalpha = 0.5\nalpha_unscheduled = 4.0\ninterval = \"20us\""),
    ("abm-dt", "kind = \"abm-dt\"\nalpha = 0.5\ninterval = \"50us\""),
    ("fab", "kind = \"fab\"\nalpha = 0.5\nalpha_short = 4.0\nthreshold = \"15KB\"\nwindow = \"100us\""),
    ("occamy", "kind = \"occamy\"\nalpha = 8.0"),
    ("reverie", "kind = \"reverie\"\nalpha = 1.0\nfilter = 6"),
    ("ib", "kind = \"ib\"\nalpha = 0.5\ninterval = \"20us\""),
];

/// Every transport, with what it does with losses made quick.
pub(crate) const TRANSPORTS: [(&str, &str); 11] = [
    ("reno", "rto_min = \"200us\"\nrto_initial = \"200us\"\ntimer_tick = \"10us\"\nack_delay = \"100us\""),
    ("cubic", "rto_min = \"200us\"\nrto_initial = \"200us\"\ntimer_tick = \"10us\"\nack_delay = \"100us\""),
    ("dctcp", "rto_min = \"200us\"\nrto_initial = \"200us\"\ntimer_tick = \"10us\"\nack_delay = \"100us\""),
    ("dctcp", "stack = \"rfc\"\nrto_min = \"200us\"\nrto_initial = \"200us\""),
    ("timely", "rto_min = \"200us\"\nrto_initial = \"200us\""),
    ("powertcp", "rto_min = \"200us\"\nrto_initial = \"200us\""),
    ("theta-powertcp", "rto_min = \"200us\"\nrto_initial = \"200us\""),
    ("pfabric", "rto = \"200us\""),
    ("ndp", "rto_min = \"200us\"\nrto_initial = \"200us\"\nack_class = 0"),
    ("udp", ""),
    ("dcqcn", "timeout = \"200us\""),
];

/// Two racks with too little buffer and too few uplinks: queries, random flows, all at once, and closed-loop clients.
/// Half of the traffic is of class 0, half of class 1. `more` goes between the tables.
pub(crate) fn overload(seed: u64, policy: &str, transport: (&str, &str), more: &str) -> String {
    format!(
        r#"
        seed = {seed}
        duration = "400us"
        drain = "10ms"
        [topology]
        kind = "leaf-spine"
        leaves = 2
        spines = 2
        hosts_per_leaf = 4
        rate = "10Gbps"
        delay = "1us"
        [switch]
        buffer = "60KB"
        queues = 2
        [policy]
        {policy}
        {more}
        [transport.{name}]
        {own}
        [[workload]]
        kind = "incast"
        request = "60KB"
        fan_in = 6
        arrivals = "periodic"
        rate = 20000
        class = 1
        [[workload]]
        kind = "poisson"
        sizes = {{ uniform = ["1KB", "40KB"] }}
        load = 0.5
        class = 1
        [[workload]]
        kind = "request-response"
        request = "2KB"
        sizes = {{ exponential = "5KB" }}
        think = "5us"
        sessions = 2
        class = 0
        "#,
        name = transport.0,
        own = transport.1,
    )
}
