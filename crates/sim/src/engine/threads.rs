//! How many threads a run gets.

use super::layout::Layout;
use crate::flow::TrafficPlan;
use crate::routing::Ports;
use crate::scenario::{NicSetup, Scenario};
use crate::transport::TransportKind;
use forebay_tm::TmConfig;
use forebay_tm::admit::PolicyConfig;
use forebay_tm::mark::MarkConfig;
use forebay_tm::rank::RankConfig;
use forebay_tm::schedule::SchedulerConfig;

/// Events that a thread should have in a window, so that it seldom waits for the others: an event takes 30 to 100 ns,
/// and waiting for a thread that comes at the same time a microsecond or two.
const WORTH_A_WINDOW: f64 = 100.0;

/// Events for each packet that the links of hosts could carry in that time. A permutation of 128 hosts at 100 Gb/s
/// has 2,407 in a window of a microsecond, in which 1,067 packets fit on these links.
const EVENTS_A_PACKET: f64 = 2.25;

/// How many threads a run gets, and why it does not get more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Threads {
    /// One, or as many as there are partitions.
    pub count: usize,
    /// Why there are fewer than were asked for.
    pub reason: Option<String>,
}

impl Threads {
    /// As many as were asked for, if the run can have them.
    pub fn exactly(asked: usize, scenario: &Scenario, plan: &TrafficPlan) -> Self {
        if asked <= 1 {
            return Self { count: 1, reason: None };
        }
        if let Some(reason) = obstacle(scenario, plan) {
            return Self { count: 1, reason: Some(reason.to_owned()) };
        }
        let count = Layout::new(scenario, plan, &Ports::new(&scenario.network), asked).parts();
        let few = || format!("{count} switch{} with hosts", if count == 1 { "" } else { "es" });
        Self { count, reason: (count < asked).then(few) }
    }

    /// As many as pay, of this many cores.
    pub fn that_pay(cores: usize, scenario: &Scenario, plan: &TrafficPlan) -> Self {
        let most = Self::exactly(cores, scenario, plan);
        if most.count == 1 {
            return most;
        }
        let layout = Layout::new(scenario, plan, &Ports::new(&scenario.network), most.count);
        let pay = (events_in(layout.lookahead(), scenario) / WORTH_A_WINDOW) as usize;
        if pay >= most.count {
            return most;
        }
        let reason = "little happens in a window of the lookahead, and threads would wait for each other";
        // What is left for two is not worth it for one of them.
        let count = if pay < 2 { 1 } else { pay };
        Self { count: Self::exactly(count, scenario, plan).count, reason: Some(reason.to_owned()) }
    }
}

/// Events of all nodes in so many picoseconds, if hosts have much to send.
fn events_in(window: u64, scenario: &Scenario) -> f64 {
    let hosts = scenario
        .network
        .cables
        .iter()
        .filter(|cable| scenario.network.is_host(cable.a) || scenario.network.is_host(cable.b));
    let full = scenario.transports.iter().map(|(_, config)| config.common.mss + config.common.header).max();
    let bytes: f64 = hosts.map(|cable| cable.rate.bps() as f64 / 8.0 * window as f64 / 1e12).sum();
    bytes / f64::from(full.unwrap_or(1_500)) * EVENTS_A_PACKET
}

/// What a scenario has that only one thread can do.
fn obstacle(scenario: &Scenario, plan: &TrafficPlan) -> Option<&'static str> {
    let measure = &scenario.measure;
    if !measure.drops.is_empty() {
        return Some("measure.drops keeps the first drops of all switches together");
    }
    if !measure.progress.is_empty() && !plan.sessions.is_empty() {
        return Some("measure.progress with closed-loop clients has rows in the order in which flows began");
    }
    if has_foreign_scheme(scenario) {
        return Some("a scheme of another crate, or in Python, may share what it knows between switches or flows");
    }
    None
}

fn has_foreign_scheme(scenario: &Scenario) -> bool {
    let is_foreign = |config: &TmConfig| {
        matches!(config.policy, PolicyConfig::Custom(_))
            || matches!(config.scheduler, SchedulerConfig::Custom(_))
            || matches!(config.rank, RankConfig::Custom(_))
            || matches!(config.mark, Some(MarkConfig::Custom(_)))
    };
    let of_hosts = if let NicSetup::Managed(configs) = &scenario.nic { configs.as_slice() } else { &[] };
    let of_switches = scenario.switches.iter().flat_map(|setup| &setup.buffers);
    scenario.transports.iter().any(|(_, config)| matches!(config.kind, TransportKind::Custom(_)))
        || of_switches.chain(of_hosts).any(|config| is_foreign(config))
}
