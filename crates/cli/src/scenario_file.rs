//! Scenario files: read, planned, and described.

use crate::Failure;
use crate::replay::read_text;
use forebay_results::summary::{Load, Summary};
use forebay_sim::flow::TrafficPlan;
use forebay_sim::scenario::{Scenario, describe};
use forebay_sim::workload::{self, Amount, LoadOf, LoadReport, WorkloadConfig, WorkloadKind};
use std::path::Path;

/// A scenario and everything that follows from it before it runs.
pub(crate) struct Prepared {
    pub(crate) scenario: Scenario,
    /// As TOML, with what was set and what was left out.
    pub(crate) resolved: String,
    pub(crate) plan: TrafficPlan,
}

/// A file that scenarios are made from.
pub(crate) struct ScenarioFile {
    pub(crate) name: String,
    pub(crate) text: String,
}

impl ScenarioFile {
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        Ok(Self { name: path.display().to_string(), text: read_text(path)? })
    }

    /// The scenario with some settings changed.
    pub(crate) fn prepare(&self, sets: &[(String, String)]) -> Result<Prepared, Failure> {
        let scenario = Scenario::read(&self.name, &self.text, sets)?;
        let resolved = describe(&self.name, &self.text, sets)?;
        let plan = workload::plan(&scenario.workloads, &scenario.network, &scenario.transports, scenario.seed);
        Ok(Prepared { scenario, resolved, plan })
    }

    /// What results are called if nobody says: the file's name without its directory and ending.
    pub(crate) fn stem(&self) -> String {
        Path::new(&self.name).file_stem().map_or_else(|| "run".to_owned(), |stem| stem.to_string_lossy().into_owned())
    }
}

/// `KEY=VALUE` arguments, with the seed as one of them.
pub(crate) fn settings(sets: &[String], seed: Option<u64>) -> Result<Vec<(String, String)>, Failure> {
    let mut pairs = Vec::new();
    for set in sets {
        let Some((key, value)) = set.split_once('=') else {
            return Err(Failure::Input(format!(
                "error: --set {set}: there is no \"=\"\n  help: write --set KEY=VALUE, such as --set policy.alpha=0.5"
            )));
        };
        pairs.push((key.trim().to_owned(), value.trim().to_owned()));
    }
    if let Some(seed) = seed {
        pairs.push(("seed".to_owned(), seed.to_string()));
    }
    Ok(pairs)
}

/// Adds what the workloads ask for and what the flows of this seed come to.
pub(crate) fn add_loads(summary: &mut Summary, scenario: &Scenario, plan: &TrafficPlan) {
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
