// Which files the numbers of a run depend on, and a hash over them. Shared by the build script and a test.

#[allow(dead_code, unreachable_pub)]
#[path = "../results/src/fingerprint.rs"]
mod of_results;

use of_results::Fingerprint;
use std::fs;
use std::path::{Path, PathBuf};

/// Crates whose sources every run depends on.
pub(crate) const ENGINE_CRATES: [&str; 9] =
    ["tm", "settings", "script", "capture", "sim", "sonic", "analysis", "pisa", "results"];
/// Further files of these crates that are compiled in.
const ENGINE_DATA: [&str; 2] = ["pisa/programs", "sim/distributions"];
/// Files of this crate that make numbers of any paper's runs.
const OWN: [&str; 5] =
    ["metrics.rs", "job.rs", "papers/measure_fluid.rs", "papers/measure_twin.rs", "papers/measure_resources.rs"];

/// What every run depends on. `crates` is the directory of all crates.
pub(crate) fn engine_files(crates: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for name in ENGINE_CRATES {
        files_below(&crates.join(name).join("src"), &mut files);
    }
    for name in ENGINE_DATA {
        files_below(&crates.join(name), &mut files);
    }
    files.extend(OWN.map(|name| crates.join("reproduce/src").join(name)));
    files.retain(|path| decides_numbers(path));
    files
}

/// A paper's own files that make numbers from runs.
pub(crate) fn measure_files(paper: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    files_below(paper, &mut files);
    files.retain(|path| name_of(path).starts_with("measure") && decides_numbers(path));
    files
}

/// Modules of unit tests and their snapshots decide no number. Everything else may.
fn decides_numbers(path: &Path) -> bool {
    let inside = |name: &str| path.components().any(|part| part.as_os_str() == name);
    name_of(path) != "tests.rs" && !inside("tests") && !inside("snapshots")
}

pub(crate) fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

pub(crate) fn files_below(directory: &Path, all: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files_below(&path, all);
        } else {
            all.push(path);
        }
    }
}

/// Of names below `root` and contents, in the order of the names.
pub(crate) fn hash(root: &Path, files: &[PathBuf]) -> u64 {
    let mut files = files.to_vec();
    files.sort();
    let mut hash = Fingerprint::new();
    for file in &files {
        hash.add(&file.strip_prefix(root).unwrap_or(file).to_string_lossy());
        hash.add_bytes(&fs::read(file).unwrap_or_default());
    }
    hash.0 as u64
}
