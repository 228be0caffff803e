//! Work in parts: on machines that know nothing of each other, and as job arrays of Slurm.

use crate::Failure;
use crate::output::{self, print};
use crate::progress::RunsBar;
use clap::Args as ClapArgs;
use forebay_runner::Error;
use forebay_runner::shard::Shard;
use forebay_runner::slurm::{Batch, Followed, Options, absolute, usual_array_size};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;

/// Where the runs are made.
#[derive(ClapArgs, Debug)]
pub(crate) struct ClusterArgs {
    /// Run the I-th of N parts, beside others in the same directory; what is finished is not run again.
    #[arg(long, value_name = "I/N", conflicts_with_all = ["merge", "slurm"])]
    pub(crate) shard: Option<String>,
    /// Run nothing: make the tables and pages of what is there, and say what is missing.
    #[arg(long, conflicts_with = "slurm")]
    pub(crate) merge: bool,
    /// Have job arrays of Slurm make the runs, follow them, submit again what failed, and collect. The directory must
    /// be one that all nodes share.
    #[arg(long)]
    pub(crate) slurm: bool,
    /// Take whole nodes, so many at the same time; without this, a task takes one CPU.
    #[arg(long, value_name = "N", requires = "slurm")]
    pub(crate) nodes: Option<NonZeroUsize>,
    /// The time limit of a task, as Slurm writes it, such as 02:00:00.
    #[arg(long, value_name = "TIME", requires = "slurm")]
    pub(crate) time: Option<String>,
    /// Slurm's partition.
    #[arg(long, value_name = "NAME", requires = "slurm")]
    pub(crate) partition: Option<String>,
    /// The account that Slurm charges.
    #[arg(long, value_name = "NAME", requires = "slurm")]
    pub(crate) account: Option<String>,
    /// Print what would be submitted, and submit nothing.
    #[arg(long, requires = "slurm")]
    pub(crate) dry_run: bool,
}

/// Where the runs are made.
pub(crate) enum Mode {
    Here,
    Shard(Shard),
    Merge,
    Slurm(Options),
}

impl ClusterArgs {
    pub(crate) fn mode(&self) -> Result<Mode, Failure> {
        if let Some(text) = &self.shard {
            return Ok(Mode::Shard(Shard::parse("--shard", text)?));
        }
        if !self.slurm {
            return Ok(if self.merge { Mode::Merge } else { Mode::Here });
        }
        let options = Options {
            nodes: self.nodes.map(usize::from),
            time: self.time.clone(),
            partition: self.partition.clone(),
            account: self.account.clone(),
        };
        options.check()?;
        Ok(Mode::Slurm(options))
    }
}

/// This program, as other machines find it.
pub(crate) fn program() -> Result<Vec<String>, Failure> {
    let path = std::env::current_exe().map_err(|error| {
        Error::refused("--slurm", format!("cannot tell where this program is: {error}"), "start it by its path")
    })?;
    Ok(vec![absolute(&path)?])
}

/// What would be submitted.
pub(crate) fn print_dry_run(batch: &Batch) -> Result<(), Failure> {
    let shards = batch.shards(usual_array_size());
    let array = batch.array(&(1..=shards).collect::<BTreeSet<_>>());
    let runs = batch.runs;
    print(&format!("# {runs} runs in {shards} tasks\n# sbatch --array={array}\n{}", batch.script(shards)))
}

/// Submits a batch and waits for it.
pub(crate) fn follow(batch: &Batch, quiet: bool, is_done: &dyn Fn(usize) -> bool) -> Result<(), Failure> {
    output::stop_gently();
    let bar = RunsBar::new(batch.runs, quiet);
    let mut submitted = Vec::new();
    let followed = batch.follow(
        is_done,
        &mut |finished, job| {
            if let Some(job) = job {
                bar.say(&format!("submitted job {job}"));
                submitted.push(job.to_owned());
            }
            bar.set(finished, submitted.last().map_or("", String::as_str));
        },
        &output::is_interrupted,
    )?;
    drop(bar);
    let logs = batch.directory.display();
    match followed {
        Followed::Finished => Ok(()),
        Followed::Left => {
            eprintln!(
                "the jobs go on; the same command follows them again, and scancel {} stops them",
                submitted.join(" ")
            );
            Err(Failure::Interrupted)
        }
        Followed::GivenUp(shards) => {
            let some: Vec<String> = shards.iter().take(5).map(ToString::to_string).collect();
            let more = if shards.len() > 5 { ", ..." } else { "" };
            let problem = format!("{} of the tasks failed again and again: {}{more}", shards.len(), some.join(", "));
            Err(Error::refused("--slurm", problem, format!("the logs in {logs} say why; --merge shows what is there"))
                .into())
        }
    }
}
