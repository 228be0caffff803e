//! Who leaves next: every departure is the one that the discipline names, and backlogged queues get their shares.

use crate::common;

use common::{
    Op, Outcome, apply, at, bytes, draw, drr, is_queued, offer, ordered_switches, packet, send, start, switch,
    with_operations,
};
use forebay_tm::View as _;
use forebay_tm::drive::{Driver, Observer};
use forebay_tm::random::Random;
use forebay_tm::schedule::{
    AfqConfig, DrrConfig, PieoConfig, PifoConfig, SchedulerConfig, SpPifoConfig, StrictOverDrrConfig, WrrConfig,
};
use forebay_tm::{Departure, Eviction, Instant, Packet, PacketId, PerQueue, Tm, Verdict, Wire};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::{BTreeMap, VecDeque};

const AMPLE: u64 = 1 << 40;

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

// ---- Order within a queue -----------------------------------------------------------------------------------------

proptest! {
    #![proptest_config(config(4_000))]

    /// With any policy, also those that take packets out of the middle of things, packets and cut headers that leave
    /// one queue leave it in the order of their arrival; so do the headers of a header queue.
    #[test]
    fn a_queue_is_served_in_order_of_arrival((config, ops) in with_operations(ordered_switches(), 150)) {
        let mut tm = start(&config);
        let (mut now, mut last) = (0, BTreeMap::new());
        for op in &ops {
            now += op.after();
            let mut outcomes = Vec::new();
            apply(&mut tm, at(now), op, &mut outcomes);
            for outcome in outcomes {
                if let (Outcome::Sent(Some(departure)), Op::Transmit { port, .. }) = (outcome, op) {
                    // Ids count arrivals.
                    let before = last.insert((*port, departure.queue()), departure.id);
                    prop_assert!(before < Some(departure.id), "{departure:?} left after {before:?}");
                }
            }
        }
    }
}

// ---- By rank ------------------------------------------------------------------------------------------------------

/// The packets that wait, as the test sees them: rank, id, eligibility.
type Waiting = Vec<(u64, PacketId, Instant)>;

fn forget(waiting: &mut Waiting, id: PacketId) {
    let place = waiting.iter().position(|(_, held, _)| *held == id).expect("what is lost was waiting");
    waiting.remove(place);
}

/// Runs ranked arrivals and picks; `ops` holds the rank and eligibility of an arrival, or `None` for a pick.
fn run_ranked(
    tm: &mut Tm,
    ops: &[Option<(u64, u64)>],
    mut check: impl FnMut(&Tm, Instant, &Waiting, Option<&Departure>),
) {
    let mut waiting = Waiting::new();
    for (i, op) in ops.iter().enumerate() {
        let now = at(i as u64);
        match op {
            Some((rank, eligible)) => {
                let id = PacketId(i as u64);
                let arrival = Packet { id, bytes: 100, rank: *rank, eligible: at(*eligible), ..Packet::default() };
                let verdict = tm.offer(now, &arrival, Wire::Busy).verdict();
                tm.drain_evictions().for_each(|lost| forget(&mut waiting, lost.id));
                if is_queued(verdict) {
                    waiting.push((*rank, id, at(*eligible)));
                }
            }
            None => {
                let departure = tm.dequeue(now, 0);
                check(tm, now, &waiting, departure.as_ref());
                if let Some(departure) = departure {
                    forget(&mut waiting, departure.id);
                }
            }
        }
    }
}

fn ranked_ops(most: usize) -> impl Strategy<Value = Vec<Option<(u64, u64)>>> {
    let arrival = (0u64..6, 0..most as u64 * 3 / 2).prop_map(Some);
    vec(prop_oneof![3 => arrival, 2 => Just(None)], 1..most)
}

