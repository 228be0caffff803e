//! Random programs: the machine does what a plain reading of the text does, and no text makes the parser panic.

mod generate;
mod naive;

use forebay_pisa::{Checked, MeterConfig, Pass, Pipeline, Program, Target};
use generate::Choices;
use naive::Naive;
use proptest::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A packet with small numbers, so that they meet.
fn pass(choices: &mut Choices, now: &mut u64) -> Pass {
    *now += choices.below(3000) * 1000 + choices.below(5);
    Pass {
        now: *now,
        kind: choices.below(6) as u8,
        in_port: choices.below(6) as u32,
        out_port: choices.below(6) as u32,
        out_queue: choices.below(4) as u32,
        class: choices.below(4) as u32,
        bytes: [64, 65, 1500, 70_000][choices.below(4) as usize],
        rank: [0, 1, 7, 300, u64::from(u32::MAX), 1 << 40][choices.below(6) as usize],
        flow: choices.below(1 << 33),
        random: choices.below(1 << 17),
        depth: choices.below(9),
        enqueued_depth: choices.below(9),
        wait: choices.below(1 << 33),
        headers: [choices.below(1 << 9), choices.below(1 << 32), 0, 0, 0, 0],
    }
}

/// Fills the tables and meters of both in the same way.
fn fill(checked: &mut Checked, naive: &mut Naive<'_>, choices: &mut Choices) {
    for section in [&naive.syntax.ingress, &naive.syntax.egress] {
        for table in &section.tables {
            let limit = |(_, bits): &(String, u64)| 1u64 << bits;
            let results = |choices: &mut Choices| table.results.iter().map(|of| choices.below(limit(of))).collect();
            let default: Vec<u64> = results(choices);
            checked.default_result(&table.name, &default).unwrap();
            naive.defaults.insert(table.name.clone(), default);
            for _ in 0..choices.below(5) {
                let keys: Vec<u64> = table.keys.iter().map(|of| choices.below(limit(of).min(4))).collect();
                let masks: Vec<u64> = table
                    .keys
                    .iter()
                    .map(|of| if table.ternary { choices.below(limit(of).min(8)) } else { limit(of) - 1 })
                    .collect();
                let priority = choices.below(3) as u32;
                let results: Vec<u64> = results(choices);
                let pairs: Vec<(u64, u64)> = keys.iter().copied().zip(masks.iter().copied()).collect();
                if table.ternary {
                    checked.insert_masked(&table.name, &pairs, priority, &results).unwrap();
                } else {
                    checked.insert(&table.name, &keys, &results).unwrap();
                }
                naive.insert(table, pairs, priority, results);
            }
        }
        for meter in &section.meters {
            // Slow enough that what is in a bucket often is just enough.
            let committed = choices.below(3) * 1_000_000_000;
            let burst = |choices: &mut Choices| [0, 64, 65, 1500, 1564, 3000][choices.below(6) as usize];
            let config = MeterConfig {
                committed,
                peak: committed + choices.below(2) * 1_000_000_007,
                committed_burst: burst(choices),
                peak_burst: burst(choices),
            };
            checked.set_meter(&meter.name, config).unwrap();
            naive.configs.insert(meter.name.clone(), config);
        }
    }
}

/// Runs packets through both and compares all that can be seen.
fn compare(text: &str, choices: &mut Choices) -> Result<bool, TestCaseError> {
    let program =
        Program::parse("random.pisa", text).map_err(|errors| TestCaseError::fail(format!("{errors}\n{text}")))?;
    let constants = [("k", 5), ("size", 4)];
    let Ok(mut checked) = program.check(&Target::tofino2(), &constants) else { return Ok(false) };
    let mut naive = Naive::new(program.syntax(), &constants, 1);
    fill(&mut checked, &mut naive, choices);
    let checked = Arc::new(checked);
    let mut pipeline = Pipeline::new(&checked, 1);
    let mut now = 0;
    for _ in 0..30 {
        let pass = pass(choices, &mut now);
        for egress in [false, true] {
            let outcome = if egress { pipeline.egress(&pass) } else { pipeline.ingress(&pass) };
            let expected = naive.run(egress, &pass);
            if checked.runs(egress, pass.kind) {
                prop_assert_eq!(outcome, expected, "{}\n{:?}, egress {}", text, pass, egress);
            }
            for (name, values) in &naive.registers {
                let first: Vec<u64> = values.iter().map(|value| value.0).collect();
                prop_assert_eq!(pipeline.register(name), Some(&first[..]), "{} of {}\n{:?}", name, text, pass);
                if let Some(second) = pipeline.register(&format!("{name}.mem2")) {
                    prop_assert!(second.iter().eq(values.iter().map(|value| &value.1)), "mem2 of {} of {}", name, text);
                }
            }
        }
    }
    Ok(true)
}

