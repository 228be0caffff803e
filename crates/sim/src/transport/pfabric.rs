//! pFabric (Alizadeh et al., SIGCOMM 2013): the network schedules by bytes left, so hosts hardly need to control their
//! rate.
//!
//! A flow starts with a window of a bandwidth-delay product. Each packet is acknowledged, with its place among those
//! beyond the first missing one. The window grows by a packet for each packet acknowledged up to the slow-start
//! threshold, and by a packet for each window above. Losses are found by the timer alone: duplicate ACKs trigger
//! nothing, since packets of a flow overtake each other and most losses mean that other flows go first. When the timer
//! runs out the threshold becomes half the window, the window one packet, and sending starts again at the first missing
//! packet, leaving out what has arrived. The timeout is fixed and short; it does not back off. After several timeouts
//! in a row the flow sends only probes, one for each timeout, until one gets a reply.
//!
//! What the paper leaves open, and what is done here:
//! * The first threshold is `initial_ssthresh`, else the first window: the flow starts at the rate of its link, and
//!   more than that can only wait in its own host's queue.
//! * The timer belongs to the first missing packet: it is set anew when that packet changes.
//! * A probe has no payload (the paper gives it one byte) and asks about the first missing packet. Its reply leads back
//!   to slow start with a window of one.

use super::arrived::Arrived;
use super::config::Common;
use super::config::{ACKS, PACKETS, WINDOW};
use super::first_window::{Ranks, initial_packets, unscheduled_packets};
use super::{FlowInfo, Segment, SenderStats};
use super::{InitialWindow, TransportSettings};
use crate::packet::{Kind, Packet, Telemetry, flag};
use forebay_settings::check::{above_zero, at_least_one, if_set, lasts};
use forebay_tm::described::Wrong;
use forebay_tm::{Duration, Instant};
use forebay_tm::{settings, words};

/// What packets are ranked by; the lowest rank goes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RankBy {
    /// Bytes of the flow that are not acknowledged yet, as in the paper.
    #[default]
    Remaining,
    /// Bytes of the flow from this packet to the end, as Netbench has it.
    FromSequence,
}

settings! {
    /// Settings of pFabric.
    #[derive(Clone, Debug, PartialEq)]
    pub struct PFabricConfig {
        /// The fixed retransmission timeout; none: `rto_rtts` base round trips.
        pub rto: Option<Duration> = None; if_set(lasts),
        /// The timeout in base round trips.
        pub rto_rtts: f64 = 3.0; above_zero,
        /// Timeouts in a row after which only probes are sent.
        pub probe_after: u32 = 5; at_least_one,
        /// The rank of packets: the bytes left of the flow, or as in Netbench by sequence number.
        pub rank: RankBy = RankBy::Remaining,
    }
}

words! {
    RankBy { Remaining = "remaining", FromSequence = "from-sequence" }
}

impl TransportSettings for PFabricConfig {
    fn adjust(&self, common: &mut Common) {
        common.initial_window = InitialWindow::Bdp;
    }

    /// The timeout is a setting of its own, and every packet is acknowledged.
    fn common_keys(&self) -> &'static [&'static [&'static str]] {
        &[&PACKETS, &ACKS, &WINDOW]
    }

    fn idle(&self, key: &str) -> Option<Wrong> {
        let rto = self.rto.filter(|_| key == "rto_rtts")?;
        Some(Wrong::new(format!("the timeout is {rto} already"), "give either rto or rto_rtts"))
    }
}

impl PFabricConfig {
    /// The timeout of a flow; at least a picosecond, so that time goes on.
    fn timeout(&self, flow: &FlowInfo) -> Duration {
        let span =
            self.rto.unwrap_or_else(|| Duration::from_ps((flow.base_rtt.ps() as f64 * self.rto_rtts).round() as u64));
        span.max(Duration::from_ps(1))
    }
}

