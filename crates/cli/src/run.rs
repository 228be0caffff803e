//! `forebay run`: one scenario, one seed, one directory of results.

use crate::Failure;
use crate::args::RunArgs;
use crate::output::{self, print};
use crate::progress::SimulationBar;
use crate::sets::settings;
use forebay_runner::destination::{self, Kind};
use forebay_runner::estimate::{self, Estimate};
use forebay_runner::run::simulate;
use forebay_runner::{ScenarioFile, warnings};

pub(crate) fn run(args: &RunArgs) -> Result<(), Failure> {
    let file = ScenarioFile::open(&args.scenario)?;
    let sets = settings(&args.set, args.seed)?;
    let prepared = file.prepare(&sets)?;
    let directory = args.out.clone().unwrap_or_else(|| {
        destination::default_directory(&prepared.scenario.name, &sets, &format!("seed{}", prepared.scenario.seed))
    });
    let force = args.replace.force;
    let claim = destination::prepare(&directory, Kind::Run, &file.inputs(&prepared.resolved), force)?;
    destination::keep_others(&directory, &prepared.resolved, force)?;
    let estimate = Estimate::new(&prepared, args.csv);
    estimate::check_space(&directory, estimate.least()).inspect_err(|_| drop(std::fs::remove_dir(&directory)))?;
    estimate.warning().filter(|_| !args.quiet).iter().for_each(|text| eprintln!("{text}"));
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
