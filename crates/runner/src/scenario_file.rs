//! Scenario files: read, planned, and described.

use crate::Error;
use crate::inputs::Inputs;
use forebay_settings::Diagnostic;
use forebay_sim::flow::TrafficPlan;
use forebay_sim::scenario::{Scenario, describe};
use forebay_sim::workload;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A scenario and everything that follows from it before it runs.
pub struct Prepared {
    /// The scenario.
    pub scenario: Scenario,
    /// As TOML, with what was set and what was left out.
    pub resolved: String,
    /// Its flows.
    pub plan: TrafficPlan,
}

/// A file that scenarios are made from.
#[derive(Clone, Debug)]
pub struct ScenarioFile {
    /// What errors call it; relative paths in it start at its directory.
    pub name: String,
    /// What is in it.
    pub text: String,
}

impl ScenarioFile {
    /// Reads a file.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Ok(Self { name: path.display().to_string(), text: read_text(path)? })
    }

    /// The scenario with some settings changed.
    pub fn prepare(&self, sets: &[(String, String)]) -> Result<Prepared, Error> {
        let scenario = Scenario::read(&self.name, &self.text, sets)?;
        let resolved = self.resolve(sets)?;
        let plan = workload::plan(&scenario.workloads, &scenario.network, &scenario.transports, scenario.seed);
        Ok(Prepared { scenario, resolved, plan })
    }

    /// The scenario with some settings changed, as TOML, with what was left out.
    pub fn resolve(&self, sets: &[(String, String)]) -> Result<String, Error> {
        Ok(describe(&self.name, &self.text, sets)?)
    }

    /// The files that a scenario is made from: this one, and those that it names.
    pub fn inputs(&self, resolved: &str) -> Inputs {
        let mut inputs = Inputs::default();
        inputs.reads(Path::new(&self.name));
        self.may_name(resolved).filter(|path| path.is_file()).for_each(|path| inputs.reads(&path));
        inputs
    }

    /// What may be the names of files in a resolved scenario: a file can only be named by a text, and those that name
    /// one are taken for it.
    pub(crate) fn may_name<'t>(&'t self, resolved: &'t str) -> impl Iterator<Item = PathBuf> + 't {
        let directory = Path::new(&self.name).parent().unwrap_or(Path::new(""));
        resolved.split('"').skip(1).step_by(2).map(|text| directory.join(text))
    }
}

/// Reads a text file.
pub fn read_text(path: &Path) -> Result<String, Diagnostic> {
    /// Far above any file of settings.
    const MOST: u64 = 16 << 20;
    let name = path.display().to_string();
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MOST + 1).read_to_end(&mut bytes))
        .map_err(|error| cannot_read(&name, &error))?;
    if bytes.len() as u64 > MOST {
        let problem = format!("more than {MOST} bytes are too many for a file of settings");
        return Err(Diagnostic::of_file(name, problem, "is this the right file?"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let line =
            error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|byte| **byte == b'\n').count() + 1;
        Diagnostic { line: Some(line), ..Diagnostic::of_file(name, "this is not UTF-8 text", "save the file as UTF-8") }
    })
}

/// A file that cannot be read.
pub fn cannot_read(file: &str, error: &io::Error) -> Diagnostic {
    Diagnostic::of_file(file, format!("cannot read it: {error}"), "check the path and its permissions")
}
