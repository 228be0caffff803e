//! One run: from a prepared scenario to its results.

use crate::{Error, Prepared, cannot_write, trace};
use forebay_results::directory::{SUMMARY, remove, write_sampled_run, write_summarized_run, write_summary};
use forebay_results::summary::{Summary, add_loads, summarize};
use forebay_results::{Samples, Table};
use forebay_sim::engine::{self, Progress, Threads, World};
use forebay_sim::measure::{Cost, FlowSample, QueueSample, RunResult, SampleSink, TimelineSample};
use std::path::Path;

/// What is kept of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Its summary and its scenario alone.
    Summary,
    /// All of its tables, too.
    Tables,
    /// The tables as CSV, too.
    Csv,
}

impl Keep {
    /// The tables, as CSV, too, or not.
    pub fn tables(csv: bool) -> Self {
        if csv { Self::Csv } else { Self::Tables }
    }
}

/// Runs a scenario into a directory. `None` if `look` has stopped it: then nothing is written.
pub fn run_into(
    prepared: &Prepared,
    directory: &Path,
    keep: Keep,
    look: &mut dyn FnMut(Progress) -> bool,
) -> Result<Option<Summary>, Error> {
    if keep == Keep::Summary {
        let summary = summarize_run(prepared, look);
        if summary.run.interrupted {
            return Ok(None);
        }
        write_summary(directory, &summary, &prepared.resolved)?;
        return Ok(Some(summary));
    }
    let csv = keep == Keep::Csv;
    let done = simulate(prepared, directory, csv, 1, look);
    let summary = done.summary.clone();
    if summary.run.interrupted {
        return Ok(None);
    }
    done.write(prepared, directory, csv)?;
    Ok(Some(summary))
}

/// The threads of a run: as many as were asked for, if it can have them, else as many as pay of the cores that others
/// leave idle.
pub fn threads(asked: Option<usize>, Prepared { scenario, plan, .. }: &Prepared) -> Threads {
    match asked {
        Some(asked) => Threads::exactly(asked, scenario, plan),
        None => Threads::that_pay(idle_cores(), scenario, plan),
    }
}

/// Cores without those that were in use during the last minute, where the system tells; at least one. Threads that
/// wait for each other are slower than one if they have to share cores.
fn idle_cores() -> usize {
    let cores = crate::pool::cores();
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: f64 = text.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0.0);
    cores.saturating_sub(load.round() as usize).max(1)
}

/// A run that is over, with its samples in temporary files.
pub struct Simulated<'p> {
    /// Its numbers.
    pub summary: Summary,
    result: RunResult,
    samples: Samples<'p>,
}

/// Runs a scenario on so many threads. Its samples go to temporary files in its directory as they are taken. `look`
/// is shown the progress now and then, and stops the run by returning false.
pub fn simulate<'p>(
    prepared: &'p Prepared,
    directory: &Path,
    csv: bool,
    threads: usize,
    look: &mut dyn FnMut(Progress) -> bool,
) -> Simulated<'p> {
    let Prepared { scenario, plan, .. } = prepared;
    let mut samples = Samples::new(directory, scenario, csv);
    let result = engine::run_on(threads, scenario, plan, &mut samples, look);
    Simulated { summary: summary(prepared, &result), result, samples }
}

/// The numbers of a run, with what its workloads asked for.
fn summary(Prepared { scenario, plan, .. }: &Prepared, result: &RunResult) -> Summary {
    let mut summary = summarize(scenario, result);
    add_loads(&mut summary, scenario, plan);
    summary
}

impl Simulated<'_> {
    /// What the run cost.
    pub fn cost(&self) -> Cost {
        self.result.cost
    }

    /// Writes the directory of a run, as far as it can be written. As long as something is missing, it has no summary.
    pub fn write(self, prepared: &Prepared, directory: &Path, csv: bool) -> Result<(), Error> {
        let Self { summary, result, samples } = self;
        write(prepared, &result, directory, || {
            let Prepared { scenario, resolved, .. } = prepared;
            Ok(write_sampled_run(directory, &summary, scenario, resolved, &result, samples, csv)?)
        })
    }
}

/// Writes the capture and then, by `tables`, everything else.
fn write(
    prepared: &Prepared,
    result: &RunResult,
    directory: &Path,
    tables: impl FnOnce() -> Result<(), Error>,
) -> Result<(), Error> {
    std::fs::create_dir_all(directory).map_err(|error| cannot_write(&directory.display().to_string(), &error))?;
    remove(&directory.join(SUMMARY))?;
    match trace::write(directory, &prepared.scenario, result) {
        Ok(()) => tables(),
        Err(failure) => {
            // The tables are kept, without the summary that would call the directory whole.
            let _ = tables();
            remove(&directory.join(SUMMARY))?;
            Err(failure)
        }
    }
}

/// A run that is over, with all its results in memory.
pub struct Kept {
    /// Its numbers.
    pub summary: Summary,
    result: RunResult,
}

/// Runs a scenario on so many threads and keeps its results in memory. `look` is that of [`simulate`].
pub fn simulate_in_memory(prepared: &Prepared, threads: usize, look: &mut dyn FnMut(Progress) -> bool) -> Kept {
    let result = World::new(&prepared.scenario, &prepared.plan).split(&prepared.plan, threads).run(look);
    Kept { summary: summary(prepared, &result), result }
}

impl Kept {
    /// A table of the run, by the name of its file without the ending; `None` if there is no such table.
    pub fn table(&self, prepared: &Prepared, name: &str) -> Option<Table> {
        forebay_results::directory::table(name, &prepared.scenario, &self.result)
    }

    /// Writes the directory of the run: the bytes that [`Simulated::write`] gives it.
    pub fn write(&self, prepared: &Prepared, directory: &Path, csv: bool) -> Result<(), Error> {
        write(prepared, &self.result, directory, || {
            let Prepared { scenario, resolved, .. } = prepared;
            Ok(write_summarized_run(directory, &self.summary, scenario, resolved, &self.result, csv)?)
        })
    }
}

/// Runs a scenario for its numbers alone: samples are not kept.
pub fn summarize_run(prepared: &Prepared, look: &mut dyn FnMut(Progress) -> bool) -> Summary {
    let result = engine::run_into(&prepared.scenario, &prepared.plan, &mut NoSamples, look);
    summary(prepared, &result)
}

/// Samples that nobody wants.
struct NoSamples;

impl SampleSink for NoSamples {
    fn timeline(&mut self, _: TimelineSample) {}
    fn queue(&mut self, _: QueueSample) {}
    fn progress(&mut self, _: FlowSample) {}
    fn renumber(&mut self, _: &[u32]) {}
}
