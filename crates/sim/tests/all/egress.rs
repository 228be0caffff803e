//! What stands between the transports of a host and its link.

use crate::common;

use common::{assert_conserved, flow, interval, run, run_flows};
use forebay_sim::flow::{FlowRecord, FlowSpec};
use forebay_sim::measure::RunResult;
use forebay_sim::measure::trace::{Place, TraceEvent, What};
use forebay_sim::packet::Kind;
use forebay_sim::transport::FlowInfo;
use forebay_tm::Rate;
use std::collections::{BTreeMap, VecDeque};

/// Transports that have a window.
const WINDOWS: [&str; 8] = ["reno", "cubic", "dctcp", "timely", "powertcp", "theta-powertcp", "pfabric", "ndp"];

/// The rate of a sender is its link's: Linux has less to send.
const RFC: &str = "stack = \"rfc\"";

const UNLIMITED: &str = "[nic]\nkind = \"unlimited\"\n";

/// Hosts at one switch that is never full. `more` is of the transport, and whatever follows it.
fn single(hosts: u32, rate: &str, transport: &str, more: &str) -> String {
    format!(
        r#"
        duration = "1us"
        drain = "300ms"
        [topology]
        kind = "single"
        hosts = {hosts}
        rate = "{rate}"
        delay = "1us"
        [switch]
        buffer = "64MB"
        [policy]
        kind = "cs"
        [ecn]
        kind = "step"
        threshold = "100KB"
        [transport.{transport}]
        {more}
        "#
    )
}

fn endless(src: u32, dst: u32) -> FlowSpec {
    flow(0, src, dst, FlowInfo::ENDLESS)
}

/// Short flows of a host that sends an endless one, too, which has the link alone for 300 packets before them and for
/// 100 between them. They come at different times of its packets.
fn beside_an_endless_flow(transport: &str, rate: Rate, bytes: u64, more: &str) -> RunResult {
    let text = single(4, &rate.to_string(), transport, more);
    let apart = rate.serialization(150_570).ps();
    let mut flows = vec![endless(0, 1)];
    flows.extend((0..20).map(|n| flow(3 * apart + n * apart, 0, 2 + (n % 2) as u32, bytes)));
    run_flows(&text, &flows)
}

/// Without fair queueing, the mean slowdown of flows of ten packets at 10 Gb/s is 100 with Reno and DCTCP after 1.6 ms,
/// and grows.
#[test]
fn short_flows_hardly_see_an_endless_one_of_their_host() {
    for transport in WINDOWS {
        for rate in [Rate::from_gbps(10), Rate::from_bps(100_000_000)] {
            for bytes in [1_460, 14_600] {
                let result = beside_an_endless_flow(transport, rate, bytes, "");
                let slowdowns: Vec<f64> = result.flows[1..].iter().map(|flow| flow.slowdown().unwrap()).collect();
                let (mean, half) = interval(&slowdowns[..18]);
                let worst = slowdowns.iter().copied().fold(0.0, f64::max);
                println!("{transport} at {rate}, {bytes} bytes: mean {mean:.3} ± {half:.3}, worst {worst:.3}");
                // Two packets may be on the wire, and an endless flow that pauses may have a packet to send before: of
                // a flow of one packet over two links, a single one may wait longer than it takes.
                let below = if bytes > 1_460 { worst } else { mean + half };
                assert!(below < 2.0, "{transport} at {rate}, {bytes} bytes: {slowdowns:.3?}");
                // The link is not kept idle for them.
                let packets: u64 = result.flows.iter().map(|flow| u64::from(flow.received)).sum();
                let share = rate.serialization(packets * 1_500).ps() as f64 / result.end.ps() as f64;
                if matches!(transport, "reno" | "cubic" | "dctcp") {
                    assert!(share > 0.97, "{transport} at {rate}: {share}");
                }
            }
        }
    }
    // A sender without pacing that only its window stops.
    let before = beside_an_endless_flow("dctcp", Rate::from_gbps(10), 14_600, &format!("stack = \"rfc\"\n{UNLIMITED}"));
    let sum: f64 = before.flows[1..].iter().map(|flow| flow.slowdown().unwrap()).sum();
    assert!(sum / 20.0 > 50.0, "what fair queueing is there for: {sum}");
}

fn permutation(topology: &str, seed: u64, transport: &str, nic: &str) -> Vec<FlowRecord> {
    let text = format!(
        r#"
        seed = {seed}
        duration = "1ms"
        drain = "1s"
        [topology]
        {topology}
        rate = "10Gbps"
        delay = "1us"
        [switch]
        buffer = "16MB"
        [policy]
        kind = "cs"
        [ecn]
        kind = "step"
        threshold = "100KB"
        {nic}
        [transport.{transport}]
        [[workload]]
        kind = "permutation"
        bytes = "2MB"
        "#
    );
    run(&text).flows
}

