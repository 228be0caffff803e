//! Both sides of the buffer: random ingress sides, and the core with one against the naive reference.

use crate::against_naive::{Watch, arrive};
use forebay_naive::ingress::{NaiveGroup, NaiveIngress, NaivePool, NaivePort, SharedLimit};
use forebay_naive::{Arrival, Dice, Request, Switch, random_case, run_sides, to_toml};
use forebay_settings::read_switch;
use forebay_tm::drive::Driver;
use forebay_tm::ingress::{Alpha, GroupConfig, Ingress, IngressConfig, Limit, LosslessConfig, PoolConfig, PortConfig};
use forebay_tm::mmu::Signal;
use forebay_tm::{Mmu, MmuConfig, View as _};

/// Bytes of a cell of random ingress sides.
const CELL: u32 = 100;

/// Groups of each port of random ingress sides.
const GROUPS: usize = 2;

fn random_limit(dice: &mut Dice, of_port: bool, scale: u64) -> SharedLimit {
    let (num, den) = dice.pick(&[(1, 1), (1, 2), (1, 8), (2, 1), (8, 1), (64, 1), (0, 1), (3, 2)]);
    match dice.below(if of_port { 5 } else { 4 }) {
        0 => SharedLimit::None,
        1 => SharedLimit::Static(dice.below(30 * scale)),
        2 | 3 => SharedLimit::Dynamic(num, den),
        _ => SharedLimit::OfPort(num, den),
    }
}

/// An ingress side of so many ports, with pools of a few cells times `scale`.
pub fn random_ingress(dice: &mut Dice, ports: usize, scale: u64) -> NaiveIngress {
    let partitions = 1 + dice.below(2);
    let headrooms = [None, Some(0), Some(4 * scale), Some(12 * scale)];
    let pools: Vec<NaivePool> = (0..1 + dice.below(2))
        .map(|_| NaivePool { shared: dice.below(40 * scale), headroom: dice.pick(&headrooms) })
        .collect();
    let ports: Vec<NaivePort> = (0..ports)
        .map(|_| NaivePort {
            partition: dice.below(partitions) as usize,
            limits: pools
                .iter()
                .map(|_| if dice.one_in(2) { SharedLimit::None } else { random_limit(dice, false, scale) })
                .collect(),
            headroom: dice.pick(&[None, None, Some(3), Some(10 * scale)]),
        })
        .collect();
    let groups: Vec<NaiveGroup> = (0..ports.len() * GROUPS)
        .map(|place| {
            let (port, pool) = (place / GROUPS, dice.below(pools.len() as u64) as usize);
            let has_limit = ports[port].limits[pool] != SharedLimit::None;
            let lossless = (dice.below(3) * 4 * scale, dice.below(8), dice.below(6));
            let lossless = (!dice.one_in(3)).then_some(lossless);
            let limit = random_limit(dice, has_limit, scale);
            let can_filter = lossless.is_some() && !has_limit && matches!(limit, SharedLimit::Dynamic(..));
            let filter = (can_filter && dice.one_in(2)).then(|| dice.pick(&[1, 0, 3, 10]));
            NaiveGroup { port, pool, minimum: dice.below(4), limit, lossless, filter }
        })
        .collect();
    let (paused, filtered) = (vec![None; groups.len()], vec![0; groups.len()]);
    NaiveIngress { cell: u64::from(CELL), paused, filtered, pools, ports, groups, cells: vec![] }
}

fn core_limit(limit: SharedLimit) -> Limit {
    match limit {
        SharedLimit::None => Limit::None,
        SharedLimit::Static(cells) => Limit::Static(cells),
        SharedLimit::Dynamic(num, den) => Limit::Dynamic(Alpha { num, den }),
        SharedLimit::OfPort(num, den) => Limit::OfPort(Alpha { num, den }),
    }
}

