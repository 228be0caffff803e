//! Worked examples: numbers of real switches, with one-cell packets of 64 bytes.

use super::*;

fn lossless(minimum: u64, alpha: i32, headroom: u64, xon_offset: u64) -> GroupConfig {
    let lossless = LosslessConfig { headroom, xon: 0, xon_offset };
    let limit = Limit::Dynamic(Alpha::power_of_two(alpha));
    GroupConfig { minimum, limit, lossless: Some(lossless), ..GroupConfig::default() }
}

fn ingress(pools: Vec<PoolConfig>, ports: Vec<PortConfig>, groups: Vec<GroupConfig>) -> Ingress {
    let partitions = ports.iter().map(|port| port.partition + 1).max().unwrap_or(1);
    Ingress::new(IngressConfig { cell: 208, partitions, pools, ports, groups }).unwrap()
}

fn ports(count: usize) -> Vec<PortConfig> {
    vec![PortConfig::default(); count]
}

/// Sends packets to a group until one asks for pause, and then until one is refused: the numbers of these packets.
fn fill(ingress: &mut Ingress, port: usize) -> (u64, u64) {
    let (mut sent, mut pause) = (0, 0);
    loop {
        sent += 1;
        match ingress.admit(port, 0, 64) {
            Admission::Admitted(charge) if charge.pause => pause = sent,
            Admission::Admitted(_) => assert!(ingress.is_consistent()),
            Admission::Refused(_) => return (pause, sent),
        }
    }
}

#[test]
fn one_group_pauses_at_its_share_and_drops_beyond_headroom() {
    // A quarter of 10875072 bytes in cells of 208, alpha 1, minimum 6: 6535 + 6 fit.
    let pool = PoolConfig { shared: 13_071, headroom: Some(5_040) };
    let mut lone = ingress(vec![pool], ports(1), vec![lossless(6, 0, 520, 11)]);
    assert_eq!(fill(&mut lone, 0), (6_542, 7_062));
    assert_eq!(lone.occupancy(0, 0), Occupancy { minimum: 6, shared: 6_535, headroom: 520 });
    // Down to the limit 6536 + 6, less 11.
    let resumed = (1..).find(|_| lone.release(0, 0, 64)).unwrap();
    assert_eq!(lone.occupancy(0, 0).total(), 6_531);
    assert_eq!(resumed, 520 + 10);
    assert!(!lone.is_paused(0, 0));
}

#[test]
fn equal_groups_share() {
    // floor(S * a / (1 + n * a)) + minimum = 1194 fit for n = 10, in turn; two groups get one of the cells that are
    // left over.
    let pool = PoolConfig { shared: 13_071, headroom: Some(5_040) };
    let groups = (0..10).map(|port| GroupConfig { port, ..lossless(6, 0, 520, 11) }).collect();
    let mut ten = ingress(vec![pool], ports(10), groups);
    let mut paused = vec![];
    for round in 1..2_000 {
        for port in 0..10 {
            if ten.admit(port, 0, 64).asks_for_pause() {
                paused.push(round);
            }
        }
    }
    assert_eq!(paused.len(), 10);
    assert!(paused.iter().all(|round| (1_195..=1_196).contains(round)), "{paused:?}");
}

#[test]
fn groups_of_other_partitions_and_pools_do_not_matter() {
    let pool = PoolConfig { shared: 100, headroom: Some(10) };
    let two = vec![PortConfig::default(), PortConfig { partition: 1, ..PortConfig::default() }];
    let groups = vec![lossless(0, 3, 10, 0), GroupConfig { port: 1, ..lossless(0, 3, 10, 0) }];
    let mut ingress = ingress(vec![pool], two, groups);
    // floor(100 * 8 / 9) fit.
    assert_eq!(fill(&mut ingress, 0), (89, 99));
    assert_eq!(fill(&mut ingress, 1), (89, 99));
    assert_eq!((ingress.pool_shared(0, 0), ingress.pool_headroom(1, 0), ingress.partition(1)), (88, 10, 98));
}

#[test]
fn the_headroom_pool_and_the_port_have_limits_of_their_own() {
    let groups = vec![lossless(0, 0, 10, 0), GroupConfig { port: 1, ..lossless(0, 0, 10, 0) }];
    let pooled = PoolConfig { shared: 10, headroom: Some(12) };
    let mut pool = ingress(vec![pooled], ports(2), groups.clone());
    assert_eq!(fill(&mut pool, 0), (6, 16));
    // 5 of 10 are left: 2 fit; of the headroom pool 2 are left.
    assert_eq!(fill(&mut pool, 1), (3, 5));
    assert_eq!(pool.admit(1, 0, 64), Admission::Refused(Refusal::HeadroomPool));
    assert_eq!(pool.admit(0, 0, 64), Admission::Refused(Refusal::Headroom));
    // Headroom of a port: one group may use what two have.
    let port = PortConfig { headroom: Some(20), ..PortConfig::default() };
    let two = vec![lossless(0, 0, 20, 0), GroupConfig { number: 1, ..lossless(0, 0, 20, 0) }];
    let mut of_port = ingress(vec![PoolConfig { shared: 10, headroom: None }], vec![port], two);
    assert_eq!(fill(&mut of_port, 0), (6, 26));
    let one_more: Vec<Admission> = (0..3).map(|_| of_port.admit(0, 1, 64)).collect();
    assert_eq!(one_more[2], Admission::Refused(Refusal::PortHeadroom));
}