/// Each host sends the data of one flow and the ACKs of another. ACKs do not wait behind a window of data any more:
/// each flow may lose what its link needs for them, and no more.
#[test]
fn no_flow_of_a_permutation_is_slower_but_for_acks_that_do_not_wait() {
    for transport in WINDOWS {
        let topology = "kind = \"single\"\nhosts = 16";
        let before = permutation(topology, 3, transport, UNLIMITED);
        let after = permutation(topology, 3, transport, "");
        let acks = Rate::from_gbps(10).serialization(64 * 2_000_000u64.div_ceil(1_460)).ps();
        for (before, after) in before.iter().zip(&after) {
            let (before, after) = (before.fct().unwrap().ps(), after.fct().unwrap().ps());
            assert!(after <= before + acks, "{transport}: {after} {before}");
        }
    }
}

/// In a network with collisions, single flows win and lose; over seeds they do not lose.
#[test]
fn permutations_are_no_slower_over_seeds() {
    for transport in WINDOWS {
        let mean = |seed, nic| {
            let flows = permutation("kind = \"fat-tree\"\nk = 4", seed, transport, nic);
            flows.iter().map(|flow| flow.fct().unwrap().ps() as f64).sum::<f64>()
        };
        let ratios: Vec<f64> = (1..=12).map(|seed| mean(seed, "") / mean(seed, UNLIMITED)).collect();
        let (ratio, half) = interval(&ratios);
        println!("{transport}: mean completion time over that without a limit: {ratio:.4} ± {half:.4}");
        assert!(half < 0.04, "{transport}: {ratio} ± {half} would not show much");
        assert!(ratio - half <= 1.0, "{transport}: {ratio} ± {half}");
    }
}

/// Clients that ask again when they have their response get more responses in the same time.
#[test]
fn closed_loops_complete_more() {
    for transport in WINDOWS {
        let completed = |nic: &str| {
            let text = format!(
                r#"
                seed = 3
                duration = "20ms"
                drain = "1s"
                [topology]
                kind = "single"
                hosts = 8
                rate = "10Gbps"
                delay = "1us"
                [switch]
                buffer = "16MB"
                [policy]
                kind = "cs"
                [ecn]
                kind = "step"
                threshold = "100KB"
                {nic}
                [transport.{transport}]
                [[workload]]
                kind = "request-response"
                request = "2KB"
                sizes = {{ exponential = "100KB" }}
                think = "5us"
                sessions = 4
                "#
            );
            let result = run(&text);
            assert_conserved(&result, transport);
            result.flows.iter().filter(|flow| flow.is_complete()).count()
        };
        let (before, after) = (completed(UNLIMITED), completed(""));
        println!("{transport}: {before} flows without a limit, {after} with fair queueing");
        assert!(after > before, "{transport}: {after} {before}");
    }
}

/// Endless flows of one host, each to a host of its own: what each has on the wire from 10 ms to the end.
fn shares(flows: u32, transports: &[(&str, u32)], duration: &str) -> (Vec<f64>, RunResult) {
    let mut text = format!(
        r#"
        duration = "{duration}"
        drain = "1ps"
        [topology]
        kind = "single"
        hosts = {}
        rate = "10Gbps"
        delay = "1us"
        [switch]
        buffer = "64MB"
        [policy]
        kind = "cs"
        [measure]
        sample = "10ms"
        progress = "all"
        "#,
        flows + 1
    );
    for (number, (kind, mss)) in transports.iter().enumerate() {
        text.push_str(&format!("[transport.t{number}]\nkind = \"{kind}\"\nmss = {mss}\n"));
    }
    for flow in 0..flows {
        let transport = flow as usize % transports.len();
        let to = flow + 1;
        text.push_str(&format!(
            "[[workload]]\nkind = \"long-lived\"\npairs = [[0, {to}]]\ntransport = \"t{transport}\"\n"
        ));
    }
    let result = run(&text);
    let mut first = BTreeMap::new();
    let mut last = BTreeMap::new();
    for sample in &result.progress {
        first.entry(sample.flow).or_insert(sample.bytes);
        last.insert(sample.flow, sample.bytes);
    }
    let shares = (0..flows).map(|flow| {
        let mss = f64::from(transports[flow as usize % transports.len()].1);
        (last[&flow] - first[&flow]) as f64 / mss * (mss + 40.0)
    });
    (shares.collect(), result)
}