proptest! {
    #![proptest_config(config(2_000))]

    /// PIFO: the smallest rank, first come first served within a rank; a full queue keeps the smaller ranks.
    #[test]
    fn pifo_sends_the_smallest_rank(ops in ranked_ops(120), capacity in 1usize..30) {
        let mut config = switch(1, 1, AMPLE >> 10);
        config.scheduler = SchedulerConfig::Pifo(PifoConfig { capacity });
        run_ranked(&mut start(&config), &ops, |_, _, waiting, departure| {
            let first = waiting.iter().min_by_key(|(rank, id, _)| (*rank, *id)).map(|(_, id, _)| *id);
            assert_eq!(departure.map(|departure| departure.id), first);
            assert!(waiting.len() <= capacity);
        });
    }

    /// PIEO: the smallest rank among the eligible; if there is none the port says when there will be.
    #[test]
    fn pieo_sends_the_smallest_eligible_rank(ops in ranked_ops(120), capacity in 1usize..30) {
        let mut config = switch(1, 1, AMPLE >> 10);
        config.scheduler = SchedulerConfig::Pieo(PieoConfig { capacity });
        run_ranked(&mut start(&config), &ops, |tm, now, waiting, departure| {
            let eligible = waiting.iter().filter(|(_, _, eligible)| *eligible <= now);
            let first = eligible.min_by_key(|(rank, id, _)| (*rank, *id)).map(|(_, id, _)| *id);
            assert_eq!(departure.map(|departure| departure.id), first);
            if departure.is_none() {
                assert_eq!(tm.next_eligible(0), waiting.iter().map(|(_, _, eligible)| *eligible).min());
            }
        });
    }

    /// SP-PIFO with a queue for each rank is PIFO, once its bounds have spread: after ranks n-1 to 0 in this order
    /// bound j is j, and no later arrival moves it.
    #[test]
    fn sp_pifo_with_a_queue_per_rank_is_pifo(ops in ranked_ops(120)) {
        let mut config = switch(1, 1, AMPLE >> 10);
        config.scheduler = SchedulerConfig::SpPifo(SpPifoConfig { queues: 6, capacity: 200 });
        let mut tm = start(&config);
        for rank in (0..6).rev() {
            offer(&mut tm, Instant::ZERO, &Packet { rank, ..packet(rank, 0, 0, 100) });
        }
        for rank in 0..6 {
            assert_eq!(send(&mut tm, Instant::ZERO, 0).map(|d| d.id), Some(PacketId(rank)));
        }
        run_ranked(&mut tm, &ops, |_, _, waiting, departure| {
            let first = waiting.iter().min_by_key(|(rank, id, _)| (*rank, *id)).map(|(_, id, _)| *id);
            assert_eq!(departure.map(|departure| departure.id), first);
        });
    }
}

/// When packets started to leave.
#[derive(Default)]
struct Starts(Vec<(u64, u64)>);

impl Observer for Starts {
    fn arrived(&mut self, _: Instant, _: &Packet, _: Verdict) {}
    fn started(&mut self, now: Instant, _: usize, departure: &Departure, _: Instant) {
        self.0.push((departure.id.0, now.ps()));
    }
    fn evicted(&mut self, eviction: Eviction) {
        panic!("{eviction:?}");
    }
}

#[test]
fn a_port_with_only_ineligible_packets_waits_exactly_until_one_may_go() {
    let mut config = switch(1, 1, 100_000);
    config.scheduler = SchedulerConfig::Pieo(PieoConfig { capacity: 10 });
    let mut driver = Driver::new(start(&config));
    let mut starts = Starts::default();
    let eligible = |id, rank, ps| Packet { rank, eligible: at(ps), ..packet(id, 0, 0, 125) };
    driver.arrive(at(5), &eligible(0, 0, 1_000_003), &mut starts).unwrap();
    driver.arrive(at(6), &eligible(1, 9, 400_001), &mut starts).unwrap();
    driver.arrive(at(7), &eligible(2, 5, 450_000), &mut starts).unwrap();
    driver.finish(&mut starts).unwrap();
    // 125 bytes take 100 ns. 1 goes as soon as it may although its rank is the largest; 2 waits for the wire; then the
    // port is idle again until 0 may go.
    assert_eq!(starts.0, [(1, 400_001), (2, 500_001), (0, 1_000_003)]);
}

// ---- Shares -------------------------------------------------------------------------------------------------------

