//! Links and switches that fail and come back.

use crate::common;

use common::{POLICIES, TRANSPORTS, assert_conserved, flow, outcome, overload, run, run_flows, us};
use forebay_sim::flow::FlowRecord;

fn failing(seed: u64, policy: &str, transport: (&str, &str), more: &str) -> String {
    let failures = r#"
        [scheduler]
        kind = "strict"
        [[failure]]
        at = "100us"
        until = "250us"
        link = ["leaf0", "spine1"]
        [[failure]]
        at = "150us"
        until = "300us"
        switch = "spine0"
        [[failure]]
        at = "320us"
        until = "380us"
        link = ["host2", "leaf0"]
        [[failure]]
        at = "390us"
        until = "700us"
        switch = "leaf1"
        "#;
    let routing = "[routing]\nreroute = \"20us\"\n";
    overload(seed, policy, transport, &format!("{failures}\n{routing}\n{more}"))
}

/// Whatever fails, no packet is forgotten, and looking changes nothing.
#[test]
fn packets_are_conserved_under_failures() {
    let mut lost = 0;
    for (number, (policy, settings)) in POLICIES.iter().enumerate() {
        for (place, transport) in TRANSPORTS.iter().enumerate() {
            let more =
                ["", "[trim]\nkind = \"ndp\"\nreturn_to_sender = true\nheader_capacity = 4\n"][(number + place) % 2];
            let text = failing(1, settings, *transport, more);
            let result = run(&text);
            let what = format!("{policy}, {}", transport.0);
            assert_conserved(&result, &what);
            lost += result.lost_to_failures;
            // Every flow of a transport that repairs losses gets through in the end.
            if transport.0 != "udp" {
                let incomplete = result.flows.iter().filter(|flow| !flow.is_complete()).count();
                assert_eq!(incomplete, 0, "{what}");
            }
            if number % 3 == 0 {
                let other = run(&format!("{text}\n[measure]\nsample = \"1.1us\"\ntimeline = \"all\"\n"));
                assert_eq!(outcome(&result), outcome(&other), "{what}");
            }
        }
    }
    assert!(lost > 10_000, "{lost}");
}

/// The same in a network of three tiers, with every packet on a path of its own.
#[test]
fn packets_are_conserved_in_three_tiers() {
    for routing in ["ecmp", "spray-random", "spray-round-robin"] {
        for (transport, own) in TRANSPORTS {
            if transport == "powertcp" && routing != "ecmp" {
                // Refused: its packets must keep their path.
                continue;
            }
            let text = format!(
                r#"
                duration = "500us"
                drain = "20ms"
                [topology]
                kind = "fat-tree"
                k = 4
                rate = "10Gbps"
                delay = "1us"
                [routing]
                kind = "{routing}"
                reroute = "30us"
                [switch]
                buffer = "60KB"
                queues = 2
                [scheduler]
                kind = "strict"
                [policy]
                kind = "dt"
                alpha = 1.0
                [transport.{transport}]
                {own}
                [[workload]]
                kind = "permutation"
                bytes = "100KB"
                class = 1
                [[failure]]
                at = "40us"
                until = "300us"
                switch = "core1"
                [[failure]]
                at = "60us"
                switch = "aggregation2"
                [[failure]]
                at = "60us"
                until = "350us"
                link = ["edge0", "aggregation0"]
                "#
            );
            let result = run(&text);
            let what = format!("{routing}, {transport}");
            assert_conserved(&result, &what);
            assert!(result.lost_to_failures > 0, "{what}");
            assert!(transport == "udp" || result.flows.iter().all(FlowRecord::is_complete), "{what}");
        }
    }
}

const LEAF_SPINE: &str = r#"
    duration = "20ms"
    drain = "1s"
    [topology]
    kind = "leaf-spine"
    leaves = 2
    spines = 2
    hosts_per_leaf = 4
    rate = "10Gbps"
    delay = "1us"
    [routing]
    reroute = "100us"
    [switch]
    buffer = "4MB"
    [policy]
    kind = "cs"
    [transport.dctcp]
    rto_min = "1ms"
    rto_initial = "1ms"
    "#;