/// Deficit round robin (Shreedhar and Varghese): what two flows that always have packets have sent in any time differs
/// by less than a quantum and two packets; one packet more may be on its way at either end of the time.
#[test]
fn endless_flows_of_a_host_share_its_link_equally() {
    let mixed = [("reno", 1_460), ("dctcp", 960), ("cubic", 8_960), ("udp", 460)];
    for flows in [2, 5, 50] {
        for transports in [&[("reno", 1_460)][..], &[("dctcp", 1_460)], &[("cubic", 1_460), ("reno", 300)], &mixed] {
            let (bytes, result) = shares(flows, transports, "30ms");
            let largest = f64::from(transports.iter().map(|(_, mss)| *mss + 40).max().unwrap());
            let (least, most) =
                bytes.iter().fold((f64::INFINITY, 0.0f64), |(least, most), own| (least.min(*own), most.max(*own)));
            println!("{flows} flows, {transports:?}: {least} to {most} bytes");
            // A quantum is two of the largest packets.
            assert!(most - least < (2.0 + 2.0 + 2.0) * largest, "{transports:?}: {bytes:?}");
            // The link is never idle: 20 ms at 1.25 GB/s.
            let sum: f64 = bytes.iter().sum();
            assert!(sum > 0.999 * 25_000_000.0 - f64::from(flows) * largest, "{transports:?}: {sum}");
            assert_conserved(&result, "shares");
        }
    }
}

/// What waits in front of a host's link at every instant, told by a trace of all its flows: bytes of each flow, with
/// packets. Checks that flows keep their order, and that the wire has no more than `bql` bytes.
fn most_waiting(trace: &[TraceEvent], host: u32, rate: Rate, bql: u64) -> BTreeMap<(u32, bool), (u64, usize)> {
    let mut waiting: BTreeMap<(u32, bool), VecDeque<(u32, u32)>> = BTreeMap::new();
    let mut most = BTreeMap::new();
    let mut wire_free = 0;
    for event in trace.iter().filter(|event| event.place == Place::Host(host)) {
        let packet = &event.packet;
        // Data and replies of a flow have queues of their own.
        let key = (packet.flow, packet.kind == Kind::Data);
        let queue = waiting.entry(key).or_default();
        match event.what {
            What::Queued => {
                queue.push_back((packet.seq, packet.bytes));
                let bytes: u64 = queue.iter().map(|(_, bytes)| u64::from(*bytes)).sum();
                let most = most.entry(key).or_insert((0, 0));
                *most = (bytes.max(most.0), queue.len().max(most.1));
            }
            What::Sent => {
                // Either it is the first of those that wait, or none did, of any flow.
                match queue.pop_front() {
                    Some(first) => assert_eq!(first, (packet.seq, packet.bytes)),
                    None => assert!(waiting.values().all(VecDeque::is_empty)),
                }
                wire_free = wire_free.max(event.at.ps()) + rate.serialization(u64::from(packet.bytes)).ps();
                assert!(wire_free - event.at.ps() <= rate.serialization(bql).ps(), "{event:?}");
            }
            _ => {}
        }
    }
    most
}

/// The bound of small queues holds at every instant, and is used.
#[test]
fn what_waits_below_a_transport_is_bounded() {
    let rate = Rate::from_gbps(10);
    // Timers that do not run out while packets wait at their host.
    for (transport, own) in
        [("reno", RFC), ("cubic", RFC), ("dctcp", RFC), ("pfabric", "rto = \"1s\""), ("ndp", "rto_min = \"1s\"")]
    {
        for (nic, bql, bytes, packets) in [
            // A millisecond is more than a flow's limit.
            ("", 3_000, 150_000, 100),
            ("flow_limit = 1000", 3_000, 1_250_000, 833),
            ("small_queue = \"20us\"", 3_000, 25_000, 16),
            ("small_queue = \"0us\"\nbql = 1500", 1_500, 3_000, 2),
            ("kind = \"fifo\"\nsmall_queue = \"50us\"", 3_000, 62_500, 41),
            ("kind = \"fifo\"\nsmall_queue = \"50us\"\nbql = 9000", 9_000, 62_500, 41),
        ] {
            let more = format!("initial_window = 2000\n{own}\n[nic]\n{nic}\n[measure]\ntrace_flows = [0, 1, 2]\n");
            // Flows of 1,500 packets, and one that comes the other way, whose replies are in between.
            let flows = [flow(0, 0, 1, 2_190_000), flow(1_000, 0, 2, 2_190_000), flow(2_000, 3, 0, 2_190_000)];
            let result = run_flows(&single(4, "10Gbps", transport, &more), &flows);
            assert_eq!(result.nic_drops, 0, "{transport}, {nic}");
            let most = most_waiting(&result.trace, 0, rate, bql);
            for number in [0, 1] {
                let (most_bytes, most_packets) = most[&(number, true)];
                assert!(most_bytes <= bytes && most_packets <= packets, "{transport}, {nic}: {most:?}");
                assert!(most_packets + 1 >= packets, "{transport}, {nic}: {most:?}");
            }
            // Nothing is lost by it: the two flows take the link's time, and the replies' packets.
            let end = result.flows.iter().filter(|flow| flow.spec.src == 0).map(|flow| flow.end.ps()).max().unwrap();
            let replies = 1_500 * rate.serialization(64).ps();
            assert!(
                end <= rate.serialization(2 * 1_500 * 1_500).ps() + replies + 3 * 3_200_000,
                "{transport}, {nic}: {end}"
            );
        }
    }
}

