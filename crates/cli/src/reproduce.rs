//! `forebay reproduce`: the papers' experiments, their figures, and what becomes of their claims.
//!
//! The numbers of each run are kept as soon as it ends, under a key of everything they depend on, so that the same command
//! goes on where it was stopped, and runs again only what has changed.

use crate::Failure;
use crate::args::ReproduceArgs;
use crate::cluster::{self, Mode};
use crate::output::{self, cannot_write, print};
use crate::outputs::{Ours, Outputs};
use crate::progress::RunsBar;
use forebay_reproduce::figure::{Figure, Paper, Scale};
use forebay_reproduce::job::{self, FigurePlan, Job, Source};
use forebay_reproduce::record::{FigureResult, Reproduction};
use forebay_reproduce::render;
use forebay_reproduce::sequential::next_seeds;
use forebay_reproduce::store::Store;
use forebay_reproduce::table::{Row, Table};
use forebay_reproduce::{Metrics, papers};
use forebay_runner::destination::{Claim, LOGS};
use forebay_runner::pool;
use forebay_runner::scenario_file::{cannot_read, read_text};
use forebay_runner::shard::Shard;
use forebay_runner::slurm::{self, Batch, Options};
use std::path::{Path, PathBuf};

/// Where the scenarios stand, seen from the project's documentation.
const IN_PROJECT: &str = "../scenarios";

/// A figure that was asked for.
struct Chosen<'p> {
    paper: &'p Paper,
    figure: &'p Figure,
    source: Source,
    plan: FigurePlan,
    store: Store,
}

pub(crate) fn run(args: &ReproduceArgs) -> Result<(), Failure> {
    let papers = papers::all();
    if args.list {
        return print(&render::terminal::list(&papers));
    }
    if let Some(file) = &args.render {
        let docs = args.docs.as_deref().unwrap_or(Path::new("."));
        return write_pages(&papers, &read_record(file)?, docs, IN_PROJECT, args.replace.force);
    }
    let scale = scale_of(args);
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from("results/reproduce").join(scale.name()));
    let chosen = choose(&papers, &args.what)?;
    let chosen = chosen
        .into_iter()
        .map(|(paper, figure)| plan(paper, figure, scale, &out, args.scenarios.as_deref()))
        .collect::<Result<Vec<_>, _>>()?;
    let mode = args.cluster.mode()?;
    let claim = if matches!(mode, Mode::Here) { Claim::take(&out)? } else { Claim::share(&out)? };
    let mut all = Reproduction { version: env!("CARGO_PKG_VERSION").to_owned(), date: today(), scale, figures: vec![] };
    if let Some(docs) = &args.docs {
        let mut outputs = Outputs::new(args.replace.force);
        for (name, contents) in render::files(&papers, &all, IN_PROJECT) {
            outputs.check(&docs.join(name), Ours::of(&contents))?;
        }
    }
    output::stop_gently();
    match mode {
        Mode::Here => all.figures = run_until_decided(chosen, args)?,
        Mode::Shard(shard) => {
            let figures = run_all(&chosen, args, shard)?;
            return tell_shard(&chosen, &figures, shard);
        }
        Mode::Merge => all.figures = collect(&chosen, args),
        Mode::Slurm(options) => {
            let batch = batch(args, &chosen, &out, options)?;
            if args.cluster.dry_run {
                return cluster::print_dry_run(&batch);
            }
            let jobs: Vec<(usize, &Job)> = jobs(&chosen);
            cluster::follow(&batch, args.quiet, &|run| {
                let (number, job) = jobs[run];
                chosen[number].store.has(job)
            })?;
            all.figures = collect(&chosen, args);
        }
    }
    let missing: usize = all.figures.iter().map(|result| result.missing).sum();
    let mut text = render::terminal::claims(&papers, &all);
    // The directory is ours.
    write_pages(&papers, &all, &out, "scenarios", true)?;
    if let Some(docs) = &args.docs {
        let record = docs.join(render::RECORD);
        // Figures that were not asked for stay as they are.
        let all = if args.what.is_empty() || !record.exists() {
            all
        } else {
            all.completed_by(read_record(&record)?, &papers).map_err(|problem| {
                Failure::refused(record.display(), problem, "give another directory, or the scale that it has")
            })?
        };
        write_pages(&papers, &all, docs, IN_PROJECT, args.replace.force)?;
    }
    text.push_str(&format!("\npage: {}\n", out.join(render::PAGE).display()));
    if missing > 0 && args.cluster.merge {
        text.push_str(&format!("{missing} runs are missing\n"));
    } else if missing > 0 {
        text.push_str(&format!("{missing} runs are not finished; give the same command again to go on\n"));
    }
    print(&text)?;
    drop(claim);
    match missing {
        0 => Ok(()),
        _ if args.cluster.merge => Err(Failure::Findings),
        _ => Err(Failure::Interrupted),
    }
}

