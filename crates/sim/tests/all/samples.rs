//! Samples over time: of queues and of flows.

use crate::common;

use common::{run, run_flows};
use forebay_sim::flow::FlowSpec;
use forebay_sim::measure::{QueueSample, RunResult};
use forebay_sim::transport::FlowInfo;
use forebay_tm::{Bytes, Instant};
use std::collections::BTreeMap;

/// Eight hosts at a switch with two buffers and two queues a port.
fn text(transport: &str, workloads: &str, measure: &str) -> String {
    format!(
        r#"
        duration = "300us"
        drain = "100ms"
        [topology]
        kind = "single"
        hosts = 8
        rate = "10Gbps"
        delay = "1us"
        [switch]
        buffer = "40KB"
        ports_per_buffer = 5
        queues = 2
        [policy]
        kind = "dt"
        alpha = 1.0
        [scheduler]
        kind = "drr"
        [trim]
        [transport.{transport}]
        {workloads}
        [measure]
        sample = "3us"
        {measure}
        "#
    )
}

const INCAST_AND_COPIES: &str = r#"
    [[workload]]
    kind = "incast"
    request = "100KB"
    rate = 20_000
    class = 1
    [[workload]]
    name = "copies"
    kind = "permutation"
    bytes = 30_001
    "#;

/// The queues of a buffer add up to what it holds, and the longest of them and its threshold are those of the timeline.
#[test]
fn queues_add_up_to_the_buffer() {
    // With bursts that are not paced, so that queues are long.
    let scenario = text("dctcp", INCAST_AND_COPIES, "timeline = \"all\"\nqueues = \"all\"");
    let result = run(&format!("stack = \"rfc\"\n{scenario}"));
    let mut queues: BTreeMap<(Instant, u32), Vec<QueueSample>> = BTreeMap::new();
    for sample in &result.queue_timeline {
        queues.entry((sample.at, sample.port / 5)).or_default().push(*sample);
    }
    let mut busy = 0;
    for sample in &result.timeline {
        let of_buffer = queues.get(&(sample.at, sample.buffer)).map_or(&[][..], Vec::as_slice);
        assert_eq!(of_buffer.iter().map(|queue| queue.bytes.get()).sum::<u64>(), sample.used.get(), "{sample:?}");
        if sample.used > Bytes::ZERO {
            busy += 1;
            let longest = of_buffer.iter().find(|queue| (queue.port, queue.queue) == sample.longest).unwrap();
            assert_eq!((longest.bytes, longest.threshold), (sample.longest_bytes, sample.threshold), "{sample:?}");
        }
    }
    assert!(busy > 50, "{busy}");
    // From its first packet on a queue is in every sample.
    let last = result.queue_timeline.iter().filter(|sample| sample.at == result.timeline.last().unwrap().at);
    let offered = result.places.iter().filter(|place| place.queue.is_some() && place.counters.offered.packets > 0);
    assert_eq!(last.count(), offered.count());
}

/// The samples of each flow: they grow, and the last says the flow's size if it is complete.
fn check_progress(what: &str, result: &RunResult) -> usize {
    let mut samples: BTreeMap<u32, Vec<(Instant, u64)>> = BTreeMap::new();
    for sample in &result.progress {
        samples.entry(sample.flow).or_default().push((sample.at, sample.bytes));
    }
    for (number, samples) in &samples {
        let flow = &result.flows[*number as usize];
        assert!(samples.is_sorted() && samples[0].0 > flow.spec.start, "{what}: {samples:?}");
        let (at, bytes) = *samples.last().unwrap();
        if flow.end == Instant::NEVER {
            assert!(at == result.end && bytes < flow.spec.bytes, "{what}: {bytes} of {flow:?}");
        } else {
            assert!(at > flow.end && bytes == flow.spec.bytes, "{what}: {bytes} of {flow:?}");
            assert!(samples.iter().filter(|(at, _)| *at > flow.end).count() == 1, "{what}: {samples:?}");
        }
    }
    samples.len()
}

#[test]
fn progress_ends_at_the_size_of_the_flow() {
    for transport in ["reno", "dctcp", "timely", "powertcp", "pfabric", "ndp", "udp"] {
        let all = run(&text(transport, INCAST_AND_COPIES, "progress = \"all\""));
        assert_eq!(check_progress(transport, &all), all.flows.len(), "{transport}");
        let some = run(&text(transport, INCAST_AND_COPIES, "progress = [\"copies\"]"));
        assert_eq!(check_progress(transport, &some), 8, "{transport}");
        assert!(some.progress.iter().all(|sample| all.progress.contains(sample)), "{transport}");
    }
}

/// The flows of closed-loop clients, whose numbers are only known at the end.
#[test]
fn progress_of_requests_and_responses() {
    let workload = r#"
        [[workload]]
        kind = "request-response"
        clients = "0-3"
        servers = "4-7"
        request = 100
        sizes = { uniform = ["1KB", "50KB"] }
        think = "5us"
        "#;
    let result = run(&text("dctcp", workload, "progress = \"all\""));
    let started = result.flows.iter().filter(|flow| flow.spec.start < result.end).count();
    assert_eq!(check_progress("request-response", &result), started);
    assert!(started > 50, "{started}");
}

/// Packets that arrive in any order are counted with the payload that they have: here the last, short one comes early.
#[test]
fn progress_counts_payload() {
    let text =
        text("udp", "", "progress = \"all\"").replace("[transport.udp]", "[transport.udp]\nsizes = \"exponential\"");
    let spec =
        FlowSpec { dst: 1, bytes: FlowInfo::ENDLESS, until: Instant::from_ps(200_000_000), ..FlowSpec::default() };
    let result = run_flows(&text, &[spec]);
    let received = result.flows[0].received;
    let bytes = result.progress.last().unwrap().bytes;
    let wire = result.places.iter().find(|place| place.port.is_none()).unwrap().counters.sent.bytes;
    assert_eq!(bytes, wire - 40 * u64::from(received));
}
