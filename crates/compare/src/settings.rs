//! Random configurations: every policy, scheduler, rank function, marking and trimming, mostly with settings that make
//! something happen, now and then with the largest or smallest there are.

use forebay_naive::Dice;
use forebay_tm::admit::{
    AbmConfig, AbmOnDtConfig, Accounting, Classes, DynamicThresholdsConfig, FbaConfig, FlexibleBufferConfig,
    FlowAwareConfig, IntelligentBufferConfig, OccamyConfig, PolicyConfig,
};
use forebay_tm::config::MAX_BUFFER;
use forebay_tm::mark::{MarkAction, MarkConfig, RedConfig, StepConfig};
use forebay_tm::rank::{RankConfig, StfqConfig};
use forebay_tm::schedule::{
    AfqConfig, AifoConfig, DrrConfig, PieoConfig, PifoConfig, SchedulerConfig, SpPifoConfig, StrictOverDrrConfig,
    WrrConfig,
};
use forebay_tm::trim::{CutPayloadConfig, HeaderPriority, NdpConfig, SourceFlowControlConfig, TrimConfig};
use forebay_tm::{Bytes, Duration, PerQueue, Rate, TmConfig};

/// One of the usual numbers, or, once in 32 times, an extreme one.
pub(crate) fn number(dice: &mut Dice, usual: &[u64]) -> u64 {
    if dice.one_in(32) {
        dice.pick(&[1, 0, u64::MAX, 1 << 63, (1 << 63) - 1, 1 << 32, (1 << 32) - 1, 1 << 31, (1 << 31) - 1, 1 << 21])
    } else {
        dice.pick(usual)
    }
}

fn real(dice: &mut Dice, usual: &[f64]) -> f64 {
    if dice.one_in(32) { dice.pick(&[1e300, 1e-300, f64::MAX, 0.0, -1.0, f64::NAN]) } else { dice.pick(usual) }
}

fn bytes(dice: &mut Dice, usual: &[u64]) -> Bytes {
    Bytes::new(number(dice, usual))
}

fn span(dice: &mut Dice) -> Duration {
    Duration::from_ps(number(dice, &[1_000_000, 100_000, 500_000, 5_000_000, 1, 51_200]))
}

/// One value for all queue numbers, or one for each; rarely a wrong number of them.
fn per_queue<T>(dice: &mut Dice, queues: usize, mut one: impl FnMut(&mut Dice) -> T) -> PerQueue<T> {
    if dice.one_in(2) {
        let n = queues + usize::from(dice.one_in(64));
        PerQueue::Each((0..n).map(|_| one(dice)).collect())
    } else {
        PerQueue::All(one(dice))
    }
}

fn alphas(dice: &mut Dice, queues: usize) -> PerQueue<f64> {
    per_queue(dice, queues, |dice| real(dice, &[1.0, 0.5, 8.0, 2.0, 0.0, 0.125, 64.0, 1.0 / 3.0]))
}

fn weights(dice: &mut Dice, queues: usize) -> PerQueue<u32> {
    per_queue(dice, queues, |dice| number(dice, &[1, 2, 3, 5]) as u32)
}

/// Groups that cover each queue number once; rarely not.
fn groups(dice: &mut Dice, queues: usize) -> Vec<Vec<usize>> {
    let mut groups = vec![Vec::new(); queues];
    for k in 0..queues + usize::from(dice.one_in(64)) {
        groups[dice.below(queues as u64) as usize].push(k);
    }
    groups.retain(|group| !group.is_empty());
    groups
}

