//! `forebay check`: is the scenario right, and what is it in numbers?

use crate::Failure;
use crate::args::CheckArgs;
use crate::output::{print, print_json};
use crate::sets::settings;
use forebay_runner::{ScenarioFile, check, warnings};
use forebay_sim::scenario::sweep;

pub(crate) fn run(args: &CheckArgs) -> Result<(), Failure> {
    let file = ScenarioFile::open(&args.scenario)?;
    let sets = settings(&args.set, args.seed)?;
    let prepared = file.prepare(&sets)?;
    // What is set for one run may be what the sweep changes: then there is nothing to say about the sweep.
    let sweep = if sets.is_empty() { Some(sweep::read(&file.name, &file.text, &sets)?) } else { None };
    if args.json {
        print_json(&check::json(&prepared, sweep.as_ref()))?;
    } else {
        print(&check::tell(&prepared, sweep.as_ref()))?;
    }
    warnings::of(&prepared.scenario).iter().for_each(|warning| eprintln!("{warning}"));
    Ok(())
}
