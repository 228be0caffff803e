//! What the tests share: random switches, random operations, and short ways to write things.

// Every test file uses a part of this.
#![allow(dead_code)]

use forebay_compare::random_config;
use forebay_naive::Dice;
use forebay_tm::admit::{DynamicThresholdsConfig, OccamyConfig, PolicyConfig};
use forebay_tm::random::Random;
use forebay_tm::schedule::{DrrConfig, SchedulerConfig};
use forebay_tm::{Bytes, Departure, Eviction, Instant, Packet, PacketId, PerQueue, Rate, Tm, TmConfig, Verdict, Wire};
use proptest::collection::vec;
use proptest::prelude::*;

pub(crate) fn bytes(bytes: u64) -> Bytes {
    Bytes::new(bytes)
}

pub(crate) fn at(ps: u64) -> Instant {
    Instant::from_ps(ps)
}

/// A switch of `ports` ports of 10 Gb/s with `queues` queues each.
pub(crate) fn switch(ports: usize, queues: usize, buffer: u64) -> TmConfig {
    TmConfig { queues, ..TmConfig::new(vec![Rate::from_gbps(10); ports], bytes(buffer)) }
}

pub(crate) fn start(config: &TmConfig) -> Tm {
    Tm::new(config.clone().validate().expect("the test means a valid configuration"))
}

pub(crate) fn dt(alpha: f64) -> PolicyConfig {
    dt_each(&[alpha])
}

/// One alpha for all queue numbers, or one for each.
pub(crate) fn alphas(alpha: &[f64]) -> PerQueue<f64> {
    if let [alpha] = alpha { PerQueue::All(*alpha) } else { PerQueue::Each(alpha.to_vec()) }
}

pub(crate) fn dt_each(alpha: &[f64]) -> PolicyConfig {
    PolicyConfig::DynamicThresholds(DynamicThresholdsConfig { alpha: alphas(alpha), reserved: 0.0 })
}

pub(crate) fn occamy(alpha: f64, bucket: u64) -> PolicyConfig {
    PolicyConfig::Occamy(OccamyConfig { alpha: PerQueue::All(alpha), bucket, ..OccamyConfig::default() })
}

pub(crate) fn drr(weights: &[u32]) -> SchedulerConfig {
    SchedulerConfig::DeficitRoundRobin(DrrConfig { weights: PerQueue::Each(weights.to_vec()), ..DrrConfig::default() })
}

pub(crate) fn packet(id: u64, port: usize, queue: usize, bytes: u32) -> Packet {
    Packet { id: PacketId(id), bytes, port: port as u32, queue: queue as u32, ..Packet::default() }
}

/// Offers a packet and expects that nothing else is lost over it.
pub(crate) fn offer(tm: &mut Tm, now: Instant, packet: &Packet) -> Verdict {
    let outcome = tm.offer(now, packet, Wire::Busy);
    assert_eq!(tm.drain_evictions().next(), None);
    outcome.verdict()
}

pub(crate) fn is_queued(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Queued { .. })
}

/// The next packet of a port, which loses nothing over it.
pub(crate) fn send(tm: &mut Tm, now: Instant, port: usize) -> Option<Departure> {
    let departure = tm.dequeue(now, port);
    assert_eq!(tm.drain_evictions().next(), None);
    departure
}

/// Draws from 0 to `below - 1`.
pub(crate) fn draw(random: &mut Random, below: usize) -> usize {
    (random.unit() * below as f64) as usize
}

/// A random order of 0 to `n - 1`.
pub(crate) fn shuffled(random: &mut Random, n: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        order.swap(i, draw(random, i + 1));
    }
    order
}

// ---- Random operations --------------------------------------------------------------------------------------------

/// Something that happens to a switch, `after` picoseconds after what happened before.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Arrive { after: u64, packet: Packet },
    Transmit { after: u64, port: usize },
    Settle { after: u64 },
}

impl Op {
    pub(crate) fn after(&self) -> u64 {
        match self {
            Self::Arrive { after, .. } | Self::Transmit { after, .. } | Self::Settle { after } => *after,
        }
    }
}

/// Many things happen at one instant, and instants of updates and eligibility are hit exactly: times are in steps of
/// 100 ns.
fn spans() -> impl Strategy<Value = u64> {
    prop_oneof![3 => Just(0), 2 => (0u64..20).prop_map(|steps| steps * 100_000), 1 => 0u64..2_000_000]
}

