//! `forebay pisa`: programs for the pipelines of programmable chips, listed, shown and checked.

use crate::Failure;
use crate::output::{print, print_json};
use clap::{Args as ClapArgs, Subcommand};
use forebay_pisa::programs::{Facts, ProgramConfig, TEXTS};
use forebay_pisa::syntax::{Direction, Section};
use forebay_pisa::{Checked, Program, Share, Target, resource_table};
use forebay_runner::scenario_file::read_text;
use forebay_settings::nearest;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;

/// What programs that come with Forebay are shown for: a pipeline of 16 ports.
const PORTS: usize = 16;
const RATE: u64 = 100_000_000_000;
const QUEUES: usize = 8;
const CELL: u64 = 80;
const BUFFER: u64 = 22_000_000;

#[derive(ClapArgs, Debug)]
pub(crate) struct PisaArgs {
    #[command(subcommand)]
    pub(crate) command: PisaCommand,
}

#[derive(Subcommand, Debug)]
pub(crate) enum PisaCommand {
    /// List the programs that come with Forebay.
    List {
        /// Print JSON instead of a table.
        #[arg(long)]
        json: bool,
    },
    /// Show a program stage by stage, with the resources that it needs.
    Show(PisaProgramArgs),
    /// Check a program against the limits of the chip, and list the resources that it needs.
    Check(PisaProgramArgs),
}

#[derive(ClapArgs, Debug)]
pub(crate) struct PisaProgramArgs {
    /// The program: a file, or the name of one that comes with Forebay.
    pub(crate) program: String,
    /// The chip: tofino or tofino2; without this, tofino, or for a program that comes with Forebay the first that can
    /// run it.
    #[arg(long, value_name = "NAME")]
    pub(crate) target: Option<String>,
    /// A constant of the program, such as ports=64; can be given several times.
    #[arg(long, value_name = "NAME=VALUE", value_parser = constant)]
    pub(crate) constant: Vec<(String, u64)>,
    /// Print the resources as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `ports=64`.
fn constant(text: &str) -> Result<(String, u64), String> {
    let parts =
        text.split_once('=').and_then(|(name, value)| Some((name.trim().to_owned(), value.trim().parse().ok()?)));
    parts.ok_or_else(|| "write a name and a whole number, such as ports=64".to_owned())
}

pub(crate) fn run(args: &PisaArgs) -> Result<(), Failure> {
    match &args.command {
        PisaCommand::List { json: true } => {
            print_json(&list().map(|(name, about)| json!({ "name": name, "about": about })).collect())
        }
        PisaCommand::List { json: false } => {
            print(&list().fold(String::new(), |text, (name, about)| format!("{text}{name:<12}{about}\n")))
        }
        PisaCommand::Show(args) => show(args),
        PisaCommand::Check(args) => check(args),
    }
}

/// Names, and what the first line of each text says.
fn list() -> impl Iterator<Item = (&'static str, &'static str)> {
    TEXTS.iter().map(|(name, program)| {
        let first = program.lines().next().unwrap_or("").trim_start_matches(['#', ' ']);
        (*name, first.split(": ").next().unwrap_or("").trim_end_matches('.'))
    })
}

/// A program that was read, on its chip.
struct Fitted {
    file: String,
    program: Program,
    checked: Checked,
    /// What it was checked with.
    with: String,
}

/// A file, or a program that comes with Forebay.
fn fitted(args: &PisaProgramArgs) -> Result<Fitted, Failure> {
    let known = TEXTS.iter().find(|(name, _)| *name == args.program);
    let (file, text) = match known {
        Some((name, text)) => (format!("{name}.pisa"), (*text).to_owned()),
        None => read_program(&args.program)?,
    };
    let program = Program::parse(&file, &text).map_err(|errors| Failure::Said(errors.to_string()))?;
    let (checked, with) = match known {
        Some((name, _)) if args.constant.is_empty() => {
            let (gbps, megabytes) = (RATE / 1_000_000_000, BUFFER / 1_000_000);
            let with = format!("{PORTS} ports of {gbps} Gb/s with {QUEUES} queues each, {megabytes} MB of buffer");
            (load(name, args)?, with)
        }
        _ => {
            let target = target_of(args)?.unwrap_or(Target::tofino());
            (checked(&program, target, &args.constant)?, "the constants given".to_owned())
        }
    };
    Ok(Fitted { file, program, checked, with })
}

impl Fitted {
    fn shares(&self) -> Vec<Share> {
        self.checked.resources().of(self.checked.target())
    }

    fn to_json(&self) -> Value {
        let share = |share: Share| json!({ "resource": share.name, "used": share.used, "available": share.available });
        let resources: Value = self.shares().into_iter().map(share).collect();
        json!({ "program": self.program.name(), "target": self.checked.target().name, "resources": resources })
    }
}

fn show(args: &PisaProgramArgs) -> Result<(), Failure> {
    let fitted = fitted(args)?;
    if args.json {
        return print_json(&fitted.to_json());
    }
    let Fitted { program, checked, with, .. } = &fitted;
    let mut text = format!("{} on {}, with {with}\n", program.name(), checked.target().name);
    for direction in [Direction::Ingress, Direction::Egress] {
        let _ = writeln!(text, "\n{direction}");
        section(&mut text, program.syntax().section(direction));
    }
    text.push('\n');
    text.push_str(&resource_table(&fitted.shares()));
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
    let fitted = fitted(args)?;
    if args.json {
        return print_json(&fitted.to_json());
    }
    let (name, target) = (fitted.program.name(), fitted.checked.target().name);
    print(&format!("{}: {name} keeps to the rules of {target}\n\n{}", fitted.file, resource_table(&fitted.shares())))
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
