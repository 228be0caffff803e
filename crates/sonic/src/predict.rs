//! Where a PG or queue pauses, resumes and drops: by formula, with the derivation, and by a simulated fill that must
//! agree to the packet.

use crate::SonicError;
use crate::config::{Config, Direction};
use crate::device::{Account, Device};
use crate::fill::{Filled, Side};
use forebay_analysis::transient::{Burst, Held, Transient};
use forebay_tm::ConfigError;
use forebay_tm::ingress::{Alpha, Limit};
use serde::Serialize;
use std::collections::BTreeMap;

/// What the formulas say of one of `groups` equal groups that are filled in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Formula {
    /// The most shared cells that each gets.
    pub shared: u64,
    /// The packet that asks for pause; `None` if the group is lossy, or has no headroom for it.
    pub pause: Option<u64>,
    /// The packet that is dropped. Of several lossless groups, where a shared headroom pool decides, there is no
    /// formula.
    pub drop: Option<u64>,
    /// The cells that a lone group has when it asks to resume.
    pub resume: Option<u64>,
}

/// Works it out for packets of so many bytes.
pub fn formula(side: &Side, groups: u64, bytes: u32) -> Formula {
    let (minimum, cells) = (side.group.minimum, u64::from(bytes).div_ceil(u64::from(side.cell)));
    let shared = most_shared(side, groups);
    // The first packet that is beyond the minimum and that share.
    let beyond = (minimum + shared) / cells + 1;
    let Some(lossless) = side.group.lossless else {
        return Formula { shared, pause: None, drop: Some(beyond), resume: None };
    };
    if groups > 1 {
        let has_headroom = (beyond * cells - minimum).min(cells) <= first_headroom(side);
        return Formula { shared, pause: has_headroom.then_some(beyond), drop: None, resume: None };
    }
    let at_pause = ((beyond - 1) * cells).saturating_sub(minimum);
    let headroom = first_headroom(side);
    let drop = (headroom + minimum + at_pause) / cells + 1;
    if drop == beyond {
        return Formula { shared, pause: None, drop: Some(drop), resume: None };
    }
    let limit = minimum + limit_with(side, at_pause);
    let resume = lossless.xon.max(limit.saturating_sub(lossless.xon_offset)).min(minimum + at_pause);
    let full = (drop - 1) * cells;
    let left = full - (full.saturating_sub(resume)).div_ceil(cells) * cells;
    Formula { shared, pause: Some(beyond), drop: Some(drop), resume: Some(left) }
}

/// The headroom of a lone group.
fn first_headroom(side: &Side) -> u64 {
    let own = side.group.lossless.map_or(0, |lossless| lossless.headroom);
    own.min(side.group.port_headroom.unwrap_or(u64::MAX)).min(side.pool.headroom.unwrap_or(u64::MAX))
}

/// `S * a / (1 + n * a)`, or the constant, or an equal share of the pool: the least of them.
fn most_shared(side: &Side, groups: u64) -> u64 {
    let pool = side.pool.shared;
    let dynamic = |alpha: Alpha| alpha.num * pool / (alpha.den + groups * alpha.num);
    let of_limit = |limit: Limit| match limit {
        Limit::Static(cells) => cells,
        Limit::Dynamic(alpha) => dynamic(alpha),
        Limit::None | Limit::OfPort(_) => u64::MAX,
    };
    let own = match (side.group.limit, side.port) {
        (Limit::OfPort(inner), Limit::Dynamic(outer)) => {
            let both = inner.num * outer.num;
            both * pool / (inner.den * outer.den + inner.num * outer.den + groups * both)
        }
        (Limit::OfPort(inner), Limit::Static(limit)) => inner.num * limit / (inner.den + inner.num),
        (limit, _) => of_limit(limit),
    };
    own.min(of_limit(side.port)).min(pool / groups)
}

/// The limit of a lone group that has some of the shared part.
fn limit_with(side: &Side, shared: u64) -> u64 {
    let free = side.pool.shared - shared;
    let of = |limit: Limit| match limit {
        Limit::Static(cells) => cells,
        Limit::Dynamic(alpha) => alpha.of(free),
        Limit::None | Limit::OfPort(_) => u64::MAX,
    };
    let port = of(side.port);
    let own = match side.group.limit {
        Limit::OfPort(alpha) => alpha.of(port.saturating_sub(shared)),
        limit => of(limit),
    };
    own.min(port).min(side.pool.shared)
}

/// A point of a fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Point {
    /// The number of the packet.
    pub packets: u64,
    /// The cells that packets up to this one have.
    pub cells: u64,
    /// The bytes of these cells.
    pub bytes: u64,
}

