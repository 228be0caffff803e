//! What the papers say of their transports, in whole networks.

use crate::common;

use common::{flow, interval, jain, port, run, run_flows, us};
use forebay_sim::flow::FlowRecord;
use forebay_sim::measure::RunResult;

/// `flows` endless flows from hosts of their own through one link, each to a host of its own. The link is the port of
/// the left switch behind those of its hosts.
fn dumbbell(
    seed: u64,
    flows: u32,
    rate_gbps: u32,
    delay: &str,
    duration: &str,
    switch: &str,
    transport: &str,
) -> String {
    let pairs: Vec<String> = (0..flows).map(|host| format!("[{host}, {}]", flows + host)).collect();
    format!(
        r#"
        seed = {seed}
        duration = "{duration}"
        drain = "1ms"
        [topology]
        kind = "dumbbell"
        left = {flows}
        right = {flows}
        rate = "{}Gbps"
        delay = "1us"
        bottleneck_rate = "{rate_gbps}Gbps"
        bottleneck_delay = "{delay}"
        [switch]
        {switch}
        {transport}
        [[workload]]
        kind = "long-lived"
        pairs = [{}]
        spread = "100us"
        [measure]
        sample = "2us"
        timeline = ["switch0"]
        "#,
        rate_gbps * 2,
        pairs.join(", ")
    )
}

/// The bottleneck's queue over time in packets of 1500 bytes, without the first part of the run.
fn queue_from(result: &RunResult, from_us: u64) -> Vec<f64> {
    let samples = result.timeline.iter().filter(|sample| sample.at.ps() >= us(from_us));
    samples.map(|sample| sample.longest_bytes.as_f64() / 1_500.0).collect()
}

/// Alizadeh et al. 2010, section 3.3: with N synchronized flows the queue goes up to `K + N` packets and down from
/// there by `A = N (W + 1) alpha / 2`, where `W = (C RTT + K) / N` and `alpha^2 (1 - alpha / 4) = (2 W + 1) / (W +
/// 1)^2`. For a small alpha that is the paper's `1/2 sqrt(2 N (C RTT + K))`. The link never idles if `K > C RTT / 7`.
///
/// The top is a matter of one round trip and must be met to a packet or two. The bottom depends on how well all flows
/// cut at once and on their estimates of alpha: the smaller the windows the coarser these are, and the lower the queue
/// falls at worst, which is what the thousandth of the samples shows that is taken here. With 40 flows windows are of
/// 3.4 packets.
///
/// The theory knows no delayed ACKs, no integers for alpha and no reduction over a round trip: this is the stack by the
/// RFCs. With Linux's the swing of two flows is half as large again (16 packets, not 10.9).
#[test]
fn dctcp_swings_around_its_threshold() {
    for (flows, threshold) in [(2u32, 40u32), (10, 40), (40, 65)] {
        let (mut tops, mut bottoms) = (Vec::new(), Vec::new());
        for seed in 1..=3 {
            let switch = format!(
                "buffer = \"4MB\"\n[policy]\nkind = \"cs\"\n[ecn]\nkind = \"step\"\nthreshold = \"{}B\"",
                threshold * 1_500
            );
            let text = dumbbell(
                seed,
                flows,
                10,
                "40us",
                "60ms",
                &switch,
                "[transport.dctcp]\nstack = \"rfc\"\ninitial_ssthresh = 20",
            );
            let result = run(&text);
            let mut queue = queue_from(&result, 20_000);
            queue.sort_by(f64::total_cmp);
            tops.push(queue[queue.len() * 999 / 1_000]);
            bottoms.push(queue[queue.len() / 1_000]);
            let port = port(&result, 0, flows);
            assert_eq!(port.counters.dropped.packets, 0);
            assert!(port.utilization > 0.99, "N={flows}: {}", port.utilization);
        }
        // Propagation of 84 us, a packet on three links and an ACK.
        let round_trip = 84e-6 + 2.0 * 0.6e-6 + 1.2e-6 + 0.1e-6;
        let (n, k) = (f64::from(flows), f64::from(threshold));
        let window = (10e9 * round_trip / 12_000.0 + k) / n;
        let mut alpha = 0.5f64;
        for _ in 0..50 {
            alpha = ((2.0 * window + 1.0) / (window + 1.0).powi(2) / (1.0 - alpha / 4.0)).sqrt();
        }
        let amplitude = n * (window + 1.0) * alpha / 2.0;
        let small = 0.5 * (2.0 * n * n * window).sqrt();
        let ((top, _), (bottom, _)) = (interval(&tops), interval(&bottoms));
        let swing = top - bottom;
        println!(
            "DCTCP N={flows} K={threshold}: top {top:.1} (theory {}), amplitude {swing:.1} (theory {amplitude:.1}, \
             for small alpha {small:.1})",
            k + n
        );
        assert!((top - (k + n)).abs() <= 2.0, "N={flows}: {top}");
        assert!(swing > 0.85 * amplitude && swing < 1.35 * amplitude, "N={flows}: {swing} {amplitude}");
    }
}

