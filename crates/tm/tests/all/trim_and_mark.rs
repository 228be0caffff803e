//! What becomes of rejected packets (trimming), and who carries a congestion mark.

use crate::common;

use common::{Op, Outcome, apply, at, bytes, is_queued, offer, operations, packet, send, start, switch};
use forebay_tm::View as _;
use forebay_tm::mark::{MarkAction, MarkConfig, RedConfig, StepConfig};
use forebay_tm::schedule::SchedulerConfig;
use forebay_tm::trim::{CutPayloadConfig, HeaderPriority, NdpConfig, SourceFlowControlConfig, TrimConfig};
use forebay_tm::{Instant, Packet, Reason, Tm, Verdict};
use proptest::prelude::*;
use std::collections::VecDeque;

// ---- NDP ----------------------------------------------------------------------------------------------------------

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// The header of every rejected packet waits for its turn, or, if the header queue is full, is returned or dropped.
    /// Whose turn it is follows the counter `h` of the specification (section 9).
    #[test]
    fn ndp_sends_the_header_of_every_rejected_packet(
        capacity in 0usize..6, ratio in 0u32..4, strict in any::<bool>(), return_to_sender in any::<bool>(),
        size in 1u32..200, queue_capacity in 1usize..4, ops in operations(2, 1, 150),
    ) {
        let mut config = switch(2, 1, 1_000_000);
        config.queue_capacity = Some(queue_capacity);
        let header_priority = if strict { HeaderPriority::Strict } else { HeaderPriority::Ratio };
        config.trim = Some(TrimConfig::Ndp(NdpConfig {
            size: bytes(u64::from(size)), header_capacity: capacity, header_ratio: ratio, header_priority,
            return_to_sender,
        }));
        let mut tm = start(&config);
        let mut headers = [VecDeque::new(), VecDeque::new()];
        let mut turn = [0; 2];
        let mut now = 0;
        for op in &ops {
            now += op.after();
            let waiting = [tm.queue_packets(0), tm.queue_packets(1)];
            let mut outcomes = Vec::new();
            apply(&mut tm, at(now), op, &mut outcomes);
            match (op, outcomes.first()) {
                (Op::Arrive { packet, .. }, Some(Outcome::Arrived(verdict))) => {
                    let port = packet.port as usize;
                    let reason = Reason::QueueFull;
                    let expected = if waiting[port] < queue_capacity {
                        Verdict::Queued { marked: false }
                    } else if headers[port].len() < capacity {
                        headers[port].push_back((packet.id, packet.bytes.min(size)));
                        Verdict::Trimmed { reason }
                    } else if return_to_sender {
                        Verdict::Returned { reason }
                    } else {
                        Verdict::Dropped { reason: Reason::HeaderFull }
                    };
                    prop_assert_eq!(*verdict, expected);
                }
                (Op::Transmit { port, .. }, Some(Outcome::Sent(departure))) => {
                    let (data, h) = (waiting[*port] > 0, &mut turn[*port]);
                    let header = !headers[*port].is_empty() && (!data || strict || *h < ratio);
                    if header && data && !strict {
                        *h += 1;
                    } else if data && !header {
                        *h = 0;
                    }
                    let is_header = departure.as_ref().map(forebay_tm::Departure::is_header);
                    prop_assert_eq!(is_header, (header || data).then_some(header));
                    if header {
                        let first = headers[*port].pop_front();
                        prop_assert_eq!(departure.as_ref().map(|d| (d.id, d.bytes())), first);
                    }
                }
                (_, outcome) => prop_assert!(outcome.is_none()),
            }
            prop_assert_eq!([tm.header_packets(0), tm.header_packets(1)], [headers[0].len(), headers[1].len()]);
        }
        let counters = tm.pool_counters();
        let waiting: usize = headers.iter().map(VecDeque::len).sum();
        prop_assert_eq!(counters.trimmed.packets, counters.headers_sent.packets + waiting as u64);
        prop_assert_eq!(tm.used().get(), counters.waiting.bytes, "headers have a memory of their own");
    }
}