/// With so many groups congested.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Case {
    /// Other groups of the same profile and partition that are congested, too.
    pub others: u64,
    /// Shared cells that each gets.
    pub shared_cells: u64,
    /// The packet that asks for pause.
    pub pause: Option<Point>,
    /// The occupancy at which it asks to resume; of a lone group.
    pub resume: Option<Point>,
    /// The packet that is dropped.
    pub drop: Option<Point>,
    /// The limit that it met.
    pub dropped_by: Option<&'static str>,
    /// How long a port takes to send what is there at that point, in nanoseconds.
    pub drain_ns: u64,
    /// Bytes of a burst from [`FAN_IN`] ports at once that come before the first of them is paused or dropped; none
    /// where no closed form applies.
    pub burst_bytes: Option<u64>,
    /// Whether the formulas and the simulated fill agree.
    pub agrees: bool,
}

/// Ports that a burst comes from.
pub const FAN_IN: u64 = 10;

/// A profile of PGs or queues.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Prediction {
    /// `ingress` or `egress`.
    pub side: &'static str,
    /// Its profile.
    pub profile: String,
    /// Its pool.
    pub pool: String,
    /// Whether it asks for pause.
    pub lossless: bool,
    /// PGs or queues that have it: the first of them, as `port|number`.
    pub first: String,
    /// How many there are.
    pub count: usize,
    /// Shared cells of the pool in a partition.
    pub pool_cells: u64,
    /// How the numbers came about.
    pub derivation: Vec<String>,
    /// Alone, and with others.
    pub cases: Vec<Case>,
}

/// What to work out.
#[derive(Clone, Debug)]
pub struct Question {
    /// The size of packets.
    pub packet: u32,
    /// Numbers of others that are congested.
    pub others: Vec<u64>,
}

/// PGs differ by their profile, by the headroom of their port and by the profiles that limit it.
type Kind = (usize, u64, Vec<usize>);

/// Predicts every distinct PG and queue.
///
/// # Errors
/// If a pool cannot be what it says, or a number is beyond what the core takes.
pub fn predict(device: &Device<'_>, question: &Question) -> Result<Vec<Prediction>, SonicError> {
    let config = device.config;
    let mut predictions = vec![];
    let mut distinct: BTreeMap<Kind, Vec<(usize, u8)>> = BTreeMap::new();
    for (&(port, number), &profile) in &config.groups {
        let is_lossless = config.profiles[profile].bytes.xoff.is_some();
        let headroom = if is_lossless { config.lossless_xoff(port) } else { 0 };
        distinct.entry((profile, headroom, config.ports[port].ingress.clone())).or_default().push((port, number));
    }
    for ((profile, ..), users) in distinct {
        let account = device.group(users[0].0, profile)?;
        predictions.push(prediction(device, "ingress", profile, &users, &account, question)?);
    }
    for (profile, users) in Config::users(&config.queues) {
        let account = device.queue(profile)?;
        predictions.push(prediction(device, "egress", profile, &users, &account, question)?);
    }
    Ok(predictions)
}

fn prediction(
    device: &Device<'_>,
    side: &'static str,
    profile: usize,
    users: &[(usize, u8)],
    account: &Account,
    question: &Question,
) -> Result<Prediction, SonicError> {
    let config = device.config;
    let (profile, first) = (&config.profiles[profile], users[0]);
    let pool = &config.pools[profile.pool];
    let rate = config.ports[first.0].speed as f64 * 1e6;
    let cases: Result<Vec<Case>, ConfigError> =
        question.others.iter().map(|others| case(&account.side, *others, question.packet, rate)).collect();
    let cases = cases.map_err(|error| {
        let place = format!("BUFFER_PROFILE|{}: {} = {}", profile.name, error.field, error.value);
        SonicError::new(place, error.problem, error.remedy)
    })?;
    let mut derivation = account.steps.clone();
    if side == "egress" && pool.direction != Direction::Egress {
        derivation.insert(
            0,
            format!("queues are in the {} pool", if pool.direction == Direction::Both { "common" } else { "ingress" }),
        );
    }
    if let Some(alone) = cases.iter().find(|case| case.others == 0) {
        derivation.extend(sums(&account.side, alone));
        derivation.extend(bursts(&account.side, alone, rate));
    }
    Ok(Prediction {
        side,
        profile: profile.name.clone(),
        pool: pool.name.clone(),
        lossless: account.side.group.lossless.is_some(),
        first: format!("{}|{}", config.ports[first.0].name, first.1),
        count: users.len(),
        pool_cells: account.side.pool.shared,
        derivation,
        cases,
    })
}

