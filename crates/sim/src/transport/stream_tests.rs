//! Tests of the sender against a pipe.

use super::super::Sender;
use super::super::config::{InitialWindow, TransportConfig};
use super::super::pipe::{Fate, Pipe, flow, rfc};
use super::*;
use forebay_tm::random::Random;
use forebay_tm::{Bytes, Rate};
use proptest::prelude::*;

const RTT: u64 = 80_000_000;
const START: u64 = 1_000_000;

fn config(name: &str, window: u32) -> TransportConfig {
    let mut config = rfc(name);
    config.common.initial_window = InitialWindow::Packets(window);
    config
}

fn fine(_: &Pipe, _: &Packet) -> Fate {
    Fate::default()
}

fn drop_first(lost: &'static [u32]) -> impl FnMut(&Pipe, &Packet) -> Fate {
    move |_, packet| Fate { drop: lost.contains(&packet.seq) && !packet.has(flag::RETRANSMISSION), ..Fate::default() }
}

#[test]
fn slow_start_takes_its_rounds() {
    // 10 + 20 + 40 + 80 = 150 packets in four rounds without serialization.
    for (packets, rounds) in [(1, 1), (10, 1), (11, 2), (150, 4), (151, 5)] {
        for name in ["reno", "cubic", "dctcp"] {
            let mut pipe = Pipe::new(&config(name, 10), packets, None);
            pipe.run_to_end(fine);
            assert_eq!(pipe.now.ps(), START + rounds * RTT, "{name} {packets}");
            assert_eq!(pipe.sent.len(), packets as usize);
            assert_eq!(pipe.sender.stats(), SenderStats::default());
            assert_eq!(pipe.sender.deadline(), Instant::NEVER);
        }
    }
}

#[test]
fn initial_windows() {
    let mut config = config("reno", 10);
    let first = |config: &TransportConfig, info: FlowInfo| {
        let mut sender = StreamSender::new(config, info, Instant::ZERO);
        core::iter::from_fn(|| sender.poll(Instant::ZERO)).take(10_000).count()
    };
    let info = flow(&config, 500);
    assert_eq!(first(&config, info), 10);
    config.common.initial_window = InitialWindow::Flow;
    assert_eq!(first(&config, info), 500);
    config.common.initial_window = InitialWindow::Bdp;
    // 100,000 bytes in packets of 1,500.
    assert_eq!(first(&config, info), 67);
    assert_eq!(first(&config, FlowInfo { base_rtt: Duration::from_ps(1), ..info }), 1);
    config.common.max_window = Some(20);
    assert_eq!(first(&config, info), 20);
}

#[test]
fn segments_tell_what_they_are() {
    let mut config = config("dctcp", 100);
    config.common.unscheduled = Some(Bytes::new(1_460 * 2 + 1));
    let info = FlowInfo { bytes: 1_460 * 4 + 7, packets: 5, ..flow(&config, 5) };
    let mut sender = StreamSender::new(&config, info, Instant::ZERO);
    let segments: Vec<Segment> = core::iter::from_fn(|| sender.poll(Instant::ZERO)).collect();
    let early = flag::ECT | flag::UNSCHEDULED;
    let expected = [
        (1_460, 5_847, early),
        (1_460, 4_387, early),
        (1_460, 2_927, early),
        (1_460, 1_467, flag::ECT),
        (7, 7, flag::ECT | flag::LAST),
    ];
    assert_eq!(segments.iter().map(|s| (s.payload, s.rank, s.flags)).collect::<Vec<_>>(), expected);
}