// ---- Cut payload --------------------------------------------------------------------------------------------------

fn fill(tm: &mut Tm, first: u64, arrivals: u64) -> Vec<Verdict> {
    (first..first + arrivals).map(|id| offer(tm, Instant::ZERO, &packet(id, 0, 0, 1_000))).collect()
}

#[test]
fn a_cut_packet_keeps_its_place_in_its_queue() {
    let mut config = switch(1, 1, 100_000);
    config.queue_capacity = Some(3);
    config.cell = bytes(50);
    config.trim = Some(TrimConfig::CutPayload(CutPayloadConfig { size: bytes(64), watermark: None }));
    let mut tm = start(&config);
    let trimmed = Verdict::Trimmed { reason: Reason::QueueFull };
    let queued = Verdict::Queued { marked: false };
    assert_eq!(fill(&mut tm, 0, 5), [queued, queued, queued, trimmed, trimmed]);
    // A header is charged like any packet: 64 bytes are two cells of 50.
    assert_eq!(tm.used(), bytes(3 * 1_000 + 2 * 100));
    for _ in 0..3 {
        send(&mut tm, Instant::ZERO, 0);
    }
    // Two headers wait, and packet 5 waits behind them.
    assert_eq!(fill(&mut tm, 5, 1), [queued]);
    let left: Vec<_> =
        std::iter::from_fn(|| send(&mut tm, Instant::ZERO, 0)).map(|d| (d.id.0, d.bytes(), d.is_header())).collect();
    assert_eq!(left, [(3, 64, true), (4, 64, true), (5, 1_000, false)]);
}

#[test]
fn a_cut_packet_is_lost_if_its_header_does_not_fit() {
    let mut config = switch(1, 1, 2_100);
    config.trim = Some(TrimConfig::CutPayload(CutPayloadConfig { size: bytes(64), watermark: None }));
    let mut tm = start(&config);
    let verdicts = fill(&mut tm, 0, 4);
    assert_eq!(verdicts[2], Verdict::Trimmed { reason: Reason::Full }, "64 of the last 100 bytes");
    assert_eq!(verdicts[3], Verdict::Dropped { reason: Reason::HeaderFull }, "36 bytes are left");
    assert_eq!(tm.used(), bytes(2_064));
}

#[test]
fn a_watermark_cuts_before_the_policy_does() {
    let mut config = switch(1, 1, 1_000_000);
    config.trim = Some(TrimConfig::CutPayload(CutPayloadConfig { size: bytes(64), watermark: Some(bytes(2_000)) }));
    let verdicts = fill(&mut start(&config), 0, 4);
    // The third packet finds exactly 2000 bytes, which is not more than that.
    assert!(verdicts[..3].iter().all(|verdict| is_queued(*verdict)));
    assert_eq!(verdicts[3], Verdict::Trimmed { reason: Reason::Watermark });
}

// ---- Source flow control ------------------------------------------------------------------------------------------

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// A packet is returned iff it finds more than the watermark in its queue, or does not fit the buffer.
    #[test]
    fn source_flow_control_returns_above_the_watermark_only(
        watermark in 0u64..8_000, buffer in 3_000u64..20_000, ops in operations(2, 2, 150),
    ) {
        let mut config = switch(2, 2, buffer);
        config.scheduler = SchedulerConfig::RoundRobin;
        config.trim = Some(TrimConfig::SourceFlowControl(SourceFlowControlConfig { watermark: bytes(watermark) }));
        let mut tm = start(&config);
        let mut now = 0;
        for op in &ops {
            now += op.after();
            let (lengths, used) = ([0, 1, 2, 3].map(|queue| tm.queue_bytes(queue).get()), tm.used().get());
            let mut outcomes = Vec::new();
            apply(&mut tm, at(now), op, &mut outcomes);
            if let (Op::Arrive { packet, .. }, Some(Outcome::Arrived(verdict))) = (op, outcomes.first()) {
                let length = lengths[2 * packet.port as usize + packet.queue as usize];
                let expected = if length > watermark {
                    Verdict::Returned { reason: Reason::Watermark }
                } else if used + u64::from(packet.bytes) > buffer {
                    Verdict::Returned { reason: Reason::Full }
                } else {
                    Verdict::Queued { marked: false }
                };
                prop_assert_eq!(*verdict, expected);
            }
        }
    }
}

