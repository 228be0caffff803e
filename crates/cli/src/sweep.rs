//! `forebay sweep`: every point of a grid, with every seed, on all cores.
//!
//! Each run has a directory of its own below that of its point. A run whose directory holds a result of the same resolved
//! scenario, by the same build of the same version, is finished and not run again.

use crate::Failure;
use crate::args::SweepArgs;
use crate::destination::{self, Kind, PAGE, SWEEP, default_directory, point_directories};
use crate::estimate::{self, Estimate};
use crate::output::{self, print};
use crate::outputs::Outputs;
use crate::progress::RunsBar;
use crate::run::simulate;
use crate::scenario_file::{ScenarioFile, settings};
use crate::{report, warnings};
use forebay_results::Summary;
use forebay_results::directory::{is_run, read_run};
use forebay_results::summary::BUILD;
use forebay_results::sweep::{SweepRow, sweep_table};
use forebay_sim::scenario::sweep::{self, Checked, SweepPoint};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Runs that a sweep can have; a scenario's own grid has the same limit.
const MOST_RUNS: usize = 100_000;

/// One run of the sweep.
pub(crate) struct Job {
    pub(crate) point: usize,
    pub(crate) label: String,
    pub(crate) sets: Vec<(String, String)>,
    pub(crate) directory: PathBuf,
}

/// A run that is finished.
pub(crate) struct Done {
    pub(crate) summary: Summary,
    /// By an earlier sweep.
    pub(crate) before: bool,
}

pub(crate) fn run(args: &SweepArgs) -> Result<(), Failure> {
    let file = ScenarioFile::open(&args.scenario)?;
    let sets = settings(&args.set, None)?;
    let plan = sweep::read_at(&file.name, &file.text, &sets, args.scale.as_deref(), Checked::Scenarios)?;
    let points = with_grid(plan.points, &args.grid, &sets)?;
    let seeds = match &args.seeds {
        Some(text) => parse_seeds(text, &sets)?,
        None => plan.seeds,
    };
    let end = args.scale.as_ref().map_or_else(|| "sweep".to_owned(), |scale| format!("{scale}-sweep"));
    let out = match &args.out {
        Some(out) => out.clone(),
        None => {
            let first: Vec<_> = sets
                .iter()
                .chain(&plan.sets)
                .chain(points.first().map_or(&[][..], |point| &point.settings))
                .cloned()
                .collect();
            let name = file.prepare(&first).map_err(|failure| told_as_grid(failure, &args.grid))?.scenario.name;
            default_directory(&name, &sets, &end)
        }
    };
    // A scale comes after what was typed: it cannot set the same.
    let sets: Vec<(String, String)> = sets.into_iter().chain(plan.sets).collect();
    let force = args.replace.force;
    destination::check(&out, Kind::Sweep, force)?;
    let runs = points.len().saturating_mul(seeds.len());
    if runs > MOST_RUNS {
        return Err(Failure::Input(format!(
            "error: these are {runs} runs\n  help: give fewer values or seeds: at most {MOST_RUNS} runs"
        )));
    }
    let jobs = jobs(&points, &seeds, &sets, &out);
    // All settings are tried before anything runs, and all directories looked at.
    let (mut of_other_builds, mut needed) = (0, 0u64);
    let (mut inputs, mut warned) = (Outputs::new(force), BTreeSet::new());
    for job in &jobs {
        let prepared = file.prepare(&job.sets).map_err(|failure| told_as_grid(failure, &args.grid))?;
        inputs = file.inputs(&prepared.resolved, force);
        destination::keep_inputs(&job.directory, &inputs)?;
        destination::keep_others(&job.directory, &prepared.resolved, force)?;
        let there = standing(&job.directory, &prepared.resolved, args.csv);
        of_other_builds += usize::from(matches!(there, Standing::OtherBuild));
        warned.extend(warnings::of(&prepared.scenario));
        if !matches!(there, Standing::Finished(_)) {
            needed = needed.saturating_add(Estimate::new(&prepared, args.csv).least());
        }
    }
    let claim = destination::prepare(&out, Kind::Sweep, &inputs, force)?;
    estimate::check_space(&out, needed).inspect_err(|_| drop(std::fs::remove_dir(&out)))?;
    warned.iter().take(5).for_each(|warning| eprintln!("{warning}"));
    if of_other_builds > 0 {
        let all = jobs.len();
        eprintln!("{of_other_builds} of {all} runs here are of another build of forebay, and are run again");
    }
    output::stop_gently();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let results = run_all(&file, &jobs, args.jobs.map_or(cores, usize::from), args)?;
    let finished = finish(&points, &jobs, &results, &out, args.json);
    drop(claim);
    finished
}

