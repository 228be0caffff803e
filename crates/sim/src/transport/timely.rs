//! TIMELY.

use super::config::NO_SLOW_START;
use super::congestion::{AckEvent, CongestionControl, Limits, OncePerWindow};
use super::{Common, InitialWindow, TransportSettings};
use forebay_settings::check::{at_least_one, lasts, sends, share};
use forebay_tm::described::Wrong;
use forebay_tm::settings;
use forebay_tm::units::PS_PER_SECOND;
use forebay_tm::{Duration, Rate};

settings! {
    /// Settings of TIMELY.
    #[derive(Clone, Debug, PartialEq)]
    pub struct TimelyConfig {
        /// The weight of the latest difference in the RTT gradient.
        pub alpha: f64 = 0.875; share,
        /// The factor of the multiplicative decrease.
        pub beta: f64 = 0.8; share,
        /// Below this RTT the rate grows.
        pub t_low: Duration = Duration::from_us(200); lasts,
        /// Above this RTT the rate falls.
        pub t_high: Duration = Duration::from_us(500); lasts,
        /// The additive step.
        pub additive: Rate = Rate::from_bps(100_000_000),
        /// Consecutive increases after which hyperactive increase starts.
        pub hyper_after: u32 = 5; at_least_one,
        /// The rate does not fall below this.
        pub min_rate: Rate = Rate::from_bps(100_000_000); sends,
    }
}

impl TransportSettings for TimelyConfig {
    fn adjust(&self, common: &mut Common) {
        common.initial_window = InitialWindow::Bdp;
    }

    fn common_keys(&self) -> &'static [&'static [&'static str]] {
        NO_SLOW_START
    }

    fn check(&self, _: bool) -> Result<(), (&'static str, Wrong)> {
        if self.t_high >= self.t_low {
            return Ok(());
        }
        let problem = format!("t_high, {}, is below t_low, {}", self.t_high, self.t_low);
        Err(("t_high", Wrong::new(problem, format!("give at least {}", self.t_low))))
    }
}

/// Additive steps that a hyperactive one is worth (`N` of the paper).
const HYPER_STEPS: f64 = 5.0;

/// TIMELY (SIGCOMM 2015, algorithm 1), starting at the rate of the link.
///
/// The paper updates the rate once per segment of 16 to 64 KB; here, as in the ns-3 module of ABM's authors, it is once
/// per round trip. The paper's smallest round trip is the base RTT. It is a rate and no window that limits the sender:
/// the window is the first one until the first ACK, then only the setting's largest. A loss is repaired and otherwise
/// ignored; a timeout allows one packet until the next ACK.
#[derive(Clone, Debug)]
pub struct Timely {
    /// In bits per second.
    rate: f64,
    /// The time between packets in picoseconds.
    gap: u64,
    window: u32,
    /// The round trip of the last update in picoseconds; zero before the first.
    last_rtt: f64,
    /// The smoothed difference of round trips.
    difference: f64,
    /// Updates in a row at which the rate grew.
    good: u32,
    updates: OncePerWindow,
    alpha: f64,
    beta: f64,
    t_low: f64,
    t_high: f64,
    additive: f64,
    hyper_after: u32,
    min_rate: f64,
    max_rate: f64,
    base_rtt: f64,
    max_window: u32,
    wire: u32,
}

impl Timely {
    /// At the start of a flow.
    pub fn new(config: &TimelyConfig, limits: &Limits) -> Self {
        let max_rate = limits.rate.bps() as f64;
        let mut timely = Self {
            rate: max_rate,
            gap: 0,
            window: limits.initial_window,
            last_rtt: 0.0,
            difference: 0.0,
            good: 0,
            updates: OncePerWindow::default(),
            alpha: config.alpha,
            beta: config.beta,
            t_low: config.t_low.ps() as f64,
            t_high: config.t_high.ps() as f64,
            additive: config.additive.bps() as f64,
            hyper_after: config.hyper_after,
            min_rate: (config.min_rate.bps() as f64).clamp(1.0, max_rate.max(1.0)),
            max_rate: max_rate.max(1.0),
            base_rtt: limits.base_rtt.ps().max(1) as f64,
            max_window: limits.max_window,
            wire: limits.wire,
        };
        timely.set_rate(max_rate);
        timely
    }

    fn set_rate(&mut self, rate: f64) {
        self.rate = rate.clamp(self.min_rate, self.max_rate);
        self.gap = (f64::from(self.wire) * (8.0 * PS_PER_SECOND as f64) / self.rate).max(1.0) as u64;
    }

