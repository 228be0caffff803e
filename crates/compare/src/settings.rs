//! Random configurations: every policy, scheduler, rank function, marking and trimming, mostly with settings that make
//! something happen, now and then with the largest or smallest there are. They are drawn from the descriptions of the
//! settings, so that a new policy, scheduler or setting is drawn, too.

use forebay_naive::Dice;
use forebay_settings::random::Draw;
use forebay_tm::admit::{Classes, FlexibleBufferConfig, PolicyConfig};
use forebay_tm::config::MAX_BUFFER;
use forebay_tm::described::Choice;
use forebay_tm::mark::MarkConfig;
use forebay_tm::rank::RankConfig;
use forebay_tm::schedule::SchedulerConfig;
use forebay_tm::trim::TrimConfig;
use forebay_tm::{Bytes, PerQueue, TmConfig};

/// One of the usual numbers, or, once in 32 times, an extreme one.
pub(crate) fn number(dice: &mut Dice, usual: &[u64]) -> u64 {
    Draw(&mut |n| dice.below(n)).number(usual)
}

/// One of a choice that will do, with settings of all kinds.
fn drawn<C: Choice>(dice: &mut Dice, queues: usize, will_do: impl Fn(&C) -> bool) -> C {
    let names: Vec<&str> =
        C::NAMES.iter().copied().filter(|name| C::by_name(name).is_some_and(|choice| will_do(&choice))).collect();
    let mut choice = C::by_name(dice.pick(&names)).expect("one of the names");
    if let Some(settings) = choice.settings() {
        let refused = Draw(&mut |n| dice.below(n)).fill(settings, queues);
        assert!(refused.is_empty(), "a field takes what is drawn for it: {refused:?}");
    }
    choice
}

fn policy(dice: &mut Dice, queues: usize) -> PolicyConfig {
    let mut policy = drawn(dice, queues, |_| true);
    if let PolicyConfig::FlexibleBuffer(FlexibleBufferConfig {
        classes: Classes::Packet,
        alpha: PerQueue::Each(alphas),
        ..
    }) = &mut policy
    {
        // Packets have classes 0 to 2.
        alphas.resize(3, 0.5);
    }
    if let PolicyConfig::Pools(config) = &mut policy {
        // Pools that there are, and factors that chips have.
        let pools = config.pools.values().len() as u64;
        config.pool = PerQueue::Each((0..queues).map(|_| dice.below(pools) as usize).collect());
        config.alpha = PerQueue::Each((0..queues).map(|_| dice.pick(&[1.0, 0.5, 8.0, 0.125, 0.0, 64.0])).collect());
        config.partitions = dice.pick(&[1, 1, 2]);
    }
    if let PolicyConfig::Reverie(config) = &mut policy {
        config.alpha = PerQueue::Each((0..queues).map(|_| dice.pick(&[1.0, 0.5, 8.0, 0.125, 0.0, 64.0])).collect());
        config.filter = dice.below(17) as usize;
    }
    if let PolicyConfig::IntelligentBuffer(config) = &mut policy {
        // The fair share moves in steps, one an update: a short way, with gains that do not make the steps tiny.
        config.initial_fair = Bytes::new(dice.pick(&[10_000, 1_000, 1, 0, u64::MAX]));
        config.gain_now = dice.pick(&[1.8, 1.0, 0.5, 0.0]);
        config.gain_before = dice.pick(&[1.7, 1.0, 2.0, f64::INFINITY]);
    }
    policy
}

/// Any that serve so many queues.
fn scheduler(dice: &mut Dice, queues: usize) -> SchedulerConfig {
    drawn(dice, queues, |scheduler: &SchedulerConfig| queues == 1 || scheduler.serves_several_queues())
}

fn trim(dice: &mut Dice, queues: usize) -> TrimConfig {
    let mut trim = drawn(dice, queues, |_| true);
    if let TrimConfig::Ndp(config) = &mut trim
        && dice.one_in(8)
    {
        config.header_capacity = usize::MAX;
    }
    trim
}

fn rank(dice: &mut Dice, scheduler: &SchedulerConfig) -> RankConfig {
    if !scheduler.uses_ranks() && !dice.one_in(64) {
        return RankConfig::Given;
    }
    // Packets have classes 0 to 2.
    drawn(dice, 3, |_| true)
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
        rates: (0..ports).map(|_| Draw(&mut |n| dice.below(n)).rate()).collect(),
        queues,
        buffer: Bytes::new(buffer),
        cell: Bytes::new(cell),
        // A pointer for each cell of the largest buffers would be too much memory.
        cell_pointers: dice.one_in(2) && buffer < 100_000,
        queue_capacity: dice.one_in(3).then(|| dice.pick(&[3, 1, 8, 0])),
        policy: policy(dice, queues),
        rank: rank(dice, &scheduler),
        scheduler,
        mark: dice.one_in(3).then(|| drawn::<MarkConfig>(dice, queues, |_| true)),
        trim: dice.one_in(2).then(|| trim(dice, queues)),
        seed: dice.below(4),
    }
}