#[test]
fn the_machine_does_what_the_text_says() {
    let (tried, accepted) = (AtomicU32::new(0), AtomicU32::new(0));
    proptest!(ProptestConfig { cases: 4000, max_shrink_iters: 20_000, ..ProptestConfig::default() },
    |(draws in proptest::collection::vec(any::<u32>(), 50..800))| {
        let mut choices = Choices::new(draws);
        let text = generate::program(&mut choices);
        tried.fetch_add(1, Ordering::Relaxed);
        accepted.fetch_add(u32::from(compare(&text, &mut choices)?), Ordering::Relaxed);
    });
    let (tried, accepted) = (tried.into_inner(), accepted.into_inner());
    assert!(accepted * 4 > tried, "only {accepted} of {tried} programs keep to the rules: too few are compared");
}

/// The declarations and stages of a program, written from its syntax.
fn shown(program: &Program) -> String {
    let syntax = program.syntax();
    let mut lines = Vec::new();
    for (name, section) in [("ingress", &syntax.ingress), ("egress", &syntax.egress)] {
        lines.push(name.to_owned());
        lines.extend(section.registers.iter().map(ToString::to_string));
        lines.extend(section.meters.iter().map(ToString::to_string));
        lines.extend(section.tables.iter().map(ToString::to_string));
        for stage in &section.stages {
            lines.push(format!("stage {}", stage.number));
            lines.extend(stage.lines());
        }
    }
    lines.join("\n")
}

/// Words that programs are made of, and some that they are not.
const WORDS: [&str; 66] = [
    "program",
    "constant",
    "packet",
    "header",
    "field",
    "ingress",
    "egress",
    "stage",
    "register",
    "meter",
    "table",
    "when",
    "else",
    "end",
    "and",
    "or",
    "if",
    "out",
    "mem",
    "mem2",
    "min",
    "max",
    "drop",
    "trim",
    "mark",
    "mirror",
    "multicast",
    "recirculate",
    "exact",
    "ternary",
    "size",
    "x",
    "a",
    "b",
    "kind",
    "now",
    "DATA",
    "depth",
    "0",
    "1",
    "8",
    "32",
    "48",
    "64",
    "99999999999999999999",
    "0x",
    "0xff",
    "0.5",
    "+",
    "-",
    "-|",
    "*",
    "<<",
    "==",
    "<",
    "=",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ";",
    ":",
    "@",
];

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(text in "\\PC*(\n\\PC*){0,5}") {
        let _ = Program::parse("random.pisa", &text);
    }

    #[test]
    fn no_words_make_the_checks_panic(lines in proptest::collection::vec(proptest::collection::vec(0..WORDS.len(), 0..12), 0..20)) {
        let lines: Vec<String> =
            lines.iter().map(|line| line.iter().map(|word| WORDS[*word]).collect::<Vec<_>>().join(" ")).collect();
        if let Ok(program) = Program::parse("random.pisa", &format!("program p\ningress\nstage 0\n{}", lines.join("\n"))) {
            let _ = program.check(&Target::tofino(), &[]);
        }
    }

    #[test]
    fn what_is_shown_reads_the_same(draws in proptest::collection::vec(any::<u32>(), 50..400)) {
        let text = generate::program(&mut Choices::new(draws));
        let program = Program::parse("random.pisa", &text).unwrap();
        let again = shown(&program);
        let reread = Program::parse("again.pisa", &format!("program again\n{again}")).unwrap();
        prop_assert_eq!(again, shown(&reread));
        let plain = |text: &str| text.split_once("ingress").map_or("", |(_, rest)| rest).split_whitespace().count();
        prop_assert_eq!(plain(&text), plain(&shown(&program)), "nothing is left out of\n{}", text);
    }

    /// A sound program with one thing changed is refused or runs; either way nothing panics.
    #[test]
    fn no_change_of_a_program_makes_it_panic(
        draws in proptest::collection::vec(any::<u32>(), 50..200), at in any::<prop::sample::Index>(), word in 0..WORDS.len()
    ) {
        let text = generate::program(&mut Choices::new(draws));
        let mut words: Vec<&str> = text.split_inclusive([' ', '\n']).collect();
        let changed = format!("{} ", WORDS[word]);
        let place = at.index(words.len());
        words[place] = &changed;
        if let Ok(program) = Program::parse("random.pisa", &words.concat()) {
            if let Ok(checked) = program.check(&Target::tofino(), &[("k", 5), ("size", 4)]) {
                let mut pipeline = Pipeline::new(&Arc::new(checked), 0);
                for kind in 0..6 {
                    let pass = Pass { kind, rank: u64::MAX, bytes: 1500, ..Pass::default() };
                    pipeline.ingress(&pass);
                    pipeline.egress(&pass);
                }
            }
        }
    }
}