/// The sending end. Its receiver is a [`StreamReceiver`](super::receiver::StreamReceiver) that acknowledges every
/// packet.
#[derive(Clone, Debug)]
pub struct PFabricSender {
    flow: FlowInfo,
    mss: u32,
    unscheduled: u32,
    ranks: Ranks,
    ect: u16,
    rank: RankBy,
    acked: Arrived,
    bytes_left: u64,
    last_acked: bool,
    /// Packets from here on are not in flight: they were never sent, or the timer has given them up.
    cursor: u32,
    /// Packets below the cursor that are not acknowledged.
    in_flight: u32,
    /// Packets below this number have been sent at least once.
    high: u32,
    window: u32,
    max_window: u32,
    threshold: u32,
    /// Packets acknowledged since the window last grew, above the threshold.
    toward_growth: u32,
    timer: Instant,
    timeout: Duration,
    timeouts_in_a_row: u32,
    probe_after: u32,
    probing: bool,
    probe_due: bool,
    stats: SenderStats,
}

impl PFabricSender {
    /// The sender of a flow that starts now.
    pub fn new(common: &Common, own: &PFabricConfig, flow: FlowInfo, _now: Instant) -> Self {
        let max_window = common.max_window.unwrap_or(u32::MAX).max(1);
        let window = initial_packets(common, &flow).min(max_window);
        Self {
            flow,
            mss: common.mss,
            unscheduled: unscheduled_packets(common, &flow),
            ranks: Ranks::new(common),
            ect: if common.ecn { flag::ECT } else { 0 },
            rank: own.rank,
            acked: Arrived::new(window.min(flow.packets).min(1_024)),
            bytes_left: flow.bytes,
            last_acked: false,
            cursor: 0,
            in_flight: 0,
            high: 0,
            window,
            max_window,
            threshold: common.initial_ssthresh.unwrap_or(window),
            toward_growth: 0,
            timer: Instant::NEVER,
            timeout: own.timeout(&flow),
            timeouts_in_a_row: 0,
            probe_after: own.probe_after,
            probing: false,
            probe_due: false,
            stats: SenderStats::default(),
        }
    }

    /// An ACK. What has arrived is read from `seq` and `block`; `echo` alone says nothing, as the reply to a probe has
    /// one too.
    #[inline]
    pub fn on_reply(&mut self, now: Instant, packet: &Packet, _telemetry: Option<&Telemetry>) {
        if packet.kind != Kind::Ack {
            return;
        }
        let first_missing = self.acked.base();
        let mut new = self.acknowledge_below(packet.seq.min(self.high));
        let (from, to) = packet.block;
        new += self.acknowledge_block(from, to.min(self.high));
        let moved = self.acked.settle() != first_missing;
        if self.probing {
            self.probing = false;
            self.probe_due = false;
            self.timeouts_in_a_row = 0;
            self.start_over(now);
        }
        self.cursor = self.cursor.max(self.acked.base());
        if new > 0 {
            self.timeouts_in_a_row = 0;
            self.count_bytes(new);
            self.grow(new);
        }
        if moved {
            self.timer = if self.in_flight > 0 { now + self.timeout } else { Instant::NEVER };
        }
    }

    /// Every packet below `to` has arrived; says how many are news.
    fn acknowledge_below(&mut self, to: u32) -> u32 {
        let in_flight = self.acked.raise(to.min(self.cursor));
        self.in_flight -= in_flight;
        in_flight + self.acked.raise(to)
    }

    /// The packets `from..to` have arrived; says how many are news.
    fn acknowledge_block(&mut self, from: u32, to: u32) -> u32 {
        let in_flight = self.acked.insert_range(from, to.min(self.cursor));
        self.in_flight -= in_flight;
        in_flight + self.acked.insert_range(from.max(self.cursor), to)
    }

    /// Takes `new` acknowledged packets off the bytes left. All have the full length but perhaps the last of the flow.
    fn count_bytes(&mut self, new: u32) {
        let mut bytes = u64::from(new) * u64::from(self.mss);
        let last = self.flow.packets - 1;
        if !self.last_acked && self.acked.contains(last) {
            self.last_acked = true;
            bytes -= u64::from(self.mss - self.flow.payload(last, self.mss));
        }
        self.bytes_left -= bytes;
    }

