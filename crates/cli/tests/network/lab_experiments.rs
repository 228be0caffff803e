//! The experiments of `lab/`, at their smallest scale: each runs to its end, accounts for every packet, and shows what
//! it expects.
//!
//! These need root, iproute2, ethtool, iperf3 and memcached, which `./test` installs.

use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn experiments() -> Vec<PathBuf> {
    let files = Path::new(ROOT).join("lab").read_dir().unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|end| end == "toml")).collect();
    files.sort();
    files
}

/// Directories of runs below a directory.
fn runs(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in directory.read_dir().unwrap().map(|entry| entry.unwrap().path()) {
        if entry.join("lab.json").is_file() {
            found.push(entry);
        } else if entry.is_dir() {
            found.extend(runs(&entry));
        }
    }
    found
}

fn json(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What a short run has shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    /// All that the experiment expects.
    All,
    /// Not all of it.
    NotAll,
    /// Nothing against it, but the machine was away for too long for some of it.
    Undecided,
}

/// Runs an experiment; what it said, and whether it had no problems and all that it expects has come out.
fn run(file: &Path) -> (String, Shown) {
    let out = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_forebay"))
        // Runs are repeated only where they would not be judged.
        .args(["lab", "--prefix", "fbte", "run", "--quick", "-q", "--set", "lab.stall_limit=100ms", "--out"])
        .arg(out.path().join("out"))
        .arg(file)
        .output()
        .unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}: {said}", file.display());
    let runs = runs(&out.path().join("out"));
    assert!(runs.len() >= 2, "{said}");
    let mut sound = true;
    for run in runs {
        sound &= json(&run.join("lab.json"))["problems"] == Value::Array(vec![]);
        assert!(run.join("summary.json").is_file() && run.join("flows.parquet").is_file());
    }
    let undecided = said.contains("cannot be told") && said.contains("the machine was away");
    let shown = match said.contains("does not hold") || !sound {
        false if undecided => Shown::Undecided,
        false if said.contains("holds ") => Shown::All,
        _ => Shown::NotAll,
    };
    (said, shown)
}

/// Timeouts of the kernel's TCP are rare and long, and the machine may be away at any time: what does not show in a
/// short run is tried twice more. Where the machine was away too often to tell, in two tries of the three at least,
/// that is said where it is seen, and nothing has failed.
fn shows_what_it_expects(name: &str) {
    let file = Path::new(ROOT).join("lab").join(name);
    let tries: Vec<(String, Shown)> = (0..3)
        .scan(false, |over, _| {
            let result = (!*over).then(|| run(&file))?;
            *over = result.1 == Shown::All;
            Some(result)
        })
        .collect();
    if tries.iter().any(|(_, shown)| *shown == Shown::All) {
        return;
    }
    let undecided: Vec<&String> =
        tries.iter().filter(|(_, shown)| *shown == Shown::Undecided).map(|(said, _)| said).collect();
    assert!(undecided.len() > 1, "{name}: {}", tries.iter().map(|(said, _)| said.as_str()).collect::<String>());
    let said = undecided[0];
    // Not by a macro: what those print is not shown when a test passes.
    let _ = writeln!(std::io::stderr(), "{name}: NOT CHECKED, the machine was away for too long:\n{said}");
}

#[test]
fn the_experiments_show_what_they_expect() {
    let _alone = crate::alone();
    let files = experiments();
    assert!(files.len() >= 8, "{files:?}");
    for file in files {
        shows_what_it_expects(&file.file_name().unwrap().to_string_lossy());
    }
}
