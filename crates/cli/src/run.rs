//! `forebay run`: one scenario, one seed, one directory of results.

use crate::Failure;
use crate::args::RunArgs;
use crate::destination::{self, Kind};
use crate::output::{self, print};
use crate::progress::SimulationBar;
use crate::scenario_file::{Prepared, ScenarioFile, settings};
use crate::trace;
use forebay_results::ResultError;
use forebay_results::directory::{SUMMARY, remove, write_summarized_run};
use forebay_results::summary::{Summary, add_loads, summarize};
use forebay_sim::engine;
use forebay_sim::measure::RunResult;
use std::path::Path;

pub(crate) fn run(args: &RunArgs) -> Result<(), Failure> {
    let file = ScenarioFile::open(&args.scenario)?;
    let sets = settings(&args.set, args.seed)?;
    let prepared = file.prepare(&sets)?;
    let directory = args.out.clone().unwrap_or_else(|| {
        destination::default_directory(&file.stem(), &sets, &format!("seed{}", prepared.scenario.seed))
    });
    destination::prepare(&directory, Kind::Run, &args.scenario)?;
    output::stop_gently();
    let bar = SimulationBar::new(&prepared.scenario, args.quiet);
    let (summary, result) = simulate(&prepared, &mut |progress| {
        bar.show(progress);
        !output::is_interrupted()
    });
    drop(bar);
    write(&prepared, &summary, &result, &directory, args.csv)?;
    let mut text = summary.render();
    text.push_str(&format!("\nresults: {}\n", directory.display()));
    print(&text)?;
    if summary.run.interrupted { Err(Failure::Interrupted) } else { Ok(()) }
}

/// Runs a scenario.
pub(crate) fn simulate(prepared: &Prepared, look: &mut dyn FnMut(engine::Progress) -> bool) -> (Summary, RunResult) {
    let Prepared { scenario, plan, .. } = prepared;
    let result = engine::run(scenario, plan, look);
    let mut summary = summarize(scenario, &result);
    add_loads(&mut summary, scenario, plan);
    (summary, result)
}

/// Writes the directory of a run. As long as something is missing, it has no summary.
pub(crate) fn write(
    prepared: &Prepared,
    summary: &Summary,
    result: &RunResult,
    directory: &Path,
    csv: bool,
) -> Result<(), Failure> {
    std::fs::create_dir_all(directory)
        .map_err(|error| output::cannot_write(&directory.display().to_string(), &error))?;
    remove(&directory.join(SUMMARY))?;
    trace::write(directory, &prepared.scenario, result)?;
    Ok(write_summarized_run(directory, summary, &prepared.scenario, &prepared.resolved, result, csv)?)
}

impl From<ResultError> for Failure {
    fn from(error: ResultError) -> Self {
        Self::Input(format!("error: {}: {}\n  help: {}", error.path.display(), error.problem, error.remedy))
    }
}
