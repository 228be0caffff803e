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
