//! What the tests share: random switches, random operations, and short ways to write things.

// Every test file uses a part of this.
#![allow(dead_code)]

use forebay_tm::admit::{
    AbmConfig, AbmOnDtConfig, Accounting, Classes, DynamicThresholdsConfig, FbaConfig, FlexibleBufferConfig,
    FlowAwareConfig, IntelligentBufferConfig, OccamyConfig, PolicyConfig,
};
use forebay_tm::mark::{MarkAction, MarkConfig, RedConfig, StepConfig};
use forebay_tm::random::Random;
use forebay_tm::rank::{RankConfig, StfqConfig};
use forebay_tm::schedule::{
    AfqConfig, AifoConfig, DrrConfig, PieoConfig, PifoConfig, SchedulerConfig, SpPifoConfig, StrictOverDrrConfig,
    WrrConfig,
};
use forebay_tm::trim::{CutPayloadConfig, HeaderPriority, NdpConfig, SourceFlowControlConfig, TrimConfig};
use forebay_tm::{Bytes, Departure, Duration, Instant, Lost, Packet, PacketId, PerQueue, Rate, Tm, TmConfig, Verdict};
use proptest::collection::vec;
use proptest::option;
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
    tm.arrive(now, packet, &mut |lost| panic!("{lost:?} was lost"))
}

pub(crate) fn is_queued(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Queued { .. })
}