/// The configuration of the core for a naive ingress side.
pub fn core_ingress(naive: &NaiveIngress) -> IngressConfig {
    let pools = naive.pools.iter().map(|pool| PoolConfig { shared: pool.shared, headroom: pool.headroom });
    let ports = naive.ports.iter().map(|port| PortConfig {
        partition: port.partition,
        limits: port.limits.iter().copied().map(core_limit).collect(),
        headroom: port.headroom,
    });
    let groups = naive.groups.iter().enumerate().map(|(place, group)| GroupConfig {
        port: group.port,
        number: (place % GROUPS) as u8,
        pool: group.pool,
        minimum: group.minimum,
        limit: core_limit(group.limit),
        filter: group.filter.map(|filter| filter as u8),
        lossless: group.lossless.map(|(headroom, xon, xon_offset)| LosslessConfig { headroom, xon, xon_offset }),
    });
    let (pools, ports, groups) = (pools.collect(), ports.collect(), groups.collect());
    IngressConfig { cell: CELL, partitions: 2, pools, ports, groups }
}

/// A random switch with both sides, arrivals, and the group of each arrival.
pub fn random_sides(dice: &mut Dice) -> (Switch, NaiveIngress, Vec<Arrival>, Vec<usize>) {
    let (switch, arrivals) = random_case(dice);
    let scale = dice.pick(&[1, 1, 2, 4, 16]);
    let ingress = random_ingress(dice, switch.rates.len(), scale);
    let groups = arrivals.iter().map(|_| dice.below(ingress.groups.len() as u64) as usize).collect();
    (switch, ingress, arrivals, groups)
}

/// Compares the core with the naive reference on both sides: the same verdicts, marks, times, and requests for pause
/// and resumption. The cells of groups, pools, ports and partitions are added up anew after every packet.
///
/// # Panics
///
/// If anything differs.
pub fn sides_agree(name: &str, switch: &Switch, ingress: &NaiveIngress, arrivals: &[Arrival], groups: &[usize]) {
    let (expected, wanted) = run_sides(switch, ingress, arrivals, groups);
    let text = to_toml(switch);
    let config = read_switch("switch.toml", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let config = MmuConfig { switch: config.into_inner(), ingress: core_ingress(ingress) };
    let mmu = Mmu::new(config).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut driver = Driver::new(mmu);
    let mut watch = Watch::new(arrivals.len(), false);
    for (id, arrival) in arrivals.iter().enumerate() {
        let group = groups[id];
        arrive(&mut driver, id, arrival, &mut watch, |packet| {
            packet.in_port = (group / GROUPS) as u32;
            packet.group = (group % GROUPS) as u8;
        });
        assert!(driver.tm().is_consistent(), "{name}: the accounts do not agree after packet {id}");
    }
    driver.finish(&mut watch).unwrap();
    assert!(driver.tm().is_consistent());
    assert_eq!(driver.tm().egress().used().get(), 0, "everything has left at the end");
    assert!(is_empty(driver.tm().ingress()), "{name}: cells are left behind");
    let requests: Vec<Request> = watch.requests.iter().map(request).collect();
    for (packet, want) in expected.iter().enumerate() {
        let got = watch.outcomes[packet].as_ref();
        assert_eq!(got, Some(want), "{name}, packet {packet}: {:?}\n{text}{ingress:?}", arrivals[packet]);
    }
    assert_eq!(requests, wanted, "{name}\n{text}{ingress:?}");
}

fn request(request: &forebay_tm::PauseRequest) -> Request {
    let group = request.port as usize * GROUPS + usize::from(request.group);
    Request { time: request.at.ps(), group, pause: request.signal == Signal::Xoff }
}

fn is_empty(ingress: &Ingress) -> bool {
    let config = ingress.config();
    let groups = config.groups.iter().all(|group| ingress.occupancy(group.port, group.number).total() == 0);
    groups && (0..config.partitions).all(|partition| ingress.partition(partition) == 0)
}
