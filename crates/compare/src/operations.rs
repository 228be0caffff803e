//! The core under arbitrary calls: any order, any time, any settings. The accounts stay right, and every packet has one
//! fate.

use crate::settings::{number, random_config};
use forebay_naive::Dice;
use forebay_tm::View as _;
use forebay_tm::packet::MAX_PACKET_BYTES;
use forebay_tm::{Bytes, Departure, Instant, Outcome, Packet, PacketId, Reason, Refusal, Tm, TmConfig, Verdict, Wire};

/// The most calls in a case.
const MOST: usize = 400;

/// Where a packet is, or how it ended. `conservation.rs` of the core's tests has a list of its own, whose order is that
/// of a packet's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Waits,
    HeaderWaits,
    Sent,
    HeaderSent,
    Returned,
    /// Somebody else has its header.
    Mirrored,
    Dropped,
}

impl Fate {
    fn is_final(self) -> bool {
        !matches!(self, Self::Waits | Self::HeaderWaits)
    }
}

/// A packet as it arrived, and its fate.
#[derive(Clone, Copy, Debug)]
struct Entry {
    packet: Packet,
    fate: Fate,
}

/// A switch and all packets that came to it.
struct Run {
    tm: Tm,
    now: Instant,
    packets: Vec<Entry>,
}

/// Throws a switch, and calls it as the dice say until they are used up, 400 times at most. Then drains it.
///
/// # Panics
///
/// If its accounts do not agree after a call, if it holds more than its buffer, if a packet meets two fates or, in the
/// end, none, if a change of settings that is refused changes anything, or if an explanation changes a verdict.
pub fn operate(dice: &mut Dice) {
    let (ports, queues) = (1 + dice.below(3) as usize, dice.pick(&[1, 2, 1, 3]));
    let Ok(config) = random_config(dice, ports, queues).validate() else { return };
    let mut run = Run { tm: Tm::new(config), now: Instant::ZERO, packets: Vec::new() };
    for _ in 0..MOST {
        if dice.is_exhausted() {
            break;
        }
        run.let_time_pass(dice);
        run.call(dice);
        run.check();
    }
    run.drain();
}

impl Run {
    fn let_time_pass(&mut self, dice: &mut Dice) {
        let span = match dice.below(16) {
            0..=8 => 0,
            9 | 10 => dice.below(20) * 100_000,
            11 | 12 => dice.below(2_000_000),
            // To the next instant at which the core does something on its own, or to just before or after it.
            13 | 14 => match self.tm.due() {
                Instant::NEVER => 1,
                due => {
                    let due = (due.ps().saturating_add(1)).saturating_sub(dice.below(3));
                    due.saturating_sub(self.now.ps())
                }
            },
            _ => number(dice, &[1_000_000_000, 1_000_000_000_000, 1_000_000_000_000_000, 100_000_000]),
        };
        self.now = Instant::from_ps(self.now.ps().saturating_add(span));
    }

    fn call(&mut self, dice: &mut Dice) {
        match dice.below(24) {
            0..=9 => {
                let packet = self.random_packet(dice);
                let wire = dice.pick(&[Wire::Busy, Wire::Idle]);
                let outcome = self.tm.offer(self.now, &packet, wire);
                self.offered(packet, outcome);
            }
            10..=12 => {
                let packet = self.random_packet(dice);
                let wire = dice.pick(&[Wire::Busy, Wire::Idle]);
                let mut explained = self.tm.clone();
                let outcome = self.tm.offer(self.now, &packet, wire);
                let (same, why) = explained.offer_explained(self.now, &packet, wire);
                assert_eq!(outcome, same, "an explanation changes nothing");
                assert_eq!(why.verdict, Some(outcome.verdict()));
                assert_eq!(self.tm.pool_counters(), explained.pool_counters());
                assert!(
                    self.tm.clone().drain_evictions().eq(explained.drain_evictions()),
                    "an explanation changes nothing"
                );
                self.offered(packet, outcome);
            }
            13..=19 => {
                let port = dice.below(self.tm.config().rates.len() as u64) as usize;
                self.transmit(port);
            }
            20 => {
                self.tm.advance(self.now);
                self.all_lost();
            }
            21 | 22 => self.reconfigure(dice),
            _ => self.decide_elsewhere(dice),
        }
    }