#[test]
fn an_endless_flow_overflows_nothing() {
    for window in [InitialWindow::Flow, InitialWindow::Packets(10)] {
        let mut config = config("dctcp", 10);
        config.common.initial_window = window;
        config.common.max_window = Some(100);
        let info = FlowInfo { bytes: FlowInfo::ENDLESS, packets: u32::MAX, ..flow(&config, 1) };
        let mut pipe = Pipe::of(&config, info, Some(Rate::from_gbps(10)));
        assert!(!pipe.run(Instant::from_ps(100 * RTT), fine, |_| false));
        assert!(pipe.sent.len() > 5_000);
        assert!(pipe.sent.iter().all(|(_, s)| s.payload == 1_460 && s.rank == u32::MAX && s.flags & flag::LAST == 0));
    }
}

#[test]
fn one_loss_in_a_large_window_halves_once_and_needs_no_timer() {
    for name in ["reno", "dctcp"] {
        let mut config = config(name, 100);
        config.common.initial_ssthresh = Some(100);
        let mut pipe = Pipe::new(&config, 400, None);
        pipe.run_to_end(drop_first(&[40]));
        assert_eq!(pipe.sender.stats(), SenderStats { retransmissions: 1, timeouts: 0 }, "{name}");
        assert_eq!(pipe.sendings(40), 2);
        // 100 (one of them lost), half of it while that is repaired, then 51, 52, 53, ...
        let mut rounds: Vec<usize> = Vec::new();
        let mut last = None;
        for (at, _) in &pipe.sent {
            if last != Some(*at) {
                rounds.push(0);
            }
            *rounds.last_mut().unwrap() += 1;
            last = Some(*at);
        }
        assert_eq!(rounds[0], 100);
        assert!(rounds[1..].iter().all(|packets| *packets <= 56), "{name} {rounds:?}");
        assert!((48..=52).contains(&rounds[2]), "{name} {rounds:?}");
    }
}

#[test]
fn many_losses_in_one_window_are_repaired_without_the_timer() {
    let mut pipe = Pipe::new(&config("reno", 100), 300, None);
    pipe.run_to_end(drop_first(&[3, 4, 5, 20, 21, 22, 23, 50, 60, 61, 90]));
    assert_eq!(pipe.sender.stats(), SenderStats { retransmissions: 11, timeouts: 0 });
}

#[test]
fn a_loss_at_the_end_needs_the_timer() {
    let mut config = config("reno", 100);
    config.common.rto_min = Duration::from_us(1_000);
    let mut pipe = Pipe::new(&config, 50, None);
    pipe.run_to_end(drop_first(&[48, 49]));
    assert_eq!(pipe.sender.stats(), SenderStats { retransmissions: 2, timeouts: 1 });
    // One round trip, then the timer, then 48, then 49 and what the window of one allows.
    assert_eq!(pipe.now.ps(), START + RTT + 1_000_000_000 + 2 * RTT);
}

#[test]
fn the_timer_backs_off_and_is_capped() {
    let mut config = config("reno", 4);
    config.common.rto_initial = Duration::from_us(1_000);
    config.common.rto_max = Duration::from_us(5_000);
    config.common.rto_min = Duration::from_us(1_000);
    let mut pipe = Pipe::new(&config, 4, None);
    pipe.run(Instant::from_ps(30_000_000_000), |_, _| Fate { drop: true, ..Fate::default() }, |_| false);
    let times: Vec<u64> = pipe.sent.iter().skip(4).map(|(at, _)| (at.ps() - START) / 1_000_000).collect();
    assert_eq!(times, [1_000, 3_000, 7_000, 12_000, 17_000, 22_000, 27_000]);
    assert!(pipe.sent.iter().skip(4).all(|(_, segment)| segment.seq == 0));
    assert_eq!(pipe.sender.stats().timeouts, 7);
}

#[test]
fn a_timeout_repairs_a_whole_lost_window_in_slow_start() {
    let mut pipe = Pipe::new(&config("reno", 64), 64, None);
    let timer = Instant::from_ps(START + 10_000_000_000);
    pipe.run_to_end(move |pipe, _| Fate { drop: pipe.now < timer, ..Fate::default() });
    // 1, 2, 4, ..., 32 and the rest: ssthresh is 32.
    assert_eq!(pipe.now.ps(), timer.ps() + 7 * RTT);
    assert_eq!(pipe.sender.stats(), SenderStats { retransmissions: 64, timeouts: 1 });
}

