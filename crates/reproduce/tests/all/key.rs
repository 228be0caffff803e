//! What is kept of finished runs is taken for ours only if nothing that can change a number has changed.

#[path = "../../fingerprint.rs"]
#[allow(dead_code)]
mod fingerprint;

use fingerprint::{engine_files, files_below, hash, measure_files, name_of};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// All files in some key.
fn keyed() -> BTreeSet<PathBuf> {
    let crates = crates();
    let mut all: BTreeSet<PathBuf> = engine_files(&crates).into_iter().collect();
    for entry in std::fs::read_dir(crates.join("reproduce/src/papers")).unwrap() {
        all.extend(measure_files(&entry.unwrap().path()));
    }
    all
}

/// The crates of this project that a crate depends on, with their own.
fn dependencies(name: &str, all: &mut BTreeSet<String>) {
    let manifest = std::fs::read_to_string(crates().join(name).join("Cargo.toml")).unwrap();
    let of_runs = manifest.split("[dev-dependencies]").next().unwrap();
    for line in of_runs.lines() {
        let Some(own) = line.strip_prefix("forebay-").and_then(|rest| rest.split(['.', ' ', '=']).next()) else {
            continue;
        };
        // It decides when a run is made and where its result is kept, not what is in it.
        if own == "runner" {
            continue;
        }
        if all.insert(own.to_owned()) {
            dependencies(own, all);
        }
    }
}

#[test]
fn every_source_file_that_can_change_a_number_is_in_the_key() {
    let (crates, keyed) = (crates(), keyed());
    let mut all = BTreeSet::new();
    dependencies("reproduce", &mut all);
    assert!(all.contains("sim") && all.contains("results"), "{all:?}");
    for name in all {
        let mut files = Vec::new();
        files_below(&crates.join(&name).join("src"), &mut files);
        for file in files.iter().filter(|file| file.extension().is_some_and(|end| end == "rs")) {
            let is_test = name_of(file) == "tests.rs" || file.components().any(|part| part.as_os_str() == "tests");
            assert!(is_test || keyed.contains(file), "{} is in no key", file.display());
        }
    }
    // Of this crate: whatever sets a number of a run.
    let mut own = Vec::new();
    files_below(&crates.join("reproduce/src"), &mut own);
    for file in own {
        let text = std::fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        let measures = ["&mut Metrics", "Result<Metrics, String>"].iter().any(|sign| code.contains(sign));
        // What these say is a function of the numbers, or carries them.
        let carries = ["figure.rs", "record.rs"].contains(&name_of(&file).as_str());
        assert!(!measures || carries || keyed.contains(&file), "{} is in no key", file.display());
    }
    for name in ["fb/measure_testbed.rs", "aifo/measure_table1.rs"] {
        assert!(keyed.contains(&crates.join("reproduce/src/papers").join(name)), "{name}");
    }
}

#[test]
fn names_and_contents_change_the_key() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    let write = |name: &str, text: &str| {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let key = || hash(root, &engine_files(root));
    write("results/src/summary.rs", "1");
    let first = key();
    write("results/src/summary.rs", "2");
    let second = key();
    assert_ne!(first, second);
    write("sim/src/latest.rs", "");
    let third = key();
    assert_ne!(second, third, "a name with \"test\" in it counts");
    write("sim/src/host/tests.rs", "#[test] fn x() {}");
    write("results/src/snapshots/a.snap", "x");
    assert_eq!(key(), third, "unit tests and snapshots do not");
}