/// Keeps all queues of port 0 backlogged with packets of 64 to `longest` bytes, and calls `check` with the bytes and
/// the packets that each queue has sent so far, after every pick.
fn backlogged(
    scheduler: &SchedulerConfig,
    queues: usize,
    longest: u32,
    seed: u64,
    mut check: impl FnMut(usize, &[u64], &[u64]),
) {
    let mut config = switch(1, queues, 10_000_000);
    config.scheduler = scheduler.clone();
    let mut tm = start(&config);
    let mut random = Random::stream(seed, "lengths", 0);
    let (mut sent, mut packets) = (vec![0; queues], vec![0; queues]);
    for i in 0..600 {
        for queue in 0..queues {
            while tm.queue_packets(queue) < 2 {
                let length = 64 + draw(&mut random, longest as usize - 63) as u32;
                assert!(is_queued(offer(&mut tm, at(i), &packet(0, 0, queue, length))));
            }
        }
        let departure = send(&mut tm, at(i), 0).expect("packets wait");
        let k = usize::from(departure.queue().unwrap());
        sent[k] += u64::from(departure.bytes());
        packets[k] += 1;
        check(k, &sent, &packets);
    }
}

proptest! {
    #![proptest_config(config(200))]

    /// DRR: a queue that has been visited m times has sent at most `m * quantum * w` bytes, and, unless it is being
    /// visited, more than that less one packet (its deficit did not hold the head). Visits differ by one at most. Hence
    /// `sent_i / w_i - sent_j / w_j < quantum + longest / w_j` at any time; below it is multiplied by both weights.
    #[test]
    fn drr_shares_bytes_by_weight(
        weights in vec(1u32..9, 1..6), quantum in 64u64..4_000, longest in 64u32..3_000, seed in any::<u64>(),
    ) {
        let queues = weights.len();
        let settings = DrrConfig { weights: PerQueue::Each(weights.clone()), quantum: bytes(quantum) };
        backlogged(&SchedulerConfig::DeficitRoundRobin(settings), queues, longest, seed, |_, sent, _| {
            for (i, j) in (0..queues).flat_map(|i| (0..queues).map(move |j| (i, j))).filter(|(i, j)| i != j) {
                let (w_i, w_j) = (u64::from(weights[i]), u64::from(weights[j]));
                let bound = quantum * w_i * w_j + u64::from(longest) * w_i;
                assert!(sent[i] * w_j < sent[j] * w_i + bound, "{sent:?} by {weights:?}, quantum {quantum}");
            }
        });
    }

    /// WRR: w_0 packets of queue 0, then w_1 of queue 1, and so on, whatever their lengths.
    #[test]
    fn wrr_shares_packets_by_weight(weights in vec(1u32..9, 1..6), seed in any::<u64>()) {
        let round: Vec<usize> = weights.iter().enumerate().flat_map(|(k, w)| vec![k; *w as usize]).collect();
        let settings = WrrConfig { weights: PerQueue::Each(weights.clone()) };
        let mut picks = 0;
        backlogged(&SchedulerConfig::WeightedRoundRobin(settings), weights.len(), 1_500, seed, |k, _, _| {
            assert_eq!(k, round[picks % round.len()]);
            picks += 1;
        });
    }

    /// Round robin, queues that come and go: the next queue that waits after the one served last.
    #[test]
    fn round_robin_serves_the_next_queue_that_waits(ops in vec(option_of_queue(5), 1..200)) {
        let mut config = switch(1, 5, 10_000_000);
        config.scheduler = SchedulerConfig::RoundRobin;
        let mut last = 4;
        churn(&start(&config), &ops, |tm, k| {
            let next = (1..=5).map(|step| (last + step) % 5).find(|k| tm.queue_packets(*k) > 0);
            assert_eq!(k, next);
            last = next.unwrap_or(last);
        });
    }

    /// Strict priority: the lowest queue that waits.
    #[test]
    fn strict_priority_serves_the_lowest_queue(ops in vec(option_of_queue(5), 1..200)) {
        let mut config = switch(1, 5, 10_000_000);
        config.scheduler = SchedulerConfig::Strict;
        churn(&start(&config), &ops, |tm, k| assert_eq!(k, (0..5).find(|k| tm.queue_packets(*k) > 0)));
    }

    /// Strict priority over DRR: a group is served only while the groups above it are empty.
    #[test]
    fn a_lower_group_waits_for_the_upper_ones(ops in vec(option_of_queue(5), 1..200)) {
        let groups = vec![vec![3], vec![0, 4], vec![1, 2]];
        let of = [1, 2, 2, 0, 1];
        let mut config = switch(1, 5, 10_000_000);
        config.scheduler = SchedulerConfig::StrictOverDrr(StrictOverDrrConfig { groups, ..Default::default() });
        churn(&start(&config), &ops, |tm, k| {
            let first = (0..5).filter(|k| tm.queue_packets(*k) > 0).map(|k| of[k]).min();
            assert_eq!(k.map(|k| of[k]), first);
        });
    }
}