#[test]
fn dctcp_keeps_the_queue_at_the_threshold() {
    let mut config = config("dctcp", 10);
    config.common.ecn = true;
    let info = FlowInfo { bytes: FlowInfo::ENDLESS, packets: u32::MAX, ..flow(&config, 1) };
    let mut pipe = Pipe::of(&config, info, Some(Rate::from_gbps(10)));
    let threshold = 30_000;
    let (mut least, mut most) = (u64::MAX, 0);
    let warm = Instant::from_ps(400 * RTT);
    pipe.run(
        Instant::from_ps(1_600 * RTT),
        |pipe, _| {
            let queued = pipe.queued();
            if pipe.now > warm {
                least = least.min(queued);
                most = most.max(queued);
            }
            Fate { mark: queued > threshold, ..Fate::default() }
        },
        |_| false,
    );
    // The paper, N = 1: W* = (C RTT + K) / packet = 87 packets, alpha = sqrt(2 / W*) = 0.152, the amplitude
    // (W* + 1) alpha / 2 = 6.7 packets below K + 1.
    let packet = 1_500.0;
    let w = (100_000.0 + threshold as f64) / packet;
    let amplitude = (w + 1.0) * (2.0 / w).sqrt() / 2.0 * packet;
    let swing = (most - least) as f64;
    assert!((threshold..threshold + 3 * 1_500).contains(&most), "{most}");
    assert!((swing - amplitude).abs() < 3.0 * packet, "{swing} {amplitude}");
}

#[test]
fn reno_fills_a_link_with_a_shallow_buffer() {
    let config = config("reno", 10);
    let mut pipe = Pipe::new(&config, 60_000, Some(Rate::from_gbps(10)));
    pipe.run_to_end(|pipe, _| Fate { drop: pipe.queued() > 100_000, ..Fate::default() });
    let ideal = Rate::from_gbps(10).serialization(60_000 * 1_500).ps();
    assert!(pipe.now.ps() < ideal * 11 / 10, "{} {ideal}", pipe.now.ps());
    assert_eq!(pipe.sender.stats().timeouts, 0);
    assert!(pipe.sender.stats().retransmissions > 0);
}

#[test]
fn powertcp_fills_the_link_and_keeps_the_queue_short() {
    for name in ["powertcp", "theta-powertcp"] {
        let config = rfc(name);
        let mut pipe = Pipe::new(&config, 20_000, Some(Rate::from_gbps(5)));
        let mut most = 0;
        let warm = Instant::from_ps(50 * RTT);
        pipe.run_to_end(|pipe, _| {
            if pipe.now > warm {
                most = most.max(pipe.queued());
            }
            Fate::default()
        });
        let ideal = Rate::from_gbps(5).serialization(20_000 * 1_500).ps();
        assert!(pipe.now.ps() < ideal * 106 / 100, "{name}: {} {ideal}", pipe.now.ps());
        // The BDP of the bottleneck is 50,000 bytes, the equilibrium's queue is the additive step, 1,000 bytes.
        assert!(most < 15_000, "{name}: {most}");
    }
}

#[test]
fn pacing_spreads_the_window() {
    let mut config = rfc("powertcp");
    config.common.initial_window = InitialWindow::Packets(8);
    let mut pipe = Pipe::new(&config, 8, None);
    pipe.run_to_end(fine);
    let times: Vec<u64> = pipe.sent.iter().map(|(at, _)| at.ps() - START).collect();
    assert_eq!(times, (0..8).map(|packet| packet * RTT / 8).collect::<Vec<_>>());
}

