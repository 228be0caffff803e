//! UDP: sources that send by the clock, whatever the network does. A constant rate, a Poisson process, and either on
//! and off.
//!
//! # Time
//!
//! A source has a clock of its own that runs while it is on. At a constant rate the packet that follows `b` bytes on
//! the wire is due when that clock shows `ceil(8 b / rate)`, counted from the start and not from the packet before: no
//! rounding adds up. In a Poisson process the gaps are exponential, with the mean that gives the rate. A packet that
//! falls due while the source is off leaves when the clock has run that far, so the mean rate of an on-off source is
//! `rate * on / (on + off)`.
//!
//! # Sizes
//!
//! The rate counts bytes on the wire, payload and header. Payloads are `mss`, or exponential with that mean, rounded up
//! to whole bytes and limited to `max_payload`: with the default of 9,000 bytes (jumbo frames) and a mean of 1,460
//! bytes the limit takes 0.2% off the mean, with a mean of 500 bytes 2 in 100 million. Together with Poisson arrivals
//! this is the traffic of M/M/1 and M/M/1/K.

use super::TransportSettings;
use super::config::Common;
use super::config::PACKETS;
use super::first_window::{Ranks, unscheduled_packets};
use super::{FlowInfo, Reply, Segment, SenderStats};
use crate::packet::{Kind, Packet, Telemetry, flag};
use crate::workload::exponential;
use forebay_settings::check::{if_set, lasts, sends};
use forebay_tm::described::{Size, Wrong};
use forebay_tm::random::Random;
use forebay_tm::units::PS_PER_SECOND;
use forebay_tm::{Duration, Instant, Rate};
use forebay_tm::{settings, words};

/// Whether the times between packets are constant or exponential.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrivals {
    /// Back to back at the rate.
    #[default]
    Constant,
    /// With exponential gaps.
    Poisson,
}

/// How long something is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spread {
    /// Always the same.
    #[default]
    Constant,
    /// Exponential, with the given mean.
    Exponential,
}

settings! {
    /// Settings of UDP.
    #[derive(Clone, Debug, PartialEq)]
    pub struct UdpConfig {
        /// The rate on the wire while the source is on; none: that of the host's link.
        pub rate: Option<Rate> = None; if_set(sends),
        /// Whether the times between packets are constant or exponential.
        pub arrivals: Arrivals = Arrivals::Constant,
        /// The payloads: `mss`, or exponential with that mean.
        pub sizes: Spread = Spread::Constant,
        /// The largest payload when sizes are exponential.
        pub max_payload: u32 as Size<1, 65_000> = 9_000,
        /// How long the source is on; none: always.
        pub on: Option<Duration> = None; if_set(lasts),
        /// How long the source is off in between; none: never.
        pub off: Option<Duration> = None; if_set(lasts),
        /// Whether these times are constant or means.
        pub on_off: Spread = Spread::Constant,
    }
}

words! {
    Arrivals { Constant = "constant", Poisson = "poisson" }
}

words! {
    Spread { Constant = "constant", Exponential = "exponential" }
}

impl TransportSettings for UdpConfig {
    fn common_keys(&self) -> &'static [&'static [&'static str]] {
        &[&PACKETS]
    }

    fn idle(&self, key: &str) -> Option<Wrong> {
        match key {
            "max_payload" if self.sizes == Spread::Constant => Some(Wrong::new(
                "without sizes = \"exponential\" every payload is mss, so this does nothing",
                "remove it, or add sizes = \"exponential\"",
            )),
            "on_off" if self.on.is_none() => {
                Some(Wrong::new("the source is always on", "add on and off, or remove it"))
            }
            _ => None,
        }
    }

    fn check(&self, _: bool) -> Result<(), (&'static str, Wrong)> {
        let (given, other) = match (self.on, self.off) {
            (Some(_), None) => ("on", "off"),
            (None, Some(_)) => ("off", "on"),
            _ => return Ok(()),
        };
        let problem = format!("a source that is on and off needs {other}, too");
        Err((given, Wrong::new(problem, format!("add {other}, or remove {given}"))))
    }

    fn acknowledges(&self) -> bool {
        false
    }

    fn rides_on_udp(&self) -> bool {
        true
    }

    fn largest_payload(&self, common: &Common) -> u32 {
        if self.sizes == Spread::Exponential { self.max_payload } else { common.mss }
    }
}

impl Spread {
    /// A span; at least a picosecond, so that time goes on.
    fn span(self, random: &mut Random, mean: Duration) -> Duration {
        let ps = match self {
            Self::Constant => mean.ps(),
            Self::Exponential => exponential(random, mean.ps() as f64).round() as u64,
        };
        Duration::from_ps(ps.max(1))
    }
}

