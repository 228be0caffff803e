//! Mirror on drop: when headers come back, which way they go, and what is counted. Conservation and determinism are in
//! `invariants.rs`.

use crate::common;

use common::{assert_conserved, dropped, flow, queue, run, run_flows};
use forebay_sim::flow::FlowSpec;
use forebay_sim::measure::trace::{Place, What};
use forebay_sim::measure::{RecirculationRecord, RunResult};
use forebay_sim::packet::flag;
use forebay_tm::Instant;

/// A switch whose ports hold one data packet beside the one that they send. Packets have 1,500 bytes, 1.2 us.
fn network(hosts: usize, mirror: &str) -> String {
    format!(
        r#"
        duration = "1ms"
        [topology]
        kind = "single"
        hosts = {hosts}
        rate = "10Gbps"
        delay = "1us"
        [switch]
        buffer = "1MB"
        queues = 2
        queue_capacity = 1
        [policy]
        kind = "cs"
        [scheduler]
        kind = "strict"
        [mirror]
        {mirror}
        [transport.ndp]
        ack_class = 0
        [measure]
        trace_flows = [0, 1, 2]
        "#
    )
}

/// A packet of data from each of some hosts to host 0, at once.
fn at_once(from: impl Iterator<Item = u32>) -> Vec<FlowSpec> {
    from.map(|host| FlowSpec { class: 1, ..flow(0, host, 0, 1_460) }).collect()
}

fn trims(result: &RunResult) -> u32 {
    result.flows.iter().map(|flow| flow.trims).sum()
}

fn drops(result: &RunResult) -> u32 {
    result.flows.iter().map(|flow| flow.drops).sum()
}

#[test]
fn a_header_comes_around_and_overtakes_what_waits() {
    // All three arrive after 2.2 us: one is sent until 3.4 us, one waits, one is mirrored. Its header is sent around
    // until 2.20512 us, is back at 3.20512 us with the default delay, and then goes before the packet that waits, until
    // 3.4512 us.
    for (mirror, at_the_host) in [
        ("", 4_451_200),
        ("delay = \"1.5us\"", 5_651_200),
        ("size = 128", 4_502_400),
        ("rate = \"400Mbps\"", 5_651_200),
    ] {
        let result = run_flows(&network(4, mirror), &at_once(1..4));
        let header = result.trace.iter().find(|event| event.place == Place::Host(0) && event.packet.has(flag::TRIMMED));
        assert_eq!(header.map(|event| event.at), Some(Instant::from_ps(at_the_host)), "{mirror}");
        assert_eq!((trims(&result), drops(&result), dropped(&result)), (1, 0, 0), "{mirror}");
        assert!(result.flows.iter().all(|flow| flow.is_complete() && flow.timeouts == 0), "{mirror}");
        let (data, headers) = (queue(&result, 0, 0, 1).counters, queue(&result, 0, 0, 0).counters);
        assert_eq!((data.offered.packets, data.trimmed.packets, data.sent.packets), (4, 1, 3));
        assert_eq!(headers.sent.packets, 1, "{mirror}");
        assert_conserved(&result, mirror);
    }
}

#[test]
fn pipelines_have_ports_of_their_own() {
    // 15 packets from two pipelines meet, 7 and 8, and 13 of them are mirrored. Nothing is sent again.
    let text =
        network(16, "ports_per_pipeline = 8").replace("[transport.ndp]\n        ack_class = 0", "[transport.udp]");
    let result = run_flows(&text, &at_once(1..16));
    let mirrored: Vec<u64> = result.recirculation.iter().map(|port| port.mirrored).collect();
    assert_eq!((mirrored.len(), mirrored.iter().sum::<u64>()), (2, 13), "{mirrored:?}");
    assert!(mirrored[0] <= 7 && mirrored[1] <= 8, "{mirrored:?}");
    // They arrive at once: one is being sent, the others wait.
    assert_eq!(result.recirculation[0].peak, mirrored[0] - 1);
    assert_eq!(trims(&result), 13);
    assert_conserved(&result, "pipelines");
}

#[test]
fn what_finds_no_room_is_dropped_and_counted() {
    let text = network(16, "capacity = 3").replace("[transport.ndp]\n        ack_class = 0", "[transport.udp]");
    let result = run_flows(&text, &at_once(1..16));
    // One is sent, three wait; nine find the queue full.
    let [RecirculationRecord { mirrored: 4, full: 9, peak: 3, .. }] = result.recirculation[..] else {
        panic!("{:?}", result.recirculation)
    };
    let headers = queue(&result, 0, 0, 0).counters;
    assert_eq!(trims(&result), 4);
    // The four come around while a data packet is sent: the queue for headers holds one, too.
    assert_eq!((headers.sent.packets, headers.dropped.packets), (1, 3));
    assert_eq!((drops(&result), dropped(&result)), (12, 12));
    assert_conserved(&result, "full");
}

#[test]
fn a_sprayed_packets_header_leaves_by_the_packets_port() {
    let text = r#"
        duration = "100us"
        [topology]
        kind = "leaf-spine"
        leaves = 2
        spines = 4
        hosts_per_leaf = 8
        rate = "10Gbps"
        delay = "1us"
        [routing]
        kind = "spray-random"
        [switch]
        buffer = "1MB"
        queues = 2
        queue_capacity = 4
        [policy]
        kind = "cs"
        [scheduler]
        kind = "strict"
        [tier.leaf.mirror]
        [transport.ndp]
        ack_class = 0
        [[workload]]
        kind = "incast"
        request = "1MB"
        fan_in = 8
        from = "leaf0"
        hosts = [8]
        arrivals = "once"
        class = 1
        [measure]
        trace_switches = ["leaf0"]
        "#;
    let result = run(text);
    // By flow and packet number: the port that last rejected the packet, then that which its header joins.
    let mut rejected = std::collections::HashMap::new();
    let mut checked = 0;
    for event in &result.trace {
        let Place::Switch(_, port) = event.place else { continue };
        let packet = (event.packet.flow, event.packet.seq);
        match event.what {
            What::Rejected(_) => {
                rejected.insert(packet, port);
            }
            What::Queued if event.packet.has(flag::TRIMMED) => {
                assert_eq!(rejected.get(&packet), Some(&port));
                checked += 1;
            }
            _ => {}
        }
    }
    assert!(checked > 20, "{checked}");
    assert_eq!(result.recirculation.len(), 2, "only leaves mirror");
    assert_conserved(&result, "spraying");
}
