//! `forebay run`: one scenario, one seed, one directory of results.

use crate::Failure;
use crate::args::RunArgs;
use crate::destination::{self, Kind};
use crate::estimate::{self, Estimate};
use crate::output::{self, print};
use crate::progress::SimulationBar;
use crate::scenario_file::{Prepared, ScenarioFile, settings};
use crate::{trace, warnings};
use forebay_results::directory::{SUMMARY, remove, write_sampled_run};
use forebay_results::summary::{Summary, add_loads, summarize};
use forebay_results::{ResultError, Samples};
use forebay_sim::engine;
use forebay_sim::measure::RunResult;
use std::path::Path;

pub(crate) fn run(args: &RunArgs) -> Result<(), Failure> {
    let file = ScenarioFile::open(&args.scenario)?;
    let sets = settings(&args.set, args.seed)?;
    let prepared = file.prepare(&sets)?;
    let directory = args.out.clone().unwrap_or_else(|| {
        destination::default_directory(&prepared.scenario.name, &sets, &format!("seed{}", prepared.scenario.seed))
    });
    let force = args.replace.force;
    let claim = destination::prepare(&directory, Kind::Run, &file.inputs(&prepared.resolved, force), force)?;
    destination::keep_others(&directory, &prepared.resolved, force)?;
    let estimate = Estimate::new(&prepared, args.csv);
    estimate::check_space(&directory, estimate.least()).inspect_err(|_| drop(std::fs::remove_dir(&directory)))?;
    estimate.warn(args.quiet);
    warnings::of(&prepared.scenario).iter().for_each(|warning| eprintln!("{warning}"));
    output::stop_gently();
    let bar = SimulationBar::new(&prepared.scenario, args.quiet);
    let done = simulate(&prepared, &directory, args.csv, &mut |progress| {
        bar.show(progress);
        !output::is_interrupted()
    });
    drop(bar);
    let summary = done.summary.clone();
    let written = done.write(&prepared, &directory, args.csv);
    // Whatever becomes of the files, the run was not for nothing.
    let mut text = if args.json { summary.to_json() } else { summary.render() };
    if written.is_ok() && !args.json {
        text.push_str(&format!("\nresults: {}\n", directory.display()));
    }
    print(&text)?;
    drop(claim);
    written?;
    if summary.run.interrupted { Err(Failure::Interrupted) } else { Ok(()) }
}

/// A run that is over.
pub(crate) struct Simulated<'p> {
    pub(crate) summary: Summary,
    result: RunResult,
    samples: Samples<'p>,
}

/// Runs a scenario. Its samples go to temporary files in its directory as they are taken.
pub(crate) fn simulate<'p>(
    prepared: &'p Prepared,
    directory: &Path,
    csv: bool,
    look: &mut dyn FnMut(engine::Progress) -> bool,
) -> Simulated<'p> {
    let Prepared { scenario, plan, .. } = prepared;
    let mut samples = Samples::new(directory, scenario, csv);
    let result = engine::run_into(scenario, plan, &mut samples, look);
    let mut summary = summarize(scenario, &result);
    add_loads(&mut summary, scenario, plan);
    Simulated { summary, result, samples }
}

impl Simulated<'_> {
    /// Writes the directory of a run, as far as it can be written. As long as something is missing, it has no summary.
    pub(crate) fn write(self, prepared: &Prepared, directory: &Path, csv: bool) -> Result<(), Failure> {
        let Self { summary, result, samples } = self;
        std::fs::create_dir_all(directory)
            .map_err(|error| output::cannot_write(&directory.display().to_string(), &error))?;
        remove(&directory.join(SUMMARY))?;
        let traced = trace::write(directory, &prepared.scenario, &result);
        let Prepared { scenario, resolved, .. } = prepared;
        if let Err(failure) = traced {
            // The tables are kept, without the summary that would call the directory whole.
            let _ = write_sampled_run(directory, &summary, scenario, resolved, &result, samples, csv);
            remove(&directory.join(SUMMARY))?;
            return Err(failure);
        }
        Ok(write_sampled_run(directory, &summary, scenario, resolved, &result, samples, csv)?)
    }
}

impl From<ResultError> for Failure {
    fn from(error: ResultError) -> Self {
        Self::Input(format!("error: {}: {}\n  help: {}", error.path.display(), error.problem, error.remedy))
    }
}
