//! TCP Cubic.

use super::TransportSettings;
use super::congestion::{AckEvent, CongestionControl, Limits, OncePerWindow};
use super::window::SMALLEST_THRESHOLD;
use forebay_settings::check::{above_zero, at_least_one, if_set, lasts, share};
use forebay_tm::described::{Kind, Setting, Value, Wrong};
use forebay_tm::settings;
use forebay_tm::units::PS_PER_SECOND;
use forebay_tm::{Duration, Instant};

/// What ends slow start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlowStartExit {
    /// A loss or a mark.
    Congestion,
    /// Delays that grow, or a window's ACKs that take as long as a round trip to come in (HyStart, as in Linux).
    HyStart,
    /// Delays that grow lead to a slower slow start first (HyStart++, RFC 9406).
    HyStartPlusPlus,
}

settings! {
    /// Settings of Cubic.
    #[derive(Clone, Debug, PartialEq)]
    pub struct CubicConfig {
        /// The scale of the cubic.
        pub c: f64 = 0.4; above_zero,
        /// The factor of the window at a loss.
        pub beta: f64 = 0.7; share,
        /// The algorithm that ends slow start before a loss does.
        pub hystart: SlowStartExit = SlowStartExit::HyStart,
        /// Fast convergence: release bandwidth to new flows.
        pub fast_convergence: bool = true,
        /// The smallest increase of the delay that ends slow start.
        pub hystart_delay_min: Duration = Duration::from_us(4_000); lasts,
        /// Never grow slower than Reno (RFC 9438, section 4.3). Older versions of ns-3 lack this.
        pub reno_friendly: bool = true,
        /// Until the first loss, congestion avoidance adds one packet for at most this many acknowledged packets:
        /// Linux and ns-3 grow by 5% per round trip (20) until they have found the limit. None: as in RFC 9438.
        pub probe: Option<u32> = None; if_set(at_least_one),
    }
}

impl TransportSettings for CubicConfig {
    /// Linux always probes.
    fn idle_with_linux(&self) -> &'static [&'static str] {
        &["probe"]
    }

    fn idle(&self, key: &str) -> Option<Wrong> {
        let is_idle = key == "hystart_delay_min" && self.hystart == SlowStartExit::Congestion;
        is_idle.then(|| Wrong::new("this does nothing with hystart = false", "remove it, or set hystart = true"))
    }
}

impl Setting for SlowStartExit {
    const KIND: Kind = Kind::Or(&Kind::Flag, &["++"]);

    fn value(&self) -> Value {
        match self {
            Self::Congestion => Value::Flag(false),
            Self::HyStart => Value::Flag(true),
            Self::HyStartPlusPlus => Value::Word("++"),
        }
    }

    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Flag(false) => Some(Self::Congestion),
            Value::Flag(true) => Some(Self::HyStart),
            Value::Word("++") => Some(Self::HyStartPlusPlus),
            _ => None,
        }
    }
}

/// Cubic (RFC 9438). Windows are in packets, times in seconds.
#[derive(Clone, Debug)]
pub struct Cubic {
    window: f64,
    threshold: f64,
    max: f64,
    c: f64,
    beta: f64,
    fast_convergence: bool,
    reno_friendly: bool,
    /// The least growth per packet acknowledged until the first loss.
    probe: f64,
    /// `W_max`; zero if the last event was a timeout, or there was none.
    w_max: f64,
    /// `cwnd_prior`: the window before the last cut.
    prior: f64,
    /// Congestion avoidance, while it goes on.
    epoch: Option<Epoch>,
    marks: OncePerWindow,
    hystart: Option<HyStart>,
}

/// A stage of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: Instant,
    /// Where the cubic is flat.
    w_max: f64,
    /// When the cubic gets there.
    k: f64,
    /// `W_est`: what Reno would have.
    reno: f64,
}