/// One of two spines dies for good: after the routes have followed, all flows go over the other and complete.
#[test]
fn traffic_goes_on_over_other_paths() {
    let failure = "[[failure]]\nat = \"1ms\"\nswitch = \"spine0\"\n[measure]\nbreakdown = true\n";
    let text = format!("{LEAF_SPINE}{failure}");
    let flows: Vec<_> = (0..4).map(|host| flow(0, host, 4 + host, 5_000_000)).collect();
    let result = run_flows(&text, &flows);
    assert!(result.flows.iter().all(FlowRecord::is_complete));
    assert!(result.lost_to_failures > 0);
    // Each loss is kept: from the failure until what waited for a link when the routes followed has left its 4 MB.
    assert_eq!(result.losses.len() as u64, result.lost_to_failures);
    assert!(result.losses.is_sorted() && result.losses.iter().all(|loss| loss.node.is_some()), "{:?}", result.losses);
    let times = [result.losses[0].at.ps(), result.losses.last().unwrap().at.ps()];
    assert!(times[0] == us(1_000) && (us(1_001)..us(1_100 + 3_200)).contains(&times[1]), "{times:?}");
    // The fabric's one spine carries what is left at 10 Gb/s; the timers add a few milliseconds.
    let last = result.flows.iter().map(|flow| flow.end.ps()).max().unwrap();
    assert!(last < us(30_000), "{last}");
    // A flow that starts afterwards sees nothing of it.
    let late = run_flows(&text, &[flow(us(2_000), 0, 4, 1_000)]);
    assert_eq!(late.flows[0].fct(), Some(late.flows[0].ideal));
    assert_eq!(late.lost_to_failures, 0);
}

/// With the only path down a flow stalls, and completes after the repair: not before it, and not later than the timer's
/// back-off, which at worst had just begun and doubles.
#[test]
fn with_the_only_path_down_a_flow_waits_for_the_repair() {
    let repair = us(40_000);
    let text = format!("{LEAF_SPINE}[[failure]]\nat = \"1ms\"\nuntil = \"40ms\"\nlink = [\"host4\", \"leaf1\"]\n");
    let result = run_flows(&text, &[flow(0, 0, 4, 5_000_000), flow(0, 1, 5, 5_000_000)]);
    let (cut, other) = (&result.flows[0], &result.flows[1]);
    assert!(cut.end.ps() > repair && cut.end.ps() < 2 * repair + us(6_000), "{cut:?}");
    // The flow's own queue is part of the round trip that the timer starts from.
    assert!(cut.timeouts >= 3, "{cut:?}");
    assert!(other.slowdown().unwrap() < 3.0, "{other:?}");
    assert_conserved(&result, "repair");
}

/// The sender's own link fails while a long queue stands in front of it: after the repair the link is free, not busy
/// with what is lost.
#[test]
fn a_hosts_own_link_is_free_after_the_repair() {
    let managed = "[nic]\nkind = \"managed\"\nbuffer = \"100MB\"\n[nic.policy]\nkind = \"cs\"\n";
    for nic in ["[nic]\nkind = \"unlimited\"\n", "", managed] {
        let text = LEAF_SPINE.replace("[transport.dctcp]", "[transport.dctcp]\ninitial_window = \"flow\"");
        let text = format!("{text}{nic}[[failure]]\nat = \"1ms\"\nuntil = \"2ms\"\nlink = [\"host0\", \"leaf0\"]\n");
        // 100 MB take 80 ms; the second flow starts when the link works again.
        let result = run_flows(&text, &[flow(0, 0, 4, 100_000_000), flow(us(2_000), 0, 5, 1_000)]);
        let late = &result.flows[1];
        if nic.contains("unlimited") {
            assert_eq!(late.fct(), Some(late.ideal), "{late:?}");
        }
        if nic.is_empty() {
            // What waited is still there, but the new flow goes before it: only two packets of 1.2 us may be on the
            // wire.
            assert!(late.fct().unwrap().ps() <= late.ideal.ps() + 2 * 1_200_000, "{late:?}");
        }
        assert!(late.is_complete() && result.flows[0].is_complete());
        assert_conserved(&result, "own link");
    }
}

/// A host that is cut off for good: what is meant for it never completes, and is reported so.
#[test]
fn flows_to_a_host_that_is_cut_off_stay_incomplete() {
    let text = LEAF_SPINE.replace("drain = \"1s\"", "drain = \"50ms\"");
    let text = format!("{text}[[failure]]\nat = \"0.5ms\"\nlink = [\"host4\", \"leaf1\"]\n");
    let flows = [flow(0, 0, 4, 5_000_000), flow(us(1_000), 4, 1, 1_000), flow(us(700), 2, 5, 100_000)];
    let result = run_flows(&text, &flows);
    let of = |src: u32| result.flows.iter().find(|flow| flow.spec.src == src).unwrap();
    assert!(!of(0).is_complete() && of(0).fct().is_none() && of(0).slowdown().is_none());
    assert!(of(0).received > 100 && of(0).received < 1_000, "{:?}", of(0));
    assert!(!of(4).is_complete() && of(4).received == 0);
    assert!(of(2).is_complete());
    // It was waited for until the end.
    assert_eq!(result.end.ps(), us(70_000));
    assert_conserved(&result, "cut off");
}
