//! Congestion controls written in Python.

use crate::schemes::{Given, Object, Scheme, Settings, leave, registers};
use forebay_settings::register;
use forebay_sim::transport::congestion::{AckEvent, CongestionControl, Limits};
use forebay_sim::transport::{CongestionSettings, custom_transport};
use forebay_tm::Duration;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// An ACK, as a congestion control sees it. Times are in picoseconds.
#[pyclass(frozen, get_all, module = "forebay._forebay")]
pub(crate) struct Ack {
    /// When it came in.
    now: u64,
    /// Packets that are now known to have arrived and were not before.
    acked: u32,
    /// The first packet that is not acknowledged.
    una: u32,
    /// The packet that will be sent next, if it is a new one.
    next: u32,
    /// The echo of congestion experienced.
    marked: bool,
    /// A loss is being repaired, and the window has been cut for it.
    recovering: bool,
    /// The window was in use, so that it may grow.
    limited: bool,
    /// The round trip of the packet that asked for this ACK; None if it is not known.
    rtt: Option<u64>,
}

/// What a congestion control knows of its flow from the start. Windows are in packets, times in picoseconds.
#[pyclass(frozen, get_all, module = "forebay._forebay")]
pub(crate) struct FlowLimits {
    /// The first window.
    initial_window: u32,
    /// The first slow-start threshold, if one is set.
    initial_threshold: Option<u32>,
    /// The largest window.
    max_window: u32,
    /// The round trip on the empty network.
    base_rtt: u64,
    /// The rate of the sender's link in bits per second.
    rate: u64,
    /// Bytes of a full packet on the wire.
    wire: u32,
}

registers!(
    /// Makes a congestion control known by its name.
    register_control, |name, about, settings| {
        register(custom_transport(name, about, settings))
    }
);

impl CongestionSettings for Settings {
    type Control = PythonControl;

    fn ecn(&self) -> bool {
        self.says("ecn")
    }

    fn start(&self, limits: &Limits) -> PythonControl {
        let limits = FlowLimits {
            initial_window: limits.initial_window,
            initial_threshold: limits.initial_threshold,
            max_window: limits.max_window,
            base_rtt: limits.base_rtt.ps(),
            rate: limits.rate.bps(),
            wire: limits.wire,
        };
        let most = limits.max_window;
        let made = Python::attach(|py| {
            let object = self.object(py)?;
            object.call_method1(py, "start", (limits,))?;
            Ok(object)
        });
        let object = Object::new(made.unwrap_or_else(|error: PyErr| leave(error)));
        let mut control = PythonControl { object, most, window: 1, gap: None };
        control.after(|_| Ok(()));
        control
    }
}

/// At work in one flow. The window and the gap are asked for after each event.
#[derive(Clone, Debug)]
pub(crate) struct PythonControl {
    object: Object,
    most: u32,
    window: u32,
    gap: Option<Duration>,
}

impl PythonControl {
    /// Tells the object of an event, and asks what follows from it.
    fn after(&mut self, event: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<()>) {
        (self.window, self.gap) = self.object.with(|object| {
            event(object)?;
            let window = object.getattr("window")?.extract::<f64>()?;
            if !(0.0..).contains(&window) {
                return Err(PyValueError::new_err(format!("window: {window} is not a number of packets")));
            }
            let gap = object.getattr("gap")?.extract::<Option<f64>>()?;
            if let Some(gap) = gap.filter(|gap| !(0.0..1e18).contains(gap)) {
                return Err(PyValueError::new_err(format!("gap: {gap} is not a time in picoseconds")));
            }
            let window = (window.min(f64::from(self.most)) as u32).max(1);
            Ok((window, gap.map(|gap| Duration::from_ps(gap as u64))))
        });
    }
}

impl CongestionControl for PythonControl {
    fn on_ack(&mut self, ack: &AckEvent<'_>) {
        let rtt = Some(ack.rtt.ps()).filter(|rtt| *rtt > 0);
        let &AckEvent { now, acked, una, next, marked, recovering, limited, .. } = ack;
        let ack = Ack { now: now.ps(), acked, una, next, marked, recovering, limited, rtt };
        self.after(|object| object.call_method1("on_ack", (ack,)).map(drop));
    }

    fn on_congestion(&mut self) {
        self.after(|object| object.call_method0("on_congestion").map(drop));
    }

    fn on_timeout(&mut self, again: bool) {
        self.after(|object| object.call_method1("on_timeout", (again,)).map(drop));
    }

    fn window(&self) -> u32 {
        self.window
    }

    fn gap(&self) -> Option<Duration> {
        self.gap
    }
}