impl Cubic {
    /// At the start of a flow.
    pub fn new(config: &CubicConfig, limits: &Limits) -> Self {
        let max = f64::from(limits.max_window);
        Self {
            window: f64::from(limits.initial_window),
            threshold: limits.initial_threshold.map_or(f64::INFINITY, f64::from),
            max,
            c: config.c,
            beta: config.beta,
            fast_convergence: config.fast_convergence,
            reno_friendly: config.reno_friendly,
            probe: config.probe.map_or(0.0, |packets| 1.0 / f64::from(packets.max(1))),
            w_max: 0.0,
            prior: 0.0,
            epoch: None,
            marks: OncePerWindow::default(),
            hystart: (config.hystart == SlowStartExit::HyStart).then(|| HyStart::new(config.hystart_delay_min)),
        }
    }

    /// Starts a stage of congestion avoidance: `K` so that the cubic starts at the window (equation 2), or zero and a
    /// `W_max` of the window itself if the stage does not follow a cut (sections 4.8 and 4.10).
    fn start_epoch(&self, now: Instant) -> Epoch {
        let (w_max, k) = if self.w_max > self.window {
            (self.w_max, ((self.w_max - self.window) / self.c).cbrt())
        } else {
            (self.window, 0.0)
        };
        Epoch { start: now, w_max, k, reno: self.window }
    }

    /// Section 4.2 to 4.5: the target is a round trip ahead on the cubic, at most half a window away; never slower than
    /// Reno.
    fn avoid_congestion(&mut self, ack: &AckEvent<'_>, acked: f64) {
        let mut epoch = self.epoch.unwrap_or_else(|| self.start_epoch(ack.now));
        let cubic = |t: f64| self.c * (t - epoch.k).powi(3) + epoch.w_max;
        let elapsed = seconds(ack.now.since(epoch.start));
        let target = cubic(elapsed + seconds(ack.rtt)).clamp(self.window, 1.5 * self.window);
        let current = cubic(elapsed);
        let per_packet = acked / self.window;
        let alpha = if epoch.reno < self.prior { 3.0 * (1.0 - self.beta) / (1.0 + self.beta) } else { 1.0 };
        epoch.reno += alpha * per_packet;
        let grown = if self.reno_friendly && current < epoch.reno {
            epoch.reno.max(self.window)
        } else {
            self.window + (target - self.window) * per_packet
        };
        let probed = if self.w_max == 0.0 { self.window + acked * self.probe } else { 0.0 };
        self.window = grown.max(probed);
        self.epoch = Some(epoch);
    }

    /// Sections 4.6 and 4.7: `W_max` and the threshold.
    fn reduce(&mut self) {
        self.w_max = if self.fast_convergence && self.window < self.w_max {
            self.window * (1.0 + self.beta) / 2.0
        } else {
            self.window
        };
        self.prior = self.window;
        self.threshold = (self.window * self.beta).max(f64::from(SMALLEST_THRESHOLD));
        self.epoch = None;
    }
}

fn seconds(span: Duration) -> f64 {
    span.ps() as f64 * (1.0 / PS_PER_SECOND as f64)
}

impl CongestionControl for Cubic {
    #[inline]
    fn on_ack(&mut self, ack: &AckEvent<'_>) {
        if ack.recovering {
            return;
        }
        if ack.marked {
            if self.marks.take(ack.una, ack.next) {
                self.on_congestion();
            }
            return;
        }
        if !ack.limited {
            return;
        }
        let mut acked = f64::from(ack.acked);
        if self.window < self.threshold {
            if let Some(hystart) = &mut self.hystart {
                if hystart.is_over(ack, self.window) {
                    self.threshold = self.window;
                }
            }
            let step = acked.min(self.threshold - self.window);
            self.window += step;
            acked -= step;
        }
        if acked > 0.0 {
            self.avoid_congestion(ack, acked);
        }
        self.window = self.window.min(self.max);
    }

    fn on_congestion(&mut self) {
        self.reduce();
        self.window = self.threshold.min(self.max);
    }

    fn on_timeout(&mut self, again: bool) {
        if !again {
            self.reduce();
        }
        self.w_max = 0.0;
        self.epoch = None;
        self.window = 1.0;
    }

    #[inline]
    fn window(&self) -> u32 {
        self.window as u32
    }
}

