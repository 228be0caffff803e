//! Random cases: small switches and arrivals that make as much as possible happen at once.
//!
//! Every choice takes few bytes, so that a fuzzer that changes a byte changes one thing, and zeros choose what is
//! simplest.

use crate::config::{Policy, Scheduler, Switch, Trim, Wred, serialization_time};
use crate::packet::Arrival;

/// A source of random choices.
#[derive(Clone, Debug)]
pub struct Dice {
    source: Source,
}

#[derive(Clone, Debug)]
enum Source {
    /// The state of a splitmix64 generator.
    Seed(u64),
    /// Given bytes, and how many of them were used.
    Bytes(Vec<u8>, usize),
}

impl Dice {
    /// Dice that fall as the seed says, for ever.
    #[must_use]
    pub fn from_seed(seed: u64) -> Self {
        Dice { source: Source::Seed(seed) }
    }

    /// Dice that fall as the bytes say; zeros once they are used up.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Dice { source: Source::Bytes(bytes.to_vec(), 0) }
    }

    fn byte(&mut self) -> u8 {
        match &mut self.source {
            Source::Seed(state) => {
                *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mut z = *state;
                z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                ((z ^ (z >> 31)) >> 56) as u8
            }
            Source::Bytes(bytes, used) => {
                let byte = bytes.get(*used).copied().unwrap_or(0);
                *used += 1;
                byte
            }
        }
    }

    /// Whether given bytes are used up.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        match &self.source {
            Source::Seed(_) => false,
            Source::Bytes(bytes, used) => *used >= bytes.len(),
        }
    }

    /// A number below `n` (not 0), from as few bytes as can tell `n` values apart.
    ///
    /// # Panics
    ///
    /// If `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        assert!(n > 0, "nothing is below 0");
        let mut value = 0;
        let mut span = n - 1;
        while span > 0 {
            value = (value << 8) | u64::from(self.byte());
            span >>= 8;
        }
        value % n
    }

    /// True once in `n` times; false for zeros, if `n > 1`.
    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == n - 1
    }

    /// One of the choices; the first for zeros.
    ///
    /// # Panics
    ///
    /// If there are none.
    pub fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize].clone()
    }
}

/// A random switch, valid under section 10 of the specification, and what arrives at it.
///
/// A case has 20 to 300 arrivals, or fewer if the dice's bytes are used up before (at least 1).
#[must_use]
pub fn random_case(dice: &mut Dice) -> (Switch, Vec<Arrival>) {
    // A third of the cases are made so that thresholds are met exactly: one size, everything a multiple of it.
    let exact = dice.one_in(3);
    let sizes = if exact { Sizes::one(dice) } else { Sizes::random(dice) };
    let rates = random_rates(dice);
    // The serialization time of a typical packet: the grid on which much of the case lies.
    let unit = serialization_time(sizes.typical, rates[0]);
    let (scheduler, policy, queues) = random_deciders(dice, &sizes, unit, rates.len(), exact);
    let cell = match dice.below(8) {
        _ if exact => 1,
        0..=3 => 1,
        4 => 1 + dice.below(300),
        _ => dice.pick(&[64, 208, 2, 100, 7, 256, 300]),
    };
    let mut switch = Switch {
        rates,
        queues,
        buffer: 0,
        cell,
        queue_capacity: dice.one_in(4).then(|| 1 + dice.below(12) as usize),
        policy,
        scheduler,
        ecn: dice.one_in(3).then(|| random_bytes(dice, &sizes, 12)),
        wred: None,
        trim: dice.one_in(3).then(|| random_trim(dice, &sizes)),
    };
    if switch.ecn.is_none() && dice.one_in(3) {
        switch.wred = Some(random_wred(dice, &sizes, queues));
    }
    switch.buffer = if exact {
        sizes.typical * dice.pick(&[60, 24, 36, 48, 20, 30, 40, 18])
    } else {
        random_buffer(dice, &switch, &sizes)
    };
    let arrivals = random_arrivals(dice, &switch, &sizes, unit);

    // Not more updates than can be waited for.
    let last = arrivals.last().map_or(0, |arrival| arrival.time);
    if let Policy::Fba { interval, .. } | Policy::Abm { interval, .. } = &mut switch.policy {
        *interval = (*interval).max(last / 1000);
    }
    (switch, arrivals)
}

/// The packet sizes of a case.
struct Sizes {
    /// A size that buffers, thresholds and times are multiples of.
    typical: u64,
    mix: Mix,
}

