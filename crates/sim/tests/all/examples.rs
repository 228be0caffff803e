//! The example scenarios run and give what their comments promise.

use forebay_sim::engine;
use forebay_sim::flow::{FlowRecord, TrafficPlan};
use forebay_sim::measure::RunResult;
use forebay_sim::measure::chip::ChipRecord;
use forebay_sim::scenario::{Scenario, sweep};
use forebay_sim::workload;
use std::path::{Path, PathBuf};

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(name)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(path(name)).unwrap()
}

fn run(name: &str, sets: &[(&str, &str)]) -> (Scenario, TrafficPlan, RunResult) {
    let (scenario, plan, result) = run_sprayed(name, sets);
    assert!(result.flows.iter().all(|flow| flow.slowdown().is_some_and(|slowdown| slowdown >= 1.0 - 1e-9)), "{name}");
    (scenario, plan, result)
}

/// Runs a scenario whose packets may be sprayed: a short last packet on a path of its own comes before the ideal time,
/// which has one path.
fn run_sprayed(name: &str, sets: &[(&str, &str)]) -> (Scenario, TrafficPlan, RunResult) {
    let sets: Vec<_> = sets.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let scenario = Scenario::read(name, &text(name), &sets).unwrap_or_else(|error| panic!("{error}"));
    let plan = workload::plan(&scenario.workloads, &scenario.network, &scenario.transports, scenario.seed);
    let result = engine::run(&scenario, &plan, &mut |_| true);
    assert_eq!(result.flows.len(), plan.flows.len());
    assert!(result.flows.iter().all(FlowRecord::is_complete), "{name}: a flow has not ended");
    (scenario, plan, result)
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0u32), |(sum, count), value| (sum + value, count + 1));
    sum / f64::from(count)
}

#[test]
fn a_failed_link_costs_packets_but_no_flow() {
    let (scenario, _, failed) = run("examples/three-tier-failure.toml", &[]);
    assert_eq!(scenario.network.hosts.len(), 16);
    assert!(failed.lost_to_failures > 0, "packets were on their way to the failed link");
    let (_, _, whole) = run("examples/three-tier-failure.toml", &[("failure", "[]")]);
    assert_eq!(whole.lost_to_failures, 0);
    // Not their mean slowdown: one short flow that loses its last packet decides that.
    let fct = |result: &RunResult| mean(result.flows.iter().filter_map(FlowRecord::fct).map(|fct| fct.ps() as f64));
    assert!(fct(&failed) > fct(&whole), "{} {}", fct(&failed), fct(&whole));
    // Both transports have flows, and marks are only for those that understand them.
    let of = |workload: u16| failed.flows.iter().filter(move |flow| flow.spec.workload == workload);
    assert!(of(0).count() > 100 && of(1).count() > 100);
    assert!(of(0).any(|flow| flow.marks > 0) && of(1).all(|flow| flow.marks == 0));
}

#[test]
fn storage_reads_meet_in_the_leafs_buffer() {
    let name = "examples/storage-incast.toml";
    let (_, plan, dt) = run(name, &[]);
    assert!(plan.queries.len() > 20);
    assert!(dt.queries.iter().all(|query| query.end > query.spec.start && query.spec.fan_in == 32));
    // 1 MB at 25 Gb/s takes 320 us, and the headers 2.7% more.
    let ideal = mean(dt.queries.iter().map(|query| query.ideal.ps() as f64 / 1e6));
    assert!((328.0..345.0).contains(&ideal), "{ideal} us");
    let sweep = sweep::read(name, &text(name), &[]).unwrap_or_else(|error| panic!("{error}"));
    let labels: Vec<&str> = sweep.points.iter().map(|point| point.label.as_str()).collect();
    assert_eq!((sweep.seeds.as_slice(), labels), (&[1, 2, 3][..], vec!["DT", "ABM", "Occamy", "pushout"]));
    // A policy that gives one port the whole buffer drops no more than one that keeps half of it back.
    let (_, _, pushout) = run(name, &[("policy.kind", "pushout")]);
    let drops = |result: &RunResult| result.flows.iter().map(|flow| u64::from(flow.drops)).sum::<u64>();
    assert!(drops(&pushout) <= drops(&dt), "{} {}", drops(&pushout), drops(&dt));
}

