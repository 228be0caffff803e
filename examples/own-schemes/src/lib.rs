//! Schemes that Forebay does not have, registered under names of their own: a buffer policy, a scheduler, a rank
//! function, a marking rule, a congestion control, a workload and a topology.

mod aged;
mod bands;
mod gentle;
mod per_port_thresholds;
mod pool_step;
mod relay;
mod ring;

pub use aged::AgedConfig;
pub use bands::BandsConfig;
pub use gentle::GentleConfig;
pub use per_port_thresholds::PerPortThresholdsConfig;
pub use pool_step::PoolStepConfig;
pub use relay::Relay;
pub use ring::Ring;

use forebay_settings::register as known;
use forebay_sim::topology::register_topology;
use forebay_sim::transport::custom_transport;
use forebay_sim::workload::register_workload;
use forebay_tm::admit::{CustomPolicy, PolicyConfig};
use forebay_tm::mark::{CustomMark, MarkConfig};
use forebay_tm::rank::{CustomRank, RankConfig};
use forebay_tm::schedule::{CustomScheduler, SchedulerConfig};

/// The policy, as it can be chosen.
pub fn policy(settings: PerPortThresholdsConfig) -> PolicyConfig {
    let about = "DT whose alpha is divided among the queues of a port.";
    PolicyConfig::Custom(CustomPolicy::new("per-port", about, settings).with_rule("`T = (alpha/n)*(B-Q)`"))
}

/// The scheduler, as it can be chosen.
pub fn scheduler(settings: BandsConfig) -> SchedulerConfig {
    SchedulerConfig::Custom(CustomScheduler::new("bands", "Two bands: ranks below a bound first.", settings))
}

/// The rank function, as it can be chosen.
pub fn rank(settings: AgedConfig) -> RankConfig {
    RankConfig::Custom(CustomRank::new("aged", "Bytes left, plus a part of the time of arrival.", settings))
}

/// The marking rule, as it can be chosen.
pub fn marking(settings: PoolStepConfig) -> MarkConfig {
    MarkConfig::Custom(CustomMark::new("pool-step", "Everything while the buffer holds a threshold or more.", settings))
}

/// Makes all schemes known to every reader of files. False if their names are taken.
pub fn register() -> bool {
    let about = "TCP that gives up a quarter of its window at a loss, and grows by half a packet a round trip.";
    known(policy(PerPortThresholdsConfig::default()))
        && known(scheduler(BandsConfig::default()))
        && known(rank(AgedConfig::default()))
        && known(marking(PoolStepConfig::default()))
        && known(custom_transport("gentle", about, GentleConfig::default()))
        && register_workload::<Relay>("relay", "data that goes around hosts, each of which passes it on")
        && register_topology::<Ring>("ring", "switches in a ring, with hosts at each")
}