/// Finds the end of slow start before there is a loss (HyStart, as in the original paper and in ns-3): a round's ACKs
/// take longer to come in than the shortest round trip, or the shortest of a round's first round trips is longer than
/// the shortest of all by an eighth of it, but at least by `delay_min` (RFC 9406 says 4 ms, which few datacenters
/// reach).
#[derive(Clone, Copy, Debug)]
struct HyStart {
    round: OncePerWindow,
    round_start: Instant,
    last_ack: Instant,
    /// The shortest of all round trips.
    shortest: Duration,
    /// The shortest of the first round trips of this round.
    round_shortest: Duration,
    samples: u32,
    delay_min: Duration,
}

impl HyStart {
    /// Smaller windows are left alone.
    const LOW_WINDOW: f64 = 16.0;
    /// Round trips that are measured in a round.
    const SAMPLES: u32 = 8;
    /// ACKs with more between them are not of one train.
    const TRAIN_GAP: Duration = Duration::from_us(2_000);
    const LONGEST: Duration = Duration::from_ps(u64::MAX);

    fn new(delay_min: Duration) -> Self {
        Self {
            round: OncePerWindow::default(),
            round_start: Instant::ZERO,
            last_ack: Instant::ZERO,
            shortest: Self::LONGEST,
            round_shortest: Self::LONGEST,
            samples: 0,
            delay_min,
        }
    }

    fn is_over(&mut self, ack: &AckEvent<'_>, window: f64) -> bool {
        if ack.rtt == Duration::ZERO {
            return false;
        }
        self.shortest = self.shortest.min(ack.rtt);
        if self.round.take(ack.una, ack.next) {
            self.round_start = ack.now;
            self.last_ack = ack.now;
            self.round_shortest = Self::LONGEST;
            self.samples = 0;
        }
        if window < Self::LOW_WINDOW {
            return false;
        }
        if ack.now.since(self.last_ack) <= Self::TRAIN_GAP {
            self.last_ack = ack.now;
            if ack.now.since(self.round_start) > self.shortest {
                return true;
            }
        }
        if self.samples < Self::SAMPLES {
            self.samples += 1;
            self.round_shortest = self.round_shortest.min(ack.rtt);
            return false;
        }
        let slack = (self.shortest.ps() / 8).max(self.delay_min.ps());
        self.round_shortest.ps() > self.shortest.ps() + slack
    }
}

#[cfg(test)]
mod tests {
    use super::super::pipe::ack;
    use super::*;

    fn cubic(window: u32, threshold: Option<u32>, config: &CubicConfig) -> Cubic {
        Cubic::new(config, &Limits { initial_window: window, initial_threshold: threshold, ..Limits::default() })
    }

    /// One ACK per packet, a window of them in each round trip, for so long.
    fn run(cubic: &mut Cubic, from: Instant, span: Duration, rtt: Duration) -> Instant {
        let mut now = from;
        while now < from + span {
            now = now + Duration::from_ps(rtt.ps() / u64::from(cubic.window()));
            cubic.on_ack(&AckEvent { now, rtt, ..ack() });
        }
        now
    }

    #[test]
    fn the_window_follows_the_cubic() {
        // A long round trip and a large window, where Reno is slower.
        let mut cubic =
            cubic(10_000, Some(1), &CubicConfig { hystart: SlowStartExit::Congestion, ..CubicConfig::default() });
        cubic.on_congestion();
        let rtt = Duration::from_us(100_000);
        let (w_max, c) = (10_000.0, 0.4);
        let k = f64::cbrt((w_max - 7_000.0) / c);
        let mut now = Instant::from_ps(5 * PS_PER_SECOND);
        let start = now;
        for step in 0..30 {
            now = run(&mut cubic, now, Duration::from_us(1_000_000), rtt);
            // The target is a round trip ahead, and the window reaches it about a round trip later.
            let t = seconds(now.since(start));
            let expected = c * (t - k).powi(3) + w_max;
            let slope = 3.0 * c * (t - k).powi(2) * seconds(rtt);
            assert!((cubic.window - expected).abs() < slope + 2.0, "{step}: {} {expected}", cubic.window);
        }
        assert!(cubic.window > w_max);
    }

