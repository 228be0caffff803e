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
mod custom;
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
pub use custom::{CustomWorkload, entries, register_workload};
pub use distribution::{Interpolation, Point, SizeDistribution};
pub use incast::{Arrivals, IncastConfig};
pub(crate) use load::percent;
pub use load::{Bits, Busiest, Load, LoadReport, Offered, Overload, achieved_load, expected_load, overload};
pub use long_lived::{LongLivedConfig, Pairs};
pub use on_off::OnOffConfig;
pub use pattern::{Pattern, Reach};
pub use permutation::PermutationConfig;
pub use planner::{Draft, Planner, exponential, plan, span_below};
pub use poisson::{Amount, LoadOf, PoissonConfig};
pub use racks::{Rack, Racks};
pub(crate) use read::COMMON;
pub use read::{Reader, read};
pub use request_response::RequestResponseConfig;

use crate::network::NetworkPlan;
use crate::transport::{Common, TransportConfig};
use forebay_settings::Diagnostic;
use forebay_tm::described::Field;
use forebay_tm::{Bytes, Duration, Instant};
use std::fmt::Debug;
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

/// The settings of a workload, and the flows that they make.
pub trait WorkloadSettings: Clone + Debug + PartialEq + Send + Sync + 'static {
    /// Its keys, beside those that all workloads have: those of config types, and others.
    const FIELDS: &'static [&'static [Field]];

    /// Reads its keys from a table, which has no others.
    fn read(reader: &Reader<'_, '_>) -> Result<Self, Diagnostic>;

    /// Makes the flows.
    fn plan(&self, planner: &Planner<'_>) -> Draft;

    /// About how many flows it plans, if these could fill the memory.
    fn expected_flows(&self, _reader: &Reader<'_, '_>) -> f64 {
        0.0
    }

    /// Adds what it offers in the long run; false if it has no long run. Too much is refused, unless `allow_overload`,
    /// which is one of its keys then, is set.
    fn offer(&self, _offered: &mut Offered<'_>, _packets: &Common) -> bool {
        false
    }

    /// Hosts whose links count as senders' although they may not send.
    fn senders(&self, _racks: &Racks) -> Vec<u32> {
        Vec::new()
    }
}

/// A kind of workload.
#[derive(Clone, Copy, Debug)]
pub struct WorkloadEntry {
    /// Its name in files.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// Its own keys.
    fields: &'static [&'static [Field]],
    /// Reads one that has this name.
    read: fn(&Reader<'_, '_>, &'static str) -> Result<WorkloadKind, Diagnostic>,
}

impl WorkloadEntry {
    /// What there is to set with it alone.
    pub fn fields(&self) -> impl Iterator<Item = &'static Field> {
        self.fields.iter().copied().flatten()
    }

    /// All its keys.
    pub fn keys(&self) -> Vec<&'static str> {
        self.fields().chain(COMMON).map(|field| field.key).collect()
    }
}

/// Makes the kinds of workloads: the sentence of each, its name in files, its variant and its config type.
macro_rules! workloads {
    ($($about:literal $word:literal => $variant:ident($config:ty),)*) => {
        /// What a workload does.
        #[derive(Clone, Debug, PartialEq)]
        pub enum WorkloadKind {
            $(#[doc = $about] $variant($config),)*
            /// One that another crate brings.
            Custom(CustomWorkload),
        }

        /// Those that come with Forebay.
        const BUILT_IN: &[WorkloadEntry] = &[$(WorkloadEntry {
            name: $word,
            about: $about,
            fields: <$config as WorkloadSettings>::FIELDS,
            read: |reader, _| <$config as WorkloadSettings>::read(reader).map(WorkloadKind::$variant),
        },)*];

        impl WorkloadKind {
            /// Its name in files.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $word,)*
                    Self::Custom(custom) => custom.name,
                }
            }

            fn plan(&self, planner: &Planner<'_>) -> Draft {
                match self {
                    $(Self::$variant(settings) => settings.plan(planner),)*
                    Self::Custom(custom) => custom.settings.plan(planner),
                }
            }

            fn expected_flows(&self, reader: &Reader<'_, '_>) -> f64 {
                match self {
                    $(Self::$variant(settings) => settings.expected_flows(reader),)*
                    Self::Custom(custom) => custom.settings.expected_flows(reader),
                }
            }

            fn offer(&self, offered: &mut Offered<'_>, packets: &Common) -> bool {
                match self {
                    $(Self::$variant(settings) => settings.offer(offered, packets),)*
                    Self::Custom(custom) => custom.settings.offer(offered, packets),
                }
            }

            fn senders(&self, racks: &Racks) -> Vec<u32> {
                match self {
                    $(Self::$variant(settings) => settings.senders(racks),)*
                    Self::Custom(custom) => custom.settings.senders(racks),
                }
            }
        }
    };
}

workloads! {
    "flows at random times between random hosts, at a load or a rate"
    "poisson" => Poisson(PoissonConfig),
    "queries: many hosts send their responses at the same time"
    "incast" => Incast(IncastConfig),
    "each host sends to one other, and receives from one"
    "permutation" => Permutation(PermutationConfig),
    "each host sends to each other"
    "all-to-all" => AllToAll(AllToAllConfig),
    "rounds of a collective, by a ring or a double binary tree"
    "all-reduce" => AllReduce(AllReduceConfig),
    "infinite flows between pairs of hosts"
    "long-lived" => LongLived(LongLivedConfig),
    "bursts of flows with a period"
    "on-off" => OnOff(OnOffConfig),
    "closed loop: request, response, think time"
    "request-response" => RequestResponse(RequestResponseConfig),
    "flows from a file"
    "csv" => Csv(CsvConfig),
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
