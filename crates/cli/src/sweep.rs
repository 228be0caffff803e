//! `forebay sweep`: every point of a grid, with every seed, on all cores, in parts, or on a cluster.

use crate::Failure;
use crate::args::Force;
use crate::cluster::{self, ClusterArgs, Mode};
use crate::output::{self, print, print_json};
use crate::progress::RunsBar;
use crate::report;
use crate::sets::settings;
use clap::Args as ClapArgs;
use forebay_results::directory::has_tables;
use forebay_runner::destination::{self, Claim, Kind, LOGS, PAGE, default_directory};
use forebay_runner::estimate::{self, Estimate};
use forebay_runner::inputs::Inputs;
use forebay_runner::run::Keep;
use forebay_runner::shard::Shard;
use forebay_runner::slurm::{self, Batch, Options};
use forebay_runner::store::Store;
use forebay_runner::sweep::{
    Checked, Dimension, Done, Job, Standing, Sweep, Tables, parse_seeds, run_all, run_to_directory, standing, summaries,
};
use forebay_runner::{ScenarioFile, warnings};
use forebay_sim::scenario::sweep::SweepPoint;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

#[derive(ClapArgs, Debug)]
pub(crate) struct SweepArgs {
    /// The scenario: a TOML file; without a sweep table, it is one point.
    pub(crate) scenario: PathBuf,
    /// Change a setting of all points; as for run.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Another dimension of the grid: a key and its values, such as policy.alpha=0.5,1,2; can be given several times.
    #[arg(long, value_name = "KEY=VALUE,...")]
    pub(crate) grid: Vec<String>,
    /// Apply one of the file's scales, such as quick: the changes of its table [scale.quick].
    #[arg(long, value_name = "NAME")]
    pub(crate) scale: Option<String>,
    /// The seeds, such as 1-5 or 1,7,9, instead of the scenario's.
    #[arg(long, value_name = "SEEDS")]
    pub(crate) seeds: Option<String>,
    /// The directory of the results; without this, results/NAME-sweep, with what was set in its name.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Runs at the same time; without this, one for each core.
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Write every table as CSV, too.
    #[arg(long)]
    pub(crate) csv: bool,
    /// Keep only the summary of each run: the table of the sweep is the same, and there is no page.
    #[arg(long, conflicts_with = "csv")]
    pub(crate) summaries: bool,
    /// Show no progress.
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Print JSON instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    #[command(flatten)]
    pub(crate) replace: Force,
}

/// A sweep as it was asked for.
struct Asked<'a> {
    args: &'a SweepArgs,
    file: ScenarioFile,
    sweep: Sweep,
    out: PathBuf,
    jobs: Vec<Job>,
    keep: Keep,
}

pub(crate) fn run(args: &SweepArgs) -> Result<(), Failure> {
    let mode = args.cluster.mode()?;
    let file = ScenarioFile::open(&args.scenario)?;
    let sets = settings(&args.set, None)?;
    let grid = args.grid.iter().map(|text| dimension(text)).collect::<Result<Vec<_>, _>>()?;
    let seeds = args.seeds.as_ref().map(|text| parse_seeds("--seeds", text, &sets)).transpose()?;
    // A part reads its own runs alone.
    let checked = if matches!(mode, Mode::Shard(_) | Mode::Merge) { Checked::Names } else { Checked::Scenarios };
    let sweep = Sweep::plan(&file, sets.clone(), args.scale.as_deref(), &grid, seeds, checked)?;
    let end = args.scale.as_ref().map_or_else(|| "sweep".to_owned(), |scale| format!("{scale}-sweep"));
    let out = match &args.out {
        Some(out) => out.clone(),
        None => default_directory(&sweep.first(&file)?.scenario.name, &sets, &end),
    };
    destination::check(&out, Kind::Sweep, args.replace.force)?;
    sweep.check_size()?;
    let jobs = sweep.jobs(&out);
    let keep = if args.summaries { Keep::Summary } else { Keep::tables(args.csv) };
    let asked = Asked { args, file, sweep, out, jobs, keep };
    match mode {
        Mode::Here => asked.run_here(),
        Mode::Shard(shard) => asked.run_shard(shard),
        Mode::Merge => asked.merge(),
        Mode::Slurm(options) => asked.run_on_slurm(options),
    }
}

