//! Simultaneous events: nobody is always first.

use crate::common;

use common::run;
use forebay_sim::measure::RunResult;

const SENDERS: usize = 16;

/// Rounds of an incast in which the packets of all senders arrive at the same instants at a port whose queue is too
/// short: from each round `16 x 4` packets, a queue of 20.
fn rounds(seed: u64) -> RunResult {
    run(&format!(
        r#"
        seed = {seed}
        duration = "40ms"
        drain = "1ms"
        [topology]
        kind = "single"
        hosts = {}
        rate = "10Gbps"
        delay = "1us"
        [switch]
        buffer = "30KB"
        [policy]
        kind = "cs"
        [transport.udp]
        [[workload]]
        kind = "incast"
        request = {}
        fan_in = {SENDERS}
        arrivals = "periodic"
        rate = 10000
        hosts = [0]
        "#,
        SENDERS + 1,
        SENDERS * 4 * 1_460
    ))
}

fn drops_by_sender(result: &RunResult) -> Vec<u64> {
    let mut drops = vec![0; SENDERS];
    for flow in &result.flows {
        drops[flow.spec.src as usize - 1] += u64::from(flow.drops);
    }
    drops
}

/// Drops are spread evenly: chi square over the senders, with 15 degrees of freedom. The drops of a round are drawn
/// without replacement, at most 4 of a sender, which makes the counts more even than independent draws; so the bound
/// for those, 37.7 at a probability of 0.001, is on the safe side.
#[test]
fn drops_are_spread_evenly() {
    let mut patterns = Vec::new();
    for seed in 1..=5 {
        let result = rounds(seed);
        let drops = drops_by_sender(&result);
        let all: u64 = drops.iter().sum();
        let expected = all as f64 / SENDERS as f64;
        let chi: f64 = drops.iter().map(|count| (*count as f64 - expected).powi(2) / expected).sum();
        println!("seed {seed}: {all} drops, chi square {chi:.1}, {drops:?}");
        assert_eq!(result.queries.len(), 400);
        assert!(all > 10_000, "{all}");
        assert!(chi < 37.7, "seed {seed}: {chi} {drops:?}");
        patterns.push(result.flows.iter().map(|flow| flow.drops).collect::<Vec<_>>());
    }
    for (place, pattern) in patterns.iter().enumerate() {
        assert!(!patterns[..place].contains(pattern), "who is dropped depends on the seed");
    }
}

/// Within a round, too, nobody is favoured for long: no sender loses more than its share in many rounds in a row.
#[test]
fn no_sender_is_always_first() {
    let result = rounds(9);
    // The sender that lost the least in each round, all that tie.
    let mut best = [0u32; SENDERS];
    for round in 0..result.queries.len() as u32 {
        let of = |sender: usize| {
            let flow =
                result.flows.iter().find(|flow| flow.spec.query == round && flow.spec.src as usize == sender + 1);
            flow.map_or(0, |flow| flow.drops)
        };
        let drops: Vec<u32> = (0..SENDERS).map(of).collect();
        let least = drops.iter().min().copied().unwrap_or(0);
        for (sender, drops) in drops.iter().enumerate() {
            best[sender] += u32::from(*drops == least);
        }
    }
    let most = best.iter().max().copied().unwrap_or(0);
    let least = best.iter().min().copied().unwrap_or(0);
    println!("rounds in which each sender was among the best: {best:?}");
    assert!(f64::from(most) < 1.6 * f64::from(least), "{best:?}");
}
