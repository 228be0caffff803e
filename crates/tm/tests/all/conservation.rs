//! Nothing is lost and nothing is counted twice: for random switches and random operations a ledger that follows every
//! packet from outside agrees with the switch's own accounts after every step.

use crate::common;

use common::{Op, start, switches, with_operations};
use forebay_tm::View as _;
use forebay_tm::trim::TrimConfig;
use forebay_tm::{
    Bytes, Count, Counters, Departure, Eviction, Instant, Packet, PacketId, Reason, Tm, TmConfig, Verdict, Wire,
};
use proptest::prelude::*;
use std::collections::HashMap;

/// Where a packet is. It moves down this list, never up, and ends in one of the last four.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Waits,
    HeaderWaits,
    Sent,
    HeaderSent,
    Returned,
    Dropped,
}

struct Entry {
    fate: Fate,
    queue: usize,
    bytes: u32,
    /// What it holds of the buffer while it waits.
    charge: u64,
}

/// What the test knows of a queue, from verdicts alone.
#[derive(Clone, Copy, Default)]
struct Expected {
    counters: Counters,
    charged: u64,
    by: [Count; Reason::ALL.len()],
    headers_lost: u64,
}

struct Ledger {
    config: TmConfig,
    tm: Tm,
    now: Instant,
    packets: HashMap<PacketId, Entry>,
    queues: Vec<Expected>,
    /// Highest levels seen: of each queue, each port, the pool.
    peaks: (Vec<u64>, Vec<u64>, u64),
    reads: (u64, u64),
}

fn count(counter: &mut Count, bytes: u32) {
    counter.packets += 1;
    counter.bytes += u64::from(bytes);
}

fn has_room_of_its_own(config: &TmConfig) -> bool {
    matches!(config.trim, Some(TrimConfig::Ndp(_)))
}

impl Ledger {
    fn new(config: &TmConfig) -> Self {
        let queues = config.rates.len() * config.queues;
        Self {
            config: config.clone(),
            tm: start(config),
            now: Instant::ZERO,
            packets: HashMap::new(),
            queues: vec![Expected::default(); queues],
            peaks: (vec![0; queues], vec![0; config.rates.len()], 0),
            reads: (0, 0),
        }
    }

    fn charge(&self, bytes: u32) -> u64 {
        let cell = self.config.cell.get();
        u64::from(bytes).div_ceil(cell) * cell
    }

    fn apply(&mut self, op: &Op) {
        self.now = Instant::from_ps(self.now.ps() + op.after());
        match op {
            Op::Arrive { packet, .. } => {
                // The explanation says which queue the packet was put in (the intelligent buffer may move it).
                let (outcome, why) = self.tm.offer_explained(self.now, packet, Wire::Busy);
                self.all_lost();
                self.arrived(packet, why.queue, outcome.verdict());
            }
            Op::Transmit { port, .. } => {
                let departure = self.tm.dequeue(self.now, *port);
                self.all_lost();
                match departure {
                    Some(departure) => self.departed(*port, &departure),
                    // A port is idle only if nothing waits, or no data may go yet (PIEO) and there are no headers.
                    None => {
                        let too_early = self.tm.next_eligible(*port) > Some(self.now);
                        assert!(!self.tm.has_packets(*port) || (too_early && self.tm.header_packets(*port) == 0));
                    }
                }
            }
            Op::Settle { .. } => {
                self.tm.advance(self.now);
                self.all_lost();
            }
        }
    }

    fn all_lost(&mut self) {
        let lost: Vec<Eviction> = self.tm.drain_evictions().collect();
        lost.iter().for_each(|eviction| self.evicted(eviction));
    }

