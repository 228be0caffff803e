//! Mistakes that were made once.

use forebay_tm::View as _;
use forebay_tm::admit::{CompletePartitioningConfig, FbaConfig, IntelligentBufferConfig, OccamyConfig, PolicyConfig};
use forebay_tm::drive::{Driver, Observer};
use forebay_tm::rank::{RankConfig, StfqConfig};
use forebay_tm::schedule::{AifoConfig, PieoConfig, SchedulerConfig};
use forebay_tm::trim::{CutPayloadConfig, NdpConfig, TrimConfig};
use forebay_tm::{
    Bytes, Departure, Duration, Eviction, Instant, Packet, PacketId, PerQueue, Rate, Tm, TmConfig, Verdict, Wire,
};

fn at(ps: u64) -> Instant {
    Instant::from_ps(ps)
}

fn packet(port: u32, bytes: u32) -> Packet {
    Packet { bytes, port, ..Packet::default() }
}

fn switch(ports: usize, buffer: u64) -> TmConfig {
    TmConfig::new(vec![Rate::from_gbps(10); ports], Bytes::new(buffer))
}

fn start(config: &TmConfig) -> Tm {
    Tm::new(config.clone().validate().unwrap())
}

#[test]
fn partitioning_does_not_overfill_a_buffer_that_was_shared_before() {
    let mut config = switch(2, 1_000);
    let mut tm = start(&config);
    for _ in 0..3 {
        tm.offer(at(0), &packet(0, 300), Wire::Busy);
    }
    config.policy = PolicyConfig::CompletePartitioning(CompletePartitioningConfig {});
    tm.reconfigure(config).unwrap();
    tm.offer(at(0), &packet(1, 300), Wire::Busy);
    assert!(tm.used() <= Bytes::new(1_000), "{}", tm.used());
}

#[test]
fn partitioning_does_not_overfill_a_buffer_with_headers_in_it() {
    let mut config = switch(2, 1_000);
    config.policy = PolicyConfig::CompletePartitioning(CompletePartitioningConfig {});
    config.trim = Some(TrimConfig::CutPayload(CutPayloadConfig::default()));
    let mut tm = start(&config);
    for _ in 0..10 {
        tm.offer(at(0), &packet(0, 500), Wire::Busy);
    }
    tm.offer(at(0), &packet(1, 500), Wire::Busy);
    assert!(tm.used() <= Bytes::new(1_000), "{}", tm.used());
}

#[test]
fn fba_remembers_what_it_saw_when_settings_are_given_again() {
    let mut config = switch(2, 10_000);
    config.policy = PolicyConfig::Fba(FbaConfig { interval: Duration::from_us(10), ..FbaConfig::default() });
    let mut tm = start(&config);
    for port in 0..2 {
        tm.offer(at(0), &packet(port, 1_000), Wire::Busy);
    }
    tm.advance(at(10_000_000));
    let before = tm.threshold(0).unwrap().value;
    tm.reconfigure(config).unwrap();
    assert_eq!(before, tm.threshold(0).unwrap().value);
}

#[test]
fn occamy_keeps_the_fraction_of_a_token_when_settings_are_given_again() {
    let expelled_at = |again: bool| {
        let mut config = switch(2, 10_000);
        let alpha = PerQueue::All(1.0);
        config.policy = PolicyConfig::Occamy(OccamyConfig { alpha, token_cell: Bytes::new(1_000), bucket: 1 });
        let mut tm = start(&config);
        for _ in 0..5 {
            tm.offer(at(0), &packet(0, 1_000), Wire::Busy);
        }
        tm.dequeue(at(0), 0);
        tm.offer(at(0), &packet(0, 1_000), Wire::Busy);
        for _ in 0..2 {
            tm.offer(at(200_000), &packet(1, 1_000), Wire::Busy);
        }
        if again {
            tm.reconfigure(config).unwrap();
        }
        tm.advance(at(10_000_000));
        tm.drain_evictions().map(|lost| lost.at.ps()).collect::<Vec<_>>()
    };
    assert_eq!(expelled_at(false), expelled_at(true));
    // A token of 1000 B at 20 Gb/s takes 400 ns.
    assert_eq!(expelled_at(false)[0], 400_000);
}

