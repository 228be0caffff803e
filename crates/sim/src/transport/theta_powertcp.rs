//! theta-PowerTCP.

use super::config::NO_SLOW_START;
use super::congestion::{AckEvent, CongestionControl, Limits, OncePerWindow};
use super::powertcp::PowerWindow;
use super::{Common, InitialWindow, TransportSettings};
use forebay_settings::check::share;
use forebay_tm::settings;
use forebay_tm::{Duration, Instant, Rate};

settings! {
    /// Settings of theta-PowerTCP.
    #[derive(Clone, Debug, PartialEq)]
    pub struct ThetaPowerTcpConfig {
        /// The weight of the new window.
        pub gamma: f64 = 0.7; share,
        /// The additive step, as a rate: times the base RTT it is a window.
        pub additive: Rate = Rate::from_bps(100_000_000),
    }
}

impl TransportSettings for ThetaPowerTcpConfig {
    fn adjust(&self, common: &mut Common) {
        common.initial_window = InitialWindow::Bdp;
    }

    fn common_keys(&self) -> &'static [&'static [&'static str]] {
        NO_SLOW_START
    }
}

/// theta-PowerTCP (NSDI 2022, algorithm 2): PowerTCP without telemetry. The power over the equilibrium's is `(d theta /
/// dt + 1) * theta / tau` with the round trip `theta` and the base RTT `tau`; it is measured at every ACK and the
/// window set once per round trip.
///
/// When the window is set again, the packet that is acknowledged was sent just after it was last set, so that the
/// window at that time is the window now. A gradient below -1 (ACKs out of order) counts as -1. Losses and timeouts are
/// treated as in PowerTCP.
#[derive(Clone, Debug)]
pub struct ThetaPowerTcp {
    window: PowerWindow,
    /// The last round trip in picoseconds, and when it was measured.
    last: Option<(f64, Instant)>,
    updates: OncePerWindow,
}

impl ThetaPowerTcp {
    /// At the start of a flow.
    pub fn new(config: &ThetaPowerTcpConfig, limits: &Limits) -> Self {
        Self {
            window: PowerWindow::new(config.gamma, config.additive, limits),
            last: None,
            updates: OncePerWindow::default(),
        }
    }
}

impl CongestionControl for ThetaPowerTcp {
    fn on_ack(&mut self, ack: &AckEvent<'_>) {
        if ack.rtt == Duration::ZERO {
            return;
        }
        let theta = ack.rtt.ps() as f64;
        let Some((last, at)) = self.last else {
            self.last = Some((theta, ack.now));
            self.updates.take(ack.una, ack.next);
            return;
        };
        let span = ack.now.since(at).ps() as f64;
        if span > 0.0 {
            let gradient = (theta - last) / span;
            self.window.observe((gradient + 1.0).max(0.0) * theta / self.window.tau, span);
            self.last = Some((theta, ack.now));
        }
        if self.updates.take(ack.una, ack.next) {
            self.window.update(self.window.size());
        }
    }

    fn on_congestion(&mut self) {}

    fn on_timeout(&mut self, _again: bool) {
        self.window.restart();
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

    fn theta(initial_window: u32) -> ThetaPowerTcp {
        ThetaPowerTcp::new(&ThetaPowerTcpConfig::default(), &Limits { initial_window, ..Limits::default() })
    }

    #[test]
    fn a_constant_round_trip_has_its_fixed_point() {
        // theta = 1.25 tau and no gradient: the power is 1.25, and w = w / 1.25 + beta ends at 5 beta.
        let mut theta = theta(60);
        for step in 0..5_000u32 {
            let now = Instant::from_ps(u64::from(step) * 20_000_000);
            let (una, next) = (step + 1, step + 5);
            theta.on_ack(&AckEvent { now, una, next, rtt: Duration::from_us(100), ..ack() });
        }
        let expected = 5.0 * 1_000.0 / 1_500.0;
        assert!((theta.window.size() - expected).abs() < 0.01, "{}", theta.window.size());
    }

    #[test]
    fn a_growing_round_trip_counts_more() {
        let mut theta = theta(40);
        let at = |us: u64| Instant::from_ps(us * 1_000_000);
        theta.on_ack(&AckEvent { now: at(100), una: 1, next: 40, rtt: Duration::from_us(80), ..ack() });
        // 40 us more in 80 us: (0.5 + 1) * 120 / 80 = 2.25, smoothed over a whole base RTT.
        theta.on_ack(&AckEvent { now: at(180), una: 41, next: 80, rtt: Duration::from_us(120), ..ack() });
        let expected = 0.7 * (40.0 / 2.25 + 1_000.0 / 1_500.0) + 0.3 * 40.0;
        assert!((theta.window.size() - expected).abs() < 1e-9, "{}", theta.window.size());
        // Within the window, nothing changes.
        theta.on_ack(&AckEvent { now: at(190), una: 42, next: 90, rtt: Duration::from_us(160), ..ack() });
        assert!((theta.window.size() - expected).abs() < 1e-9);
    }
}
