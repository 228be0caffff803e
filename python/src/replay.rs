//! Arrivals through a switch.

use crate::error::{OrRaise, refused};
use crate::table::Table;
use crate::{arrow, watch};
use forebay_runner::Error;
use forebay_runner::arrivals::Arrivals;
use forebay_runner::columns::ArrivalColumns;
use forebay_runner::replay::{self, Replayed};
use forebay_settings::read_switch;
use forebay_tm::{Counters, Reason, Tm, ValidConfig, View};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Reads the text of a switch file; `name` is what errors call it.
pub(crate) fn read(py: Python<'_>, name: &str, text: &str) -> PyResult<ValidConfig> {
    read_switch(name, text).or_raise(py)
}

/// Reads a switch to see whether it is right.
#[pyfunction]
pub(crate) fn check_switch(py: Python<'_>, name: &str, text: &str) -> PyResult<()> {
    read(py, name, text).map(drop)
}

/// A replay that is over.
#[pyclass(frozen, module = "forebay._forebay")]
pub(crate) struct Replay {
    replayed: Replayed,
}

/// Replays with a look at signals and progress, which is called with the packets so far.
fn run(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&mut dyn FnMut(u64) -> bool) -> Result<Option<Replayed>, Error> + Send,
) -> PyResult<Replay> {
    let packets = AtomicU64::new(0);
    let watched = |stop: &AtomicBool| {
        work(&mut |count| {
            packets.store(count, Ordering::Relaxed);
            !stop.load(Ordering::Relaxed)
        })
    };
    let tick = |py: Python<'_>| match &progress {
        Some(progress) => progress.call1(py, (packets.load(Ordering::Relaxed),)).map(drop),
        None => Ok(()),
    };
    match watch::watch(py, watched, tick)?.or_raise(py)? {
        Some(replayed) => Ok(Replay { replayed }),
        // Whoever stops it raises an exception.
        None => Err(refused(py, "replay", "it was stopped", "start it again")),
    }
}

/// Replays columns of numbers, each given as the bytes of 64-bit numbers in the machine's order.
#[pyfunction]
pub(crate) fn replay_columns(
    py: Python<'_>,
    name: &str,
    text: &str,
    columns: Vec<(String, Bound<'_, PyBytes>)>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Replay> {
    let numbers = |bytes: &[u8]| -> Vec<u64> {
        bytes.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap_or_default())).collect()
    };
    let columns = columns.into_iter().map(|(name, bytes)| (name, numbers(bytes.as_bytes()))).collect();
    columns_through(py, name, text, columns, progress)
}

/// Replays anything that has `__arrow_c_stream__`.
#[pyfunction]
pub(crate) fn replay_stream(
    py: Python<'_>,
    name: &str,
    text: &str,
    source: &Bound<'_, PyAny>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Replay> {
    columns_through(py, name, text, arrow::read_columns(source)?, progress)
}

fn columns_through(
    py: Python<'_>,
    name: &str,
    text: &str,
    columns: Vec<(String, Vec<u64>)>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Replay> {
    let switch = read(py, name, text)?;
    let columns = ArrivalColumns::new(columns).or_raise(py)?;
    run(py, progress, move |look| replay::replay_columns(&switch, &columns, look))
}

/// Replays a file: CSV, pcap or pcapng, compressed by gzip or not.
#[pyfunction]
pub(crate) fn replay_file(
    py: Python<'_>,
    name: &str,
    text: &str,
    path: PathBuf,
    progress: Option<Py<PyAny>>,
) -> PyResult<Replay> {
    let switch = read(py, name, text)?;
    run(py, progress, move |look| {
        let mut arrivals = Arrivals::open(&path, &switch)?;
        replay::replay_file(&switch, &mut arrivals, look)
    })
}

#[pymethods]
impl Replay {
    /// One row for each packet.
    fn verdicts(&self, py: Python<'_>) -> Table {
        py.detach(|| {
            let rows = &self.replayed.fates;
            let mut table = forebay_results::Table::new();
            table.count("packet", 0..rows.len() as u64);
            table.text("verdict", rows.iter().map(|row| row.fate.as_str()));
            table.optional_text("reason", rows.iter().map(|row| row.reason.map(Reason::as_str)));
            table.bool("marked", rows.iter().map(|row| row.marked));
            table.optional_count("start_ps", rows.iter().map(|row| row.sent().map(|(start, _)| start)));
            table.optional_count("end_ps", rows.iter().map(|row| row.sent().map(|(_, end)| end)));
            table.into()
        })
    }

    /// One row for each queue that saw a packet, and one for all of the switch, without a port.
    fn counters(&self) -> Table {
        counters(&self.replayed.tm).into()
    }

    /// The settings: bytes of the buffer; and bytes read from its memory for transmission and for expulsion.
    fn memory(&self) -> (u64, u64, u64) {
        let (tm, reads) = (&self.replayed.tm, self.replayed.tm.memory_reads());
        (tm.config().buffer.get(), reads.transmission.get(), reads.expulsion.get())
    }
}

/// The counters of a switch: queues that saw a packet, and all of them together.
pub(crate) fn counters(tm: &Tm) -> forebay_results::Table {
    let queues = tm.config().queues;
    let used = (0..tm.config().total_queues()).map(|queue| (Some(queue), tm.queue_counters(queue)));
    let mut rows: Vec<(Option<usize>, Counters)> = used.filter(|(_, own)| own.offered.packets > 0).collect();
    rows.push((None, tm.pool_counters()));
    let mut table = forebay_results::Table::new();
    table.optional_count("port", rows.iter().map(|(queue, _)| queue.map(|queue| (queue / queues) as u64)));
    table.optional_count("queue", rows.iter().map(|(queue, _)| queue.map(|queue| (queue % queues) as u64)));
    let mut count = |name: &str, of: fn(&Counters) -> u64| table.count(name, rows.iter().map(|(_, own)| of(own)));
    count("offered_packets", |own| own.offered.packets);
    count("offered_bytes", |own| own.offered.bytes);
    count("sent_packets", |own| own.sent.packets);
    count("dropped_packets", |own| own.dropped.packets);
    count("trimmed_packets", |own| own.trimmed.packets);
    count("returned_packets", |own| own.returned.packets);
    count("marked_packets", |own| own.marked.packets);
    count("waiting_packets", |own| own.waiting.packets);
    count("peak_bytes", |own| own.peak.get());
    for reason in Reason::ALL {
        let name = format!("dropped_{}", reason.as_str().replace('-', "_"));
        table.count(&name, rows.iter().map(|(_, own)| own.dropped_by(reason).packets));
    }
    table
}
