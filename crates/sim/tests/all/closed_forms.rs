//! A flow that is alone takes exactly as long as the closed form says, to the picosecond.

use crate::common;

use common::{flow, run_flows, us};
use forebay_sim::measure::RunResult;

const SWITCH: &str = "[switch]\nbuffer = \"64MB\"\n[policy]\nkind = \"cs\"\n";

const TOPOLOGIES: [(&str, &str); 6] = [
    ("single", "kind = \"single\"\nhosts = 16\nrate = \"10Gbps\"\ndelay = \"1us\""),
    ("odd rates", "kind = \"single\"\nhosts = 16\nrate = \"7.777777Gbps\"\ndelay = \"333ns\""),
    (
        "slow middle",
        "kind = \"dumbbell\"\nleft = 8\nright = 8\nrate = \"25Gbps\"\ndelay = \"0.7us\"\n\
         bottleneck_rate = \"3.3Gbps\"\nbottleneck_delay = \"11us\"",
    ),
    (
        "fast middle",
        "kind = \"dumbbell\"\nleft = 8\nright = 8\nrate = \"1Gbps\"\ndelay = \"2us\"\nbottleneck_rate = \"40Gbps\"",
    ),
    (
        "leaf-spine",
        "kind = \"leaf-spine\"\nleaves = 4\nspines = 2\nhosts_per_leaf = 4\nhost_rate = \"10Gbps\"\n\
         uplink_rate = \"40Gbps\"\ndelay = \"500ns\"",
    ),
    (
        "three tiers",
        "kind = \"fat-tree\"\nk = 4\nhost_rate = \"25Gbps\"\naggregation_rate = \"40Gbps\"\ncore_rate = \"13Gbps\"\n\
         delay = \"1us\"",
    ),
];

const TRANSPORTS: [(&str, &str); 7] = [
    ("udp", ""),
    ("reno", "initial_window = \"flow\""),
    ("cubic", "initial_window = \"flow\""),
    ("dctcp", "initial_window = \"flow\""),
    ("pfabric", "initial_window = \"flow\""),
    // The timer runs from when a packet is handed to the host's link, where the last of a whole flow waits for a
    // millisecond.
    ("ndp", "initial_window = \"flow\"\nrto_min = \"1s\""),
    ("ndp", "initial_window = 2000\nrto_min = \"1s\""),
];

const SIZES: [u64; 7] = [1, 1_459, 1_460, 1_461, 14_600, 100_000, 1_234_567];

fn lone(topology: &str, transport: (&str, &str), routing: &str, bytes: u64) -> RunResult {
    let text = format!(
        "duration = \"1ms\"\ndrain = \"1s\"\n[topology]\n{topology}\n{routing}{SWITCH}[transport.{}]\n{}\n",
        transport.0, transport.1
    );
    run_flows(&text, &[flow(us(17) + 5, 1, 14, bytes)])
}

#[test]
fn a_lone_flow_takes_its_ideal_time() {
    for (name, topology) in TOPOLOGIES {
        for transport in TRANSPORTS {
            for bytes in SIZES {
                let result = lone(topology, transport, "", bytes);
                let record = &result.flows[0];
                let what = format!("{transport:?} of {bytes} bytes on {name}");
                assert_eq!(record.fct(), Some(record.ideal), "{what}");
                assert_eq!((record.drops, record.retransmissions, record.timeouts), (0, 0, 0), "{what}");
                assert_eq!(u64::from(record.received), bytes.div_ceil(1_460), "{what}");
            }
        }
    }
}

/// All paths of these networks are alike, and packets of a flow that is alone keep a distance: spraying changes
/// nothing.
#[test]
fn spraying_a_lone_flow_costs_nothing() {
    for routing in ["spray-random", "spray-round-robin"] {
        for (name, topology) in &TOPOLOGIES[4..] {
            for bytes in [1_460, 146_000] {
                let result = lone(
                    topology,
                    ("ndp", "initial_window = \"flow\""),
                    &format!("[routing]\nkind = \"{routing}\"\n"),
                    bytes,
                );
                let record = &result.flows[0];
                if *name == "leaf-spine" {
                    assert_eq!(record.fct(), Some(record.ideal), "{routing} on {name}");
                } else {
                    // With slow cores the packets overtake each other: more paths are faster than the one of the closed
                    // form.
                    assert!(record.fct() <= Some(record.ideal), "{routing} on {name}");
                }
            }
        }
    }
}