fn scale_of(args: &ReproduceArgs) -> Scale {
    match (args.quick, args.full) {
        (true, _) => Scale::Quick,
        (_, true) => Scale::Full,
        _ => Scale::Default,
    }
}

/// The figures that were asked for, in the order of the papers.
fn choose<'p>(papers: &'p [Paper], what: &[String]) -> Result<Vec<(&'p Paper, &'p Figure)>, Failure> {
    let all = || papers.iter().flat_map(|paper| paper.figures.iter().map(move |figure| (paper, figure)));
    let is = |name: &str, (paper, figure): &(&Paper, &Figure)| {
        let name = name.trim_end_matches(".toml").trim_end_matches('/');
        name == paper.id || name == format!("{}/{}", paper.id, figure.id)
    };
    for name in what {
        if !all().any(|one| is(name, &one)) {
            let known: Vec<&str> = papers.iter().map(|paper| paper.id).collect();
            let of_paper = papers.iter().find(|paper| name.split('/').next() == Some(paper.id));
            let help = match of_paper {
                Some(paper) => {
                    let ids: Vec<&str> = paper.figures.iter().map(|figure| figure.id).collect();
                    format!("{} has {}", paper.id, ids.join(", "))
                }
                None => format!("the papers are {}; --list names their figures", known.join(", ")),
            };
            return Err(Failure::refused(name, "there is no such paper or figure", help));
        }
    }
    Ok(all().filter(|one| what.is_empty() || what.iter().any(|name| is(name, one))).collect())
}

/// Reads a figure's file, and makes jobs of it.
fn plan<'p>(
    paper: &'p Paper,
    figure: &'p Figure,
    scale: Scale,
    out: &Path,
    scenarios: Option<&Path>,
) -> Result<Chosen<'p>, Failure> {
    let name = format!("{}.toml", figure.id);
    let source = match scenarios {
        Some(directory) => {
            let path = directory.join(paper.id).join(name);
            Source { name: path.display().to_string(), text: read_text(&path)? }
        }
        None => {
            // The files that come with Forebay are put beside the results that they give.
            let directory = out.join("scenarios").join(paper.id);
            let failure = |error| cannot_write(&directory.display().to_string(), &error);
            std::fs::create_dir_all(&directory).map_err(failure)?;
            for (name, text) in [(name.as_str(), figure.text)].iter().chain(figure.files) {
                let path = directory.join(name);
                // Other parts may be reading it.
                if std::fs::read_to_string(&path).is_ok_and(|there| there == **text) {
                    continue;
                }
                let file = tempfile::NamedTempFile::new_in(&directory).map_err(failure)?;
                std::fs::write(file.path(), text).map_err(failure)?;
                file.persist(path).map_err(|error| failure(error.error))?;
            }
            Source { name: directory.join(name).display().to_string(), text: figure.text.to_owned() }
        }
    };
    let plan = job::plan(paper, figure, scale, &source)?;
    Ok(Chosen { paper, figure, source, plan, store: Store::new(out, paper.id, figure.id) })
}