#[test]
fn a_port_with_an_alpha_of_its_own() {
    // S * p * q / (p * q + q + 1) with p = 2, q = 1: 1000 * 2 / 4.
    let of_port = Limit::OfPort(Alpha::power_of_two(0));
    let port = PortConfig { limits: vec![Limit::Dynamic(Alpha::power_of_two(1))], ..PortConfig::default() };
    let group = GroupConfig { limit: of_port, ..GroupConfig::default() };
    let mut hierarchical = ingress(vec![PoolConfig { shared: 1_000, headroom: None }], vec![port], vec![group]);
    assert_eq!(fill(&mut hierarchical, 0), (0, 501));
    assert_eq!(hierarchical.admit(0, 0, 64), Admission::Refused(Refusal::Group));
}

#[test]
fn lossy_groups_meet_the_limit_that_is_named() {
    let pool = PoolConfig { shared: 20, headroom: None };
    let lossy = |limit| GroupConfig { minimum: 1, limit, ..GroupConfig::default() };
    let refusals = [
        (lossy(Limit::Static(5)), Limit::None, 6, Refusal::Group),
        (lossy(Limit::None), Limit::Static(7), 8, Refusal::Port),
        (lossy(Limit::Static(90)), Limit::None, 21, Refusal::Pool),
        (lossy(Limit::Dynamic(Alpha { num: 0, den: 1 })), Limit::None, 1, Refusal::Group),
    ];
    for (group, limit, held, refusal) in refusals {
        let port = PortConfig { limits: vec![limit], ..PortConfig::default() };
        let mut lossy = ingress(vec![pool], vec![port], vec![group]);
        assert_eq!(fill(&mut lossy, 0), (0, held + 1));
        assert_eq!(lossy.admit(0, 0, 64), Admission::Refused(refusal));
        // A packet of two cells does not fit either, and nothing has changed.
        assert_eq!(lossy.admit(0, 0, 209), Admission::Refused(refusal));
        assert_eq!(lossy.occupancy(0, 0).total(), held);
    }
}

#[test]
fn a_packet_can_be_in_two_parts_and_is_released_from_the_last() {
    let pool = PoolConfig { shared: 4, headroom: None };
    let mut group = ingress(vec![pool], ports(1), vec![lossless(3, 0, 9, 0)]);
    let charge = |minimum, shared, headroom, pause| Admission::Admitted(Charge { minimum, shared, headroom, pause });
    assert_eq!(group.admit(0, 0, 400), charge(2, 0, 0, false));
    assert_eq!(group.admit(0, 0, 400), charge(1, 1, 0, false));
    assert_eq!(group.admit(0, 0, 400), charge(0, 0, 2, true));
    assert_eq!(group.admit(0, 0, 400), charge(0, 0, 2, false));
    assert!(!group.release(0, 0, 400));
    assert!(group.release(0, 0, 400));
    assert_eq!(group.occupancy(0, 0), Occupancy { minimum: 3, shared: 1, headroom: 0 });
}

#[test]
fn a_group_does_not_resume_above_the_limit_of_now() {
    let pool = PoolConfig { shared: 100, headroom: None };
    let other = GroupConfig { port: 1, limit: Limit::Static(90), ..GroupConfig::default() };
    let mut two = ingress(vec![pool], ports(2), vec![lossless(0, 0, 5, 0), other]);
    while !two.admit(0, 0, 64).asks_for_pause() {}
    while let Admission::Admitted(_) = two.admit(1, 0, 64) {}
    // It has 50 of 100 and the other one the rest: its limit was 50, and is what it leaves free now.
    assert_eq!(two.limit(0, 0), 0);
    while !two.release(0, 0, 64) {}
    assert_eq!((two.occupancy(0, 0).shared, two.limit(0, 0)), (25, 25));
}

#[test]
fn what_cannot_be_is_refused() {
    let good = || IngressConfig {
        cell: 208,
        partitions: 1,
        pools: vec![PoolConfig::default()],
        ports: ports(1),
        groups: vec![GroupConfig::default()],
    };
    assert!(Ingress::new(good()).is_ok());
    let group = |group: GroupConfig| IngressConfig { groups: vec![group], ..good() };
    let port = |port: PortConfig| IngressConfig { ports: vec![port], ..good() };
    let of_port = Limit::OfPort(Alpha::power_of_two(0));
    let zero = Limit::Dynamic(Alpha { num: 1, den: 0 });
    let bad = [
        (IngressConfig { cell: 0, ..good() }, "ingress.cell"),
        (IngressConfig { partitions: 0, ..good() }, "ingress.partitions"),
        (
            IngressConfig { pools: vec![PoolConfig { shared: MAX_CELLS + 1, headroom: None }], ..good() },
            "ingress.pool.shared",
        ),
        (port(PortConfig { partition: 1, ..PortConfig::default() }), "ingress.port.partition"),
        (port(PortConfig { limits: vec![of_port], ..PortConfig::default() }), "ingress.port.limit"),
        (port(PortConfig { limits: vec![Limit::None; 2], ..PortConfig::default() }), "ingress.port.limit"),
        (group(GroupConfig { port: 1, ..GroupConfig::default() }), "ingress.group.ports"),
        (group(GroupConfig { number: 16, ..GroupConfig::default() }), "ingress.group.groups"),
        (group(GroupConfig { pool: 1, ..GroupConfig::default() }), "ingress.group.pool"),
        (group(GroupConfig { limit: of_port, ..GroupConfig::default() }), "ingress.group.limit"),
        (group(GroupConfig { limit: zero, ..GroupConfig::default() }), "ingress.group.limit"),
        (IngressConfig { groups: vec![GroupConfig::default(); 2], ..good() }, "ingress.group.groups"),
    ];
    for (config, field) in bad {
        assert_eq!(Ingress::new(config).unwrap_err().field, field);
    }
}
