//! `forebay bench`: what a packet-hop costs.
//!
//! Every scenario runs natively for its speed, and twice under callgrind for its instructions: once whole, once without
//! the run itself, whose difference leaves reading, planning and starting out.

use crate::Failure;
use crate::args::BenchArgs;
use crate::output::{print, print_json};
use crate::sets::settings;
use crate::table::Table;
use forebay_runner::ScenarioFile;
use forebay_sim::engine::World;
use serde_json::json;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// How the benchmark calls itself: the scenario, and on how many threads to run it.
const INSIDE: &str = "FOREBAY_BENCH_INSIDE";

pub(crate) fn run(args: &BenchArgs) -> Result<(), Failure> {
    if let Ok(what) = std::env::var(INSIDE) {
        return inside(args, &what);
    }
    if let Some(threads) = args.threads {
        return compare_threads(args, threads.get());
    }
    let mut table =
        Table::new(1, ["scenario", "hosts", "packet-hops", "hops per CPU s", "peak memory", "instructions per hop"]);
    let (mut above, mut rows) = (Vec::new(), Vec::new());
    for scenario in &args.scenarios {
        let prepared = ScenarioFile::open(scenario)?.prepare(&settings(&args.set, None)?)?;
        let native = call(None, scenario, args, "1")?;
        let (hops, seconds, memory) = (native.field("hops"), native.field("cpu"), native.field("memory"));
        let instructions = if args.native {
            None
        } else {
            let whole = call(Some("valgrind"), scenario, args, "1")?.instructions()?;
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
    if args.json { print_json(&rows.into()) } else { print(&table.render()) }?;
    match args.limit {
        Some(limit) if !above.is_empty() => {
            let problem = format!("more than {limit} instructions a hop: {}", above.join(", "));
            Err(Failure::refused("", problem, "profile it, or raise the limit"))
        }
        _ => Ok(()),
    }
}

/// What the benchmark does in a process of its own.
fn inside(args: &BenchArgs, what: &str) -> Result<(), Failure> {
    let Some(scenario) = args.scenarios.first() else { return Ok(()) };
    let prepared = ScenarioFile::open(scenario)?.prepare(&settings(&args.set, None)?)?;
    let world = World::new(&prepared.scenario, &prepared.plan);
    // What to do is a number of threads, or only to start.
    let Ok(threads) = what.parse() else { return Ok(()) };
    let world = world.split(&prepared.plan, threads);
    let started = Instant::now();
    let cost = world.run(&mut |_| true).cost;
    let seconds = started.elapsed().as_secs_f64();
    print(&format!("hops {}\ncpu {}\nseconds {seconds}\nmemory {}\n", cost.hops, cost.cpu_seconds, cost.peak_memory))
}

/// What a run on several threads reaches of what the machine can do: as many runs side by side.
fn compare_threads(args: &BenchArgs, threads: usize) -> Result<(), Failure> {
    let names = ["scenario", "1 thread", "runs side by side", "threads", "of these", "speed-up"];
    let (mut table, mut rows) = (Table::new(1, names), Vec::new());
    for scenario in &args.scenarios {
        let prepared = ScenarioFile::open(scenario)?.prepare(&settings(&args.set, None)?)?;
        let rate = |what: &str| -> Result<f64, Failure> {
            let native = call(None, scenario, args, what)?;
            Ok(native.field("hops") / native.field("seconds").max(1e-9) / 1e6)
        };
        let one = rate("1")?;
        let side_by_side = std::thread::scope(|scope| {
            let runs: Vec<_> = (0..threads).map(|_| scope.spawn(|| rate("1"))).collect();
            runs.into_iter().map(|run| run.join().unwrap_or(Ok(0.0))).sum::<Result<f64, Failure>>()
        })?;
        let several = rate(&threads.to_string())?;
        rows.push(json!({
            "scenario": prepared.scenario.name,
            "threads": threads,
            "one_thread": one,
            "side_by_side": side_by_side,
            "several_threads": several,
        }));
        let speed = |rate: f64| format!("{rate:.2} M hops/s");
        table.row(vec![
            prepared.scenario.name.clone(),
            speed(one),
            format!("{threads}: {}", speed(side_by_side)),
            format!("{threads}: {}", speed(several)),
            format!("{:.2}", several / side_by_side),
            format!("{:.2}", several / one),
        ]);
    }
    if args.json { print_json(&rows.into()) } else { print(&table.render()) }
}

struct Called {
    stdout: String,
    stderr: String,
}

impl Called {
    fn field(&self, name: &str) -> f64 {
        let line = self.stdout.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|text| text.trim().parse().ok()).unwrap_or_default()
    }

    fn instructions(&self) -> Result<f64, Failure> {
        let line = self.stderr.lines().find(|line| line.contains("Collected"));
        line.and_then(|line| line.rsplit(' ').next()).and_then(|word| word.parse().ok()).ok_or_else(|| {
            Failure::refused("", "valgrind did not say what it counted", format!("it said: {}", self.stderr))
        })
    }
}

fn call(under: Option<&str>, scenario: &Path, args: &BenchArgs, what: &str) -> Result<Called, Failure> {
    let itself = std::env::current_exe().map_err(|error| Failure::refused("", error, ""))?;
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
        Failure::refused("", format!("cannot run {}: {error}", under.unwrap_or("forebay")), help)
    })?;
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout).into_owned(), String::from_utf8_lossy(&output.stderr).into_owned());
    if output.status.success() { Ok(Called { stdout, stderr }) } else { Err(Failure::Said(stderr)) }
}
