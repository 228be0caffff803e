//! What can be typed.

use clap::{Args as ClapArgs, Parser, Subcommand};
use forebay_tm::Duration;
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