/// All runs, each with the number of its figure.
fn jobs<'c>(chosen: &'c [Chosen<'_>]) -> Vec<(usize, &'c Job)> {
    let of = |(number, own): (usize, &'c Chosen<'_>)| own.plan.jobs.iter().map(move |job| (number, job));
    chosen.iter().enumerate().flat_map(of).collect()
}

/// What is there.
fn collect(chosen: &[Chosen<'_>], args: &ReproduceArgs) -> Vec<FigureResult> {
    let results: Vec<Option<Metrics>> =
        jobs(chosen).iter().map(|(number, job)| chosen[*number].store.get(job)).collect();
    let mut results = results.into_iter();
    chosen.iter().map(|own| result_of(own, args, &mut results)).collect()
}

/// Says what a part has come to; the pages are made of all parts.
fn tell_shard(chosen: &[Chosen<'_>], figures: &[FigureResult], shard: Shard) -> Result<(), Failure> {
    let all = jobs(chosen);
    let own = all.iter().enumerate().filter(|(number, _)| shard.has(*number)).count();
    let finished = figures.iter().map(|figure| figure.table.rows().len()).sum::<usize>();
    let Shard { index, of } = shard;
    print(&format!(
        "part {} of {of}: {finished} of its {own} runs are finished\n--merge instead of --shard makes the pages of all parts\n",
        index + 1
    ))?;
    if finished < own { Err(Failure::Interrupted) } else { Ok(()) }
}

/// What the tasks of job arrays run.
fn batch(args: &ReproduceArgs, chosen: &[Chosen<'_>], out: &Path, options: Options) -> Result<Batch, Failure> {
    let mut command = cluster::program()?;
    command.push("reproduce".to_owned());
    command.extend(args.what.iter().cloned());
    let out = slurm::absolute(out)?;
    for (option, given) in [("--quick", args.quick), ("--full", args.full), ("--quiet", true)] {
        command.extend(given.then(|| option.to_owned()));
    }
    if let Some(directory) = &args.scenarios {
        command.extend(["--scenarios".to_owned(), slurm::absolute(directory)?]);
    }
    command.extend(["--out".to_owned(), out.clone()]);
    let jobs = jobs(chosen);
    let keys: Vec<String> = jobs.iter().map(|(_, job)| job.key.to_string()).collect();
    let name = slurm::name_of(command.iter().chain(&keys).map(String::as_str));
    Ok(Batch { name, command, runs: jobs.len(), directory: PathBuf::from(out).join(LOGS), options })
}

/// Runs all figures, then those whose claims are open with further seeds, as many as their scenarios allow.
fn run_until_decided(mut chosen: Vec<Chosen<'_>>, args: &ReproduceArgs) -> Result<Vec<FigureResult>, Failure> {
    let mut all = run_all(&chosen, args, Shard::ALL)?;
    let scale = scale_of(args);
    loop {
        for (own, result) in chosen.iter_mut().zip(&all) {
            own.plan.jobs.clear();
            if result.missing > 0 {
                continue;
            }
            let claims = own.figure.judged(own.paper.id, &result.table);
            let seeds = next_seeds(&claims, scale, &result.table.seeds(), own.plan.most_seeds);
            if !seeds.is_empty() {
                own.plan.jobs = job::plan_further(own.paper, own.figure, scale, &own.source, &seeds)?.jobs;
            }
        }
        if output::is_interrupted() || chosen.iter().all(|own| own.plan.jobs.is_empty()) {
            return Ok(all);
        }
        all = all.into_iter().zip(run_all(&chosen, args, Shard::ALL)?).map(|(first, more)| first.with(&more)).collect();
    }
}

/// Runs what is not finished yet of a part.
fn run_all(chosen: &[Chosen<'_>], args: &ReproduceArgs, shard: Shard) -> Result<Vec<FigureResult>, Failure> {
    let jobs = jobs(chosen);
    let own = (0..jobs.len()).filter(|number| shard.has(*number)).count();
    let bar = RunsBar::new(own, args.quiet);
    let threads = args.jobs.map_or_else(pool::cores, usize::from);
    let results = pool::run(jobs.len(), threads, &output::is_interrupted, |index| {
        let (number, job) = jobs[index];
        if !shard.has(index) {
            return Ok::<_, Failure>(None);
        }
        let own = &chosen[number];
        let metrics = run_one(own, job)?;
        if metrics.is_some() {
            bar.finished(&format!("{}/{} {}", own.paper.id, own.figure.id, label_of(job)));
        }
        Ok(metrics)
    })?;
    let mut results = results.into_iter();
    Ok(chosen.iter().map(|own| result_of(own, args, &mut results)).collect())
}

/// Takes a figure's results, in the order of its jobs.
fn result_of(
    own: &Chosen<'_>,
    args: &ReproduceArgs,
    results: &mut impl Iterator<Item = Option<Metrics>>,
) -> FigureResult {
    let jobs = &own.plan.jobs;
    let row = |(job, metrics): (&Job, Option<Metrics>)| Some(Row { point: job.point.clone(), metrics: metrics? });
    let rows: Vec<Row> = jobs.iter().zip(results.by_ref()).filter_map(row).collect();
    FigureResult {
        paper: own.paper.id.to_owned(),
        figure: own.figure.id.to_owned(),
        says: own.plan.says.clone(),
        missing: jobs.len() - rows.len(),
        cpu_seconds: rows.iter().map(|row| row.metrics.get("cost.cpu_seconds")).filter(|cost| cost.is_finite()).sum(),
        table: Table::new(scale_of(args), rows),
    }
}

/// `None` if it was interrupted.
fn run_one(own: &Chosen<'_>, job: &Job) -> Result<Option<Metrics>, Failure> {
    if let Some(metrics) = own.store.get(job) {
        return Ok(Some(metrics));
    }
    let result = job::run(own.figure, &own.source, job, &mut || !output::is_interrupted());
    let metrics = result.map_err(|problem| {
        Failure::refused(format_args!("{}/{} {}", own.paper.id, own.figure.id, label_of(job)), problem, "")
    })?;
    if let Some(metrics) = &metrics {
        let failure = |error| cannot_write(&own.store.directory().display().to_string(), &error);
        own.store.put(job, metrics).map_err(failure)?;
    }
    Ok(metrics)
}

fn label_of(job: &Job) -> String {
    let values = job
        .point
        .grid
        .iter()
        .map(|(key, value)| format!(" {}={}", key.rsplit('.').next().unwrap_or(key), value.trim_matches('"')));
    format!("{}{} seed {}", job.point.variant, values.collect::<String>(), job.point.seed)
}

fn read_record(file: &Path) -> Result<Reproduction, Failure> {
    let bytes = std::fs::read(file).map_err(|error| cannot_read(&file.display().to_string(), &error))?;
    Reproduction::from_file(&bytes).map_err(|problem| {
        let help = format!("give a {} that forebay reproduce has written", render::RECORD);
        Failure::refused(file.display(), problem, help)
    })
}

/// Writes the record and the pages made from it.
fn write_pages(
    papers: &[Paper],
    all: &Reproduction,
    directory: &Path,
    scenarios: &str,
    force: bool,
) -> Result<(), Failure> {
    for (name, contents) in render::files(papers, all, scenarios) {
        let path = directory.join(name);
        let failure = |error| cannot_write(&path.display().to_string(), &error);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(failure)?;
        }
        Outputs::new(force).write_bytes(&path, &contents)?;
    }
    Ok(())
}

/// The day, in Coordinated Universal Time.
fn today() -> String {
    chrono::DateTime::<chrono::Utc>::from(std::time::SystemTime::now()).date_naive().to_string()
}