    /// A program in front of the traffic manager, or behind it, has its say.
    fn decide_elsewhere(&mut self, dice: &mut Dice) {
        let packet = self.random_packet(dice);
        match dice.below(8) {
            0 => {
                self.tm.refuse(&packet, Refusal::Dropped(Reason::Threshold));
                self.packets.push(Entry { packet, fate: Fate::Dropped });
            }
            1 => {
                self.tm.refuse(&packet, Refusal::Trimmed);
                self.packets.push(Entry { packet, fate: Fate::Mirrored });
            }
            2..=4 => {
                let outcome = self.tm.offer(self.now, &packet, Wire::Busy);
                self.offered(packet, outcome);
                let is_dropped = matches!(outcome.verdict(), Verdict::Dropped { .. });
                assert_eq!(self.tm.keep_header(packet.id), is_dropped);
                assert!(!self.tm.keep_header(packet.id), "there is one header");
                if is_dropped {
                    self.packets[packet.id.0 as usize].fate = Fate::Mirrored;
                }
            }
            _ => {
                let port = packet.port as usize;
                let departure = self.tm.dequeue(self.now, port);
                self.all_lost();
                if let Some(departure) = departure {
                    self.departed(port, &departure);
                    self.packets[departure.id.0 as usize].fate = Fate::Dropped;
                    self.tm.discard(port, departure);
                }
            }
        }
    }

    fn random_packet(&self, dice: &mut Dice) -> Packet {
        let config = self.tm.config();
        let bytes = match dice.below(4) {
            0 => 1_500,
            1 => dice.pick(&[64, 1_000, 500, 1]),
            2 => 1 + dice.below(3_000),
            _ => number(dice, &[9_000, 64, 1_500, 200]).clamp(1, u64::from(MAX_PACKET_BYTES)),
        };
        let flags = dice.below(256);
        let class = (flags / 4 % 3) as u32;
        Packet {
            id: PacketId(self.packets.len() as u64),
            bytes: bytes as u32,
            port: dice.below(config.rates.len() as u64) as u32,
            queue: dice.below(config.queues as u64) as u32,
            class: if config.policy.knows_class(class) { class } else { 0 },
            flow: flags / 16 % 8,
            rank: number(dice, &[0, 1, 2, 3, 5, 8, 100, 1_000_000]),
            eligible: match dice.below(4) {
                0 | 1 => Instant::ZERO,
                2 => Instant::from_ps(self.now.ps().saturating_add(dice.below(2_000_000))),
                _ => Instant::from_ps(number(dice, &[500_000, 1_000_000, 5_000_000])),
            },
            unscheduled: flags % 2 == 1,
            ect: flags / 2 % 2 == 1,
            ..Packet::default()
        }
    }

    /// A change of everything, of a part, or of something that cannot change.
    fn reconfigure(&mut self, dice: &mut Dice) {
        let old: TmConfig = (**self.tm.config()).clone();
        let other = random_config(dice, old.rates.len(), old.queues);
        let mut new = old.clone();
        let mut refused = false;
        match dice.below(10) {
            0..=3 => {
                new = TmConfig { buffer: old.buffer, cell: old.cell, cell_pointers: old.cell_pointers, ..other };
            }
            4 => new.policy = other.policy,
            5 => (new.scheduler, new.rank) = (other.scheduler, other.rank),
            6 => new.mark = other.mark,
            7 => new.trim = other.trim,
            8 => (new.rates, new.queue_capacity) = (other.rates, other.queue_capacity),
            _ => {
                match dice.below(5) {
                    0 => new.queues += 1,
                    1 => new.buffer += Bytes::new(1),
                    2 => new.cell += Bytes::new(1),
                    3 => new.cell_pointers = !new.cell_pointers,
                    _ => new.rates.push(new.rates[0]),
                }
                refused = true;
            }
        }
        let counters = self.tm.pool_counters();
        match self.tm.reconfigure(new.clone()) {
            Ok(()) => {
                assert!(!refused, "the size of a switch does not change");
                // NaN, which is refused, is all that would differ from itself.
                assert_eq!(**self.tm.config(), new);
            }
            Err(_) => assert_eq!(**self.tm.config(), old, "what is refused changes nothing"),
        }
        assert_eq!(self.tm.pool_counters(), counters, "new settings move no packet");
    }

