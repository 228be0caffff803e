//! Flows that wait for others: the time of a whole exchange in closed form.

use crate::common;

use common::run;
use forebay_sim::flow::FlowRecord;
use forebay_tm::Rate;

fn text(hosts: u32, workload: &str) -> String {
    format!(
        r#"
        duration = "1ms"
        drain = "1s"
        [topology]
        kind = "single"
        hosts = {hosts}
        rate = "10Gbps"
        delay = "1.5us"
        [switch]
        buffer = "64MB"
        [policy]
        kind = "cs"
        [transport.udp]
        [[workload]]
        {workload}
        "#
    )
}

/// How long so many bytes of payload take from one host to the other, in full packets of 1500 bytes and a last one.
fn alone(bytes: u64) -> u64 {
    let rate = Rate::from_gbps(10);
    let (full, last) = ((bytes - 1) / 1_460, (bytes - 1) % 1_460 + 1 + 40);
    let (full_time, last_time) = (rate.serialization(1_500).ps(), rate.serialization(last).ps());
    // All on the first link, and the last packet behind the full one before it on the second.
    let second = if full > 0 { full_time.max(last_time) - last_time } else { 0 } + last_time;
    full * full_time + last_time + second + 2 * 1_500_000
}

/// A ring of n hosts: 2 (n - 1) steps, each as long as a part of an n-th alone, as no two flows meet.
#[test]
fn an_all_reduce_over_a_ring() {
    for hosts in [2u64, 4, 8, 16] {
        for part in [1_460u64, 14_600, 100_001] {
            let bytes = hosts * part;
            let result = run(&text(hosts as u32, &format!("kind = \"all-reduce\"\nbytes = {bytes}")));
            let last = result.flows.iter().map(|flow| flow.end.ps()).max().unwrap();
            assert_eq!(result.flows.len() as u64, 2 * (hosts - 1) * hosts);
            assert_eq!(last, 2 * (hosts - 1) * alone(part), "{hosts} hosts, {part} bytes");
            assert!(result.flows.iter().all(|flow| flow.fct() == Some(flow.ideal)));
        }
    }
}

/// The next round waits for nothing but its time.
#[test]
fn rounds_of_all_reduce_keep_their_time() {
    let result = run(&text(4, "kind = \"all-reduce\"\nbytes = 40000\nevery = \"250us\""));
    let mut ends: Vec<u64> = result.flows.iter().map(|flow| flow.end.ps()).collect();
    ends.sort_unstable();
    assert_eq!(result.flows.len(), 4 * 24);
    for (round, ends) in ends.chunks(24).enumerate() {
        assert_eq!(ends[23], round as u64 * 250_000_000 + 6 * alone(10_000));
    }
}

/// A client and a server: request, response, thinking, and again. The rate is one over the sum.
#[test]
fn a_closed_loop_has_the_rate_of_its_round() {
    for (request, response, think_us) in [(100u64, 1_000u64, 0u64), (1_000, 20_000, 7), (1_460, 1_460, 50)] {
        let workload = format!(
            "kind = \"request-response\"\nclients = [0]\nservers = [1]\nrequest = {request}\nsizes = {response}\n\
             think = \"{think_us}us\"\nthink_time = \"constant\""
        );
        let result = run(&text(2, &workload));
        let round = alone(request) + alone(response) + think_us * 1_000_000;
        let rounds = 1_000_000_000u64.div_ceil(round);
        let requests: Vec<_> = result.flows.iter().filter(|flow| !flow.spec.is_response).collect();
        assert_eq!(requests.len() as u64, rounds, "{request} {response} {think_us}");
        for (number, flow) in requests.iter().enumerate() {
            assert_eq!(flow.spec.start.ps(), number as u64 * round);
        }
        assert_eq!(result.flows.len() as u64, 2 * rounds, "every request has its response");
        assert!(result.flows.iter().all(FlowRecord::is_complete));
    }
}

/// Requests to those who respond: the responses start when the request is there.
#[test]
fn a_query_with_requests_starts_later() {
    let workload = "kind = \"incast\"\narrivals = \"once\"\nhosts = [0]\nfrom = [1]\nfan_in = 1\nrequest = 14600\n\
     request_bytes = 500";
    let result = run(&text(2, workload));
    assert_eq!(result.queries[0].end.ps(), alone(500) + alone(14_600));
    assert_eq!(result.queries[0].ideal.ps(), alone(500) + alone(14_600));
}
