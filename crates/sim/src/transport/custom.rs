//! Congestion controls of other crates: TCP with a window or a rate of their own.
//!
//! A program registers them when it starts; scenarios then have them by their names.

use super::TransportKind;
use super::congestion::{AckEvent, CongestionControl, Limits};
use forebay_settings::Registry;
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

/// What a flow needs of settings, whatever their type.
trait AnySettings {
    fn ecn(&self) -> bool;
    fn wants_telemetry(&self) -> bool;
    fn start(&self, limits: &Limits) -> CustomControl;
}

impl<S: CongestionSettings> AnySettings for S {
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
#[derive(Clone, Debug, PartialEq)]
pub struct CustomTransport(Custom<dyn AnySettings>);

impl CustomTransport {
    /// A congestion control by the name that it has in files, one sentence about it, and its settings.
    pub fn new(
        name: &'static str,
        about: &'static str,
        settings: impl CongestionSettings + Clone + Send + Sync + 'static,
    ) -> Self {
        Self(Custom::of(name, about, settings, |settings| settings))
    }

    /// Its name in files.
    pub fn name(&self) -> &'static str {
        self.0.name()
    }

    /// What it is, in one sentence.
    pub fn about(&self) -> &'static str {
        self.0.about()
    }

    /// What there is to set.
    pub fn settings(&self) -> &dyn Described {
        self.0.settings()
    }

    /// What there is to set, to be changed.
    pub fn settings_mut(&mut self) -> &mut dyn Described {
        self.0.settings_mut()
    }

    pub(super) fn ecn(&self) -> bool {
        self.0.role().ecn()
    }

    pub(super) fn wants_telemetry(&self) -> bool {
        self.0.role().wants_telemetry()
    }

    pub(super) fn start(&self, limits: &Limits) -> CustomControl {
        self.0.role().start(limits)
    }
}

static TRANSPORTS: Registry<CustomTransport> = Registry::new();

/// Makes a congestion control of another crate known by its name in scenarios. False, and nothing changes, if there is a transport of that
/// name.
pub fn register_transport(transport: CustomTransport) -> bool {
    TRANSPORTS.add(transport, |transport| transport.name(), &TransportKind::NAMES)
}

/// Those that were registered, with their default settings.
pub(crate) fn registered() -> Vec<CustomTransport> {
    TRANSPORTS.all()
}
