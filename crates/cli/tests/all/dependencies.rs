//! What others have written that Forebay is built from: under which licences, from where, and each in one version.
//!
//! This is what `cargo deny check licenses bans sources` checks. Building cargo-deny would take longer than all of
//! Forebay's own tests of this kind; advisories need its database, which is not part of this project: run `cargo deny
//! check advisories` where the network has it.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Licences that ask for no more than a notice.
const LICENCES: [&str; 10] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CC0-1.0",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Crates in two versions, and who needs the older one.
const TWICE: [(&str, &str); 3] = [
    ("getrandom", "ahash of parquet, through const-random; it only runs while building"),
    ("rand_core", "rand of proptest"),
    ("syn", "zerocopy-derive of parquet; it only runs while building"),
];

const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// The packages that a build for Linux can need.
fn packages() -> Vec<Value> {
    let mut command = Command::new(env!("CARGO"));
    command.args(["metadata", "--format-version", "1", "--locked", "--filter-platform", "x86_64-unknown-linux-gnu"]);
    let output = command.current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let Value::Array(packages) = metadata["packages"].take() else { panic!("no packages") };
    packages
}

/// Whether one licence of every part that is bound together by AND is among those.
fn is_allowed(expression: &str) -> bool {
    let expression = expression.replace('/', " OR ");
    expression
        .split(" AND ")
        .all(|part| part.trim_matches(['(', ')', ' ']).split(" OR ").any(|licence| LICENCES.contains(&licence.trim())))
}

#[test]
fn licences_sources_and_versions_are_known() {
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in packages() {
        let text = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
        let (name, version) = (text("name"), text("version"));
        assert!(is_allowed(&text("license")), "{name} {version}: licence {}", package["license"]);
        assert!(package["source"].is_null() || text("source") == CRATES_IO, "{name} {version}: {}", package["source"]);
        versions.entry(name).or_default().insert(version);
    }
    assert!(versions.len() > 100, "this looks at all of them");
    let twice: Vec<_> = versions.iter().filter(|(_, versions)| versions.len() > 1).map(|(name, _)| name).collect();
    assert_eq!(twice, TWICE.map(|(name, _)| name), "crates that are built in several versions: {versions:?}");
}

#[test]
fn licences_are_read_as_they_are_written() {
    for expression in ["MIT", "Unlicense/MIT", "LGPL-2.1 OR MIT", "(GPL-3.0 OR Apache-2.0) AND Unicode-3.0"] {
        assert!(is_allowed(expression), "{expression}");
    }
    for expression in ["", "GPL-3.0", "MIT AND GPL-3.0", "(MIT OR Apache-2.0) AND CC-BY-NC-4.0"] {
        assert!(!is_allowed(expression), "{expression}");
    }
}
