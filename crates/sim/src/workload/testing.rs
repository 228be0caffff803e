//! Small networks for tests of workloads.

use super::{WorkloadConfig, WorkloadKind, plan};
use crate::flow::TrafficPlan;
use crate::network::{CablePlan, NetworkPlan, SwitchPlan};
use crate::transport::linux::LinuxConfig;
use crate::transport::{Common, TransportConfig, TransportKind};
use forebay_tm::{Duration, Instant, Rate};

fn cable(a: usize, b: usize) -> CablePlan {
    CablePlan { a: a as u32, b: b as u32, rate: Rate::from_gbps(10), delay: Duration::from_us(10) }
}

fn switch(tier: &str, index: usize) -> SwitchPlan {
    SwitchPlan { name: format!("{tier}{index}"), tier: tier.to_owned() }
}

/// Leaves with `under` hosts each, spines, and so many parallel links between every two; all of 10 Gb/s.
pub(crate) fn leaf_spine(leaves: usize, under: usize, spines: usize, parallel: usize) -> NetworkPlan {
    let hosts = leaves * under;
    let mut cables: Vec<CablePlan> = (0..hosts).map(|host| cable(host, hosts + host / under)).collect();
    for leaf in 0..leaves {
        for spine in 0..spines {
            cables.extend((0..parallel).map(|_| cable(hosts + leaf, hosts + leaves + spine)));
        }
    }
    NetworkPlan {
        hosts: (0..hosts).map(|host| format!("host{host}")).collect(),
        switches: (0..leaves).map(|i| switch("leaf", i)).chain((0..spines).map(|i| switch("spine", i))).collect(),
        cables,
    }
}

/// One switch with so many hosts.
pub(crate) fn one_switch(hosts: usize) -> NetworkPlan {
    NetworkPlan {
        hosts: (0..hosts).map(|host| format!("host{host}")).collect(),
        switches: vec![switch("switch", 0)],
        cables: (0..hosts).map(|host| cable(host, hosts)).collect(),
    }
}

/// One transport, with the common settings.
pub(crate) fn transports() -> Vec<(String, TransportConfig)> {
    let kind = TransportKind::Reno(crate::transport::reno::RenoConfig::default());
    vec![("reno".to_owned(), TransportConfig { kind, common: Common::default(), linux: LinuxConfig::default() })]
}

/// A workload over the first so many milliseconds.
pub(crate) fn workload(kind: WorkloadKind, ms: u64) -> WorkloadConfig {
    WorkloadConfig {
        name: "test".to_owned(),
        class: 1,
        classes: 1,
        transport: 0,
        start: Instant::ZERO,
        stop: Instant::from_ps(ms * 1_000_000_000),
        allow_overload: false,
        kind,
    }
}

/// The plan of one workload.
pub(crate) fn plan_of(kind: WorkloadKind, ms: u64, network: &NetworkPlan, seed: u64) -> TrafficPlan {
    plan(&[workload(kind, ms)], network, &transports(), seed)
}
