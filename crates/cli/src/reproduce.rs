//! `forebay reproduce`: the papers' experiments, their figures, and what becomes of their claims.

use crate::Failure;
use crate::args::ReproduceArgs;
use crate::cluster::{self, Mode};
use crate::output::{self, cannot_write, print, print_json};
use crate::outputs::{Ours, Outputs};
use crate::progress::RunsBar;
use forebay_reproduce::campaign::{Campaign, Conditions};
use forebay_reproduce::figure::{Paper, Scale};
use forebay_reproduce::record::{FigureResult, Reproduction};
use forebay_reproduce::{papers, render};
use forebay_runner::destination::{Claim, LOGS};
use forebay_runner::pool;
use forebay_runner::scenario_file::cannot_read;
use forebay_runner::shard::Shard;
use forebay_runner::slurm::{self, Batch, Options};
use std::path::{Path, PathBuf};

/// Where the scenarios stand, seen from the project's documentation.
const IN_PROJECT: &str = "../scenarios";

pub(crate) fn run(args: &ReproduceArgs) -> Result<(), Failure> {
    let papers = papers::all();
    match (args.list, args.json) {
        (true, false) => return print(&render::terminal::list(&papers)),
        (true, true) => return print_json(&render::terminal::list_json(&papers)),
        (false, _) => {}
    }
    if let Some(file) = &args.render {
        let docs = args.docs.as_deref().unwrap_or(Path::new("."));
        return write_pages(&papers, &read_record(file)?, docs, IN_PROJECT, args.replace.force);
    }
    let mode = args.cluster.mode()?;
    let scale = scale_of(args);
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from("results/reproduce").join(scale.name()));
    let mut campaign = Campaign::plan(&papers, &args.what, scale, &out, args.scenarios.as_deref())?;
    if let Some(file) = &args.from {
        let help = "give a record of the same scale";
        campaign.go_on_from(&read_record(file)?).map_err(|problem| Failure::refused(file.display(), problem, help))?;
    }
    let conditions = Conditions {
        threads: args.jobs.map_or_else(pool::cores, usize::from),
        stopped: &output::is_interrupted,
        watch: &|runs| {
            let bar = RunsBar::new(runs, args.quiet);
            Box::new(move |label| bar.finished(label))
        },
    };
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
        Mode::Here => all.figures = campaign.run_until_decided(&conditions)?,
        Mode::Shard(shard) => {
            let figures = campaign.run(shard, &conditions)?;
            return tell_shard(&campaign, &figures, shard);
        }
        Mode::Merge => all.figures = campaign.collect(),
        Mode::Slurm(options) => {
            let batch = batch(args, &campaign, &out, options)?;
            if args.cluster.dry_run {
                return cluster::print_dry_run(&batch);
            }
            cluster::follow(&batch, args.quiet, &campaign.finished())?;
            all.figures = campaign.collect();
        }
    }
    let missing: usize = all.figures.iter().map(|result| result.missing).sum();
    tell(args, &papers, all, &out, missing)?;
    drop(claim);
    match missing {
        0 => Ok(()),
        _ if args.cluster.merge => Err(Failure::Findings),
        _ => Err(Failure::Interrupted),
    }
}

/// Writes the pages of what was run, those of the documentation if they are asked for, and says what came of it.
fn tell(args: &ReproduceArgs, papers: &[Paper], all: Reproduction, out: &Path, missing: usize) -> Result<(), Failure> {
    let mut text = if args.json { String::new() } else { render::terminal::claims(papers, &all) };
    let verdicts = args.json.then(|| render::verdicts::of(papers, &all));
    // The directory is ours.
    write_pages(papers, &all, out, "scenarios", true)?;
    if let Some(docs) = &args.docs {
        let record = docs.join(render::RECORD);
        // Figures that were not asked for stay as they are.
        let all = if args.what.is_empty() || !record.exists() {
            all
        } else {
            all.completed_by(read_record(&record)?, papers).map_err(|problem| {
                Failure::refused(record.display(), problem, "give another directory, or the scale that it has")
            })?
        };
        write_pages(papers, &all, docs, IN_PROJECT, args.replace.force)?;
    }
    match &verdicts {
        Some(verdicts) => text.push_str(verdicts),
        None => text.push_str(&format!("\npage: {}\n", out.join(render::PAGE).display())),
    }
    let left = match missing {
        0 => String::new(),
        _ if args.cluster.merge => format!("{missing} runs are missing\n"),
        _ => format!("{missing} runs are not finished; give the same command again to go on\n"),
    };
    if args.json {
        eprint!("{left}");
    } else {
        text.push_str(&left);
    }
    print(&text)
}

fn scale_of(args: &ReproduceArgs) -> Scale {
    match (args.quick, args.full) {
        (true, _) => Scale::Quick,
        (_, true) => Scale::Full,
        _ => Scale::Default,
    }
}

/// Says what a part has come to; the pages are made of all parts.
fn tell_shard(campaign: &Campaign<'_>, figures: &[FigureResult], shard: Shard) -> Result<(), Failure> {
    let own = (0..campaign.keys().len()).filter(|number| shard.has(*number)).count();
    let finished = figures.iter().map(|figure| figure.table.rows().len()).sum::<usize>();
    let Shard { index, of } = shard;
    print(&format!(
        "part {} of {of}: {finished} of its {own} runs are finished\n--merge instead of --shard makes the pages of all parts\n",
        index + 1
    ))?;
    if finished < own { Err(Failure::Interrupted) } else { Ok(()) }
}

/// What the tasks of job arrays run.
fn batch(args: &ReproduceArgs, campaign: &Campaign<'_>, out: &Path, options: Options) -> Result<Batch, Failure> {
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
    let keys = campaign.keys();
    let name = slurm::name_of(command.iter().chain(&keys).map(String::as_str));
    Ok(Batch { name, command, runs: keys.len(), directory: PathBuf::from(out).join(LOGS), options })
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
