//! A buffer policy, a congestion control, a workload and a topology that Forebay does not have, registered under names of their own.

mod gentle;
mod per_port_thresholds;
mod relay;
mod ring;

pub use gentle::GentleConfig;
pub use per_port_thresholds::PerPortThresholdsConfig;
pub use relay::Relay;
pub use ring::Ring;

use forebay_sim::topology::register_topology;
use forebay_sim::transport::{CustomTransport, register_transport};
use forebay_sim::workload::register_workload;
use forebay_tm::admit::CustomPolicy;

/// The policy, as it can be chosen.
pub fn policy(settings: PerPortThresholdsConfig) -> CustomPolicy {
    CustomPolicy::new("per-port", "DT whose alpha is divided among the queues of a port.", settings)
}

/// Makes all of them known to every reader of files. False if their names are taken.
pub fn register() -> bool {
    let about = "TCP that gives up a quarter of its window at a loss, and grows by half a packet a round trip.";
    forebay_settings::register_policy(policy(PerPortThresholdsConfig::default()))
        && register_transport(CustomTransport::new("gentle", about, GentleConfig::default()))
        && register_workload::<Relay>("relay", "data that goes around hosts, each of which passes it on")
        && register_topology::<Ring>("ring", "switches in a ring, with hosts at each")
}
