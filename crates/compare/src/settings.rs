//! Random configurations: every policy, scheduler, rank function, marking and trimming, mostly with settings that make
//! something happen, now and then with the largest or smallest there are. They are drawn from the descriptions of the settings, so that a
//! new policy, scheduler or setting is drawn, too.

use forebay_naive::Dice;
use forebay_tm::admit::{Classes, FlexibleBufferConfig, PolicyConfig};
use forebay_tm::config::MAX_BUFFER;
use forebay_tm::described::{Choice, Field, Kind, Value};
use forebay_tm::mark::MarkConfig;
use forebay_tm::rank::RankConfig;
use forebay_tm::schedule::SchedulerConfig;
use forebay_tm::trim::TrimConfig;
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

/// Groups that cover each queue number once; rarely not.
fn groups(dice: &mut Dice, queues: usize) -> Value {
    let mut groups = vec![Vec::new(); queues];
    for k in 0..queues + usize::from(dice.one_in(64)) {
        groups[dice.below(queues as u64) as usize].push(Value::Integer(k as u64));
    }
    Value::List(groups.into_iter().filter(|group| !group.is_empty()).map(Value::List).collect())
}

/// A value of a kind, or the default again. What is allocated for stays small.
fn value(dice: &mut Dice, kind: Kind, default: &Value, queues: usize) -> Value {
    if dice.one_in(4) && !matches!(default, Value::Duration(_) | Value::List(_)) {
        return default.clone();
    }
    match kind {
        Kind::Real => Value::Real(real(dice, &[1.0, 0.5, 0.1, 8.0, 2.0, 0.0, 64.0, 0.9, 1.0 / 3.0])),
        Kind::Integer(most) => Value::Integer(number(dice, &[2, 1, 4, 8, 0, 15, 64, 1_000]).min(most)),
        Kind::Count => Value::Integer(dice.pick(&[4, 1, 2, 8, 0, 3, 16, 64, 65, 100])),
        Kind::Bytes => Value::Bytes(Bytes::new(number(dice, &[1_500, 1, 64, 500, 3_000, 0, 200, 6_000, 12_000]))),
        Kind::Duration => {
            Value::Duration(Duration::from_ps(number(dice, &[1_000_000, 100_000, 500_000, 5_000_000, 1, 51_200])))
        }
        Kind::Size(least, most) => Value::Integer(u64::from(dice.pick(&[least, most, least + (most - least) / 2]))),
        Kind::Rate => Value::Rate(rate(dice)),
        Kind::Flag => Value::Flag(dice.one_in(2)),
        Kind::Text | Kind::Special(_) => default.clone(),
        Kind::Word(words) => Value::Word(dice.pick(words)),
        Kind::Or(other, words) => match dice.one_in(2) {
            true => Value::Word(dice.pick(words)),
            false => value(dice, *other, &Value::List(Vec::new()), queues),
        },
        Kind::List(one) => {
            let count = dice.below(4);
            Value::List((0..count).map(|_| value(dice, *one, &Value::List(Vec::new()), queues)).collect())
        }
        Kind::PerQueue(one) => {
            let one = |dice: &mut Dice| value(dice, *one, &Value::List(Vec::new()), queues);
            if dice.one_in(2) {
                // Rarely a wrong number of them.
                let n = queues + usize::from(dice.one_in(64));
                Value::List((0..n).map(|_| one(dice)).collect())
            } else {
                one(dice)
            }
        }
        Kind::Groups => groups(dice, queues),
    }
}

/// One of a choice that will do, with settings of all kinds.
fn drawn<C: Choice>(dice: &mut Dice, queues: usize, will_do: impl Fn(&C) -> bool) -> C {
    let names: Vec<&str> =
        C::NAMES.iter().copied().filter(|name| C::by_name(name).is_some_and(|choice| will_do(&choice))).collect();
    let mut choice = C::by_name(dice.pick(&names)).expect("one of the names");
    if let Some(settings) = choice.settings() {
        for (number, field) in settings.fields().iter().enumerate() {
            let Field { kind, optional, .. } = *field;
            let drawn = match optional && dice.one_in(2) {
                true => Value::Nothing,
                false => value(dice, kind, &settings.get(number), queues),
            };
            settings.set(number, drawn).expect("a field takes what is drawn for it");
        }
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
        mark: dice.one_in(3).then(|| drawn::<MarkConfig>(dice, queues, |_| true)),
        trim: dice.one_in(2).then(|| trim(dice, queues)),
        seed: dice.below(4),
    }
}