/// Headers and when they left.
#[derive(Default)]
struct Headers(Vec<u64>);

impl Observer for Headers {
    fn arrived(&mut self, _: Instant, _: &Packet, _: Verdict) {}
    fn started(&mut self, now: Instant, _: usize, departure: &Departure, _: Instant) {
        if departure.is_header() {
            self.0.push(now.ps());
        }
    }
    fn evicted(&mut self, _: Eviction) {}
}

#[test]
fn headers_do_not_wait_for_data_that_may_not_leave_yet() {
    let mut config = switch(1, 100_000);
    config.scheduler = SchedulerConfig::Pieo(PieoConfig { capacity: 10 });
    config.queue_capacity = Some(1);
    config.trim = Some(TrimConfig::Ndp(NdpConfig { header_ratio: 1, ..NdpConfig::default() }));
    let mut driver = Driver::new(start(&config));
    let mut headers = Headers::default();
    for id in 0..4 {
        let packet = Packet { id: PacketId(id), eligible: at(1_000_000_000), ..packet(0, 1_000) };
        driver.arrive(at(id), &packet, &mut headers).unwrap();
    }
    driver.finish(&mut headers).unwrap();
    assert_eq!(headers.0, [1, 51_201, 102_401]);
}

#[test]
fn the_virtual_time_of_stfq_does_not_fall_behind_a_cut_header() {
    let mut config = switch(1, 100_000);
    config.scheduler = SchedulerConfig::Aifo(AifoConfig { capacity: 100, headroom: 0.0, window: 1, sample: 1 });
    config.rank = RankConfig::Stfq(StfqConfig::default());
    let cut = CutPayloadConfig { size: Bytes::new(64), watermark: Some(Bytes::new(3_000)) };
    config.trim = Some(TrimConfig::CutPayload(cut));
    let mut tm = start(&config);
    for _ in 0..5 {
        tm.offer(at(0), &Packet { flow: 1, ..packet(0, 1_000) }, Wire::Busy);
    }
    for _ in 0..5 {
        tm.dequeue(at(0), 0);
    }
    let (_, why) = tm.offer_explained(at(0), &Packet { flow: 2, ..packet(0, 1_000) }, Wire::Busy);
    assert_eq!(why.rank_test.unwrap().rank, 3_000 << 20);
}

#[test]
fn the_intelligent_buffer_does_the_same_whether_it_is_woken_or_not() {
    let mut config = TmConfig::new(vec![Rate::from_gbps(100)], Bytes::new(10_000_000));
    config.policy = PolicyConfig::IntelligentBuffer(IntelligentBufferConfig {
        alpha: PerQueue::All(8.0),
        interval: Duration::from_us(10),
        reference: Bytes::new(10_000),
        initial_fair: Bytes::new(40_000),
        afd_from: Bytes::new(1_000),
        short_packets: 1,
        ..IntelligentBufferConfig::default()
    });
    let us = |n: u64| at(n * 1_000_000);
    let drop_probability = |wake: bool| {
        let mut tm = start(&config);
        let packet = |bytes| Packet { flow: 1, ..packet(0, bytes) };
        for _ in 0..3 {
            tm.offer(us(0), &packet(30_000), Wire::Busy);
        }
        tm.dequeue(us(31), 0);
        tm.dequeue(us(41), 0);
        if wake {
            (42..700).for_each(|time| tm.advance(us(time)));
        }
        tm.offer(us(701), &packet(1_000), Wire::Busy);
        let (_, why) = tm.offer_explained(us(711), &packet(1_000), Wire::Busy);
        why.threshold.unwrap().drop_probability
    };
    assert_eq!(drop_probability(true), drop_probability(false));
}

#[test]
fn an_arrival_at_the_last_instant_is_only_an_arrival() {
    let mut tm = start(&switch(1, 1_000));
    let verdict = tm.offer(Instant::NEVER, &packet(0, 500), Wire::Busy).verdict();
    assert_eq!(verdict, Verdict::Queued { marked: false });
    tm.advance(Instant::NEVER);
}
