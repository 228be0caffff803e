//! What nodes share, and what a node has at hand while it handles its events.

use crate::event_queue::FixedEventQueue;
use crate::flows::FlowTable;
use crate::measure::drops::Drops;
use crate::measure::trace::Tracer;
use crate::paths::Fabric;
use crate::scenario::PathChoice;
use crate::traffic::Traffic;
use crate::wires::Wires;
use std::sync::Arc;

/// Everything that the nodes of a network share.
pub(crate) struct Net {
    pub(crate) wires: Wires,
    pub(crate) flows: FlowTable,
    pub(crate) traffic: Traffic,
    pub(crate) fabric: Arc<Fabric>,
    pub(crate) tracer: Tracer,
    /// Drops, if they are kept.
    pub(crate) drops: Drops,
    pub(crate) paths: PathChoice,
    /// Packets are traced, or carry in-band telemetry: they are looked at at every switch.
    pub(crate) watched: bool,
    /// Packets carry in-band telemetry.
    pub(crate) telemetry: bool,
    pub(crate) seed: u64,
    /// What its nodes touch in a window does not fit the caches of a core.
    pub(crate) is_large: bool,
    /// Events handled.
    pub(crate) events: u64,
}

/// What a node has at hand while it handles its events: its own event queue, and the network around it. It is passed on
/// by value, in two registers.
pub(crate) struct Context<'a, const NODES: usize> {
    pub(crate) events: FixedEventQueue<'a, NODES>,
    pub(crate) net: &'a mut Net,
}

impl<const NODES: usize> Context<'_, NODES> {
    /// The same for a call after which it is still needed.
    #[inline(always)]
    pub(crate) fn reborrow(&mut self) -> Context<'_, NODES> {
        Context { events: self.events.reborrow(), net: self.net }
    }
}
