//! TCP NewReno.

use super::TransportSettings;
use super::congestion::{AckEvent, CongestionControl, Limits, OncePerWindow};
use super::window::{SMALLEST_THRESHOLD, Window};
use forebay_tm::settings;

settings! {
    /// Settings of NewReno: it has none of its own.
    #[derive(Clone, Debug, PartialEq)]
    pub struct RenoConfig {}
}

impl TransportSettings for RenoConfig {}

/// NewReno (RFC 5681 and RFC 6582; which packets are lost is the sender's business). An echoed mark is treated like a
/// loss, once per window (RFC 3168).
#[derive(Clone, Debug)]
pub struct Reno {
    window: Window,
    marks: OncePerWindow,
}

impl Reno {
    /// At the start of a flow.
    pub fn new(_: &RenoConfig, limits: &Limits) -> Self {
        Self { window: Window::new(limits), marks: OncePerWindow::default() }
    }
}

impl CongestionControl for Reno {
    #[inline]
    fn on_ack(&mut self, ack: &AckEvent<'_>) {
        if ack.recovering {
            return;
        }
        if ack.marked {
            if self.marks.take(ack.una, ack.next) {
                self.on_congestion();
            }
        } else if ack.limited {
            self.window.grow(ack.acked);
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

    #[test]
    fn a_window_full_of_marks_halves_once() {
        let mut reno =
            Reno::new(&RenoConfig {}, &Limits { initial_window: 40, initial_threshold: Some(1), ..Limits::default() });
        for una in 101..=140 {
            reno.on_ack(&AckEvent { una, next: 140, marked: true, ..ack() });
        }
        assert_eq!(reno.window(), 20);
        reno.on_ack(&AckEvent { una: 141, next: 160, marked: true, ..ack() });
        assert_eq!(reno.window(), 10);
    }

    #[test]
    fn a_timeout_starts_from_one_to_half() {
        let mut reno = Reno::new(&RenoConfig {}, &Limits { initial_window: 40, ..Limits::default() });
        reno.on_timeout(false);
        assert_eq!(reno.window(), 1);
        reno.on_timeout(true);
        for round in [1, 2, 4, 8, 16] {
            reno.on_ack(&AckEvent { acked: round, ..ack() });
        }
        // 1, 2, 4, 8, 16, then slow start ends at 20; the other 12 of the last 16 are not yet a window.
        assert_eq!(reno.window(), 20);
    }
}
