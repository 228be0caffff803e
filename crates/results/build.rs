//! A fingerprint of the code that results depend on: those of an older build of the same version are not taken for ours.

use std::fs;
use std::path::{Path, PathBuf};

/// What decides what is in a result: the core, the simulator and what its runs are boiled down with.
const SOURCES: [&str; 8] = [
    "tm/src",
    "settings/src",
    "script/src",
    "pisa/src",
    "pisa/programs",
    "sim/src",
    "sim/distributions",
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
    // FNV-1a over names and contents, with a zero byte behind each.
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for file in &files {
        let name = file.strip_prefix(crates).unwrap_or(file).to_string_lossy().into_owned();
        // Tests decide no number.
        if name.contains("/tests") || name.ends_with("/testing.rs") || name.contains("/snapshots/") {
            continue;
        }
        let contents = fs::read(file).unwrap_or_default();
        for byte in name.bytes().chain([0]).chain(contents).chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    println!("cargo::rustc-env=FOREBAY_BUILD={hash:016x}");
}

fn files_below(directory: &Path, all: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { files_below(&path, all) } else { all.push(path) }
    }
}
