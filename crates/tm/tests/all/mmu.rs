//! Both sides of the buffer: cells are conserved on each, whatever happens, and a refusal changes nothing.

use crate::common::{self, Op, at, switches, with_operations};
use forebay_tm::ingress::{Alpha, GroupConfig, IngressConfig, Limit, LosslessConfig, PoolConfig, PortConfig};
use forebay_tm::mmu::Signal;
use forebay_tm::{Instant, Mmu, MmuConfig, Outcome, Packet, PacketId, Reason, Tm, TmConfig, Verdict, View as _, Wire};
use proptest::prelude::*;

/// Two groups a port: a lossless one, and a lossy one in another pool.
fn sides(switch: &TmConfig, shared: u64, alpha: i32, headroom: u64) -> MmuConfig {
    let ports = switch.rates.len();
    let lossless = Some(LosslessConfig { headroom, xon: 1, xon_offset: 2 });
    let group = |port: usize, number: u8| GroupConfig {
        port,
        number,
        pool: usize::from(number),
        minimum: u64::from(number) + 1,
        limit: if port == 0 { Limit::Static(6) } else { Limit::Dynamic(Alpha::power_of_two(alpha)) },
        lossless: lossless.filter(|_| number == 0),
        ..GroupConfig::default()
    };
    let pool = |headroom| PoolConfig { shared, headroom };
    let ingress = IngressConfig {
        cell: 200,
        partitions: 1,
        pools: vec![pool(Some(2 * headroom)), pool(None)],
        ports: vec![PortConfig::default(); ports],
        groups: (0..ports).flat_map(|port| [group(port, 0), group(port, 1)]).collect(),
    };
    MmuConfig { switch: switch.clone(), ingress }
}

/// Cells of packets that are in the buffer, per group.
fn cells(ingress: &forebay_tm::ingress::Ingress) -> u64 {
    (0..ingress.config().partitions).map(|partition| ingress.partition(partition)).sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cells_are_conserved_on_both_sides(
        (config, ops) in with_operations(switches(), 100),
        shared in 1u64..60, alpha in -3i32..4, headroom in 0u64..20,
    ) {
        let mut mmu = Mmu::new(sides(&config, shared, alpha, headroom)).unwrap();
        let mut explained = mmu.clone();
        let (mut now, mut paused) = (0, std::collections::BTreeSet::new());
        for (number, op) in ops.iter().enumerate() {
            now += op.after();
            match op {
                Op::Arrive { packet, .. } => {
                    let (in_port, group) = (packet.flow as u32 % config.rates.len() as u32, packet.class as u8 % 2);
                    let packet = Packet { id: PacketId(number as u64), in_port, group, ..*packet };
                    let outcome = mmu.offer(at(now), &packet, Wire::Busy);
                    let (same, why) = explained.offer_explained(at(now), &packet, Wire::Busy);
                    prop_assert_eq!(outcome, same);
                    let is_out = matches!(outcome.verdict(), Verdict::Dropped { .. } | Verdict::Returned { .. });
                    prop_assert_eq!(why.ingress.is_some_and(|met| met.charge.is_none()), is_out);
                }
                Op::Transmit { port, .. } => {
                    let departure = mmu.dequeue(at(now), *port);
                    prop_assert_eq!(&departure, &explained.dequeue(at(now), *port));
                    prop_assert!(departure.is_none_or(|departure| departure.id.0 < number as u64));
                }
                Op::Settle { .. } => {
                    mmu.advance(at(now));
                    explained.advance(at(now));
                }
            }
            let lost: Vec<_> = mmu.drain_evictions().collect();
            prop_assert_eq!(&lost, &explained.drain_evictions().collect::<Vec<_>>());
            prop_assert!(lost.iter().all(|lost| lost.id.0 <= number as u64));
            for request in mmu.requests() {
                let place = (request.port, request.group);
                // Each group asks for pause and for resumption in turn.
                prop_assert_eq!(paused.contains(&place), request.signal == Signal::Xon);
                match request.signal {
                    Signal::Xoff => paused.insert(place),
                    Signal::Xon => paused.remove(&place),
                };
            }
            explained.requests().count();
            prop_assert!(mmu.is_consistent(), "after {:?}", op);
        }
        let mut at_end = Instant::from_ps(now);
        for port in 0..config.rates.len() {
            while mmu.egress().has_packets(port) {
                if mmu.dequeue(at_end, port).is_none() {
                    at_end = at_end.max(mmu.next_eligible(port).unwrap_or(at_end));
                }
            }
        }
        mmu.drain_evictions().count();
        prop_assert_eq!(cells(mmu.ingress()), 0, "an empty switch has no cells");
        prop_assert!(mmu.is_consistent());
    }
}

