//! The README's commands are true: they run, in order, from the root of the project.

use std::path::Path;
use std::process::Command;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn readme() -> String {
    std::fs::read_to_string(root().join("README.md")).unwrap()
}

/// The lines of the blocks of a language.
fn blocks(language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    readme().split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

fn run(command: &str) -> String {
    let output = Command::new("bash").args(["-c", command]).current_dir(root()).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_command_runs_and_prints_what_is_shown() {
    let commands: Vec<String> =
        blocks("sh").iter().flat_map(|block| block.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
    assert!(
        commands.len() > 5
            && commands[0] == "cargo run --release -- sweep scenarios/compare.toml"
            && commands.iter().any(|command| command == "./test"),
        "{commands:?}"
    );
    let mut printed = String::new();
    for command in &commands {
        // The test command runs this very test: what it does is checked below.
        if command != "./test" {
            printed.push_str(&run(command));
        }
    }
    for shown in blocks("text") {
        for line in shown.lines().filter(|line| !line.is_empty()) {
            assert!(printed.lines().any(|known| known == line), "nothing prints this line of the README: {line}");
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
    let switch = &blocks("toml")[1];
    forebay_settings::read_switch("README.md", switch).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn the_scenario_of_the_readme_can_be_read() {
    let scenario = &blocks("toml")[0];
    forebay_sim::scenario::Scenario::read("README.md", scenario, &[]).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn every_file_it_names_is_there() {
    for name in [
        "docs/scenario.md",
        "docs/results.md",
        "docs/peers.md",
        "docs/switch.md",
        "docs/findings.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "LICENSE-MIT",
        "LICENSE-APACHE",
        "fuzz",
    ] {
        assert!(readme().contains(name) && root().join(name).exists(), "{name}");
    }
}
