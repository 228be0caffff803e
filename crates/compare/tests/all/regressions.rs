//! What the fuzz targets found, or reading the core to write them, each in its smallest form.

use forebay_compare::agree;
use forebay_naive::{Dice, random_case};
use forebay_tm::View as _;
use forebay_tm::admit::{FbaConfig, IntelligentBufferConfig, OccamyConfig, PolicyConfig};
use forebay_tm::described::Choice;
use forebay_tm::packet::MAX_PACKET_BYTES;
use forebay_tm::schedule::{PieoConfig, SchedulerConfig, StrictOverDrrConfig};
use forebay_tm::trim::{CutPayloadConfig, TrimConfig};
use forebay_tm::{Bytes, Instant, Packet, PacketId, PerQueue, Rate, Tm, TmConfig, Verdict, Wire};

/// A switch of one port, after a change.
fn switch(buffer: u64, change: impl FnOnce(&mut TmConfig)) -> Tm {
    let mut config = TmConfig::new(vec![Rate::from_gbps(10)], Bytes::new(buffer));
    change(&mut config);
    Tm::new(config.validate().unwrap())
}

fn packet(id: u64, bytes: u32) -> Packet {
    Packet { id: PacketId(id), bytes, ..Packet::default() }
}

fn offer(tm: &mut Tm, now: Instant, packet: &Packet) -> Verdict {
    let outcome = tm.offer(now, packet, Wire::Busy);
    assert_eq!(tm.drain_evictions().next(), None);
    outcome.verdict()
}

/// The header left with a wrong length, and as data.
#[test]
fn a_cut_packet_that_waits_outlasts_the_setting_that_cut_it() {
    let mut tm = switch(1_000, |config| config.trim = Some(TrimConfig::CutPayload(CutPayloadConfig::default())));
    assert_eq!(offer(&mut tm, Instant::ZERO, &packet(0, 800)), Verdict::Queued { marked: false });
    assert!(matches!(offer(&mut tm, Instant::ZERO, &packet(1, 800)), Verdict::Trimmed { .. }));
    let mut config = (**tm.config()).clone();
    config.trim = None;
    tm.reconfigure(config).unwrap();
    assert!(tm.is_consistent());
    let mut send = || tm.dequeue(Instant::ZERO, 0).map(|sent| (sent.id.0, sent.bytes(), sent.is_header()));
    assert_eq!([send(), send(), send()], [Some((0, 800, false)), Some((1, 64, true)), None]);
    assert!(tm.is_consistent());
}

/// The updates of a policy went on for ever.
#[test]
fn the_last_instant_comes_to_an_end() {
    for policy in ["fba", "abm", "abm-dt", "ib"] {
        let mut tm = switch(10_000, |config| config.policy = PolicyConfig::by_name(policy).unwrap());
        assert_eq!(offer(&mut tm, Instant::ZERO, &packet(0, 800)), Verdict::Queued { marked: false });
        assert_eq!(offer(&mut tm, Instant::NEVER, &packet(1, 800)), Verdict::Queued { marked: false });
        tm.advance(Instant::NEVER);
        assert_eq!(tm.drain_evictions().next(), None);
        assert!(tm.dequeue(Instant::NEVER, 0).is_some());
        assert!(tm.is_consistent());
    }
}

/// An update that is due only after the end of time is not due.
#[test]
fn an_interval_past_the_end_of_time() {
    let interval = forebay_tm::Duration::from_ps(u64::MAX);
    let mut tm =
        switch(10_000, |config| config.policy = PolicyConfig::Fba(FbaConfig { interval, ..FbaConfig::default() }));
    assert_eq!(offer(&mut tm, Instant::NEVER, &packet(0, 800)), Verdict::Queued { marked: false });
    tm.advance(Instant::NEVER);
    assert_eq!(tm.drain_evictions().next(), None);
}

