//! `forebay demo`, the help and wrong arguments.

use std::path::Path;
use std::process::{Command, Output};

fn forebay(directory: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forebay"));
    command.args(args).current_dir(directory).env_remove("COLUMNS").output().unwrap()
}

fn printed(directory: &Path, args: &[&str]) -> String {
    let output = forebay(directory, args);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn assert_snapshot(name: &str, text: &str) {
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(name, text) });
}

/// The cells of the first line that starts with a word.
fn cells<'a>(text: &'a str, first: &str) -> Vec<&'a str> {
    let line = text.lines().find(|line| line.starts_with(&format!("{first} ")));
    line.unwrap_or_else(|| panic!("no line {first} in\n{text}"))
        .split("  ")
        .map(str::trim)
        .filter(|cell| !cell.is_empty())
        .collect()
}

#[test]
fn the_demo_shows_every_policy() {
    let here = Path::new(".");
    let text = printed(here, &["demo"]);
    for policy in ["cs", "cp", "dt", "fb", "abm", "fab", "ib", "pushout", "occamy:alpha=8"] {
        assert_eq!(cells(&text, policy).len(), 7 + 1, "the row of {policy}");
        let chart = text.lines().skip_while(|line| !line.starts_with(&format!("{policy}: "))).skip(1).take(4);
        let curves: Vec<&str> = chart.collect();
        assert!(curves.len() == 4 && curves.iter().all(|line| line.ends_with('│')), "the curves of {policy}");
        assert!(curves.concat().contains('█') || curves.concat().contains('▂'), "the curves of {policy} are flat");
    }
    assert_eq!(printed(here, &["demo"]), text, "the demo is the same every time");
    assert_snapshot("demo", &text);
}

#[test]
fn the_demo_as_files_agrees_with_the_demo() {
    let directory = tempfile::tempdir().unwrap();
    let told = printed(directory.path(), &["demo", "--write", "new/demo"]);
    assert_eq!(told, "wrote new/demo/switch.toml and new/demo/arrivals.csv\n");
    assert_eq!(directory.path().join("new/demo").read_dir().unwrap().count(), 2, "only these two");
    let files = ["new/demo/switch.toml", "new/demo/arrivals.csv"];
    let summary = printed(directory.path(), &["replay", files[0], files[1], "--summary"]);
    let demo = printed(directory.path(), &["demo"]);

    let counts = |row: &str| {
        let cells = cells(&summary, row);
        let count = |cell: usize| cells[cell].parse::<u64>().unwrap();
        (count(1), count(4))
    };
    let ((burst, burst_lost), (all, all_lost)) = (counts("port 3 queue 0"), counts("all"));
    let dt = cells(&demo, "dt");
    assert_eq!(dt[2], format!("{burst_lost} of {burst}"), "{summary}");
    let others_lost = 100.0 * (all_lost - burst_lost) as f64 / (all - burst) as f64;
    assert_eq!(dt[5], format!("{others_lost:.2}%"), "{summary}");
    assert!(summary.contains(&format!("({})", dt[7])), "the peak of {} in\n{summary}", dt[7]);
}

#[test]
fn the_demo_needs_a_directory_that_it_can_make() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("file"), "").unwrap();
    let output = forebay(directory.path(), &["demo", "--write", "file"]);
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.starts_with("error: file: cannot write it") && error.contains("\n  help: "), "{error}");
}

#[test]
fn help() {
    for (name, args) in
        [("help", &["--help"][..]), ("help_replay", &["replay", "--help"]), ("help_demo", &["demo", "--help"])]
    {
        assert_snapshot(name, &printed(Path::new("."), args));
    }
}

#[test]
fn wrong_arguments_exit_with_2() {
    let wrong: [&[&str]; 8] = [
        &[],
        &["repaly"],
        &["--verbose"],
        &["replay"],
        &["replay", "switch.toml"],
        &["replay", "switch.toml", "arrivals.csv", "--every", "10us"],
        &["replay", "switch.toml", "arrivals.csv", "--timeline", "timeline.csv", "--every", "10um"],
        &["replay", "switch.toml", "arrivals.csv", "--compare", "dt", "-o", "out.csv"],
    ];
    for args in wrong {
        let output = forebay(Path::new("."), args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(output.stdout.is_empty(), "{args:?}");
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains("Usage: ") || error.contains("--help"), "{args:?} should say how\n{error}");
    }
}
