//! Sweeps and comparisons.

use crate::error::{OrRaise, refused};
use crate::schemes;
use crate::table::Table;
use crate::watch::watch;
use forebay_results::Summary;
use forebay_results::compare::{compare_all, compare_json};
use forebay_results::stats::Interval;
use forebay_results::summary::BUILD;
use forebay_runner::destination::{self, Claim, Kind};
use forebay_runner::inputs::Inputs;
use forebay_runner::run::Keep;
use forebay_runner::store::Store;
use forebay_runner::sweep::{self as runner, Checked, Dimension, Job, run_all, run_in_memory, run_to_directory};
use forebay_runner::{Error, ScenarioFile};
use pyo3::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A run of a sweep: its point, its seed and the text of its `summary.json`.
type RunOfSweep = (String, u64, String);
/// A run that is to be made: its label, its settings and its directory.
type JobOfSweep = (String, Vec<(String, String)>, PathBuf);

/// Seeds written as `1-5` or `1,7,9`.
#[pyfunction]
pub(crate) fn parse_seeds(py: Python<'_>, text: &str) -> PyResult<Vec<u64>> {
    runner::parse_seeds("seeds", text, &[]).or_raise(py)
}

/// What results depend on beside their scenarios: the version and the build.
#[pyfunction]
pub(crate) fn build() -> String {
    format!("{} {BUILD}", env!("CARGO_PKG_VERSION"))
}

/// A sweep that was read and checked.
#[pyclass(frozen, module = "forebay._forebay")]
pub(crate) struct SweepPlan {
    file: ScenarioFile,
    sweep: runner::Sweep,
    jobs: Vec<Job>,
    out: Option<PathBuf>,
    force: bool,
}

/// Plans a sweep: all settings are tried, and all directories looked at.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub(crate) fn plan_sweep(
    py: Python<'_>,
    name: String,
    text: String,
    sets: Vec<(String, String)>,
    grid: Vec<(String, Vec<String>)>,
    seeds: Option<Vec<u64>>,
    scale: Option<String>,
    out: Option<PathBuf>,
    force: bool,
) -> PyResult<SweepPlan> {
    let file = ScenarioFile { name, text };
    let dimension = |(key, values): (String, Vec<String>)| Dimension {
        given: format!("grid[\"{key}\"]"),
        argument: "grid",
        key,
        values,
    };
    let grid: Vec<Dimension> = grid.into_iter().map(dimension).collect();
    let plan = || {
        let sweep = runner::Sweep::plan(&file, sets, scale.as_deref(), &grid, seeds, Checked::Scenarios)?;
        sweep.check_size()?;
        let jobs = sweep.jobs(out.as_deref().unwrap_or(Path::new("")));
        try_all(&file, &sweep, &jobs, out.as_deref(), force)?;
        Ok::<_, Error>((sweep, jobs))
    };
    let (sweep, jobs) = watch(py, |_| plan(), |_| Ok(()))?.or_raise(py)?;
    Ok(SweepPlan { file, sweep, jobs, out, force })
}

/// Tries all settings before anything runs, and looks at all directories.
fn try_all(
    file: &ScenarioFile,
    sweep: &runner::Sweep,
    jobs: &[Job],
    out: Option<&Path>,
    force: bool,
) -> Result<(), Error> {
    let mut inputs = Inputs::default();
    for job in jobs {
        let prepared = sweep.prepare(file, &job.sets)?;
        if out.is_some() {
            if let Some(name) = schemes::used_by(&prepared.resolved) {
                let problem =
                    format!("{name} is written in Python, and its code is not part of what results are named by");
                return Err(Error::refused("out", problem, "leave out= away: the results are in memory"));
            }
            inputs = file.inputs(&prepared.resolved);
            destination::keep_inputs(&job.directory, &inputs)?;
            destination::keep_others(&job.directory, &prepared.resolved, force)?;
        }
    }
    // The claim ends here: whoever runs takes one of its own.
    out.map_or(Ok(()), |out| destination::prepare(out, Kind::Sweep, &inputs, force).map(drop))
}

#[pymethods]
impl SweepPlan {
    fn __len__(&self) -> usize {
        self.jobs.len()
    }

    /// The runs, for whoever makes them elsewhere.
    fn jobs(&self) -> Vec<JobOfSweep> {
        self.jobs.iter().map(|job| (job.label.clone(), job.sets.clone(), job.directory.clone())).collect()
    }

