//! Scenarios and their runs.

use crate::error::OrRaise;
use crate::table::Table;
use crate::watch::watch;
use forebay_results::{RunDirectory, Summary};
use forebay_runner::destination::{self, Kind};
use forebay_runner::estimate::{self, Estimate};
use forebay_runner::run::{self, Kept, simulate_in_memory};
use forebay_runner::{Error, ScenarioFile, check, warnings};
use forebay_sim::engine::Progress;
use forebay_sim::scenario::sweep;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

/// A scenario that was read and planned.
struct Planned {
    file: ScenarioFile,
    prepared: forebay_runner::Prepared,
}

/// A scenario that was read and planned.
#[pyclass(frozen, module = "forebay._forebay")]
pub(crate) struct Prepared {
    planned: Arc<Planned>,
    /// Whether nothing was set: then its sweep can be told.
    is_plain: bool,
}

/// Reads a scenario. `name` is what errors call it; relative paths in it start at its directory.
#[pyfunction]
pub(crate) fn prepare(py: Python<'_>, name: String, text: String, sets: Vec<(String, String)>) -> PyResult<Prepared> {
    let file = ScenarioFile { name, text };
    let prepared = watch(py, |_| file.prepare(&sets), |_| Ok(()))?.or_raise(py)?;
    Ok(Prepared { planned: Arc::new(Planned { file, prepared }), is_plain: sets.is_empty() })
}

#[pymethods]
impl Prepared {
    #[getter]
    fn name(&self) -> &str {
        &self.planned.prepared.scenario.name
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.planned.prepared.scenario.seed
    }

    /// The scenario as TOML, with everything that it leaves to defaults.
    #[getter]
    fn resolved(&self) -> &str {
        &self.planned.prepared.resolved
    }

    /// What the scenario is in numbers, and warnings.
    fn check(&self, py: Python<'_>) -> PyResult<(String, Vec<String>)> {
        let Planned { file, prepared } = &*self.planned;
        let plan = self.is_plain.then(|| sweep::read(&file.name, &file.text, &[])).transpose().or_raise(py)?;
        Ok((check::tell(prepared, plan.as_ref()), warnings::of(&prepared.scenario)))
    }

    /// Runs the scenario. `progress`, if it is given, is called with the simulated time and the duration in
    /// picoseconds, the events so far and the flows that are not complete. Without `threads` it has as many as pay.
    #[pyo3(signature = (progress, threads = None))]
    fn run(&self, py: Python<'_>, progress: Option<Py<PyAny>>, threads: Option<usize>) -> PyResult<Run> {
        let planned = Arc::clone(&self.planned);
        let threads = run::threads(threads, &planned.prepared).count;
        let seen: Mutex<Option<Progress>> = Mutex::new(None);
        let kept = watch(
            py,
            |stop| {
                simulate_in_memory(&planned.prepared, threads, &mut |now| {
                    *seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
                    !stop.load(Ordering::Relaxed)
                })
            },
            |py| {
                let now = seen.lock().unwrap_or_else(PoisonError::into_inner).take();
                if let (Some(progress), Some(now)) = (&progress, now) {
                    progress.call1(py, (now.now.ps(), now.duration.ps(), now.events, now.unfinished))?;
                }
                Ok(())
            },
        )?;
        Ok(Run { source: Source::Kept(planned, Box::new(kept)) })
    }
}

/// Where the results of a run are.
enum Source {
    Kept(Arc<Planned>, Box<Kept>),
    Directory(Box<RunDirectory>),
}

/// A run that is over.
#[pyclass(frozen, module = "forebay._forebay")]
pub(crate) struct Run {
    source: Source,
}

impl Run {
    fn summary(&self) -> &Summary {
        match &self.source {
            Source::Kept(_, kept) => &kept.summary,
            Source::Directory(run) => &run.summary,
        }
    }
}

#[pymethods]
impl Run {
    /// The text of `summary.json`.
    fn summary_json(&self) -> String {
        self.summary().to_json()
    }

    /// The summary for people.
    fn summary_text(&self) -> String {
        self.summary().render()
    }

    /// The resolved scenario.
    fn resolved(&self, py: Python<'_>) -> PyResult<String> {
        match &self.source {
            Source::Kept(planned, _) => Ok(planned.prepared.resolved.clone()),
            Source::Directory(run) => run.scenario_text().or_raise(py),
        }
    }

    /// A table, by the name of its file without the ending.
    fn table(&self, py: Python<'_>, name: &str) -> PyResult<Table> {
        let made = py.detach(|| match &self.source {
            Source::Kept(planned, kept) => kept
                .table(&planned.prepared, name)
                .ok_or_else(|| Error::refused(name, "there is no such table", "see docs/results.md")),
            Source::Directory(run) => {
                Ok(forebay_results::Table::read_parquet(&run.path.join(format!("{name}.parquet")))?)
            }
        });
        Ok(made.or_raise(py)?.into())
    }

    /// Writes the directory that `forebay run --out` writes.
    fn save(&self, py: Python<'_>, directory: PathBuf, csv: bool, force: bool) -> PyResult<()> {
        let Source::Kept(planned, kept) = &self.source else {
            let error = Error::refused("save", "this result is in a directory already", "copy that directory");
            return Err(error).or_raise(py);
        };
        let Planned { file, prepared } = &**planned;
        let save = || {
            let claim = destination::prepare(&directory, Kind::Run, &file.inputs(&prepared.resolved), force)?;
            destination::keep_others(&directory, &prepared.resolved, force)?;
            estimate::check_space(&directory, Estimate::new(prepared, csv).least())?;
            kept.write(prepared, &directory, csv)?;
            drop(claim);
            Ok::<_, Error>(())
        };
        py.detach(save).or_raise(py)
    }
}

/// Opens the directory of a run.
#[pyfunction]
pub(crate) fn load_run(py: Python<'_>, directory: PathBuf) -> PyResult<Run> {
    Ok(Run { source: Source::Directory(Box::new(forebay_results::read_run(&directory).or_raise(py)?)) })
}