/// The source's own clock, which stands still while the source is off.
#[derive(Clone, Debug)]
struct OnOff {
    on: Duration,
    off: Duration,
    spread: Spread,
    random: Random,
    /// When the source was last switched on, what its own clock showed then, and for how long it stays on.
    since: Instant,
    own: u64,
    lasts: Duration,
}

impl OnOff {
    fn new(on: Duration, off: Duration, spread: Spread, mut random: Random, now: Instant) -> Self {
        let lasts = spread.span(&mut random, on);
        Self { on, off, spread, random, since: now, own: 0, lasts }
    }

    /// The time when the own clock shows `own`, which never goes back from call to call.
    fn real(&mut self, own: u64) -> Instant {
        while own - self.own >= self.lasts.ps() {
            self.since = self.since + self.lasts + self.spread.span(&mut self.random, self.off);
            self.own += self.lasts.ps();
            self.lasts = self.spread.span(&mut self.random, self.on);
            if self.since == Instant::NEVER {
                return self.since;
            }
        }
        self.since + Duration::from_ps(own - self.own)
    }
}

/// The sending end.
#[derive(Clone, Debug)]
pub struct UdpSender {
    flow: FlowInfo,
    config: UdpConfig,
    mss: u32,
    header: u32,
    unscheduled: u32,
    ranks: Ranks,
    ect: u16,
    rate: u64,
    start: Instant,
    /// Boxed, as few sources have it and senders of all kinds take the room of the largest.
    on_off: Option<Box<OnOff>>,
    gaps: Random,
    sizes: Random,
    /// What the own clock shows when the next packet is due: whole picoseconds, and the rest in parts of 1 / `rate`.
    own: u64,
    rest: u64,
    /// The time when the next packet is due.
    due: Instant,
    next: u32,
    bytes_left: u64,
    finished: bool,
}

impl UdpSender {
    /// The sender of a flow that starts now. At a constant rate the first packet leaves now.
    pub fn new(common: &Common, own: &UdpConfig, flow: FlowInfo, now: Instant) -> Self {
        let entity = u64::from(flow.number);
        let stream = |purpose| Random::stream(flow.seed, purpose, entity);
        let on_off = match (own.on, own.off) {
            (Some(on), Some(off)) => Some(Box::new(OnOff::new(on, off, own.on_off, stream("udp on-off"), now))),
            _ => None,
        };
        let mut sender = Self {
            flow,
            config: own.clone(),
            mss: common.mss,
            header: common.header,
            unscheduled: unscheduled_packets(common, &flow),
            ranks: Ranks::new(common),
            ect: if common.ecn { flag::ECT } else { 0 },
            rate: own.rate.unwrap_or(flow.rate).bps().max(1),
            start: now,
            on_off,
            gaps: stream("udp gaps"),
            sizes: stream("udp sizes"),
            own: 0,
            rest: 0,
            due: now,
            next: 0,
            bytes_left: flow.bytes,
            finished: false,
        };
        sender.schedule(0);
        sender
    }

    /// Decides when the next packet is due, after one of so many bytes on the wire.
    #[inline]
    fn schedule(&mut self, bytes: u64) {
        match self.config.arrivals {
            Arrivals::Constant => {
                // Exact for packets below 2 MB: 64 bits hold the product.
                let bit_ps = 8 * PS_PER_SECOND * bytes;
                self.own = self.own.saturating_add(bit_ps / self.rate);
                self.rest += bit_ps % self.rate;
                if self.rest >= self.rate {
                    self.rest -= self.rate;
                    self.own = self.own.saturating_add(1);
                }
            }
            Arrivals::Poisson => {
                let mean =
                    (f64::from(self.mss) + f64::from(self.header)) * 8.0 * PS_PER_SECOND as f64 / self.rate as f64;
                self.own = self.own.saturating_add(exponential(&mut self.gaps, mean).round() as u64);
            }
        }
        let own = self.own.saturating_add(u64::from(self.rest > 0));
        self.due = match &mut self.on_off {
            None => self.start + Duration::from_ps(own),
            Some(on_off) => on_off.real(own),
        };
        self.finished |= self.due >= self.flow.until;
    }

    /// The flow has no replies.
    pub fn on_reply(&mut self, _now: Instant, _packet: &Packet, _telemetry: Option<&Telemetry>) {}

    /// The next packet, if it is due.
    #[inline]
    pub fn poll(&mut self, now: Instant) -> Option<Segment> {
        if self.finished || now < self.due {
            return None;
        }
        let number = self.next;
        let rank = self.ranks.of(self.bytes_left);
        let payload = self.payload();
        let mut flags = self.ect;
        if number < self.unscheduled {
            flags |= flag::UNSCHEDULED;
        }
        if self.flow.bytes != FlowInfo::ENDLESS {
            self.bytes_left -= u64::from(payload);
            if self.bytes_left == 0 {
                flags |= flag::LAST;
                self.finished = true;
            }
        }
        self.next += 1;
        self.schedule(u64::from(payload) + u64::from(self.header));
        Some(Segment { kind: Kind::Data, seq: number, payload, rank, flags })
    }

