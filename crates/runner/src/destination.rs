//! Where results go: names of directories, and which directories may be written to.

use crate::inputs::Inputs;
use crate::{Error, WayOut, cannot_write};
use forebay_results::directory::{SCENARIO, SUMMARY, file_names, is_run, read_run};
use rustix::fs::FlockOperation;
use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};

/// The tables of a sweep.
pub const SWEEP: &str = "sweep.parquet";
/// The page, if nobody gives it a name.
pub const PAGE: &str = "report.html";
/// The name of the capture in a directory of results.
pub const CAPTURE: &str = "trace.pcapng";

/// The directory of results that are named by what they are made of, in that of a sweep.
pub const RUNS: &str = "runs";
/// The directory of scripts and logs of a cluster's jobs, in that of a sweep.
pub const LOGS: &str = "slurm";

/// What is about to be written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The results of one run.
    Run,
    /// Those of a sweep, in directories below.
    Sweep,
}

/// A directory that nobody gave a name: that of the scenario, what was changed, and how it ends. Runs with other
/// settings get other directories, so that they can be compared.
pub fn default_directory(scenario: &str, sets: &[(String, String)], end: &str) -> PathBuf {
    // The name says itself what it was set to.
    let is_told = |key: &str| key != "seed" && key != "name";
    let changed = sets.iter().filter(|(key, _)| is_told(key)).map(|(key, value)| format!("-{key}={value}"));
    let mut name = directory_name(&format!("{scenario}{}", changed.collect::<String>()));
    while name.contains("--") {
        name = name.replace("--", "-");
    }
    PathBuf::from("results").join(format!("{name}-{end}"))
}

/// The directories of a sweep's points: their labels, with a number where two come to the same.
pub fn point_directories<'l>(labels: impl IntoIterator<Item = &'l str>) -> Vec<String> {
    let mut taken = BTreeSet::from([RUNS.to_owned(), LOGS.to_owned()]);
    let mut name_of = |label: &str| {
        let plain = directory_name(label);
        let numbered = (2..).map(|number| format!("{plain}-{number}"));
        let name = std::iter::once(plain.clone()).chain(numbered).find(|name| !taken.contains(name)).unwrap_or(plain);
        taken.insert(name.clone());
        name
    };
    labels.into_iter().map(&mut name_of).collect()
}

/// A label as the name of a directory.
fn directory_name(label: &str) -> String {
    /// File systems take 255 bytes, of which a character needs up to 4; a number may follow.
    const LONGEST: usize = 58;
    let mut depth = 0;
    // A list is its values between commas; outside of lists, commas are like other signs that file names do without.
    let keep = |c: char| match c {
        '"' => None,
        '[' | ']' => {
            depth += if c == '[' { 1 } else { -1 };
            None
        }
        ' ' if depth > 0 => None,
        ',' if depth > 0 => Some(c),
        c if c.is_alphanumeric() || "-_.=+".contains(c) => Some(c),
        _ => Some('-'),
    };
    let name: String = label.chars().filter_map(keep).take(LONGEST).collect();
    if name.trim_matches(['.', '-']).is_empty() { "all".to_owned() } else { name }
}

/// A directory that this process writes to, and no other until this is dropped.
pub struct Claim {
    _locked: Option<File>,
}

impl Claim {
    /// Claims a directory, which is made if it is not there. The second process that wants it is told.
    pub fn take(directory: &Path) -> Result<Self, Error> {
        Self::lock(directory, FlockOperation::NonBlockingLockExclusive)
    }

    /// Claims a directory together with others that do the same: parts of a sweep.
    pub fn share(directory: &Path) -> Result<Self, Error> {
        Self::lock(directory, FlockOperation::NonBlockingLockShared)
    }

