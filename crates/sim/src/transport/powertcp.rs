//! PowerTCP.

use super::config::NO_SLOW_START;
use super::congestion::{AckEvent, CongestionControl, Limits};
use super::{Common, InitialWindow, TransportSettings};
use crate::packet::{HopStamp, Telemetry};
use forebay_settings::check::share;
use forebay_tm::settings;
use forebay_tm::units::PS_PER_SECOND;
use forebay_tm::{Duration, Rate};

settings! {
    /// Settings of PowerTCP.
    #[derive(Clone, Debug, PartialEq)]
    pub struct PowerTcpConfig {
        /// The weight of the new window.
        pub gamma: f64 = 0.9; share,
        /// The additive step, as a rate: times the base RTT it is a window.
        pub additive: Rate = Rate::from_bps(100_000_000),
    }
}

impl TransportSettings for PowerTcpConfig {
    fn adjust(&self, common: &mut Common) {
        common.initial_window = InitialWindow::Bdp;
    }

    fn common_keys(&self) -> &'static [&'static [&'static str]] {
        NO_SLOW_START
    }

    fn wants_telemetry(&self) -> bool {
        true
    }
}

/// Power below this share of the equilibrium's counts as this much, so that an idle path cannot divide by nothing.
const LEAST_POWER: f64 = 1.0 / 64.0;

/// The window of PowerTCP and theta-PowerTCP: both set it by the power they measure.
#[derive(Clone, Debug)]
pub(super) struct PowerWindow {
    /// In packets.
    size: f64,
    /// The smoothed power over that of the equilibrium.
    power: f64,
    /// What may be in flight; one packet after a timeout until the next feedback.
    allowed: u32,
    /// The time between packets in picoseconds: the rate is the window over the base RTT.
    gap: u64,
    gamma: f64,
    /// The additive step in packets.
    beta: f64,
    /// The base RTT in picoseconds.
    pub(super) tau: f64,
    /// What the link of the sender carries in the base RTT, or the setting's largest window.
    largest: f64,
}

impl PowerWindow {
    pub(super) fn new(gamma: f64, additive: Rate, limits: &Limits) -> Self {
        let mut window = Self {
            size: 0.0,
            power: 1.0,
            allowed: 1,
            gap: 0,
            gamma,
            beta: limits.packets_per_rtt(additive),
            tau: limits.base_rtt.ps().max(1) as f64,
            largest: limits.packets_per_rtt(limits.rate).max(1.0).min(f64::from(limits.max_window)),
        };
        window.set(f64::from(limits.initial_window));
        window
    }

    fn set(&mut self, size: f64) {
        self.size = size;
        self.allowed = (size.ceil() as u32).max(1);
        self.gap = ((self.tau / size) as u64).max(1);
    }

    /// The window now.
    pub(super) fn size(&self) -> f64 {
        self.size
    }

    /// Power was measured over `span` picoseconds; it is smoothed over the base RTT (`smooth` of the paper).
    pub(super) fn observe(&mut self, power: f64, span: f64) {
        let weight = (span / self.tau).min(1.0);
        self.power += weight * (power - self.power);
    }

    /// Equation 7 of the paper: from the window `old` at the time the acknowledged packet was sent. No larger than what
    /// the sender's link carries in the base RTT, no smaller than the additive step makes it.
    pub(super) fn update(&mut self, old: f64) {
        let power = self.power.max(LEAST_POWER);
        let size = self.gamma * (old / power + self.beta) + (1.0 - self.gamma) * self.size;
        self.set(size.min(self.largest).max(1e-3));
    }

    pub(super) fn restart(&mut self) {
        self.allowed = 1;
    }

    #[inline]
    pub(super) fn packets(&self) -> u32 {
        self.allowed
    }

    #[inline]
    pub(super) fn gap(&self) -> Duration {
        Duration::from_ps(self.gap)
    }
}

