//! `forebay pisa`: programs for the pipelines of programmable chips, listed, shown and checked.

use crate::Failure;
use crate::args::{PisaArgs, PisaCommand, PisaProgramArgs};
use crate::output::print;
use forebay_pisa::programs::{Facts, ProgramConfig, TEXTS};
use forebay_pisa::syntax::{Direction, Section};
use forebay_pisa::{Checked, Program, Target, resource_table};
use forebay_runner::scenario_file::read_text;
use forebay_settings::nearest;
use std::fmt::Write;
use std::path::Path;

/// What programs that come with Forebay are shown for: a pipeline of 16 ports.
const PORTS: usize = 16;
const RATE: u64 = 100_000_000_000;
const QUEUES: usize = 8;
const CELL: u64 = 80;
const BUFFER: u64 = 22_000_000;

pub(crate) fn run(args: &PisaArgs) -> Result<(), Failure> {
    match &args.command {
        PisaCommand::List => print(&list()),
        PisaCommand::Show(args) => show(args),
        PisaCommand::Check(args) => check(args),
    }
}

/// Names, and what the first line of each text says.
fn list() -> String {
    let mut text = String::new();
    for (name, program) in TEXTS {
        let first = program.lines().next().unwrap_or("").trim_start_matches(['#', ' ']);
        let what = first.split(": ").next().unwrap_or("");
        let _ = writeln!(text, "{name:<12}{}", what.trim_end_matches('.'));
    }
    text
}

fn show(args: &PisaProgramArgs) -> Result<(), Failure> {
    let known = TEXTS.iter().find(|(name, _)| *name == args.program);
    let (file, text) = match known {
        Some((name, text)) => (format!("{name}.pisa"), (*text).to_owned()),
        None => read_program(&args.program)?,
    };
    let program = parse(&file, &text)?;
    let (checked, how) = match known {
        Some((name, _)) if args.constant.is_empty() => {
            let how = format!(
                "{PORTS} ports of {} Gb/s with {QUEUES} queues each, {} MB of buffer",
                RATE / 1_000_000_000,
                BUFFER / 1_000_000
            );
            (load(name, args)?, how)
        }
        _ => (
            checked(&program, target_of(args)?.unwrap_or(Target::tofino()), &args.constant)?,
            "the constants given".to_owned(),
        ),
    };
    let mut text = format!("{} on {}, with {how}\n", program.name(), checked.target().name);
    for direction in [Direction::Ingress, Direction::Egress] {
        let _ = writeln!(text, "\n{direction}");
        section(&mut text, program.syntax().section(direction));
    }
    text.push('\n');
    text.push_str(&resource_table(&checked.resources().of(checked.target())));
    print(&text)
}

/// A program that comes with Forebay, set up by its control plane, on the chip that was asked for or the first that can
/// run it.
fn load(name: &str, args: &PisaProgramArgs) -> Result<Checked, Failure> {
    let Some(program) = ProgramConfig::by_name(name) else {
        return Err(Failure::refused(name, "it has no control plane", "give its constants"));
    };
    let facts = Facts { rates: vec![RATE; PORTS], queues: QUEUES, cell: CELL, buffer: BUFFER / CELL, pipelines: 1 };
    let mut results = match target_of(args)? {
        Some(target) => vec![program.load(&target, &facts)],
        None => Target::ALL.map(|target| program.load(&target, &facts)).into(),
    };
    let best = results.iter().position(Result::is_ok).unwrap_or(0);
    match results.swap_remove(best) {
        Ok(image) => Ok(image.program),
        Err(error) => Err(Failure::Said(error.to_string())),
    }
}

/// The stages of a section: arrays, then statements.
fn section(text: &mut String, section: &Section) {
    let arrays = section.registers.iter().map(|of| (of.stage, of.to_string()));
    let arrays = arrays.chain(section.meters.iter().map(|of| (of.stage, of.to_string())));
    let arrays: Vec<(u64, String)> = arrays.chain(section.tables.iter().map(|of| (of.stage, of.to_string()))).collect();
    let mut numbers: Vec<u64> = arrays.iter().map(|(stage, _)| *stage).collect();
    numbers.extend(section.stages.iter().map(|stage| stage.number));
    numbers.sort_unstable();
    numbers.dedup();
    for number in numbers {
        let _ = writeln!(text, "  stage {number}");
        for (_, array) in arrays.iter().filter(|(stage, _)| *stage == number) {
            let _ = writeln!(text, "    {array}");
        }
        for stage in section.stages.iter().filter(|stage| stage.number == number) {
            for line in stage.lines() {
                let _ = writeln!(text, "      {line}");
            }
        }
    }
}

fn check(args: &PisaProgramArgs) -> Result<(), Failure> {
    let (file, text) = read_program(&args.program)?;
    let target = target_of(args)?.unwrap_or(Target::tofino());
    let program = parse(&file, &text)?;
    let checked = checked(&program, target, &args.constant)?;
    let table = resource_table(&checked.resources().of(&target));
    print(&format!("{file}: {} keeps to the rules of {}\n\n{table}", program.name(), target.name))
}

fn read_program(file: &str) -> Result<(String, String), Failure> {
    let path = Path::new(file);
    if !path.exists() {
        let names = TEXTS.map(|(name, _)| name);
        let remedy = match nearest(file, &names) {
            Some(meant) => format!("did you mean {meant}?"),
            None => format!("give a file, or one of {}", names.join(", ")),
        };
        return Err(Failure::refused(file, "there is no such file or program", remedy));
    }
    Ok((file.to_owned(), read_text(path)?))
}

fn parse(file: &str, text: &str) -> Result<Program, Failure> {
    Program::parse(file, text).map_err(|errors| Failure::Said(errors.to_string()))
}

fn target_of(args: &PisaProgramArgs) -> Result<Option<Target>, Failure> {
    let Some(name) = &args.target else { return Ok(None) };
    match Target::by_name(name) {
        Some(target) => Ok(Some(target)),
        None => {
            let names = Target::ALL.map(|target| target.name).join(" or ");
            Err(Failure::refused(
                format_args!("--target {name}"),
                "there is no such chip",
                format_args!("write {names}"),
            ))
        }
    }
}

fn checked(program: &Program, target: Target, constants: &[(String, u64)]) -> Result<Checked, Failure> {
    let names: Vec<&str> = program.constants().collect();
    if let Some((name, _)) = constants.iter().find(|(name, _)| !names.contains(&name.as_str())) {
        let remedy = match nearest(name, &names) {
            Some(meant) => format!("did you mean {meant}?"),
            None if names.is_empty() => "it has none".to_owned(),
            None => format!("it has {}", names.join(", ")),
        };
        let problem = format!("{} has no such constant", program.name());
        return Err(Failure::refused(format_args!("--constant {name}"), problem, remedy));
    }
    let constants: Vec<(&str, u64)> = constants.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    program.check(&target, &constants).map_err(|errors| Failure::Said(errors.to_string()))
}
