//! Scenario files: read, planned, and described.

use crate::Failure;
use crate::outputs::Outputs;
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

    /// The files that a scenario is made from: this one, and those that it names.
    pub(crate) fn inputs(&self, resolved: &str, force: bool) -> Outputs {
        let mut inputs = Outputs::new(force);
        let path = Path::new(&self.name);
        inputs.reads(path);
        let directory = path.parent().unwrap_or(Path::new(""));
        // A file can only be named by a text: those that name one are taken for it.
        let texts = resolved.split('"').skip(1).step_by(2).map(|text| directory.join(text));
        texts.filter(|path| path.is_file()).for_each(|path| inputs.reads(&path));
        inputs
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
