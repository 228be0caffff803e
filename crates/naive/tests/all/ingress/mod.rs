//! The ingress side of the core against a list of cells: random pools, ports and groups, and random packets.

use forebay_naive::ingress::{NaiveGroup, NaiveIngress, NaivePool, NaivePort, NaiveRefusal, Part, SharedLimit};
use forebay_tm::ingress::{
    Admission, Alpha, Charge, GroupConfig, Ingress, IngressConfig, Limit, LosslessConfig, PoolConfig, PortConfig,
    Refusal,
};
use forebay_tm::random::Random;

const CELL: u32 = 100;

fn one_of<T: Copy>(random: &mut Random, choices: &[T]) -> T {
    choices[random.below(choices.len() as u64) as usize]
}

fn limit(random: &mut Random, of_port: bool) -> SharedLimit {
    let (num, den) = one_of(random, &[(1, 1), (1, 2), (1, 8), (2, 1), (8, 1), (64, 1), (0, 1), (3, 2)]);
    match random.below(if of_port { 5 } else { 4 }) {
        0 => SharedLimit::None,
        1 => SharedLimit::Static(random.below(30)),
        2 | 3 => SharedLimit::Dynamic(num, den),
        _ => SharedLimit::OfPort(num, den),
    }
}

fn random_ingress(random: &mut Random) -> NaiveIngress {
    let partitions = 1 + random.below(2);
    let pools: Vec<NaivePool> = (0..1 + random.below(2))
        .map(|_| NaivePool { shared: random.below(40), headroom: one_of(random, &[None, Some(0), Some(4), Some(12)]) })
        .collect();
    let ports: Vec<NaivePort> = (0..1 + random.below(3))
        .map(|_| NaivePort {
            partition: random.below(partitions) as usize,
            limits: pools
                .iter()
                .map(|_| if random.below(2) == 0 { SharedLimit::None } else { limit(random, false) })
                .collect(),
            headroom: one_of(random, &[None, None, Some(3), Some(10)]),
        })
        .collect();
    let groups: Vec<NaiveGroup> = (0..ports.len() * 2)
        .map(|place| {
            let (port, pool) = (place / 2, random.below(pools.len() as u64) as usize);
            let has_limit = ports[port].limits[pool] != SharedLimit::None;
            let lossless = (random.below(3), random.below(8), random.below(6));
            let lossless = (random.below(3) > 0).then_some((lossless.0 * 4, lossless.1, lossless.2));
            NaiveGroup { port, pool, minimum: random.below(4), limit: limit(random, has_limit), lossless }
        })
        .collect();
    NaiveIngress { cell: u64::from(CELL), paused: vec![None; groups.len()], pools, ports, groups, cells: vec![] }
}

fn core_limit(limit: SharedLimit) -> Limit {
    match limit {
        SharedLimit::None => Limit::None,
        SharedLimit::Static(cells) => Limit::Static(cells),
        SharedLimit::Dynamic(num, den) => Limit::Dynamic(Alpha { num, den }),
        SharedLimit::OfPort(num, den) => Limit::OfPort(Alpha { num, den }),
    }
}

fn core(naive: &NaiveIngress) -> Ingress {
    let pools = naive.pools.iter().map(|pool| PoolConfig { shared: pool.shared, headroom: pool.headroom });
    let ports = naive.ports.iter().map(|port| PortConfig {
        partition: port.partition,
        limits: port.limits.iter().copied().map(core_limit).collect(),
        headroom: port.headroom,
    });
    let groups = naive.groups.iter().enumerate().map(|(place, group)| GroupConfig {
        port: group.port,
        number: (place % 2) as u8,
        pool: group.pool,
        minimum: group.minimum,
        limit: core_limit(group.limit),
        lossless: group.lossless.map(|(headroom, xon, xon_offset)| LosslessConfig { headroom, xon, xon_offset }),
    });
    let (pools, ports, groups) = (pools.collect(), ports.collect(), groups.collect());
    Ingress::new(IngressConfig { cell: CELL, partitions: 2, pools, ports, groups }).unwrap()
}

fn as_core(verdict: Result<(Vec<Part>, bool), NaiveRefusal>) -> Admission {
    let (parts, pause) = match verdict {
        Ok(admitted) => admitted,
        Err(refusal) => {
            return Admission::Refused(match refusal {
                NaiveRefusal::Pool => Refusal::Pool,
                NaiveRefusal::Port => Refusal::Port,
                NaiveRefusal::Group => Refusal::Group,
                NaiveRefusal::Headroom => Refusal::Headroom,
                NaiveRefusal::PortHeadroom => Refusal::PortHeadroom,
                NaiveRefusal::HeadroomPool => Refusal::HeadroomPool,
            });
        }
    };
    let count = |part| parts.iter().filter(|other| **other == part).count() as u64;
    let (minimum, shared, headroom) = (count(Part::Minimum), count(Part::Shared), count(Part::Headroom));
    Admission::Admitted(Charge { minimum, shared, headroom, pause })
}

fn same_numbers(naive: &NaiveIngress, core: &Ingress) {
    for place in 0..naive.groups.len() {
        let (port, number) = (place / 2, (place % 2) as u8);
        let has = core.occupancy(port, number);
        for (part, cells) in [(Part::Minimum, has.minimum), (Part::Shared, has.shared), (Part::Headroom, has.headroom)]
        {
            assert_eq!(naive.count(part, |other, _| other == place), cells);
        }
        assert_eq!(naive.paused[place].is_some(), core.is_paused(port, number));
        assert_eq!(naive.limit(place), core.limit(port, number));
    }
    for pool in 0..naive.pools.len() {
        let of_pool = |partition| {
            naive.count(Part::Shared, |_, group| group.pool == pool && naive.ports[group.port].partition == partition)
        };
        assert_eq!([0, 1].map(of_pool), [0, 1].map(|partition| core.pool_shared(partition, pool)));
    }
    assert!(core.is_consistent());
}

#[test]
fn random_groups_agree() {
    let (mut pauses, mut resumes, mut refusals) = (0, 0, 0);
    for seed in 0..100_000 {
        let mut random = Random::stream(seed, "ingress", 0);
        let mut naive = random_ingress(&mut random);
        let mut core = core(&naive);
        let mut packets: Vec<(usize, u32)> = vec![];
        // Times of filling and of draining.
        let mut filling = 8;
        for step in 0..40 {
            if step % 10 == 0 {
                filling = 2 + random.below(8);
            }
            if packets.is_empty() || random.below(10) < filling {
                let (group, bytes) = (random.below(naive.groups.len() as u64) as usize, 1 + random.below(500) as u32);
                let expected = as_core(naive.admit(group, u64::from(bytes)));
                let got = core.admit(group / 2, (group % 2) as u8, bytes);
                assert_eq!(got, expected, "seed {seed}, step {step}: {naive:?}");
                match got {
                    Admission::Admitted(charge) => {
                        pauses += u32::from(charge.pause);
                        packets.push((group, bytes));
                    }
                    Admission::Refused(_) => refusals += 1,
                }
            } else {
                let (group, bytes) = packets.swap_remove(random.below(packets.len() as u64) as usize);
                let expected = naive.release(group, u64::from(bytes));
                let got = core.release(group / 2, (group % 2) as u8, bytes);
                assert_eq!(got, expected, "seed {seed}, step {step}: {naive:?}");
                resumes += u32::from(got);
            }
        }
        same_numbers(&naive, &core);
    }
    assert!(pauses > 50_000 && resumes > 20_000 && refusals > 500_000, "{pauses} {resumes} {refusals}");
}