#[test]
fn rings_of_gradients_turn() {
    let (_, plan, ring) = run("examples/allreduce.toml", &[]);
    // Three rounds of 2 * 31 steps of 32 hosts.
    assert_eq!(plan.flows.len(), 3 * 62 * 32);
    let end_of_first = ring.flows.iter().filter(|flow| flow.spec.start.ps() < 2_000_000_000).map(|flow| flow.end).max();
    let us = end_of_first.map_or(0.0, |end| end.ps() as f64 / 1e6);
    assert!((1_240.0..4_000.0).contains(&us), "{us} us");
    assert_eq!(ring.flows.iter().map(|flow| u64::from(flow.timeouts)).sum::<u64>(), 0);
}

#[test]
fn chips_and_plain_switches_trim_together() {
    let name = "examples/tofino-trimming.toml";
    let (_, _, with) = run_sprayed(name, &[]);
    assert_eq!(with.chips.len(), 4);
    let at_ingress = |result: &RunResult| -> u64 {
        result.chips.iter().flat_map(|chip| &chip.pipelines).map(|pipeline| pipeline.trimmed_at_ingress).sum()
    };
    let peak = |result: &RunResult| result.chips.iter().map(ChipRecord::deflection_peak).max();
    let (_, _, without) = run_sprayed(name, &[("tier.leaf.chip.options.notify", "nobody")]);
    // Who is told of congestion trims at ingress, and the deflection queues stay shorter.
    assert!(at_ingress(&with) > at_ingress(&without), "{} {}", at_ingress(&with), at_ingress(&without));
    assert!(peak(&with) < peak(&without), "{:?} {:?}", peak(&with), peak(&without));
    for result in [&with, &without] {
        assert_eq!(result.flows.iter().map(|flow| flow.drops).sum::<u32>(), 0);
    }
}

#[test]
fn notifications_make_pauses_shorter() {
    let name = "examples/lossless-incast.toml";
    let (_, plan, with) = run(name, &[]);
    let (_, _, without) = run(name, &[("ecn.kind", "none")]);
    assert!(plan.queries.len() >= 2);
    for result in [&with, &without] {
        assert_eq!(result.flows.iter().map(|flow| flow.drops).sum::<u32>(), 0, "the network is lossless");
        assert_eq!(result.flows.iter().map(|flow| flow.retransmissions).sum::<u32>(), 0);
    }
    let paused = |result: &RunResult| result.pauses.paused.iter().map(|class| class.paused.ps()).sum::<u64>();
    assert!(paused(&without) > 0, "without notifications senders are paused");
    assert!(with.flows.iter().any(|flow| flow.marks > 0) && without.flows.iter().all(|flow| flow.marks == 0));
    assert!(paused(&with) < paused(&without), "{} {}", paused(&with), paused(&without));
}

#[test]
fn a_real_configuration_pauses_reads_and_nobody_else() {
    let file = path("examples/sonic-incast.toml");
    let (_, plan, result) = run(file.to_str().unwrap(), &[]);
    assert!(!plan.queries.is_empty());
    let reads = |flow: &&FlowRecord| flow.spec.class == 3;
    assert!(result.pauses.requests.iter().all(|request| request.group == 3) && !result.pauses.requests.is_empty());
    assert_eq!(result.flows.iter().filter(reads).map(|flow| flow.drops).sum::<u32>(), 0, "reads are lossless");
}

/// The examples of the reference can be read: the first by itself, one of a graph in its place, the others below it.
#[test]
fn the_reference_is_right() {
    let reference = std::fs::read_to_string(path("../docs/scenario.md")).unwrap();
    let blocks: Vec<&str> = reference.split("```toml\n").skip(1).filter_map(|part| part.split("```").next()).collect();
    let (whole, parts) = blocks.split_first().unwrap();
    assert!(parts.len() >= 5);
    let sets = [("switch.queues", "2"), ("scheduler.kind", "rr")];
    let sets: Vec<_> = sets.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    Scenario::read("whole.toml", whole, &[]).unwrap_or_else(|error| panic!("{error}"));
    for part in parts {
        let text = if part.starts_with("[topology]") {
            let (_, rest) = whole.split_once("[switch]").unwrap();
            format!("duration = \"1ms\"\n{part}[switch]{rest}")
        } else {
            format!("{whole}{part}")
        };
        sweep::read("part.toml", &text, &sets).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn every_scenario_of_the_repository_can_be_read() {
    let mut files = Vec::new();
    for directory in ["bench", "examples"] {
        for entry in std::fs::read_dir(path(directory)).unwrap() {
            files.push(entry.unwrap().path());
        }
    }
    assert!(files.len() >= 11, "{files:?}");
    for file in files.iter().filter(|file| file.extension().is_some_and(|end| end == "toml")) {
        let (name, text) = (file.display().to_string(), std::fs::read_to_string(file).unwrap());
        sweep::read(&name, &text, &[]).unwrap_or_else(|error| panic!("{error}"));
    }
}