/// PowerTCP (NSDI 2022, algorithm 1): at every ACK the window is set by the power at the hop where it is largest, as
/// the stamps of two packets in a row tell it.
///
/// The paper says nothing of losses: they are repaired and otherwise ignored; a timeout allows one packet until the
/// next feedback. An ACK whose stamps are older than the last ones, or of another path (a different number of hops,
/// another rate, counters that went back), is not compared with them.
#[derive(Clone, Debug)]
pub struct PowerTcp {
    window: PowerWindow,
    last: Telemetry,
    /// The window when a packet was sent, by its number; a power of two of them.
    sent: Vec<f32>,
}

impl PowerTcp {
    /// At the start of a flow.
    pub fn new(config: &PowerTcpConfig, limits: &Limits) -> Self {
        Self {
            window: PowerWindow::new(config.gamma, config.additive, limits),
            last: Telemetry::default(),
            sent: vec![0.0; 16],
        }
    }

    /// The largest power of a hop over its equilibrium's, and the time it was measured over.
    fn power(&self, telemetry: &Telemetry) -> Option<(f64, f64)> {
        let (hops, last) = (telemetry.hops(), self.last.hops());
        if hops.is_empty() || hops.len() != last.len() {
            return None;
        }
        let mut largest = (0.0, 0.0);
        for (new, old) in hops.iter().zip(last) {
            let (power, span) = hop_power(new, old, self.window.tau)?;
            if power > largest.0 {
                largest = (power, span);
            }
        }
        (largest.1 > 0.0).then_some(largest)
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, una: u32, seq: u32) {
        let mut larger = vec![0.0; self.sent.len() * 2];
        let (old_mask, new_mask) = (self.sent.len() - 1, larger.len() - 1);
        for kept in una..seq {
            larger[kept as usize & new_mask] = self.sent[kept as usize & old_mask];
        }
        self.sent = larger;
    }
}

/// `current * voltage` of a hop over its square rate times the base RTT `tau`: current is what comes in, `dq/dt` plus
/// what goes out; voltage the queue plus the bandwidth-delay product.
fn hop_power(new: &HopStamp, old: &HopStamp, tau: f64) -> Option<(f64, f64)> {
    if new.at <= old.at || new.sent < old.sent || new.rate != old.rate || new.rate == 0 {
        return None;
    }
    let span = new.at.since(old.at).ps() as f64;
    let ps_per_byte = 8.0 * PS_PER_SECOND as f64 / new.rate as f64;
    let arrived = new.queued as f64 - old.queued as f64 + (new.sent - old.sent) as f64;
    let current = arrived.max(0.0) * ps_per_byte / span;
    let voltage = new.queued as f64 * ps_per_byte / tau + 1.0;
    Some((current * voltage, span))
}

impl CongestionControl for PowerTcp {
    fn on_ack(&mut self, ack: &AckEvent<'_>) {
        let Some(telemetry) = ack.telemetry else { return };
        if telemetry.hops().iter().zip(self.last.hops()).any(|(new, old)| new.at < old.at) {
            return;
        }
        if let Some((power, span)) = self.power(telemetry) {
            self.window.observe(power, span);
            let old = self.sent[ack.echo as usize & (self.sent.len() - 1)];
            self.window.update(f64::from(old));
        }
        self.last = *telemetry;
    }

    fn on_congestion(&mut self) {}

    fn on_timeout(&mut self, _again: bool) {
        self.window.restart();
    }

    #[inline]
    fn on_sent(&mut self, seq: u32, una: u32) {
        if (seq - una) as usize >= self.sent.len() {
            self.grow(una, seq);
        }
        let mask = self.sent.len() - 1;
        self.sent[seq as usize & mask] = self.window.size() as f32;
    }

    #[inline]
    fn window(&self) -> u32 {
        self.window.packets()
    }

    #[inline]
    fn gap(&self) -> Option<Duration> {
        Some(self.window.gap())
    }
}

#[cfg(test)]
mod tests {
    use super::super::pipe::ack;
    use super::*;
    use forebay_tm::Instant;

    /// Stamps of a 10 Gb/s port at `us`, with `sent` bytes gone and `queued` waiting.
    fn telemetry(us: u64, sent: u64, queued: u64) -> Telemetry {
        let mut telemetry = Telemetry::default();
        let at = Instant::from_ps(us * 1_000_000);
        telemetry.push(HopStamp { at, sent, queued, rate: 10_000_000_000 });
        telemetry
    }

