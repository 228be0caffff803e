//! A run in few numbers: what goes to `summary.json` and to the terminal.

mod build;
mod loads;
mod pauses;
mod render;

pub use build::{BUILD, summarize};
pub use loads::add_loads;
pub use pauses::{DeadlockInfo, PauseSummary};
pub(crate) use render::link_name;

use crate::stats;
use serde::{Deserialize, Serialize};

/// Mean and percentiles (nearest rank) of a measure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// The mean.
    pub mean: f64,
    /// The median.
    pub p50: f64,
    /// The 95th percentile.
    pub p95: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The 99.9th percentile.
    pub p999: f64,
}

impl Distribution {
    /// Of values in any order; `None` if there are none.
    pub fn of(mut values: Vec<f64>) -> Option<Self> {
        // JSON has no infinities: they are the largest numbers there are.
        values.iter_mut().for_each(|value| *value = value.clamp(f64::MIN, f64::MAX));
        values.sort_by(f64::total_cmp);
        Some(Self {
            mean: stats::mean(&values)?,
            p50: stats::percentile(&values, 0.5)?,
            p95: stats::percentile(&values, 0.95)?,
            p99: stats::percentile(&values, 0.99)?,
            p999: stats::percentile(&values, 0.999)?,
        })
    }
}

/// Which run, and how it ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// The name of the scenario.
    pub name: String,
    /// Where its random draws start.
    pub seed: u64,
    /// The version of Forebay that ran it.
    pub version: String,
    /// The build of that version: a fingerprint of the sources that results depend on. Older results have none.
    pub build: Option<String>,
    /// The version of the tables' schema. Older results have none.
    pub schema: Option<u64>,
    /// Flows and queries that start before this time, and what buffers and links do before it, are not in the summary.
    pub from_ps: Option<u64>,
    /// When it ended, in picoseconds of simulated time.
    pub end_ps: u64,
    /// Whether it was stopped before its end.
    pub interrupted: bool,
    /// Packets lost outside the buffers: on failed links and switches, and without a route.
    pub lost_to_failures: u64,
    /// Packets dropped in front of hosts' links.
    pub dropped_at_hosts: u64,
}

/// The flows of one group and one range of sizes. Flows without end are in none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowGroup {
    /// What the group is made by: "all", "workload" or "class".
    pub by: String,
    /// The workload or the class; "all" for all flows.
    pub group: String,
    /// A name of [`BUCKETS`](crate::buckets::BUCKETS).
    pub size: String,
    /// Flows.
    pub flows: u64,
    /// Flows that arrived whole; times are of these.
    pub complete: u64,
    /// Flow completion time in microseconds.
    pub fct_us: Option<Distribution>,
    /// Completion time over ideal time.
    pub slowdown: Option<Distribution>,
    /// Data packets sent again.
    pub retransmissions: u64,
    /// Timers that ran out.
    pub timeouts: u64,
}

/// The queries of one workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueryGroup {
    /// The workload, or "all" where several workloads have queries.
    pub workload: String,
    /// Queries.
    pub queries: u64,
    /// Queries that got all their responses; times are of these.
    pub complete: u64,
    /// Query completion time in microseconds.
    pub qct_us: Option<Distribution>,
    /// Completion time over ideal time.
    pub slowdown: Option<Distribution>,
    /// The share of the queries of which no packet was dropped.
    pub without_drops: f64,
    /// Packets of their flows that were dropped.
    pub drops: u64,
    /// Packets of their flows that were trimmed.
    pub trims: u64,
    /// Timeouts of their flows.
    pub timeouts: u64,
}

/// Packets dropped for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DropCount {
    /// The name of the reason.
    pub reason: String,
    /// Packets.
    pub packets: u64,
}

/// The buffers of one tier of switches. Counts are sums over them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BufferGroup {
    /// The tier.
    pub tier: String,
    /// Buffers.
    pub buffers: u64,
    /// Bytes of all of them.
    pub size: u64,
    /// The mean occupancy as a share of the size; here and in the percentiles, the mean over the buffers of the
    /// tier.
    pub occupancy_mean: f64,
    /// The median over time.
    pub occupancy_p50: f64,
    /// The 99th percentile over time.
    pub occupancy_p99: f64,
    /// The 99th percentile over time of the buffer where it is largest.
    pub occupancy_p99_worst: f64,
    /// The largest sample of any buffer.
    pub occupancy_max: f64,
    /// Packets offered.
    pub offered: u64,
    /// Packets sent whole.
    pub sent: u64,
    /// Packets dropped, pushed out or expelled.
    pub dropped: u64,
    /// By reason; reasons without drops are left out.
    pub drops: Vec<DropCount>,
    /// Packets expelled.
    pub expelled: u64,
    /// Packets marked.
    pub marked: u64,
    /// Packets trimmed.
    pub trimmed: u64,
    /// Packets returned to their senders.
    pub returned: u64,
}

/// The links from switches that lead one way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkGroup {
    /// "host": to hosts; "up", "down" and "across": to switches farther from the hosts, nearer, and as far.
    pub to: String,
    /// Ports.
    pub ports: u64,
    /// The mean share of the run that they were sending.
    pub utilization_mean: f64,
    /// That of the port where it is largest.
    pub utilization_max: f64,
}

