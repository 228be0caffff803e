//! Scenario files: read, planned, and described.

use crate::Failure;
use crate::replay::read_text;
use forebay_sim::flow::TrafficPlan;
use forebay_sim::scenario::{Scenario, describe};
use forebay_sim::workload;
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