#[test]
fn pacing_works_from_the_start_of_time() {
    for name in ["powertcp", "theta-powertcp", "timely"] {
        let config = rfc(name);
        let mut sender = StreamSender::new(&config, flow(&config, 100), Instant::ZERO);
        for packet in 0..10 {
            let now = Instant::from_ps(packet * 1_200_000);
            assert!(sender.poll(now).is_some(), "{name} {packet}");
            assert!(sender.poll(now).is_none(), "{name} {packet}");
            // 67 packets in 80 us, or one in the 1.2 us that it takes on the wire.
            let gap = sender.deadline().since(now).ps();
            assert!((1_190_000..=1_200_000).contains(&gap), "{name} {gap}");
        }
    }
}

#[test]
fn a_loss_that_turns_out_to_be_none_does_not_let_new_packets_through() {
    let mut config = config("powertcp", 40);
    config.common.max_window = Some(40);
    let mut sender = StreamSender::new(&config, flow(&config, 100), Instant::ZERO);
    let mut now = 0;
    for _ in 0..40 {
        assert!(sender.poll(Instant::from_ps(now)).is_some());
        now = sender.deadline().ps().min(now + RTT / 40);
    }
    let reply = |seq, echo, block| Packet { kind: Kind::Ack, seq, echo, block, ..Packet::default() };
    sender.on_reply(Instant::from_ps(now), &reply(0, 3, (1, 4)), None);
    assert!(sender.urgent);
    // The packet arrives after all, before pacing lets its copy go.
    sender.on_reply(Instant::from_ps(now), &reply(4, 0, (0, 0)), None);
    assert!(!sender.urgent);
    assert_eq!(sender.phase, Phase::Recovery);
    assert_eq!(sender.poll(Instant::from_ps(now + RTT)).map(|segment| segment.seq), Some(40));
}

#[test]
fn timely_holds_the_round_trip_between_its_limits() {
    let config = rfc("timely");
    let info = FlowInfo { bytes: FlowInfo::ENDLESS, packets: u32::MAX, ..flow(&config, 1) };
    let mut pipe = Pipe::of(&config, info, Some(Rate::from_gbps(5)));
    let mut most = 0;
    let warm = Instant::from_ps(1_000 * RTT);
    pipe.run(
        Instant::from_ps(4_000 * RTT),
        |pipe, _| {
            if pipe.now > warm {
                most = most.max(pipe.queued());
            }
            Fate::default()
        },
        |_| false,
    );
    // t_high is 500 us, of which 420 us may be queueing at 5 Gb/s; there is some overshoot.
    assert!(most < 420 * 625 * 5 / 4, "{most}");
    let sent = pipe.sent.iter().filter(|(at, _)| *at > warm).count() as u64 * 1_500;
    // It swings: a rise of a tenth of the base RTT costs 7% of the rate, and one step is 2%.
    let carried = 3_000 * 80 * 625;
    assert!(sent > carried * 6 / 10 && sent < carried * 11 / 10, "{sent} {carried}");
}