impl Asked<'_> {
    fn threads(&self) -> usize {
        let cores = forebay_runner::pool::cores();
        self.args.jobs.map_or(cores, usize::from)
    }

    /// Runs everything, on this machine.
    fn run_here(&self) -> Result<(), Failure> {
        let Self { args, file, sweep, out, jobs, keep } = self;
        let force = args.replace.force;
        let tried = try_all(file, sweep, jobs, *keep, force)?;
        let claim = destination::prepare(out, Kind::Sweep, &tried.inputs, force)?;
        estimate::check_space(out, tried.needed).inspect_err(|_| drop(std::fs::remove_dir(out)))?;
        tried.warned.iter().take(5).for_each(|warning| eprintln!("{warning}"));
        if tried.of_other_builds > 0 {
            let (others, all) = (tried.of_other_builds, jobs.len());
            eprintln!("{others} of {all} runs here are of another build of forebay, and are run again");
        }
        output::stop_gently();
        let bar = RunsBar::new(jobs.len(), args.quiet);
        let results =
            run_all(jobs, self.threads(), &output::is_interrupted, &|job| bar.finished(&job.label), &|job| {
                run_to_directory(file, job, *keep, force, &output::is_interrupted)
            })?;
        drop(bar);
        let told = finish(&sweep.points, jobs, results, out)?;
        told.show(args.json, &told.rows)?;
        drop(claim);
        told.end()
    }

    /// Runs a part into the store, beside others.
    fn run_shard(&self, shard: Shard) -> Result<(), Failure> {
        let Self { args, file, out, jobs, keep, .. } = self;
        let own: Vec<Job> =
            jobs.iter().enumerate().filter(|(number, _)| shard.has(*number)).map(|(_, job)| job.clone()).collect();
        let store = Store::new(file, out);
        let claim = store.open()?;
        output::stop_gently();
        let bar = RunsBar::new(own.len(), args.quiet);
        let results =
            run_all(&own, self.threads(), &output::is_interrupted, &|job| bar.finished(&job.label), &|job| {
                store.run(job, *keep, args.replace.force, &output::is_interrupted)
            })?;
        drop((bar, claim));
        let finished = results.iter().flatten().count();
        let before = results.iter().flatten().filter(|done| done.before).count();
        if args.json {
            print(&format!("{{\"runs\": {}, \"finished\": {finished}, \"before\": {before}}}\n", own.len()))?;
        } else {
            let Shard { index, of } = shard;
            print(&format!(
                "part {} of {of}: {finished} of its {} runs are finished, {before} of them before\nresults: {}\n\
                 --merge instead of --shard makes the table of all parts\n",
                index + 1,
                own.len(),
                out.display()
            ))?;
        }
        if finished < own.len() { Err(Failure::Interrupted) } else { Ok(()) }
    }

    /// Makes the table and the page of what is there.
    fn merge(&self) -> Result<(), Failure> {
        let Self { args, file, sweep, out, jobs, keep } = self;
        let store = Store::new(file, out);
        let claim = Claim::share(out)?;
        let bar = RunsBar::new(jobs.len(), args.quiet);
        let found = run_all(jobs, self.threads(), &|| false, &|job| bar.finished(&job.label), &|job| {
            Ok(store.find(job, *keep)?.map(|summary| Done { summary, before: true }))
        });
        drop(bar);
        let found = found.inspect_err(|_| drop(std::fs::remove_dir(out)))?;
        let missing: Vec<&str> =
            jobs.iter().zip(&found).filter(|(_, done)| done.is_none()).map(|(job, _)| job.label.as_str()).collect();
        if missing.len() == jobs.len() {
            // What was made only to be looked at goes again.
            let _ = std::fs::remove_dir(out);
            let help = "run parts of it with --shard I/N, with the same arguments and the same build of forebay";
            return Err(Failure::refused(out.display(), format!("none of the {} runs is here", jobs.len()), help));
        }
        let Told { mut text, rows, .. } = write_tables(&sweep.points, jobs, found, out)?;
        if !missing.is_empty() {
            let some = missing.iter().take(10).map(|label| format!("  {label}\n")).collect::<String>();
            let more = if missing.len() > 10 { "  ...\n" } else { "" };
            text.push_str(&format!("{} of {} runs are missing:\n{some}{more}", missing.len(), jobs.len()));
        }
        drop(claim);
        if args.json {
            print_json(&rows)?;
            eprint!(
                "{}",
                text.lines().filter(|_| !missing.is_empty()).map(|line| format!("{line}\n")).collect::<String>()
            );
        } else {
            print(&text)?;
        }
        if missing.is_empty() {
            store.tidy();
            Ok(())
        } else {
            Err(Failure::Findings)
        }
    }

    /// Has job arrays run everything, and makes the table.
    fn run_on_slurm(&self, options: Options) -> Result<(), Failure> {
        let Self { args, file, out, jobs, keep, .. } = self;
        let batch = self.batch(options)?;
        if args.cluster.dry_run {
            return cluster::print_dry_run(&batch);
        }
        let store = Store::new(file, out);
        let keys = jobs.iter().map(|job| store.key(&file.resolve(&job.sets)?)).collect::<Result<Vec<_>, _>>()?;
        let claim = store.open()?;
        cluster::follow(&batch, args.quiet, &|run| store.has(keys[run], *keep))?;
        drop(claim);
        self.merge()
    }

    /// What the tasks of job arrays run.
    fn batch(&self, options: Options) -> Result<Batch, Failure> {
        let Self { args, file, out, jobs, .. } = self;
        let out = slurm::absolute(out)?;
        let mut command = cluster::program()?;
        command.extend(["sweep".to_owned(), slurm::absolute(&args.scenario)?]);
        for (option, values) in [("--set", &args.set), ("--grid", &args.grid)] {
            values.iter().for_each(|value| command.extend([option.to_owned(), value.clone()]));
        }
        for (option, value) in [("--scale", &args.scale), ("--seeds", &args.seeds)] {
            value.iter().for_each(|value| command.extend([option.to_owned(), value.clone()]));
        }
        for (option, given) in
            [("--csv", args.csv), ("--summaries", args.summaries), ("--force", args.replace.force), ("--quiet", true)]
        {
            command.extend(given.then(|| option.to_owned()));
        }
        command.extend(["--out".to_owned(), out.clone()]);
        let name = slurm::name_of([file.text.as_str()].into_iter().chain(command.iter().map(String::as_str)));
        let directory = PathBuf::from(out).join(LOGS);
        Ok(Batch { name, command, runs: jobs.len(), directory, options })
    }
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
fn try_all(file: &ScenarioFile, sweep: &Sweep, jobs: &[Job], keep: Keep, force: bool) -> Result<Tried, Failure> {
    let mut tried = Tried { inputs: Inputs::default(), warned: BTreeSet::new(), needed: 0, of_other_builds: 0 };
    for job in jobs {
        let prepared = sweep.prepare(file, &job.sets)?;
        tried.inputs = file.inputs(&prepared.resolved);
        destination::keep_inputs(&job.directory, &tried.inputs)?;
        destination::keep_others(&job.directory, &prepared.resolved, force)?;
        let there = standing(&job.directory, &prepared.resolved, keep);
        tried.of_other_builds += usize::from(matches!(there, Standing::OtherBuild));
        tried.warned.extend(warnings::of(&prepared.scenario));
        if !matches!(there, Standing::Finished(_)) && keep != Keep::Summary {
            let least = Estimate::new(&prepared, keep == Keep::Csv).least();
            tried.needed = tried.needed.saturating_add(least);
        }
    }
    Ok(tried)
}

