//! `forebay sweep`: every point of a grid, with every seed, on all cores.

use crate::Failure;
use crate::args::SweepArgs;
use crate::output::{self, print};
use crate::progress::RunsBar;
use crate::report;
use crate::sets::settings;
use forebay_runner::destination::{self, Kind, PAGE, SWEEP, default_directory};
use forebay_runner::estimate::{self, Estimate};
use forebay_runner::inputs::Inputs;
use forebay_runner::sweep::{
    Dimension, Done, Job, Standing, Sweep, parse_seeds, run_all, run_to_directory, seed_table, standing, table,
};
use forebay_runner::{ScenarioFile, warnings};
use forebay_sim::scenario::sweep::SweepPoint;
use std::collections::BTreeSet;
use std::path::Path;

pub(crate) fn run(args: &SweepArgs) -> Result<(), Failure> {
    let file = ScenarioFile::open(&args.scenario)?;
    let sets = settings(&args.set, None)?;
    let grid = args.grid.iter().map(|text| dimension(text)).collect::<Result<Vec<_>, _>>()?;
    let seeds = args.seeds.as_ref().map(|text| parse_seeds("--seeds", text, &sets)).transpose()?;
    let sweep = Sweep::plan(&file, sets.clone(), args.scale.as_deref(), &grid, seeds)?;
    let end = args.scale.as_ref().map_or_else(|| "sweep".to_owned(), |scale| format!("{scale}-sweep"));
    let out = match &args.out {
        Some(out) => out.clone(),
        None => default_directory(&sweep.first(&file)?.scenario.name, &sets, &end),
    };
    let force = args.replace.force;
    destination::check(&out, Kind::Sweep, force)?;
    sweep.check_size()?;
    let jobs = sweep.jobs(&out);
    let tried = try_all(&file, &sweep, &jobs, args)?;
    let claim = destination::prepare(&out, Kind::Sweep, &tried.inputs, force)?;
    estimate::check_space(&out, tried.needed).inspect_err(|_| drop(std::fs::remove_dir(&out)))?;
    tried.warned.iter().take(5).for_each(|warning| eprintln!("{warning}"));
    if tried.of_other_builds > 0 {
        let (others, all) = (tried.of_other_builds, jobs.len());
        eprintln!("{others} of {all} runs here are of another build of forebay, and are run again");
    }
    output::stop_gently();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let bar = RunsBar::new(jobs.len(), args.quiet);
    let results = run_all(
        &jobs,
        args.jobs.map_or(cores, usize::from),
        &output::is_interrupted,
        &|job| bar.finished(&job.label),
        &|job| run_to_directory(&file, job, args.csv, force, &output::is_interrupted),
    )?;
    drop(bar);
    let finished = finish(&sweep.points, &jobs, &results, &out, args.json);
    drop(claim);
    finished
}

/// What is known of a sweep before it begins.
struct Tried {
    inputs: Inputs,
    warned: BTreeSet<String>,
    /// Bytes that it will write at the very least.
    needed: u64,
    of_other_builds: usize,
}

/// Tries all settings before anything runs, and looks at all directories.
fn try_all(file: &ScenarioFile, sweep: &Sweep, jobs: &[Job], args: &SweepArgs) -> Result<Tried, Failure> {
    let force = args.replace.force;
    let mut tried = Tried { inputs: Inputs::default(), warned: BTreeSet::new(), needed: 0, of_other_builds: 0 };
    for job in jobs {
        let prepared = sweep.prepare(file, &job.sets)?;
        tried.inputs = file.inputs(&prepared.resolved);
        destination::keep_inputs(&job.directory, &tried.inputs)?;
        destination::keep_others(&job.directory, &prepared.resolved, force)?;
        let there = standing(&job.directory, &prepared.resolved, args.csv);
        tried.of_other_builds += usize::from(matches!(there, Standing::OtherBuild));
        tried.warned.extend(warnings::of(&prepared.scenario));
        if !matches!(there, Standing::Finished(_)) {
            tried.needed = tried.needed.saturating_add(Estimate::new(&prepared, args.csv).least());
        }
    }
    Ok(tried)
}

/// `KEY=VALUE,VALUE`.
fn dimension(text: &str) -> Result<Dimension, Failure> {
    let given = format!("--grid {text}");
    let (key, values) = text.split_once('=').unwrap_or((text, ""));
    let (key, values) = (key.trim(), split_values(values));
    if key.is_empty() || values.is_empty() {
        let help = "write --grid KEY=VALUE,VALUE, such as --grid policy.alpha=0.5,1,2";
        return Err(Failure::Input(format!("error: {given}: this is not a key with values\n  help: {help}")));
    }
    let values = values.into_iter().map(str::to_owned).collect();
    Ok(Dimension { given, argument: "--grid", key: key.to_owned(), values })
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

/// Writes the table and the page of everything that is finished.
pub(crate) fn finish(
    points: &[SweepPoint],
    jobs: &[Job],
    results: &[Option<Done>],
    out: &Path,
    json: bool,
) -> Result<(), Failure> {
    let missing = results.iter().filter(|result| result.is_none()).count();
    let before = results.iter().flatten().filter(|done| done.before).count();
    let mut text = String::new();
    if missing < results.len() {
        let (table, rendered) = table(points, jobs, results);
        for (name, table) in [(SWEEP, &seed_table(points, jobs, results)), ("points.parquet", &table)] {
            table.write_parquet(&out.join(name))?;
            table.write_csv(&out.join(name).with_extension("csv"))?;
        }
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
