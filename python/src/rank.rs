//! Rank functions written in Python.

use crate::schemes::{Given, Object, Scheme, Settings, leave, registers};
use forebay_tm::rank::{ActiveRank, CustomRank, RankConfig, RankFunction, RankSettings};
use forebay_tm::{ConfigError, Instant, Packet, TmConfig, ValidConfig};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// A packet, as a rank function sees it.
#[pyclass(frozen, get_all, module = "forebay._forebay")]
pub(crate) struct RankedPacket {
    /// Its length.
    bytes: u32,
    /// The port that it leaves by.
    port: u32,
    /// The number of its queue at that port.
    queue: u32,
    /// Its flow.
    flow: u64,
    /// The rank that it carries.
    rank: u64,
    /// Its class.
    class_: u32,
    /// Sent in the first round trip.
    unscheduled: bool,
    /// ECN-capable.
    ect: bool,
}

impl RankedPacket {
    fn new(packet: &Packet) -> Self {
        let &Packet { bytes, port, queue, flow, rank, class, unscheduled, ect, .. } = packet;
        Self { bytes, port, queue, flow, rank, class_: class, unscheduled, ect }
    }
}

registers!(
    /// Makes a rank function known by its name.
    register_rank, |name, about, settings| {
        forebay_settings::register(RankConfig::Custom(CustomRank::new(name, about, settings)))
    }
);

impl RankSettings for Settings {
    fn validate(&self, _: &TmConfig) -> Result<(), ConfigError> {
        self.check("scheduler.rank")
    }

    fn start(&self, switch: &ValidConfig) -> ActiveRank {
        let made = Python::attach(|py| {
            let object = self.object(py)?.into_bound(py);
            object.call_method1("start", (switch.rates.len(), switch.queues))?;
            let has = |name| Object::overrides(&object, "RankFunction", name);
            Ok(PythonRank { joins: has("joined")?, picks: has("picked")?, object: Object::new(object.unbind()) })
        });
        ActiveRank::new(made.unwrap_or_else(|error| leave(error)))
    }
}

#[derive(Clone, Debug)]
struct PythonRank {
    object: Object,
    joins: bool,
    picks: bool,
}

impl RankFunction for PythonRank {
    fn rank(&self, now: Instant, packet: &Packet) -> u64 {
        self.object.with(|object| {
            let rank = object.call_method1("rank", (now.ps(), RankedPacket::new(packet)))?;
            rank.extract().map_err(|_| {
                PyValueError::new_err(format!("rank: {rank} is not a whole number from 0 to {}", u64::MAX))
            })
        })
    }

    fn joined(&mut self, packet: &Packet, rank: u64) {
        if self.joins {
            self.object.with(|object| object.call_method1("joined", (RankedPacket::new(packet), rank)).map(drop));
        }
    }

    fn picked(&mut self, port: usize, rank: u64, empty: bool) {
        if self.picks {
            self.object.with(|object| object.call_method1("picked", (port, rank, empty)).map(drop));
        }
    }
}