/// An error in a value of the grid, said where it was given.
fn told_as_grid(failure: Failure, grid: &[String]) -> Failure {
    let given = |text: &str| {
        let setting = text.strip_prefix("error: --set \"")?;
        let (key, _) = setting.split_once('=')?;
        let is_given = grid.iter().any(|own| own.split_once('=').is_some_and(|(known, _)| known.trim() == key));
        is_given.then(|| format!("error: --grid \"{setting}"))
    };
    match failure {
        Failure::Input(text) => Failure::Input(given(&text).unwrap_or(text)),
        other => other,
    }
}

/// Combines the points with the dimensions of the grid that were given as arguments.
fn with_grid(
    mut points: Vec<SweepPoint>,
    grid: &[String],
    sets: &[(String, String)],
) -> Result<Vec<SweepPoint>, Failure> {
    let keys: Vec<&str> = grid.iter().filter_map(|own| own.split_once('=')).map(|(key, _)| key.trim()).collect();
    for dimension in grid {
        let bad = |problem: String, help: &str| {
            Err(Failure::Input(format!("error: --grid {dimension}: {problem}\n  help: {help}")))
        };
        let (key, values) = dimension.split_once('=').unwrap_or((dimension, ""));
        let (key, values) = (key.trim(), split_values(values));
        if key.is_empty() || values.is_empty() {
            let help = "write --grid KEY=VALUE,VALUE, such as --grid policy.alpha=0.5,1,2";
            return bad("this is not a key with values".to_owned(), help);
        }
        if key == "seed" {
            return bad("seeds are not a dimension".to_owned(), "write --seeds 1-5 instead");
        }
        let mut seen = BTreeSet::new();
        if let Some(twice) = values.iter().find(|value| !seen.insert(**value)) {
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
            let with = |value: &&str| {
                let own = format!("{name}={}", value.trim_matches('"'));
                let label = if point.label.is_empty() { own } else { format!("{} {own}", point.label) };
                let mut settings = point.settings.clone();
                settings.push((key.to_owned(), (*value).to_owned()));
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

/// Values between commas that are in no brackets.
fn split_values(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut values) = (0i32, 0, Vec::new());
    for (at, character) in text.char_indices() {
        match character {
            '[' | '{' => depth += 1,
            ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                values.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    values.push(text[start..].trim());
    values.retain(|value| !value.is_empty());
    values
}

/// `1-5` or `1,7,9`, or both.
fn parse_seeds(text: &str, sets: &[(String, String)]) -> Result<Vec<u64>, Failure> {
    /// More are a mistake.
    const MOST: u64 = 10_000;
    let bad = || Failure::Input(format!("error: --seeds {text}: these are not seeds\n  help: write 1-5, or 1,7,9"));
    let too_many = || {
        let help = format!("give at most {MOST} seeds");
        Err(Failure::Input(format!("error: --seeds {text}: these are too many seeds\n  help: {help}")))
    };
    if sets.iter().any(|(key, _)| key == "seed") {
        let help = "leave one of the two out";
        return Err(Failure::Input(format!("error: --seeds {text}: --set gives the seed, too\n  help: {help}")));
    }
    let mut seeds = Vec::new();
    for part in text.split(',') {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let (from, to): (u64, u64) = (from.trim().parse().map_err(|_| bad())?, to.trim().parse().map_err(|_| bad())?);
        if from > to {
            return Err(bad());
        }
        if to - from >= MOST || seeds.len() as u64 + (to - from) >= MOST {
            return too_many();
        }
        seeds.extend(from..=to);
    }
    let mut sorted = seeds.clone();
    sorted.sort_unstable();
    if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        let help = "name each seed once";
        return Err(Failure::Input(format!("error: --seeds {text}: seed {} is there twice\n  help: {help}", twice[0])));
    }
    Ok(seeds)
}

pub(crate) fn jobs(points: &[SweepPoint], seeds: &[u64], sets: &[(String, String)], out: &Path) -> Vec<Job> {
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

/// Runs all jobs that are not finished yet. `None` for those that were not reached.
fn run_all(file: &ScenarioFile, jobs: &[Job], threads: usize, args: &SweepArgs) -> Result<Vec<Option<Done>>, Failure> {
    let bar = RunsBar::new(jobs.len(), args.quiet);
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let results: Mutex<Vec<Option<Result<Done, Failure>>>> = Mutex::new(jobs.iter().map(|_| None).collect());
    let work = || {
        while !output::is_interrupted() && !failed.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(number) else { return };
            if let Some(result) = run_one(file, job, args).transpose() {
                bar.finished(&job.label);
                failed.fetch_or(result.is_err(), Ordering::Relaxed);
                results.lock().unwrap_or_else(PoisonError::into_inner)[number] = Some(result);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(jobs.len()) {
            scope.spawn(work);
        }
        work();
    });
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.into_iter().map(Option::transpose).collect()
}

/// `None` if it was interrupted: then nothing is written.
fn run_one(file: &ScenarioFile, job: &Job, args: &SweepArgs) -> Result<Option<Done>, Failure> {
    let prepared = file.prepare(&job.sets)?;
    if let Some(summary) = finished(&job.directory, &prepared.resolved, args.csv) {
        return Ok(Some(Done { summary, before: true }));
    }
    destination::check(&job.directory, Kind::Run, args.replace.force)?;
    let done = simulate(&prepared, &job.directory, args.csv, &mut |_| !output::is_interrupted());
    let summary = done.summary.clone();
    if summary.run.interrupted {
        drop(done);
        // Samples may have made directories; those that are empty go again.
        let _ = std::fs::remove_dir(&job.directory)
            .and_then(|()| job.directory.parent().map_or(Ok(()), std::fs::remove_dir));
        return Ok(None);
    }
    done.write(&prepared, &job.directory, args.csv)?;
    Ok(Some(Done { summary, before: false }))
}

/// What there is in the directory of a run.
enum Standing {
    /// Its result.
    Finished(Box<Summary>),
    /// The same by another build of this version: code may have changed that it depends on.
    OtherBuild,
    /// Something else, or nothing.
    Nothing,
}

fn standing(directory: &Path, resolved: &str, csv: bool) -> Standing {
    let Some(run) = is_run(directory).then(|| read_run(directory).ok()).flatten() else { return Standing::Nothing };
    let same = run.scenario_text().is_ok_and(|text| text == resolved);
    let info = &run.summary.run;
    let complete = !csv || directory.join("flows.csv").exists();
    if !same || !complete || info.interrupted || info.version != env!("CARGO_PKG_VERSION") {
        Standing::Nothing
    } else if info.build.as_deref() != Some(BUILD) {
        Standing::OtherBuild
    } else {
        Standing::Finished(Box::new(run.summary))
    }
}

/// The summary of a run that needs not be run again.
pub(crate) fn finished(directory: &Path, resolved: &str, csv: bool) -> Option<Summary> {
    match standing(directory, resolved, csv) {
        Standing::Finished(summary) => Some(*summary),
        Standing::OtherBuild | Standing::Nothing => None,
    }
}

/// Writes the table and the page of everything that is finished.
pub(crate) fn finish(
    points: &[SweepPoint],
    jobs: &[Job],
    results: &[Option<Done>],
    out: &Path,
    json: bool,
) -> Result<(), Failure> {
    let done_of = |number: usize| {
        let of_point = jobs.iter().zip(results).filter(move |(job, _)| job.point == number);
        of_point.filter_map(|(job, result)| Some((job, result.as_ref()?)))
    };
    let missing = results.iter().filter(|result| result.is_none()).count();
    let before = results.iter().flatten().filter(|done| done.before).count();
    let mut text = String::new();
    if missing < results.len() {
        let rows: Vec<SweepRow> = points
            .iter()
            .enumerate()
            .map(|(number, point)| SweepRow {
                // A point without a label is the only one.
                settings: if point.label.is_empty() { vec![] } else { vec![("point".to_owned(), point.label.clone())] },
                seeds: done_of(number).map(|(_, done)| done.summary.clone()).collect(),
            })
            .filter(|row| !row.seeds.is_empty())
            .collect();
        let (table, rendered) = sweep_table(&rows);
        table.write_parquet(&out.join(SWEEP))?;
        table.write_csv(&out.join("sweep.csv"))?;
        let page = out.join(PAGE);
        // The directory is ours, and so is the page in it.
        report::write(&page, &[out.to_owned()], true)?;
        if json {
            print(&format!("{:#}\n", table.to_json()))?;
        }
        text = format!("{rendered}\nresults: {}\nreport:  {}\n", out.display(), page.display());
    }
    if before > 0 {
        text.push_str(&format!("{before} of {} runs were finished before and not run again\n", jobs.len()));
    }
    if missing > 0 {
        text.push_str(&format!(
            "{missing} of {} runs are not finished; give the same command again to go on\n",
            jobs.len()
        ));
    }
    if !json {
        print(&text)?;
    }
    if missing > 0 { Err(Failure::Interrupted) } else { Ok(()) }
}
