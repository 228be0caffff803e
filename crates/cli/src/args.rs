//! What can be typed.

use clap::{Args as ClapArgs, Parser, Subcommand};
use forebay_tm::Duration;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// The traffic manager of a datacenter switch.
#[derive(Parser, Debug)]
#[command(name = "forebay", version, about, max_term_width = 100)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Run a list of arrivals through a switch and say what became of every packet.
    Replay(ReplayArgs),
    /// Compare the buffer policies on one incast burst: a table and a chart of queue lengths.
    Demo(DemoArgs),
    /// Simulate a network and write what was measured into a directory.
    Run(RunArgs),
    /// Simulate every point of a scenario's grid, on all cores; what is finished is not run again.
    Sweep(SweepArgs),
    /// Check a scenario and show it in numbers: buffers, round trips, loads, and every setting.
    Check(CheckArgs),
    /// Put two results side by side.
    Compare(CompareArgs),
    /// Make one page with plots from results.
    Report(ReportArgs),
    /// Measure what a packet-hop costs: instructions (callgrind) and hops per CPU second.
    Bench(BenchArgs),
    /// Run the experiments of the papers and put their claims beside what comes out; what is finished is not run again.
    Reproduce(ReproduceArgs),
}

#[derive(ClapArgs, Debug)]
pub(crate) struct RunArgs {
    /// The scenario: a TOML file.
    pub(crate) scenario: PathBuf,
    /// Change a setting: a key with dots, and a TOML value or a bare word, such as policy.kind=abm or workload.0.load=0.6; can be
    /// given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Where random draws start, instead of the scenario's seed.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// The directory of the results; without this, results/NAME-seedN, with what was set in its name.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write every table as CSV, too.
    #[arg(long)]
    pub(crate) csv: bool,
    /// Show no progress.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

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
    /// One of the file's scales, such as quick: its [scale.quick] says what is left out.
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
    /// Show no progress.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct CheckArgs {
    /// The scenario: a TOML file.
    pub(crate) scenario: PathBuf,
    /// Change a setting; as for run.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Where random draws start, instead of the scenario's seed.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct CompareArgs {
    /// A directory of results: of a run, or of a point of a sweep with all its seeds.
    pub(crate) a: PathBuf,
    /// Another.
    pub(crate) b: PathBuf,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct ReportArgs {
    /// Directories of results: of runs, of points of sweeps (all seeds are shown) or of sweeps (one seed of each point is shown).
    #[arg(required = true)]
    pub(crate) results: Vec<PathBuf>,
    /// The page; without this, report.html in the directory if there is one, else here.
    #[arg(long, value_name = "FILE.html")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct BenchArgs {
    /// Scenarios: TOML files, such as scenarios/bench/*.toml.
    #[arg(required = true)]
    pub(crate) scenarios: Vec<PathBuf>,
    /// Change a setting of all; as for run.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Count no instructions.
    #[arg(long)]
    pub(crate) native: bool,
    /// Fail if a scenario needs more instructions a hop than this.
    #[arg(long, value_name = "N", conflicts_with = "native")]
    pub(crate) limit: Option<f64>,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct ReproduceArgs {
    /// Papers (fb, abm, occamy, aifo, trimming) or figures, such as abm/fig6; without this, all of them.
    #[arg(value_name = "PAPER[/FIGURE]")]
    pub(crate) what: Vec<String>,
    /// The smallest scale: everything in at most 20 minutes on two cores.
    #[arg(long)]
    pub(crate) quick: bool,
    /// The papers' own scale and duration: a night or more.
    #[arg(long, conflicts_with = "quick")]
    pub(crate) full: bool,
    /// Name the figures and what they show, and run nothing.
    #[arg(long)]
    pub(crate) list: bool,
    /// The directory of the results; without this, results/reproduce/SCALE.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Read DIR/PAPER/FIGURE.toml instead of the scenarios that come with Forebay.
    #[arg(long, value_name = "DIR")]
    pub(crate) scenarios: Option<PathBuf>,
    /// Write reproduction.md, reproduction.html and the numbers they are made from into this directory, too.
    #[arg(long, value_name = "DIR")]
    pub(crate) docs: Option<PathBuf>,
    /// Run nothing: make the pages again from this reproduction.json, in the directory of --docs.
    #[arg(long, value_name = "FILE", requires = "docs", conflicts_with_all = ["what", "quick", "full", "out", "scenarios"])]
    pub(crate) render: Option<PathBuf>,
    /// Runs at the same time; without this, one for each core.
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Show no progress.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct ReplayArgs {
    /// The switch: a TOML file.
    pub(crate) switch: PathBuf,
    /// What arrives: a CSV file with the columns time_ps,bytes,port,queue and, as needed, flow, rank, class, unscheduled,
    /// ect, eligible_ps; `-` reads standard input.
    pub(crate) arrivals: PathBuf,
    /// Write the verdicts, one line a packet, to this file; `-` is standard output. Without this, and without --summary,
    /// --explain, --timeline or --compare, they go to standard output.
    #[arg(short, long, value_name = "VERDICTS.csv")]
    pub(crate) output: Option<PathBuf>,
    /// Say in plain words why this packet (counted from 0) met its fate; can be given several times.
    #[arg(long, value_name = "N")]
    pub(crate) explain: Vec<u64>,
    /// Print a table of every queue's counters.
    #[arg(long)]
    pub(crate) summary: bool,
    /// Write queue lengths and thresholds over time to this file.
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) timeline: Option<PathBuf>,
    /// Sample the timeline at this interval, such as 10us, instead of at every change.
    #[arg(long, value_name = "TIME", requires = "timeline")]
    pub(crate) every: Option<Duration>,
    /// Run the same arrivals under several policies and print one table: KIND[:KEY=VALUE]..., separated by commas, such as
    /// dt:alpha=1,dt:alpha=8,abm. What is not given comes from the switch's policy table, as far as it applies, else from the
    /// policy's defaults.
    #[arg(long, value_name = "POLICY,...", conflicts_with_all = ["output", "explain", "summary", "timeline"])]
    pub(crate) compare: Option<String>,
    /// Show no progress.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct DemoArgs {
    /// Write the switch and the arrivals into this directory, to be used with `forebay replay`.
    #[arg(long, value_name = "DIR")]
    pub(crate) write: Option<PathBuf>,
}
