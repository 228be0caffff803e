//! Tests of both ends against a pipe.

use super::super::config::{InitialWindow, TransportConfig};
use super::super::pipe::{Fate, Pipe, flow};
use super::super::{FlowInfo, Sender, SenderStats};
use super::sender::{LinuxSender, State};
use crate::packet::{Packet, flag};
use forebay_tm::random::Random;
use forebay_tm::{Bytes, Duration, Instant, Rate};
use proptest::prelude::*;

/// A round trip of 40 ms, as the kernel's scripts have it.
const RTT: u64 = 40_000;

fn config(name: &str, window: u32) -> TransportConfig {
    let mut config = TransportConfig::named(name).unwrap();
    config.common.initial_window = InitialWindow::Packets(window);
    config.linux.timer_tick = Duration::ZERO;
    config.linux.pacing = false;
    config
}

fn long(config: &TransportConfig, packets: u32) -> FlowInfo {
    let rtt = Duration::from_us(RTT);
    FlowInfo { base_rtt: rtt, open_rtt: rtt, rate: Rate::from_bps(10_000_000), ..flow(config, packets) }
}

fn run(config: &TransportConfig, packets: u32, fate: impl FnMut(&Pipe, &Packet) -> Fate) -> Pipe {
    let mut pipe = Pipe::of(config, long(config, packets), None);
    pipe.run_to_end(fate);
    pipe
}

fn linux(pipe: &Pipe) -> &LinuxSender {
    let Sender::Linux(sender) = &pipe.sender else { panic!("not Linux's") };
    sender
}

fn drop_first(lost: &'static [u32]) -> impl FnMut(&Pipe, &Packet) -> Fate {
    move |_, packet| Fate { drop: lost.contains(&packet.seq) && !packet.has(flag::RETRANSMISSION), ..Fate::default() }
}

/// When a packet was sent again, in microseconds from the start.
fn again(pipe: &Pipe, seq: u32) -> Vec<u64> {
    let start = pipe.sent[0].0;
    let sendings = pipe.sent.iter().filter(|(_, segment)| segment.seq == seq).skip(1);
    sendings.map(|(at, _)| at.since(start).ps() / 1_000_000).collect()
}

#[test]
fn slow_start_takes_its_rounds() {
    for (packets, rounds) in [(1, 1), (10, 1), (11, 2), (30, 2), (31, 3), (70, 3)] {
        for name in ["reno", "cubic", "dctcp"] {
            let pipe = run(&config(name, 10), packets, |_, _| Fate::default());
            let took = pipe.now.since(pipe.sent[0].0);
            assert_eq!(took, Duration::from_us(rounds * RTT), "{name} {packets}");
            assert_eq!(pipe.sender.stats(), SenderStats::default());
            assert_eq!(pipe.sender.deadline(), Instant::NEVER);
        }
    }
}

#[test]
fn one_loss_is_repaired_in_a_round_trip_and_cuts_once() {
    for (name, left) in [("reno", 6), ("cubic", 9), ("dctcp", 6)] {
        let pipe = run(&config(name, 10), 11, drop_first(&[3]));
        assert_eq!(pipe.sender.stats(), SenderStats { retransmissions: 1, timeouts: 0 }, "{name}");
        assert_eq!(again(&pipe, 3), [RTT], "{name}");
        let sender = linux(&pipe);
        assert_eq!((sender.state, sender.window.threshold), (State::Open, left), "{name}");
    }
}

/// A probe is due while the flow's packets are all out: the last one goes again only if it has left the host, as in the
/// kernel.
#[test]
fn a_probe_does_not_repeat_what_is_still_in_its_host() {
    for (in_host, repeated) in [(false, Some(2)), (true, None)] {
        let config = config("reno", 10);
        let mut sender = LinuxSender::new(&config, long(&config, 3), Instant::ZERO, None);
        let sent = std::iter::from_fn(|| sender.poll(Instant::ZERO)).map(|segment| segment.seq);
        assert!(sent.eq(0..3));
        let due = sender.deadline();
        sender.set_in_host(in_host);
        sender.on_deadline(due);
        assert_eq!(sender.poll(due).map(|segment| segment.seq), repeated);
        assert_eq!(sender.stats().retransmissions, u32::from(!in_host));
        assert!(sender.deadline() > due, "the timeout is next");
    }
}

