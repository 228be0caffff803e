//! A fingerprint of the code that results depend on: those of an older build of the same version are not taken for
//! ours.

#[allow(dead_code, unreachable_pub)]
#[path = "src/fingerprint.rs"]
mod fingerprint;

use fingerprint::Fingerprint;
use std::fs;
use std::path::{Path, PathBuf};

/// What decides what is in a result: the core, the simulator and what its runs are boiled down with.
const SOURCES: [&str; 11] = [
    "tm/src",
    "settings/src",
    "script/src",
    "capture/src",
    "pisa/src",
    "pisa/programs",
    "sim/src",
    "sim/distributions",
    "sonic/src",
    "analysis/src",
    "results/src",
];

fn main() {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let crates = root.parent().expect("crates/results has a parent");
    let mut files = Vec::new();
    for name in SOURCES {
        files_below(&crates.join(name), &mut files);
        println!("cargo::rerun-if-changed={}", crates.join(name).display());
    }
    files.sort();
    let mut hash = Fingerprint::new();
    for file in &files {
        let name = file.strip_prefix(crates).unwrap_or(file).to_string_lossy().into_owned();
        // Tests decide no number.
        if name.contains("/tests") || name.ends_with("/testing.rs") || name.contains("/snapshots/") {
            continue;
        }
        hash.add(&name);
        hash.add_bytes(&fs::read(file).unwrap_or_default());
    }
    println!("cargo::rustc-env=FOREBAY_BUILD={:016x}", hash.0 as u64);
}

fn files_below(directory: &Path, all: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { files_below(&path, all) } else { all.push(path) }
    }
}
