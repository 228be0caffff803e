//! What the switches make of classes, groups of ports and the unscheduled flag, as their counters show.

use crate::common;

use common::{buffers, flow, port, queue, run, run_flows};
use forebay_sim::flow::FlowSpec;
use forebay_tm::Reason;

/// Ports 0 to 3 have one buffer, ports 4 and 5 another: an incast to host 5 fills only its own.
#[test]
fn a_buffer_for_every_four_ports() {
    let text = r#"
        duration = "1ms"
        [topology]
        kind = "single"
        hosts = 6
        rate = "10Gbps"
        delay = "1us"
        [switch]
        buffer = "30KB"
        ports_per_buffer = 4
        [policy]
        kind = "cs"
        [transport.udp]
        "#;
    let mut flows: Vec<_> = (0..4).map(|host| flow(0, host, 5, 40_000)).collect();
    flows.push(flow(0, 5, 1, 40_000));
    let result = run_flows(text, &flows);
    let whole: Vec<_> = buffers(&result).collect();
    assert_eq!(whole.len(), 2);
    assert_eq!(whole.iter().map(|place| place.size.get()).collect::<Vec<_>>(), [30_000, 30_000]);
    assert_eq!(whole[0].counters.dropped.packets, 0);
    assert!(whole[1].counters.dropped.packets > 0 && whole[1].counters.peak.get() <= 30_000);
    assert_eq!(port(&result, 0, 5).counters.offered.packets, 4 * 28);
    assert_eq!((port(&result, 0, 5).buffer, port(&result, 0, 1).buffer), (1, 0));
    assert_eq!(port(&result, 0, 1).counters.sent.packets, 28);
    let to_one = result.flows.iter().find(|flow| flow.spec.dst == 1).unwrap();
    assert_eq!(to_one.fct(), Some(to_one.ideal));
}

/// Flows join the queue of their class, replies that of `ack_class`, at every port on the way.
#[test]
fn classes_have_their_queues() {
    let text = r#"
        duration = "1ms"
        [topology]
        kind = "dumbbell"
        left = 2
        right = 2
        rate = "10Gbps"
        delay = "1us"
        bottleneck_rate = "10Gbps"
        [switch]
        buffer = "4MB"
        queues = 4
        [policy]
        kind = "cs"
        [scheduler]
        kind = "strict"
        [transport.dctcp]
        initial_window = "flow"
        ack_class = 3
        "#;
    let of_class = |class: u8, src: u32| FlowSpec { class, ..flow(0, src, src + 2, 20 * 1_460) };
    let result = run_flows(text, &[of_class(1, 0), of_class(2, 1)]);
    let offered = |switch, port, number| queue(&result, switch, port, number).counters.offered.packets;
    // The left switch's port 2 leads to the right one; its ports 0 and 1 to the senders. The right switch has its hosts
    // at 0 and 1.
    assert_eq!([0, 1, 2, 3].map(|number| offered(0, 2, number)), [0, 20, 20, 0]);
    assert_eq!([0, 1, 2, 3].map(|number| offered(1, 0, number)), [0, 20, 0, 0]);
    assert_eq!([0, 1, 2, 3].map(|number| offered(1, 1, number)), [0, 0, 20, 0]);
    assert_eq!([0, 1, 2, 3].map(|number| offered(1, 2, number)), [0, 0, 0, 40]);
    assert_eq!([0, 1, 2, 3].map(|number| offered(0, 0, number)), [0, 0, 0, 20]);
    // Strict priority: the lower class is not held up by the higher one, but for the packet that is being sent.
    let first = result.flows.iter().find(|flow| flow.spec.class == 1).unwrap();
    assert!(first.fct().unwrap().ps() - first.ideal.ps() <= 1_200_000, "{first:?}");
}

/// ABM lets unscheduled packets in with an alpha of their own: with it far above the other, the first window of a new
/// flow is let in where an old flow's packets are dropped.
#[test]
fn unscheduled_packets_have_an_alpha_of_their_own() {
    let text = |alpha: &str| {
        format!(
            r#"
            duration = "3ms"
            drain = "1ms"
            [topology]
            kind = "single"
            hosts = 8
            rate = "10Gbps"
            delay = "1us"
            [switch]
            buffer = "200KB"
            [policy]
            kind = "abm"
            alpha = 0.25
            {alpha}
            interval = "20us"
            [transport.udp]
            unscheduled = "14600B"
            [[workload]]
            kind = "long-lived"
            pairs = [[1, 0], [2, 0], [3, 0]]
            [[workload]]
            kind = "incast"
            arrivals = "periodic"
            rate = 5000
            hosts = [0]
            from = "4-7"
            fan_in = 4
            request = {}
            start = "500us"
            "#,
            4 * 10 * 1_460
        )
    };
    let without = run(&text(""));
    let with = run(&text("alpha_unscheduled = 64.0"));
    let drops = |result: &forebay_sim::measure::RunResult| -> (u32, u32) {
        let of =
            |workload| result.flows.iter().filter(|flow| flow.spec.workload == workload).map(|flow| flow.drops).sum();
        (of(0), of(1))
    };
    println!("drops of long flows and queries: without {:?}, with {:?}", drops(&without), drops(&with));
    assert!(drops(&without).1 > 100, "{:?}", drops(&without));
    assert_eq!(drops(&with).1, 0);
    assert!(drops(&with).0 > 1_000);
    let by_threshold = port(&with, 0, 0).counters.dropped_by(Reason::Threshold).packets;
    assert_eq!(by_threshold, u64::from(drops(&with).0));
    assert!(with.queries.iter().all(|query| query.end.ps() < u64::MAX));
}

/// Cells: a packet takes whole cells of the buffer, and no more packets than that allows.
#[test]
fn packets_take_whole_cells() {
    let text = r#"
        duration = "1ms"
        [topology]
        kind = "single"
        hosts = 9
        rate = "10Gbps"
        delay = "1us"
        [switch]
        buffer = "16000B"
        cell = 200
        [policy]
        kind = "cs"
        [transport.udp]
        "#;
    // Eight packets of 201 bytes at once: one is sent, the others wait and take two cells each.
    let flows: Vec<_> = (1..9).map(|host| flow(0, host, 0, 161)).collect();
    let result = run_flows(text, &flows);
    let place = buffers(&result).next().unwrap();
    assert_eq!(place.counters.peak.get(), 7 * 400);
    assert_eq!(place.counters.sent.bytes, 8 * 201);
}