    fn arrived(&mut self, packet: &Packet, queue: usize, verdict: Verdict) {
        let charge = self.charge(packet.bytes);
        let trim_charge = match &self.config.trim {
            Some(TrimConfig::CutPayload(cut)) => self.charge(packet.bytes.min(cut.size.get() as u32)),
            _ => 0,
        };
        if let (Some(TrimConfig::ToQueue(cut)), Verdict::Trimmed { .. }) = (&self.config.trim, verdict) {
            let size = packet.bytes.min(cut.size.get() as u32);
            return self.moved(packet, queue, queue / self.config.queues * self.config.queues + cut.queue, size);
        }
        let expected = &mut self.queues[queue];
        let counters = &mut expected.counters;
        count(&mut counters.offered, packet.bytes);
        let (fate, charge) = match verdict {
            Verdict::Queued { marked } => {
                assert!(!marked || packet.ect, "only an ECN-capable packet is marked");
                if marked {
                    count(&mut counters.marked, packet.bytes);
                }
                count(&mut counters.admitted, packet.bytes);
                counters.waiting.packets += 1;
                (Fate::Waits, charge)
            }
            Verdict::Trimmed { .. } => {
                count(&mut counters.trimmed, packet.bytes);
                counters.waiting.packets += u64::from(trim_charge > 0);
                (Fate::HeaderWaits, trim_charge)
            }
            Verdict::Returned { .. } => {
                count(&mut counters.returned, packet.bytes);
                (Fate::Returned, 0)
            }
            Verdict::Dropped { reason } => {
                count(&mut counters.dropped, packet.bytes);
                count(&mut expected.by[reason as usize], packet.bytes);
                (Fate::Dropped, 0)
            }
        };
        expected.charged += charge;
        let entry = Entry { fate, queue, bytes: packet.bytes, charge };
        assert!(self.packets.insert(packet.id, entry).is_none(), "a packet arrives once");
    }

    /// A packet for a queue was cut to `size`, and what is left waits in another.
    fn moved(&mut self, packet: &Packet, from: usize, to: usize, size: u32) {
        count(&mut self.queues[from].counters.offered, packet.bytes);
        count(&mut self.queues[from].counters.trimmed, packet.bytes);
        let charge = self.charge(size);
        self.queues[to].counters.waiting.packets += 1;
        self.queues[to].charged += charge;
        let entry = Entry { fate: Fate::HeaderWaits, queue: to, bytes: packet.bytes, charge };
        assert!(self.packets.insert(packet.id, entry).is_none(), "a packet arrives once");
    }

    fn evicted(&mut self, eviction: &Eviction) {
        let entry = self.packets.get_mut(&eviction.id).expect("only a packet that came can be evicted");
        let header = entry.fate == Fate::HeaderWaits;
        assert!(entry.fate == Fate::Waits || header, "{:?} was evicted after {:?}", eviction, entry.fate);
        assert!(matches!(eviction.reason, Reason::PushedOut | Reason::Expelled));
        assert_eq!(eviction.queue, entry.queue);
        if !header {
            assert_eq!(eviction.bytes, entry.bytes);
        }
        entry.fate = Fate::Dropped;
        let expected = &mut self.queues[eviction.queue];
        expected.headers_lost += u64::from(header);
        expected.charged -= entry.charge;
        expected.counters.waiting.packets -= 1;
        count(&mut expected.counters.dropped, eviction.bytes);
        count(&mut expected.by[eviction.reason as usize], eviction.bytes);
        self.reads.1 += entry.charge;
    }

    fn departed(&mut self, port: usize, departure: &Departure) {
        let entry = self.packets.get_mut(&departure.id).expect("only a packet that came can leave");
        assert_eq!(entry.queue / self.config.queues, port, "it leaves by its port");
        let counters = &mut self.queues[entry.queue].counters;
        if departure.is_header() {
            assert_eq!(entry.fate, Fate::HeaderWaits);
            assert!(departure.bytes() <= entry.bytes);
            entry.fate = Fate::HeaderSent;
            count(&mut counters.headers_sent, departure.bytes());
        } else {
            assert_eq!(entry.fate, Fate::Waits);
            assert_eq!(departure.bytes(), entry.bytes);
            entry.fate = Fate::Sent;
            count(&mut counters.sent, departure.bytes());
        }
        match departure.queue() {
            Some(k) => {
                assert_eq!(port * self.config.queues + usize::from(k), entry.queue, "it leaves its own queue");
                counters.waiting.packets -= 1;
            }
            None => assert!(departure.is_header() && has_room_of_its_own(&self.config)),
        }
        self.queues[entry.queue].charged -= entry.charge;
        self.reads.0 += entry.charge;
    }

    /// The switch agrees with the ledger, at every level.
    fn check(&mut self) {
        assert!(self.tm.is_consistent());
        let used: u64 = self.queues.iter().map(|queue| queue.charged).sum();
        assert_eq!(self.tm.used().get(), used);
        assert!(used <= self.config.buffer.get(), "the buffer holds {used} of {}", self.config.buffer);
        let reads = self.tm.memory_reads();
        assert_eq!((reads.transmission.get(), reads.expulsion.get()), self.reads);

        let mut pool = Sum::default();
        for port in 0..self.config.rates.len() {
            let mut sum = Sum::default();
            for queue in port * self.config.queues..(port + 1) * self.config.queues {
                let expected = &self.queues[queue];
                assert_eq!(self.tm.queue_bytes(queue).get(), expected.charged);
                self.peaks.0[queue] = self.peaks.0[queue].max(expected.charged);
                let mut own = Sum::default();
                own.add(expected);
                own.check(&self.tm.queue_counters(queue), self.peaks.0[queue]);
                sum.add(expected);
                pool.add(expected);
            }
            self.peaks.1[port] = self.peaks.1[port].max(sum.0.charged);
            sum.check(&self.tm.port_counters(port), self.peaks.1[port]);
        }
        self.peaks.2 = self.peaks.2.max(used);
        pool.check(&self.tm.pool_counters(), self.peaks.2);
    }