    fn power_tcp(initial_window: u32) -> PowerTcp {
        PowerTcp::new(&PowerTcpConfig::default(), &Limits { initial_window, ..Limits::default() })
    }

    #[test]
    fn power_is_current_times_voltage() {
        let mut power_tcp = power_tcp(60);
        power_tcp.last = telemetry(100, 0, 20_000);
        // 10 us at 10 Gb/s are 12,500 bytes; 7,500 more have come in; 27,500 bytes wait; the BDP is 100,000.
        let (power, span) = power_tcp.power(&telemetry(110, 12_500, 27_500)).unwrap();
        assert!((power - 1.6 * 1.275).abs() < 1e-12, "{power}");
        assert_eq!(span, 10e6);
        assert!(power_tcp.power(&telemetry(100, 12_500, 0)).is_none());
    }

    #[test]
    fn a_full_link_with_a_queue_reaches_its_fixed_point() {
        // The link is full and the queue stays: the power is 1 + q / BDP. With w = g (w / P + b) + (1 - g) w, the
        // window ends at b / (1 - 1 / P), here at beta * 11 for a tenth of the BDP in the queue.
        let mut power_tcp = power_tcp(60);
        for step in 0..3_000u64 {
            power_tcp.on_sent(step as u32, step as u32);
            let stamps = telemetry(10 * step, 12_500 * step, 10_000);
            power_tcp.on_ack(&AckEvent { echo: step as u32, telemetry: Some(&stamps), ..ack() });
        }
        let beta = 1_000.0 / 1_500.0;
        assert!((power_tcp.window.size - 11.0 * beta).abs() < 0.01, "{}", power_tcp.window.size);
        assert_eq!(power_tcp.window(), 8);
        let rate = 1.0 / power_tcp.gap().unwrap().ps() as f64;
        assert!((rate - 11.0 * beta / 80e6).abs() < 1e-12);
    }

    #[test]
    fn a_half_idle_link_fills_within_a_few_updates() {
        let mut power_tcp = power_tcp(5);
        for step in 0..40u64 {
            power_tcp.on_sent(step as u32, step as u32);
            let stamps = telemetry(80 * step, 50_000 * step, 0);
            power_tcp.on_ack(&AckEvent { echo: step as u32, telemetry: Some(&stamps), ..ack() });
        }
        // The window cannot exceed the link's 100,000 bytes in 80 us.
        assert!((power_tcp.window.size - 100_000.0 / 1_500.0).abs() < 1e-9);
    }

    #[test]
    fn the_window_is_that_at_the_time_of_sending() {
        let mut power_tcp = power_tcp(40);
        for seq in 0..100 {
            power_tcp.window.set(f64::from(seq + 1));
            power_tcp.on_sent(seq, 0);
        }
        power_tcp.window.set(40.0);
        power_tcp.last = telemetry(0, 0, 0);
        // The link is full, nothing waits: the power is 1.
        power_tcp.on_ack(&AckEvent { echo: 19, telemetry: Some(&telemetry(80, 100_000, 0)), ..ack() });
        let expected = 0.9 * (20.0 + 1_000.0 / 1_500.0) + 0.1 * 40.0;
        assert!((power_tcp.window.size - expected).abs() < 1e-6, "{}", power_tcp.window.size);
    }

    #[test]
    fn late_stamps_and_other_paths_are_not_compared() {
        let mut power_tcp = power_tcp(40);
        power_tcp.on_sent(0, 0);
        power_tcp.on_ack(&AckEvent { telemetry: Some(&telemetry(80, 100_000, 0)), ..ack() });
        power_tcp.on_ack(&AckEvent { telemetry: Some(&telemetry(70, 90_000, 50_000)), ..ack() });
        let mut longer = telemetry(90, 0, 0);
        longer.push(longer.stamps[0]);
        power_tcp.on_ack(&AckEvent { telemetry: Some(&longer), ..ack() });
        assert_eq!(power_tcp.window.size, 40.0);
        assert_eq!(power_tcp.last.count, 2);
    }
}