    fn grow(&mut self, new: u32) {
        let slow_start = new.min(self.threshold.saturating_sub(self.window));
        self.window = self.window.saturating_add(slow_start);
        self.toward_growth += new - slow_start;
        while self.toward_growth >= self.window {
            self.toward_growth -= self.window;
            self.window = self.window.saturating_add(1);
        }
        self.window = self.window.min(self.max_window);
    }

    /// Slow start from the first missing packet.
    fn start_over(&mut self, now: Instant) {
        self.cursor = self.acked.base();
        self.in_flight = 0;
        self.window = 1;
        self.toward_growth = 0;
        self.timer = now + self.timeout;
    }

    /// The next packet to send now.
    #[inline]
    pub fn poll(&mut self, now: Instant) -> Option<Segment> {
        if self.probing {
            return core::mem::take(&mut self.probe_due).then(|| self.probe());
        }
        if self.in_flight >= self.window {
            return None;
        }
        let number = self.acked.next_missing(self.cursor);
        if number >= self.flow.packets {
            return None;
        }
        self.cursor = number + 1;
        self.in_flight += 1;
        if self.timer == Instant::NEVER {
            self.timer = now + self.timeout;
        }
        let mut flags = self.ect;
        if number < self.high {
            self.stats.retransmissions += 1;
            flags |= flag::RETRANSMISSION;
        } else {
            self.high = number + 1;
            if number < self.unscheduled {
                flags |= flag::UNSCHEDULED;
            }
        }
        if number + 1 == self.flow.packets {
            flags |= flag::LAST;
        }
        let payload = self.flow.payload(number, self.mss);
        Some(Segment { kind: Kind::Data, seq: number, payload, rank: self.rank(number), flags })
    }

    fn probe(&self) -> Segment {
        let number = self.acked.base();
        Segment { kind: Kind::Probe, seq: number, payload: 0, rank: self.rank(number), flags: self.ect }
    }

    #[inline]
    fn rank(&self, number: u32) -> u32 {
        self.ranks.of(match self.rank {
            RankBy::Remaining => self.bytes_left,
            RankBy::FromSequence => self.flow.bytes.saturating_sub(u64::from(number) * u64::from(self.mss)),
        })
    }

    /// When the timer runs out.
    #[inline]
    pub fn deadline(&self) -> Instant {
        if self.is_done() { Instant::NEVER } else { self.timer }
    }

    /// The timer has run out.
    pub fn on_deadline(&mut self, now: Instant) {
        if now < self.timer || self.is_done() {
            return;
        }
        self.stats.timeouts += 1;
        self.timeouts_in_a_row += 1;
        if !self.probing {
            self.threshold = (self.window / 2).max(2);
            self.probing = self.timeouts_in_a_row >= self.probe_after;
        }
        self.start_over(now);
        self.probe_due = self.probing;
    }