    fn payload(&mut self) -> u32 {
        let wanted = match self.config.sizes {
            Spread::Constant => self.mss,
            Spread::Exponential => {
                let bytes = exponential(&mut self.sizes, f64::from(self.mss)).ceil();
                (bytes as u32).clamp(1, self.config.max_payload.max(1))
            }
        };
        u32::try_from(self.bytes_left).map_or(wanted, |left| wanted.min(left))
    }

    /// When the next packet is due.
    #[inline]
    pub fn deadline(&self) -> Instant {
        if self.finished { Instant::NEVER } else { self.due }
    }

    /// The next packet is due: it is for [`UdpSender::poll`] to give.
    pub fn on_deadline(&mut self, _now: Instant) {}

    /// Whether everything has been sent.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.finished
    }

    /// It never sends again and has no timers.
    pub fn stats(&self) -> SenderStats {
        SenderStats::default()
    }
}

/// The receiving end: it counts.
#[derive(Clone, Debug)]
pub struct UdpReceiver {
    received: u32,
    /// Payload of those, and what headers add to each.
    payload: u64,
    header: u32,
    /// Packets in all; known when the last has arrived.
    packets: Option<u32>,
}

impl UdpReceiver {
    /// The receiver of a flow whose packets have headers of so many bytes.
    pub fn new(header: u32) -> Self {
        Self { received: 0, payload: 0, header, packets: None }
    }

    /// Counts a packet that has arrived whole.
    #[inline]
    pub fn on_packet(&mut self, _now: Instant, packet: &mut Packet) -> Reply {
        if !packet.has(flag::TRIMMED) {
            self.received += 1;
            self.payload += u64::from(packet.bytes - self.header);
            if packet.has(flag::LAST) {
                self.packets = Some(packet.seq + 1);
            }
        }
        Reply::Nothing
    }

    /// Whether every packet has come in. A flow without end, one that was stopped before its end and one that lost a
    /// packet never is.
    #[inline]
    pub fn is_complete(&self) -> bool {
        self.packets == Some(self.received)
    }

    /// Packets that have come in.
    pub fn received(&self) -> u32 {
        self.received
    }

