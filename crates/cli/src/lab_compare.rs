//! `forebay lab compare`: simulated and live results of the same scenarios side by side, as one page.

use crate::Failure;
use crate::args::LabCompareArgs;
use crate::found::{Found, look};
use crate::lab_run::EXPECTED;
use crate::output::print;
use crate::outputs::Outputs;
use forebay_results::compare::comparisons;
use forebay_results::directory::read_run;
use forebay_results::metrics::Unit;
use forebay_results::{RunDirectory, Summary};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// What ends the names of the measures that are shown: what a live run does not know, and what says the same in other
/// words, is left out.
const SHOWN: [&str; 10] = [
    "FCT mean",
    "FCT p99",
    "QCT mean",
    "QCT p50",
    "QCT p99",
    "of those offered",
    "packets expelled",
    "packets marked",
    "packets trimmed",
    "used, p99",
];
/// Rates below this, in Mb/s, are as good as none.
const SMALL: f64 = 1.0;

pub(crate) fn run(args: &LabCompareArgs) -> Result<(), Failure> {
    let mut page = args.introduction.as_ref().map_or_else(
        || Ok("# Live and simulated\n".to_owned()),
        |path| std::fs::read_to_string(path).map_err(|error| Failure::refused(path.display(), error, "")),
    )?;
    let mut apart = Vec::new();
    for pair in args.results.chunks(2) {
        let [simulated, live] = pair else {
            let help = "give SIMULATED LIVE, or several such pairs";
            return Err(Failure::refused("", "these are not pairs of results", help));
        };
        section(simulated, live, &mut page, &mut apart)?;
    }
    apart.sort_by(f64::total_cmp);
    if let Some(median) = apart.get(apart.len() / 2) {
        let within =
            |most: f64| 100.0 * apart.iter().filter(|apart| **apart <= most).count() as f64 / apart.len() as f64;
        let _ = write!(
            page,
            "\n## How far apart\n\nOf {} times and rates above, half differ by at most {:.0}%; {:.0}% of them differ by at most 10%, {:.0}% by at most 30%.\n",
            apart.len(),
            100.0 * median,
            within(0.1),
            within(0.3),
        );
    }
    match &args.out {
        None => print(&page),
        Some(path) => {
            let mut outputs = Outputs::new(args.replace.force);
            args.introduction.iter().for_each(|path| outputs.reads(path));
            outputs.write(path, &page)
        }
    }
}

/// The points of a result, by the names of their directories, each with its runs.
fn points(directory: &Path) -> Result<Vec<(String, Vec<RunDirectory>)>, Failure> {
    let read = |paths: &[PathBuf]| paths.iter().map(|path| Ok(read_run(path)?)).collect::<Result<Vec<_>, Failure>>();
    match look(directory) {
        Found::Sweep(points) => points
            .iter()
            .map(|point| {
                let name = point.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
                let Found::Point(seeds) = look(point) else { return Ok((name, Vec::new())) };
                Ok((name, read(&seeds)?))
            })
            .collect(),
        Found::Point(seeds) => Ok(vec![(String::new(), read(&seeds)?)]),
        Found::Run | Found::Nothing => Ok(vec![(String::new(), vec![read_run(directory)?])]),
    }
}

fn section(simulated: &Path, live: &Path, page: &mut String, apart: &mut Vec<f64>) -> Result<(), Failure> {
    let expected = std::fs::read_to_string(live.join(EXPECTED)).unwrap_or_default();
    let (simulated, live) = (points(simulated)?, points(live)?);
    let title = live.first().and_then(|(_, runs)| runs.first()).map_or("", |run| run.summary.run.name.as_str());
    let _ = write!(page, "\n## {title}\n");
    if !expected.is_empty() {
        let _ = write!(page, "\nWhat is expected, live:\n\n```\n{expected}```\n");
    }
    let _ = write!(page, "\n| point | measure | simulated | live | difference |\n|---|---|---|---|---|\n");
    for (name, runs) in &live {
        let Some((_, others)) = simulated.iter().find(|(other, _)| other == name) else { continue };
        let summaries = |runs: &[RunDirectory]| runs.iter().map(|run| run.summary.clone()).collect::<Vec<Summary>>();
        let polluted = runs.iter().any(is_polluted);
        let mut label = if name.is_empty() { "-".to_owned() } else { name.replace("--", ", ") };
        if polluted {
            label.push_str(" (polluted by stalls)");
        }
        for line in comparisons(&summaries(others), &summaries(runs)) {
            let is_shown = SHOWN.iter().any(|shown| line.name.ends_with(shown)) && !line.name.contains('(');
            if !is_shown || line.a.is_none() || line.b.is_none() {
                continue;
            }
            let difference = line.ratio().map(|ratio| ratio - 1.0);
            if line.unit == Unit::Time {
                apart.extend(difference.map(f64::abs));
            }
            let shown = |side| line.unit.print_interval(side);
            row(page, &label, &line.name, &shown(line.a.as_ref()), &shown(line.b.as_ref()), difference);
        }
        let (ours, theirs) = (rates(runs)?, rates(others)?);
        for (workload, live) in &ours {
            let Some(simulated) = theirs.get(workload) else { continue };
            let difference = (*simulated >= SMALL).then(|| live / simulated - 1.0);
            apart.extend(difference.map(f64::abs));
            let shown = |rate: f64| format!("{rate:.1}Mb/s");
            row(page, &label, &format!("{workload}: rate at the end"), &shown(*simulated), &shown(*live), difference);
        }
    }
    Ok(())
}

fn row(page: &mut String, label: &str, name: &str, simulated: &str, live: &str, difference: Option<f64>) {
    let difference = difference.map_or_else(String::new, |difference| format!("{:+.0}%", 100.0 * difference));
    let _ = writeln!(page, "| {label} | {name} | {simulated} | {live} | {difference} |");
}

/// Whether stalls of the machine were too long in a live run.
fn is_polluted(run: &RunDirectory) -> bool {
    std::fs::read_to_string(run.path.join("lab.json")).is_ok_and(|text| text.contains("\"polluted\": true"))
}

/// The rates over the last quarter of flows without end, by workload, in Mb/s: means over runs.
fn rates(runs: &[RunDirectory]) -> Result<BTreeMap<String, f64>, Failure> {
    let mut sums = BTreeMap::new();
    for run in runs {
        let (progress, flows) = (run.progress()?, run.flows()?);
        let int = |column: &str, row| progress.column(column).and_then(|column| column.int(row)).unwrap_or(0);
        let end = (0..progress.rows()).map(|row| int("at_ps", row)).max().unwrap_or(0);
        let mut spans: BTreeMap<i64, [(i64, i64); 2]> = BTreeMap::new();
        for row in 0..progress.rows() {
            let (at, bytes) = (int("at_ps", row), int("bytes", row));
            if at >= end - end / 4 {
                spans.entry(int("flow", row)).or_insert([(at, bytes); 2])[1] = (at, bytes);
            }
        }
        for (flow, [(from, before), (to, after)]) in spans {
            let row = usize::try_from(flow).unwrap_or(usize::MAX);
            let is_endless = flows.column("bytes").is_some_and(|column| !column.is_present(row));
            let name = flows.column("workload").and_then(|column| column.text(row)).unwrap_or_default();
            if is_endless && to > from {
                let rate = (after - before) as f64 * 8e6 / (to - from) as f64;
                *sums.entry(name.to_owned()).or_default() += rate / runs.len() as f64;
            }
        }
    }
    Ok(sums)
}
