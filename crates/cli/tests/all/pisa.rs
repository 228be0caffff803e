//! `forebay pisa`: programs listed, shown and checked.

use std::path::Path;
use std::process::{Command, Output};

fn forebay(args: &[&str]) -> Output {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../pisa");
    Command::new(env!("CARGO_BIN_EXE_forebay")).args(args).current_dir(programs).env_remove("COLUMNS").output().unwrap()
}

fn printed(args: &[&str]) -> String {
    let output = forebay(args);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The errors of a command that must fail.
fn refused(args: &[&str]) -> String {
    let output = forebay(args);
    assert_eq!(output.status.code(), Some(2), "{args:?}");
    assert!(output.stdout.is_empty(), "{args:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn every_program_that_is_listed_is_shown() {
    let list = printed(&["pisa", "list"]);
    let names: Vec<&str> = list.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.len() >= 9 && names.contains(&"trim"), "{list}");
    for name in names {
        let text = printed(&["pisa", "show", name]);
        assert!(text.starts_with(&format!("{name} on tofino")), "{text}");
        assert!(text.contains("\ningress\n") && text.contains("\negress\n") && text.contains("\nPHV bits "), "{text}");
    }
}

#[test]
fn a_program_is_shown_stage_by_stage() {
    let text = printed(&["pisa", "show", "tests/shown.pisa", "--target", "tofino2", "--constant", "ports=64"]);
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(text) });
}

#[test]
fn a_sound_program_is_checked() {
    let text = printed(&["pisa", "check", "tests/shown.pisa", "--constant", "ports=64"]);
    assert!(text.starts_with("tests/shown.pisa: shown keeps to the rules of tofino\n\ningress stages "), "{text}");
}

#[test]
fn errors_say_where_and_what() {
    let errors = refused(&["pisa", "check", "tests/refused/several-errors.pisa"]);
    assert_eq!(errors.lines().count(), 4, "{errors}");
    assert!(
        errors.starts_with("tests/refused/several-errors.pisa:9: stage 2 of ingress: r is used after its stage"),
        "{errors}"
    );
    let errors = refused(&["pisa", "check", "tests/shown.pisa"]);
    assert!(errors.contains("shown.pisa:3: the constant ports is not given; "), "{errors}");
    for (args, says) in [
        (&["pisa", "show", "trm"][..], "error: trm: there is no such file or program\n  help: did you mean trim?"),
        (&["pisa", "check", "none.pisa"], "error: none.pisa: there is no such file or program\n  help: give a file"),
        (&["pisa", "show", "trim", "--target", "trident"], "there is no such chip\n  help: write tofino or tofino2"),
        (&["pisa", "show", "trim-depth", "--target", "tofino"], "tofino does not tell programs at ingress"),
        (
            &["pisa", "check", "tests/shown.pisa", "--constant", "port=1"],
            "error: --constant port: shown has no such constant\n  help: did you mean ports?",
        ),
        (
            &["pisa", "check", "tests/shown.pisa", "--constant", "ports"],
            "write a name and a whole number, such as ports=64",
        ),
    ] {
        let error = refused(args);
        assert!(error.contains(says), "{args:?}\n{error}");
    }
}

/// Drops all data for one port.
const PROGRAM: &str =
    "program own\nconstant ports\nconstant lost\n\ningress\nstage 0\n  drop when kind == DATA and out_port == lost\n";

const SCENARIO: &str = r#"
duration = "20us"
[topology]
kind = "single"
hosts = 4
rate = "10Gbps"
delay = "1us"
[switch]
kind = "tofino"
program = "programs/own.pisa"
buffer = "1MB"
queues = 2
queue_capacity = 1
[policy]
kind = "cs"
[scheduler]
kind = "strict"
[chip.options.constants]
lost = 2
[transport.ndp]
[[workload]]
kind = "permutation"
bytes = 3000
"#;

/// The path is seen from the directory of the scenario, wherever the command is given.
#[test]
fn a_scenario_has_a_program_by_its_path() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).display().to_string();
    std::fs::create_dir(at("programs")).unwrap();
    std::fs::write(at("s.toml"), SCENARIO).unwrap();
    std::fs::write(at("programs/own.pisa"), PROGRAM).unwrap();
    let (scenario, out, bad) = (at("s.toml"), at("out"), at("bad"));
    let text = printed(&["run", &scenario, "--out", &out]);
    // Each host sends a flow, and that to host 2 never arrives.
    assert!(text.contains("permutation  all       4     3 "), "{text}");

    for command in [&["check", &scenario][..], &["run", &scenario, "--out", &bad]] {
        let said = refused(&[command, &["--set", "switch.program=gone.pisa"]].concat());
        assert!(said.contains("\"switch.program=gone.pisa\": switch.program: there is no file "), "{said}");
    }
    std::fs::write(at("s.toml"), SCENARIO.replace("own.pisa", "gone.pisa")).unwrap();
    let said = refused(&["run", &scenario, "--out", &bad]);
    assert!(
        said.contains("s.toml:10: switch.program: there is no file ") && said.contains("programs/gone.pisa\n"),
        "{said}"
    );

    std::fs::write(at("s.toml"), SCENARIO).unwrap();
    std::fs::write(at("programs/own.pisa"), PROGRAM.replace("kind ==", "kynd ==")).unwrap();
    let said = refused(&["run", &scenario, "--out", &bad]);
    assert!(
        said.contains("s.toml:10: switch.program: ")
            && said.contains("programs/own.pisa:7: stage 0 of ingress: kynd is unknown; did you mean kind?"),
        "{said}"
    );
    assert!(!Path::new(&bad).exists(), "nothing is left of a refused run");
}
