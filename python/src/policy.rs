//! Buffer policies written in Python.

use crate::schemes::{Given, Object, Scheme, Settings, leave, registers};
use forebay_tm::admit::{
    ActivePolicy, Admission, Arrival, Buffer, BufferPolicy, CustomPolicy, PolicyConfig, PolicySettings, QueueId,
};
use forebay_tm::{ConfigError, Duration, Explain, Reason, Threshold, TmConfig, ValidConfig};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// What a policy can see of the buffer.
#[pyclass(frozen, get_all, module = "forebay._forebay")]
pub(crate) struct BufferView {
    /// Bytes of the buffer.
    size: u64,
    /// Bytes in it.
    used: u64,
    /// Bytes that are free.
    remaining: u64,
    /// Bytes of each queue: those of port 0 first.
    lengths: Vec<u64>,
}

impl BufferView {
    fn new(buffer: &Buffer) -> Self {
        Self {
            size: buffer.capacity(),
            used: buffer.used(),
            remaining: buffer.remaining(),
            lengths: (0..buffer.queues()).map(|queue| buffer.length(queue)).collect(),
        }
    }
}

/// A packet that arrives, as a policy sees it.
#[pyclass(frozen, get_all, module = "forebay._forebay")]
pub(crate) struct ArrivingPacket {
    /// The time in picoseconds.
    now: u64,
    /// Its length.
    bytes: u32,
    /// What it would take of the buffer.
    charge: u64,
    /// The port that it leaves by.
    port: u32,
    /// The number of its queue at that port.
    queue: usize,
    /// The index of that queue in `lengths`.
    index: usize,
    /// Its flow.
    flow: u64,
    /// Its rank.
    rank: u64,
    /// Its class.
    class_: u32,
    /// Sent in the first round trip.
    unscheduled: bool,
    /// ECN-capable.
    ect: bool,
}

impl ArrivingPacket {
    fn new(arrival: &Arrival<'_>) -> Self {
        let packet = arrival.packet;
        Self {
            now: arrival.now.ps(),
            bytes: packet.bytes,
            charge: arrival.charge,
            port: packet.port,
            queue: arrival.number,
            index: arrival.queue.index,
            flow: packet.flow,
            rank: packet.rank,
            class_: packet.class,
            unscheduled: packet.unscheduled,
            ect: packet.ect,
        }
    }
}

registers!(
    /// Makes a policy known by its name.
    register_policy, |name, about, settings| {
        forebay_settings::register(PolicyConfig::Custom(CustomPolicy::new(name, about, settings)))
    }
);

impl PolicySettings for Settings {
    fn validate(&self, _: &TmConfig) -> Result<(), ConfigError> {
        self.check("policy.kind")
    }

    fn start(&self, switch: &ValidConfig) -> ActivePolicy {
        let queues = switch.queues;
        let made = Python::attach(|py| {
            let object = self.object(py)?.into_bound(py);
            object.call_method1("start", (switch.rates.len(), queues, switch.buffer.get()))?;
            let has = |name| Object::overrides(&object, "Policy", name);
            let interval = object.getattr("interval")?.extract::<Option<u64>>()?.filter(|interval| *interval > 0);
            Ok(PythonPolicy {
                queues,
                admits: has("admit")?,
                grows: has("enqueued")?,
                shrinks: has("dequeued")?,
                interval: interval.map(Duration::from_ps),
                object: Object::new(object.unbind()),
            })
        });
        ActivePolicy::new(made.unwrap_or_else(|error| leave(error)))
    }
}

#[derive(Clone, Debug)]
struct PythonPolicy {
    object: Object,
    queues: usize,
    admits: bool,
    grows: bool,
    shrinks: bool,
    interval: Option<Duration>,
}

impl PythonPolicy {
    /// The threshold of a queue; none if the policy decides without one.
    fn threshold(&self, queue: usize, buffer: &Buffer) -> Option<Threshold> {
        let call = |object: &Bound<'_, PyAny>| {
            let view = BufferView::new(buffer);
            object.call_method1("threshold", (queue / self.queues, queue % self.queues, view))?.extract::<Option<f64>>()
        };
        Some(Threshold { value: self.object.with(call)?, ..Threshold::default() })
    }
}

impl BufferPolicy for PythonPolicy {
    const OBSERVES: bool = true;
    const COUNTS_ARRIVALS: bool = true;

    fn admit(&mut self, arrival: Arrival<'_>, buffer: &Buffer, why: &mut impl Explain) -> Admission {
        if !self.admits {
            let Some(threshold) = self.threshold(arrival.queue.index, buffer) else {
                leave(PyTypeError::new_err(
                    "a policy must have threshold(port, queue, buffer) or admit(packet, buffer)",
                ));
            };
            why.note(|e| e.threshold = Some(threshold));
            return Admission::below(threshold.value, &arrival, buffer);
        }
        let call = |object: &Bound<'_, PyAny>| {
            object.call_method1("admit", (ArrivingPacket::new(&arrival), BufferView::new(buffer)))?.is_truthy()
        };
        match self.object.with(call) {
            // It may say yes to what does not fit.
            _ if arrival.charge > buffer.remaining() => Admission::Reject(Reason::Full),
            true => Admission::Admit,
            false => Admission::Reject(Reason::Threshold),
        }
    }

    fn enqueued(&mut self, queue: QueueId, before: u64, after: u64) {
        if self.grows {
            let number = queue.index % self.queues;
            self.object.with(|object| object.call_method1("enqueued", (queue.port, number, before, after)).map(drop));
        }
    }

    fn dequeued(&mut self, queue: QueueId, before: u64, after: u64, sent: u32) {
        if self.shrinks {
            let number = queue.index % self.queues;
            let call = |object: &Bound<'_, PyAny>| {
                object.call_method1("dequeued", (queue.port, number, before, after, sent)).map(drop)
            };
            self.object.with(call);
        }
    }

    fn interval(&self) -> Option<Duration> {
        self.interval
    }

    fn update(&mut self, buffer: &Buffer) -> bool {
        self.object.with(|object| object.call_method1("update", (BufferView::new(buffer),)).map(drop));
        // Nobody knows what the next would do.
        true
    }

    fn threshold_of(&self, queue: QueueId, buffer: &Buffer) -> Option<Threshold> {
        self.threshold(queue.index, buffer)
    }
}
