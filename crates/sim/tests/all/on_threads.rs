//! Small scenarios drawn at random, and runs of them on several threads: for a test and for a fuzz target.

use crate::common::{POLICIES, TRANSPORTS};
use forebay_sim::engine::World;
use forebay_sim::measure::{Cost, ParallelCost, RunResult};
use forebay_sim::scenario::Scenario;
use forebay_sim::workload;

/// All of a result but what the machine has to do with, and what is put in order only where it is written.
fn all_of(mut result: RunResult) -> (String, Option<ParallelCost>) {
    let parallel = result.cost.parallel;
    result.cost = Cost { cpu_seconds: 0.0, peak_memory: 0, parallel: None, ..result.cost };
    result.trace.sort_by_key(|event| (event.at, event.place));
    (format!("{result:#?}"), parallel)
}

pub(crate) fn run_on(threads: usize, scenario: &Scenario) -> (String, Option<ParallelCost>) {
    let plan = workload::plan(&scenario.workloads, &scenario.network, &scenario.transports, scenario.seed);
    all_of(World::new(scenario, &plan).split(&plan, threads).run(&mut |_| true))
}

/// A small scenario: network, traffic, schemes and what is measured follow from the bytes.
pub(crate) fn drawn(bytes: &[u8]) -> String {
    let mut bytes = bytes.iter().copied();
    let mut draw = |count: usize| usize::from(bytes.next().unwrap_or(0)) % count;
    let seed = draw(256);
    let (leaves, spines, hosts) = (2 + draw(4), 1 + draw(3), 1 + draw(3));
    let (rate, delay) = ([7, 10, 25, 100][draw(4)], [1, 50, 700, 3_000][draw(4)]);
    let ((policy, settings), (transport, own)) = (POLICIES[draw(POLICIES.len())], TRANSPORTS[draw(TRANSPORTS.len())]);
    let routing = ["ecmp", "spray-random", "spray-round-robin"][draw(3)];
    // Telemetry is of one path.
    let routing = if transport == "powertcp" { "ecmp" } else { routing };
    let queues = ["queues = 2\n[scheduler]\nkind = \"drr\"", "queues = 1"][draw(2)];
    let classes = if queues.contains('2') { "class = 1\n" } else { "" };
    let trims = ["", "[trim]\nkind = \"ndp\"\nreturn_to_sender = true\nheader_capacity = 4\n"][draw(2)];
    let trims = if classes.is_empty() { "" } else { trims };
    let (load, think, fan_in) = (1 + draw(8), 1 + draw(20), (2 + draw(6)).min(leaves * hosts - 1));
    let failure = ["", "[[failure]]\nat = \"20us\"\nuntil = \"40us\"\nlink = [\"leaf0\", \"spine0\"]\n"][draw(2)];
    let traced = ["", "trace_flows = [0, 1]\ntrace_switches = [\"leaf0\"]\n"][draw(2)];
    let is_broken_down = draw(2) == 1;
    format!(
        r#"# {policy}
        seed = {seed}
        duration = "60us"
        drain = "2ms"
        [topology]
        kind = "leaf-spine"
        leaves = {leaves}
        spines = {spines}
        hosts_per_leaf = {hosts}
        rate = "{rate}Gbps"
        delay = "{delay}ns"
        [routing]
        kind = "{routing}"
        [switch]
        buffer = "40KB"
        {queues}
        {trims}
        [policy]
        {settings}
        [transport.{transport}]
        {own}
        [[workload]]
        kind = "incast"
        request = "30KB"
        fan_in = {fan_in}
        arrivals = "periodic"
        rate = 50000
        allow_overload = true
        [[workload]]
        kind = "poisson"
        sizes = {{ uniform = ["1KB", "20KB"] }}
        load = 0.{load}
        allow_overload = true
        {classes}
        [[workload]]
        kind = "request-response"
        request = "2KB"
        sizes = {{ exponential = "5KB" }}
        think = "{think}us"
        sessions = 1
        {failure}
        [measure]
        sample = "5us"
        timeline = "all"
        breakdown = {is_broken_down}
        {traced}
        "#
    )
}