    /// Runs everything in this process, on several threads. The texts of `summary.json`.
    fn run(
        &self,
        py: Python<'_>,
        threads: usize,
        csv: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Vec<Option<String>>> {
        let finished = AtomicUsize::new(0);
        let count = |_: &Job| {
            finished.fetch_add(1, Ordering::Relaxed);
        };
        let done = watch(
            py,
            |stop| {
                let claim = self.out.as_deref().map(Claim::take).transpose()?;
                let stopped = || stop.load(Ordering::Relaxed);
                let one = |job: &Job| match &self.out {
                    Some(_) => run_to_directory(&self.file, job, Keep::tables(csv), self.force, &stopped),
                    None => run_in_memory(&self.file, job, &stopped),
                };
                let results = run_all(&self.jobs, threads, &stopped, &count, &one)?;
                drop(claim);
                Ok::<_, Error>(results)
            },
            |py| match &progress {
                Some(progress) => progress.call1(py, (finished.load(Ordering::Relaxed), self.jobs.len())).map(drop),
                None => Ok(()),
            },
        )?
        .or_raise(py)?;
        Ok(done.into_iter().map(|done| done.map(|done| done.summary.to_json())).collect())
    }

    /// The table of all runs, its text, and the runs; `summaries` are those of the jobs, in their order.
    fn finish(&self, py: Python<'_>, summaries: Vec<Option<String>>) -> PyResult<(Table, String, Vec<RunOfSweep>)> {
        let read = |text: &Option<String>| text.as_deref().map(|text| summary(py, text)).transpose();
        let read: Vec<Option<Summary>> = summaries.iter().map(read).collect::<PyResult<_>>()?;
        let run = |((job, summary), text): ((&Job, &Option<Summary>), Option<String>)| {
            Some((self.sweep.points[job.point].label.clone(), summary.as_ref()?.run.seed, text?))
        };
        let runs = self.jobs.iter().zip(&read).zip(summaries).filter_map(run).collect();
        let finished = self.jobs.iter().zip(read).filter_map(|(job, summary)| Some((job.point, summary?)));
        let tables = runner::Tables::new(&self.sweep.points, finished);
        if let Some(out) = &self.out {
            tables.write(out).or_raise(py)?;
        }
        Ok((tables.points.into(), tables.text, runs))
    }
}

/// Runs one job of a sweep, in memory or into a directory that many machines share. The text of `summary.json`.
#[pyfunction]
pub(crate) fn run_job(
    py: Python<'_>,
    name: String,
    text: String,
    job: JobOfSweep,
    out: Option<PathBuf>,
    csv: bool,
    force: bool,
) -> PyResult<String> {
    let file = ScenarioFile { name, text };
    let (label, sets, directory) = job;
    let job = Job { point: 0, label, sets, directory };
    let done = watch(
        py,
        |stop| {
            let stopped = || stop.load(Ordering::Relaxed);
            let Some(out) = &out else { return run_in_memory(&file, &job, &stopped) };
            let store = Store::new(&file, out);
            let _claim = store.open()?;
            store.run(&job, Keep::tables(csv), force, &stopped)
        },
        |_| Ok(()),
    )?
    .or_raise(py)?;
    done.map(|done| done.summary.to_json()).ok_or_else(|| refused(py, "run", "it was stopped", "run it again"))
}

fn summary(py: Python<'_>, text: &str) -> PyResult<Summary> {
    Summary::from_json(text).map_err(|problem| refused(py, "summary", &problem, "give results of Forebay"))
}

/// Compares runs, given as texts of `summary.json`: a text for people, and JSON.
#[pyfunction]
pub(crate) fn compare(py: Python<'_>, places: Vec<String>, sides: Vec<Vec<String>>) -> PyResult<(String, String)> {
    let read = |text: &String| summary(py, text);
    let sides: Vec<Vec<Summary>> = sides.iter().map(|side| side.iter().map(read).collect()).collect::<PyResult<_>>()?;
    Ok((compare_all(&places, &sides), compare_json(&places, &sides)))
}

/// The mean of some values and half of its 95% confidence interval; None without values, and for the interval with one
/// alone.
#[pyfunction]
pub(crate) fn interval(values: Vec<f64>) -> (Option<f64>, Option<f64>) {
    let interval = Interval::of(&values);
    (interval.map(|interval| interval.mean), interval.and_then(|interval| interval.half))
}
