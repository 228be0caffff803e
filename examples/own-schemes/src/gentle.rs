//! A congestion control that is gentle both ways: it gives up a quarter of its window at a loss, and grows slowly.

use forebay_sim::transport::CongestionSettings;
use forebay_sim::transport::congestion::{AckEvent, CongestionControl, Limits};
use forebay_tm::settings;

settings! {
    /// Settings of the gentle congestion control.
    #[derive(Clone, Debug, PartialEq)]
    pub struct GentleConfig {
        /// What is left of the window after a loss.
        pub keep: f64 = 0.75,
        /// Packets that the window grows by in a round trip.
        pub growth: f64 = 0.5,
    }
}

impl CongestionSettings for GentleConfig {
    type Control = Gentle;

    fn start(&self, limits: &Limits) -> Gentle {
        Gentle {
            keep: self.keep.clamp(0.0, 1.0),
            growth: self.growth.max(0.0),
            window: f64::from(limits.initial_window),
            most: f64::from(limits.max_window),
            slow_start: true,
        }
    }
}

/// At work in one flow.
#[derive(Clone, Debug)]
pub struct Gentle {
    keep: f64,
    growth: f64,
    window: f64,
    most: f64,
    slow_start: bool,
}

impl CongestionControl for Gentle {
    fn on_ack(&mut self, ack: &AckEvent<'_>) {
        if !ack.recovering && ack.limited {
            let acked = f64::from(ack.acked);
            self.window += if self.slow_start { acked } else { self.growth * acked / self.window };
            self.window = self.window.min(self.most);
        }
    }

    fn on_congestion(&mut self) {
        self.slow_start = false;
        self.window = (self.window * self.keep).max(1.0);
    }

    fn on_timeout(&mut self, _: bool) {
        self.on_congestion();
        self.window = 1.0;
    }

    fn window(&self) -> u32 {
        self.window as u32
    }
}
