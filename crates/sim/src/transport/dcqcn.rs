//! DCQCN over RoCE: a rate limiter that follows notifications of congestion, and Go-Back-N.
//!
//! The **reaction point** is the rate limiter of DCQCN (SIGCOMM 2015, section 3.1) at the sender. A notification cuts
//! the rate by `alpha / 2` and makes the rate before that its target. Then the rate grows in steps, one every `timer`
//! and one every `byte_counter` bytes: half of the way to the target five times (fast recovery), then with a target
//! that grows by `additive` (additive increase), or by multiples of `hyper` once both have counted more than five
//! (hyper increase). A flow starts at the rate of its link, and no window limits it.
//!
//! The **notification point** at the receiver sends a notification (CNP) for a marked packet, at most one every
//! `cnp_interval` for each flow. The notification rides on the packet's ACK: its mark.
//!
//! **Go-Back-N**: a receiver takes packets in order alone. For the first packet after a gap it sends a NACK with the
//! number that it expects, and drops what follows. The sender goes back there, or to the first packet that is not
//! acknowledged when its timer runs out.

use super::TransportSettings;
use super::config::{ACKS, Common, PACKETS};
use super::first_window::{Ranks, unscheduled_packets};
use super::{FlowInfo, Reply, Segment, SenderStats};
use crate::packet::{Kind, Packet, flag};
use forebay_settings::check::{lasts, sends, share};
use forebay_tm::described::Wrong;
use forebay_tm::units::PS_PER_SECOND;
use forebay_tm::{Bytes, Duration, Instant, Rate, settings};

settings! {
    /// Settings of DCQCN, with the paper's values as defaults; `docs/scenario.md` says where each is from.
    #[derive(Clone, Debug, PartialEq)]
    pub struct DcqcnConfig {
        /// The weight of the latest notification in alpha.
        pub g: f64 = 1.0 / 256.0; share,
        /// Alpha decays after this time without a notification.
        pub alpha_timer: Duration = Duration::from_us(55); lasts,
        /// The time between two steps of the rate.
        pub timer: Duration = Duration::from_us(55); lasts,
        /// The bytes on the wire between two steps of the rate.
        pub byte_counter: Bytes = Bytes::new(10_000_000),
        /// Steps of fast recovery.
        pub fast_recovery: u32 = 5,
        /// What a step of additive increase adds to the target.
        pub additive: Rate = Rate::from_bps(40_000_000),
        /// What a step of hyper increase adds to the target, times the number of the step.
        pub hyper: Rate = Rate::from_bps(400_000_000),
        /// The rate does not fall below this.
        pub min_rate: Rate = Rate::from_bps(1_000_000); sends,
        /// The least time between two notifications of a flow.
        pub cnp_interval: Duration = Duration::from_us(50),
        /// The retransmission timer, which is the same always.
        pub timeout: Duration = Duration::from_ps(67_108_864_000); lasts,
    }
}

impl TransportSettings for DcqcnConfig {
    fn adjust(&self, common: &mut Common) {
        common.ecn = true;
        common.mss = 1_024;
        // Ethernet, IPv4, UDP, base transport header, and two checksums.
        common.header = 62;
    }

    fn common_keys(&self) -> &'static [&'static [&'static str]] {
        &[&PACKETS, &ACKS]
    }

    fn check(&self, _: bool) -> Result<(), (&'static str, Wrong)> {
        if self.byte_counter == Bytes::ZERO {
            return Err(("byte_counter", Wrong::new("a step would need no bytes", "give a size such as \"10MB\"")));
        }
        Ok(())
    }

    fn rides_on_udp(&self) -> bool {
        true
    }
}

/// The reaction point.
#[derive(Clone, Debug)]
struct RateLimiter {
    config: DcqcnConfig,
    line: f64,
    /// Bits per second.
    rate: f64,
    target: f64,
    alpha: f64,
    /// When alpha decays and the rate takes a step next; never before the first notification.
    alpha_at: Instant,
    step_at: Instant,
    bytes: u64,
    /// Steps by time and by bytes since the last notification.
    by_time: u32,
    by_bytes: u32,
}

impl RateLimiter {
    fn new(config: &DcqcnConfig, line: Rate) -> Self {
        let line = line.bps().max(1) as f64;
        Self {
            config: config.clone(),
            line,
            rate: line,
            target: line,
            alpha: 1.0,
            alpha_at: Instant::NEVER,
            step_at: Instant::NEVER,
            bytes: 0,
            by_time: 0,
            by_bytes: 0,
        }
    }