fn policy(dice: &mut Dice, queues: usize) -> PolicyConfig {
    match dice.below(11) {
        0 => PolicyConfig::CompleteSharing,
        1 => PolicyConfig::CompletePartitioning,
        2 => PolicyConfig::Pushout,
        3 => PolicyConfig::DynamicThresholds(DynamicThresholdsConfig {
            alpha: alphas(dice, queues),
            reserved: real(dice, &[0.0, 0.0, 0.5, 0.1, 0.99]),
        }),
        4 => {
            let by_packet = dice.one_in(3);
            PolicyConfig::FlexibleBuffer(FlexibleBufferConfig {
                alpha: alphas(dice, if by_packet { 3 } else { queues }),
                groups: dice.one_in(3).then(|| groups(dice, queues)),
                classes: if by_packet { Classes::Packet } else { Classes::Queue },
            })
        }
        5 => PolicyConfig::Fba(FbaConfig {
            alpha: alphas(dice, queues),
            groups: dice.one_in(3).then(|| groups(dice, queues)),
            interval: span(dice),
        }),
        6 => PolicyConfig::Abm(AbmConfig {
            alpha: alphas(dice, queues),
            alpha_unscheduled: dice.one_in(2).then(|| real(dice, &[64.0, 1.0, 0.0])),
            interval: span(dice),
            congested_at: dice.one_in(2).then(|| bytes(dice, &[1_500, 1, 3_000, 28_000])),
        }),
        7 => PolicyConfig::AbmOnDt(AbmOnDtConfig { alpha: alphas(dice, queues), interval: span(dice) }),
        8 => PolicyConfig::FlowAware(FlowAwareConfig {
            alpha: alphas(dice, queues),
            alpha_short: real(dice, &[64.0, 1.0, 8.0, 0.0]),
            threshold: bytes(dice, &[3_000, 0, 1_000, 10_000]),
            window: span(dice),
        }),
        9 => PolicyConfig::IntelligentBuffer(IntelligentBufferConfig {
            alpha: alphas(dice, queues),
            interval: span(dice),
            reference: bytes(dice, &[2_000, 0, 500, 10_000]),
            // The fair share moves in steps, one an update: a short way, with gains that do not make the steps tiny.
            initial_fair: Bytes::new(dice.pick(&[10_000, 1_000, 1, 0, u64::MAX])),
            gain_now: dice.pick(&[1.8, 1.0, 0.5, 0.0]),
            gain_before: dice.pick(&[1.7, 1.0, 2.0, f64::INFINITY]),
            scale: real(dice, &[15.0, 1.0, 0.1]),
            afd_from: bytes(dice, &[0, 1_000, 5_000]),
            accounting: dice.pick(&[Accounting::Flow, Accounting::Queue]),
            short_packets: number(dice, &[4, 1, 0, 72]),
            short_window: span(dice),
            short_queue: dice.one_in(2).then(|| dice.below(queues as u64) as usize),
        }),
        _ => PolicyConfig::Occamy(OccamyConfig {
            alpha: alphas(dice, queues),
            token_cell: bytes(dice, &[200, 1, 64, 1_500]),
            bucket: number(dice, &[64, 8, 1, 0, 1_000]),
        }),
    }
}

fn drr(dice: &mut Dice, queues: usize) -> DrrConfig {
    DrrConfig { weights: weights(dice, queues), quantum: bytes(dice, &[1_500, 1, 64, 500, 9_000]) }
}

/// Any that serve so many queues. What they allocate for stays small.
fn scheduler(dice: &mut Dice, queues: usize) -> SchedulerConfig {
    match dice.below(if queues == 1 { 11 } else { 5 }) {
        0 => SchedulerConfig::RoundRobin,
        1 => SchedulerConfig::Strict,
        2 => SchedulerConfig::WeightedRoundRobin(WrrConfig { weights: weights(dice, queues) }),
        3 => SchedulerConfig::DeficitRoundRobin(drr(dice, queues)),
        4 => {
            SchedulerConfig::StrictOverDrr(StrictOverDrrConfig { groups: groups(dice, queues), drr: drr(dice, queues) })
        }
        5 => SchedulerConfig::Fifo,
        6 => SchedulerConfig::Pifo(PifoConfig { capacity: dice.pick(&[4, 1, 2, 16, 5_000, 0]) }),
        7 => SchedulerConfig::Pieo(PieoConfig { capacity: dice.pick(&[4, 1, 2, 16, 0]) }),
        8 => SchedulerConfig::SpPifo(SpPifoConfig {
            queues: dice.pick(&[4, 1, 2, 8]),
            capacity: dice.pick(&[3, 1, 2, 10]),
        }),
        9 => SchedulerConfig::Afq(AfqConfig {
            queues: dice.pick(&[8, 1, 2, 32]),
            bytes_per_round: bytes(dice, &[1_500, 1, 500, 5_000]),
            rows: dice.pick(&[2, 1, 4]),
            columns: dice.pick(&[8, 1, 32]),
        }),
        _ => SchedulerConfig::Aifo(AifoConfig {
            capacity: dice.pick(&[6, 1, 2, 16, 60]),
            headroom: real(dice, &[0.1, 0.0, 0.5, 0.9]),
            window: dice.pick(&[4, 1, 8, 64, 65, 100]),
            sample: number(dice, &[1, 2, 4, 15]),
        }),
    }
}

