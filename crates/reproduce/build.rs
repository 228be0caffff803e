//! Fingerprints of the code that numbers depend on: results that other code has made are not taken for ours. And the
//! papers' files of claims, which stand beside the scenarios.
//!
//! `ENGINE`: the core, the simulator, and what every run is boiled down with. `MEASURES`: for each paper, its own files
//! that make numbers from runs, called `measure*.rs`. Claims and panels are in neither: they are made anew each time.

mod fingerprint;

use fingerprint::{engine_files, files_below, hash, measure_files, name_of};
use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let crates = root.parent().expect("crates/reproduce has a parent");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    write(&out.join("fingerprints.rs"), &fingerprints(&root, crates));
    let scenarios = crates.parent().expect("crates has a parent").join("scenarios");
    write(&out.join("claims.rs"), &claims(&root, &scenarios));
    println!("cargo::rerun-if-changed={}", root.join("src").display());
    println!("cargo::rerun-if-changed={}", scenarios.display());
    for name in fingerprint::ENGINE_CRATES {
        println!("cargo::rerun-if-changed={}", crates.join(name).display());
    }
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).expect("the build directory can be written");
}

/// The directories of the papers.
fn papers(root: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(root.join("src/papers")).into_iter().flatten().flatten();
    let mut papers: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    papers.sort();
    papers
}

fn fingerprints(root: &Path, crates: &Path) -> String {
    let engine = hash(crates, &engine_files(crates));
    let mut text = format!("/// Of the code that every run depends on.\nconst ENGINE: &str = \"{engine:016x}\";\n");
    text += "/// By paper, of its own measures.\nconst MEASURES: &[(&str, &str)] = &[\n";
    for paper in papers(root) {
        text += &format!("    (\"{}\", \"{:016x}\"),\n", name_of(&paper), hash(crates, &measure_files(&paper)));
    }
    text + "];\n"
}

/// Every file `scenarios/<paper>/claims/<figure>.toml`.
fn claims(root: &Path, scenarios: &Path) -> String {
    let mut text =
        "/// By paper and figure: the file of its claims.\nconst CLAIMS: &[(&str, &str, &str)] = &[\n".to_owned();
    for paper in papers(root) {
        let name = name_of(&paper);
        let mut files = Vec::new();
        files_below(&scenarios.join(&name).join("claims"), &mut files);
        files.sort();
        for file in files {
            let figure = name_of(&file);
            let figure = figure.trim_end_matches(".toml");
            text += &format!("    ({name:?}, {figure:?}, include_str!({:?})),\n", file.display().to_string());
        }
    }
    text + "];\n"
}