/// Loss-based transports with a buffer of a bandwidth-delay product keep the link busy and share it.
#[test]
fn reno_and_cubic_fill_the_link_and_share_it() {
    for transport in ["reno", "cubic"] {
        for flows in [2u32, 8] {
            let (mut busy, mut fair) = (Vec::new(), Vec::new());
            for seed in 1..=3 {
                // 1 Gb/s for 1.2 ms: 150 KB, 100 packets.
                let switch = "buffer = \"150KB\"\n[policy]\nkind = \"cs\"";
                let own = format!("[transport.{transport}]");
                let result = run(&dumbbell(seed, flows, 1, "600us", "2s", switch, &own));
                busy.push(port(&result, 0, flows).utilization);
                let goodput: Vec<f64> = result.flows.iter().map(|flow| f64::from(flow.received)).collect();
                fair.push(jain(&goodput));
            }
            println!("{transport} N={flows}: utilization {busy:.4?}, Jain {fair:.4?}");
            assert!(busy.iter().all(|share| *share > 0.95), "{transport} {flows}: {busy:?}");
            assert!(fair.iter().all(|index| *index > 0.9), "{transport} {flows}: {fair:?}");
        }
    }
}

const NDP: &str = r#"
    [switch]
    buffer = "4MB"
    queues = 2
    queue_capacity = 8
    [policy]
    kind = "cs"
    [scheduler]
    kind = "strict"
    [trim]
    kind = "ndp"
    [nic]
    kind = "managed"
    buffer = "100MB"
    queues = 2
    [nic.policy]
    kind = "cs"
    [nic.scheduler]
    kind = "strict"
    [transport.ndp]
    initial_window = 30
    ack_class = 0
    "#;

/// Handley et al. 2017: with trimming and pulls an incast of any size takes as long as the last link needs for the
/// data. Some headers do not fit their queue when 64 hosts and more start at once; nothing is returned to senders here,
/// so timers see to them, and as there is always enough else to send, they cost nothing. The headers themselves take
/// 1.3% of the link.
#[test]
fn ndp_incasts_take_the_time_of_the_last_link() {
    for fan_in in [8u32, 64, 127] {
        let text = format!(
            "duration = \"1us\"\ndrain = \"1s\"\n[topology]\nkind = \"single\"\nhosts = {}\nrate = \"10Gbps\"\n\
             delay = \"1us\"\n{NDP}\n\
             [[workload]]\nkind = \"incast\"\narrivals = \"once\"\nhosts = [0]\nrequest = {}\nfan_in = {fan_in}\n\
             class = 1\n",
            fan_in + 1,
            u64::from(fan_in) * 100 * 1_460
        );
        let result = run(&text);
        // The first packet arrives at the switch, all follow on the last link, and the last bit travels it.
        let packet = 1_200_000;
        let optimum = packet + 1_000_000 + u64::from(fan_in) * 100 * packet + 1_000_000;
        let last = result.flows.iter().map(|flow| flow.end.ps()).max().unwrap();
        let first = result.flows.iter().map(|flow| flow.end.ps()).min().unwrap();
        let timeouts: u32 = result.flows.iter().map(|flow| flow.timeouts).sum();
        let drops = common::dropped(&result);
        println!(
            "NDP {fan_in}-to-1: last {:.4} of the optimum, first {:.3}, {timeouts} timeouts, {drops} drops",
            last as f64 / optimum as f64,
            first as f64 / optimum as f64
        );
        assert_eq!((result.queries[0].end.ps(), result.queries[0].ideal.ps()), (last, optimum));
        assert!(last >= optimum, "{fan_in}: {last} {optimum}");
        assert!((last as f64) < 1.05 * optimum as f64, "{fan_in}: {last} {optimum}");
    }
}

