//! Pushout and Occamy: packets that wait give way to packets that come.

use crate::common;

use common::{Op, Outcome, apply, at, dt, is_queued, occamy, operations, packet, start, switch};
use forebay_tm::View as _;
use forebay_tm::admit::{PolicyConfig, PushoutConfig};
use forebay_tm::drive::{Driver, Observer};
use forebay_tm::{Departure, Eviction, Instant, Packet, Reason, Tm, TmConfig, Verdict};
use proptest::prelude::*;

fn longest(tm: &Tm, queues: usize) -> usize {
    // The lowest index on a tie.
    (0..queues).max_by_key(|queue| (tm.queue_bytes(*queue), std::cmp::Reverse(*queue))).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Pushout takes what fits without a loss. Otherwise it takes from the longest queue, one packet after the other,
    /// until the packet fits or its own queue is the longest; only then is it rejected.
    #[test]
    fn pushout_only_acts_on_the_longest_queue(buffer in 1_500u64..20_000, ops in operations(3, 2, 150)) {
        let mut config = switch(3, 2, buffer);
        config.scheduler = forebay_tm::schedule::SchedulerConfig::RoundRobin;
        config.policy = PolicyConfig::Pushout(PushoutConfig {});
        let mut tm = start(&config);
        let mut now = 0;
        for op in &ops {
            now += op.after();
            let before = tm.clone();
            let mut outcomes = Vec::new();
            apply(&mut tm, at(now), op, &mut outcomes);
            let Op::Arrive { packet, .. } = op else {
                prop_assert!(!outcomes.iter().any(|outcome| matches!(outcome, Outcome::Lost(_))));
                continue;
            };
            let own = tm.queue_index(packet.port as usize, packet.queue as usize);
            let mut lengths: Vec<u64> = (0..6).map(|queue| before.queue_bytes(queue).get()).collect();
            let mut used: u64 = lengths.iter().sum();
            let charge = u64::from(packet.bytes);
            for outcome in &outcomes {
                let top = (0..6).max_by_key(|queue| (lengths[*queue], std::cmp::Reverse(*queue))).unwrap();
                match outcome {
                    Outcome::Lost(lost) => {
                        prop_assert!(used + charge > buffer, "nothing is pushed out while the packet fits");
                        prop_assert_eq!((lost.reason, lost.queue), (Reason::PushedOut, top));
                        prop_assert_ne!(top, own);
                        prop_assert_eq!(lost.length.get(), lengths[top]);
                        lengths[top] -= u64::from(lost.bytes);
                        used -= u64::from(lost.bytes);
                    }
                    Outcome::Arrived(Verdict::Queued { .. }) => prop_assert!(used + charge <= buffer),
                    Outcome::Arrived(verdict) if charge > buffer => {
                        prop_assert_eq!(*verdict, Verdict::Dropped { reason: Reason::Oversize });
                    }
                    Outcome::Arrived(verdict) => {
                        prop_assert_eq!(*verdict, Verdict::Dropped { reason: Reason::Full });
                        prop_assert!(used + charge > buffer);
                        prop_assert_eq!(top, own);
                        prop_assert_eq!(top, longest(&tm, 6));
                    }
                    Outcome::Sent(_) => unreachable!("an arrival sends nothing"),
                }
            }
        }
    }

    /// Without tokens Occamy is DT: every verdict, every departure, every length.
    #[test]
    fn occamy_without_a_bucket_is_dt(
        buffer in 1_500u64..20_000, alpha in 0.1f64..16.0, cell in 1u64..300, ops in operations(3, 2, 150),
    ) {
        let switches = [occamy(alpha, 0), dt(alpha)].map(|policy| TmConfig {
            policy,
            cell: common::bytes(cell),
            scheduler: forebay_tm::schedule::SchedulerConfig::RoundRobin,
            ..switch(3, 2, buffer)
        });
        let mut tms = switches.each_ref().map(start);
        let (mut now, mut outcomes) = (0, [Vec::new(), Vec::new()]);
        for op in &ops {
            now += op.after();
            for (tm, outcomes) in tms.iter_mut().zip(&mut outcomes) {
                apply(tm, at(now), op, outcomes);
            }
            prop_assert_eq!(&outcomes[0], &outcomes[1]);
            prop_assert!((0..6).all(|queue| tms[0].queue_bytes(queue) == tms[1].queue_bytes(queue)));
        }
    }
}

// ---- A burst against a long-lived queue (Occamy sections 2 and 6.1) -----------------------------------------------

