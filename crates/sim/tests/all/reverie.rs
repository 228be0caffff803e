//! Lossy and lossless traffic in one buffer: Reverie beside pools with dynamic thresholds, as chips have them.

use crate::common::{assert_conserved, flow, run_flows, us};
use forebay_sim::flow::FlowSpec;
use forebay_sim::measure::RunResult;

/// Ten hosts; a pool of 1 MB for both classes, and headroom beside it. Class 0 is lossy, class 1 lossless.
fn network(policy: &str, group: &str) -> String {
    format!(
        r#"
        duration = "2ms"
        drain = "5ms"
        [topology]
        kind = "single"
        hosts = 10
        rate = "100Gbps"
        delay = "500ns"
        [switch]
        buffer = "4MB"
        queues = 2
        [policy]
        {policy}
        [scheduler]
        kind = "rr"
        [ingress]
        cell = 256
        [[ingress.pool]]
        name = "all"
        shared = 4000
        [[ingress.group]]
        groups = [0]
        [[ingress.group]]
        groups = [1]
        alpha = 0.125
        {group}
        headroom = 400
        xon_offset = 40
        [transport.udp]
        kind = "udp"
        mss = 1460
        header = 40
        "#
    )
}

/// Bursts of both classes, every 400 us: six hosts send 40 KB of class 0 to host 8, and two send 300 KB of class 1 to
/// host 9.
fn bursts() -> Vec<FlowSpec> {
    let burst = |number: u64| {
        let start = us(400) * number;
        let lossy = (0..6).map(move |host| flow(start, host, 8, 40_000));
        let lossless = (6..8).map(move |host| FlowSpec { class: 1, ..flow(start, host, 9, 300_000) });
        lossy.chain(lossless)
    };
    (0..5).flat_map(burst).collect()
}

/// Packets dropped of each class, and requests for pause.
fn told(result: &RunResult) -> (u64, u64, usize) {
    let dropped = |class: u8| {
        let flows = result.flows.iter().filter(|flow| flow.spec.class == class);
        flows.map(|flow| u64::from(flow.drops)).sum()
    };
    (dropped(0), dropped(1), result.pauses.requests.len())
}

const POOLS: &str = "kind = \"pools\"\npools = [\"1024KB\", \"4MB\"]\npool = [0, 1]\nalpha = [0.125, 64.0]";
const REVERIE: &str = "kind = \"reverie\"\nalpha = 0.125\nlossless = [false, true]";

#[test]
fn bursts_pass_where_dynamic_thresholds_drop_and_pause() {
    let pools = run_flows(&network(POOLS, ""), &bursts());
    let reverie = run_flows(&network(REVERIE, "filter = 10"), &bursts());
    println!("lossy drops, lossless drops, pauses: pools {:?}, Reverie {:?}", told(&pools), told(&reverie));
    assert_conserved(&pools, "pools");
    assert_conserved(&reverie, "Reverie");
    let (lossy, lossless, pauses) = told(&pools);
    assert!(lossy > 0 && lossless == 0 && pauses > 0, "with alpha 1/8 a ninth of the pool is not enough");
    assert_eq!(told(&reverie), (0, 0, 0), "no burst is as long as the filter's memory");
}

#[test]
fn a_lasting_queue_is_held_to_the_threshold() {
    // Two hosts send class 0 to one for all of the run, and two send class 1 to another.
    let lasting = |class: u8, to: u32, from: u32| FlowSpec { class, ..flow(0, from, to, 10_000_000) };
    let flows = [lasting(0, 8, 0), lasting(0, 8, 1), lasting(1, 9, 6), lasting(1, 9, 7)];
    let reverie = run_flows(&network(REVERIE, "filter = 6"), &flows);
    let (lossy, lossless, pauses) = told(&reverie);
    assert!(lossy > 0 && lossless == 0 && pauses > 0, "{:?}", told(&reverie));
    // Three fills of an eighth of what is free: the queue and the two groups. The filter lets them be longer for a
    // time.
    let longest = crate::common::queue(&reverie, 0, 8, 0).occupancy.percentile(0.5);
    assert!(longest < 1_024_000 / 4, "{longest} B for half of the time");
}
