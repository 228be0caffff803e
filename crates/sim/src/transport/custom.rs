//! Congestion controls of other crates: TCP with a window or a rate of their own.
//!
//! A program registers them when it starts; scenarios then have them by their names.

use super::congestion::{AckEvent, CongestionControl, Limits};
use super::{Common, TransportKind, TransportSettings};
use crate::described::{Absent, Described, Diagnostic, Field, Registry, Value};
use forebay_settings::{read_setting, setting_text};
use forebay_tm::Duration;
use forebay_tm::described as core;
use std::fmt::Debug;

/// The settings of a congestion control: what makes one for each flow.
pub trait CongestionSettings: core::Described {
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

/// Settings, whatever their type.
trait AnySettings: Debug + Send + Sync {
    fn described(&self) -> &dyn core::Described;
    fn described_mut(&mut self) -> &mut dyn core::Described;
    fn ecn(&self) -> bool;
    fn wants_telemetry(&self) -> bool;
    fn start(&self, limits: &Limits) -> CustomControl;
    fn copy(&self) -> Box<dyn AnySettings>;
}

impl<S: CongestionSettings + Clone + Debug + Send + Sync + 'static> AnySettings for S {
    fn described(&self) -> &dyn core::Described {
        self
    }

    fn described_mut(&mut self) -> &mut dyn core::Described {
        self
    }

    fn ecn(&self) -> bool {
        CongestionSettings::ecn(self)
    }

    fn wants_telemetry(&self) -> bool {
        CongestionSettings::wants_telemetry(self)
    }

    fn start(&self, limits: &Limits) -> CustomControl {
        CustomControl(Box::new(CongestionSettings::start(self, limits)))
    }

    fn copy(&self) -> Box<dyn AnySettings> {
        Box::new(self.clone())
    }
}

/// The choice of a congestion control of another crate, with its settings.
#[derive(Debug)]
pub struct CustomTransport {
    name: &'static str,
    about: &'static str,
    settings: Box<dyn AnySettings>,
}

impl CustomTransport {
    /// A congestion control by the name that it has in files, one sentence about it, and its settings.
    pub fn new(
        name: &'static str,
        about: &'static str,
        settings: impl CongestionSettings + Clone + Debug + Send + Sync + 'static,
    ) -> Self {
        Self { name, about, settings: Box::new(settings) }
    }

    /// Its name in files.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What it is, in one sentence.
    pub fn about(&self) -> &'static str {
        self.about
    }

    /// What there is to set, to be changed.
    pub fn settings_mut(&mut self) -> &mut dyn core::Described {
        self.settings.described_mut()
    }

    pub(super) fn start(&self, limits: &Limits) -> CustomControl {
        self.settings.start(limits)
    }
}

impl Described for CustomTransport {
    fn fields(&self) -> Vec<Field> {
        let field = |field: &core::Field| Field {
            key: field.key,
            about: field.about,
            values: "as its crate says",
            absent: match field.absent {
                core::Absent::Default | core::Absent::Means(_) => Absent::Default,
                core::Absent::Refused(_) | core::Absent::NeverRight(_) => Absent::Needed,
            },
        };
        self.settings.described().fields().iter().map(field).collect()
    }

    fn read(&mut self, field: usize, value: &Value<'_>) -> Result<(), Diagnostic> {
        let settings = self.settings.described_mut();
        let read = read_setting(value, settings.fields()[field].kind)?;
        settings.set(field, read);
        Ok(())
    }

    fn text(&self, field: usize) -> Option<String> {
        setting_text(&self.settings.described().get(field))
    }
}

impl TransportSettings for CustomTransport {
    fn adjust(&self, common: &mut Common) {
        common.ecn = self.settings.ecn();
    }

    fn wants_telemetry(&self) -> bool {
        self.settings.wants_telemetry()
    }
}

impl Clone for CustomTransport {
    fn clone(&self) -> Self {
        Self { name: self.name, about: self.about, settings: self.settings.copy() }
    }
}

impl PartialEq for CustomTransport {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && (0..self.fields().len()).all(|field| self.text(field) == other.text(field))
    }
}

static REGISTERED: Registry<CustomTransport> = Registry::new();

/// Makes a congestion control of another crate known by its name in scenarios. False, and nothing changes, if there is a transport of that
/// name.
pub fn register_transport(transport: CustomTransport) -> bool {
    REGISTERED.add(transport.name, transport, TransportKind::NAMES)
}

/// Those that were registered, with their default settings.
pub(crate) fn registered() -> Vec<CustomTransport> {
    REGISTERED.all().into_iter().map(|(_, transport)| transport).collect()
}