const LENGTH: u32 = 1_000;
/// 1000 bytes at 10 Gb/s.
const SLOT_PS: u64 = 800_000;
const BUFFER_PACKETS: u64 = 1_000;
const BURST_PACKETS: u64 = 800;

/// Losses of the burst (ids from 1,000,000 on), and the lengths when it was first refused a packet.
#[derive(Default)]
struct Burst {
    lost: u64,
    /// Packets of the burst that had been admitted before the first was lost.
    first_loss: Option<u64>,
    admitted: u64,
}

impl Burst {
    fn lose(&mut self) {
        self.lost += 1;
        self.first_loss.get_or_insert(self.admitted);
    }
}

impl Observer for Burst {
    fn arrived(&mut self, _: Instant, packet: &Packet, verdict: Verdict) {
        if packet.id.0 >= 1_000_000 {
            if is_queued(verdict) {
                self.admitted += 1;
            } else {
                self.lose();
            }
        }
    }
    fn started(&mut self, _: Instant, _: usize, _: &Departure, _: Instant) {}
    fn evicted(&mut self, eviction: Eviction) {
        if eviction.id.0 >= 1_000_000 {
            self.lose();
        }
    }
}

/// Long-lived traffic at twice the rate of port 0 until its queue is as long as it gets; then, while that goes on, a
/// burst at ten times the rate of port 1, as from a 100 Gb/s link to a 10 Gb/s port.
fn burst(policy: PolicyConfig) -> Burst {
    // Eight ports, as in the testbed: the six idle ones leave memory bandwidth unused.
    let mut config = switch(8, 1, BUFFER_PACKETS * u64::from(LENGTH));
    config.policy = policy;
    let mut driver = Driver::new(start(&config));
    let mut seen = Burst::default();
    let warm_up = 2 * BUFFER_PACKETS + 200;
    let mut id = 0;
    for tenth in 0..10 * warm_up + BURST_PACKETS {
        let now = at(tenth * SLOT_PS / 10);
        if tenth % 5 == 0 {
            id += 1;
            driver.arrive(now, &packet(id, 0, 0, LENGTH), &mut seen).unwrap();
        }
        if tenth >= 10 * warm_up {
            driver.arrive(now, &packet(1_000_000 + tenth, 1, 0, LENGTH), &mut seen).unwrap();
        }
    }
    driver.finish(&mut seen).unwrap();
    seen
}

/// With tokens to spare Occamy lets the burst have its fair share, `alpha*B / (1 + 2*alpha)` (eq. 2 with N = 2), before
/// it loses a packet; Pushout lets it have half of the buffer. So Occamy loses `B / (2*(1 + 2*alpha))` packets more,
/// and that is all: 29 of 1000 with alpha 8.
#[test]
fn occamy_loses_little_more_of_a_burst_than_pushout() {
    let pushout = burst(PolicyConfig::Pushout(PushoutConfig {}));
    println!("pushout: lost {} of {BURST_PACKETS}, the first after {:?}", pushout.lost, pushout.first_loss);
    // Thresholds move in steps of alpha packets here, since `B - Q` is a number of packets: larger alphas come out
    // coarse.
    for alpha in [2.0, 4.0, 8.0] {
        let unlimited = burst(occamy(alpha, 1 << 40));
        println!("occamy, alpha {alpha}: lost {}, the first after {:?}", unlimited.lost, unlimited.first_loss);
        let less_room = BUFFER_PACKETS as f64 / (2.0 * (1.0 + 2.0 * alpha));
        let more = unlimited.lost as f64 - pushout.lost as f64;
        assert!((more - less_room).abs() <= 3.0, "alpha {alpha}: lost {more} more, {less_room} expected");
    }
    // DT, without expulsion, refuses the burst before its fair share of 470 packets, and the sooner the larger alpha
    // is.
    let mut last = u64::MAX;
    for alpha in [1.0, 2.0, 4.0, 8.0] {
        let dt = burst(dt(alpha));
        println!("dt, alpha {alpha}: lost {}, the first after {:?}", dt.lost, dt.first_loss);
        let first = dt.first_loss.expect("the burst is larger than its share");
        assert!(first < last);
        last = first;
    }
    let limited = burst(occamy(8.0, 64));
    println!("occamy, alpha 8, bucket 64: lost {}, the first after {:?}", limited.lost, limited.first_loss);
    // Eight ports' bandwidth less two: the long queue gives way six times as fast as its port sends.
    assert!(
        limited.first_loss.unwrap() > 2 * last,
        "with the testbed's bucket Occamy takes in more than twice as much"
    );
    assert!(burst(dt(8.0)).lost > 2 * limited.lost);
}
