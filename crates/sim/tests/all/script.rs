//! A switch that plays a script: what it does to packets, when they go on, and what it keeps.

use crate::common;

use common::{flow, scenario};
use forebay_script::file::{MSS, Script};
use forebay_script::trace::{Event, Kind, Position, Side};
use forebay_sim::engine;
use forebay_sim::flow::{FlowRecord, TrafficPlan};
use forebay_sim::measure::RunResult;
use std::sync::Arc;

fn script(rules: &str) -> Script {
    let text = format!(
        "about = \"x\"\ncongestion_control = \"dctcp\"\nround_trip = \"40ms\"\n[[flow]]\nsegments = 60\n[[flow]]\n\
         segments = 2\n{rules}"
    );
    forebay_script::file::read("x.toml", &text).unwrap_or_else(|error| panic!("{error}"))
}

/// Flow 0 has 60 segments; flow 1 has 2 and starts after 10 seconds.
fn run(rules: &str) -> RunResult {
    let mut scenario = scenario(
        "duration = \"30s\"\n[topology]\nkind = \"single\"\nhosts = 2\nrate = \"10Mbps\"\ndelay = \"1us\"\n\
         [switch]\nbuffer = \"1MB\"\n[policy]\nkind = \"cs\"\n\
         [transport.dctcp]\nstack = \"rfc\"\nmss = 1448\nheader = 66\nack_bytes = 66\nhandshake = true\n\
         rto_min = \"200ms\"\nrto_initial = \"1s\"\n\
         [[workload]]\nkind = \"permutation\"\nbytes = 1\ntransport = \"dctcp\"\n[measure]\nsample = \"100ms\"\n",
    );
    scenario.switches[0].script = Some(Arc::new(script(rules)));
    let segments = |count: u64| count * u64::from(MSS);
    let flows = vec![flow(0, 0, 1, segments(60)), flow(10_000_000_000_000, 0, 1, segments(2))];
    let plan = TrafficPlan { flows, ..TrafficPlan::default() };
    let result = engine::run(&scenario, &plan, &mut |_| true);
    assert!(result.flows.iter().all(FlowRecord::is_complete), "{rules}");
    result
}

fn of(result: &RunResult, flow: u32) -> Vec<&Event> {
    result.script.iter().filter(|event| event.flow == flow).collect()
}

/// When a segment of flow 0 was sent for the n-th time, in picoseconds.
fn sent(result: &RunResult, segment: u32, count: u32) -> Option<u64> {
    let is = |event: &&&Event| event.segment() == Some(segment) && event.decision.count == count;
    of(result, 0).iter().find(is).map(|event| event.at.ps())
}

/// From the arrival of a packet at the switch to the arrival of the reply: half a round trip, the wire, the cable, and
/// the reply's 66 bytes at the 100 Gb/s of hosts.
fn replied(bytes: u64) -> u64 {
    20_000_000_000 + bytes * 800_000 + 1_000_000 + 66 * 80 + 1_000_000
}

#[test]
fn packets_go_on_after_half_a_round_trip() {
    let result = run("");
    for flow in [0, 1] {
        let events = of(&result, flow);
        let kinds: Vec<Kind> = events.iter().take(3).map(|event| event.kind).collect();
        assert_eq!(kinds, [Kind::Syn, Kind::SynAck, Kind::Data(Position::of(0), MSS)]);
        assert_eq!(events[0].at.ps(), 0);
        assert_eq!(events[1].at.ps(), replied(66));
        // On the way back the ACK is held as well; the data's frame takes its time on the host's link.
        let back = 20_000_000_000 + 66 * 800_000 + 1_000_000 + 1_514 * 80 + 1_000_000;
        assert_eq!(events[2].at.ps(), replied(66) + back);
        let ack = events.iter().find(|event| event.acknowledgement.is_some()).unwrap();
        assert_eq!(ack.at.ps() - events[2].at.ps(), replied(1_514));
    }
    // Two SYNs, 62 segments, and a reply to each.
    assert_eq!(result.script.len(), 2 * 64);
    assert_eq!((result.sent, result.received, result.lost_to_failures), (128, 128, 0));
}