    /// Their payload.
    pub fn payload(&self) -> u64 {
        self.payload
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(bytes: u64) -> FlowInfo {
        FlowInfo {
            bytes,
            packets: FlowInfo::packets_of(bytes, 1_460),
            base_rtt: Duration::from_us(10),
            open_rtt: Duration::from_us(10),
            rate: Rate::from_gbps(10),
            number: 3,
            seed: 11,
            until: Instant::NEVER,
        }
    }

    /// The next departure.
    fn depart(sender: &mut UdpSender) -> (Instant, Segment) {
        let now = sender.deadline();
        assert!(now == Instant::ZERO || sender.poll(Instant::from_ps(now.ps() - 1)).is_none(), "not before its time");
        sender.on_deadline(now);
        (now, sender.poll(now).unwrap())
    }

    #[test]
    fn a_million_departures_do_not_drift() {
        for rate in [9_999_999_999, 7_000_000_003, 123_456_789, 100_000_000_000] {
            let own = UdpConfig { rate: Some(Rate::from_bps(rate)), ..UdpConfig::default() };
            let start = Instant::from_ps(17);
            let mut sender = UdpSender::new(&Common::default(), &own, flow(FlowInfo::ENDLESS), start);
            for packet in 0..1_000_000u128 {
                let (now, _) = depart(&mut sender);
                let exact = (packet * 1_500 * 8_000_000_000_000).div_ceil(u128::from(rate));
                assert_eq!(u128::from(now.ps()), 17 + exact, "packet {packet} at {rate}");
            }
        }
    }

    #[test]
    fn a_finite_flow_sends_its_bytes_and_is_complete_when_all_have_arrived() {
        for (sizes, bytes) in [(Spread::Constant, 10_000), (Spread::Exponential, 10_000), (Spread::Constant, 0)] {
            let own = UdpConfig { sizes, ..UdpConfig::default() };
            let mut sender = UdpSender::new(&Common::default(), &own, flow(bytes), Instant::ZERO);
            let mut receiver = UdpReceiver::new(Common::default().header);
            let mut held_back = None;
            let mut sum = 0;
            while !sender.is_done() {
                assert!(!receiver.is_complete());
                let (now, segment) = depart(&mut sender);
                sum += u64::from(segment.payload);
                let wire = segment.payload + Common::default().header;
                let mut packet = Packet { seq: segment.seq, flags: segment.flags, bytes: wire, ..Packet::default() };
                if segment.seq == 0 && bytes > 0 {
                    held_back = Some(packet);
                } else {
                    assert_eq!(receiver.on_packet(now, &mut packet), Reply::Nothing);
                }
            }
            assert_eq!(sum, bytes);
            assert_eq!(sender.deadline(), Instant::NEVER);
            if let Some(mut first) = held_back {
                assert!(!receiver.is_complete(), "one packet is still missing");
                receiver.on_packet(Instant::ZERO, &mut first);
            }
            assert!(receiver.is_complete());
            assert_eq!(receiver.payload(), bytes);
        }
    }

    #[test]
    fn a_flow_stops_at_its_time() {
        // A packet every 1.2 us: at 0, 1.2 and 2.4 us, but not at 3.6 us, which is the end.
        let stopped = FlowInfo { until: Instant::from_ps(3_600_000), ..flow(FlowInfo::ENDLESS) };
        let mut sender = UdpSender::new(&Common::default(), &UdpConfig::default(), stopped, Instant::ZERO);
        for _ in 0..3 {
            depart(&mut sender);
        }
        assert!(sender.is_done());
        assert_eq!(sender.poll(Instant::from_ps(3_600_000)), None);
    }

    #[test]
    fn poisson_gaps_and_exponential_sizes_have_their_mean_and_spread() {
        let own = UdpConfig {
            rate: Some(Rate::from_gbps(8)),
            arrivals: Arrivals::Poisson,
            sizes: Spread::Exponential,
            ..UdpConfig::default()
        };
        let common = Common { mss: 500, header: 0, ..Common::default() };
        let mut sender = UdpSender::new(&common, &own, flow(FlowInfo::ENDLESS), Instant::ZERO);
        let count = 400_000;
        let (mut last, mut gaps, mut squares, mut sizes, mut size_squares) = (0, 0.0, 0.0, 0.0, 0.0);
        for _ in 0..count {
            let (now, segment) = depart(&mut sender);
            let gap = (now.ps() - last) as f64;
            last = now.ps();
            gaps += gap;
            squares += gap * gap;
            sizes += f64::from(segment.payload);
            size_squares += f64::from(segment.payload) * f64::from(segment.payload);
        }
        // 500 bytes at 8 Gb/s: 500 ns. An exponential mean has the relative error 1 / sqrt(count); its second moment is
        // twice the square of the mean, with the relative error sqrt(5 / count). Four of those are allowed.
        let error = 4.0 / f64::from(count).sqrt();
        let near = |value: f64, exact: f64, error: f64| assert!((value / exact - 1.0).abs() < error, "{value} {exact}");
        let n = f64::from(count);
        near(gaps / n, 500_000.0, error);
        near(squares / n, 2.0 * 500_000f64.powi(2), error * 5f64.sqrt());
        // Rounding up adds half a byte to the mean.
        near(sizes / n, 500.5, error);
        near(size_squares / n, 2.0 * 500f64.powi(2) + 500.0, error * 5f64.sqrt());
    }

    #[test]
    fn on_and_off_at_constant_times() {
        // 10 Gb/s, a packet every 1.2 us, on for 3 us, off for 7 us: the clock of the source runs on where it stood.
        let own = UdpConfig { on: Some(Duration::from_us(3)), off: Some(Duration::from_us(7)), ..UdpConfig::default() };
        let mut sender = UdpSender::new(&Common::default(), &own, flow(FlowInfo::ENDLESS), Instant::ZERO);
        for packet in 0..10_000u64 {
            let clock = packet * 1_200_000;
            let real = clock / 3_000_000 * 10_000_000 + clock % 3_000_000;
            assert_eq!(depart(&mut sender).0.ps(), real);
        }
    }

    #[test]
    fn on_and_off_at_random_times_has_its_mean_rate() {
        let own = UdpConfig {
            on: Some(Duration::from_us(30)),
            off: Some(Duration::from_us(70)),
            on_off: Spread::Exponential,
            ..UdpConfig::default()
        };
        let mut sender = UdpSender::new(&Common::default(), &own, flow(FlowInfo::ENDLESS), Instant::ZERO);
        let end = Instant::from_ps(PS_PER_SECOND);
        let mut packets = 0;
        while sender.deadline() < end {
            depart(&mut sender);
            packets += 1;
        }
        // 30% of 10 Gb/s in packets of 1500 bytes are 250,000 a second, over 10,000 cycles: within 4 * 1.4 * 0.7 / 100.
        assert!((240_000..260_000).contains(&packets), "{packets}");
    }
}