#[test]
fn delayed_acks_carry_a_flow() {
    let mut config = config("dctcp", 10);
    config.common.ack_every = 4;
    let mut pipe = Pipe::new(&config, 1_001, Some(Rate::from_gbps(10)));
    let mut acks = 0;
    let done = pipe.run(
        Instant::from_ps(1_000_000_000_000),
        |pipe, _| Fate { mark: pipe.queued() > 20_000, ..Fate::default() },
        |_| {
            acks += 1;
            false
        },
    );
    assert!(done);
    assert_eq!(pipe.sender.stats(), SenderStats::default());
    assert!((251..500).contains(&acks), "{acks}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn every_flow_ends_whatever_the_pipe_does(
        seed in any::<u64>(),
        packets in 1u32..600,
        window in 1u32..200,
        name in prop::sample::select(vec!["reno", "cubic", "dctcp", "timely", "powertcp", "theta-powertcp"]),
        loss in 0.0..0.3f64,
        reorder in 0.0..0.3f64,
        repeat in 0.0..0.2f64,
        ack_loss in 0.0..0.3f64,
        ack_every in 1u32..4,
    ) {
        let mut config = config(name, window);
        config.common.ack_every = ack_every;
        config.common.rto_min = Duration::from_us(300);
        config.common.rto_max = Duration::from_us(5_000);
        let mut random = Random::stream(seed, "pipe", 0);
        let mut acks = Random::stream(seed, "acks", 0);
        let mut pipe = Pipe::new(&config, packets, Some(Rate::from_gbps(10)));
        let done = pipe.run(
            Instant::from_ps(100_000_000_000_000),
            |_, _| Fate {
                drop: random.unit() < loss,
                mark: random.unit() < 0.1,
                repeat: random.unit() < repeat,
                delay: if random.unit() < reorder { Duration::from_us(30) } else { Duration::ZERO },
            },
            |_| acks.unit() < ack_loss,
        );
        prop_assert!(done);
        prop_assert!(pipe.receiver.is_complete());
        prop_assert_eq!(pipe.receiver.received(), packets);
        // Every packet was sent, first without and then with the flag of a retransmission.
        let mut first = vec![true; packets as usize];
        for (_, segment) in &pipe.sent {
            let first = core::mem::replace(&mut first[segment.seq as usize], false);
            prop_assert_eq!(segment.flags & flag::RETRANSMISSION == 0, first);
        }
        prop_assert!(!first.contains(&true));
        let again = pipe.sent.len() as u32 - packets;
        prop_assert_eq!(pipe.sender.stats().retransmissions, again);
        let Sender::Stream(sender) = &pipe.sender else { panic!() };
        prop_assert!(sender.scoreboard.is_clean());
    }

    #[test]
    fn without_loss_nothing_is_sent_twice(packets in 1u32..2_000, window in 1u32..300) {
        for name in ["reno", "cubic", "dctcp", "timely", "powertcp", "theta-powertcp"] {
            let mut pipe = Pipe::new(&config(name, window), packets, Some(Rate::from_gbps(10)));
            pipe.run_to_end(fine);
            prop_assert_eq!(pipe.sent.len(), packets as usize);
        }
    }
}

#[test]
fn a_handshake_takes_a_round_trip() {
    for name in ["reno", "cubic", "dctcp", "timely", "powertcp"] {
        let mut config = config(name, 10);
        config.common.handshake = true;
        let mut pipe = Pipe::new(&config, 10, None);
        pipe.run_to_end(fine);
        assert_eq!((pipe.sent[0].1.kind, pipe.sent[0].1.payload), (Kind::Probe, 0), "{name}");
        assert_eq!(pipe.sent[1].0.ps(), START + RTT, "{name}");
        assert_eq!(pipe.sent.len(), 11, "{name}");
        assert_eq!(pipe.sender.deadline(), Instant::NEVER, "{name}");
    }
}

#[test]
fn a_handshake_that_is_lost_is_tried_again_and_costs_the_window() {
    let mut config = config("reno", 10);
    config.common.handshake = true;
    let mut tries = 0;
    let mut pipe = Pipe::new(&config, 3, None);
    pipe.run_to_end(|_, packet| {
        tries += u32::from(packet.kind == Kind::Probe);
        Fate { drop: packet.kind == Kind::Probe && tries <= 2, ..Fate::default() }
    });
    // Timeouts of 10 and 20 ms, then a round trip, then 1 and 2 packets.
    assert_eq!(pipe.now.ps(), START + 30_000_000_000 + 3 * RTT);
    assert_eq!(pipe.sender.stats(), SenderStats { timeouts: 2, retransmissions: 0 });
}

/// A sender that acknowledges the SYN-ACK by a packet of its own.
fn with_handshake_ack() -> TransportConfig {
    let mut config = config("reno", 10);
    config.common.handshake = true;
    config.common.handshake_ack = HandshakeAck::Alone;
    config
}