    fn transmit(&mut self, port: usize) -> bool {
        let departure = self.tm.dequeue(self.now, port);
        self.all_lost();
        match &departure {
            Some(departure) => self.departed(port, departure),
            // A port is idle only if nothing waits, or nothing may go yet (PIEO).
            None => assert!(!self.tm.has_packets(port) || self.tm.next_eligible(port) > Some(self.now)),
        }
        departure.is_some()
    }

    fn offered(&mut self, packet: Packet, outcome: Outcome) {
        self.all_lost();
        let fate = match outcome.verdict() {
            Verdict::Queued { marked } => {
                assert!(!marked || packet.ect, "only an ECN-capable packet is marked");
                Fate::Waits
            }
            Verdict::Trimmed { .. } => Fate::HeaderWaits,
            Verdict::Returned { .. } => Fate::Returned,
            Verdict::Dropped { .. } => Fate::Dropped,
        };
        self.packets.push(Entry { packet, fate });
        if let Some(departure) = outcome.departure(&packet) {
            self.departed(packet.port as usize, &departure);
        }
    }

    fn all_lost(&mut self) {
        for lost in self.tm.drain_evictions() {
            let entry = &mut self.packets[lost.id.0 as usize];
            assert!(!entry.fate.is_final(), "{lost:?} after {:?}", entry.fate);
            assert!(matches!(lost.reason, Reason::PushedOut | Reason::Expelled));
            assert!(lost.at <= self.now);
            assert!(lost.bytes == entry.packet.bytes || entry.fate == Fate::HeaderWaits, "{lost:?} of {entry:?}");
            entry.fate = Fate::Dropped;
        }
    }

    fn departed(&mut self, port: usize, departure: &Departure) {
        let entry = &mut self.packets[departure.id.0 as usize];
        assert_eq!(entry.packet.port as usize, port, "it leaves by its port");
        let (before, after) =
            if departure.is_header() { (Fate::HeaderWaits, Fate::HeaderSent) } else { (Fate::Waits, Fate::Sent) };
        assert_eq!(entry.fate, before, "{departure:?} of {:?}", entry.packet);
        if departure.is_header() {
            assert!(departure.bytes() <= entry.packet.bytes);
        } else {
            assert_eq!(departure.bytes(), entry.packet.bytes);
        }
        entry.fate = after;
    }

    fn check(&self) {
        assert!(self.tm.is_consistent(), "the accounts do not agree");
        assert!(self.tm.used() <= self.tm.config().buffer, "{} in the buffer", self.tm.used());
        let counters = self.tm.pool_counters();
        let count = |fate| self.packets.iter().filter(|entry| entry.fate == fate).count() as u64;
        assert_eq!(counters.offered.packets, self.packets.len() as u64);
        let sent = self.packets.iter().filter(|entry| entry.fate == Fate::Sent);
        assert_eq!(counters.sent.bytes, sent.map(|entry| u64::from(entry.packet.bytes)).sum::<u64>());
        assert_eq!(counters.sent.packets, count(Fate::Sent));
        assert!(counters.trimmed.packets >= count(Fate::HeaderSent) + count(Fate::HeaderWaits) + count(Fate::Mirrored));
        assert_eq!(counters.headers_sent.packets, count(Fate::HeaderSent));
        assert_eq!(counters.returned.packets, count(Fate::Returned));
        assert_eq!(counters.dropped.packets, count(Fate::Dropped));
        for queue in 0..self.tm.config().total_queues() {
            if let Some(threshold) = self.tm.threshold(queue) {
                assert!(!threshold.value.is_nan(), "{threshold:?}");
            }
        }
    }

    /// Sends until nothing waits. Every packet then has exactly one fate.
    fn drain(&mut self) {
        for port in 0..self.tm.config().rates.len() {
            while self.tm.has_packets(port) {
                if !self.transmit(port) {
                    // Checked: there is something to wait for, and it is later. What is lost meanwhile may change that.
                    self.now = self.now.max(self.tm.next_eligible(port).unwrap_or(self.now));
                }
                self.check();
            }
        }
        assert_eq!(self.tm.used(), Bytes::ZERO);
        for entry in &self.packets {
            assert!(entry.fate.is_final(), "{entry:?} in the end");
        }
    }
}
