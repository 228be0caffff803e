//! `forebay run`: one scenario, one seed, one directory of results.

use crate::Failure;
use crate::args::RunArgs;
use crate::output::{self, print};
use crate::progress::SimulationBar;
use crate::sets::settings;
use forebay_runner::destination::{self, Kind};
use forebay_runner::estimate::{self, Estimate};
use forebay_runner::run::{self, simulate};
use forebay_runner::{Prepared, ScenarioFile, warnings};
use forebay_sim::engine::Threads;
use forebay_sim::measure::Cost;
use std::time::Instant;

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
    let threads = threads(args, &prepared);
    output::stop_gently();
    let bar = SimulationBar::new(&prepared.scenario, args.quiet);
    let started = Instant::now();
    let done = simulate(&prepared, &directory, args.csv, threads.count, &mut |progress| {
        bar.show(progress);
        !output::is_interrupted()
    });
    drop(bar);
    if args.profile {
        eprint!("{}", profile(&done.cost(), &threads, started.elapsed().as_secs_f64()));
    }
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

/// The threads of the run. Says so if there are fewer than were asked for.
fn threads(args: &RunArgs, prepared: &Prepared) -> Threads {
    let threads = run::threads(args.threads.map(usize::from), prepared);
    if let (Some(asked), Some(reason)) = (args.threads, &threads.reason) {
        let count = threads.count;
        eprintln!("{count} thread{} instead of {asked}: {reason}", if count == 1 { "" } else { "s" });
    }
    threads
}

/// How the work was shared.
fn profile(cost: &Cost, threads: &Threads, seconds: f64) -> String {
    let rate = cost.hops as f64 / seconds.max(1e-9) / 1e6;
    let mut text = format!("{seconds:.3} s, {rate:.2} M hops/s, {:.3} s of CPU time\n", cost.cpu_seconds);
    match (&cost.parallel, &threads.reason) {
        (None, Some(reason)) => text.push_str(&format!("1 thread: {reason}\n")),
        (None, None) => text.push_str("1 thread\n"),
        (Some(shared), _) => {
            let windows = shared.windows.max(1) as f64;
            text.push_str(&format!(
                "{} threads: {} windows of at most {:.3} us; in each {:.1} events, {:.1} of them in the busiest partition; \
                 {:.1}% of the hops go to another partition\nat most {:.2} times as fast as one thread: the rest of the time a \
                 partition waits for the busiest one\n",
                shared.threads,
                shared.windows,
                shared.lookahead as f64 / 1e6,
                shared.events as f64 / windows,
                shared.critical as f64 / windows,
                100.0 * shared.crossings as f64 / cost.hops.max(1) as f64,
                shared.most_speedup(),
            ));
        }
    }
    text
}
