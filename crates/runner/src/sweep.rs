//! Every point of a grid, with every seed, on several threads.
//!
//! Where runs are kept in directories, each has one of its own below that of its point. A run whose directory holds a
//! result of the same resolved scenario, by the same build of the same version, is finished and not run again.

use crate::destination::{self, Kind, SWEEP, point_directories};
use crate::run::{Keep, run_into, summarize_run};
use crate::{Error, Prepared, ScenarioFile, pool, store};
use forebay_results::directory::{has_tables, is_run, read_run};
use forebay_results::summary::BUILD;
use forebay_results::sweep::{SweepRow, sweep_table};
use forebay_results::{Summary, Table};
pub use forebay_sim::scenario::sweep::Checked;
use forebay_sim::scenario::sweep::{self, SweepPoint};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Runs that a sweep can have; a scenario's own grid has the same limit.
const MOST_RUNS: usize = 100_000;
/// Seeds that can be asked for; more are a mistake.
const MOST_SEEDS: u64 = 10_000;

/// A dimension of the grid that somebody has asked for beside those of the scenario.
#[derive(Clone, Debug)]
pub struct Dimension {
    /// What errors call it: the argument as it was given.
    pub given: String,
    /// What errors call one of its values: the name of the argument.
    pub argument: &'static str,
    /// The key.
    pub key: String,
    /// Its values, as settings take them.
    pub values: Vec<String>,
}

/// What is to be run.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// At least one, with different labels.
    pub points: Vec<SweepPoint>,
    /// At least one, all different.
    pub seeds: Vec<u64>,
    /// What is set for all points.
    pub sets: Vec<(String, String)>,
    /// The keys of the dimensions that were asked for, and the arguments that gave them.
    given: Vec<(String, &'static str)>,
}

/// One run of the sweep.
#[derive(Clone, Debug)]
pub struct Job {
    /// The number of its point.
    pub point: usize,
    /// What it is called.
    pub label: String,
    /// Its settings.
    pub sets: Vec<(String, String)>,
    /// Where its results go, if they are kept.
    pub directory: PathBuf,
}

/// A run that is finished.
#[derive(Clone, Debug)]
pub struct Done {
    /// Its numbers.
    pub summary: Summary,
    /// By an earlier sweep.
    pub before: bool,
}

impl Sweep {
    /// The sweep of a scenario at a scale, with `sets` for all points, combined with the dimensions that were asked
    /// for. Every point of the scenario's own grid is read as a scenario here, or only when it is run.
    pub fn plan(
        file: &ScenarioFile,
        sets: Vec<(String, String)>,
        scale: Option<&str>,
        grid: &[Dimension],
        seeds: Option<Vec<u64>>,
        checked: Checked,
    ) -> Result<Self, Error> {
        let plan = sweep::read_at(&file.name, &file.text, &sets, scale, checked)?;
        let points = with_grid(plan.points, grid, &sets)?;
        let seeds = seeds.unwrap_or(plan.seeds);
        // A scale comes after what was given: it cannot set the same.
        let sets: Vec<(String, String)> = sets.into_iter().chain(plan.sets).collect();
        let given = grid.iter().map(|dimension| (dimension.key.clone(), dimension.argument)).collect();
        Ok(Self { points, seeds, sets, given })
    }

    /// Refuses a sweep of too many runs.
    pub fn check_size(&self) -> Result<(), Error> {
        match self.points.len().saturating_mul(self.seeds.len()) {
            ..=MOST_RUNS => Ok(()),
            runs => {
                let remedy = format!("give fewer values or seeds: at most {MOST_RUNS} runs");
                Err(Error::refused("", format!("these are {runs} runs"), remedy))
            }
        }
    }

    /// All runs, with directories below `out`.
    pub fn jobs(&self, out: &Path) -> Vec<Job> {
        jobs(&self.points, &self.seeds, &self.sets, out)
    }

    /// The scenario of the first point.
    pub fn first(&self, file: &ScenarioFile) -> Result<Prepared, Error> {
        let own = self.points.first().map_or(&[][..], |point| &point.settings);
        self.prepare(file, &[&self.sets, own].concat())
    }

    /// A scenario of the sweep. An error in a value of the grid is told where that was given.
    pub fn prepare(&self, file: &ScenarioFile, sets: &[(String, String)]) -> Result<Prepared, Error> {
        file.prepare(sets).map_err(|error| match error {
            Error::Settings(mut diagnostic) => {
                let setting = diagnostic.file.strip_prefix("--set \"").and_then(|text| text.split_once('='));
                let known = |(key, _): &(&str, &str)| self.given.iter().find(|(own, _)| own == key);
                if let Some(((key, argument), value)) = setting.and_then(|setting| Some((known(&setting)?, setting.1)))
                {
                    diagnostic.file = format!("{argument} \"{key}={value}");
                }
                Error::Settings(diagnostic)
            }
            other => other,
        })
    }
}