    /// Whether every packet has been acknowledged.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.acked.base() == self.flow.packets
    }

    /// The congestion window in packets.
    pub(crate) fn congestion_window(&self) -> u32 {
        self.window
    }

    /// What it has been through.
    pub fn stats(&self) -> SenderStats {
        self.stats
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_tm::Rate;
    use forebay_tm::random::Random;
    use proptest::prelude::*;

    const RTT: Duration = Duration::from_us(14);

    fn flow(packets: u32) -> FlowInfo {
        FlowInfo {
            bytes: u64::from(packets) * 1_460 - 100,
            packets,
            base_rtt: RTT,
            open_rtt: RTT,
            rate: Rate::from_gbps(10),
            number: 0,
            seed: 1,
            until: Instant::NEVER,
        }
    }

    fn common() -> Common {
        crate::transport::TransportConfig::named("pfabric").unwrap().common
    }

    fn sender(packets: u32) -> PFabricSender {
        PFabricSender::new(&common(), &PFabricConfig::default(), flow(packets), Instant::ZERO)
    }

    fn burst(sender: &mut PFabricSender, now: Instant) -> Vec<Segment> {
        core::iter::from_fn(|| sender.poll(now)).collect()
    }

    /// The ACK of a receiver that has these packets, for packet `echo`.
    fn ack(arrived: &[bool], echo: u32) -> Packet {
        let seq = arrived.iter().take_while(|there| **there).count() as u32;
        let mut block = (0, 0);
        if echo > seq && arrived[echo as usize] {
            let before = arrived[..echo as usize].iter().rev().take_while(|there| **there).count() as u32;
            let after = arrived[echo as usize..].iter().take_while(|there| **there).count() as u32;
            block = (echo - before, echo + after);
        }
        Packet { kind: Kind::Ack, seq, echo, block, ..Packet::default() }
    }

    #[test]
    fn starts_with_a_bandwidth_delay_product_and_grows_additively() {
        let mut sender = sender(100);
        let first = burst(&mut sender, Instant::ZERO);
        assert_eq!(first.len(), 12);
        assert!(first.iter().all(|s| s.flags == flag::UNSCHEDULED && s.payload == 1_460));
        assert_eq!(first[0].rank, 100 * 1_460 - 100);
        // Twelve ACKs make room for twelve packets and for one more.
        let mut arrived = [false; 100];
        let mut sent = 0;
        for number in 0..12 {
            arrived[number] = true;
            sender.on_reply(Instant::ZERO + RTT, &ack(&arrived, number as u32), None);
            sent += burst(&mut sender, Instant::ZERO + RTT).len();
        }
        assert_eq!(sent, 13);
    }

    #[test]
    fn ranks_by_bytes_left_or_by_sequence() {
        let mut by_left = sender(3);
        let own = PFabricConfig { rank: RankBy::FromSequence, ..PFabricConfig::default() };
        let mut by_sequence = PFabricSender::new(&common(), &own, flow(3), Instant::ZERO);
        let ranks = |s: &mut PFabricSender| burst(s, Instant::ZERO).iter().map(|s| s.rank).collect::<Vec<_>>();
        assert_eq!(ranks(&mut by_left), [4_280; 3]);
        assert_eq!(ranks(&mut by_sequence), [4_280, 2_820, 1_360]);
        // Two packets are there; the one that is missing has the rank of what is left.
        by_left.on_reply(Instant::ZERO, &ack(&[false, true, true], 2), None);
        by_left.on_deadline(by_left.deadline());
        let again = burst(&mut by_left, Instant::ZERO);
        assert_eq!((again[0].seq, again[0].rank, again[0].flags), (0, 1_460, flag::RETRANSMISSION));
    }

    #[test]
    fn duplicate_acks_trigger_nothing_and_the_timer_starts_over() {
        let mut sender = sender(100);
        let _ = burst(&mut sender, Instant::ZERO);
        let mut arrived = [false; 100];
        // Packet 0 is lost, 1 to 11 arrive: 11 new packets go out, none again.
        for number in 1..12 {
            arrived[number] = true;
            sender.on_reply(Instant::ZERO + RTT, &ack(&arrived, number as u32), None);
        }
        let more = burst(&mut sender, Instant::ZERO + RTT);
        assert_eq!(more.iter().map(|s| s.seq).collect::<Vec<_>>(), (12..23).collect::<Vec<_>>());
        // Three base round trips after packet 0 was sent it is sent again, alone.
        assert_eq!(sender.deadline(), Instant::from_ps(3 * RTT.ps()));
        sender.on_deadline(sender.deadline());
        let again = burst(&mut sender, Instant::from_ps(3 * RTT.ps()));
        assert_eq!(again.iter().map(|s| s.seq).collect::<Vec<_>>(), [0]);
        assert_eq!(sender.stats(), SenderStats { retransmissions: 1, timeouts: 1 });
        // The receiver now has 0 to 11: slow start goes on with the packets that were given up, two for one.
        arrived[0] = true;
        sender.on_reply(Instant::from_ps(4 * RTT.ps()), &ack(&arrived, 0), None);
        let next = burst(&mut sender, Instant::from_ps(4 * RTT.ps()));
        assert_eq!(next.iter().map(|s| s.seq).collect::<Vec<_>>(), [12, 13]);
        assert!(next.iter().all(|s| s.flags == flag::RETRANSMISSION));
    }

    #[test]
    fn five_timeouts_lead_to_probes_and_an_reply_leads_back() {
        let mut sender = sender(20);
        let mut now = Instant::ZERO;
        assert_eq!(burst(&mut sender, now).len(), 12);
        for _ in 0..4 {
            now = sender.deadline();
            sender.on_deadline(now);
            let again = burst(&mut sender, now);
            assert_eq!((again.len(), again[0].kind), (1, Kind::Data));
        }
        for _ in 0..10 {
            assert_eq!(sender.deadline().since(now), Duration::from_ps(3 * RTT.ps()), "no back-off");
            now = sender.deadline();
            sender.on_deadline(now);
            let probes = burst(&mut sender, now);
            assert_eq!(probes.len(), 1);
            assert_eq!((probes[0].kind, probes[0].payload, probes[0].seq), (Kind::Probe, 0, 0));
        }
        // The reply says that nothing has arrived; its echo is no acknowledgement.
        sender.on_reply(now, &ack(&[false; 20], 0), None);
        let again = burst(&mut sender, now);
        assert_eq!((again.len(), again[0].kind, again[0].seq), (1, Kind::Data, 0));
        assert!(!sender.is_done());
    }

    #[test]
    fn the_window_has_a_limit() {
        let limited = Common { max_window: Some(5), ..common() };
        let mut sender = PFabricSender::new(&limited, &PFabricConfig::default(), flow(50), Instant::ZERO);
        let mut arrived = [false; 50];
        let mut next = burst(&mut sender, Instant::ZERO);
        assert_eq!(next.len(), 5);
        while let Some(segment) = next.first().copied() {
            arrived[segment.seq as usize] = true;
            sender.on_reply(Instant::ZERO, &ack(&arrived, segment.seq), None);
            next.remove(0);
            next.extend(burst(&mut sender, Instant::ZERO));
            assert!(next.len() <= 5);
        }
        assert!(sender.is_done());
    }

    proptest! {
        #[test]
        fn completes_whatever_is_lost(seed: u64, packets in 1u32..300, loss in 0.0..0.7f64, reorder in 0.0..1.0f64) {
            let mut sender = sender(packets);
            let mut random = Random::stream(seed, "loss", 0);
            let mut arrived = vec![false; packets as usize];
            let mut now = Instant::ZERO;
            let mut replies = Vec::new();
            for round in 0.. {
                prop_assert!(round < 200_000, "does not end");
                for segment in burst(&mut sender, now) {
                    prop_assert!(segment.seq < packets);
                    if random.unit() >= loss {
                        if segment.kind == Kind::Data {
                            arrived[segment.seq as usize] = true;
                        }
                        if random.unit() >= loss {
                            replies.push(ack(&arrived, segment.seq));
                        }
                    }
                }
                let lost_or_acked = (0..packets).filter(|n| *n < sender.cursor && !sender.acked.contains(*n)).count();
                prop_assert_eq!(sender.in_flight as usize, lost_or_acked);
                if sender.is_done() {
                    prop_assert_eq!(sender.bytes_left, 0);
                    break;
                }
                if replies.is_empty() {
                    prop_assert!(sender.deadline() != Instant::NEVER);
                    now = sender.deadline();
                    sender.on_deadline(now);
                } else {
                    let at = if random.unit() < reorder { (random.unit() * replies.len() as f64) as usize } else { 0 };
                    sender.on_reply(now, &replies.remove(at), None);
                }
            }
            prop_assert!(arrived.iter().all(|there| *there));
            prop_assert_eq!(sender.deadline(), Instant::NEVER);
        }
    }
}