// ---- Marking ------------------------------------------------------------------------------------------------------

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Step: a packet is hit iff its queue holds `K` bytes or more before it joins.
    #[test]
    fn step_marks_from_the_threshold_on(
        threshold in 0u64..8_000, cell in 1u64..300, action in 0usize..3, ops in operations(2, 2, 150),
    ) {
        let action = [MarkAction::Mark, MarkAction::Drop, MarkAction::MarkOrDrop][action];
        let mut config = switch(2, 2, 1_000_000);
        config.scheduler = SchedulerConfig::RoundRobin;
        config.cell = bytes(cell);
        config.mark = Some(MarkConfig::Step(StepConfig { threshold: bytes(threshold), action }));
        let mut tm = start(&config);
        let mut now = 0;
        for op in &ops {
            now += op.after();
            let lengths = [0, 1, 2, 3].map(|queue| tm.queue_bytes(queue).get());
            let mut outcomes = Vec::new();
            apply(&mut tm, at(now), op, &mut outcomes);
            if let (Op::Arrive { packet, .. }, Some(Outcome::Arrived(verdict))) = (op, outcomes.first()) {
                let hit = lengths[2 * packet.port as usize + packet.queue as usize] >= threshold;
                let expected = match (hit, action, packet.ect) {
                    (true, MarkAction::Drop, _) | (true, MarkAction::MarkOrDrop, false) => {
                        Verdict::Dropped { reason: Reason::Marking }
                    }
                    (hit, _, ect) => Verdict::Queued { marked: hit && ect },
                };
                prop_assert_eq!(*verdict, expected);
            }
        }
    }
}

/// RED: with the queue held at a length, the share of marked packets is `probability * (q - min) / (max - min)`.
#[test]
fn red_marks_in_proportion_to_the_queue() {
    const DRAWS: u32 = 40_000;
    for (packets, probability) in
        [(0, 1.0), (29, 1.0), (30, 1.0), (45, 0.2), (45, 1.0), (60, 0.5), (89, 0.8), (90, 0.3)]
    {
        let mut config = switch(1, 1, 1_000_000);
        let red = RedConfig { min: bytes(30_000), max: bytes(90_000), probability, ..RedConfig::default() };
        config.mark = Some(MarkConfig::Red(red));
        let mut tm = start(&config);
        let capable = |ect| Packet { ect, ..packet(0, 0, 0, 1_000) };
        (0..packets).for_each(|_| assert!(is_queued(offer(&mut tm, Instant::ZERO, &capable(false)))));
        let mut marked = 0;
        for _ in 0..DRAWS {
            marked += u32::from(offer(&mut tm, Instant::ZERO, &capable(true)) == Verdict::Queued { marked: true });
            send(&mut tm, Instant::ZERO, 0);
        }
        let expected = match packets {
            0..30 => 0.0,
            30..90 => probability * f64::from(packets - 30) / 60.0,
            _ => 1.0,
        };
        // Four standard deviations of the share; none where the outcome is certain.
        let spread = 4.0 * (expected * (1.0 - expected) / f64::from(DRAWS)).sqrt();
        let share = f64::from(marked) / f64::from(DRAWS);
        assert!((share - expected).abs() <= spread, "{packets} KB: {share} instead of {expected}");
    }
}
