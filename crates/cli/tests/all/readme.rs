//! What the README and the book say is true: their commands run, in order, and print what is shown; their files can be
//! read.

use crate::pages::{blocks, check, read, root};

/// The tutorial, in its order: a page uses files of those before it.
const TUTORIAL: [&str; 5] = [
    "docs/tutorial/switch.md",
    "docs/tutorial/network.md",
    "docs/tutorial/comparison.md",
    "docs/tutorial/own-policy.md",
    "docs/tutorial/live.md",
];

/// Pages that stand alone.
const HOW_TOS: [&str; 6] = [
    "docs/howto/choose-alpha.md",
    "docs/howto/compare-policies.md",
    "docs/howto/sweep.md",
    "docs/howto/live-switch.md",
    "docs/howto/sonic.md",
    "docs/operators.md",
];

#[test]
fn every_command_of_the_readme_runs_and_prints_what_is_shown() {
    let first = blocks("README.md", "sh");
    assert_eq!(first[0], "cargo run --release -- sweep scenarios/compare.toml");
    assert!(first.iter().any(|block| block == "./test"), "{first:?}");
    check(&["README.md"], "sh", "text");
}

#[test]
fn every_command_of_the_tutorial_runs_and_prints_what_is_shown() {
    // What an earlier run of this test, or a reader, has left.
    let _ = std::fs::remove_dir_all(root().join("results/tutorial"));
    check(&TUTORIAL, "sh", "text");
}

#[test]
fn every_command_of_the_how_tos_runs_and_prints_what_is_shown() {
    let _ = std::fs::remove_dir_all(root().join("results/howto"));
    for page in HOW_TOS {
        check(&[page], "sh", "text");
    }
}

/// The pages that these tests run are all that have commands; commands on other pages have tests of their own.
#[test]
fn no_page_of_the_tutorial_or_the_how_tos_is_left_out() {
    for folder in ["docs/tutorial", "docs/howto"] {
        for entry in std::fs::read_dir(root().join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let page = format!("{folder}/{name}");
            let is_run = TUTORIAL.iter().chain(&HOW_TOS).any(|known| *known == page);
            let is_page = name.ends_with(".md");
            assert!(is_run || !is_page || blocks(&page, "sh").is_empty(), "the commands of {page} are not run");
        }
    }
}

/// Files that the tutorial shows are those of the project.
#[test]
fn the_code_of_the_tutorial_is_in_the_project() {
    for (page, fence, file) in [
        ("docs/tutorial/own-policy.md", "rust,ignore", "examples/own-schemes/src/per_port_thresholds.rs"),
        ("docs/tutorial/switch.md", "toml", "crates/cli/src/demo.toml"),
    ] {
        let (blocks, source) = (blocks(page, fence), read(file));
        assert!(!blocks.is_empty(), "{page} shows nothing");
        for line in blocks.iter().flat_map(|block| block.lines()).map(str::trim).filter(|line| *line != "...") {
            assert!(source.contains(line), "{page}: {file} does not have this line: {line}");
        }
    }
}

#[test]
fn the_test_command_is_what_ci_runs() {
    let ci = std::fs::read_to_string(root().join(".ci/run")).unwrap();
    assert!(ci.lines().any(|line| line == "exec ./test"));
    let test = std::fs::read_to_string(root().join("test")).unwrap();
    for step in [
        "cargo fmt --all -- --check",
        "-D warnings",
        "cargo test --quiet --workspace",
        "--bench instructions -- --check",
        "bench --limit",
    ] {
        assert!(test.contains(step), "./test lacks {step}");
    }
}

#[test]
fn the_switch_of_the_readme_can_be_read() {
    let switch = &blocks("README.md", "toml")[0];
    forebay_settings::read_switch("README.md", switch).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn the_scenario_of_the_readme_can_be_read() {
    let scenario = &blocks("README.md", "toml")[1];
    forebay_sim::scenario::Scenario::read("README.md", scenario, &[]).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn every_file_that_the_readme_links_to_is_there() {
    let readme = read("README.md");
    let links: Vec<&str> = readme.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()).collect();
    assert!(links.len() > 15, "{links:?}");
    for name in links.iter().chain(&["LICENSE-MIT", "LICENSE-APACHE"]) {
        assert!(readme.contains(name) && root().join(name).exists(), "{name}");
    }
}
