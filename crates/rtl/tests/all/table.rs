//! `docs/rtl.json` is what Yosys and the models say, and `docs/rtl.md` is made from it.

use forebay_rtl::accuracy;
use forebay_rtl::page::{self, Results};
use forebay_rtl::units::{UNITS, Unit};
use forebay_rtl::{sources, tools, yosys};
use serde_json::Value;

const HELP: &str = "make it again: cargo run --release -- rtl --docs docs";

fn docs(name: &str) -> String {
    let path = format!("{}/../../docs/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}; {HELP}"))
}

fn committed() -> Results {
    let value: Value = serde_json::from_str(&docs("rtl.json")).expect("JSON");
    Results::from_json(value, "docs/rtl.json").unwrap_or_else(|problem| panic!("{problem}"))
}

#[test]
fn the_page_is_made_from_the_numbers() {
    assert!(committed().to_markdown() == docs("rtl.md"), "docs/rtl.md is not what docs/rtl.json gives; {HELP}");
}

#[test]
fn the_circuits_lint_clean() {
    let directory = tempfile::tempdir().expect("a directory");
    sources::write(directory.path()).expect("written");
    page::lint(directory.path()).unwrap_or_else(|problem| panic!("{problem}"));
}

/// Synthesizes what is quick; `FOREBAY_RTL_ALL` everything, which takes some minutes.
#[test]
fn the_costs_are_what_yosys_says() {
    let committed = committed();
    let directory = tempfile::tempdir().expect("a directory");
    sources::write(directory.path()).expect("written");
    let all = std::env::var_os("FOREBAY_RTL_ALL").is_some();
    let units: Vec<&Unit> = UNITS.iter().filter(|unit| all || unit.quick).collect();
    let costs =
        yosys::synthesize_all(&units, directory.path(), None, &|_| ()).unwrap_or_else(|problem| panic!("{problem}"));
    assert_eq!(costs.len(), units.len());
    let installed = tools::yosys_version().expect("yosys");
    let is_same_version = installed == committed.yosys;
    if !is_same_version {
        eprintln!("NOT COMPARED: the table is of {}, installed is {installed}; only looked at", committed.yosys);
    }
    for cost in costs {
        let before = committed.costs.iter().find(|before| before.name == cost.name).expect("same units");
        if is_same_version {
            assert_eq!(cost, *before, "{HELP}");
        } else {
            assert!(cost.luts > 0 && cost.depth > 0, "{cost:?}");
            assert_eq!(cost.flip_flops == 0, before.flip_flops == 0, "{cost:?} {before:?}");
        }
    }
}

#[test]
fn the_accuracy_is_what_the_models_say() {
    let (committed, now) = (committed().accuracy, accuracy::all());
    assert_eq!(now, committed, "{HELP}");
}
