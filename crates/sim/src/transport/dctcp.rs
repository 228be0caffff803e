//! DCTCP.

use super::congestion::{AckEvent, CongestionControl, Limits, OncePerWindow};
use super::window::{SMALLEST_THRESHOLD, Window};
use super::{Common, TransportSettings};
use forebay_settings::check::share;
use forebay_tm::described::Wrong;
use forebay_tm::settings;

settings! {
    /// Settings of DCTCP.
    #[derive(Clone, Debug, PartialEq)]
    pub struct DctcpConfig {
        /// `g`: the weight of the latest window in alpha.
        pub gain: f64 = 1.0 / 16.0; share,
        /// Alpha at the start.
        pub initial_alpha: f64 = 1.0; share,
        /// Reduce the window on every marked ACK, not once per window (Netbench).
        pub cut_per_ack: bool = false,
    }
}

impl TransportSettings for DctcpConfig {
    fn adjust(&self, common: &mut Common) {
        common.ecn = true;
    }

    fn idle_with_linux(&self) -> &'static [&'static str] {
        &["cut_per_ack"]
    }

    fn check(&self, is_linux: bool) -> Result<(), (&'static str, Wrong)> {
        let shift = -self.gain.log2();
        if !is_linux || (shift.fract() == 0.0 && (0.0..=10.0).contains(&shift)) {
            return Ok(());
        }
        let problem = format!("Linux shifts: {} is no power of two from 1/1024 to 1", self.gain);
        Err(("gain", Wrong::new(problem, "give 0.0625 (1/16), 0.03125 ..., or set stack = \"rfc\"")))
    }
}

/// DCTCP (SIGCOMM 2010; RFC 8257): alpha is the moving average of the share of marked packets, taken once per window
/// of data, and the first mark of a window cuts the window by alpha/2. It reacts to losses as NewReno does.
///
/// The window does not grow on marked ACKs, and no cut leaves less than two packets, as in Linux; a cut for every
/// marked ACK may leave one.
#[derive(Clone, Debug)]
pub struct Dctcp {
    window: Window,
    /// Packets acknowledged since alpha was last updated, and those of them that were marked.
    acked: u32,
    marked: u32,
    /// Alpha is updated when this packet has been acknowledged.
    observed: OncePerWindow,
    cuts: OncePerWindow,
    alpha: f64,
    gain: f64,
    cut_per_ack: bool,
}

impl Dctcp {
    /// At the start of a flow.
    pub fn new(config: &DctcpConfig, limits: &Limits) -> Self {
        Self {
            window: Window::new(limits),
            acked: 0,
            marked: 0,
            observed: OncePerWindow::default(),
            cuts: OncePerWindow::default(),
            alpha: config.initial_alpha,
            gain: config.gain,
            cut_per_ack: config.cut_per_ack,
        }
    }

    /// Equation 1 of the paper, when a window of data has been acknowledged.
    #[cold]
    #[inline(never)]
    fn update_alpha(&mut self) {
        if self.acked > 0 {
            let share = f64::from(self.marked) / f64::from(self.acked);
            self.alpha += self.gain * (share - self.alpha);
        }
        self.acked = 0;
        self.marked = 0;
    }

    /// A marked ACK came in; equation 2 of the paper if it is time for that.
    #[inline(never)]
    fn on_mark(&mut self, acked: u32, una: u32, next: u32, recovering: bool) {
        self.marked += acked;
        if recovering {
            return;
        }
        if self.cut_per_ack {
            self.window.cut(1.0 - self.alpha / 2.0, 1);
        } else if self.cuts.take(una, next) {
            self.window.cut(1.0 - self.alpha / 2.0, SMALLEST_THRESHOLD);
        }
    }
}

impl CongestionControl for Dctcp {
    #[inline]
    fn on_ack(&mut self, ack: &AckEvent<'_>) {
        self.acked += ack.acked;
        if ack.marked {
            self.on_mark(ack.acked, ack.una, ack.next, ack.recovering);
        } else if ack.limited & !ack.recovering {
            self.window.grow(ack.acked);
        }
        if self.observed.take(ack.una, ack.next) {
            self.update_alpha();
        }
    }

    fn on_congestion(&mut self) {
        self.window.cut(0.5, SMALLEST_THRESHOLD);
    }

    fn on_timeout(&mut self, again: bool) {
        self.window.restart(again);
    }

    #[inline]
    fn window(&self) -> u32 {
        self.window.packets()
    }
}

#[cfg(test)]
mod tests {
    use super::super::pipe::ack;
    use super::*;

    fn dctcp(initial_alpha: f64, cut_per_ack: bool) -> Dctcp {
        let limits = Limits { initial_window: 100, initial_threshold: Some(1), ..Limits::default() };
        Dctcp::new(&DctcpConfig { initial_alpha, cut_per_ack, ..DctcpConfig::default() }, &limits)
    }

    #[test]
    fn alpha_becomes_the_share_of_marks() {
        let mut dctcp = dctcp(1.0, false);
        let mut una = 0;
        for round in 0..200 {
            for packet in 0..40 {
                una += 1;
                dctcp.on_ack(&AckEvent { una, next: una + 39, marked: packet % 4 == 0, ..ack() });
            }
            // After n windows, alpha is F + (1 - F) (1 - g)^n. The first window is the first ACK, which is marked.
            let expected = 0.25 + 0.75 * f64::powi(15.0 / 16.0, round);
            assert!((dctcp.alpha - expected).abs() < 1e-9, "{round}: {} {expected}", dctcp.alpha);
        }
    }

    #[test]
    fn a_window_of_marks_cuts_once_by_half_of_alpha() {
        let mut dctcp = dctcp(0.5, false);
        for una in 1..=100 {
            dctcp.on_ack(&AckEvent { una, next: 101, marked: true, ..ack() });
        }
        assert!((dctcp.window.exact() - 75.0).abs() < 0.01, "{}", dctcp.window.exact());
    }

    #[test]
    fn or_on_every_marked_ack() {
        let mut dctcp = dctcp(0.5, true);
        dctcp.observed.take(1, 1_000);
        for una in 1..=3 {
            dctcp.on_ack(&AckEvent { una, next: 101, marked: true, ..ack() });
        }
        assert!((dctcp.window.exact() - 100.0 * 0.75f64.powi(3)).abs() < 0.01, "{}", dctcp.window.exact());
    }

    #[test]
    fn a_loss_halves() {
        let mut dctcp = dctcp(0.0, false);
        dctcp.on_congestion();
        assert_eq!(dctcp.window(), 50);
        dctcp.on_ack(&AckEvent { marked: true, recovering: true, ..ack() });
        assert_eq!(dctcp.window(), 50);
    }
}