    fn increase(&mut self) {
        let steps = if self.good < self.hyper_after { 1.0 } else { HYPER_STEPS };
        self.good += 1;
        self.set_rate(self.rate + steps * self.additive);
    }

    fn decrease(&mut self, share: f64) {
        self.good = 0;
        self.set_rate(self.rate * share.max(0.0));
    }

    fn update(&mut self, rtt: f64) {
        if self.last_rtt == 0.0 {
            self.last_rtt = rtt;
            return;
        }
        self.difference += self.alpha * (rtt - self.last_rtt - self.difference);
        self.last_rtt = rtt;
        let gradient = self.difference / self.base_rtt;
        if rtt < self.t_low {
            self.increase();
        } else if rtt > self.t_high {
            self.decrease(1.0 - self.beta * (1.0 - self.t_high / rtt));
        } else if gradient <= 0.0 {
            self.increase();
        } else {
            self.decrease(1.0 - self.beta * gradient);
        }
    }
}

impl CongestionControl for Timely {
    #[inline]
    fn on_ack(&mut self, ack: &AckEvent<'_>) {
        self.window = self.max_window;
        if ack.rtt > Duration::ZERO && self.updates.take(ack.una, ack.next) {
            self.update(ack.rtt.ps() as f64);
        }
    }

    fn on_congestion(&mut self) {}

    fn on_timeout(&mut self, _again: bool) {
        self.window = 1;
    }

    #[inline]
    fn window(&self) -> u32 {
        self.window
    }

    #[inline]
    fn gap(&self) -> Option<Duration> {
        Some(Duration::from_ps(self.gap))
    }
}

#[cfg(test)]
mod tests {
    use super::super::pipe::ack;
    use super::*;

    const GBPS: f64 = 1e9;

    /// TIMELY at 5 Gb/s of 10, after a first round trip of `rtt` us.
    fn timely(rtt: f64) -> Timely {
        let mut timely = Timely::new(&TimelyConfig::default(), &Limits::default());
        timely.set_rate(5.0 * GBPS);
        timely.update(rtt * 1e6);
        timely
    }

    #[test]
    fn it_starts_at_the_rate_of_the_link() {
        let timely = Timely::new(&TimelyConfig::default(), &Limits::default());
        assert_eq!(timely.gap(), Some(Duration::from_ps(1_200_000)));
    }

    #[test]
    fn short_round_trips_make_it_grow_and_then_grow_faster() {
        let mut timely = timely(100.0);
        for (step, expected) in [5.1, 5.2, 5.3, 5.4, 5.5, 6.0, 6.5].into_iter().enumerate() {
            // The gradient does not matter below t_low.
            timely.update(100e6 + step as f64 * 10e6);
            assert!((timely.rate / GBPS - expected).abs() < 1e-9, "{step}: {}", timely.rate);
        }
    }

    #[test]
    fn long_round_trips_make_it_fall_towards_t_high() {
        let mut timely = timely(1_000.0);
        timely.update(1_000e6);
        assert!((timely.rate / GBPS - 5.0 * (1.0 - 0.8 * 0.5)).abs() < 1e-9);
    }

    #[test]
    fn between_them_the_gradient_decides() {
        let mut rising = timely(300.0);
        rising.update(308e6);
        // The smoothed difference is 0.875 * 8 us, the gradient 7/80.
        assert!((rising.rate / GBPS - 5.0 * (1.0 - 0.8 * 7.0 / 80.0)).abs() < 1e-9);
        rising.update(308e6);
        // No change now, but the average still rises: 7/8 us.
        assert!((rising.difference - 0.875e6).abs() < 1.0);
        let mut falling = timely(300.0);
        falling.update(290e6);
        assert!((falling.rate / GBPS - 5.1).abs() < 1e-9);
    }

    #[test]
    fn the_rate_stays_within_its_limits_and_is_updated_once_per_window() {
        let mut timely = timely(300.0);
        timely.update(900_000e6);
        timely.update(900_000e6);
        timely.update(900_000e6);
        assert_eq!(timely.rate, 1e8);
        for _ in 0..100 {
            timely.update(10e6);
        }
        assert_eq!(timely.rate, 10.0 * GBPS);
        timely.set_rate(GBPS);
        for una in 1..=81 {
            timely.on_ack(&AckEvent { una, next: una + 39, rtt: Duration::from_us(10), ..ack() });
        }
        assert_eq!(timely.rate, GBPS + 3.0 * 5.0 * 1e8);
    }
}
