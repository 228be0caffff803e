//! Everything that the nodes of a network share while they take turns.

use crate::flows::FlowTable;
use crate::measure::drops::Drops;
use crate::measure::trace::Tracer;
use crate::paths::Fabric;
use crate::scenario::PathChoice;
use crate::traffic::Traffic;
use crate::wires::Wires;

/// Everything that the nodes of a network share while they take turns.
pub(crate) struct Net {
    pub(crate) wires: Wires,
    pub(crate) flows: FlowTable,
    pub(crate) traffic: Traffic,
    pub(crate) fabric: Fabric,
    pub(crate) tracer: Tracer,
    /// Drops, if they are kept.
    pub(crate) drops: Drops,
    pub(crate) paths: PathChoice,
    /// Packets are traced, or carry in-band telemetry: they are looked at at every switch.
    pub(crate) watched: bool,
    /// Packets carry in-band telemetry.
    pub(crate) telemetry: bool,
    pub(crate) seed: u64,
    /// Events handled.
    pub(crate) events: u64,
}