/// An arrival at one of the queues, or a pick.
fn option_of_queue(queues: usize) -> impl Strategy<Value = Option<usize>> {
    prop_oneof![(0..queues).prop_map(Some), Just(None)]
}

/// Arrivals of 1500 bytes and picks; `check` sees the state before each pick, and the queue picked.
fn churn(tm: &Tm, ops: &[Option<usize>], mut check: impl FnMut(&Tm, Option<usize>)) {
    let mut tm = tm.clone();
    for op in ops {
        match op {
            Some(queue) => assert!(is_queued(offer(&mut tm, Instant::ZERO, &packet(0, 0, *queue, 1_500)))),
            None => {
                let before = tm.clone();
                let departure = send(&mut tm, Instant::ZERO, 0);
                check(&before, departure.and_then(|departure| departure.queue()).map(usize::from));
            }
        }
    }
}

/// Within the upper group of strict priority over DRR, weights count as in plain DRR.
#[test]
fn groups_share_by_weight_within() {
    let (weights, quantum) = (PerQueue::Each(vec![3, 9, 1]), bytes(1_500));
    let groups = vec![vec![0, 2], vec![1]];
    let scheduler = SchedulerConfig::StrictOverDrr(StrictOverDrrConfig { groups, weights, quantum });
    let mut last = vec![];
    backlogged(&scheduler, 3, 1_500, 7, |_, sent, _| last = sent.to_vec());
    assert_eq!(last[1], 0, "the lower group is never served");
    // As for plain DRR, times the weights: quantum and longest packet are 1500.
    assert!(last[0].abs_diff(3 * last[2]) < 3 * 1_500 + 3 * 1_500, "{last:?}");
}

/// DRR's sharp case: equal quanta, but one queue's packets are a byte longer than a quantum.
#[test]
fn drr_is_fair_to_packets_that_do_not_fit_a_quantum() {
    let mut config = switch(1, 2, 10_000_000);
    config.scheduler = drr(&[1, 1]);
    let mut tm = start(&config);
    for _ in 0..3_100 {
        offer(&mut tm, Instant::ZERO, &packet(0, 0, 0, 1_501));
        offer(&mut tm, Instant::ZERO, &packet(0, 0, 1, 1_500));
    }
    let picks: Vec<_> = (0..3_001).map(|_| send(&mut tm, Instant::ZERO, 0).unwrap().queue().unwrap()).collect();
    // Queue 0 sends nothing in its first visit, then one packet a visit with the deficit falling from 1499 by one,
    // until after 1500 packets it skips a visit again.
    assert_eq!(picks[..5], [1, 0, 1, 0, 1]);
    assert_eq!(picks.iter().filter(|k| **k == 0).count(), 1_500);
}

/// A queue that empties loses what is left of its deficit, and a visit of WRR ends with it.
#[test]
fn an_empty_queue_saves_nothing_up() {
    let mut config = switch(1, 2, 10_000_000);
    config.scheduler = drr(&[1, 1]);
    let mut tm = start(&config);
    let picks = |tm: &mut Tm, n: usize, arrivals: &[(usize, u32)]| -> Vec<usize> {
        for (queue, bytes) in arrivals {
            offer(tm, Instant::ZERO, &packet(0, 0, *queue, *bytes));
        }
        (0..n).map(|_| send(tm, Instant::ZERO, 0).unwrap().queue().unwrap().into()).collect()
    };
    // 1400 of 1500 bytes are not used, and do not help the 1600 bytes that come later: they need two visits.
    assert_eq!(picks(&mut tm, 2, &[(0, 100), (1, 1_500), (1, 1_500), (1, 1_500)]), [0, 1]);
    assert_eq!(picks(&mut tm, 3, &[(0, 1_600)]), [1, 0, 1]);

    config.scheduler = SchedulerConfig::WeightedRoundRobin(WrrConfig { weights: PerQueue::Each(vec![3, 1]) });
    let mut tm = start(&config);
    assert_eq!(picks(&mut tm, 2, &[(0, 100), (1, 100), (1, 100), (1, 100)]), [0, 1]);
    assert_eq!(picks(&mut tm, 5, &[(0, 100), (0, 100), (0, 100), (0, 100)]), [0, 0, 0, 1, 0]);
}

