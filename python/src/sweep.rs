//! Sweeps and comparisons.

use crate::error::{OrRaise, refused};
use crate::table::Table;
use crate::watch::watch;
use forebay_results::Summary;
use forebay_results::compare::{compare_all, compare_json};
use forebay_results::stats::Interval;
use forebay_runner::destination::{self, Kind};
use forebay_runner::inputs::Inputs;
use forebay_runner::sweep::{self as runner, Dimension, Done, Job, run_all, run_in_memory, run_to_directory};
use forebay_runner::{Error, ScenarioFile};
use pyo3::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A run of a sweep: its point, its seed and the text of its `summary.json`.
type RunOfSweep = (String, u64, String);

/// Seeds written as `1-5` or `1,7,9`.
#[pyfunction]
pub(crate) fn parse_seeds(py: Python<'_>, text: &str) -> PyResult<Vec<u64>> {
    runner::parse_seeds("seeds", text, &[]).or_raise(py)
}

/// Runs a sweep; see `forebay.sweep`.
#[pyfunction(name = "sweep")]
#[allow(clippy::too_many_arguments)]
pub(crate) fn run_sweep(
    py: Python<'_>,
    name: String,
    text: String,
    sets: Vec<(String, String)>,
    grid: Vec<(String, Vec<String>)>,
    seeds: Option<Vec<u64>>,
    scale: Option<String>,
    jobs: usize,
    out: Option<PathBuf>,
    csv: bool,
    force: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Table, String, Vec<RunOfSweep>)> {
    let file = ScenarioFile { name, text };
    let finished = AtomicUsize::new(0);
    let dimension = |(key, values): (String, Vec<String>)| Dimension {
        given: format!("grid[\"{key}\"]"),
        argument: "grid",
        key,
        values,
    };
    let grid: Vec<Dimension> = grid.into_iter().map(dimension).collect();
    let plan =
        watch(py, |_| runner::Sweep::plan(&file, sets, scale.as_deref(), &grid, seeds), |_| Ok(()))?.or_raise(py)?;
    plan.check_size().or_raise(py)?;
    let all = plan.jobs(out.as_deref().unwrap_or(Path::new("")));
    let total = all.len();
    let done = watch(
        py,
        |stop| {
            let claim = try_all(&file, &plan, &all, out.as_deref(), force)?;
            let stopped = || stop.load(Ordering::Relaxed);
            let results = run_all(
                &all,
                jobs,
                &stopped,
                &|_| {
                    finished.fetch_add(1, Ordering::Relaxed);
                },
                &|job| match &out {
                    Some(_) => run_to_directory(&file, job, csv, force, &stopped),
                    None => run_in_memory(&file, job, &stopped),
                },
            )?;
            drop(claim);
            Ok::<_, Error>(results)
        },
        |py| match &progress {
            Some(progress) => progress.call1(py, (finished.load(Ordering::Relaxed), total)).map(drop),
            None => Ok(()),
        },
    )?
    .or_raise(py)?;
    let finished = all.iter().zip(&done).filter_map(|(job, done)| Some((job.point, done.as_ref()?.summary.clone())));
    let tables = runner::Tables::new(&plan.points, finished);
    if let Some(out) = &out {
        tables.write(out).or_raise(py)?;
    }
    let run = |(job, done): (&Job, &Option<Done>)| {
        let summary = &done.as_ref()?.summary;
        Some((plan.points[job.point].label.clone(), summary.run.seed, summary.to_json()))
    };
    Ok((tables.points.into(), tables.text, all.iter().zip(&done).filter_map(run).collect()))
}

/// Tries all settings before anything runs, and looks at all directories.
fn try_all(
    file: &ScenarioFile,
    plan: &runner::Sweep,
    jobs: &[Job],
    out: Option<&Path>,
    force: bool,
) -> Result<Option<destination::Claim>, Error> {
    let mut inputs = Inputs::default();
    for job in jobs {
        let prepared = plan.prepare(file, &job.sets)?;
        if out.is_some() {
            inputs = file.inputs(&prepared.resolved);
            destination::keep_inputs(&job.directory, &inputs)?;
            destination::keep_others(&job.directory, &prepared.resolved, force)?;
        }
    }
    out.map(|out| destination::prepare(out, Kind::Sweep, &inputs, force)).transpose()
}

/// Compares runs, given as texts of `summary.json`: a text for people, and JSON.
#[pyfunction]
pub(crate) fn compare(py: Python<'_>, places: Vec<String>, sides: Vec<Vec<String>>) -> PyResult<(String, String)> {
    let read = |text: &String| {
        Summary::from_json(text).map_err(|problem| refused(py, "compare", &problem, "give results of Forebay"))
    };
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
