//! Flows: as a workload plans them, and what became of them.

use crate::transport::linux::Writes;
use forebay_tm::{Duration, Instant};
use std::collections::BTreeMap;
use std::sync::Arc;

/// No query, no session.
pub const NONE: u32 = u32::MAX;

/// A flow as a workload plans it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowSpec {
    /// When it starts; a flow that waits for others starts so long after the last of them has arrived.
    pub start: Instant,
    /// The sending host.
    pub src: u32,
    /// The receiving host.
    pub dst: u32,
    /// Payload; [`FlowInfo::ENDLESS`](crate::transport::FlowInfo::ENDLESS) for a flow without end.
    pub bytes: u64,
    /// Its class: the queue number that its data joins at every port.
    pub class: u8,
    /// The index of its transport in the scenario.
    pub transport: u16,
    /// The index of its workload in the scenario.
    pub workload: u16,
    /// The query it belongs to, or [`NONE`].
    pub query: u32,
    /// The round of its workload that it is a part of (all-reduce, all-to-all), from 0; [`NONE`] for other flows.
    pub round: u32,
    /// Flows that must have arrived, at this flow's source, before it starts.
    pub waits_for: u16,
    /// The closed-loop session it belongs to, or [`NONE`].
    pub session: u32,
    /// A session's response, not its request.
    pub is_response: bool,
    /// Sources that send without end stop at this time; [`Instant::NEVER`] for others.
    pub until: Instant,
}

impl Default for FlowSpec {
    fn default() -> Self {
        Self {
            start: Instant::ZERO,
            src: 0,
            dst: 0,
            bytes: 0,
            class: 0,
            transport: 0,
            workload: 0,
            query: NONE,
            round: NONE,
            waits_for: 0,
            session: NONE,
            is_response: false,
            until: Instant::NEVER,
        }
    }
}

/// One query of an incast: many flows to one host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuerySpec {
    /// When it starts.
    pub start: Instant,
    /// The host that asks.
    pub host: u32,
    /// Responses.
    pub fan_in: u32,
    /// Payload of all responses.
    pub bytes: u64,
    /// The index of its workload.
    pub workload: u16,
}

/// A client that asks, waits for the response, thinks and asks again.
#[derive(Clone, Debug)]
pub struct Session {
    /// The client.
    pub client: u32,
    /// The servers it picks from at random; all clients of a workload share the list.
    pub servers: Arc<[u32]>,
    /// Where the client itself stands in that list, if it does: it is not picked.
    pub own: Option<usize>,
    /// Payload of a request.
    pub request_bytes: u64,
    /// Sizes of responses.
    pub response: crate::workload::SizeDistribution,
    /// Mean time between a response and the next request; exponential, or constant if `think_constant`.
    pub think: Duration,
    /// Whether the thinking time is always the same.
    pub think_constant: bool,
    /// No request starts at or after this time.
    pub until: Instant,
    /// The class of both directions.
    pub class: u8,
    /// The transport of both directions.
    pub transport: u16,
    /// Its workload.
    pub workload: u16,
    /// When the first request starts.
    pub start: Instant,
}

impl Session {
    /// The server for a random draw from [0, 1).
    pub fn server(&self, draw: f64) -> u32 {
        let others = self.servers.len() - usize::from(self.own.is_some());
        let index = (draw * others as f64) as usize;
        self.servers[index + usize::from(self.own.is_some_and(|own| index >= own))]
    }
}

/// Everything that the workloads of a scenario want to happen.
#[derive(Clone, Debug, Default)]
pub struct TrafficPlan {
    /// In order of start, then in the order of the workloads.
    pub flows: Vec<FlowSpec>,
    /// `(a, b)`: flow `b` waits for flow `a`. Sorted by `a`.
    pub triggers: Vec<(u32, u32)>,
    /// In order of start.
    pub queries: Vec<QuerySpec>,
    /// Closed-loop clients.
    pub sessions: Vec<Session>,
    /// What applications do beyond writing and reading a flow of Linux's TCP all at once.
    pub applications: BTreeMap<u32, Application>,
}

/// What the applications at both ends of a flow do.
#[derive(Clone, Debug)]
pub struct Application {
    /// What the sender's writes.
    pub writes: Writes,
    /// From when to when, after the connection is open, the receiver's does not read.
    pub pause: Option<(Duration, Duration)>,
}

/// What became of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowRecord {
    /// As planned; `start` is when it really started.
    pub spec: FlowSpec,
    /// When the last byte had arrived at the receiver; [`Instant::NEVER`] if it has not.
    pub end: Instant,
    /// When the sender knew it; [`Instant::NEVER`] if it did not, or has no way to know.
    pub acked: Instant,
    /// How long it would take on the empty network.
    pub ideal: Duration,
    /// Packets of the flow (different ones) that have arrived.
    pub received: u32,
    /// Data packets sent again.
    pub retransmissions: u32,
    /// Retransmission timeouts.
    pub timeouts: u32,
    /// Tail loss probes.
    pub probes: u32,
    /// Packets of the flow dropped in the network, replies included.
    pub drops: u32,
    /// Packets cut to their headers.
    pub trims: u32,
    /// Packets marked.
    pub marks: u32,
}

impl FlowRecord {
    /// Takes over what is known of it elsewhere: where it is sent from, where it goes to, or on the way.
    pub(crate) fn join(&mut self, other: &Self, is_source: bool, is_destination: bool) {
        let counts = (self.drops + other.drops, self.trims + other.trims, self.marks + other.marks);
        if is_source {
            *self = Self { end: self.end, received: self.received, ..*other };
        }
        if is_destination {
            (self.end, self.received) = (other.end, other.received);
        }
        (self.drops, self.trims, self.marks) = counts;
    }

    /// Whether it has arrived whole.
    pub fn is_complete(&self) -> bool {
        self.end != Instant::NEVER
    }

    /// Flow completion time.
    pub fn fct(&self) -> Option<Duration> {
        self.is_complete().then(|| self.end.since(self.spec.start))
    }

    /// Completion time over ideal time.
    pub fn slowdown(&self) -> Option<f64> {
        self.fct().map(|fct| fct.ps() as f64 / self.ideal.ps().max(1) as f64)
    }
}
