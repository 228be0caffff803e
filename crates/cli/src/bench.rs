//! `forebay bench`: what a packet-hop costs.
//!
//! Every scenario runs natively for its speed, and twice under callgrind for its instructions: once whole, once without the run
//! itself, whose difference leaves reading, planning and starting out.

use crate::Failure;
use crate::args::BenchArgs;
use crate::output::print;
use crate::sets::settings;
use crate::table::Table;
use forebay_runner::ScenarioFile;
use forebay_sim::engine::{self, World};
use serde_json::json;
use std::path::Path;
use std::process::Command;

/// How the benchmark calls itself: the scenario, and whether to run it.
const INSIDE: &str = "FOREBAY_BENCH_INSIDE";

pub(crate) fn run(args: &BenchArgs) -> Result<(), Failure> {
    if let Ok(what) = std::env::var(INSIDE) {
        return inside(args, what == "run");
    }
    let mut table =
        Table::new(1, ["scenario", "hosts", "packet-hops", "hops per CPU s", "peak memory", "instructions per hop"]);
    let (mut above, mut rows) = (Vec::new(), Vec::new());
    for scenario in &args.scenarios {
        let prepared = ScenarioFile::open(scenario)?.prepare(&settings(&args.set, None)?)?;
        let native = call(None, scenario, args, "run")?;
        let field = |name: &str| -> f64 {
            let line = native.stdout.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|text| text.trim().parse().ok()).unwrap_or_default()
        };
        let (hops, seconds, memory) = (field("hops"), field("cpu"), field("memory"));
        let instructions = if args.native {
            None
        } else {
            let whole = call(Some("valgrind"), scenario, args, "run")?.instructions()?;
            let start = call(Some("valgrind"), scenario, args, "start")?.instructions()?;
            let instructions = (whole - start) / hops.max(1.0);
            if args.limit.is_some_and(|limit| instructions > limit) {
                above.push(prepared.scenario.name.clone());
            }
            Some(instructions)
        };
        rows.push(json!({
            "scenario": prepared.scenario.name,
            "hosts": prepared.scenario.network.hosts.len(),
            "hops": hops,
            "cpu_seconds": seconds,
            "peak_memory": memory,
            "instructions_per_hop": instructions,
        }));
        table.row(vec![
            prepared.scenario.name.clone(),
            prepared.scenario.network.hosts.len().to_string(),
            format!("{hops}"),
            // The system counts in ticks: a run may be too short for one.
            if seconds > 0.0 { format!("{:.2} M", hops / seconds / 1e6) } else { "-".to_owned() },
            format!("{:.1} MB", memory / 1e6),
            instructions.map_or_else(|| "-".to_owned(), |instructions| format!("{instructions:.1}")),
        ]);
    }
    print(&if args.json { format!("{:#}\n", serde_json::Value::from(rows)) } else { table.render() })?;
    match args.limit {
        Some(limit) if !above.is_empty() => {
            let help = "profile it, or raise the limit";
            Err(Failure::Input(format!(
                "error: more than {limit} instructions a hop: {}\n  help: {help}",
                above.join(", ")
            )))
        }
        _ => Ok(()),
    }
}

/// What the benchmark does in a process of its own.
fn inside(args: &BenchArgs, really: bool) -> Result<(), Failure> {
    let Some(scenario) = args.scenarios.first() else { return Ok(()) };
    let prepared = ScenarioFile::open(scenario)?.prepare(&settings(&args.set, None)?)?;
    if !really {
        drop(World::new(&prepared.scenario, &prepared.plan));
        return Ok(());
    }
    let result = engine::run(&prepared.scenario, &prepared.plan, &mut |_| true);
    let cost = result.cost;
    print(&format!("hops {}\ncpu {}\nmemory {}\n", cost.hops, cost.cpu_seconds, cost.peak_memory))
}

struct Called {
    stdout: String,
    stderr: String,
}

impl Called {
    fn instructions(&self) -> Result<f64, Failure> {
        let line = self.stderr.lines().find(|line| line.contains("Collected"));
        line.and_then(|line| line.rsplit(' ').next()).and_then(|word| word.parse().ok()).ok_or_else(|| {
            Failure::Input(format!("error: valgrind did not say what it counted\n  help: it said: {}", self.stderr))
        })
    }
}

fn call(under: Option<&str>, scenario: &Path, args: &BenchArgs, what: &str) -> Result<Called, Failure> {
    let itself = std::env::current_exe().map_err(|error| Failure::Input(format!("error: {error}")))?;
    let mut command = match under {
        Some(program) => {
            let mut command = Command::new(program);
            command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(itself);
            command
        }
        None => Command::new(itself),
    };
    command.arg("bench").arg(scenario).env(INSIDE, what);
    for set in &args.set {
        command.args(["--set", set]);
    }
    let output = command.output().map_err(|error| {
        let help = "install it: apt-get install valgrind; or give --native to leave instructions out";
        Failure::Input(format!("error: cannot run {}: {error}\n  help: {help}", under.unwrap_or("forebay")))
    })?;
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout).into_owned(), String::from_utf8_lossy(&output.stderr).into_owned());
    if output.status.success() { Ok(Called { stdout, stderr }) } else { Err(Failure::Input(stderr)) }
}