#[derive(Clone, Copy)]
enum Mix {
    Fixed,
    /// Small multiples of half the typical size.
    Halves,
    /// Sizes often seen, from 1 byte to 9000.
    Usual,
    /// Any size up to 9000 bytes.
    Any,
}

impl Sizes {
    /// One size, that divides much of what it is compared with.
    fn one(dice: &mut Dice) -> Self {
        Sizes { typical: dice.pick(&[1000, 500, 100, 1500, 300, 1]), mix: Mix::Fixed }
    }

    fn random(dice: &mut Dice) -> Self {
        let mix = dice.pick(&[Mix::Fixed, Mix::Halves, Mix::Usual, Mix::Any, Mix::Fixed]);
        let typical = match mix {
            Mix::Fixed | Mix::Halves => dice.pick(&[1000, 1000, 1000, 100, 500, 1500, 64, 1, 9000, 1499]),
            Mix::Usual => 1000,
            Mix::Any => 4500,
        };
        Sizes { typical, mix }
    }

    fn random_size(&self, dice: &mut Dice) -> u64 {
        match self.mix {
            Mix::Fixed => self.typical,
            Mix::Halves => ((1 + dice.below(4)) * self.typical / 2).max(1),
            Mix::Usual => {
                let usual = [1000, 64, 500, 1500, 100, 1, 200, 576, 2000, 9000, 1001, 999];
                dice.pick(&usual)
            }
            Mix::Any => 1 + dice.below(9000),
        }
    }
}

/// 1 to 6 rates.
fn random_rates(dice: &mut Dice) -> Vec<u64> {
    const G: u64 = 1_000_000_000;
    let ports = 1 + dice.below(6);
    match dice.below(5) {
        0 | 1 => vec![8 * G; ports as usize],
        2 => {
            let rates = [10 * G, 7 * G, G, 25 * G, 100 * G, 400 * G, 333_333_333, 1_000_000];
            vec![dice.pick(&rates); ports as usize]
        }
        3 => (0..ports).map(|_| dice.pick(&[8 * G, 16 * G, 4 * G, 2 * G])).collect(),
        _ => (0..ports).map(|_| dice.pick(&[10 * G, 7 * G, 25 * G, 40 * G, 8 * G, 999_999_937])).collect(),
    }
}

/// A number of bytes: mostly a multiple of the typical size below `most`, or next to one, or any.
fn random_wred(dice: &mut Dice, sizes: &Sizes, queues: usize) -> Wred {
    let flags = |dice: &mut Dice| (0..queues).map(|_| [2, 2, 2].map(|n| dice.one_in(n))).collect();
    Wred {
        from: (0..queues).map(|_| [12, 8, 4].map(|most| random_bytes(dice, sizes, most))).collect(),
        marks: flags(dice),
        drops: flags(dice),
    }
}

fn random_bytes(dice: &mut Dice, sizes: &Sizes, most: u64) -> u64 {
    let multiple = dice.below(most) * sizes.typical;
    match dice.below(6) {
        0..=3 => multiple,
        4 => multiple + dice.below(2) * 2 + sizes.typical - 1,
        _ => dice.below(most * sizes.typical),
    }
}

/// A buffer of a few packets to 60, now and then smaller than a packet.
fn random_buffer(dice: &mut Dice, switch: &Switch, sizes: &Sizes) -> u64 {
    let charged = switch.charge(sizes.typical);
    let buffer = match dice.below(10) {
        0..=2 => (2 + dice.below(12)) * charged,
        3..=5 => (4 + dice.below(57)) * charged,
        6 => 60 * charged,
        7 => (1 + dice.below(30)) * charged + dice.below(3) - 1,
        8 => 1 + dice.below(20 * charged),
        _ => 1 + dice.below(2 * charged),
    };
    buffer.max(1)
}

fn random_trim(dice: &mut Dice, sizes: &Sizes) -> Trim {
    Trim {
        size: dice.pick(&[64, 1, 100, sizes.typical, sizes.typical + 1, 20_000, 500]),
        header_capacity: dice.pick(&[64, 0, 1, 2, 4, 8, 16]),
        header_ratio: dice.pick(&[10, 0, 1, 2, 3]),
        strict: dice.one_in(3),
        return_to_sender: dice.one_in(2),
    }
}

/// Multiples of 1/1024.
const CHIP_ALPHAS: [f64; 8] = [1.0, 0.5, 8.0, 0.125, 0.0, 64.0, 0.25, 2.0];

