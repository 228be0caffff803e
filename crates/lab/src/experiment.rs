//! An experiment file: which scenario is run live, how, beside which programs, and what is expected of the outcome.

use crate::error::{self, Result};
use crate::expect::{self, Expect};
use crate::programs::{self, Program};
use forebay_settings::{Diagnostic, Document, Settings, Table};
use forebay_tm::Duration;
use std::path::{Path, PathBuf};

/// What connects the hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwitchKind {
    /// Forebay's live switch.
    Live,
    /// The kernel's bridge, for a comparison: it has no counters of ours.
    Bridge,
}

/// The `[lab]` table.
#[derive(Clone, Debug, PartialEq)]
pub struct LabSettings {
    /// What connects the hosts.
    pub switch: SwitchKind,
    /// How the live switch reads frames; none: its own choice.
    pub backend: Option<String>,
    /// Bytes that a frame takes on the wire beside its own.
    pub overhead: u32,
    /// Time that the switch may give up to stalls before a run counts as polluted.
    pub stall_limit: Duration,
    /// How often a polluted run is tried at most.
    pub tries: u32,
    /// Hosts send no faster than their links.
    pub paced: bool,
}

/// An experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// The scenario's file.
    pub scenario: String,
    /// Its text.
    pub text: String,
    /// How it is run.
    pub lab: LabSettings,
    /// What runs beside the flows.
    pub programs: Vec<Program>,
    /// The source of a DCTCP for kernels without one: `dctcp.bpf.c` beside the file.
    pub dctcp: PathBuf,
    /// What is expected.
    pub expects: Vec<Expect>,
    /// The experiment's own text, with what was set: it tells results of one from those of another.
    pub says: String,
}

const TOP_KEYS: [&str; 4] = ["scenario", "lab", "program", "expect"];
const LAB_KEYS: [&str; 6] = ["switch", "backend", "overhead", "stall_limit", "tries", "paced"];

impl Experiment {
    /// Reads an experiment file. Of `sets`, those that begin with `lab.` are for it; the others, which are returned,
    /// are for the scenario.
    pub fn read(path: &Path, sets: &[(String, String)]) -> Result<(Self, Vec<(String, String)>)> {
        let file = path.display().to_string();
        let read = |path: &Path| std::fs::read_to_string(path).map_err(|error| error::of_file(path, "read", &error));
        let text = read(path)?;
        let (own, others): (Vec<_>, Vec<_>) = sets.iter().cloned().partition(|(key, _)| key.starts_with("lab."));
        let settings = Settings::new(&text, &own)?;
        let document = Document::parse_with(&file, &text, &settings)?;
        let root = document.root();
        root.allow(&TOP_KEYS, |_| false, "")?;
        let named = root.need("scenario", "scenario = \"../scenarios/live/incast.toml\"")?;
        let scenario = path.parent().unwrap_or(Path::new("")).join(named.text()?);
        if !scenario.is_file() {
            let problem = format!("there is no file {}", scenario.display());
            return Err(named.error(problem, "give a scenario file; relative paths start at this file"));
        }
        let lab = lab(root.table("lab")?.as_ref())?;
        let programs = root.tables("program")?.iter().map(programs::read).collect::<std::result::Result<_, _>>()?;
        let expects = root.tables("expect")?.iter().map(expect::read).collect::<std::result::Result<_, _>>()?;
        let says = format!("{lab:?} {programs:?}");
        let text = read(&scenario)?;
        let dctcp = path.with_file_name("dctcp.bpf.c");
        Ok((Self { scenario: scenario.display().to_string(), text, lab, programs, dctcp, expects, says }, others))
    }
}

fn lab(table: Option<&Table<'_>>) -> std::result::Result<LabSettings, Diagnostic> {
    let mut settings = LabSettings {
        switch: SwitchKind::Live,
        backend: None,
        overhead: 0,
        stall_limit: Duration::from_us(20_000),
        tries: 3,
        paced: true,
    };
    let Some(table) = table else { return Ok(settings) };
    table.allow(&LAB_KEYS, |_| false, "")?;
    if let Some(value) = table.get("switch") {
        settings.switch = value.word(&[("live", SwitchKind::Live), ("bridge", SwitchKind::Bridge)])?;
    }
    if let Some(value) = table.get("backend") {
        settings.backend = Some(value.word(&[("xdp", "xdp"), ("packet", "packet")])?.to_owned());
    }
    if let Some(value) = table.get("overhead") {
        settings.overhead = value.number()?;
    }
    if let Some(value) = table.get("stall_limit") {
        settings.stall_limit = value.duration()?;
    }
    if let Some(value) = table.get("tries") {
        settings.tries = value.number()?;
        if settings.tries == 0 {
            return Err(value.error("a run is tried at least once", "give 1 or more"));
        }
    }
    if let Some(value) = table.get("paced") {
        settings.paced = value.boolean()?;
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_file_is_read_and_its_errors_have_lines() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("e.toml");
        fs::write(root.path().join("s.toml"), "name = \"x\"\n").unwrap();
        let try_read = |text: &str, sets: &[(String, String)]| {
            fs::write(&path, text).unwrap();
            Experiment::read(&path, sets)
        };
        let good = "scenario = \"s.toml\"\n[lab]\nbackend = \"packet\"\n[[program]]\nname = \"ping\"\nhost = \"host0\"\n\
                    command = \"ping {host1}\"\nparse = \"ping\"\n[[expect]]\nmetric = \"drops\"\nof = \"A\"\nbetter = \"lower\"\nthan = \"B\"\n";
        let set = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let (experiment, others) = try_read(good, &[set("lab.tries", "1"), set("policy.alpha", "2")]).unwrap();
        assert_eq!((experiment.lab.tries, experiment.lab.backend.as_deref()), (1, Some("packet")));
        assert_eq!((experiment.programs.len(), experiment.expects.len(), others.len()), (1, 1, 1));
        for (bad, said) in [
            ("[lab]\n", "scenario"),
            ("scenario = \"none.toml\"\n", "there is no file"),
            ("scenario = \"s.toml\"\nother = 1\n", "e.toml:2"),
            ("scenario = \"s.toml\"\n[lab]\ntries = 0\n", "e.toml:3"),
            ("scenario = \"s.toml\"\n[lab]\nswitch = \"magic\"\n", "e.toml:3"),
            ("scenario = \"s.toml\"\n[[program]]\nname = \"x\"\n", "host"),
            ("scenario = \"s.toml\"\n[[expect]]\nmetric = \"x\"\n", "than"),
        ] {
            let error = try_read(bad, &[]).unwrap_err().to_string();
            assert!(error.contains(said), "{bad}: {error}");
        }
    }
}