fn rank(dice: &mut Dice, scheduler: &SchedulerConfig) -> RankConfig {
    if !scheduler.uses_ranks() && !dice.one_in(64) {
        return RankConfig::Given;
    }
    match dice.below(4) {
        0 => RankConfig::Given,
        1 => RankConfig::Srpt,
        2 => RankConfig::Stfq(StfqConfig { weights: weights(dice, 3) }),
        _ => RankConfig::Lstf,
    }
}

fn mark(dice: &mut Dice) -> MarkConfig {
    let action = dice.pick(&[MarkAction::Mark, MarkAction::Drop, MarkAction::MarkOrDrop]);
    if dice.one_in(2) {
        return MarkConfig::Step(StepConfig { threshold: bytes(dice, &[3_000, 0, 1_000, 6_000]), action });
    }
    MarkConfig::Red(RedConfig {
        min: bytes(dice, &[1_000, 0, 3_000]),
        max: bytes(dice, &[6_000, 3_000, 12_000]),
        probability: real(dice, &[1.0, 0.5, 0.1, 0.0]),
        weight: dice.one_in(2).then(|| real(dice, &[0.5, 0.002, 1.0])),
        mean_packet: bytes(dice, &[1_000, 1, 64]),
        action,
    })
}

fn trim(dice: &mut Dice) -> TrimConfig {
    match dice.below(3) {
        0 => TrimConfig::Ndp(NdpConfig {
            size: bytes(dice, &[64, 1, 100, 3_000]),
            header_capacity: dice.pick(&[4, 0, 1, 64, usize::MAX]),
            header_ratio: number(dice, &[2, 0, 1, 10]) as u32,
            header_priority: dice.pick(&[HeaderPriority::Ratio, HeaderPriority::Strict]),
            return_to_sender: dice.one_in(2),
        }),
        1 => {
            let watermark = dice.one_in(2).then(|| bytes(dice, &[3_000, 0, 10_000]));
            TrimConfig::CutPayload(CutPayloadConfig { size: bytes(dice, &[64, 1, 100, 3_000]), watermark })
        }
        _ => TrimConfig::SourceFlowControl(SourceFlowControlConfig { watermark: bytes(dice, &[3_000, 0, 10_000]) }),
    }
}

fn rate(dice: &mut Dice) -> Rate {
    match dice.below(4) {
        0 | 1 => Rate::from_gbps(10),
        2 => Rate::from_gbps(1 + dice.below(40)),
        _ => Rate::from_bps(number(dice, &[999_999_937, 1, 400_000_000_000, 1 << 58])),
    }
}

/// A configuration of any kind for a switch of so many ports and queues. Most are valid.
pub fn random_config(dice: &mut Dice, ports: usize, queues: usize) -> TmConfig {
    let cell = dice.pick(&[1, 1, 64, 208, 7, 300]);
    let buffer = match dice.below(8) {
        0 => 1 + dice.below(3_000),
        1 => dice.pick(&[MAX_BUFFER.get(), 1 << 32, 1 << 33, MAX_BUFFER.get() + 1, 0]),
        _ => 2_000 + dice.below(30_000),
    };
    let scheduler = scheduler(dice, queues);
    TmConfig {
        rates: (0..ports).map(|_| rate(dice)).collect(),
        queues,
        buffer: Bytes::new(buffer),
        cell: Bytes::new(cell),
        // A pointer for each cell of the largest buffers would be too much memory.
        cell_pointers: dice.one_in(2) && buffer < 100_000,
        queue_capacity: dice.one_in(3).then(|| dice.pick(&[3, 1, 8, 0])),
        policy: policy(dice, queues),
        rank: rank(dice, &scheduler),
        scheduler,
        mark: dice.one_in(3).then(|| mark(dice)),
        trim: dice.one_in(2).then(|| trim(dice)),
        seed: dice.below(4),
    }
}