fn random_pools(dice: &mut Dice, sizes: &Sizes, ports: usize, queues: usize) -> Policy {
    let pools: Vec<u64> = (0..1 + dice.below(2)).map(|_| random_bytes(dice, sizes, 20)).collect();
    let bytes = |dice: &mut Dice, most| (0..queues).map(|_| random_bytes(dice, sizes, most)).collect();
    Policy::Pools {
        pool: (0..queues).map(|_| dice.below(pools.len() as u64) as usize).collect(),
        pools,
        minimum: bytes(dice, 2),
        alpha: (0..queues).map(|_| dice.pick(&CHIP_ALPHAS)).collect(),
        limit: bytes(dice, 10),
        port_limit: dice.one_in(2).then(|| random_bytes(dice, sizes, 8)),
        fixed: (0..queues).map(|_| dice.one_in(3)).collect(),
        partitions: 1 + dice.below(ports.min(2) as u64) as usize,
    }
}

/// A scheduler, a policy and a number of queues that go together.
fn random_deciders(dice: &mut Dice, sizes: &Sizes, unit: u64, ports: usize, exact: bool) -> (Scheduler, Policy, usize) {
    let (policy_kind, scheduler_kind) = if exact {
        // Above all those whose thresholds have several factors.
        let policy = dice.pick(&[3, 4, 5, 3, 2, 3, 4, 5, 8, 6]);
        let scheduler = dice.pick(&[2, 3, 1, 4, 2, 3, 0, 7, 7]);
        (policy, scheduler)
    } else {
        (dice.below(11), dice.below(8))
    };
    // FB's single-queue form and the schedulers of one queue need K = 1.
    let packet_classes = policy_kind == 3 && dice.one_in(4);
    let queues = match scheduler_kind {
        0 | 5..=7 => 1,
        _ if packet_classes => 1,
        _ => dice.pick(&[2, 3, 1, 4, 2, 3]),
    };
    let scheduler = random_scheduler(dice, sizes, scheduler_kind, queues);
    let alphas = if packet_classes { 3 } else { queues };
    let alpha = if exact {
        // Also those that are not exact as doubles: then the order of the operations matters.
        let exact = [1.0, 0.6, 3.0, 0.3, 1.2, 2.0, 0.9, 6.0, 2.4, 0.7, 1.0 / 3.0, 12.0, 3.6, 0.2];
        (0..alphas).map(|_| dice.pick(&exact)).collect()
    } else {
        random_alphas(dice, alphas)
    };
    let policy = random_policy(dice, sizes, unit, (ports, queues), policy_kind, packet_classes, alpha);
    (scheduler, policy, queues)
}

/// A policy of a kind for so many ports with so many queues each.
fn random_policy(
    dice: &mut Dice,
    sizes: &Sizes,
    unit: u64,
    (ports, queues): (usize, usize),
    kind: u64,
    packet_classes: bool,
    alpha: Vec<f64>,
) -> Policy {
    match kind {
        0 => Policy::Cs,
        1 => Policy::Cp,
        2 => Policy::Dt {
            alpha,
            reserved: match dice.below(8) {
                0..=2 => 0.0,
                3 => dice.below(256) as f64 / 256.0,
                _ => dice.pick(&[0.5, 0.1, 0.35, 0.9, 0.99]),
            },
        },
        3 => Policy::Fb {
            alpha,
            groups: (!packet_classes && dice.one_in(2)).then(|| random_groups(dice, queues)),
            packet_classes,
        },
        4 => Policy::Fba {
            alpha,
            groups: dice.one_in(2).then(|| random_groups(dice, queues)),
            interval: random_interval(dice, unit),
        },
        5 => Policy::Abm {
            alpha,
            alpha_unscheduled: dice.one_in(2).then(|| random_alpha(dice)),
            interval: random_interval(dice, unit),
            congested_at: dice.one_in(2).then(|| 1 + random_bytes(dice, sizes, 6)),
        },
        6 => Policy::Fab {
            alpha,
            alpha_short: random_alpha(dice),
            threshold: random_bytes(dice, sizes, 10),
            window: random_interval(dice, unit),
        },
        7 => Policy::Pushout,
        9 => random_pools(dice, sizes, ports, queues),
        10 => Policy::Reverie {
            alpha: (0..queues).map(|_| dice.pick(&CHIP_ALPHAS)).collect(),
            filter: dice.pick(&[1, 0, 2, 4, 10]),
            lossless: (0..queues).map(|_| dice.one_in(3)).collect(),
        },
        _ => Policy::Occamy {
            alpha: if dice.one_in(3) { vec![8.0; queues] } else { alpha },
            token_cell: match dice.below(8) {
                0 => 1 + dice.below(300),
                _ => dice.pick(&[200, 100, 1, 50, 1000, sizes.typical, 64]),
            },
            bucket: match dice.below(8) {
                0 => 1 + dice.below(256),
                // In packets, so that tokens run short with any cell.
                1 | 2 => ports as u64 * (1 + dice.below(8)),
                _ => dice.pick(&[64, 16, 8, 1, 4, 1000, 20_000]),
            },
        },
    }
}

