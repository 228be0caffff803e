//! DCQCN by the paper's rules, and Go-Back-N.

use super::*;
use crate::transport::TransportConfig;

const LINE: f64 = 100e9;

fn at(us: u64) -> Instant {
    Instant::from_ps(us * 1_000_000)
}

fn limiter() -> RateLimiter {
    RateLimiter::new(&DcqcnConfig::default(), Rate::from_gbps(100))
}

fn flow(packets: u32) -> FlowInfo {
    FlowInfo {
        bytes: u64::from(packets) * 1_024,
        packets,
        base_rtt: Duration::from_us(8),
        open_rtt: Duration::from_us(8),
        rate: Rate::from_gbps(100),
        number: 0,
        seed: 1,
        until: Instant::NEVER,
    }
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-6 * b.abs()
}

#[test]
fn the_first_notification_halves_the_rate_and_time_brings_it_back() {
    let mut limiter = limiter();
    limiter.cut(at(100));
    assert!(close(limiter.rate, LINE / 2.0) && close(limiter.target, LINE) && close(limiter.alpha, 1.0));
    // Fast recovery: half of the way at each step.
    for (step, share) in [(1, 0.75), (2, 0.875), (3, 0.9375), (4, 0.96875), (5, 0.984375)] {
        limiter.catch_up(at(100 + 55 * step));
        assert!(close(limiter.rate, LINE * share), "{step}: {}", limiter.rate);
    }
    // Alpha has decayed as often.
    assert!(close(limiter.alpha, (255.0f64 / 256.0).powi(5)), "{}", limiter.alpha);
}

#[test]
fn additive_and_hyper_increase_follow_fast_recovery() {
    let mut limiter = limiter();
    limiter.cut(at(0));
    limiter.cut(at(1));
    // Alpha was 1 both times: a quarter, with half as target.
    assert!(close(limiter.rate, LINE / 4.0) && close(limiter.target, LINE / 2.0));
    (limiter.by_time, limiter.rate) = (5, LINE / 2.0);
    limiter.catch_up(at(1 + 55));
    assert!(close(limiter.target, LINE / 2.0 + 40e6), "additive: {}", limiter.target);
    (limiter.by_time, limiter.by_bytes) = (6, 7);
    limiter.catch_up(at(1 + 110));
    assert!(close(limiter.target, LINE / 2.0 + 40e6 + 2.0 * 400e6), "hyper: {}", limiter.target);
}

#[test]
fn bytes_count_as_steps_too() {
    let mut limiter = limiter();
    limiter.cut(at(0));
    for _ in 0..9_999 {
        limiter.sent(at(1), 1_000);
    }
    assert!(close(limiter.rate, LINE / 2.0));
    let gap = limiter.sent(at(1), 1_000);
    assert!(close(limiter.rate, LINE * 0.75));
    assert_eq!(gap, Duration::from_ps(106_667), "8,000 bits at 75 Gb/s");
}

#[test]
fn marked_packets_notify_once_in_an_interval() {
    let mut receiver = DcqcnReceiver::new(&DcqcnConfig::default(), flow(100));
    let mut notified = Vec::new();
    for seq in 0..30 {
        let mut packet = Packet { seq, flags: flag::CE | flag::ECT, ..Packet::default() };
        assert_eq!(receiver.on_packet(at(u64::from(seq) * 10), &mut packet), Reply::Packet);
        assert_eq!((packet.kind, packet.seq), (Kind::Ack, seq + 1));
        if packet.has(flag::CE) {
            notified.push(seq * 10);
        }
    }
    assert_eq!(notified, [0, 50, 100, 150, 200, 250]);
}

#[test]
fn a_gap_is_asked_for_once_and_the_sender_goes_back() {
    let common = TransportConfig::named("dcqcn").unwrap().common;
    let mut sender = DcqcnSender::new(&common, &DcqcnConfig::default(), flow(8), at(0));
    let mut receiver = DcqcnReceiver::new(&DcqcnConfig::default(), flow(8));
    let mut now = at(0);
    let mut order = Vec::new();
    let mut answers = Vec::new();
    while !sender.is_done() {
        while let Some(segment) = sender.poll(now) {
            order.push(segment.seq);
            // The third packet is lost the first time.
            if segment.seq == 2 && segment.flags & flag::RETRANSMISSION == 0 {
                continue;
            }
            let mut packet = Packet { seq: segment.seq, flags: segment.flags, ..Packet::default() };
            if receiver.on_packet(now, &mut packet) == Reply::Packet {
                answers.push((packet.kind, packet.seq));
                // It is back when packet 5 has left.
                if segment.seq == 5 || order.len() > 6 {
                    sender.on_reply(now, &packet);
                } else if packet.kind == Kind::Nack {
                    assert_eq!(packet.seq, 2);
                }
            }
            if order.len() == 6 {
                sender.on_reply(now, &Packet { kind: Kind::Nack, seq: 2, ..Packet::default() });
            }
        }
        if sender.deadline() < Instant::NEVER {
            now = sender.deadline();
            sender.on_deadline(now);
        }
    }
    assert_eq!(order, [0, 1, 2, 3, 4, 5, 2, 3, 4, 5, 6, 7]);
    assert_eq!(answers.iter().filter(|(kind, _)| *kind == Kind::Nack).count(), 1);
    assert_eq!((sender.stats().retransmissions, sender.stats().timeouts), (4, 0));
    assert!(receiver.is_complete() && receiver.received() == 8);
}

#[test]
fn the_timer_repairs_a_lost_tail() {
    let common = TransportConfig::named("dcqcn").unwrap().common;
    let mut sender = DcqcnSender::new(&common, &DcqcnConfig::default(), flow(2), at(0));
    assert_eq!(sender.poll(at(0)).unwrap().seq, 0);
    let second = sender.deadline();
    assert_eq!(second, Instant::from_ps(86_880), "1,086 bytes at 100 Gb/s");
    assert_eq!(sender.poll(second).unwrap().seq, 1);
    sender.on_reply(at(10), &Packet { kind: Kind::Ack, seq: 1, ..Packet::default() });
    let due = sender.deadline();
    assert_eq!(due, at(10) + Duration::from_ps(67_108_864_000));
    sender.on_deadline(due);
    let again = sender.poll(due).unwrap();
    assert_eq!((again.seq, again.flags & flag::RETRANSMISSION != 0, sender.stats().timeouts), (1, true, 1));
}
