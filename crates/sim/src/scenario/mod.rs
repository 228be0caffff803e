//! A scenario: everything that a run depends on, checked.

mod check;
mod chip;
mod describe;
pub mod kinds;
mod measure;
mod mirror;
mod nic;
mod pfc;
mod read;
mod read_failure;
mod read_program;
mod read_topology;
mod read_transport;
mod scale;
mod sonic;
pub mod sweep;
mod switches;

pub use chip::{ChipKind, ChipSetup, SideSetup};
pub use describe::describe;
pub use mirror::MirrorSetup;
pub use nic::{FifoLimit, FqSetup, Handoff, NicSetup};
pub use pfc::{IngressSetup, PfcSetup, WatchdogAction, WatchdogSetup};

use crate::network::NetworkPlan;
use crate::transport::TransportConfig;
use crate::workload::WorkloadConfig;
use forebay_script::file::Script;
use forebay_tm::{Duration, Instant, ValidConfig, words};
use std::sync::Arc;

/// How a switch chooses among equal-cost ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PathChoice {
    /// By a hash of the flow: a flow keeps its path.
    #[default]
    Ecmp,
    /// Every packet at random.
    SprayRandom,
    /// The packets of a flow in turn, from a start of the flow's own.
    SprayRoundRobin,
}

words! {
    PathChoice { Ecmp = "ecmp", SprayRandom = "spray-random", SprayRoundRobin = "spray-round-robin" }
}

/// The buffers of one switch: one for all ports, or one for every so many.
#[derive(Clone, Debug, PartialEq)]
pub struct SwitchSetup {
    /// The traffic managers, in the order of the ports: each has the rates of its own.
    pub buffers: Vec<ValidConfig>,
    /// Ports of each buffer but the last, which may have fewer.
    pub ports_per_buffer: usize,
    /// Whether the headers of rejected packets are sent around.
    pub mirror: Option<MirrorSetup>,
    /// The programmable chip that it is, if it is one.
    pub chip: Option<ChipSetup>,
    /// Its ingress side, if it has one: it then pauses its senders.
    pub ingress: Option<IngressSetup>,
    /// The path, from the root, of the SONiC configuration that it is made from.
    pub sonic: Option<String>,
    /// What it leaves out of that configuration, or has in another way.
    pub left_out: Vec<String>,
    /// The script that it plays, if it plays one: no file says so, only `forebay lab script`.
    pub script: Option<Arc<Script>>,
}

/// What fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// A cable, by its index in the plan: both directions.
    Cable(usize),
    /// A switch, by its index in the plan.
    Switch(usize),
}

/// A failure or a repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// When.
    pub at: Instant,
    /// What.
    pub element: Element,
    /// Comes back, rather than fails.
    pub up: bool,
}

/// What is measured beside flows and counters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasureSetup {
    /// Flows and queries that start before this time, and what buffers and links do before it, are in no summary.
    pub from: Duration,
    /// Where the completion time of every flow went is kept.
    pub breakdown: bool,
    /// Drops are kept one by one for these switches (indices), up to this number of them.
    pub drops: Vec<usize>,
    /// See `drops`.
    pub drops_limit: u32,
    /// How often occupancy is sampled.
    pub sample: Duration,
    /// Samples of switches' occupancy are kept as a timeline for these switches (indices).
    pub timeline: Vec<usize>,
    /// Samples of all queues are kept for these switches (indices).
    pub queues: Vec<usize>,
    /// Samples of how far flows have come are kept for these workloads (indices).
    pub progress: Vec<usize>,
    /// Packets of these flows (numbers in the plan) are traced.
    pub trace_flows: Vec<u32>,
    /// Packets at these switches are traced.
    pub trace_switches: Vec<usize>,
}

/// A scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// What it is called.
    pub name: String,
    /// Where all random draws start.
    pub seed: u64,
    /// Workloads start flows before this time, unless they say otherwise.
    pub duration: Duration,
    /// The run ends when all flows are complete, or so long after `duration`.
    pub drain: Duration,
    /// Hosts, switches, cables.
    pub network: NetworkPlan,
    /// How paths are chosen.
    pub paths: PathChoice,
    /// One for each switch of the plan.
    pub switches: Vec<SwitchSetup>,
    /// In front of the hosts' links.
    pub nic: NicSetup,
    /// With their names.
    pub transports: Vec<(String, TransportConfig)>,
    /// In the order of the file.
    pub workloads: Vec<WorkloadConfig>,
    /// In order of time.
    pub changes: Vec<Change>,
    /// How long after a change the routes follow.
    pub reroute: Duration,
    /// What is measured.
    pub measure: MeasureSetup,
}

#[cfg(test)]
mod bad_tests;
#[cfg(test)]
mod documentation;
#[cfg(test)]
mod random_tests;
#[cfg(test)]
mod tests;
