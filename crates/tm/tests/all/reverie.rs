//! Reverie on both sides: the rule by hand, for a lossy queue, for a lossless group, and for both in one pool.

use forebay_tm::admit::{PolicyConfig, ReverieConfig};
use forebay_tm::config::PerQueue;
use forebay_tm::ingress::{Alpha, GroupConfig, IngressConfig, Limit, LosslessConfig, PoolConfig, PortConfig};
use forebay_tm::{Instant, Mmu, MmuConfig, Packet, PacketId, Reason, TmConfig, Verdict, View as _, Wire};

const CELL: u32 = 100;

/// Two ports with a lossy queue 0 and a lossless queue 1 in a pool of 40 cells. Filtered lengths go half of the way.
fn mmu(alpha: f64, filter: usize) -> Mmu {
    let mut switch = TmConfig::new(vec!["100Gbps".parse().unwrap(); 2], "1MB".parse().unwrap());
    switch.queues = 2;
    switch.scheduler = forebay_tm::schedule::SchedulerConfig::Strict;
    let lossless = PerQueue::Each(vec![false, true]);
    switch.policy = PolicyConfig::Reverie(ReverieConfig { alpha: PerQueue::All(alpha), filter, lossless });
    let limit = Limit::Dynamic(Alpha::exactly(alpha).unwrap());
    let group = |port: usize| {
        let lossless = Some(LosslessConfig { headroom: 100, xon: 0, xon_offset: 2 });
        let lossy = GroupConfig { port, ..GroupConfig::default() };
        [lossy, GroupConfig { number: 1, limit, lossless, filter: Some(filter as u8), ..lossy }]
    };
    let ingress = IngressConfig {
        cell: CELL,
        partitions: 1,
        pools: vec![PoolConfig { shared: 40, headroom: None }],
        ports: vec![PortConfig::default(); 2],
        groups: (0..2).flat_map(group).collect(),
    };
    Mmu::new(MmuConfig { switch, ingress }).unwrap()
}

/// A packet of so many cells, of the lossy or the lossless class.
fn offer(mmu: &mut Mmu, class: u32, cells: u32) -> Verdict {
    let packet = Packet {
        id: PacketId(1),
        bytes: cells * CELL,
        queue: class,
        in_port: 1,
        group: class as u8,
        ..Packet::default()
    };
    let outcome = mmu.offer(Instant::ZERO, &packet, Wire::Busy);
    assert!(mmu.is_consistent());
    outcome.verdict()
}

const DROPPED: Verdict = Verdict::Dropped { reason: Reason::Threshold };
const QUEUED: Verdict = Verdict::Queued { marked: false };

#[test]
fn a_burst_passes_and_a_lasting_queue_does_not() {
    let mut mmu = mmu(0.25, 1);
    // Nothing has left: the filtered length is 0, and a packet of a cell is below a quarter of what is free while four
    // cells are.
    let burst: Vec<Verdict> = (0..38).map(|_| offer(&mut mmu, 0, 1)).collect();
    assert_eq!(burst.iter().filter(|verdict| **verdict == QUEUED).count(), 37);
    // DT would have stopped at a fifth of 40 cells.
    assert_eq!(mmu.egress().used().get(), 3_700);
    // When the first leaves, 36 cells wait, and half of that is the filtered length: 18 + 1 is more than a quarter of
    // 4.
    mmu.dequeue(Instant::ZERO, 0).unwrap();
    assert_eq!(offer(&mut mmu, 0, 1), DROPPED);
    // 18, 26.5, 30.25, 31.6, 31.8: then it is clipped to what waits. With 7 it is at most a quarter of 33, less one.
    let mut left = 36;
    while offer(&mut mmu, 0, 1) == DROPPED {
        mmu.dequeue(Instant::ZERO, 0).unwrap();
        left -= 1;
    }
    assert_eq!(left, 7);
}

#[test]
fn a_lossless_group_pauses_by_its_filtered_occupancy() {
    let mut mmu = mmu(0.25, 1);
    // The filtered occupancy is 0, and all 40 cells are taken without a pause. The next goes to headroom, as nothing is
    // free.
    for _ in 0..40 {
        assert_eq!(offer(&mut mmu, 1, 1), QUEUED);
    }
    assert_eq!(mmu.requests().count(), 0);
    assert_eq!(offer(&mut mmu, 1, 1), QUEUED);
    assert_eq!(mmu.requests().map(|request| request.to_string()).collect::<Vec<_>>(), ["XOFF port 1 group 1"]);
    assert_eq!(mmu.ingress().occupancy(1, 1).headroom, 1);
    // It resumes when it has no headroom and its filtered occupancy is at most a quarter of what is free, less two:
    // with 6 cells 8 - 2.
    let mut left = 41;
    while mmu.requests().count() == 0 {
        mmu.dequeue(Instant::ZERO, 0).unwrap();
        left -= 1;
    }
    assert_eq!((left, mmu.ingress().occupancy(1, 1).total()), (6, 6));
    // 34 cells are free again, and the filtered occupancy of 6 is at most a quarter of 34 less the packet, up to 10
    // cells.
    assert_eq!(offer(&mut mmu, 1, 8), QUEUED);
    assert_eq!(mmu.requests().count(), 0);
    // It is 6 still, and 26 are free: a quarter of 24 is 6, a quarter of 23 is less.
    assert_eq!(offer(&mut mmu, 1, 2), QUEUED);
    assert_eq!(mmu.requests().count(), 0);
    assert_eq!(offer(&mut mmu, 1, 1), QUEUED);
    assert_eq!(mmu.requests().count(), 1);
}

#[test]
fn lossy_and_lossless_packets_take_from_one_pool() {
    let mut mmu = mmu(0.25, 0);
    assert_eq!(offer(&mut mmu, 1, 30), QUEUED);
    // A quarter of the ten that are left.
    assert_eq!(offer(&mut mmu, 0, 3), DROPPED);
    assert_eq!(offer(&mut mmu, 0, 2), QUEUED);
    // What waits on egress in the lossless queue is not held to a threshold there, nor the lossy group on ingress.
    assert_eq!(mmu.ingress().pool_shared(0, 0), 32);
    assert_eq!(mmu.egress().queue_bytes(1).get(), 3_000);
    // Headroom is not of the pool.
    assert_eq!(offer(&mut mmu, 1, 9), QUEUED);
    assert_eq!((mmu.ingress().pool_shared(0, 0), mmu.ingress().occupancy(1, 1).headroom), (32, 9));
}

#[test]
fn settings_that_cannot_be_are_refused() {
    let good = MmuConfig {
        switch: mmu(0.25, 1).egress().config().clone().into_inner(),
        ingress: mmu(0.25, 1).ingress().config().clone(),
    };
    let refused = |change: fn(&mut MmuConfig)| {
        let mut config = good.clone();
        change(&mut config);
        Mmu::new(config).expect_err("it is wrong").field
    };
    assert_eq!(refused(|config| config.ingress.groups[1].filter = Some(17)), "ingress.groups.filter");
    assert_eq!(refused(|config| config.ingress.groups[1].limit = Limit::Static(3)), "ingress.groups.filter");
    assert_eq!(refused(|config| config.ingress.groups[1].lossless = None), "ingress.groups.filter");
    assert_eq!(
        refused(|config| {
            if let PolicyConfig::Reverie(reverie) = &mut config.switch.policy {
                reverie.filter = 17;
            }
        }),
        "policy.filter"
    );
}
