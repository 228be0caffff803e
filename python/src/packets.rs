//! What becomes of single packets.

use forebay_tm::{Reason, Threshold, Verdict};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What became of a packet that was offered.
#[pyclass(frozen, get_all, module = "forebay")]
pub(crate) struct Outcome {
    /// "sent" (the wire was idle and nothing waited), "queued", "trimmed", "returned" or "dropped".
    verdict: &'static str,
    /// Why it was not taken as it is; None if it was.
    reason: Option<&'static str>,
    /// Whether it got a congestion mark.
    marked: bool,
}

impl From<forebay_tm::Outcome> for Outcome {
    fn from(outcome: forebay_tm::Outcome) -> Self {
        let (verdict, reason, marked) = match outcome {
            forebay_tm::Outcome::Sent => ("sent", None, false),
            forebay_tm::Outcome::Verdict(verdict) => parts(verdict),
        };
        Self { verdict, reason: reason.map(Reason::as_str), marked }
    }
}

/// The name of a verdict, its reason, and whether the packet was marked.
fn parts(verdict: Verdict) -> (&'static str, Option<Reason>, bool) {
    match verdict {
        Verdict::Queued { marked } => ("queued", None, marked),
        Verdict::Trimmed { reason } => ("trimmed", Some(reason), false),
        Verdict::Returned { reason } => ("returned", Some(reason), false),
        Verdict::Dropped { reason } => ("dropped", Some(reason), false),
    }
}

#[pymethods]
impl Outcome {
    fn __repr__(&self) -> String {
        let reason = self.reason.map_or_else(String::new, |reason| format!(", reason={reason:?}"));
        let marked = if self.marked { ", marked=True" } else { "" };
        format!("Outcome(verdict={:?}{reason}{marked})", self.verdict)
    }
}

/// A packet that a port starts to send.
#[pyclass(frozen, get_all, module = "forebay")]
pub(crate) struct Departure {
    /// The packet.
    id: u64,
    /// Bytes to put on the wire.
    bytes: u32,
    /// The queue it waited in; None if it is a header from the queue of headers.
    queue: Option<u8>,
    /// Whether only its header is left.
    is_header: bool,
}

impl From<forebay_tm::Departure> for Departure {
    fn from(departure: forebay_tm::Departure) -> Self {
        Self {
            id: departure.id.0,
            bytes: departure.bytes(),
            queue: departure.queue(),
            is_header: departure.is_header(),
        }
    }
}

#[pymethods]
impl Departure {
    fn __repr__(&self) -> String {
        let queue = self.queue.map_or_else(|| "None".to_owned(), |queue| queue.to_string());
        let header = if self.is_header { ", is_header=True" } else { "" };
        format!("Departure(id={}, bytes={}, queue={queue}{header})", self.id, self.bytes)
    }
}

/// A packet that was waiting and is gone.
#[pyclass(frozen, get_all, module = "forebay")]
pub(crate) struct Eviction {
    /// The packet.
    id: u64,
    /// When, in picoseconds.
    at: u64,
    /// The port and the queue it waited in.
    port: usize,
    /// The queue of that port.
    queue: usize,
    /// Its length.
    bytes: u32,
    /// "pushed-out" or "expelled".
    reason: &'static str,
}

impl Eviction {
    pub(crate) fn new(lost: &forebay_tm::Eviction, queues: usize) -> Self {
        Self {
            id: lost.id.0,
            at: lost.at.ps(),
            port: lost.queue / queues,
            queue: lost.queue % queues,
            bytes: lost.bytes,
            reason: lost.reason.as_str(),
        }
    }
}

#[pymethods]
impl Eviction {
    fn __repr__(&self) -> String {
        let Self { id, at, port, queue, bytes, reason } = self;
        format!("Eviction(id={id}, at={at}, port={port}, queue={queue}, bytes={bytes}, reason={reason:?})")
    }
}

