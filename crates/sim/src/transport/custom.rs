//! Congestion controls of other crates: TCP with a window or a rate of their own.
//!
//! A program registers them when it starts (`forebay_settings::register(custom_transport(..))`); scenarios then have
//! them by their names.

use super::congestion::{AckEvent, CongestionControl, Limits};
use super::{Common, TransportKind, TransportSettings};
use forebay_tm::Duration;
use forebay_tm::custom::Custom;
use forebay_tm::described::Described;
use std::fmt::Debug;

/// The settings of a congestion control: what makes one for each flow.
pub trait CongestionSettings: Described {
    /// The congestion control that they make.
    type Control: CongestionControl + Clone + Debug + Send + Sync + 'static;

    /// Whether packets are ECN-capable, unless a scenario says otherwise.
    fn ecn(&self) -> bool {
        false
    }

    /// Whether packets must carry in-band telemetry.
    fn wants_telemetry(&self) -> bool {
        false
    }

    /// At the start of a flow.
    fn start(&self, limits: &Limits) -> Self::Control;
}

/// A congestion control, whatever its type.
trait AnyControl: CongestionControl + Debug + Send + Sync {
    fn copy(&self) -> Box<dyn AnyControl>;
}

impl<C: CongestionControl + Clone + Debug + Send + Sync + 'static> AnyControl for C {
    fn copy(&self) -> Box<dyn AnyControl> {
        Box::new(self.clone())
    }
}

/// A congestion control of another crate at work. It is called through a pointer; those of this crate are not.
#[derive(Debug)]
pub struct CustomControl(Box<dyn AnyControl>);

impl Clone for CustomControl {
    fn clone(&self) -> Self {
        Self(self.0.copy())
    }
}

impl CongestionControl for CustomControl {
    fn on_ack(&mut self, ack: &AckEvent<'_>) {
        self.0.on_ack(ack);
    }

    fn on_congestion(&mut self) {
        self.0.on_congestion();
    }

    fn on_timeout(&mut self, again: bool) {
        self.0.on_timeout(again);
    }

    fn on_sent(&mut self, seq: u32, una: u32) {
        self.0.on_sent(seq, una);
    }

    fn window(&self) -> u32 {
        self.0.window().max(1)
    }

    fn gap(&self) -> Option<Duration> {
        self.0.gap()
    }
}

/// Settings of a congestion control, whatever their type.
pub trait AnyCongestion: Send + Sync {
    /// [`CongestionSettings::ecn`].
    fn ecn(&self) -> bool;
    /// [`CongestionSettings::wants_telemetry`].
    fn wants_telemetry(&self) -> bool;
    /// [`CongestionSettings::start`].
    fn start(&self, limits: &Limits) -> CustomControl;
}

impl<S: CongestionSettings + Send + Sync> AnyCongestion for S {
    fn ecn(&self) -> bool {
        CongestionSettings::ecn(self)
    }

    fn wants_telemetry(&self) -> bool {
        CongestionSettings::wants_telemetry(self)
    }

    fn start(&self, limits: &Limits) -> CustomControl {
        CustomControl(Box::new(CongestionSettings::start(self, limits)))
    }
}

/// The choice of a congestion control of another crate, with its settings.
pub type CustomTransport = Custom<dyn AnyCongestion>;

/// A congestion control by the name that it has in files, one sentence about it, and its settings.
pub fn custom_transport(
    name: &'static str,
    about: &'static str,
    settings: impl CongestionSettings + Clone + Send + Sync + 'static,
) -> TransportKind {
    TransportKind::Custom(CustomTransport::of(name, about, settings, |settings| settings))
}

impl TransportSettings for CustomTransport {
    fn adjust(&self, common: &mut Common) {
        common.ecn = self.role().ecn();
    }

    fn wants_telemetry(&self) -> bool {
        self.role().wants_telemetry()
    }
}