#[test]
fn a_lost_tail_is_probed_after_two_round_trips() {
    let pipe = run(&config("reno", 10), 10, drop_first(&[9]));
    // The ACKs of the others come in after a round trip; then 2 srtt and 200 ms, for one packet is out.
    assert_eq!(again(&pipe, 9), [RTT + 240_000], "the timeout is as early as the probe");
    let pipe = run(&config("reno", 10), 10, drop_first(&[8, 9]));
    assert_eq!(again(&pipe, 9), [RTT + 2 * RTT + 2_000], "the probe is the last packet");
    assert_eq!(pipe.sender.stats().timeouts, 0);
    assert_eq!(pipe.sender.stats().retransmissions, 2);
    assert_eq!(pipe.sendings(8), 2);
}

#[test]
fn without_probes_a_lost_tail_waits_for_the_timer() {
    let mut config = config("reno", 10);
    config.linux.tail_loss_probe = false;
    let pipe = run(&config, 10, drop_first(&[8, 9]));
    assert_eq!(again(&pipe, 8), [RTT + 240_000]);
    assert_eq!(pipe.sender.stats().timeouts, 1);
}

#[test]
fn a_lost_retransmission_is_found_by_time() {
    let mut lost = 0;
    let pipe = run(&config("reno", 10), 40, |_, packet| {
        let drop = packet.seq == 3 && lost < 2;
        lost += u32::from(drop);
        Fate { drop, ..Fate::default() }
    });
    assert_eq!(pipe.sender.stats().timeouts, 0);
    assert_eq!(pipe.sendings(3), 3);
    let mut counting = config("reno", 10);
    counting.linux.loss_detection = super::LossDetection::Count;
    let mut lost = 0;
    let pipe = run(&counting, 40, |_, packet| {
        let drop = packet.seq == 3 && lost < 2;
        lost += u32::from(drop);
        Fate { drop, ..Fate::default() }
    });
    assert_eq!(pipe.sender.stats().timeouts, 1, "counting cannot find it");
}

#[test]
fn late_packets_are_not_lost_once_reordering_is_known() {
    // Packet 3 overtaken by all others of its window: taken for lost, and that is taken back.
    let late = |_: &Pipe, packet: &Packet| {
        let late = packet.seq == 3 && !packet.has(flag::RETRANSMISSION);
        Fate { delay: Duration::from_us(if late { 5_000 } else { 0 }), ..Fate::default() }
    };
    let pipe = run(&config("reno", 10), 60, late);
    assert_eq!(pipe.sender.stats(), SenderStats { retransmissions: 1, timeouts: 0 });
    let sender = linux(&pipe);
    assert!(sender.reorderings > 0);
    assert!(sender.window.size >= 10, "the cut was taken back: {}", sender.window.size);
    let mut stubborn = config("reno", 10);
    stubborn.linux.undo = false;
    assert_eq!(linux(&run(&stubborn, 60, late)).window.threshold, 6);
}

#[test]
fn a_spurious_timeout_is_taken_back() {
    // The network stands still for longer than the timeout.
    let still = |pipe: &Pipe, packet: &Packet| {
        let until = Instant::from_ps(600_000_000_000);
        let delay = if packet.seq >= 10 && pipe.now < until { until.since(pipe.now) } else { Duration::ZERO };
        Fate { delay, ..Fate::default() }
    };
    let pipe = run(&config("reno", 10), 200, still);
    let sender = linux(&pipe);
    assert_eq!(sender.window.threshold, super::control::NO_THRESHOLD, "as if nothing had been");
    // The probe was new data; the first packet was sent again, and nothing else.
    assert_eq!(pipe.sender.stats(), SenderStats { retransmissions: 1, timeouts: 1 });
    let mut stubborn = config("reno", 10);
    (stubborn.linux.frto, stubborn.linux.undo) = (false, false);
    assert!(run(&stubborn, 200, still).sender.stats().retransmissions > 1);
}