/// The load that a workload asks for and gets, as shares of the capacity of the links that it is defined on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// The workload.
    pub workload: String,
    /// The links: "host links" or "uplinks".
    pub of: String,
    /// Asked for, payload only.
    pub offered_payload: Option<f64>,
    /// Asked for, with headers.
    pub offered_wire: Option<f64>,
    /// What the flows of this seed come to, payload only.
    pub achieved_payload: Option<f64>,
    /// What the flows of this seed come to, with headers.
    pub achieved_wire: Option<f64>,
}

/// How much the engine did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Engine {
    /// Events: arrivals, ends of transmissions, timers.
    pub events: u64,
    /// Packets that crossed a wire.
    pub hops: u64,
}

/// What the run cost: the only numbers that differ when it is repeated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CostInfo {
    /// CPU seconds of the run, without reading and planning.
    pub cpu_seconds: f64,
    /// Hops for each of them; `None` if the time is too short to be measured.
    pub hops_per_cpu_second: Option<f64>,
    /// The most memory that the process ever had, in bytes.
    pub peak_memory: u64,
}

/// A run in few numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Which run, and how it ended.
    pub run: RunInfo,
    /// All flows, then by workload, then by class, each by size. Groups that would repeat another are left out:
    /// classes if there is only one, and sizes without flows.
    pub flows: Vec<FlowGroup>,
    /// Flows without end.
    pub endless_flows: u64,
    /// By workload, all first if there are several.
    pub queries: Vec<QueryGroup>,
    /// By tier, in the order of the network's switches.
    pub buffers: Vec<BufferGroup>,
    /// By where they lead.
    pub links: Vec<LinkGroup>,
    /// By workload, where it is known.
    pub loads: Vec<Load>,
    /// Priority flow control, where switches pause. Older results have none.
    pub pauses: Option<PauseSummary>,
    /// How much the engine did.
    pub engine: Engine,
    /// What the run cost.
    pub cost: CostInfo,
}

impl Summary {
    /// The text of `summary.json`: the same run gives the same text, except for what is under `cost`.
    pub fn to_json(&self) -> String {
        format!("{:#}\n", serde_json::json!(self))
    }

    /// Reads the text of `summary.json`; the error says what is wrong, and where.
    pub fn from_json(text: &str) -> Result<Self, String> {
        let reader = &mut serde_json::Deserializer::from_str(text);
        serde_path_to_error::deserialize(reader).map_err(|error| error.to_string())
    }

    /// Flows of a group and a size: `by` is "all", "workload" or "class".
    pub fn flows_of(&self, by: &str, group: &str, size: &str) -> Option<&FlowGroup> {
        self.flows.iter().find(|flows| flows.by == by && flows.group == group && flows.size == size)
    }

    /// All queries.
    pub fn all_queries(&self) -> Option<&QueryGroup> {
        self.queries.first()
    }

    /// Packets dropped in all buffers, pushed out and expelled ones included.
    pub fn dropped(&self) -> u64 {
        self.buffers.iter().map(|tier| tier.dropped).sum()
    }

    /// Packets offered to all buffers.
    pub fn offered(&self) -> u64 {
        self.buffers.iter().map(|tier| tier.offered).sum()
    }

    /// Packets dropped in all buffers, by reason, in the order of first appearance.
    pub fn drops_by_reason(&self) -> Vec<DropCount> {
        let mut all: Vec<DropCount> = Vec::new();
        for drops in self.buffers.iter().flat_map(|tier| &tier.drops) {
            match all.iter_mut().find(|known| known.reason == drops.reason) {
                Some(known) => known.packets += drops.packets,
                None => all.push(drops.clone()),
            }
        }
        all
    }

    /// All packets that were lost, by reason: in buffers, in front of hosts' links, and on failed links and switches.
    pub fn losses_by_reason(&self) -> Vec<DropCount> {
        let others =
            [("at hosts", self.run.dropped_at_hosts), ("failed links and switches", self.run.lost_to_failures)];
        let others = others.into_iter().filter(|(_, packets)| *packets > 0);
        let others = others.map(|(reason, packets)| DropCount { reason: reason.to_owned(), packets });
        self.drops_by_reason().into_iter().chain(others).collect()
    }

    /// The links that lead one way: "host", "up", "down" or "across".
    pub fn links_to(&self, to: &str) -> Option<&LinkGroup> {
        self.links.iter().find(|links| links.to == to)
    }

    /// The mean utilization of the links that a network is dimensioned by: up from the leaves; across, where nothing is
    /// up (a dumbbell); to the hosts, where there is one switch.
    pub fn utilization(&self) -> Option<f64> {
        ["up", "across", "host"].into_iter().find_map(|to| self.links_to(to)).map(|links| links.utilization_mean)
    }

    /// The 99th percentile of occupancy as a share of the buffer, in the tier where it is largest.
    pub fn occupancy_p99(&self) -> Option<f64> {
        self.buffers.iter().map(|tier| tier.occupancy_p99).max_by(f64::total_cmp)
    }
}