    /// A notification comes in.
    fn cut(&mut self, now: Instant) {
        self.catch_up(now);
        let least = (self.config.min_rate.bps() as f64).min(self.line);
        self.target = self.rate;
        self.rate = (self.rate * (1.0 - self.alpha / 2.0)).max(least);
        self.alpha = (1.0 - self.config.g) * self.alpha + self.config.g;
        self.alpha_at = now + self.config.alpha_timer;
        self.step_at = now + self.config.timer;
        (self.bytes, self.by_time, self.by_bytes) = (0, 0, 0);
    }

    /// Does what was due until now, in order of time; alpha decays before the rate takes a step.
    fn catch_up(&mut self, now: Instant) {
        while self.alpha_at.min(self.step_at) <= now && self.rate < self.line {
            if self.alpha_at <= self.step_at {
                self.alpha *= 1.0 - self.config.g;
                self.alpha_at = self.alpha_at + self.config.alpha_timer;
            } else {
                self.by_time += 1;
                self.step_at = self.step_at + self.config.timer;
                self.step();
            }
        }
        // At the rate of the link only alpha is left to change; it decays in one go.
        if self.alpha_at <= now {
            let times = now.since(self.alpha_at).ps() / self.config.alpha_timer.ps() + 1;
            self.alpha *= (1.0 - self.config.g).powf(times as f64);
            self.alpha_at = self.alpha_at + Duration::from_ps(times * self.config.alpha_timer.ps());
        }
    }

    fn step(&mut self) {
        let (fewer, more) = (self.by_time.min(self.by_bytes), self.by_time.max(self.by_bytes));
        if fewer > self.config.fast_recovery {
            let number = f64::from(fewer - self.config.fast_recovery);
            self.target += number * self.config.hyper.bps() as f64;
        } else if more > self.config.fast_recovery {
            self.target += self.config.additive.bps() as f64;
        }
        self.target = self.target.min(self.line);
        self.rate = f64::midpoint(self.rate, self.target).min(self.line);
        // Halves of the way end where nobody could tell the difference.
        if self.line - self.rate < 1.0 {
            self.rate = self.line;
        }
    }

    /// So many bytes are sent. Returns the time until the next packet.
    fn sent(&mut self, now: Instant, bytes: u32) -> Duration {
        self.catch_up(now);
        self.bytes += u64::from(bytes);
        if self.bytes >= self.config.byte_counter.get() {
            self.bytes = 0;
            self.by_bytes += 1;
            if self.rate < self.line {
                self.step();
            }
        }
        Duration::from_ps((f64::from(bytes) * 8.0 * PS_PER_SECOND as f64 / self.rate).ceil() as u64)
    }
}

/// The sending end.
#[derive(Clone, Debug)]
pub struct DcqcnSender {
    flow: FlowInfo,
    mss: u32,
    header: u32,
    unscheduled: u32,
    ranks: Ranks,
    ect: u16,
    limiter: RateLimiter,
    /// The first packet that is not acknowledged, the next to be sent, and the first that never was.
    una: u32,
    next: u32,
    fresh: u32,
    /// The next packet leaves then at the earliest.
    paced_at: Instant,
    rto_at: Instant,
    stats: SenderStats,
}

impl DcqcnSender {
    /// The sender of a flow that starts now, at the rate of its link.
    pub fn new(common: &Common, own: &DcqcnConfig, flow: FlowInfo, now: Instant) -> Self {
        Self {
            flow,
            mss: common.mss,
            header: common.header,
            unscheduled: unscheduled_packets(common, &flow),
            ranks: Ranks::new(common),
            ect: if common.ecn { flag::ECT } else { 0 },
            limiter: RateLimiter::new(own, flow.rate),
            una: 0,
            next: 0,
            fresh: 0,
            paced_at: now,
            rto_at: Instant::NEVER,
            stats: SenderStats::default(),
        }
    }