#[test]
fn a_handshake_ack_of_its_own_goes_before_the_data() {
    let mut pipe = Pipe::new(&with_handshake_ack(), 10, None);
    pipe.run_to_end(fine);
    let kinds: Vec<_> = pipe.sent.iter().map(|(_, segment)| (segment.kind, segment.seq)).take(3).collect();
    assert_eq!(kinds, [(Kind::Probe, 0), (Kind::Probe, CONFIRMS), (Kind::Data, 0)]);
    assert_eq!((pipe.sent[1].0.ps(), pipe.sent[2].0.ps()), (START + RTT, START + RTT));
    assert_eq!(pipe.sent[1].1.rank, pipe.sent[0].1.rank, "it has the rank of the whole flow");
    assert_eq!((pipe.sent.len(), pipe.now.ps()), (12, START + 2 * RTT));
}

#[test]
fn data_that_overtakes_the_handshake_ack_waits_for_the_timer() {
    let late = |_: &Pipe, packet: &Packet| {
        let is_late = packet.kind == Kind::Probe && packet.seq == CONFIRMS;
        Fate { delay: Duration::from_us(if is_late { 1 } else { 0 }), ..Fate::default() }
    };
    let mut pipe = Pipe::new(&with_handshake_ack(), 3, None);
    pipe.run_to_end(late);
    // All of the first window was discarded: the timeout of 10 ms, then 1 and 2 packets.
    assert_eq!(pipe.now.ps(), START + RTT + 10_000_000_000 + 2 * RTT);
    assert_eq!(pipe.sender.stats(), SenderStats { timeouts: 1, retransmissions: 3 });
    // The first data packet acknowledges the handshake otherwise, and nothing is lost.
    let mut config = with_handshake_ack();
    config.common.handshake_ack = HandshakeAck::WithData;
    let mut pipe = Pipe::new(&config, 3, None);
    pipe.run_to_end(late);
    assert_eq!(pipe.now.ps(), START + 2 * RTT);
}

#[test]
fn a_handshake_ack_that_is_lost_is_asked_for_again() {
    let mut lost = 0;
    let mut pipe = Pipe::new(&with_handshake_ack(), 3, None);
    pipe.run_to_end(|_, packet| {
        let is_ack = packet.kind == Kind::Probe && packet.seq == CONFIRMS;
        lost += u32::from(is_ack);
        Fate { drop: is_ack && lost == 1, ..Fate::default() }
    });
    assert_eq!(lost, 2, "the SYN-ACK came again, and was acknowledged again");
    assert!(pipe.sender.is_done() && pipe.receiver.is_complete());
}

#[test]
fn newreno_repairs_one_loss_a_round_trip() {
    for (recovery, rounds) in [(Recovery::Sack, 2), (Recovery::NewReno, 4)] {
        let mut config = config("reno", 40);
        config.common.recovery = recovery;
        let mut pipe = Pipe::new(&config, 40, None);
        pipe.run_to_end(drop_first(&[3, 10, 20]));
        assert_eq!(pipe.now.ps(), START + rounds * RTT, "{recovery:?}");
        assert_eq!(pipe.sender.stats(), SenderStats { retransmissions: 3, timeouts: 0 }, "{recovery:?}");
    }
}

#[test]
fn newreno_sends_less_again_where_packets_overtake_each_other() {
    // The first comes last.
    let late =
        |_: &Pipe, packet: &Packet| Fate { delay: Duration::from_us(u64::from(40 - packet.seq)), ..Fate::default() };
    let again = |recovery| {
        let mut config = config("reno", 40);
        config.common.recovery = recovery;
        let mut pipe = Pipe::new(&config, 40, None);
        pipe.run_to_end(late);
        pipe.sender.stats().retransmissions
    };
    assert!(again(Recovery::Sack) > 20);
    assert_eq!(again(Recovery::NewReno), 1);
}
