//! The loads of a run's workloads.

use super::{Load, Summary};
use forebay_sim::flow::TrafficPlan;
use forebay_sim::scenario::Scenario;
use forebay_sim::workload::{self, Amount, LoadOf, LoadReport, WorkloadConfig, WorkloadKind};

/// Adds what the workloads ask for and what the flows of this seed come to.
pub fn add_loads(summary: &mut Summary, scenario: &Scenario, plan: &TrafficPlan) {
    let workloads = &scenario.workloads;
    for (number, config) in workloads.iter().enumerate() {
        let offered = workload::expected_load(std::slice::from_ref(config), &scenario.network, &scenario.transports);
        let achieved = workload::achieved_load(plan, workloads, Some(number), &scenario.network, &scenario.transports);
        let uplinks = is_of_uplinks(config) && achieved.uplinks.is_some();
        let shares = |report: &LoadReport| {
            let load = report.uplinks.filter(|_| uplinks).unwrap_or(report.host_links);
            (load.payload, load.wire)
        };
        let (offered, achieved) = (offered.as_ref().map(shares), shares(&achieved));
        summary.loads.push(Load {
            workload: config.name.clone(),
            of: if uplinks { "uplinks" } else { "host links" }.to_owned(),
            offered_payload: offered.map(|load| load.0),
            offered_wire: offered.map(|load| load.1),
            achieved_payload: Some(achieved.0),
            achieved_wire: Some(achieved.1),
        });
    }
}

/// Whether a workload's load is told of the uplinks: where it is defined on them. All others count their hosts' links.
fn is_of_uplinks(config: &WorkloadConfig) -> bool {
    matches!(&config.kind, WorkloadKind::Poisson(own) if matches!(own.amount, Amount::Load { of: LoadOf::Uplinks, .. }))
}
