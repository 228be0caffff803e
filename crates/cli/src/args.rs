//! What can be typed.

use crate::cluster::ClusterArgs;
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use forebay_tm::{Bytes, Duration, Rate};
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
    /// Run a list of arrivals through a switch and report what happens to every packet.
    Replay(ReplayArgs),
    /// Compare the buffer policies on one incast burst: a table and a chart of queue lengths.
    Demo(DemoArgs),
    /// Simulate a network and write what was measured into a directory.
    Run(RunArgs),
    /// Simulate every point of a scenario's grid, on all cores; finished runs are not repeated.
    Sweep(crate::sweep::SweepArgs),
    /// Check a scenario and show it in numbers: buffers, round trips, loads, and every setting.
    Check(CheckArgs),
    /// Put results side by side.
    Compare(CompareArgs),
    /// Make one page with plots from results.
    Report(ReportArgs),
    /// Write a scenario to start with, with comments.
    Init(InitArgs),
    /// List the policies, schedulers, transports, workloads, distributions or topologies, with their keys.
    List(ListArgs),
    /// Measure the cost of a packet-hop: instructions (callgrind) and hops per CPU second.
    Bench(BenchArgs),
    /// Run the experiments of the papers and compare the results with the papers' claims; finished runs are not
    /// repeated.
    Reproduce(ReproduceArgs),
    /// Forward real packets between interfaces of this machine, or between captures, through the traffic manager.
    Live(LiveArgs),
    /// Make hosts in network namespaces around a live switch, and run experiments with them.
    Lab(LabArgs),
    /// List, show and check programs for the pipelines of programmable chips.
    Pisa(crate::pisa::PisaArgs),
    /// Lint and synthesize the circuits in rtl/ (verilator, yosys), and report their cost and accuracy.
    Rtl(RtlArgs),
    /// Print completions for a shell: source <(forebay completions bash).
    Completions(crate::manual::CompletionsArgs),
    /// Write the man pages of all commands into a directory.
    Manual(crate::manual::ManualArgs),
    /// Report what a SONiC buffer configuration does on its chip, and what is wrong with it.
    Sonic(crate::sonic::SonicArgs),
}