fn random_scheduler(dice: &mut Dice, sizes: &Sizes, kind: u64, queues: usize) -> Scheduler {
    let weights = |dice: &mut Dice| (0..queues).map(|_| 1 + dice.below(5)).collect();
    match kind {
        0 => Scheduler::Fifo,
        1 => Scheduler::Rr,
        2 => Scheduler::Wrr { weights: weights(dice) },
        3 => Scheduler::Drr {
            weights: weights(dice),
            quantum: dice.pick(&[1500, sizes.typical, 500, 100, 7, 1, 10_000, 64]),
        },
        4 => Scheduler::Strict,
        5 => Scheduler::Pifo { capacity: dice.pick(&[4, 1, 2, 3, 6, 8, 12, 100]) },
        6 => Scheduler::SpPifo { queues: 1 + dice.below(8) as usize, capacity: dice.pick(&[3, 1, 2, 4, 6, 50]) },
        _ => Scheduler::Aifo {
            capacity: dice.pick(&[6, 1, 2, 3, 4, 10, 16, 60, 20]),
            headroom: match dice.below(8) {
                0 | 1 => 0.0,
                2 => dice.below(100) as f64 / 100.0,
                _ => dice.pick(&[0.1, 1.0 / 6.0, 0.25, 0.5, 0.9, 0.3, 0.7, 0.4]),
            },
            window: dice.pick(&[4, 1, 2, 3, 8, 16, 100, 10]),
            sample: 1 + dice.below(4),
        },
    }
}

fn random_alpha(dice: &mut Dice) -> f64 {
    match dice.below(16) {
        0..=2 => 1.0,
        3 | 4 => 0.5,
        5 | 6 => 2.0,
        7 | 8 => 8.0,
        9 => 64.0,
        10 | 11 => 1.0 / 3.0,
        12 => 0.0,
        13 => 0.125,
        14 => dice.below(1000) as f64 / 100.0,
        _ => (1 + dice.below(65_536)) as f64 / (1 + dice.below(65_536)) as f64,
    }
}

/// One alpha for all, or one for each.
fn random_alphas(dice: &mut Dice, count: usize) -> Vec<f64> {
    if dice.one_in(3) { vec![random_alpha(dice); count] } else { (0..count).map(|_| random_alpha(dice)).collect() }
}

/// Groups that cover each queue number once, in any order.
fn random_groups(dice: &mut Dice, queues: usize) -> Vec<Vec<usize>> {
    let mut groups = vec![Vec::new(); queues];
    for k in 0..queues {
        groups[dice.below(queues as u64) as usize].push(k);
    }
    groups.retain(|group| !group.is_empty());
    groups
}

/// A time of a policy: a few units, a part of one, or very short.
fn random_interval(dice: &mut Dice, unit: u64) -> u64 {
    let interval = match dice.below(8) {
        0..=3 => unit * dice.pick(&[2, 1, 3, 4, 5, 10, 20]),
        4 => unit / dice.pick(&[2, 4, 3, 10]),
        5 => unit * (1 + dice.below(10)) + dice.below(3),
        6 => 1 + dice.below(unit),
        _ => 1 + dice.below(1000),
    };
    interval.max(1)
}

/// How arrivals follow one another.
#[derive(Clone, Copy)]
enum Load {
    /// Bursts at one instant, with short gaps.
    Heavy,
    /// Gaps of all kinds.
    Mixed,
    /// Mostly gaps of a unit.
    Light,
}

/// Where arrivals go.
#[derive(Clone, Copy)]
enum Spread {
    /// Anywhere.
    Even,
    /// Mostly to port 0 and queue 0.
    Hot,
    /// Mostly where the one before went.
    Runs,
}

