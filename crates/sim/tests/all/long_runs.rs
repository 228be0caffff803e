//! Runs longer than the 17 seconds that fit the keys of the engine's event_queue.

use crate::common;

use common::{assert_conserved, flow, run_flows};
use forebay_sim::flow::FlowRecord;
use forebay_sim::scenario::Scenario;
use forebay_tm::Duration;

const SECOND: u64 = 1_000_000_000_000;

fn slow(more: &str) -> String {
    format!(
        r#"
        duration = "100s"
        drain = "100s"
        [topology]
        kind = "single"
        hosts = 4
        rate = "1Mbps"
        delay = "1ms"
        [switch]
        buffer = "64MB"
        [policy]
        kind = "cs"
        [measure]
        sample = "100ms"
        {more}
        "#
    )
}

/// Flows that start when the clock's epoch has moved on, and flows that last longer than it takes to move.
#[test]
fn flows_of_a_slow_network_end_on_time() {
    for transport in
        ["[transport.udp]", "[transport.reno]\ninitial_window = \"flow\"\nrto_min = \"100s\"\nrto_max = \"1000s\""]
    {
        let starts = [0, 10, 17, 18, 30, 60, 99];
        let short: Vec<_> = starts.iter().map(|start| flow(start * SECOND + 7, 0, 1, 10_000)).collect();
        let long = [flow(SECOND, 2, 3, 5_000_000), flow(55 * SECOND, 2, 3, 100_000)];
        let result = run_flows(&slow(transport), &[&short[..], &long[..]].concat());
        for record in &result.flows {
            assert_eq!(record.fct(), Some(record.ideal), "{transport}: {record:?}");
        }
        assert_eq!(result.flows.len(), 9);
        assert_conserved(&result, transport);
        // Five megabytes in packets of 1500 bytes at 1 Mb/s.
        assert!(result.flows[1].ideal.ps() > 41 * SECOND);
    }
}

/// Nothing at all happens for a minute: the samples in between must not confuse the clock.
#[test]
fn a_long_silence() {
    let result =
        run_flows(&slow("[transport.udp]"), &[flow(60 * SECOND, 0, 1, 10_000), flow(95 * SECOND, 0, 1, 10_000)]);
    for record in &result.flows {
        assert_eq!(record.fct(), Some(record.ideal), "{record:?}");
    }
    // 10 samples a second until the end: a run is over when nothing is left to happen.
    assert_eq!(result.places[0].occupancy.samples(), result.end.ps() / (SECOND / 10));
    assert_eq!(result.end.ps(), 951 * SECOND / 10);
}

/// Failures are applied at their time although the next packet comes long after it.
#[test]
fn a_failure_in_a_long_silence() {
    let failure = "[transport.udp]\n[[failure]]\nat = \"5s\"\nuntil = \"58s\"\nlink = [\"host1\", \"switch0\"]\n";
    let flows = [flow(0, 0, 1, 10_000), flow(30 * SECOND, 0, 1, 10_000), flow(60 * SECOND, 0, 1, 10_000)];
    let result = run_flows(&slow(failure), &flows);
    let complete: Vec<bool> = result.flows.iter().map(FlowRecord::is_complete).collect();
    assert_eq!(complete, [true, false, true]);
    assert_eq!(result.lost_to_failures, 7);
    assert_conserved(&result, "failure");
}

/// A packet may take seconds from node to node; what would take longer than the clock can count is refused.
#[test]
fn packets_that_take_seconds() {
    let text = |rate: &str, delay: &str| {
        format!(
            "duration = \"200s\"\n[topology]\nkind = \"single\"\nhosts = 2\nrate = \"{rate}\"\ndelay = \"{delay}\"\n\
             [switch]\nbuffer = \"64MB\"\n[policy]\nkind = \"cs\"\n[measure]\nsample = \"1s\"\n[transport.udp]\n\
             [[workload]]\nkind = \"permutation\"\nbytes = 1\n"
        )
    };
    // 1500 bytes at 6 kb/s are 2 s, and the delay is 1 s, on two links.
    let starts = [0, 9, 25, 33, 50, 100];
    let flows: Vec<_> = starts.iter().map(|start| flow(start * SECOND, 0, 1, 1_460)).collect();
    let result = run_flows(&text("6Kbps", "1s"), &flows);
    for record in &result.flows {
        assert_eq!(record.fct().map(Duration::ps), Some(6 * SECOND), "{record:?}");
    }
    // At 4 kb/s they are 3 s, which makes 4 s with the delay: just too long.
    for (rate, delay, expected) in [
        ("400bps", "1us", "would need 30s on the link between host0 and switch0"),
        ("4Kbps", "1s", "would need 3s on the link between host0 and switch0 at 4Kbps, and a delay of 1s"),
        ("1Gbps", "5s", "a delay of 5s is too long"),
    ] {
        let error = Scenario::read("test.toml", &text(rate, delay), &[]).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}