/// Why a packet gets its verdict: the state that it meets, and what is compared with what.
#[pyclass(frozen, get_all, module = "forebay")]
pub(crate) struct Explanation {
    /// "queued", "trimmed", "returned" or "dropped".
    verdict: &'static str,
    /// Why it is not taken as it is.
    reason: Option<&'static str>,
    /// Whether it gets a congestion mark.
    marked: bool,
    /// What it would be charged, in bytes.
    charge: u64,
    /// Bytes of its queue before it.
    length: u64,
    /// Packets of its queue before it.
    waiting: usize,
    /// Bytes in the buffer before it.
    total: u64,
    /// Bytes of the buffer.
    buffer: u64,
    /// The threshold of its queue in bytes, where the policy has one.
    threshold: Option<f64>,
    /// What went into the threshold, by name: alpha, remaining, n, g, mu, reserved, flow_bytes, drop_probability.
    terms: Py<PyDict>,
    /// AIFO's test, if it is made, by name: rank, smaller, entries, waiting, capacity, headroom.
    rank_test: Option<Py<PyDict>>,
    /// For a packet that is not admitted: port, queue and bytes of those that hold the buffer, the longest first.
    holders: Vec<(usize, usize, u64)>,
}

impl Explanation {
    pub(crate) fn new(py: Python<'_>, why: &forebay_tm::Explanation, queues: usize) -> PyResult<Self> {
        let (verdict, reason, marked) = why.verdict.map_or(("", None, false), parts);
        let rank_test = match &why.rank_test {
            Some(test) => {
                let dict = PyDict::new(py);
                dict.set_item("rank", test.rank)?;
                dict.set_item("smaller", test.smaller)?;
                dict.set_item("entries", test.entries)?;
                dict.set_item("waiting", test.waiting)?;
                dict.set_item("capacity", test.capacity)?;
                dict.set_item("headroom", test.headroom)?;
                Some(dict.unbind())
            }
            None => None,
        };
        let holder = |holder: &forebay_tm::Holder| (holder.queue / queues, holder.queue % queues, holder.bytes.get());
        Ok(Self {
            verdict,
            reason: reason.map(Reason::as_str),
            marked,
            charge: why.charge.get(),
            length: why.length.get(),
            waiting: why.waiting,
            total: why.total.get(),
            buffer: why.buffer.get(),
            threshold: why.threshold.map(|threshold| threshold.value),
            terms: terms(py, why.threshold.as_ref())?.unbind(),
            rank_test,
            holders: why.holders.iter().map(holder).collect(),
        })
    }
}

/// What went into a threshold.
fn terms<'py>(py: Python<'py>, threshold: Option<&Threshold>) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let Some(threshold) = threshold else { return Ok(dict) };
    let set = |name: &str, value: Option<f64>| value.map_or(Ok(()), |value| dict.set_item(name, value));
    set("alpha", threshold.alpha)?;
    set("n", threshold.n)?;
    set("g", threshold.g)?;
    set("mu", threshold.mu)?;
    set("drop_probability", threshold.drop_probability)?;
    let set = |name: &str, value: Option<u64>| value.map_or(Ok(()), |value| dict.set_item(name, value));
    set("remaining", threshold.remaining.map(forebay_tm::Bytes::get))?;
    set("reserved", threshold.reserved.map(forebay_tm::Bytes::get))?;
    set("flow_bytes", threshold.flow_bytes)?;
    Ok(dict)
}

#[pymethods]
impl Explanation {
    fn __repr__(&self) -> String {
        let reason = self.reason.map_or_else(String::new, |reason| format!(" ({reason})"));
        let threshold = self.threshold.map_or_else(String::new, |value| format!(", threshold {value:.1} B"));
        format!(
            "<{}{reason}: queue {} B + {} B{threshold}; buffer {} of {} B>",
            self.verdict, self.length, self.charge, self.total, self.buffer
        )
    }
}