    fn lock(directory: &Path, how: FlockOperation) -> Result<Self, Error> {
        let failure = |error: &std::io::Error| cannot_write(&directory.display().to_string(), error);
        std::fs::create_dir_all(directory).map_err(|error| failure(&error))?;
        let file = File::open(directory).map_err(|error| failure(&error))?;
        match rustix::fs::flock(&file, how) {
            Ok(()) => Ok(Self { _locked: Some(file) }),
            Err(rustix::io::Errno::WOULDBLOCK) => {
                let problem = "another forebay is writing to this directory".to_owned();
                Err(Error::Directory { path: directory.to_owned(), problem, way_out: WayOut::Wait })
            }
            // A file system without locks: there is nobody to ask.
            Err(_) => Ok(Self { _locked: None }),
        }
    }
}

/// Makes sure, before anything long begins, that results can be written, and over nothing else.
pub fn prepare(directory: &Path, kind: Kind, inputs: &Inputs, force: bool) -> Result<Claim, Error> {
    check(directory, kind, force)?;
    if kind == Kind::Run {
        keep_inputs(directory, inputs)?;
    }
    let claim = Claim::take(directory)?;
    let trial = tempfile::Builder::new().prefix(".forebay-").tempfile_in(directory);
    trial.map_err(|error| cannot_write(&directory.display().to_string(), &error))?;
    Ok(claim)
}

/// Refuses to write a run over what it is made from.
pub fn keep_inputs(directory: &Path, inputs: &Inputs) -> Result<(), Error> {
    if !directory.exists() {
        return Ok(());
    }
    match file_names().find(|name| inputs.is_read(&directory.join(name))) {
        Some(name) if name == SCENARIO => {
            Err(refusal(directory, "the scenario itself is here and would be overwritten", false))
        }
        Some(name) => {
            let problem = format!("{name} here is read by the scenario and would be overwritten");
            Err(refusal(directory, &problem, false))
        }
        None => Ok(()),
    }
}

/// Refuses to write a run over the result of another scenario or version.
pub fn keep_others(directory: &Path, resolved: &str, force: bool) -> Result<(), Error> {
    match other_result(directory, resolved).filter(|_| !force) {
        Some(problem) => Err(refusal(directory, &problem, true)),
        None => Ok(()),
    }
}

/// How the result in a directory is another than that of this scenario by this version.
fn other_result(directory: &Path, resolved: &str) -> Option<String> {
    if !is_run(directory) {
        return None;
    }
    if let Ok(run) = read_run(directory) {
        let version = &run.summary.run.version;
        if version != env!("CARGO_PKG_VERSION") {
            return Some(format!("this is the result of another version, {version}"));
        }
    }
    // Of a result that is damaged, the scenario says enough.
    let there = std::fs::read_to_string(directory.join(SCENARIO)).ok().filter(|there| there != resolved)?;
    let differ = |(there, here): &(&str, &str)| there != here;
    let line = there.lines().zip(resolved.lines()).find(differ);
    let how = line.map_or_else(String::new, |(there, here)| format!(": it has `{there}`, this has `{here}`"));
    Some(format!("this is the result of another scenario{how}"))
}

fn refusal(directory: &Path, problem: &str, can_be_forced: bool) -> Error {
    let way_out = if can_be_forced { WayOut::Replace } else { WayOut::Another };
    Error::Directory { path: directory.to_owned(), problem: problem.to_owned(), way_out }
}

/// Refuses to write results over something else.
pub fn check(directory: &Path, kind: Kind, force: bool) -> Result<(), Error> {
    if !directory.exists() {
        return Ok(());
    }
    if !directory.is_dir() {
        return Err(refusal(directory, "this is not a directory", false));
    }
    let (run, sweep) = (directory.join(SUMMARY).exists(), directory.join(SWEEP).exists());
    match kind {
        Kind::Run if sweep => Err(refusal(directory, "these are the results of a sweep", false)),
        Kind::Sweep if run => Err(refusal(directory, "these are the results of a run", false)),
        Kind::Sweep if directory.join(RUNS).is_dir() => Ok(()),
        _ if force || run || sweep || is_ours(directory, kind) => Ok(()),
        _ => Err(refusal(directory, "there is something else in this directory", true)),
    }
}