#[test]
fn marks_cut_in_proportion() {
    // Every packet of the second window is marked.
    let mark = |_: &Pipe, packet: &Packet| Fate { mark: (10..30).contains(&packet.seq), ..Fate::default() };
    let mut dctcp = config("dctcp", 10);
    if let super::super::TransportKind::Dctcp(own) = &mut dctcp.kind {
        own.initial_alpha = 0.0;
    }
    let pipe = run(&dctcp, 300, mark);
    // One window of marks: alpha = 1/16, and that of 20 packets is less than one packet.
    assert!(linux(&pipe).control.alpha().unwrap() <= 64);
    assert!(linux(&pipe).window.threshold >= 18, "{}", linux(&pipe).window.threshold);
    let mut reno = config("reno", 10);
    reno.common.ecn = true;
    let pipe = run(&reno, 300, mark);
    assert!((5..=10).contains(&linux(&pipe).window.threshold), "{}", linux(&pipe).window.threshold);
}

#[test]
fn the_first_flight_ends_at_the_receive_window() {
    let pipe = run(&config("reno", 100), 100, |_, _| Fate::default());
    let first = pipe.sent.iter().filter(|(at, _)| *at == pipe.sent[0].0).count();
    assert_eq!(first, 65_535 / 1_460);
    let mut wide = config("reno", 100);
    wide.common.receive_window = Some(Bytes::new(1_000_000));
    let pipe = run(&wide, 100, |_, _| Fate::default());
    assert!(pipe.sent.iter().all(|(at, _)| *at == pipe.sent[0].0));
    // A handshake has no scale for its window.
    wide.common.handshake = true;
    let pipe = run(&wide, 100, |_, _| Fate::default());
    let first = pipe.sent.iter().filter(|(at, _)| *at == pipe.sent[1].0).count();
    assert_eq!(first, 65_535 / 1_460);
}

/// What comes in in a round trip grows with the queue that the flow itself builds, and with it the receive window: it
/// limits nothing for long, however short the round trip is without a queue.
#[test]
fn the_receive_window_follows_the_queue() {
    for (base, rate) in [(1_300, 20_000_000), (20, 10_000_000_000)] {
        let config = config("reno", 10);
        let base_rtt = Duration::from_us(base);
        let rate = Rate::from_bps(rate);
        let flow = FlowInfo { base_rtt, open_rtt: base_rtt, rate, ..flow(&config, 5_000) };
        let mut pipe = Pipe::of(&config, flow, Some(rate));
        let mut longest = 0;
        pipe.run_to_end(|pipe, _| {
            longest = longest.max(pipe.queued());
            Fate::default()
        });
        assert!(longest > 1_000_000, "{base} us: {longest}");
    }
}

/// Linux 6.18 through a port of 10 Mb/s with a long queue, with a round trip of 20.4 ms: when it acknowledged these
/// packets, it had room for so many (`receive_buffer = "auto"` in a script).
#[test]
fn the_receive_window_grows_as_in_the_kernel() {
    let kernel = [(100, 104.7), (300, 407.3), (500, 632.0)];
    let mut config = config("reno", 10);
    config.common.mss = 1_448;
    let (base_rtt, rate) = (Duration::from_us(20_400), Rate::from_bps(10_000_000));
    let flow = FlowInfo { base_rtt, open_rtt: base_rtt, rate, ..flow(&config, 900) };
    let mut pipe = Pipe::of(&config, flow, Some(rate));
    let mut rooms = Vec::new();
    let end = Instant::from_ps(10_000_000_000_000);
    let note = |ack: &Packet| {
        rooms.push((ack.seq, ack.window));
        false
    };
    assert!(pipe.run(end, |_, _| Fate::default(), note));
    for (seq, room) in kernel {
        let (_, own) = rooms.iter().find(|(acked, _)| *acked >= seq).unwrap();
        assert!((f64::from(*own) / room - 1.0).abs() < 0.15, "at {seq}: {own}, {room}");
    }
}

#[test]
fn a_pause_brings_the_window_back() {
    let ms = |ms: u64| Duration::from_us(ms * 1_000);
    for (restart, second) in [(true, 10), (false, 40)] {
        let mut config = config("reno", 10);
        config.linux.idle_restart = restart;
        let mut pipe = Pipe::of(&config, long(&config, 110), None);
        let writes: super::Writes = [(ms(0), 70), (ms(1_000), 110)].into();
        let now = pipe.now;
        let Sender::Linux(sender) = &mut pipe.sender else { panic!() };
        **sender = (**sender).clone().with_writes(now, writes);
        pipe.run_to_end(|_, _| Fate::default());
        let at_once = pipe.sent.iter().filter(|(at, _)| *at == now + ms(1_000)).count();
        assert_eq!(at_once, second, "{restart}");
    }
}