/// With segmentation offload, a segment of 43 packets follows whenever two segments' worth or less waits, by what
/// packets take of memory: half as much again as their bytes. So 57 packets (128,250 of 129,000 bytes) and 43 wait.
#[test]
fn segments_wait_as_a_whole() {
    let rate = Rate::from_gbps(10);
    for transport in ["reno", "cubic", "dctcp"] {
        let own = "initial_window = 2000\nreceive_window = \"3MB\"\nrto_min = \"1s\"\npacing = false\n";
        let more = "segmentation_offload = \"64KB\"\n[nic]\nkind = \"fifo\"\nsmall_queue = \"0us\"\n[measure]\n\
         trace_flows = [0]\n";
        let text = single(2, "10Gbps", transport, &format!("{own}{more}"));
        let result = run_flows(&text, &[flow(0, 0, 1, 2_190_000)]);
        let most = most_waiting(&result.trace, 0, rate, 3_000);
        assert_eq!(most[&(0, true)], (150_000, 100), "{transport}");
        let end = result.flows[0].end.ps();
        assert!(end <= rate.serialization(1_500 * 1_500).ps() + 3 * 3_200_000, "{transport}: {end}");
    }
}

/// A burst meets a limit: two packets are on the wire, so many wait, and the others are dropped, counted at the host
/// and by flow.
#[test]
fn what_is_above_a_limit_is_dropped_at_the_host() {
    for (nic, sent) in [
        ("small_queue = \"off\"\nflow_limit = 9", 11),
        ("small_queue = \"off\"\nlimit = 9", 11),
        ("small_queue = \"off\"\nlimit = 9\nbql = 1500", 10),
        ("small_queue = \"off\"", 30),
        ("flow_limit = 9", 30),
        ("kind = \"fifo\"\nsmall_queue = \"off\"\nlimit = 9", 11),
        ("kind = \"fifo\"\nsmall_queue = \"off\"\nlimit_bytes = 13500", 11),
        ("kind = \"fifo\"\nsmall_queue = \"off\"\nlimit_bytes = 13499", 10),
        ("kind = \"fifo\"\nsmall_queue = \"0us\"\nlimit = 9", 30),
        ("kind = \"unlimited\"", 30),
    ] {
        let more = format!("initial_window = 30\n[nic]\n{nic}\n[measure]\ntrace_flows = [0]\n");
        let text = single(2, "10Gbps", "reno", &more).replace("drain = \"300ms\"", "drain = \"50us\"");
        let result = run_flows(&text, &[flow(0, 0, 1, 30 * 1_460)]);
        assert_eq!(result.nic_drops, 30 - sent, "{nic}");
        assert_eq!(u64::from(result.flows[0].drops), result.nic_drops, "{nic}");
        assert_eq!(u64::from(result.flows[0].received), sent, "{nic}");
        let rejected = result.trace.iter().filter(|event| matches!(event.what, What::Rejected(_)));
        assert_eq!(rejected.count() as u64, result.nic_drops, "{nic}");
        assert_conserved(&result, nic);
    }
}

/// UDP does not look at what waits: it goes on at its rate, and what is above the limit of its flow is dropped. Others
/// of its host do not suffer.
#[test]
fn udp_beyond_its_share_is_dropped_at_its_host() {
    let more =
        "rate = \"20Gbps\"\n[transport.dctcp]\n[[workload]]\nkind = \"permutation\"\nbytes = 1\ntransport = \"udp\"\n";
    let text = single(4, "10Gbps", "udp", more).replace("duration = \"1us\"", "duration = \"4ms\"");
    let flood = endless(0, 1);
    let result = run_flows(&text, &[flood, FlowSpec { transport: 1, ..endless(0, 2) }]);
    let [udp, dctcp] = [0, 1].map(|flow| f64::from(result.flows[flow].received));
    // 3,333 packets in 4 ms, half of them each.
    assert!((udp / dctcp - 1.0).abs() < 0.02, "{udp} {dctcp}");
    assert!(udp + dctcp > 3_300.0, "{udp} {dctcp}");
    // 6,667 were sent: but for those that got through and a hundred that wait all are dropped.
    assert!((result.nic_drops as f64 - (6_667.0 - udp - 100.0)).abs() < 10.0, "{}", result.nic_drops);
    assert_eq!((u64::from(result.flows[0].drops), result.flows[1].drops), (result.nic_drops, 0));
    assert_conserved(&result, "flood");
}
