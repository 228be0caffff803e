//! Settings change while packets wait: all at once or not at all, from the very next packet on, with the accounts
//! intact.

use crate::common;

use common::{Op, apply, at, bytes, dt, is_queued, offer, operations, packet, send, start, switch, switches_of};
use forebay_tm::View as _;
use forebay_tm::admit::{CompleteSharingConfig, PolicyConfig, PushoutConfig};
use forebay_tm::described::Choice;
use forebay_tm::drive::{Driver, Observer};
use forebay_tm::mark::{MarkAction, MarkConfig, StepConfig};
use forebay_tm::schedule::{PieoConfig, PifoConfig, SchedulerConfig, WrrConfig};
use forebay_tm::trim::{NdpConfig, TrimConfig};
use forebay_tm::{Departure, Eviction, Instant, Packet, PerQueue, Rate, Reason, Tm, TmConfig, Verdict, Wire};
use proptest::collection::vec;
use proptest::prelude::*;

/// A switch, other configurations of the same size, and operations with the places at which each is tried.
fn changes() -> impl Strategy<Value = (TmConfig, Vec<(usize, TmConfig)>, Vec<Op>)> {
    (1usize..=3, 1usize..=3).prop_flat_map(|(ports, queues)| {
        (
            switches_of(ports, queues),
            vec((0usize..120, switches_of(ports, queues)), 1..5),
            operations(ports, queues, 120),
        )
            .prop_map(|(config, others, ops)| {
                let fit = |(place, mut other): (usize, TmConfig)| {
                    other.buffer = config.buffer;
                    other.cell = config.cell;
                    other.cell_pointers = config.cell_pointers;
                    (place, other)
                };
                (config.clone(), others.into_iter().map(fit).collect(), ops)
            })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever changes into whatever else: the accounts stay right. A change that is refused changes nothing, now or
    /// later.
    #[test]
    fn changes_keep_the_accounts((config, others, ops) in changes()) {
        let mut tm = start(&config);
        // What it would have been without the refused changes.
        let mut untouched = tm.clone();
        let mut now = 0;
        for (i, op) in ops.iter().enumerate() {
            for (_, other) in others.iter().filter(|(place, _)| *place == i) {
                let in_order = |tm: &Tm| tm.config().scheduler.keeps_order();
                let before = (tm.config().clone(), tm.pool_counters(), in_order(&tm));
                match tm.reconfigure(other.clone()) {
                    Ok(()) => {
                        prop_assert_eq!(&**tm.config(), other);
                        prop_assert!(untouched.reconfigure(other.clone()).is_ok());
                    }
                    Err(error) => {
                        prop_assert_eq!(tm.config(), &before.0);
                        let sorts = !before.2 || !in_order(&start(other));
                        let headers = (0..config.rates.len()).any(|port| tm.header_packets(port) > 0);
                        prop_assert!(sorts && tm.used().get() > 0 || headers, "{}", error);
                    }
                }
                prop_assert_eq!(tm.pool_counters(), before.1);
                prop_assert!(tm.is_consistent());
            }
            now += op.after();
            let mut outcomes = [Vec::new(), Vec::new()];
            apply(&mut tm, at(now), op, &mut outcomes[0]);
            apply(&mut untouched, at(now), op, &mut outcomes[1]);
            prop_assert_eq!(&outcomes[0], &outcomes[1]);
            prop_assert!(tm.is_consistent());
            prop_assert!(tm.used() <= config.buffer);
        }
    }

    /// The configuration that is in force already changes nothing.
    #[test]
    fn the_same_again_changes_nothing((config, others, ops) in changes()) {
        let mut tm = start(&config);
        let mut untouched = tm.clone();
        let mut now = 0;
        for (i, op) in ops.iter().enumerate() {
            if others.iter().any(|(place, _)| *place == i) {
                tm.reconfigure(config.clone()).unwrap();
            }
            now += op.after();
            let mut outcomes = [Vec::new(), Vec::new()];
            apply(&mut tm, at(now), op, &mut outcomes[0]);
            apply(&mut untouched, at(now), op, &mut outcomes[1]);
            prop_assert_eq!(&outcomes[0], &outcomes[1]);
        }
    }
}

// ---- The very next packet -----------------------------------------------------------------------------------------

const NOW: Instant = Instant::ZERO;

fn with(config: &TmConfig, change: impl FnOnce(&mut TmConfig)) -> TmConfig {
    let mut config = config.clone();
    change(&mut config);
    config
}

fn fill(tm: &mut Tm, port: usize, queue: usize) {
    while is_queued(offer(tm, NOW, &packet(0, port, queue, 1_000))) {}
}

#[test]
fn a_new_alpha_applies_to_the_next_packet() {
    let config = with(&switch(2, 1, 60_000), |config| config.policy = dt(1.0));
    let mut tm = start(&config);
    fill(&mut tm, 0, 0);
    assert_eq!(tm.used(), bytes(30_000));
    tm.reconfigure(with(&config, |config| config.policy = dt(1.1))).unwrap();
    // 31 KB against 1.1 * 30 KB.
    assert!(is_queued(offer(&mut tm, NOW, &packet(0, 0, 0, 1_000))));
    tm.reconfigure(with(&config, |config| config.policy = dt(0.03))).unwrap();
    // 0.03 * 29 KB is less than a packet, for the empty queue, too.
    let rejected = Verdict::Dropped { reason: Reason::Threshold };
    assert_eq!(offer(&mut tm, NOW, &packet(0, 1, 0, 1_000)), rejected);
    tm.reconfigure(with(&config, |config| config.policy = PolicyConfig::CompleteSharing(CompleteSharingConfig {})))
        .unwrap();
    fill(&mut tm, 1, 0);
    assert_eq!(tm.used(), bytes(60_000));
    assert!(tm.is_consistent());
}

#[test]
fn a_new_policy_knows_what_waits_already() {
    let config =
        with(&switch(3, 1, 60_000), |config| config.policy = PolicyConfig::CompleteSharing(CompleteSharingConfig {}));
    let mut tm = start(&config);
    (0..40).for_each(|_| assert!(is_queued(offer(&mut tm, NOW, &packet(0, 0, 0, 1_000)))));
    (0..20).for_each(|_| assert!(is_queued(offer(&mut tm, NOW, &packet(0, 1, 0, 1_000)))));
    // Pushout knows the longest queue, though it saw none of these packets come.
    tm.reconfigure(with(&config, |config| config.policy = PolicyConfig::Pushout(PushoutConfig {}))).unwrap();
    assert!(is_queued(tm.offer(NOW, &packet(0, 2, 0, 1_000), Wire::Busy).verdict()));
    assert_eq!(tm.drain_evictions().map(|lost| lost.queue).collect::<Vec<_>>(), [0]);
    // FB counts three queues.
    tm.reconfigure(with(&config, |config| config.policy = PolicyConfig::by_name("fb").unwrap())).unwrap();
    assert_eq!(tm.threshold(1).unwrap().n, Some(3.0));
    // Occamy sees at once who is over-allocated.
    tm.reconfigure(with(&config, |config| config.policy = common::occamy(1.0, 64))).unwrap();
    tm.advance(NOW);
    let reasons: Vec<Reason> = tm.drain_evictions().map(|lost| lost.reason).collect();
    // 64 tokens, 5 for a packet of 1000 bytes.
    assert_eq!(reasons, [Reason::Expelled; 12]);
    assert!(tm.is_consistent());
}

#[test]
fn new_weights_apply_to_the_next_round() {
    let weights = |weights: [u32; 2]| {
        SchedulerConfig::WeightedRoundRobin(WrrConfig { weights: PerQueue::Each(weights.to_vec()) })
    };
    let config = with(&switch(1, 2, 1_000_000), |config| config.scheduler = weights([1, 1]));
    let mut tm = start(&config);
    (0..100).for_each(|i| assert!(is_queued(offer(&mut tm, NOW, &packet(0, 0, i % 2, 1_000)))));
    let picks = |tm: &mut Tm, n: usize| -> Vec<usize> {
        (0..n).map(|_| send(tm, NOW, 0).unwrap().queue().unwrap().into()).collect()
    };
    assert_eq!(picks(&mut tm, 4), [0, 1, 0, 1]);
    tm.reconfigure(with(&config, |config| config.scheduler = weights([3, 1]))).unwrap();
    assert_eq!(picks(&mut tm, 8), [0, 0, 0, 1, 0, 0, 0, 1]);
    tm.reconfigure(with(&config, |config| config.scheduler = SchedulerConfig::Strict)).unwrap();
    assert_eq!(picks(&mut tm, 5), [0; 5]);
    assert!(tm.is_consistent());
}

#[test]
fn a_new_ecn_threshold_applies_to_the_next_packet() {
    let step = |threshold| Some(MarkConfig::Step(StepConfig { threshold: bytes(threshold), action: MarkAction::Mark }));
    let config = with(&switch(1, 1, 60_000), |config| config.mark = step(5_000));
    let mut tm = start(&config);
    let capable = Packet { ect: true, ..packet(0, 0, 0, 1_000) };
    (0..5).for_each(|_| assert_eq!(offer(&mut tm, NOW, &capable), Verdict::Queued { marked: false }));
    assert_eq!(offer(&mut tm, NOW, &capable), Verdict::Queued { marked: true });
    tm.reconfigure(with(&config, |config| config.mark = step(6_001))).unwrap();
    assert_eq!(offer(&mut tm, NOW, &capable), Verdict::Queued { marked: false });
    assert_eq!(offer(&mut tm, NOW, &capable), Verdict::Queued { marked: true });
    tm.reconfigure(with(&config, |config| config.mark = None)).unwrap();
    assert_eq!(offer(&mut tm, NOW, &capable), Verdict::Queued { marked: false });
}

#[derive(Default)]
struct Ends(Vec<u64>);

impl Observer for Ends {
    fn arrived(&mut self, _: Instant, _: &Packet, _: Verdict) {}
    fn started(&mut self, _: Instant, _: usize, _: &Departure, end: Instant) {
        self.0.push(end.ps());
    }
    fn evicted(&mut self, eviction: Eviction) {
        panic!("{eviction:?}");
    }
}

#[test]
fn a_new_rate_applies_to_what_is_left_of_a_packet_on_the_wire() {
    let config = switch(1, 1, 60_000);
    let mut driver = Driver::new(start(&config));
    let mut ends = Ends::default();
    for id in 0..3 {
        driver.arrive(NOW, &packet(id, 0, 0, 1_250), &mut ends).unwrap();
    }
    driver.reconfigure(with(&config, |config| config.rates = vec![Rate::from_gbps(1)])).unwrap();
    driver.finish(&mut ends).unwrap();
    // The first began at 10 Gb/s, and has all of it to go at 1 Gb/s, like the others.
    assert_eq!(ends.0, [1_000_000, 20_000_000, 30_000_000]);
}

// ---- What is refused ----------------------------------------------------------------------------------------------

fn refused(tm: &mut Tm, config: TmConfig) -> &'static str {
    let before = tm.config().clone();
    let error = tm.reconfigure(config).expect_err("it should be refused");
    assert_eq!(*tm.config(), before);
    assert!(!error.problem.is_empty() && !error.remedy.is_empty(), "{error}");
    error.field
}

#[test]
fn the_shape_of_a_switch_stays() {
    let config = with(&switch(2, 2, 60_000), |config| config.scheduler = SchedulerConfig::RoundRobin);
    let mut tm = start(&config);
    assert_eq!(refused(&mut tm, with(&config, |config| config.rates.push(Rate::from_gbps(10)))), "ports");
    assert_eq!(refused(&mut tm, with(&config, |config| config.queues = 3)), "queues");
    assert_eq!(refused(&mut tm, with(&config, |config| config.buffer = bytes(60_001))), "buffer");
    assert_eq!(refused(&mut tm, with(&config, |config| config.cell = bytes(2))), "cell");
    assert_eq!(refused(&mut tm, with(&config, |config| config.cell_pointers = true)), "cell_pointers");
    // Also what no switch could be.
    assert_eq!(refused(&mut tm, with(&config, |config| config.policy = dt(-1.0))), "policy.alpha");
    assert_eq!(refused(&mut tm, with(&config, |config| config.policy = dt(f64::NAN))), "policy.alpha");
    assert_eq!(refused(&mut tm, with(&config, |config| config.scheduler = SchedulerConfig::Fifo)), "queues");
    assert_eq!(refused(&mut tm, with(&config, |config| config.queue_capacity = Some(0))), "queue_capacity");
}

#[test]
fn sorting_begins_and_ends_while_nothing_waits() {
    let fifo = switch(1, 1, 60_000);
    let pifo = with(&fifo, |config| config.scheduler = SchedulerConfig::Pifo(PifoConfig { capacity: 10 }));
    let pieo = with(&fifo, |config| config.scheduler = SchedulerConfig::Pieo(PieoConfig { capacity: 10 }));
    let mut tm = start(&fifo);
    for (from, to) in [(&fifo, &pifo), (&pifo, &pieo), (&pieo, &fifo)] {
        tm.reconfigure(from.clone()).unwrap();
        assert!(is_queued(offer(&mut tm, NOW, &packet(1, 0, 0, 1_000))));
        assert_eq!(refused(&mut tm, to.clone()), "scheduler.kind");
        assert!(send(&mut tm, NOW, 0).is_some());
        tm.reconfigure(to.clone()).unwrap();
    }
    // Within PIFO the capacity may change, also below what waits: nothing is thrown away, but nothing worse gets in.
    tm.reconfigure(pifo.clone()).unwrap();
    let ranked = |rank| Packet { rank, ..packet(rank, 0, 0, 1_000) };
    (3..6).for_each(|rank| assert!(is_queued(offer(&mut tm, NOW, &ranked(rank)))));
    tm.reconfigure(with(&pifo, |config| config.scheduler = SchedulerConfig::Pifo(PifoConfig { capacity: 2 }))).unwrap();
    assert_eq!(offer(&mut tm, NOW, &ranked(5)), Verdict::Dropped { reason: Reason::Rank });
    assert!(is_queued(tm.offer(NOW, &ranked(1), Wire::Busy).verdict()));
    assert_eq!(tm.drain_evictions().map(|lost| lost.id.0).collect::<Vec<_>>(), [5]);
    let left: Vec<u64> = std::iter::from_fn(|| send(&mut tm, NOW, 0)).map(|departure| departure.id.0).collect();
    assert_eq!(left, [1, 3, 4]);
}

#[test]
fn a_header_queue_is_not_taken_away_from_headers() {
    let plain = with(&switch(1, 1, 60_000), |config| config.queue_capacity = Some(1));
    let ndp = with(&plain, |config| config.trim = Some(TrimConfig::Ndp(NdpConfig::default())));
    let mut tm = start(&ndp);
    (0..2).for_each(|id| {
        offer(&mut tm, NOW, &packet(id, 0, 0, 1_000));
    });
    assert_eq!(tm.header_packets(0), 1);
    assert_eq!(refused(&mut tm, plain.clone()), "trim");
    assert!(send(&mut tm, NOW, 0).unwrap().is_header());
    tm.reconfigure(plain).unwrap();
    assert!(!send(&mut tm, NOW, 0).unwrap().is_header());
}