#[test]
fn a_connection_remembers_its_window() {
    let config = config("cubic", 10);
    let pipe = run(&config, 70, |_, _| Fate::default());
    let connection = linux(&pipe).leave().unwrap();
    let soon = pipe.now + Duration::from_us(1_000);
    let mut next = LinuxSender::new(&config, long(&config, 500), soon, Some(connection.clone()));
    let burst = core::iter::from_fn(|| next.poll(soon)).count();
    assert!(burst > 40, "{burst}");
    let later = pipe.now + Duration::from_us(10_000_000);
    let mut next = LinuxSender::new(&config, long(&config, 500), later, Some(connection));
    assert_eq!(core::iter::from_fn(|| next.poll(later)).count(), 10);
}

#[test]
fn pacing_spreads_a_window_over_its_round_trip() {
    let mut config = config("reno", 10);
    config.linux.pacing = true;
    let mut pipe = Pipe::of(&config, long(&config, 500), None);
    pipe.run_to_end(|_, _| Fate::default());
    // The first ten at once, then at twice the window per round trip: no instant has more than two packets of the
    // second window.
    let second: Vec<_> = pipe.sent[10..30].iter().map(|(at, _)| *at).collect();
    for at in &second {
        assert!(second.iter().filter(|other| *other == at).count() <= 2);
    }
    assert!(second[19].since(second[0]) >= Duration::from_us(RTT / 4));
    assert_eq!(pipe.sender.stats(), SenderStats::default());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]
    #[test]
    fn everything_arrives(
        seed in any::<u64>(),
        packets in 1u32..600,
        window in 1u32..60,
        loss in prop_oneof![Just(0.0), 0.0..0.3],
        reorder in prop_oneof![Just(0.0), 0.0..0.3],
        repeat in prop_oneof![Just(0.0), 0.0..0.1],
        ack_loss in prop_oneof![Just(0.0), 0.0..0.3],
        kind in 0usize..3,
        parts in any::<[bool; 8]>(),
        ticks in any::<bool>(),
    ) {
        let mut config = config(["reno", "cubic", "dctcp"][kind], window);
        let linux = &mut config.linux;
        if parts[0] { linux.loss_detection = super::LossDetection::Count; }
        linux.tail_loss_probe = parts[1];
        if parts[2] { linux.rate_reduction = super::RateReduction::AtOnce; }
        linux.frto = parts[3];
        linux.undo = parts[4];
        linux.pacing = parts[5];
        if parts[6] { linux.segmentation_offload = Some(Bytes::new(65_536)); }
        if ticks { linux.timer_tick = Duration::from_us(4_000); }
        config.common.handshake = parts[7];
        config.common.ecn = kind == 2 || parts[6];
        let mut random = Random::stream(seed, "pipe", 0);
        let mut acks = Random::stream(seed, "acks", 0);
        let mut pipe = Pipe::of(&config, long(&config, packets), Some(Rate::from_gbps(1)));
        let done = pipe.run(
            Instant::from_ps(10_000_000_000_000_000),
            |_, _| Fate {
                drop: random.unit() < loss,
                mark: random.unit() < 0.1,
                repeat: random.unit() < repeat,
                delay: if random.unit() < reorder { Duration::from_us(20_000) } else { Duration::ZERO },
            },
            |_| acks.unit() < ack_loss,
        );
        prop_assert!(done);
        prop_assert!(pipe.receiver.is_complete());
        prop_assert_eq!(pipe.receiver.received(), packets);
        let data = pipe.sent.iter().filter(|(_, segment)| segment.kind == crate::packet::Kind::Data);
        let mut first = vec![true; packets as usize];
        let mut again = 0;
        for (_, segment) in data {
            let first = core::mem::replace(&mut first[segment.seq as usize], false);
            prop_assert_eq!(segment.flags & flag::RETRANSMISSION == 0, first);
            again += u32::from(!first);
        }
        prop_assert!(!first.contains(&true));
        prop_assert_eq!(pipe.sender.stats().retransmissions, again);
    }
}