/// What ranks look like.
#[derive(Clone, Copy)]
enum Ranks {
    /// Below this.
    Below(u64),
    /// Around a value that goes up.
    Rising,
    /// Around a value that goes down.
    Falling,
}

fn random_arrivals(dice: &mut Dice, switch: &Switch, sizes: &Sizes, unit: u64) -> Vec<Arrival> {
    let load = dice.pick(&[Load::Heavy, Load::Mixed, Load::Light, Load::Heavy]);
    let spread = dice.pick(&[Spread::Even, Spread::Hot, Spread::Runs]);
    let flows = dice.pick(&[3, 1, 20, 1000]);
    let ranks = dice.pick(&[
        Ranks::Below(4),
        Ranks::Below(1),
        Ranks::Below(30),
        Ranks::Below(1000),
        Ranks::Below(1 << 32),
        Ranks::Rising,
        Ranks::Falling,
    ]);
    let ect = dice.pick(&[1, 2, 4]);
    let count = 20 + dice.below(281);
    let period = match &switch.policy {
        Policy::Fba { interval, .. } | Policy::Abm { interval, .. } => *interval,
        Policy::Fab { window, .. } => *window,
        Policy::Occamy { token_cell, .. } => {
            // The time of a token.
            serialization_time(*token_cell, switch.rates.iter().sum())
        }
        _ => unit,
    };

    let mut arrivals: Vec<Arrival> = Vec::new();
    let mut time = 0;
    // When transmissions would end at each port if everything so far were sent, in order.
    let mut ends = vec![vec![0]; switch.rates.len()];
    let (mut port, mut queue) = (0, 0);
    for n in 0..count {
        if n > 0 {
            if dice.is_exhausted() {
                break;
            }
            time += random_gap(dice, load, time, unit, period, &ends);
        }
        let bytes = sizes.random_size(dice);
        let ports = switch.rates.len() as u64;
        let elsewhere = match spread {
            Spread::Even => true,
            Spread::Hot | Spread::Runs => dice.one_in(4),
        };
        if elsewhere {
            port = dice.below(ports) as usize;
            queue = dice.below(switch.queues as u64) as usize;
        } else if matches!(spread, Spread::Hot) {
            (port, queue) = (0, 0);
        }
        let flags = dice.below(256);
        let rank = match ranks {
            Ranks::Below(most) => dice.below(most),
            Ranks::Rising => n + dice.below(8),
            Ranks::Falling => count - n + dice.below(8),
        };
        arrivals.push(Arrival {
            time,
            bytes,
            port,
            queue,
            flow: dice.below(flows),
            rank,
            class: (flags / 16 % 3) as usize,
            unscheduled: flags % 2 == 1,
            ect: flags / 2 % ect == 0,
            colour: (flags / 64 % 3) as usize,
        });
        let idle_from = ends[port].iter().max().map_or(0, |&end| time.max(end));
        ends[port].push(idle_from + serialization_time(bytes, switch.rates[port]));
    }
    arrivals
}

/// The time from one arrival to the next.
fn random_gap(dice: &mut Dice, load: Load, time: u64, unit: u64, period: u64, ends: &[Vec<u64>]) -> u64 {
    let to_next_multiple = |of: u64| of - time % of;
    let kind = match load {
        Load::Heavy => dice.pick(&[0, 0, 4, 0, 0, 0, 1, 0, 0, 7, 4, 0, 3, 0, 6, 0]),
        Load::Mixed => dice.pick(&[0, 0, 4, 0, 1, 2, 0, 4, 5, 0, 4, 3, 0, 7, 0, 8]),
        Load::Light => dice.pick(&[1, 4, 2, 1, 4, 4, 1, 6, 7, 8, 4, 9, 3, 0, 1, 5]),
    };
    match kind {
        0 => 0,
        1 => to_next_multiple(unit),
        2 => to_next_multiple(period),
        3 => unit / dice.pick(&[4, 2, 3, 10, 1]),
        // To the next end of a transmission at a port, as far as can be told.
        4 => {
            let p = dice.below(ends.len() as u64) as usize;
            let next = ends[p].iter().find(|&&end| end > time);
            next.map_or(0, |end| end - time)
        }
        5 => dice.below(unit),
        6 => 1,
        // One picosecond before or after something.
        7 => {
            let to_next = to_next_multiple(dice.pick(&[unit, period]));
            to_next + dice.pick(&[1, 0]) * 2 - 1
        }
        8 => unit * (1 + dice.below(16)),
        _ => unit * (20 + dice.below(230)) + dice.below(2),
    }
}