/// The sum written out for two links: the packets one after the other on the slower link, the first before it on the
/// other, and both delays.
#[test]
fn two_links_by_hand() {
    let text = r#"
        duration = "1ms"
        [topology]
        kind = "graph"
        [[topology.switch]]
        name = "s"
        [[topology.hosts]]
        switch = "s"
        count = 1
        rate = "10Gbps"
        delay = "3us"
        [[topology.hosts]]
        switch = "s"
        count = 1
        rate = "4Gbps"
        delay = "700ns"
        [switch]
        buffer = "64MB"
        [policy]
        kind = "cs"
        [transport.udp]
        "#;
    // 10 packets of 1500 bytes and one of 400 + 40: 1.2 us and 352 ns at 10 Gb/s, 3 us and 880 ns at 4 Gb/s.
    let bytes = 10 * 1_460 + 400;
    let slow_last = 1_200_000 + 3_000_000 + 10 * 3_000_000 + 880_000 + 700_000;
    let result = run_flows(text, &[flow(0, 0, 1, bytes)]);
    assert_eq!(result.flows[0].fct().unwrap().ps(), slow_last);
    // The other way round the slow link is the sender's own. The short packet has left it 880 ns after the last full
    // one, which takes 1.2 us on the fast link: there the short one has to wait.
    let slow_first = 10 * 3_000_000 + 700_000 + 1_200_000 + 352_000 + 3_000_000;
    let result = run_flows(text, &[flow(0, 1, 0, bytes)]);
    assert_eq!(result.flows[0].fct().unwrap().ps(), slow_first);
    // A packet of 1500 bytes and one of 41.
    let result = run_flows(text, &[flow(0, 0, 1, 1_461)]);
    assert_eq!(result.flows[0].fct().unwrap().ps(), 1_200_000 + 3_000_000 + 3_000_000 + 82_000 + 700_000);
}

/// The sender knows that all has arrived when the last ACK, of 64 bytes, is back: two hops of delay and serialization
/// later.
#[test]
fn the_last_ack_comes_back_in_time() {
    let text = format!(
        "duration = \"1ms\"\n[topology]\nkind = \"single\"\nhosts = 2\nrate = \"10Gbps\"\ndelay = \"1us\"\n\
         {SWITCH}[transport.dctcp]\ninitial_window = \"flow\"\n"
    );
    for bytes in [1, 1_460, 50_000] {
        let record = run_flows(&text, &[flow(0, 0, 1, bytes)]).flows[0];
        assert_eq!(record.acked.since(record.end).ps(), 2 * (1_000_000 + 51_200), "{bytes}");
    }
}

/// With a window of w packets and a round trip of r, a flow that never sees congestion sends w packets each r as long
/// as they take less than r to send: n rounds and what the last packets take. Linux paces them, and that is not part of
/// the form.
#[test]
fn a_fixed_window_paces_by_the_round_trip() {
    let text = format!(
        "duration = \"1ms\"\n[topology]\nkind = \"single\"\nhosts = 2\nrate = \"10Gbps\"\ndelay = \"5us\"\n\
         {SWITCH}[transport.reno]\nstack = \"rfc\"\ninitial_window = 4\nmax_window = 4\n"
    );
    // A full packet: 1.2 us and 5 us, twice; an ACK 51.2 ns and 5 us, twice.
    let there = 2 * (1_200_000 + 5_000_000);
    let round_trip = there + 2 * (51_200 + 5_000_000);
    for rounds in [1, 2, 7] {
        let record = run_flows(&text, &[flow(0, 0, 1, rounds * 4 * 1_460)]).flows[0];
        assert_eq!(record.fct().unwrap().ps(), (rounds - 1) * round_trip + 3 * 1_200_000 + there, "{rounds}");
    }
}
