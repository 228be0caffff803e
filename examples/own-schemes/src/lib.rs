//! A buffer policy and a congestion control that Forebay does not have, registered under names of their own.

mod gentle;
mod per_port_thresholds;

pub use gentle::GentleConfig;
pub use per_port_thresholds::PerPortThresholdsConfig;

use forebay_sim::transport::{CustomTransport, register_transport};
use forebay_tm::admit::CustomPolicy;

/// The policy, as it can be chosen.
pub fn policy(settings: PerPortThresholdsConfig) -> CustomPolicy {
    CustomPolicy::new("per-port", "DT whose alpha is divided among the queues of a port.", settings)
}

/// Makes both schemes known to every reader of files. False if their names are taken.
pub fn register() -> bool {
    let about = "TCP that gives up a quarter of its window at a loss, and grows by half a packet a round trip.";
    forebay_settings::register_policy(policy(PerPortThresholdsConfig::default()))
        && register_transport(CustomTransport::new("gentle", about, GentleConfig::default()))
}