fn packets(ports: usize, queues: usize) -> impl Strategy<Value = Packet> {
    let lengths = prop_oneof![Just(64u32), Just(1_500), 1u32..3_000];
    let names = (0..ports as u32, 0..queues as u32, 0u32..2, 0u64..4);
    (lengths, names, 0u64..8, 0u64..60, any::<bool>(), any::<bool>()).prop_map(
        |(bytes, (port, queue, class, flow), rank, eligible, unscheduled, ect)| Packet {
            id: PacketId(0),
            bytes,
            port,
            queue,
            class,
            flow,
            rank,
            eligible: at(eligible * 500_000),
            unscheduled,
            ect,
            ..Packet::default()
        },
    )
}

/// Arrivals outnumber departures. The packets' ids count from 0.
pub(crate) fn operations(ports: usize, queues: usize, most: usize) -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        12 => (spans(), packets(ports, queues)).prop_map(|(after, packet)| Op::Arrive { after, packet }),
        7 => (spans(), 0..ports).prop_map(|(after, port)| Op::Transmit { after, port }),
        1 => spans().prop_map(|after| Op::Settle { after: after + 1 }),
    ];
    vec(op, 1..most).prop_map(|mut ops| {
        let mut ids = 0..;
        for op in &mut ops {
            if let Op::Arrive { packet, .. } = op {
                packet.id = PacketId(ids.next().unwrap());
            }
        }
        // After `settle` an instant is over: nothing else may happen in it.
        for i in 1..ops.len() {
            if matches!(ops[i - 1], Op::Settle { .. }) {
                match &mut ops[i] {
                    Op::Arrive { after, .. } | Op::Transmit { after, .. } | Op::Settle { after } => *after += 1,
                }
            }
        }
        ops
    })
}

// ---- Random switches ----------------------------------------------------------------------------------------------

/// Valid switches of a given size, of every kind that will do.
fn valid_switches(ports: usize, queues: usize, will_do: fn(&TmConfig) -> bool) -> impl Strategy<Value = TmConfig> {
    any::<u64>().prop_map(move |seed| {
        let dice = &mut Dice::from_seed(seed);
        let mut configs = core::iter::repeat_with(|| random_config(dice, ports, queues));
        configs.find(|config| will_do(config) && config.clone().validate().is_ok()).expect("there is no end of them")
    })
}

/// Switches of a given size: every policy with every scheduler that goes with it.
pub(crate) fn switches_of(ports: usize, queues: usize) -> impl Strategy<Value = TmConfig> {
    valid_switches(ports, queues, |_| true)
}

/// Switches whose queues keep the order of arrival.
pub(crate) fn ordered_switches() -> impl Strategy<Value = TmConfig> {
    (1usize..=3, 1usize..=3)
        .prop_flat_map(|(ports, queues)| valid_switches(ports, queues, |config| config.scheduler.keeps_order()))
}

pub(crate) fn switches() -> impl Strategy<Value = TmConfig> {
    (1usize..=3, 1usize..=3).prop_flat_map(|(ports, queues)| switches_of(ports, queues))
}

/// A switch and what happens to it.
pub(crate) fn with_operations(
    switches: impl Strategy<Value = TmConfig>,
    most: usize,
) -> impl Strategy<Value = (TmConfig, Vec<Op>)> {
    switches.prop_flat_map(move |config| {
        let (ports, queues) = (config.rates.len(), config.queues);
        (Just(config), operations(ports, queues, most))
    })
}

/// What a call gave.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Outcome {
    Arrived(Verdict),
    Sent(Option<Departure>),
    Lost(Eviction),
}

/// Applies an operation and notes everything that comes out.
pub(crate) fn apply(tm: &mut Tm, now: Instant, op: &Op, outcomes: &mut Vec<Outcome>) {
    let outcome = match op {
        Op::Arrive { packet, .. } => Some(Outcome::Arrived(tm.offer(now, packet, Wire::Busy).verdict())),
        Op::Transmit { port, .. } => Some(Outcome::Sent(tm.dequeue(now, *port))),
        Op::Settle { .. } => {
            tm.advance(now);
            None
        }
    };
    outcomes.extend(tm.drain_evictions().map(Outcome::Lost));
    outcomes.extend(outcome);
}
