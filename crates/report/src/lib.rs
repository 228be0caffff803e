//! Simulation runs as one HTML page with interactive plots.
//!
//! [`page`] turns a [`Report`] into a single file that needs nothing else: styles, script and data are inside it, and
//! its content security policy forbids it to load anything. What a run measured is thinned out first, so that ten runs
//! of a hundred thousand flows make a page of a few megabytes; every number in a table is computed from all the data
//! before that. The tables are plain HTML, so the page is of use without a script, too.
//!
//! A [`Point`] is a setting with a run for each of its seeds. The page shows the seeds of a point together: means with
//! 95% confidence intervals, distributions of all flows of all seeds, differences to a baseline seed by seed. Single
//! seeds can be chosen instead, as many as there is room for.

#![forbid(unsafe_code)]

mod bands;
mod bins;
mod compare;
mod curves;
mod data;
mod detail;
mod groups;
mod html;
mod measures;
mod network;
mod number;
mod seeds;
mod stats;
mod tables;
mod timeline;

pub use detail::seeds_inside;

use std::sync::Arc;

/// What a page shows: one setting, or several next to each other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The page's heading.
    pub title: String,
    /// A line below the heading; may be empty.
    pub subtitle: String,
    /// The settings, in the order of the legend; others are compared with the first.
    pub points: Vec<Point>,
    /// What the settings mean that stand in facts.
    pub meanings: Vec<Meaning>,
}

/// What a setting means that stands in a fact, as in `KIND KEY=VALUE...`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Meaning {
    /// The name of the fact.
    pub fact: String,
    /// The kind of thing whose setting it is.
    pub kind: String,
    /// The setting.
    pub key: String,
    /// What it is for, in a sentence.
    pub meaning: String,
}

/// A setting, and its runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Point {
    /// Its name in legends and tables; should differ between the points of a report.
    pub label: String,
    /// Its runs, one for each seed, in order. A run that is not one of several is the only one.
    pub seeds: Vec<RunView>,
}

impl Report {
    /// All runs of all points.
    fn runs(&self) -> impl Iterator<Item = &RunView> {
        self.points.iter().flat_map(|point| &point.seeds)
    }
}

/// What a page shows of one run. Every list may be empty: what is not there is left out or said to be missing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunView {
    /// Its seed. Runs of two points with the same seed have the same flows, and are compared with each other.
    pub seed: u64,
    /// What the run was: name, seed, policy, version, duration, hosts and so on, as name and value. Facts in which all
    /// runs agree are shown once.
    pub facts: Vec<(String, String)>,
    /// The flows.
    pub flows: Vec<FlowPoint>,
    /// The names of the workloads that `workload` in flows and queries counts in. Workloads of the same name in
    /// different runs are compared with each other.
    pub workloads: Vec<String>,
    /// The queries.
    pub queries: Vec<QueryPoint>,
    /// Buffers over time. Pages show them of the first seeds of a point: [`seeds_inside`].
    pub timeline: Vec<TimelineSeries>,
    /// Packets dropped, by reason.
    pub drops: Vec<(String, u64)>,
    /// Further tables. Those of the same title and header in different runs become one table.
    pub tables: Vec<NamedTable>,
    /// How full buffers were.
    pub occupancy: Vec<OccupancyView>,
    /// What happened inside. Pages show it of the first seeds of a point: [`seeds_inside`].
    pub detail: Detail,
    /// What the run cost: events, CPU seconds, memory and so on.
    pub cost: Vec<(String, Amount)>,
}

/// What happened inside a run. Every list may be empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Detail {
    /// The network.
    pub network: NetworkView,
    /// Failures and repairs: the time in seconds, and what.
    pub changes: Vec<(f64, String)>,
    /// Queues over time.
    pub queues: Vec<QueueSeries>,
    /// Drops, in order of time.
    pub drops: Vec<DropPoint>,
    /// Packets lost on links that did not work, or without a route, in order of time.
    pub losses: Vec<LossPoint>,
    /// Who held buffers, by the numbers of [`DropPoint::holders`].
    pub holders: Vec<Held>,
    /// The flows that were hurt most, the worst first.
    pub hurt: Vec<HurtFlow>,
    /// Flows that were traced.
    pub traced: Vec<TracedFlow>,
    /// Rounds of collectives: the workload, the round, and its completion time in seconds if it is complete.
    pub collectives: Vec<(String, u32, Option<f64>)>,
}

/// A network, to be drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NetworkView {
    /// It in words: how many hosts and switches of which kind, and their links.
    pub summary: String,
    /// Hosts and switches.
    pub nodes: Vec<NodeView>,
    /// Cables.
    pub links: Vec<LinkView>,
}

/// A host or a switch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeView {
    /// Its name.
    pub name: String,
    /// How far it is from the hosts, in cables.
    pub level: u32,
    /// Whether it is a host.
    pub is_host: bool,
    /// Its failures and repairs in order of time: the seconds, and whether it works from then on.
    pub changes: Vec<(f64, bool)>,
}

/// A cable.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkView {
    /// Its ends, as indices of [`NetworkView::nodes`].
    pub a: usize,
    /// See `a`.
    pub b: usize,
    /// Its rate.
    pub rate_bps: f64,
    /// See [`NodeView::changes`].
    pub changes: Vec<(f64, bool)>,
}

/// A queue over time: seconds, bytes, and its threshold in bytes, if there is one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueueSeries {
    /// Its name, as in [`DropPoint::queue`].
    pub name: String,
    /// Samples in order of time.
    pub points: Vec<(f64, u64, Option<f64>)>,
}