/// Whether all that is in a directory is what we write: an attempt that was not finished, or nothing.
fn is_ours(directory: &Path, kind: Kind) -> bool {
    let Ok(entries) = std::fs::read_dir(directory) else { return false };
    let names: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| !is_temporary(path)).collect();
    // A scenario alone is the user's: ours are written after the tables.
    let tables = names.iter().any(|path| path.extension().is_some_and(|end| end == "parquet"));
    let of_a_run = |path: &PathBuf| {
        let known = |name: &str| name == PAGE || name == CAPTURE || (name == SCENARIO && tables);
        let table = path.extension().is_some_and(|end| end == "parquet" || end == "csv");
        path.is_file() && (table && tables || path.file_name().and_then(|name| name.to_str()).is_some_and(known))
    };
    match kind {
        Kind::Run => names.iter().all(of_a_run),
        // Points, and in them seeds.
        Kind::Sweep => names.iter().all(|point| {
            let seeds = std::fs::read_dir(point).into_iter().flatten().flatten().map(|entry| entry.path());
            let is_seed = |path: PathBuf| {
                let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                let numbered = name.strip_prefix("seed").is_some_and(|number| number.parse::<u64>().is_ok());
                numbered && check(&path, Kind::Run, false).is_ok()
            };
            point.is_dir() && seeds.into_iter().all(is_seed)
        }),
    }
}

/// Left behind by a process that was killed.
fn is_temporary(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".forebay-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_different() {
        let names = point_directories(["DT alpha=0.5", "DT/alpha=0.5", "", "..", "name=\"x\""]);
        assert_eq!(names, ["DT-alpha=0.5", "DT-alpha=0.5-2", "all", "all-2", "name=x"]);
        let names = point_directories(["alpha=[8.0,1.0]", "alpha=[8.0, 1.0]", "ABM, hosts mark"]);
        assert_eq!(names, ["alpha=8.0,1.0", "alpha=8.0,1.0-2", "ABM--hosts-mark"]);
        assert_eq!(point_directories(["runs"]), ["runs-2"]);
        let sets = [("policy.kind".to_owned(), "\"abm\"".to_owned()), ("seed".to_owned(), "3".to_owned())];
        assert_eq!(default_directory("net", &sets, "seed3"), Path::new("results/net-policy.kind=abm-seed3"));
        let sets = [("policy.alpha".to_owned(), "[8.0,1.0]".to_owned()), ("name".to_owned(), "net".to_owned())];
        assert_eq!(default_directory("net", &sets, "seed1"), Path::new("results/net-policy.alpha=8.0,1.0-seed1"));
    }

    #[test]
    fn what_is_not_ours_is_left_alone() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        let make = |path: &str| {
            std::fs::create_dir_all(at(path).parent().unwrap()).unwrap();
            std::fs::write(at(path), "").unwrap();
        };
        for path in [
            "run/summary.json",
            "run/notes",
            "half/flows.parquet",
            "half/scenario.toml",
            "half/.forebay-1",
            "mine/scenario.toml",
            "data/flows.csv",
            "swept/sweep.parquet",
            "begun/a/seed1/flows.parquet",
            "begun/b/seed2/summary.json",
            "shards/runs/ab/cd/summary.json",
            "shards/slurm/1_1.log",
            "other/a/seed1/notes",
            "others/a/notes",
        ] {
            make(path);
        }
        std::fs::create_dir(at("empty")).unwrap();
        let may = |name: &str, kind| check(&at(name), kind, false).is_ok();
        for (name, run, sweep) in [
            ("none", true, true),
            ("empty", true, true),
            ("run", true, false),
            ("half", true, false),
            ("mine", false, false),
            ("data", false, false),
            ("swept", false, true),
            ("begun", false, true),
            ("shards", false, true),
            ("other", false, false),
            ("others", false, false),
            ("run/notes", false, false),
        ] {
            assert_eq!((may(name, Kind::Run), may(name, Kind::Sweep)), (run, sweep), "{name}");
        }
    }
}
