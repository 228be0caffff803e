//! Trimming as SONiC has it: cut to a size, a new code point, one try on the trim queue, and what is counted.

use crate::common::{assert_conserved, flow, queue, run_flows};
use forebay_sim::flow::FlowSpec;
use forebay_sim::measure::RunResult;
use forebay_tm::Reason;

/// Four hosts at each of two switches; the cable between them is half as fast as a host's. Queue 2 is the trim queue.
fn run(trim: &str, packets: u64, payload: u64) -> RunResult {
    let text = format!(
        r#"
        duration = "2ms"
        drain = "2ms"
        [topology]
        kind = "dumbbell"
        left = 4
        right = 4
        rate = "100Gbps"
        delay = "500ns"
        bottleneck_rate = "50Gbps"
        [switch]
        buffer = "1MB"
        queues = 3
        queue_capacity = 20
        [policy]
        kind = "cs"
        [scheduler]
        kind = "strict"
        [trim]
        kind = "to-queue"
        {trim}
        [transport.udp]
        kind = "udp"
        mss = {payload}
        header = 40
        "#
    );
    let flows: Vec<FlowSpec> =
        (0..2).map(|host| FlowSpec { class: 1, ..flow(0, host, 4, packets * payload) }).collect();
    let result = run_flows(&text, &flows);
    assert_conserved(&result, trim);
    result
}

/// The port to the other switch, and the port to host 4.
const UPLINK: (u32, u32) = (0, 4);
const LAST: (u32, u32) = (1, 0);

#[test]
fn what_is_cut_goes_by_the_trim_queue_of_every_switch() {
    let result = run("size = 128\nqueue = 0", 40, 1_460);
    let data = &queue(&result, UPLINK.0, UPLINK.1, 1).counters;
    let trims: u32 = result.flows.iter().map(|flow| flow.trims).sum();
    assert!(trims > 0 && data.trimmed.packets == u64::from(trims), "{trims} {data:?}");
    // Every one of them was sent, with 128 bytes, by queue 0 of the first switch and of the second.
    for (switch, port) in [UPLINK, LAST] {
        let cut = &queue(&result, switch, port, 0).counters;
        let (packets, bytes) = (cut.sent.packets + cut.headers_sent.packets, cut.sent.bytes + cut.headers_sent.bytes);
        assert_eq!((packets, bytes), (u64::from(trims), 128 * u64::from(trims)), "switch {switch}: {cut:?}");
    }
    let whole = queue(&result, LAST.0, LAST.1, 1).counters.sent.packets;
    assert_eq!(whole + u64::from(trims), 80, "nothing was dropped");
}

#[test]
fn a_full_trim_queue_is_a_trim_drop() {
    // Queue 2 goes last, behind the data, and holds 20 packets.
    let result = run("size = 128\nqueue = 2", 200, 1_460);
    let data = &queue(&result, UPLINK.0, UPLINK.1, 1).counters;
    let lost = data.dropped_by(Reason::HeaderFull).packets;
    assert!(lost > 0 && data.dropped.packets == lost, "{data:?}");
    let trims: u32 = result.flows.iter().map(|flow| flow.trims).sum();
    assert_eq!(data.trimmed.packets, u64::from(trims));
}

#[test]
fn queues_that_do_not_trim_drop_and_short_packets_go_whole() {
    let dropped = run("size = 128\nqueue = 0\nfrom = [true, false, true]", 40, 1_460);
    let data = &queue(&dropped, UPLINK.0, UPLINK.1, 1).counters;
    assert!(data.dropped.packets > 0 && data.trimmed.packets == 0, "{data:?}");
    // Packets of 128 bytes are moved to the trim queue as they are, and all of them arrive.
    let short = run("size = 128\nqueue = 0", 16, 88);
    assert!(queue(&short, UPLINK.0, UPLINK.1, 0).counters.headers_sent.packets > 0);
    assert!(short.flows.iter().all(|flow| flow.is_complete() && flow.trims == 0), "{:?}", short.flows);
}