    /// An ACK or a NACK has come in, perhaps with a notification.
    pub fn on_reply(&mut self, now: Instant, packet: &Packet) {
        if !matches!(packet.kind, Kind::Ack | Kind::Nack) {
            // A packet of its own that a switch has turned around: the receiver asks for it, or the timer does.
            return;
        }
        if packet.has(flag::CE) {
            self.limiter.cut(now);
        }
        let is_new = packet.seq > self.una;
        self.una = self.una.max(packet.seq);
        if packet.kind == Kind::Nack && packet.seq == self.una {
            self.next = self.una;
        }
        self.next = self.next.max(self.una);
        if self.una >= self.fresh {
            self.rto_at = Instant::NEVER;
        } else if is_new {
            self.rto_at = now + self.limiter.config.timeout;
        }
    }

    /// The next packet, if the limiter lets it go.
    pub fn poll(&mut self, now: Instant) -> Option<Segment> {
        if self.next >= self.flow.packets || now < self.paced_at {
            return None;
        }
        let seq = self.next;
        let payload = self.flow.payload(seq, self.mss);
        let mut flags = self.ect;
        flags |= if seq < self.unscheduled { flag::UNSCHEDULED } else { 0 };
        flags |= if seq + 1 == self.flow.packets { flag::LAST } else { 0 };
        if seq < self.fresh {
            flags |= flag::RETRANSMISSION;
            self.stats.retransmissions += 1;
        }
        self.next += 1;
        self.fresh = self.fresh.max(self.next);
        self.paced_at = now + self.limiter.sent(now, payload + self.header);
        if self.rto_at == Instant::NEVER {
            self.rto_at = now + self.limiter.config.timeout;
        }
        let left = match self.flow.bytes {
            FlowInfo::ENDLESS => u64::MAX,
            bytes => bytes - u64::from(seq) * u64::from(self.mss),
        };
        Some(Segment { kind: Kind::Data, seq, payload, rank: self.ranks.of(left), flags })
    }

    /// When the limiter lets the next packet go, or the timer runs out.
    pub fn deadline(&self) -> Instant {
        if self.next < self.flow.packets { self.paced_at.min(self.rto_at) } else { self.rto_at }
    }

    /// The deadline has come. If it is the timer's, everything from the first packet that is not acknowledged is sent
    /// again.
    pub fn on_deadline(&mut self, now: Instant) {
        if now >= self.rto_at {
            self.stats.timeouts += 1;
            self.next = self.una;
            self.rto_at = now + self.limiter.config.timeout;
        }
    }

    /// Whether everything has been acknowledged.
    pub fn is_done(&self) -> bool {
        self.una >= self.flow.packets
    }

    /// What it has been through.
    pub fn stats(&self) -> SenderStats {
        self.stats
    }
}

/// The receiving end.
#[derive(Clone, Debug)]
pub struct DcqcnReceiver {
    expected: u32,
    packets: u32,
    /// A NACK was sent, and the packet that it asks for has not come.
    asked: bool,
    cnp_interval: Duration,
    next_cnp: Instant,
}

impl DcqcnReceiver {
    /// The receiver of a flow.
    pub fn new(own: &DcqcnConfig, flow: FlowInfo) -> Self {
        let cnp_interval = own.cnp_interval;
        Self { expected: 0, packets: flow.packets, asked: false, cnp_interval, next_cnp: Instant::ZERO }
    }

    /// A packet has come in; it is made into its ACK or NACK.
    pub fn on_packet(&mut self, now: Instant, packet: &mut Packet) -> Reply {
        let notifies = packet.has(flag::CE) && now >= self.next_cnp;
        if notifies {
            self.next_cnp = now + self.cnp_interval;
        }
        let in_order = packet.seq == self.expected;
        if in_order {
            self.expected += 1;
            self.asked = false;
        }
        let is_gap = packet.seq > self.expected;
        if is_gap && self.asked && !notifies {
            return Reply::Nothing;
        }
        packet.kind = if is_gap && !self.asked { Kind::Nack } else { Kind::Ack };
        self.asked |= is_gap;
        packet.echo = packet.seq;
        packet.seq = self.expected;
        packet.block = (0, 0);
        packet.flags = if notifies { flag::CE } else { 0 } | packet.flags & flag::TRACED;
        Reply::Packet
    }

    /// Whether every packet has come in.
    pub fn is_complete(&self) -> bool {
        self.expected >= self.packets
    }

    /// Packets that were taken.
    pub fn received(&self) -> u32 {
        self.expected
    }
}

#[cfg(test)]
#[path = "dcqcn_tests.rs"]
mod tests;