#[test]
fn a_packet_that_the_egress_side_drops_asks_for_no_pause() {
    // Nothing is shared, all is headroom; the egress side lets a queue have 500 bytes.
    let switch = TmConfig { policy: common::dt(0.5), ..common::switch(2, 1, 1_000) };
    let mut config = sides(&switch, 0, 0, 50);
    config.ingress.groups[0].minimum = 0;
    let mut mmu = Mmu::new(config.clone()).unwrap();
    let packet = |id, bytes| Packet { id: PacketId(id), bytes, ..Packet::default() };
    let outcome = mmu.offer(at(0), &packet(0, 900), Wire::Busy);
    assert_eq!(outcome, Outcome::Verdict(Verdict::Dropped { reason: Reason::Threshold }));
    assert_eq!(mmu.requests().count(), 0);
    assert!(!mmu.ingress().is_paused(0, 0) && mmu.is_consistent());
    // The same packet, shorter, does.
    mmu.offer(at(0), &packet(1, 400), Wire::Busy);
    let requests: Vec<_> = mmu.requests().collect();
    assert_eq!((requests.len(), requests[0].signal), (1, Signal::Xoff));
    // At an idle wire it is charged and gone in one instant.
    let mut idle = Mmu::new(config).unwrap();
    assert_eq!(idle.offer(at(0), &packet(0, 400), Wire::Idle), Outcome::Sent);
    let signals: Vec<Signal> = idle.requests().map(|request| request.signal).collect();
    assert_eq!(signals, [Signal::Xoff, Signal::Xon]);
    assert_eq!(cells(idle.ingress()), 0);
}

#[test]
fn ids_have_all_bits_and_groups_are_told_apart() {
    let switch = TmConfig { policy: common::dt(8.0), ..common::switch(2, 1, 10_000) };
    let mut mmu = Mmu::new(sides(&switch, 20, 0, 5)).unwrap();
    let ids = [u64::MAX, 1 << 63, 1 << 48, 0];
    for (id, (in_port, group)) in ids.into_iter().zip([(0, 0), (0, 1), (1, 0), (1, 1)]) {
        let packet = Packet { id: PacketId(id), bytes: 100, in_port, group, ..Packet::default() };
        mmu.offer(at(0), &packet, Wire::Busy);
    }
    let waiting: Vec<_> = mmu.waiting(0).map(|(id, port, group)| (id.0, port, group)).collect();
    assert_eq!(waiting, [(u64::MAX, 0, 0), (1 << 63, 0, 1), (1 << 48, 1, 0), (0, 1, 1)]);
    for (id, (port, group)) in ids.into_iter().zip([(0, 0), (0, 1), (1, 0), (1, 1)]) {
        assert!(mmu.ingress().occupancy(port, group).total() > 0);
        assert_eq!(mmu.dequeue(at(0), 0).unwrap().id, PacketId(id));
        assert_eq!(mmu.ingress().occupancy(port, group).total(), 0);
    }
}

#[test]
fn settings_of_both_sides_change_together_or_not_at_all() {
    let switch = TmConfig { policy: common::dt(8.0), ..common::switch(2, 1, 10_000) };
    let config = sides(&switch, 20, 0, 5);
    let mut mmu = Mmu::new(config.clone()).unwrap();
    for id in 0..6 {
        let packet = Packet { id: PacketId(id), bytes: 400, in_port: 1, ..Packet::default() };
        mmu.offer(at(0), &packet, Wire::Busy);
    }
    let has = mmu.ingress().occupancy(1, 0);
    // A pool that is too small for what is there is refused, and the egress side stays as it was.
    let mut small = config.clone();
    small.ingress.pools[0].shared = 1;
    small.switch.policy = common::dt(1.0);
    assert_eq!(mmu.reconfigure(small).unwrap_err().field, "ingress.pools.shared");
    assert_eq!(mmu.egress().config().policy, common::dt(8.0));
    let mut more = config;
    more.ingress.groups[2].minimum = 7;
    mmu.reconfigure(more).unwrap();
    let now_has = mmu.ingress().occupancy(1, 0);
    assert_eq!((now_has.minimum, now_has.total()), (7.min(has.total()), has.total()));
    assert!(mmu.is_consistent());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn paused_queues_wait_and_the_others_do_not(
        (config, ops) in with_operations(switches(), 80), masks in prop::collection::vec(any::<u64>(), 80),
    ) {
        let mut tm = Tm::new(config.clone().validate().unwrap());
        let mut now = 0;
        for (number, (op, mask)) in ops.iter().zip(&masks).enumerate() {
            now += op.after();
            let Op::Transmit { port, .. } = op else {
                if let Op::Arrive { packet, .. } = op {
                    tm.offer(at(now), &Packet { id: PacketId(number as u64), ..*packet }, Wire::Busy);
                }
                continue;
            };
            let mut free = tm.clone();
            let departure = tm.dequeue_unpaused(at(now), *port, *mask);
            prop_assert!(tm.is_consistent());
            if let Some(departure) = &departure {
                // Headers that have a queue of their own are never paused.
                let is_paused = departure.queue().is_some_and(|queue| mask >> queue & 1 != 0);
                prop_assert!(!is_paused, "{:?} of {:b}", departure, mask);
            } else if mask & free.nonempty_queues(*port) == 0 {
                prop_assert_eq!(free.dequeue(at(now), *port), None, "nothing was paused");
            }
        }
    }
}