/// A packet that was dropped.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DropPoint {
    /// When, in seconds.
    pub at_s: f64,
    /// The name of the queue.
    pub queue: Arc<str>,
    /// Why.
    pub reason: Arc<str>,
    /// The flow of the packet, or of the data that it replies to.
    pub flow: Arc<str>,
    /// Whether it goes back to the flow's sender, as ACKs do.
    pub is_reply: bool,
    /// The length of the packet.
    pub bytes: u64,
    /// The length of the queue then.
    pub queue_bytes: u64,
    /// Its threshold in bytes then, if there was one.
    pub threshold: Option<f64>,
    /// Bytes in the buffer then.
    pub used_bytes: u64,
    /// Who held it: an index of [`Detail::holders`].
    pub holders: Option<usize>,
}

/// A packet that was lost outside the buffers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LossPoint {
    /// When, in seconds.
    pub at_s: f64,
    /// Where.
    pub place: Arc<str>,
    /// The flow of the packet, or of the data that it replies to; may be empty.
    pub flow: Arc<str>,
    /// Its workload; may be empty.
    pub workload: Arc<str>,
}

/// Who held a buffer at some time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Held {
    /// When, in seconds: at a drop, or some time before it.
    pub at_s: f64,
    /// Everything that waited, in parts.
    pub parts: Vec<Holder>,
}

/// A part of a buffer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Holder {
    /// A flow, or the other flows of a class.
    pub name: String,
    /// The class.
    pub class: u8,
    /// What they had in the buffer.
    pub bytes: u64,
}

/// A flow that was hurt, and where its time went.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HurtFlow {
    /// What it is called.
    pub name: String,
    /// When it started, in seconds.
    pub start_s: f64,
    /// Its completion time in seconds.
    pub fct_s: f64,
    /// That on the empty network.
    pub ideal_s: f64,
    /// The parts of its completion time, which add up to it; empty if they were not recorded.
    pub parts: Vec<FlowPart>,
    /// Queueing of the packet that completed it by hop, in seconds.
    pub hops: Vec<(String, f64)>,
    /// Its first drop, as an index of [`Detail::drops`].
    pub drop: Option<usize>,
    /// What happened to its packets: drops, retransmissions, timeouts.
    pub note: String,
}

/// A part of the completion time of a flow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowPart {
    /// Its name in legends and tables.
    pub name: &'static str,
    /// Its name in sentences.
    pub long: &'static str,
    /// What it is, in a sentence.
    pub meaning: &'static str,
    /// How long it was, in seconds.
    pub seconds: f64,
}

/// A flow that was traced.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TracedFlow {
    /// What it is called.
    pub name: String,
    /// What its sender knew after each response.
    pub responses: Vec<ResponsePoint>,
}

/// What the sender of a flow knew after a response.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ResponsePoint {
    /// When, in seconds.
    pub at_s: f64,
    /// The round trip in seconds, if the response says.
    pub rtt_s: Option<f64>,
    /// The congestion window in packets, if there is one.
    pub window: Option<u64>,
    /// Bytes acknowledged so far, if the response says.
    pub acked_bytes: Option<u64>,
    /// Packets sent again so far.
    pub retransmitted: u64,
}

/// How much of something a run needed. Of several runs the mean is shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// A number of things.
    Count(f64),
    /// CPU seconds.
    Seconds(f64),
    /// Bytes of memory.
    Bytes(f64),
}

/// What became of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlowPoint {
    /// Its size in bytes.
    pub bytes: u64,
    /// Its completion time in seconds; `None` if it did not finish.
    pub fct_s: Option<f64>,
    /// How long it would have taken on the empty network, in seconds.
    pub ideal_s: f64,
    /// Its completion time over its ideal time; `None` if it did not finish. The page's slowdowns are these.
    pub slowdown: Option<f64>,
    /// Its workload, as an index into [`RunView::workloads`].
    pub workload: u16,
    /// Its traffic class.
    pub class: u8,
}

/// What became of a query.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QueryPoint {
    /// Its completion time in seconds; `None` if it did not finish.
    pub qct_s: Option<f64>,
    /// Its completion time over its ideal time; `None` if it did not finish.
    pub slowdown: Option<f64>,
    /// Packets of its flows that were dropped.
    pub drops: u32,
    /// Its workload, as an index into [`RunView::workloads`].
    pub workload: u16,
}

/// A buffer over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimelineSeries {
    /// The switch, or the buffer of a switch that has several.
    pub name: String,
    /// The buffer's size in bytes.
    pub size: u64,
    /// Samples in order of time.
    pub points: Vec<TimelinePoint>,
}

/// A sample of a buffer: the time in seconds, bytes used, bytes in the longest queue, that queue's threshold in bytes
/// if its policy has one, and packets dropped from the beginning to this moment.
pub type TimelinePoint = (f64, u64, u64, Option<f64>, u64);

/// How full a switch or a tier of switches was: its name, and the median, 99th percentile and maximum of its occupancy,
/// as shares of the buffer from 0 to 1.
pub type OccupancyView = (String, f64, f64, f64);

/// A table that is shown as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NamedTable {
    /// The table's title.
    pub title: String,
    /// The names of the columns.
    pub header: Vec<String>,
    /// The rows, each as long as the header.
    pub rows: Vec<Vec<String>>,
}

/// The report as one HTML file.
pub fn page(report: &Report) -> String {
    html::page(report)
}