/// "Never" is the last instant, in which a packet larger than the bucket was expelled.
#[test]
fn what_the_bucket_never_holds_is_not_expelled_at_the_end_of_time_either() {
    let occamy = OccamyConfig { alpha: PerQueue::All(1.0), token_cell: Bytes::new(100), bucket: 4 };
    let mut tm = switch(2_000, |config| {
        config.rates.push(config.rates[0]);
        config.policy = PolicyConfig::Occamy(occamy);
    });
    assert_eq!(offer(&mut tm, Instant::ZERO, &packet(0, 900)), Verdict::Queued { marked: false });
    let other = Packet { port: 1, ..packet(1, 400) };
    assert_eq!(offer(&mut tm, Instant::ZERO, &other), Verdict::Queued { marked: false });
    assert!(tm.queue_bytes(0).as_f64() > tm.threshold(0).unwrap().value);
    tm.advance(Instant::NEVER);
    assert_eq!(tm.drain_evictions().next(), None);
    assert_eq!(tm.used(), Bytes::new(1_300));
}

/// A node that is not there counted as eligible.
#[test]
fn pieo_at_the_last_instant() {
    let mut tm = switch(10_000, |config| config.scheduler = SchedulerConfig::Pieo(PieoConfig { capacity: 4 }));
    for id in 0..4 {
        let packet = Packet { rank: id % 2, eligible: Instant::NEVER, ..packet(id, 100) };
        assert_eq!(offer(&mut tm, Instant::NEVER, &packet), Verdict::Queued { marked: false });
    }
    let mut send = || tm.dequeue(Instant::NEVER, 0).map(|sent| sent.id.0);
    assert_eq!([send(), send(), send(), send(), send()], [Some(0), Some(2), Some(1), Some(3), None]);
}

/// Such a size was taken for a negative number, which made an update panic.
#[test]
fn the_fair_share_of_the_intelligent_buffer_has_a_limit() {
    for (field, config) in [
        ("policy.initial_fair", IntelligentBufferConfig { initial_fair: Bytes::new(1 << 63), ..Default::default() }),
        ("policy.reference", IntelligentBufferConfig { reference: Bytes::new(1 << 63), ..Default::default() }),
    ] {
        let mut switch = TmConfig::new(vec![Rate::from_gbps(10)], Bytes::new(1_000));
        switch.policy = PolicyConfig::IntelligentBuffer(config);
        assert_eq!(switch.validate().unwrap_err().field, field);
    }
}

/// What a visit left over was kept beyond its end, and added up.
#[test]
fn new_groups_do_not_add_up_deficits() {
    let groups = |one: bool| if one { vec![vec![0, 1]] } else { vec![vec![0], vec![1]] };
    let scheduler = |one| {
        let (weights, quantum) = (PerQueue::All(u32::MAX), Bytes::new(1 << 31));
        SchedulerConfig::StrictOverDrr(StrictOverDrrConfig { groups: groups(one), weights, quantum })
    };
    let mut tm = switch(10_000, |config| (config.queues, config.scheduler) = (2, scheduler(true)));
    for id in 0..20 {
        offer(&mut tm, Instant::ZERO, &packet(id, 100));
    }
    for id in 0..20 {
        let sent = tm.dequeue(Instant::ZERO, 0).unwrap();
        assert_eq!(sent.id.0, id);
        let mut config = (**tm.config()).clone();
        config.scheduler = scheduler(id % 2 == 1);
        tm.reconfigure(config).unwrap();
    }
}

/// It was let in, and half of its length was taken for a mark.
#[test]
#[should_panic(expected = "not empty nor too long")]
fn a_packet_that_is_too_long_is_a_mistake_of_the_caller() {
    let mut tm = switch(1 << 33, |_| ());
    offer(&mut tm, Instant::ZERO, &packet(0, MAX_PACKET_BYTES + 1));
}

/// Bytes of the target `core`: one packet takes 12 ms to send while ABM measures every 409 ps. All of those instants
/// were watched, which took minutes.
#[test]
fn very_many_updates_are_not_watched() {
    let bytes = [0xfe, 0xff, 0x57, 0x57, 0x57, 0x57, 0x57, 0x57, 0xff, 0x80, 0xff, 0xff, 0x80, 0x5b];
    let (switch, arrivals) = random_case(&mut Dice::from_bytes(&bytes));
    agree("bytes", &switch, &arrivals);
}
