//! Workloads: what the hosts want to send, when and to whom.
//!
//! A workload is planned before the run: [`plan`] makes the list of flows. Only closed-loop clients decide as they go.
//!
//! Every random draw comes from a stream of its workload's place in the scenario, its kind, its purpose and the host
//! concerned, so that a workload added behind the others, or another size distribution, moves no other start time.
//!
//! What "load" means is written in [`load`].

mod all_reduce;
mod all_to_all;
mod bundled;
mod cdf_file;
mod csv;
mod distribution;
mod incast;
pub mod load;
mod long_lived;
mod on_off;
mod pattern;
mod permutation;
mod planner;
mod poisson;
mod racks;
mod read;
mod read_hosts;
mod read_sizes;
#[cfg(test)]
mod read_tests;
mod request_response;
#[cfg(test)]
pub(crate) mod testing;

pub use all_reduce::{Algorithm, AllReduceConfig};
pub use all_to_all::AllToAllConfig;
pub use bundled::BUNDLED;
pub use csv::{CsvConfig, CsvFlow};
pub use distribution::{Interpolation, Point, SizeDistribution};
pub use incast::{Arrivals, IncastConfig};
pub use load::{Busiest, Load, LoadReport, Overload, achieved_load, expected_load, overload};
pub use long_lived::{LongLivedConfig, Pairs};
pub use on_off::OnOffConfig;
pub use pattern::{Pattern, Reach};
pub use permutation::PermutationConfig;
pub use planner::{exponential, plan};
pub use poisson::{Amount, LoadOf, PoissonConfig};
pub use racks::{Rack, Racks};
pub use read::{about, keys, read};
pub use request_response::RequestResponseConfig;

use crate::network::NetworkPlan;
use crate::transport::TransportConfig;
use forebay_tm::{Bytes, Duration, Instant};
use std::path::Path;

/// One `[[workload]]` of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkloadConfig {
    /// What it is called in results.
    pub name: String,
    /// The class (queue number) of its flows, or the first of them.
    pub class: u8,
    /// Each flow draws one of so many classes from `class` on.
    pub classes: u8,
    /// The index of its transport.
    pub transport: u16,
    /// Flows start from here ...
    pub start: Instant,
    /// ... to here (not included); jitter and spread come on top.
    pub stop: Instant,
    /// It may ask a link for more than the link can carry.
    pub allow_overload: bool,
    /// What it does.
    pub kind: WorkloadKind,
}

/// What a workload does.
#[derive(Clone, Debug, PartialEq)]
pub enum WorkloadKind {
    /// Flows at random times, sizes from a distribution.
    Poisson(PoissonConfig),
    /// Queries that many hosts answer at once.
    Incast(IncastConfig),
    /// Each host sends to one host and hears from one.
    Permutation(PermutationConfig),
    /// Each host sends to every other.
    AllToAll(AllToAllConfig),
    /// Sums over all hosts, step by step.
    AllReduce(AllReduceConfig),
    /// Flows without end.
    LongLived(LongLivedConfig),
    /// A burst from each host, again and again.
    OnOff(OnOffConfig),
    /// Clients that ask, wait for the answer, think and ask again.
    RequestResponse(RequestResponseConfig),
    /// Flows from a file.
    Csv(CsvConfig),
}

impl WorkloadKind {
    /// The names in files, in the order of the variants.
    pub const NAMES: [&'static str; 9] = [
        "poisson",
        "incast",
        "permutation",
        "all-to-all",
        "all-reduce",
        "long-lived",
        "on-off",
        "request-response",
        "csv",
    ];

    /// Its name in files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Poisson(_) => "poisson",
            Self::Incast(_) => "incast",
            Self::Permutation(_) => "permutation",
            Self::AllToAll(_) => "all-to-all",
            Self::AllReduce(_) => "all-reduce",
            Self::LongLived(_) => "long-lived",
            Self::OnOff(_) => "on-off",
            Self::RequestResponse(_) => "request-response",
            Self::Csv(_) => "csv",
        }
    }
}

/// What must be known of a scenario to read its workloads.
#[derive(Clone, Copy, Debug)]
pub struct WorkloadContext<'a> {
    /// Hosts, switches, cables.
    pub network: &'a NetworkPlan,
    /// Workloads stop here unless they say otherwise.
    pub duration: Duration,
    /// The transports with their names, in the order of the scenario.
    pub transports: &'a [(String, TransportConfig)],
    /// Queues of a port: a class is below this.
    pub queues: usize,
    /// The smallest buffer of a switch that hosts are connected to: shares of the buffer are shares of this.
    pub buffer: Bytes,
    /// Where relative paths start.
    pub directory: &'a Path,
}