/// The next packet of a port, which loses nothing over it.
pub(crate) fn send(tm: &mut Tm, now: Instant, port: usize) -> Option<Departure> {
    tm.transmit(now, port, &mut |lost| panic!("{lost:?} was lost"))
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

/// Many things happen at one instant, and instants of updates and eligibility are hit exactly: times are in steps of 100 ns.
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

fn alpha_lists(queues: usize) -> impl Strategy<Value = PerQueue<f64>> {
    let alpha = || prop_oneof![Just(0.5), Just(1.0), Just(8.0), 0.0..4.0];
    prop_oneof![alpha().prop_map(PerQueue::All), vec(alpha(), queues).prop_map(PerQueue::Each)]
}

/// All queue numbers in one group, or each on its own.
fn group_lists(queues: usize) -> impl Strategy<Value = Option<Vec<Vec<usize>>>> {
    prop_oneof![Just(None), Just(Some(vec![(0..queues).collect()]))]
}

fn intervals() -> impl Strategy<Value = Duration> {
    (1u64..50).prop_map(|steps| Duration::from_ps(steps * 100_000))
}

pub(crate) fn policies(queues: usize) -> BoxedStrategy<PolicyConfig> {
    let alpha = move || alpha_lists(queues);
    let groups = move || group_lists(queues);
    let mut all = vec![
        Just(PolicyConfig::CompleteSharing).boxed(),
        Just(PolicyConfig::CompletePartitioning).boxed(),
        Just(PolicyConfig::Pushout).boxed(),
        (alpha(), prop_oneof![Just(0.0), 0.0..0.9])
            .prop_map(|(alpha, reserved)| PolicyConfig::DynamicThresholds(DynamicThresholdsConfig { alpha, reserved }))
            .boxed(),
        (alpha(), groups())
            .prop_map(|(alpha, groups)| {
                PolicyConfig::FlexibleBuffer(FlexibleBufferConfig { alpha, groups, classes: Classes::Queue })
            })
            .boxed(),
        (alpha(), groups(), intervals())
            .prop_map(|(alpha, groups, interval)| PolicyConfig::Fba(FbaConfig { alpha, groups, interval }))
            .boxed(),
        (alpha(), option::of(0.0..64.0), intervals(), option::of((1u64..10_000).prop_map(bytes)))
            .prop_map(|(alpha, alpha_unscheduled, interval, congested_at)| {
                PolicyConfig::Abm(AbmConfig { alpha, alpha_unscheduled, interval, congested_at })
            })
            .boxed(),
        (alpha(), intervals())
            .prop_map(|(alpha, interval)| PolicyConfig::AbmOnDt(AbmOnDtConfig { alpha, interval }))
            .boxed(),
        (alpha(), 0.0..64.0, 0u64..10_000, intervals())
            .prop_map(|(alpha, alpha_short, threshold, window)| {
                PolicyConfig::FlowAware(FlowAwareConfig { alpha, alpha_short, threshold: bytes(threshold), window })
            })
            .boxed(),
        (alpha(), prop_oneof![Just(0u64), Just(64), 0u64..200], 1u64..400)
            .prop_map(|(alpha, bucket, token_cell)| {
                PolicyConfig::Occamy(OccamyConfig { alpha, bucket, token_cell: bytes(token_cell) })
            })
            .boxed(),
        (alpha(), intervals(), option::of(0..queues), any::<bool>(), 0u64..5_000, 1u64..20_000)
            .prop_map(|(alpha, interval, short_queue, per_queue, afd_from, initial_fair)| {
                PolicyConfig::IntelligentBuffer(IntelligentBufferConfig {
                    alpha,
                    interval,
                    reference: bytes(2_000),
                    initial_fair: bytes(initial_fair),
                    afd_from: bytes(afd_from),
                    accounting: if per_queue { Accounting::Queue } else { Accounting::Flow },
                    short_packets: 4,
                    short_window: Duration::from_us(5),
                    short_queue,
                    ..IntelligentBufferConfig::default()
                })
            })
            .boxed(),
    ];
    if queues == 1 {
        let by_class =
            FlexibleBufferConfig { alpha: PerQueue::Each(vec![4.0, 0.5]), groups: None, classes: Classes::Packet };
        all.push(Just(PolicyConfig::FlexibleBuffer(by_class)).boxed());
    }
    proptest::strategy::Union::new(all).boxed()
}

fn drr_settings(queues: usize) -> impl Strategy<Value = DrrConfig> {
    (vec(1u32..5, queues), 1u64..3_000)
        .prop_map(|(weights, quantum)| DrrConfig { weights: PerQueue::Each(weights), quantum: bytes(quantum) })
}

/// Schedulers that keep the packets of a queue in order of arrival.
pub(crate) fn ordered_schedulers(queues: usize) -> BoxedStrategy<SchedulerConfig> {
    let by_number = move |drr| {
        let groups = (0..queues).map(|k| vec![k]).collect();
        SchedulerConfig::StrictOverDrr(StrictOverDrrConfig { groups, drr })
    };
    let in_one = move |drr| {
        let groups = vec![(0..queues).rev().collect()];
        SchedulerConfig::StrictOverDrr(StrictOverDrrConfig { groups, drr })
    };
    let mut all = vec![
        Just(SchedulerConfig::RoundRobin).boxed(),
        Just(SchedulerConfig::Strict).boxed(),
        vec(1u32..5, queues)
            .prop_map(|weights| SchedulerConfig::WeightedRoundRobin(WrrConfig { weights: PerQueue::Each(weights) }))
            .boxed(),
        drr_settings(queues).prop_map(SchedulerConfig::DeficitRoundRobin).boxed(),
        drr_settings(queues).prop_map(by_number).boxed(),
        drr_settings(queues).prop_map(in_one).boxed(),
    ];
    if queues == 1 {
        all.push(Just(SchedulerConfig::Fifo).boxed());
        all.push(
            (1usize..20, 0.0..0.9, 1usize..10, 1u64..4)
                .prop_map(|(capacity, headroom, window, sample)| {
                    SchedulerConfig::Aifo(AifoConfig { capacity, headroom, window, sample })
                })
                .boxed(),
        );
    }
    proptest::strategy::Union::new(all).boxed()
}

/// Schedulers that sort; for one queue per port.
fn sorting_schedulers() -> BoxedStrategy<SchedulerConfig> {
    prop_oneof![
        (1usize..20).prop_map(|capacity| SchedulerConfig::Pifo(PifoConfig { capacity })),
        (1usize..20).prop_map(|capacity| SchedulerConfig::Pieo(PieoConfig { capacity })),
        (1usize..5, 1usize..6)
            .prop_map(|(queues, capacity)| SchedulerConfig::SpPifo(SpPifoConfig { queues, capacity })),
        (1usize..12, 500u64..3_000).prop_map(|(queues, per_round)| {
            let bytes_per_round = bytes(per_round);
            SchedulerConfig::Afq(AfqConfig { queues, bytes_per_round, rows: 2, columns: 8 })
        }),
    ]
    .boxed()
}

pub(crate) fn markings() -> impl Strategy<Value = Option<MarkConfig>> {
    let actions = || prop_oneof![Just(MarkAction::Mark), Just(MarkAction::Drop), Just(MarkAction::MarkOrDrop)];
    let step = (0u64..8_000, actions())
        .prop_map(|(threshold, action)| MarkConfig::Step(StepConfig { threshold: bytes(threshold), action }));
    let red = (0u64..4_000, 0u64..8_000, 0.0..=1.0, option::of(0.01..=1.0), actions()).prop_map(
        |(min, span, probability, weight, action)| {
            let (min, max) = (bytes(min), bytes(min + span));
            MarkConfig::Red(RedConfig { min, max, probability, weight, action, ..RedConfig::default() })
        },
    );
    prop_oneof![2 => Just(None), 1 => step.prop_map(Some), 1 => red.prop_map(Some)]
}

fn trimmings(keeps_order: bool) -> BoxedStrategy<Option<TrimConfig>> {
    let ndp = (1u64..200, 0usize..6, 0u32..4, any::<bool>(), any::<bool>()).prop_map(
        |(size, header_capacity, header_ratio, strict, return_to_sender)| {
            let header_priority = if strict { HeaderPriority::Strict } else { HeaderPriority::Ratio };
            let size = bytes(size);
            Some(TrimConfig::Ndp(NdpConfig { size, header_capacity, header_ratio, header_priority, return_to_sender }))
        },
    );
    let source = (0u64..10_000).prop_map(|watermark| {
        Some(TrimConfig::SourceFlowControl(SourceFlowControlConfig { watermark: bytes(watermark) }))
    });
    let cut = (1u64..200, option::of(0u64..10_000)).prop_map(|(size, watermark)| {
        Some(TrimConfig::CutPayload(CutPayloadConfig { size: bytes(size), watermark: watermark.map(bytes) }))
    });
    if keeps_order {
        prop_oneof![2 => Just(None), 1 => ndp, 1 => source, 1 => cut].boxed()
    } else {
        prop_oneof![2 => Just(None), 1 => ndp, 1 => source].boxed()
    }
}

fn rank_functions(scheduler: &SchedulerConfig) -> BoxedStrategy<RankConfig> {
    if scheduler.uses_ranks() {
        let stfq = RankConfig::Stfq(StfqConfig { weights: PerQueue::Each(vec![1, 3]) });
        prop_oneof![Just(RankConfig::Given), Just(RankConfig::Srpt), Just(stfq), Just(RankConfig::Lstf)].boxed()
    } else {
        Just(RankConfig::Given).boxed()
    }
}

/// Everything but the policy and the scheduler, which are given.
fn around(
    ports: usize,
    queues: usize,
    policy: PolicyConfig,
    scheduler: SchedulerConfig,
    keeps_order: bool,
) -> impl Strategy<Value = TmConfig> {
    let sizes = (1_000u64..30_000, 1u64..=300, any::<bool>(), option::of(1usize..8));
    let rates = vec(1u64..40, ports);
    (sizes, rates, rank_functions(&scheduler), markings(), trimmings(keeps_order), any::<u64>()).prop_map(
        move |((buffer, cell, cell_pointers, queue_capacity), rates, rank, mark, trim, seed)| TmConfig {
            rates: rates.into_iter().map(Rate::from_gbps).collect(),
            queues,
            buffer: bytes(buffer),
            cell: bytes(cell),
            cell_pointers,
            queue_capacity,
            policy: policy.clone(),
            scheduler: scheduler.clone(),
            rank,
            mark,
            trim,
            seed,
        },
    )
}

/// Switches of a given size whose queues keep the order of arrival: every policy with every such scheduler.
fn ordered_switches_of(ports: usize, queues: usize) -> impl Strategy<Value = TmConfig> {
    (policies(queues), ordered_schedulers(queues))
        .prop_flat_map(move |(policy, scheduler)| around(ports, queues, policy, scheduler, true))
}

/// Switches of a given size: every policy with every scheduler that goes with it.
pub(crate) fn switches_of(ports: usize, queues: usize) -> BoxedStrategy<TmConfig> {
    if queues > 1 {
        return ordered_switches_of(ports, queues).boxed();
    }
    let sorting = (policies(1), sorting_schedulers())
        .prop_flat_map(move |(policy, scheduler)| around(ports, 1, policy, scheduler, false));
    prop_oneof![ordered_switches_of(ports, 1), sorting].boxed()
}

pub(crate) fn ordered_switches() -> impl Strategy<Value = TmConfig> {
    (1usize..=3, 1usize..=3).prop_flat_map(|(ports, queues)| ordered_switches_of(ports, queues))
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
    Lost(Lost),
}

/// Applies an operation and notes everything that comes out.
pub(crate) fn apply(tm: &mut Tm, now: Instant, op: &Op, outcomes: &mut Vec<Outcome>) {
    let mut lost = Vec::new();
    let outcome = match op {
        Op::Arrive { packet, .. } => Some(Outcome::Arrived(tm.arrive(now, packet, &mut |l| lost.push(l)))),
        Op::Transmit { port, .. } => Some(Outcome::Sent(tm.transmit(now, *port, &mut |l| lost.push(l)))),
        Op::Settle { .. } => {
            tm.settle(now, &mut |l| lost.push(l));
            None
        }
    };
    outcomes.extend(lost.into_iter().map(Outcome::Lost));
    outcomes.extend(outcome);
}