/// What may be replaced.
#[derive(ClapArgs, Clone, Copy, Debug)]
pub(crate) struct Force {
    /// Replace files that Forebay has not written, and results of another scenario or version.
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct RtlArgs {
    /// Write rtl.md and rtl.json into this directory, too.
    #[arg(long, value_name = "DIR")]
    pub(crate) docs: Option<PathBuf>,
    /// Only the cost of the small circuits, in a minute or two.
    #[arg(long, conflicts_with_all = ["docs", "render", "write"])]
    pub(crate) quick: bool,
    /// The directory of finished results, which are not repeated; without this, results/rtl.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["render", "write"])]
    pub(crate) out: Option<PathBuf>,
    /// Run no tool: make the page again from this rtl.json.
    #[arg(long, value_name = "FILE")]
    pub(crate) render: Option<PathBuf>,
    /// Print JSON instead of the page.
    #[arg(long, conflicts_with = "write")]
    pub(crate) json: bool,
    /// Only write the Verilog files into this directory.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["docs", "render"])]
    pub(crate) write: Option<PathBuf>,
    /// Show no progress.
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) replace: Force,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct LiveArgs {
    /// The switch: a TOML file with a table `interface` for each port.
    pub(crate) switch: PathBuf,
    /// Change a setting: a key with dots, and a TOML value or a bare word, such as policy.kind=abm; can be given
    /// several times.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Stop after this time, such as 10s; without this, it runs until Ctrl-C or SIGTERM.
    #[arg(long, value_name = "TIME")]
    pub(crate) duration: Option<Duration>,
    /// Apply a script (docs/lab.md) to the packets of its flows, write the packets seen to the file given by --trace,
    /// and stop at the end of the script.
    #[arg(long, value_name = "SCRIPT.toml", requires = "trace")]
    pub(crate) script: Option<PathBuf>,
    /// The file for the packets seen of a script's flows.
    #[arg(long, value_name = "FILE", requires = "script")]
    pub(crate) trace: Option<PathBuf>,
    /// Show no live view.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct RunArgs {
    /// The scenario: a TOML file.
    pub(crate) scenario: PathBuf,
    /// Change a setting: a key with dots, and a TOML value or a bare word, such as policy.kind=abm or
    /// workload.0.load=0.6; can be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// The seed of all random draws, instead of the scenario's.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// The directory of the results; without this, results/NAME-seedN, with what was set in its name.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write every table as CSV, too.
    #[arg(long)]
    pub(crate) csv: bool,
    /// Threads of the run; without this, as many as there are idle cores, or fewer where more would not make it faster.
    /// The results are the same for every number.
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,
    /// Say on standard error how the work was shared by threads, and what limits their number.
    #[arg(long)]
    pub(crate) profile: bool,
    /// Show no progress.
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Print JSON instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) replace: Force,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct CheckArgs {
    /// The scenario: a TOML file.
    pub(crate) scenario: PathBuf,
    /// Change a setting; as for run.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// The seed of all random draws, instead of the scenario's.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Print JSON instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct CompareArgs {
    /// Directories of results: of runs, or of points of sweeps with all their seeds. The others are compared with the
    /// first.
    #[arg(required = true, num_args = 2.., value_name = "RESULTS")]
    pub(crate) results: Vec<PathBuf>,
    /// Print JSON instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct InitArgs {
    /// Where it is written; without this, it is printed.
    pub(crate) file: Option<PathBuf>,
    /// The network; `forebay list topologies` names all. Without any of these, at a terminal, each is asked for.
    #[arg(long, value_name = "KIND")]
    pub(crate) topology: Option<String>,
    /// The buffer policy: `forebay list policies`.
    #[arg(long, value_name = "KIND")]
    pub(crate) policy: Option<String>,
    /// The scheduler of each port: `forebay list schedulers`.
    #[arg(long, value_name = "KIND")]
    pub(crate) scheduler: Option<String>,
    /// The transport: `forebay list transports`.
    #[arg(long, value_name = "KIND")]
    pub(crate) transport: Option<String>,
    /// The traffic: `forebay list workloads`.
    #[arg(long, value_name = "KIND")]
    pub(crate) workload: Option<String>,
    #[command(flatten)]
    pub(crate) replace: Force,
}

/// What can be listed.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listed {
    /// Buffer policies, for `kind` of `[policy]`.
    Policies,
    /// Schedulers, for `kind` of `[scheduler]`.
    Schedulers,
    /// Rules that set ECN marks, for `kind` of `[ecn]`.
    Marking,
    /// Schemes that trim packets, for `kind` of `[trim]`.
    Trimming,
    /// Transports of workloads, and the keys of `[transport.NAME]`.
    Transports,
    /// Workloads, for `kind` of `[[workload]]`.
    Workloads,
    /// Distributions of flow sizes, for sizes of workloads.
    Distributions,
    /// Topologies, for `kind` of `[topology]`.
    Topologies,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct ListArgs {
    /// What to list.
    pub(crate) what: Listed,
    /// Print JSON instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct ReportArgs {
    /// Directories of results: of runs, of points of sweeps (all seeds are shown) or of sweeps (one seed of each point
    /// is shown).
    #[arg(required = true)]
    pub(crate) results: Vec<PathBuf>,
    /// The page; without this, report.html in the directory if there is one, else here.
    #[arg(long, value_name = "FILE.html")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) replace: Force,
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
    /// Fail if a scenario needs more instructions per hop than this.
    #[arg(long, value_name = "N", conflicts_with = "native")]
    pub(crate) limit: Option<f64>,
    /// Compare one run on so many threads with one thread and with as many runs side by side, which is what the machine
    /// can do; counts no instructions.
    #[arg(long, value_name = "N", conflicts_with_all = ["native", "limit"])]
    pub(crate) threads: Option<NonZeroUsize>,
    /// Print JSON instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct ReproduceArgs {
    /// Papers (fb, abm, occamy, aifo, trimming) or figures, such as abm/fig6; without this, all of them.
    #[arg(value_name = "PAPER[/FIGURE]")]
    pub(crate) what: Vec<String>,
    /// The smallest scale: everything in at most 10 minutes on two cores.
    #[arg(long)]
    pub(crate) quick: bool,
    /// The papers' own scale and duration: a night or more.
    #[arg(long, conflicts_with = "quick")]
    pub(crate) full: bool,
    /// List the figures and what they show, and run nothing.
    #[arg(long)]
    pub(crate) list: bool,
    /// Print JSON instead of tables: the list, or every claim with its verdict.
    #[arg(long)]
    pub(crate) json: bool,
    /// The directory of the results; without this, results/reproduce/SCALE.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Read DIR/PAPER/FIGURE.toml instead of the scenarios that come with Forebay.
    #[arg(long, value_name = "DIR")]
    pub(crate) scenarios: Option<PathBuf>,
    /// Write reproduction.md, a page for each paper and the numbers they are made from into this directory, too;
    /// figures there that were not asked for stay as they are.
    #[arg(long, value_name = "DIR")]
    pub(crate) docs: Option<PathBuf>,
    /// Go on from the runs of this reproduction.json.gz: only what it does not have is run, with further seeds for what
    /// they leave open. One run of each figure is made again, and has to give the same numbers.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["shard", "merge", "slurm"])]
    pub(crate) from: Option<PathBuf>,
    /// Run nothing: make the pages again from this reproduction.json.gz, in the directory of --docs.
    #[arg(long, value_name = "FILE", requires = "docs",
          conflicts_with_all = ["what", "quick", "full", "out", "scenarios", "from", "shard", "merge", "slurm"])]
    pub(crate) render: Option<PathBuf>,
    /// Runs at the same time; without this, one for each core.
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Show no progress.
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    #[command(flatten)]
    pub(crate) replace: Force,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct ReplayArgs {
    /// The switch: a TOML file.
    pub(crate) switch: PathBuf,
    /// What arrives: a CSV file with the columns time_ps,bytes,port,queue and, as needed, flow, rank, class,
    /// unscheduled, ect, eligible_ps, in_port, pg, colour, or a capture (pcap, pcapng); either can be compressed by
    /// gzip. `-` reads standard input.
    pub(crate) arrivals: PathBuf,
    /// Write the verdicts, one line per packet, to this file; `-` is standard output. Without this, and without
    /// --summary, --explain, --timeline or --compare, they go to standard output.
    #[arg(short, long, value_name = "VERDICTS.csv")]
    pub(crate) output: Option<PathBuf>,
    /// Explain the verdict of this packet (counted from 0); can be given several times.
    #[arg(long, value_name = "N")]
    pub(crate) explain: Vec<u64>,
    /// Print a table of every queue's counters.
    #[arg(long)]
    pub(crate) summary: bool,
    /// Write queue lengths and thresholds over time to this file.
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) timeline: Option<PathBuf>,
    /// Write what priority groups of the ingress side ask for (XOFF, XON) to this file.
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) pauses: Option<PathBuf>,
    /// Sample the timeline at this interval, such as 10us, instead of at every change.
    #[arg(long, value_name = "TIME", requires = "timeline")]
    pub(crate) every: Option<Duration>,
    /// Run the same arrivals under several policies and print one table: KIND[:KEY=VALUE]..., separated by commas, such
    /// as dt:alpha=1,dt:alpha=8,abm. What is not given comes from the switch's policy table, as far as it applies, else
    /// from the policy's defaults.
    #[arg(long, value_name = "POLICY,...", conflicts_with_all = ["output", "explain", "summary", "timeline", "pauses"])]
    pub(crate) compare: Option<String>,
    /// Print JSON instead of the table of --summary or --compare.
    #[arg(long, conflicts_with = "explain")]
    pub(crate) json: bool,
    /// Show no progress.
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) replace: Force,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct DemoArgs {
    /// Write the switch and the arrivals into this directory, to be used with `forebay replay`.
    #[arg(long, value_name = "DIR", conflicts_with = "json")]
    pub(crate) write: Option<PathBuf>,
    /// Print the table as JSON, and no chart.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) replace: Force,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct LabArgs {
    /// The prefix of all namespaces and interfaces; labs with different prefixes are independent.
    #[arg(long, value_name = "NAME", default_value = "fb", global = true)]
    pub(crate) prefix: String,
    #[command(subcommand)]
    pub(crate) command: LabCommand,
}