/// Combines the points with the dimensions that were asked for.
fn with_grid(
    mut points: Vec<SweepPoint>,
    grid: &[Dimension],
    sets: &[(String, String)],
) -> Result<Vec<SweepPoint>, Error> {
    let keys: Vec<&str> = grid.iter().map(|dimension| dimension.key.as_str()).collect();
    for Dimension { given, key, values, .. } in grid {
        let bad = |problem: String, help: &str| Err(Error::refused(given.clone(), problem, help));
        if key == "seed" {
            return bad("seeds are not a dimension".to_owned(), "write --seeds 1-5 instead");
        }
        let mut seen = BTreeSet::new();
        if let Some(twice) = values.iter().find(|value| !seen.insert(value.as_str())) {
            return bad(format!("{twice} is there twice"), "give each value once");
        }
        if sets.iter().any(|(known, _)| known == key) {
            return bad(format!("--set gives {key} to all points"), "leave one of the two out");
        }
        // An earlier dimension has become a setting of the points.
        if points.iter().any(|point| point.settings.iter().any(|(known, _)| known == key)) {
            return bad(format!("the sweep gives {key} already"), "leave one of the two out");
        }
        let name = short_key(key, &keys, &points);
        let with = |point: &SweepPoint| -> Vec<SweepPoint> {
            let with = |value: &String| {
                let own = format!("{name}={}", value.trim_matches('"'));
                let label = if point.label.is_empty() { own } else { format!("{} {own}", point.label) };
                let mut settings = point.settings.clone();
                settings.push((key.clone(), value.clone()));
                SweepPoint { label, settings, ..point.clone() }
            };
            values.iter().map(with).collect()
        };
        points = points.iter().flat_map(with).collect();
    }
    Ok(points)
}

/// The last part of a key, as in the labels of a scenario's own grid, if no other key of the sweep ends with the same.
fn short_key<'k>(key: &'k str, grid: &[&str], points: &[SweepPoint]) -> &'k str {
    let last = |key: &'k str| key.rsplit('.').next().unwrap_or(key);
    let alike = |other: &str| other != key && other.rsplit('.').next() == Some(last(key));
    let own = points.iter().flat_map(|point| &point.settings).any(|(other, _)| alike(other));
    if own || grid.iter().any(|other| alike(other)) { key } else { last(key) }
}

/// Seeds as a text: `1-5` or `1,7,9`, or both. `argument` is what errors call it.
pub fn parse_seeds(argument: &str, text: &str, sets: &[(String, String)]) -> Result<Vec<u64>, Error> {
    let refused = |problem: String, remedy: &str| Error::refused(format!("{argument} {text}"), problem, remedy);
    let bad = || refused("these are not seeds".to_owned(), "write 1-5, or 1,7,9");
    if sets.iter().any(|(key, _)| key == "seed") {
        return Err(refused("--set gives the seed, too".to_owned(), "leave one of the two out"));
    }
    let mut seeds = Vec::new();
    for part in text.split(',') {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let (from, to): (u64, u64) = (from.trim().parse().map_err(|_| bad())?, to.trim().parse().map_err(|_| bad())?);
        if from > to {
            return Err(bad());
        }
        if to - from >= MOST_SEEDS || seeds.len() as u64 + (to - from) >= MOST_SEEDS {
            return Err(refused("these are too many seeds".to_owned(), &format!("give at most {MOST_SEEDS} seeds")));
        }
        seeds.extend(from..=to);
    }
    let mut sorted = seeds.clone();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(twice) => Err(refused(format!("seed {} is there twice", twice[0]), "name each seed once")),
        None => Ok(seeds),
    }
}

/// All runs of points with seeds, with directories below `out`.
pub fn jobs(points: &[SweepPoint], seeds: &[u64], sets: &[(String, String)], out: &Path) -> Vec<Job> {
    let mut jobs = Vec::new();
    let names = point_directories(points.iter().map(|point| point.label.as_str()));
    for (number, point) in points.iter().enumerate() {
        for seed in seeds {
            let mut all = sets.to_vec();
            all.extend(point.settings.iter().cloned());
            all.push(("seed".to_owned(), seed.to_string()));
            jobs.push(Job {
                point: number,
                label: format!("{} seed {seed}", point.label).trim_start().to_owned(),
                sets: all,
                directory: out.join(&names[number]).join(format!("seed{seed}")),
            });
        }
    }
    jobs
}

/// Runs jobs on several threads, each by `one`, until all are finished, one fails or `stopped` says so. A job that was
/// not reached or was stopped has `None`.
pub fn run_all(
    jobs: &[Job],
    threads: usize,
    stopped: &(dyn Fn() -> bool + Sync),
    finished: &(dyn Fn(&Job) + Sync),
    one: &(dyn Fn(&Job) -> Result<Option<Done>, Error> + Sync),
) -> Result<Vec<Option<Done>>, Error> {
    pool::run(jobs.len(), threads, stopped, |number| {
        let done = one(&jobs[number]);
        if !matches!(done, Ok(None)) {
            finished(&jobs[number]);
        }
        done
    })
}

