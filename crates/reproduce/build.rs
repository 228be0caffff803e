//! Fingerprints of the code that numbers depend on: results that other code has made are not taken for ours.
//!
//! `ENGINE`: the core, the simulator, and what every run is boiled down with. `MEASURES`: for each paper, its own files that make
//! numbers from runs, called `measure*.rs`. Claims and panels are in neither: they are made anew each time.

use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let crates = root.parent().expect("crates/reproduce has a parent");
    let mut engine: Vec<PathBuf> = Vec::new();
    for name in ["tm", "settings", "sim", "analysis"] {
        files_below(&crates.join(name).join("src"), &mut engine);
    }
    for name in ["pisa/src", "pisa/programs", "sim/distributions"] {
        files_below(&crates.join(name), &mut engine);
    }
    for name in ["summary/build.rs", "stats.rs", "buckets.rs"] {
        engine.push(crates.join("results/src").join(name));
    }
    for name in
        ["metrics.rs", "job.rs", "papers/measure_fluid.rs", "papers/measure_twin.rs", "papers/measure_resources.rs"]
    {
        engine.push(root.join("src").join(name));
    }
    let mut text =
        format!("/// Of the code that every run depends on.\nconst ENGINE: &str = \"{:016x}\";\n", hash(&engine));
    text += "/// By paper, of its own measures.\nconst MEASURES: &[(&str, &str)] = &[\n";
    let mut papers: Vec<PathBuf> =
        fs::read_dir(root.join("src/papers")).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    papers.sort();
    for paper in papers.iter().filter(|path| path.is_dir()) {
        let mut own = Vec::new();
        files_below(paper, &mut own);
        own.retain(|path| name_of(path).starts_with("measure"));
        text += &format!("    (\"{}\", \"{:016x}\"),\n", name_of(paper), hash(&own));
    }
    text += "];\n";
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("fingerprints.rs"), text).expect("the build directory can be written");
    println!("cargo::rerun-if-changed={}", root.join("src").display());
    for name in ["tm/src", "settings/src", "pisa", "sim", "analysis/src", "results/src"] {
        println!("cargo::rerun-if-changed={}", crates.join(name).display());
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

fn files_below(directory: &Path, all: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files_below(&path, all);
        } else {
            all.push(path);
        }
    }
}

/// FNV-1a over names and contents, in the order of the names.
fn hash(files: &[PathBuf]) -> u64 {
    let mut files = files.to_vec();
    files.sort();
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut add = |bytes: &[u8]| {
        for byte in bytes {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for file in &files {
        // Tests decide no number.
        if name_of(file).contains("test") {
            continue;
        }
        add(name_of(file).as_bytes());
        add(&fs::read(file).unwrap_or_default());
    }
    hash
}