#[derive(Subcommand, Debug)]
pub(crate) enum LabCommand {
    /// Create hosts, cables and a switch; if they exist, configure them again.
    Up(LabUpArgs),
    /// Run a command on a host, such as h1, and return its exit code.
    Exec(LabExecArgs),
    /// Stop everything that runs in the lab and remove it, also after a crash.
    Down,
    /// Show what exists.
    Status {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Run an experiment: a scenario with real hosts, kernel TCP and a live switch; finished runs are not repeated.
    Run(LabRunArgs),
    /// Compare simulated and live results of the same scenarios, as a Markdown page or as JSON.
    Compare(LabCompareArgs),
    /// Load a memcached server and print latencies as JSON.
    Load(LabLoadArgs),
    /// Play scripts with the kernel's TCP and with the simulator's, and report where they differ.
    Script(LabScriptArgs),
    /// What runs on a host of a script.
    #[command(hide = true)]
    Actor {
        /// The script.
        script: PathBuf,
        /// The kernel's name of the congestion control.
        congestion_control: String,
        /// The receiver's address; the receiver has none.
        to: Option<std::net::Ipv4Addr>,
    },
    /// What runs on a host of an experiment.
    #[command(hide = true)]
    Agent {
        /// The file that says what to do.
        job: PathBuf,
        /// The number of the host.
        host: usize,
    },
}

/// What connects the hosts of a lab.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LabSwitch {
    /// Forebay's live switch, started in the background.
    Live,
    /// The bridge of the kernel, to compare with.
    Bridge,
    /// Nothing yet: the switch's file is written, and the command that starts it is shown.
    None,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct LabUpArgs {
    /// Hosts.
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub(crate) hosts: usize,
    /// The rate of every link.
    #[arg(long, value_name = "RATE", default_value = "100Mbps")]
    pub(crate) rate: Rate,
    /// Leaves and spines instead of one switch, such as 2x2.
    #[arg(long, value_name = "LxS", value_parser = leaves_and_spines)]
    pub(crate) leaf_spine: Option<(usize, usize)>,
    /// What connects the hosts.
    #[arg(long, value_enum, default_value = "live")]
    pub(crate) switch: LabSwitch,
    /// The buffer of each switch; of the bridge: of all its ports together.
    #[arg(long, value_name = "BYTES", default_value = "410KB")]
    pub(crate) buffer: Bytes,
    /// How the live switch reads frames, xdp or packet; without this, its own choice.
    #[arg(long, value_name = "NAME")]
    pub(crate) backend: Option<String>,
    /// The congestion control of the hosts.
    #[arg(long, value_name = "NAME", default_value = "cubic")]
    pub(crate) congestion_control: String,
    /// The hosts ask for ECN.
    #[arg(long)]
    pub(crate) ecn: bool,
    /// Hosts send as fast as they can, not at the rate of their links.
    #[arg(long)]
    pub(crate) unpaced: bool,
    /// Hosts have IPv6 addresses, too: fd00::1 and so on.
    #[arg(long)]
    pub(crate) ipv6: bool,
}

/// `2x2`.
fn leaves_and_spines(text: &str) -> Result<(usize, usize), String> {
    let parts = text.split_once('x').and_then(|(leaves, spines)| Some((leaves.parse().ok()?, spines.parse().ok()?)));
    parts.ok_or_else(|| "write leaves x spines, such as 2x2".to_owned())
}

#[derive(ClapArgs, Debug)]
pub(crate) struct LabExecArgs {
    /// The host, such as h1, or a switch, such as sw.
    pub(crate) host: String,
    /// The command and its arguments.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) command: Vec<String>,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct LabRunArgs {
    /// The experiment: a TOML file.
    pub(crate) experiment: PathBuf,
    /// Change a setting of the scenario, as for run; keys that begin with lab. are the experiment's.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// The scenario's smallest scale: its [scale.quick].
    #[arg(long)]
    pub(crate) quick: bool,
    /// The directory of the results; without this, results/NAME-live.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Fail if an expectation of the experiment does not hold.
    #[arg(long)]
    pub(crate) check: bool,
    /// Keep the hosts after the experiment.
    #[arg(long)]
    pub(crate) keep: bool,
    /// Write every table as CSV, too.
    #[arg(long)]
    pub(crate) csv: bool,
    /// Print the rows of the points, and what became of the expectations, as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Show no progress.
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) replace: Force,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct LabScriptArgs {
    /// The scripts: TOML files.
    #[arg(required = true)]
    pub(crate) scripts: Vec<PathBuf>,
    /// Compare the simulator with recorded traces instead of the running kernel. This needs no root.
    #[arg(long, conflicts_with_all = ["record", "check"])]
    pub(crate) simulate: bool,
    /// Record what the kernel sends as the trace of each script. A script is played until three of at most seven runs
    /// agree.
    #[arg(long)]
    pub(crate) record: bool,
    /// Fail if the kernel does not send what was recorded, in five attempts per script.
    #[arg(long, conflicts_with = "record")]
    pub(crate) check: bool,
    /// The directory of the recorded traces; without this, `recorded` beside each script.
    #[arg(long, value_name = "DIR")]
    pub(crate) recorded: Option<PathBuf>,
    /// Write a page with a table of all scripts.
    #[arg(long, value_name = "FILE.md")]
    pub(crate) docs: Option<PathBuf>,
    /// Show the lines around the first difference of kernel and simulator.
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// Print JSON instead of a table, once all scripts are played.
    #[arg(long, conflicts_with_all = ["check", "verbose"])]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) replace: Force,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct LabLoadArgs {
    /// The server: an address and a port.
    pub(crate) server: std::net::SocketAddr,
    /// Connections; each sends a request, waits for the response, and repeats.
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub(crate) connections: usize,
    /// How long.
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub(crate) duration: Duration,
    /// Bytes of a value.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) value: usize,
    /// The share of requests that set a value; the others get one.
    #[arg(long, value_name = "SHARE", default_value_t = 0.1)]
    pub(crate) sets: f64,
    /// Different keys.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) keys: u64,
    /// The time between a response and the next request.
    #[arg(long, value_name = "TIME", default_value = "1ms")]
    pub(crate) think: Duration,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct LabCompareArgs {
    /// Pairs of results: of `forebay sweep`, and of `forebay lab run` with the same scenario.
    #[arg(required = true, value_name = "SIMULATED LIVE")]
    pub(crate) results: Vec<PathBuf>,
    /// What the page begins with: a file in Markdown.
    #[arg(long, value_name = "FILE.md")]
    pub(crate) introduction: Option<PathBuf>,
    /// Print the rows as JSON, without a page.
    #[arg(long, conflicts_with_all = ["introduction", "out"])]
    pub(crate) json: bool,
    /// The page; without this, it is printed.
    #[arg(long, value_name = "FILE.md")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) replace: Force,
}