    /// Sends until nothing waits. Every packet then has exactly one fate.
    fn drain(&mut self) {
        for port in 0..self.config.rates.len() {
            let mut tries = 4 * self.packets.len() + 4;
            while self.tm.has_packets(port) {
                tries -= 1;
                assert!(tries > 0, "port {port} does not get empty");
                let before = self.tm.queue_bytes(port * self.config.queues);
                self.apply(&Op::Transmit { after: 0, port });
                // Only PIEO may have nothing to send although packets wait, and it says until when.
                if self.tm.queue_bytes(port * self.config.queues) == before {
                    if let Some(eligible) = self.tm.next_eligible(port) {
                        self.now = self.now.max(eligible);
                    }
                }
            }
        }
        self.check();
        assert_eq!(self.tm.used(), Bytes::ZERO);
        for (id, entry) in &self.packets {
            assert!(!matches!(entry.fate, Fate::Waits | Fate::HeaderWaits), "{id:?} still {:?}", entry.fate);
        }
    }
}

/// Expected counters of some queues together.
#[derive(Default)]
struct Sum(Expected);

impl Sum {
    fn add(&mut self, other: &Expected) {
        let (sum, add) = (&mut self.0.counters, &other.counters);
        for (sum, add) in [
            (&mut sum.offered, add.offered),
            (&mut sum.admitted, add.admitted),
            (&mut sum.sent, add.sent),
            (&mut sum.marked, add.marked),
            (&mut sum.trimmed, add.trimmed),
            (&mut sum.headers_sent, add.headers_sent),
            (&mut sum.returned, add.returned),
            (&mut sum.dropped, add.dropped),
            (&mut sum.waiting, add.waiting),
        ] {
            *sum += add;
        }
        for (sum, add) in self.0.by.iter_mut().zip(other.by) {
            *sum += add;
        }
        self.0.charged += other.charged;
        self.0.headers_lost += other.headers_lost;
    }

    fn check(&self, seen: &Counters, peak: u64) {
        let expected = &self.0.counters;
        assert_eq!(seen.offered, expected.offered);
        assert_eq!(seen.admitted, expected.admitted);
        assert_eq!(seen.sent, expected.sent);
        assert_eq!(seen.marked, expected.marked);
        assert_eq!(seen.trimmed, expected.trimmed);
        assert_eq!(seen.headers_sent, expected.headers_sent);
        assert_eq!(seen.returned, expected.returned);
        assert_eq!(seen.dropped, expected.dropped);
        assert_eq!(seen.waiting, Count { packets: expected.waiting.packets, bytes: self.0.charged });
        for reason in Reason::ALL {
            assert_eq!(seen.dropped_by(reason), self.0.by[reason as usize], "{reason:?}");
        }
        // An arrival that joins does so last, so that every high level is seen from outside, too.
        assert_eq!(seen.peak.get(), peak);
        // In = out + waiting. Of what waits, headers are not packets; a header that was lost counts as trimmed and
        // dropped.
        let headers_in_queues = match expected.waiting.packets {
            0 => 0,
            waiting => waiting - (expected.admitted.packets - expected.sent.packets - self.lost_data()),
        };
        assert_eq!(
            seen.offered.packets + self.0.headers_lost,
            seen.sent.packets
                + seen.dropped.packets
                + seen.trimmed.packets
                + seen.returned.packets
                + (seen.waiting.packets - headers_in_queues)
        );
    }

    /// Whole packets that were pushed out or expelled.
    fn lost_data(&self) -> u64 {
        let by = &self.0.by;
        by[Reason::PushedOut as usize].packets + by[Reason::Expelled as usize].packets - self.0.headers_lost
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_packet_is_accounted_for((config, ops) in with_operations(switches(), 120)) {
        let mut ledger = Ledger::new(&config);
        for op in &ops {
            ledger.apply(op);
            ledger.check();
        }
        ledger.drain();
    }
}