/// AFQ: a flow that is always backlogged bids its own byte count, and packets of a round leave before those of the
/// next. When round r is served, a flow has sent all packets that end before `r * R` bytes and none that end at `(r +
/// 1) * R` or later: between `r * R - L` and `(r + 1) * R`. Two such flows differ by less than `R + L`, at any time.
#[test]
fn afq_shares_bytes_among_flows() {
    for (per_round, lengths) in
        [(1_500, [1_500, 1_500]), (1_500, [64, 1_500]), (4_000, [700, 1_499]), (3_000, [1_500, 1_000])]
    {
        let mut config = switch(1, 1, 10_000_000);
        config.scheduler =
            SchedulerConfig::Afq(AfqConfig { bytes_per_round: bytes(per_round), ..AfqConfig::default() });
        let mut tm = start(&config);
        let (mut sent, mut held) = ([0u64; 2], [0u64; 2]);
        for i in 0..20_000 {
            for flow in 0..2 {
                // As many as the calendar takes.
                let arrival = Packet { flow: flow as u64, ..packet(flow as u64, 0, 0, lengths[flow]) };
                while is_queued(offer(&mut tm, at(i), &arrival)) {
                    held[flow] += 1;
                }
                assert!(held[flow] > 0, "flow {flow} is backlogged");
            }
            let departure = send(&mut tm, at(i), 0).unwrap();
            let flow = departure.id.0 as usize;
            sent[flow] += u64::from(departure.bytes());
            held[flow] -= 1;
            let longest = u64::from(lengths[0].max(lengths[1]));
            assert!(sent[0].abs_diff(sent[1]) < per_round + longest, "{sent:?} with {per_round} a round, {lengths:?}");
        }
    }
}

/// AFQ written down plainly: a list of packets for every round there ever was, and every flow's bid as it is.
#[derive(Default)]
struct Calendar {
    round: u64,
    rounds: BTreeMap<u64, VecDeque<u64>>,
    bids: BTreeMap<u64, u64>,
}

impl Calendar {
    fn offer(&mut self, id: u64, flow: u64, bytes: u64, per_round: u64, queues: u64) -> bool {
        let bid = self.bids.get(&flow).copied().unwrap_or(0).max(self.round * per_round) + bytes;
        let is_taken = bid / per_round < self.round + queues;
        if is_taken {
            self.bids.insert(flow, bid);
            self.rounds.entry(bid / per_round).or_default().push_back(id);
        }
        is_taken
    }

    fn send(&mut self) -> Option<u64> {
        self.rounds.retain(|_, waiting| !waiting.is_empty());
        let (round, waiting) = self.rounds.iter_mut().next()?;
        self.round = *round;
        waiting.pop_front()
    }
}

proptest! {
    #![proptest_config(config(2_000))]

    /// AFQ with few flows, whose bids the sketch keeps apart, takes and sends what the plain calendar does.
    #[test]
    fn afq_is_its_calendar(
        queues in 1usize..6,
        per_round in 1u64..2_000,
        ops in vec((0u64..4, 0u32..4_000, any::<bool>()), 1..150),
    ) {
        let mut config = switch(1, 1, AMPLE);
        config.scheduler =
            SchedulerConfig::Afq(AfqConfig { queues, bytes_per_round: bytes(per_round), ..AfqConfig::default() });
        let (mut tm, mut plain) = (start(&config), Calendar::default());
        for (id, (flow, length, sends)) in (0..).zip(ops) {
            if sends {
                let sent = send(&mut tm, Instant::ZERO, 0).map(|departure| departure.id.0);
                prop_assert_eq!(sent, plain.send());
            } else {
                let arrival = Packet { flow, ..packet(id, 0, 0, length + 1) };
                let taken = is_queued(offer(&mut tm, Instant::ZERO, &arrival));
                prop_assert_eq!(taken, plain.offer(id, flow, u64::from(length) + 1, per_round, queues as u64));
            }
        }
    }
}
