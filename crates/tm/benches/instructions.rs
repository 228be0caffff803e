//! Instructions for one arrival and one departure at overload, counted by callgrind:
//! `cargo bench -p forebay-tm --bench instructions [-- [--check] [--limited] [--only SCHEME]]`.
//!
//! The benchmark runs itself under valgrind twice, with different numbers of packets, and takes the difference, so that
//! start-up does not count, and subtracts the same loop without the core in it. With `--check` it fails if a scheme
//! costs more than it may; with `--limited` it only counts the schemes that have a limit.

mod callgrind;
mod overload;

use overload::{CASES, Case, Overload};
use std::process::ExitCode;

const FEW: usize = 40_000;
const MANY: usize = 120_000;
/// Five arrivals and four departures are nine halves of a pair.
const PAIRS: f64 = (MANY - FEW) as f64 * (1.0 + 0.8) / 2.0;
/// Queues in all: 8, 64 and 256 ports of eight queues, or as many ports as queues where a port has one.
const QUEUES: [usize; 3] = [64, 512, 2_048];
/// What each scheme may cost on the 64-port switch: 2 to 3% above what it costs.
const LIMITS: [(&str, f64); 7] = [
    ("dt", 143.0),
    ("fb", 218.0),
    ("abm", 191.0),
    ("occamy", 225.0),
    ("fab", 211.0),
    ("aifo", 210.0),
    ("pushout", 429.0),
];
/// None may cost more than a third more with 2,048 queues than with 64.
const GROWTH: f64 = 4.0 / 3.0;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    if let Some(at) = args.iter().position(|arg| arg == "--run") {
        let case =
            CASES.iter().find(|case| case.0 == args[at + 1]).expect("the benchmark calls itself with a known case");
        let mut overload = Overload::new(case, args[at + 2].parse().expect("a number of queues"));
        let before = (overload.admitted, overload.sent, overload.lost);
        let steps = args[at + 3].parse().expect("a number of steps");
        if args[at + 4] == "idle" {
            overload.idle(steps);
        } else {
            overload.run(steps);
        }
        println!("{} {} {}", overload.admitted - before.0, overload.sent - before.1, overload.lost - before.2);
        return ExitCode::SUCCESS;
    }
    let only = args.iter().position(|arg| arg == "--only").map(|at| args[at + 1].clone());
    let has = |flag: &str| args.iter().any(|arg| arg == flag);
    let wanted = |case: &&Case| {
        only.as_ref().is_none_or(|only| only == case.0) && (!has("--limited") || limit_of(case).is_some())
    };
    report(has("--check"), &CASES.iter().filter(wanted).collect::<Vec<_>>())
}

/// Instructions that a run takes, and what it printed.
fn count(case: &Case, queues: usize, steps: usize, how: &str) -> (f64, Vec<f64>) {
    callgrind::count(&["--run", case.0, &queues.to_string(), &steps.to_string(), how])
}

fn limit_of(case: &Case) -> Option<f64> {
    LIMITS.iter().find(|(name, _)| *name == case.0).map(|(_, limit)| *limit)
}

fn report(check: bool, cases: &[&Case]) -> ExitCode {
    let idle = (count(&CASES[0], QUEUES[0], MANY, "idle").0 - count(&CASES[0], QUEUES[0], FEW, "idle").0) / PAIRS;
    println!("instructions for one arrival and one departure, at five arrivals for every four departures");
    println!("(the benchmark's own loop, {idle:.1}, is not counted)\n");
    let columns: Vec<String> = QUEUES.iter().map(|queues| format!("{queues:>5} queues")).collect();
    println!("{:<12} {}  growth   limit  admitted  lost", "scheme", columns.join("  "));
    let mut failed = false;
    for case in cases {
        let mut last = Vec::new();
        let costs = QUEUES.map(|queues| {
            let (few, _) = count(case, queues, FEW, "busy");
            let (many, printed) = count(case, queues, MANY, "busy");
            last = printed;
            (many - few) / PAIRS - idle
        });
        let growth = costs[2] / costs[0];
        let limit = limit_of(case);
        let bad = limit.is_some_and(|limit| costs[1] > limit || growth > GROWTH);
        failed |= bad;
        let cells: Vec<String> = costs.iter().map(|cost| format!("{cost:>12.1}")).collect();
        let limit = limit.map_or(String::from("-"), |limit| format!("{limit:.0}"));
        println!(
            "{:<12} {}  {growth:>6.2}  {limit:>6}  {:>7.1}%  {}{}",
            case.0,
            cells.join("  "),
            100.0 * last[0] / MANY as f64,
            last[2],
            if bad { "  TOO MUCH" } else { "" }
        );
    }
    if check && failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