    #[test]
    fn where_round_trips_are_short_it_is_like_reno() {
        let mut cubic = cubic(100, Some(1), &CubicConfig::default());
        cubic.on_congestion();
        assert_eq!(cubic.window(), 70);
        let rtt = Duration::from_us(80);
        run(&mut cubic, Instant::ZERO, Duration::from_us(80 * 50), rtt);
        // alpha = 3 (1 - 0.7) / (1 + 0.7) packets a round trip, until the window before the cut: 50 * 0.529.
        let expected = 70.0 + 50.0 * 0.9 / 1.7;
        assert!((cubic.window - expected).abs() < 1.0, "{} {expected}", cubic.window);
        run(&mut cubic, Instant::from_ps(80_000_000 * 50), Duration::from_us(80 * 20), rtt);
        let ahead = cubic.window;
        assert!(ahead > 100.0);
        run(&mut cubic, Instant::from_ps(80_000_000 * 70), Duration::from_us(80 * 20), rtt);
        // Beyond it, one packet a round trip.
        assert!((cubic.window - ahead - 20.0).abs() < 1.0, "{} {ahead}", cubic.window);
    }

    #[test]
    fn a_second_loss_below_the_first_gives_way() {
        let mut cubic = cubic(100, Some(1), &CubicConfig::default());
        cubic.on_congestion();
        assert_eq!((cubic.w_max, cubic.window), (100.0, 70.0));
        cubic.on_congestion();
        assert!((cubic.w_max - 70.0 * 0.85).abs() < 1e-9);
        cubic.on_timeout(false);
        assert_eq!(cubic.window(), 1);
        assert!((cubic.threshold - 49.0 * 0.7).abs() < 1e-9);
    }

    #[test]
    fn slow_start_ends_when_delays_grow() {
        let config = CubicConfig { hystart_delay_min: Duration::from_us(10), ..CubicConfig::default() };
        let mut cubic = cubic(20, None, &config);
        let mut una = 0;
        let mut round = |cubic: &mut Cubic, start: u64, rtt: u64| {
            let (window, acknowledged) = (cubic.window(), una);
            for packet in 0..window {
                una += 1;
                let next = acknowledged + window + 2 * packet;
                let now = Instant::from_ps((start * 1_000 + u64::from(packet)) * 1_000);
                cubic.on_ack(&AckEvent { now, una, next, rtt: Duration::from_us(rtt), ..ack() });
            }
        };
        round(&mut cubic, 80, 80);
        assert_eq!(cubic.window(), 40);
        round(&mut cubic, 160, 89);
        assert_eq!(cubic.window(), 80);
        round(&mut cubic, 240, 95);
        assert!(cubic.window() < 100, "{}", cubic.window());
    }

    #[test]
    fn slow_start_ends_when_a_round_takes_a_round_trip() {
        let mut cubic = cubic(20, None, &CubicConfig::default());
        for packet in 0..200u32 {
            let now = Instant::from_ps(80_000_000 + u64::from(packet) * 1_200_000);
            let (una, rtt) = (packet + 1, Duration::from_us(80));
            cubic.on_ack(&AckEvent { now, una, next: 1_000, rtt, ..ack() });
        }
        // 80 us are 66 packets of 1.2 us.
        assert_eq!(cubic.threshold, 20.0 + 67.0);
    }

    #[test]
    fn until_the_first_loss_it_may_probe_by_a_share() {
        let config = CubicConfig {
            hystart: SlowStartExit::Congestion,
            probe: Some(20),
            reno_friendly: false,
            ..CubicConfig::default()
        };
        let mut cubic = cubic(100, Some(100), &config);
        let rtt = Duration::from_us(80);
        for _ in 0..100 {
            cubic.on_ack(&AckEvent { rtt, ..ack() });
        }
        assert!((cubic.window - 105.0).abs() < 1e-6, "{}", cubic.window);
        // After a loss the cubic is flat for seconds, and there is no Reno to follow.
        cubic.on_congestion();
        let start = cubic.window;
        run(&mut cubic, Instant::ZERO, Duration::from_us(80 * 50), rtt);
        assert!(cubic.window - start < 0.5, "{start} {}", cubic.window);
    }
}
