//! One bad program for each rule: what the chip cannot do is refused, with the line, the stage, and a remedy.
//!
//! A case is a file of `refused/`. Comments that begin with `#!` say what it is checked with: `#! target tofino2`,
//! `#! constant ports 64`. The first `#>` comment is a part of the message, so that a snapshot cannot drift into
//! another.

use forebay_pisa::{Program, Target};
use std::path::Path;

/// The errors of a program, as they are printed.
fn errors(file: &str, text: &str) -> Option<String> {
    let mut target = Target::tofino();
    let mut constants = Vec::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("#! ")) {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["target", name] => target = Target::by_name(name).unwrap(),
            ["constant", name, value] => constants.push((name, value.parse().unwrap())),
            _ => panic!("{file}: {line}"),
        }
    }
    let program = match Program::parse(file, text) {
        Ok(program) => program,
        Err(errors) => return Some(errors.to_string()),
    };
    program.check(&target, &constants).err().map(|errors| errors.to_string())
}

#[test]
fn every_rule_refuses_its_program() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/refused");
    let mut files: Vec<_> = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 50, "only {} cases", files.len());
    for path in files {
        let name = path.file_name().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let Some(message) = errors(name, &text) else { panic!("{name} is not refused") };
        let says = text.lines().find_map(|line| line.strip_prefix("#> ")).unwrap_or_else(|| panic!("{name} has no #>"));
        assert!(message.contains(says), "{name} should say {says:?}\n{message}");
        for line in message.lines() {
            let (place, rest) = line.split_once(": ").unwrap();
            let number: usize = place.strip_prefix(&format!("{name}:")).unwrap().parse().unwrap();
            assert!((1..=text.lines().count()).contains(&number), "{line}");
            assert!(rest.contains("; "), "{line} has no remedy");
        }
        insta::with_settings!({ prepend_module_to_snapshot => false, snapshot_path => "snapshots/refused", omit_expression => true }, {
            insta::assert_snapshot!(name, message);
        });
    }
}

#[test]
fn the_longest_programs_are_refused_soon() {
    let whens = format!("program deep\ningress\nstage 0\n{}", "when class == 1\n".repeat(50_000));
    let found: Vec<String> = Program::parse("deep", &whens).unwrap_err().0.iter().map(ToString::to_string).collect();
    let said = |what: &str| found.iter().any(|error| error.contains(what));
    assert!(said("when blocks nest 4 deep") && said("has no end"));
    let statements = format!("program long\nfield a : 8\ningress\nstage 0\n{}", "a = 1\n".repeat(50_000));
    assert!(errors("long", &statements).unwrap().contains("50000 conditions and statements in one pass"));
    let blocks = "when class == 1\nwhen class == 2\nend\nend\n".repeat(2000);
    let message = errors("wide", &format!("program wide\ningress\nstage 0\n{blocks}")).unwrap();
    assert!(message.contains("4000 gateways (comparisons) are needed"), "{message}");
}

/// A file that is no program has an error on every line. The first ones are shown, and the names in it, however long,
/// are compared with none.
#[test]
fn of_many_errors_the_first_are_shown() {
    let text = format!("program p\n{}", format!("{} : 32\n", "x".repeat(10_000)).repeat(1_000));
    let errors = Program::parse("long.pisa", &text).unwrap_err();
    assert!(errors.0.len() > 900);
    let shown = errors.to_string();
    assert_eq!(shown.lines().count(), 21);
    assert!(shown.ends_with(&format!("and {} more", errors.0.len() - 20)));
}