#[test]
fn what_is_named_is_dropped_and_sent_again() {
    let result = run("[[drop]]\nflow = 0\nsegment = [20, 30]\n[[drop]]\nflow = 0\nack = 5\n[[drop]]\nflow = 1\n\
         handshake = \"syn\"\n");
    let dropped: Vec<String> = result
        .script
        .iter()
        .filter(|event| event.decision.drop)
        .map(|event| match event.kind {
            Kind::Data(at, _) => format!("{at} tx {}", event.decision.count),
            Kind::Ack(_) => format!("ack {}", event.decision.count),
            kind => format!("{kind:?}"),
        })
        .collect();
    assert_eq!(dropped, ["ack 5", "20 tx 1", "30 tx 1", "Syn"]);
    assert!(sent(&result, 20, 2).is_some() && sent(&result, 30, 2).is_some() && sent(&result, 40, 2).is_none());
    assert_eq!(result.lost_to_failures, 4);
    assert_eq!(result.sent, result.received + 4);
    let second = of(&result, 1);
    assert_eq!((second[1].kind, second[1].at.ps()), (Kind::Syn, 1_000_000_000_000), "after the first timeout");
}

#[test]
fn marks_are_told_of() {
    let result = run("[[mark]]\nflow = 0\nsegment = \"20-23\"\n");
    let told: u32 = of(&result, 0).iter().filter(|event| event.bits.ece).map(|_| 1).sum();
    assert_eq!(told, 4);
    assert!(
        of(&result, 0).iter().filter(|event| event.side == Side::Sender).all(|event| !event.bits.ce),
        "before the script"
    );
}

#[test]
fn delayed_packets_are_overtaken_and_held_ones_are_not() {
    let first_gap = |rules: &str| -> Option<(u32, usize)> {
        let result = run(rules);
        let sacks: Vec<_> = of(&result, 0)
            .iter()
            .filter_map(|event| event.acknowledgement.clone())
            .filter(|own| !own.sack.is_empty())
            .collect();
        sacks.first().map(|own| (own.next.segment(), sacks.len()))
    };
    // Segments come in pairs, 1.2 ms apart: 13 and 14 and 15 overtake 12.
    assert_eq!(first_gap("[[delay]]\nflow = 0\nsegment = 12\nby = \"1800us\"\n"), Some((12, 3)));
    assert_eq!(first_gap("[[hold]]\nflow = 0\nsegment = 12\nby = \"30ms\"\n"), None);
    let result = run("[[hold]]\nflow = 0\nsegment = 12\nby = \"30ms\"\n");
    let acked = |segments: u32| {
        let is = |event: &&&Event| event.acknowledgement.as_ref().is_some_and(|own| own.next == Position::of(segments));
        of(&result, 0).iter().find(is).unwrap().at.ps()
    };
    assert_eq!(acked(13) - sent(&result, 12, 1).unwrap(), replied(1_514) + 30_000_000_000);
}

#[test]
fn copies_come_as_well() {
    let result = run("[[duplicate]]\nflow = 0\nsegment = 12\nafter = \"5ms\"\n[[duplicate]]\nflow = 0\nack = 3\n");
    assert_eq!(result.received, result.sent + 2);
    let again =
        of(&result, 0).iter().filter(|event| event.acknowledgement.as_ref().is_some_and(|own| own.again)).count();
    assert_eq!(again, 1, "the copy of the segment is acknowledged as well");
    assert!(result.script.iter().all(|event| !event.is_retransmission()));
}

#[test]
fn the_same_script_gives_the_same_list() {
    let rules = "[[drop]]\nflow = 0\nsegment = \"10-30\"\nevery = 3\n[[hold]]\nflow = 0\nack = 9\nby = \"9ms\"\n";
    assert_eq!(run(rules).script, run(rules).script);
}
