//! `forebay sonic advise`.

use super::{ConfigArgs, json, parse, sound};
use crate::Failure;
use crate::args::Force;
use crate::output::print;
use crate::outputs::Outputs;
use crate::table::Table;
use clap::Args;
use forebay_advise::page::page;
use forebay_advise::{Advice, Candidate, Goal, GoalAdvice, Shown, advise, percent, read_goals};
use forebay_runner::scenario_file::read_text;
use forebay_sonic::device::Device;
use forebay_sonic::predict::{Question, predict};
use std::fmt::Write;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(crate) struct AdviseArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// The goals, in TOML (docs/operators.md).
    #[arg(long, value_name = "FILE.toml")]
    goal: PathBuf,
    /// Write the changes as a JSON patch (RFC 6902) for `config apply-patch` to this file.
    #[arg(long, value_name = "FILE.json")]
    patch: Option<PathBuf>,
    /// Write a page with the advice, the pools as a picture and what each class can get to this file.
    #[arg(long, value_name = "FILE.html")]
    html: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    replace: Force,
}

/// Candidates that a person reads.
const SHOWN: usize = 10;

pub(super) fn run(args: &AdviseArgs) -> Result<(), Failure> {
    let path = &args.config.config;
    // It is read once: it may be a pipe.
    let text = read_text(path)?;
    let config = sound(path, parse(path, &text)?)?;
    let goals = read_goals(&args.goal.display().to_string(), &read_text(&args.goal)?)?;
    let advice = advise(&path.display().to_string(), &text, args.config.chip.as_deref(), &goals)?;
    let patch = serde_json::to_string_pretty(&advice.patch).map_err(|error| Failure::refused("", error, ""))?;
    let mut outputs = Outputs::new(args.replace.force);
    let named = goals.iter().filter_map(Goal::file);
    [path.as_path(), &args.goal].into_iter().chain(named).for_each(|input| outputs.reads(input));
    if let Some(out) = &args.patch {
        outputs.write_start(out, &(patch.clone() + "\n"))?;
    }
    if let Some(out) = &args.html {
        let device = Device::new(&config, config.chip(args.config.chip.as_deref())?);
        let predictions = predict(&device, &Question { packet: 1_500, others: vec![0, 1, 7] })?;
        outputs.write_start(out, &page(&device, &predictions, Some(&advice)))?;
    }
    if args.json {
        json(&advice)?;
    } else {
        print(&told(&advice, &patch))?;
    }
    if advice.is_complete() { Ok(()) } else { Err(Failure::Findings) }
}

fn told(advice: &Advice, patch: &str) -> String {
    let mut text = String::new();
    for (number, goal) in advice.goals.iter().enumerate() {
        tell_goal(&mut text, number + 1, goal);
    }
    if advice.patch.is_empty() {
        text.push_str("nothing to change\n");
    } else {
        let _ = writeln!(text, "patch (config apply-patch):\n{patch}");
    }
    text
}

fn met(shown: &Shown) -> &'static str {
    if shown.met { "met" } else { "missed" }
}

fn tell_goal(text: &mut String, number: usize, goal: &GoalAdvice) {
    let _ = writeln!(text, "goal {number}: {}", goal.goal);
    let _ = writeln!(text, "  now: {}: {}", met(&goal.before), goal.before.words);
    if !goal.candidates.is_empty() {
        let mut table = Table::new(3, ["change", "goal", "closed form", "trial", "others"]);
        for candidate in goal.candidates.iter().take(SHOWN) {
            table.row(row(candidate));
        }
        for line in table.render().lines() {
            let _ = writeln!(text, "  {line}");
        }
        if goal.candidates.len() > SHOWN {
            let _ = writeln!(text, "  and {} more (--json)", goal.candidates.len() - SHOWN);
        }
    }
    for why in &goal.why {
        let _ = writeln!(text, "  {why}");
    }
    for other in &goal.other_policies {
        let _ = writeln!(text, "  with {} on egress: {}: {}", other.policy, met(&other.trial), other.trial.words);
    }
    let _ = writeln!(text, "  with the patch: {}: {}\n", met(&goal.after), goal.after.words);
}

fn row(candidate: &Candidate) -> Vec<String> {
    let trial = candidate.trial.as_ref();
    vec![
        candidate.change.clone(),
        trial.map_or("-", met).to_owned(),
        candidate.closed_form.clone(),
        trial.map_or("not tried".to_owned(), |trial| trial.words.clone()),
        candidate.cost_for_others.map_or("-".to_owned(), percent),
    ]
}