/// Runs a job into its directory, unless its result is there. `None` if it was stopped: then nothing is written.
pub fn run_to_directory(
    file: &ScenarioFile,
    job: &Job,
    keep: Keep,
    force: bool,
    stopped: &(dyn Fn() -> bool + Sync),
) -> Result<Option<Done>, Error> {
    let prepared = file.prepare(&job.sets)?;
    if let Some(summary) = finished(&job.directory, &prepared.resolved, keep) {
        return Ok(Some(Done { summary, before: true }));
    }
    store::unlink(&job.directory)?;
    destination::check(&job.directory, Kind::Run, force)?;
    let summary = run_into(&prepared, &job.directory, keep, &mut |_| !stopped())?;
    if summary.is_none() {
        // Samples may have made directories; those that are empty go again.
        let _ = std::fs::remove_dir(&job.directory)
            .and_then(|()| job.directory.parent().map_or(Ok(()), std::fs::remove_dir));
    }
    Ok(summary.map(|summary| Done { summary, before: false }))
}

/// Runs a job for its numbers alone. `None` if it was stopped.
pub fn run_in_memory(
    file: &ScenarioFile,
    job: &Job,
    stopped: &(dyn Fn() -> bool + Sync),
) -> Result<Option<Done>, Error> {
    let summary = summarize_run(&file.prepare(&job.sets)?, &mut |_| !stopped());
    Ok((!summary.run.interrupted).then_some(Done { summary, before: false }))
}

/// What there is in the directory of a run.
pub enum Standing {
    /// Its result.
    Finished(Box<Summary>),
    /// The same by another build of this version: code may have changed that it depends on.
    OtherBuild,
    /// Something else, or nothing.
    Nothing,
}

/// Looks at the directory of a run.
pub fn standing(directory: &Path, resolved: &str, keep: Keep) -> Standing {
    let Some(run) = is_run(directory).then(|| read_run(directory).ok()).flatten() else { return Standing::Nothing };
    let same = run.scenario_text().is_ok_and(|text| text == resolved);
    let info = &run.summary.run;
    let complete = keep == Keep::Summary || has_tables(directory, keep == Keep::Csv);
    if !same || !complete || info.interrupted || info.version != env!("CARGO_PKG_VERSION") {
        Standing::Nothing
    } else if info.build.as_deref() != Some(BUILD) {
        Standing::OtherBuild
    } else {
        Standing::Finished(Box::new(run.summary))
    }
}

/// The summary of a run that needs not be run again.
pub fn finished(directory: &Path, resolved: &str, keep: Keep) -> Option<Summary> {
    match standing(directory, resolved, keep) {
        Standing::Finished(summary) => Some(*summary),
        Standing::OtherBuild | Standing::Nothing => None,
    }
}

/// The summaries of jobs that are finished, each with the number of its point.
pub fn summaries(jobs: &[Job], results: Vec<Option<Done>>) -> impl Iterator<Item = (usize, Summary)> {
    jobs.iter().zip(results).filter_map(|(job, done)| Some((job.point, done?.summary)))
}

/// What a sweep has found out, as tables and as text for people.
pub struct Tables {
    /// A row for every run that is finished, with its parameters and its seed.
    pub runs: Table,
    /// A row for every point, with confidence intervals over its seeds.
    pub points: Table,
    /// The points, for people.
    pub text: String,
}

impl Tables {
    /// The tables of runs that are finished: each with the number of its point.
    pub fn new(points: &[SweepPoint], finished: impl IntoIterator<Item = (usize, Summary)>) -> Self {
        let row = |point: &SweepPoint| SweepRow {
            // A point without a label is the only one.
            settings: if point.label.is_empty() { vec![] } else { vec![("point".to_owned(), point.label.clone())] },
            parameters: point.settings.clone(),
            seeds: Vec::new(),
        };
        let mut rows: Vec<SweepRow> = points.iter().map(row).collect();
        for (point, summary) in finished {
            rows[point].seeds.push(summary);
        }
        rows.retain(|row| !row.seeds.is_empty());
        let (points, text) = sweep_table(&rows);
        Self { runs: forebay_results::sweep_seeds::seed_table(&rows), points, text }
    }

    /// Writes both tables into the directory of the sweep, as Parquet and as CSV.
    pub fn write(&self, out: &Path) -> Result<(), Error> {
        for (name, table) in [(SWEEP, &self.runs), ("points.parquet", &self.points)] {
            table.write_parquet(&out.join(name))?;
            table.write_csv(&out.join(name).with_extension("csv"))?;
        }
        Ok(())
    }
}