/// The last steps, for a lone group: `120118 = 120043 + 74 + 1`.
fn sums(side: &Side, alone: &Case) -> Vec<String> {
    let (pool, shared, minimum) = (side.pool.shared, alone.shared_cells, side.group.minimum);
    let mut steps = vec![match side.group.limit {
        Limit::Dynamic(alpha) => {
            format!("alone: {pool} * {0} / ({0} + {1}) = {shared} shared cells", alpha.num, alpha.den)
        }
        Limit::OfPort(_) => format!("alone: {shared} shared cells, by the alphas of port and PG"),
        Limit::Static(limit) if limit >= pool => {
            format!("alone: the limit is above the pool, so all of it: {shared} shared cells")
        }
        Limit::Static(_) | Limit::None => format!("alone: {shared} shared cells"),
    }];
    let fits = shared + minimum;
    steps.push(format!("{fits} cells = {shared} shared + {minimum} of its own fit; the next one does not"));
    if let (Some(pause), Some(drop)) = (alone.pause, alone.drop) {
        steps.push(format!(
            "pause at packet {}; {} cells of headroom; drop at packet {}",
            pause.packets,
            first_headroom(side),
            drop.packets
        ));
    } else if let Some(drop) = alone.drop {
        steps.push(format!("drop at packet {}", drop.packets));
    }
    steps
}

/// Drain time and bursts by the papers, for a lone group.
fn bursts(side: &Side, alone: &Case, rate: f64) -> Vec<String> {
    let drain = alone.drain_ns as f64 / 1e3;
    let mut steps = vec![format!("a port of {:.0} Gb/s sends that in {drain:.1} us (ABM theorem 3)", rate / 1e9)];
    let (Some(bytes), Limit::Dynamic(alpha)) = (alone.burst_bytes, side.group.limit) else { return steps };
    let alpha = ratio(alpha);
    steps.push(format!("a burst from {FAN_IN} ports: {bytes} B come before it (ABM eq. 10, with the minimum)"));
    let (most, fair) = (
        forebay_analysis::fb::alpha_low_for_fair_share(FAN_IN as f64 * rate, rate),
        forebay_analysis::occamy::fair_alpha(FAN_IN as f64, 1, 1),
    );
    let verdict = if alpha <= most { "is within" } else { "is above" };
    steps.push(format!(
        "beside a congested one it gets its fair share if alpha <= {most} (FB eq. 7): {alpha} {verdict} that"
    ));
    if alpha > most {
        steps
            .push(format!("Occamy, which expels at the rate of a port, needs alpha <= {fair} for that (Occamy eq. 4)"));
    }
    steps
}

fn ratio(alpha: Alpha) -> f64 {
    alpha.num as f64 / alpha.den as f64
}

/// How much of a burst from [`FAN_IN`] ports comes before it is paused or dropped, while others of the same kind are at
/// their limits.
fn burst(side: &Side, others: u64, rate: f64) -> Option<u64> {
    let cell = f64::from(side.cell);
    let (arrival, minimum) = (FAN_IN as f64 * rate, side.group.minimum as f64 * cell);
    // What a queue gains while it drains.
    let stretch = arrival / (arrival - rate);
    let volume = match (side.group.limit, side.port) {
        (Limit::Dynamic(alpha), Limit::None) => {
            let transient = Transient {
                buffer: side.pool.shared as f64 * cell,
                held: vec![Held::new(ratio(alpha), rate); others as usize],
                burst: Burst { queues: 1, omega: ratio(alpha), rate: arrival, drain: rate },
            };
            transient.volume()
        }
        (Limit::Static(limit), Limit::None) => {
            // Others may hold all that their limits allow.
            let free = side.pool.shared.saturating_sub(others.saturating_mul(limit));
            limit.min(free) as f64 * cell * stretch
        }
        _ => return None,
    };
    Some((volume + minimum * stretch) as u64)
}

fn case(side: &Side, others: u64, bytes: u32, rate: f64) -> Result<Case, ConfigError> {
    let groups = others + 1;
    let formula = formula(side, groups, bytes);
    let filled = side.fill(groups as usize, bytes)?;
    let cells = u64::from(bytes).div_ceil(u64::from(side.cell));
    let point = |packets: u64| Point { packets, cells: packets * cells, bytes: packets * cells * u64::from(side.cell) };
    let resume = filled.resume.filter(|_| others == 0);
    Ok(Case {
        others,
        shared_cells: formula.shared,
        pause: filled.pause.map(point),
        resume: resume.map(|has| Point { packets: has / cells, cells: has, bytes: has * u64::from(side.cell) }),
        drop: Some(point(filled.drop)),
        dropped_by: filled.refusal.map(forebay_tm::ingress::Refusal::as_str),
        drain_ns: (point(filled.pause.unwrap_or(filled.drop)).bytes as f64 * 8e9 / rate.max(1.0)) as u64,
        burst_bytes: burst(side, others, rate.max(1.0)),
        agrees: agrees(&formula, &filled),
    })
}

/// Whether what the formulas say is what the fill has shown.
pub fn agrees(formula: &Formula, filled: &Filled) -> bool {
    formula.pause == filled.pause
        && formula.drop.is_none_or(|drop| drop == filled.drop)
        && formula.resume.is_none_or(|resume| Some(resume) == filled.resume)
}