/// A long flow, a burst of ten short ones at 3 ms, and the queue over time: before, and from 1 ms after the burst
/// began. What the burst sends in its first round trip no transport can take back: 500 KB, which the link carries in
/// 160 us.
///
/// Addanki et al. 2022 hold that PowerTCP's queue is near zero in between and that the link stays busy. Theta-PowerTCP
/// sees delays alone: once the round trip is the base RTT again it knows of no free bandwidth, and its window grows by
/// `gamma` times the additive step a round trip. With the default of 100 Mb/s it takes 357 round trips to 25 Gb/s (the
/// link is then used to 72% in these 10 ms); with a tenth of the link's rate, the paper's step for 10 flows, it takes
/// 14, and the queue holds one such step. TIMELY (Mittal et al. 2015) keeps delays between 50 us and 500 us: at 25
/// Gb/s, up to 1.4 MB.
#[test]
fn delay_and_power_keep_the_queue_short() {
    let transports =
        [("powertcp", "", 3_000), ("theta-powertcp", "additive = \"2.5Gbps\"", 15_000), ("timely", "", 1_500_000)];
    for (transport, own, most) in transports {
        let text = format!(
            r#"
            duration = "10ms"
            drain = "1us"
            [topology]
            kind = "single"
            hosts = 12
            rate = "25Gbps"
            delay = "5us"
            [switch]
            buffer = "8MB"
            [policy]
            kind = "cs"
            [transport.{transport}]
            {own}
            [[workload]]
            kind = "long-lived"
            pairs = [[1, 0]]
            [[workload]]
            kind = "incast"
            arrivals = "once"
            hosts = [0]
            from = "2-11"
            request = "500KB"
            fan_in = 10
            start = "3ms"
            [measure]
            sample = "1us"
            timeline = "all"
            "#
        );
        let result = run(&text);
        let p99 = |from: u64, to: u64| {
            let within = result.timeline.iter().filter(|sample| (us(from)..us(to)).contains(&sample.at.ps()));
            let mut bytes: Vec<u64> = within.map(|sample| sample.longest_bytes.get()).collect();
            bytes.sort_unstable();
            bytes[bytes.len() * 99 / 100]
        };
        let (before, after) = (p99(1_000, 3_000), p99(4_000, 10_000));
        let busy = port(&result, 0, 0).utilization;
        let burst = result.queries[0].end;
        println!(
            "{transport}: p99 of the queue {before} B before and {after} B after, utilization {busy:.4}, burst done \
             at {burst}"
        );
        assert!(before.max(after) <= most, "{transport}: {before} {after}");
        assert!(busy > 0.9, "{transport}: {busy}");
        assert!(burst.ps() < us(4_000), "{transport}: {burst}");
    }
}

/// Alizadeh et al. 2013: with priorities by what is left, short flows hardly see the long ones. A packet that is being
/// sent is not interrupted: a short flow may wait for one at each of its two links.
#[test]
fn pfabric_lets_short_flows_pass() {
    let text = r#"
        duration = "2ms"
        drain = "100ms"
        [topology]
        kind = "single"
        hosts = 10
        rate = "10Gbps"
        delay = "2us"
        [switch]
        buffer = "8MB"
        [policy]
        kind = "cs"
        [scheduler]
        kind = "pifo"
        capacity = 24
        [transport.pfabric]
        rto = "45us"
        "#;
    let mut flows: Vec<_> = (1..=4).map(|host| flow(0, host, 0, 3_000_000)).collect();
    // Short flows of one to ten packets from other hosts, one after the other.
    flows.extend((0..40u64).map(|n| flow(us(100) + n * us(41), 5 + (n % 5) as u32, 0, 1_460 * (1 + n % 10))));
    let result = run_flows(text, &flows);
    assert!(result.flows.iter().all(FlowRecord::is_complete));
    let short: Vec<_> = result.flows.iter().filter(|flow| flow.spec.bytes < 100_000).collect();
    let worst = short.iter().map(|flow| flow.slowdown().unwrap()).fold(0.0, f64::max);
    let long = result.flows.iter().filter(|flow| flow.spec.bytes > 100_000).map(|flow| flow.end.ps()).max().unwrap();
    // 12 MB and what the short ones add, headers included, at 10 Gb/s.
    let bytes: u64 = result.flows.iter().map(|flow| flow.spec.bytes.div_ceil(1_460) * 40 + flow.spec.bytes).sum();
    let optimum = bytes * 800 + us(4);
    println!(
        "pFabric: worst slowdown of {} short flows {worst:.3}, long ones end at {:.4} of the optimum",
        short.len(),
        long as f64 / optimum as f64
    );
    for flow in &short {
        let wait = flow.fct().unwrap().ps() - flow.ideal.ps();
        // One packet of 1500 bytes at the port to the receiver.
        assert!(wait <= 1_200_000, "{wait} {flow:?}");
        assert_eq!(flow.drops, 0);
    }
    assert!((long as f64) < 1.1 * optimum as f64, "{long} {optimum}");
}