/// `KEY=VALUE,VALUE`.
fn dimension(text: &str) -> Result<Dimension, Failure> {
    let given = format!("--grid {text}");
    let (key, values) = text.split_once('=').unwrap_or((text, ""));
    let (key, values) = (key.trim(), split_values(values));
    let problem = match values.iter().filter(|value| value.is_empty()).count() {
        0 if !key.is_empty() => None,
        empty if !key.is_empty() && empty < values.len() => {
            Some("there is nothing between two commas, or behind the last")
        }
        _ => Some("this is not a key with values"),
    };
    if let Some(problem) = problem {
        let help = "write --grid KEY=VALUE,VALUE, such as --grid policy.alpha=0.5,1,2";
        return Err(Failure::refused(given, problem, help));
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
    values
}

/// What is told of a sweep.
pub(crate) struct Told {
    /// For people, with where its files are.
    pub(crate) text: String,
    /// The rows of its points.
    pub(crate) rows: Value,
    /// How many runs are not finished.
    missing: usize,
}

impl Told {
    /// Prints the text, or the JSON.
    pub(crate) fn show(&self, as_json: bool, json: &Value) -> Result<(), Failure> {
        if as_json { print_json(json) } else { print(&self.text) }
    }

    /// Whether the sweep is finished.
    pub(crate) fn end(&self) -> Result<(), Failure> {
        if self.missing > 0 { Err(Failure::Interrupted) } else { Ok(()) }
    }
}

/// Writes the table and the page of what is finished.
fn write_tables(points: &[SweepPoint], jobs: &[Job], results: Vec<Option<Done>>, out: &Path) -> Result<Told, Failure> {
    let first = jobs.iter().zip(&results).find(|(_, done)| done.is_some());
    // Runs of which only summaries are kept have nothing to plot.
    let has_page = first.is_some_and(|(job, _)| has_tables(&job.directory, false));
    let tables = Tables::new(points, summaries(jobs, results));
    tables.write(out)?;
    let mut text = format!("{}\nresults: {}\n", tables.text, out.display());
    if has_page {
        let page = out.join(PAGE);
        // The directory is ours, and so is the page in it.
        report::write(&page, &[out.to_owned()], true)?;
        text.push_str(&format!("report:  {}\n", page.display()));
    }
    Ok(Told { text, rows: tables.points.to_json(), missing: 0 })
}

/// Writes the table and the page of everything that is finished.
pub(crate) fn finish(
    points: &[SweepPoint],
    jobs: &[Job],
    results: Vec<Option<Done>>,
    out: &Path,
) -> Result<Told, Failure> {
    let missing = results.iter().filter(|result| result.is_none()).count();
    let before = results.iter().flatten().filter(|done| done.before).count();
    let mut told = Told { text: String::new(), rows: json!([]), missing };
    if missing < results.len() {
        told = Told { missing, ..write_tables(points, jobs, results, out)? };
    }
    if before > 0 {
        told.text.push_str(&format!("{before} of {} runs were finished before and not run again\n", jobs.len()));
    }
    if missing > 0 {
        told.text.push_str(&format!(
            "{missing} of {} runs are not finished; give the same command again to go on\n",
            jobs.len()
        ));
    }
    Ok(told)
}
