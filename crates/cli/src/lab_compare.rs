//! `forebay lab compare`: simulated and live results of the same scenarios side by side, as one page.

use crate::Failure;
use crate::args::LabCompareArgs;
use crate::found::{Found, look};
use crate::lab_run::EXPECTED;
use crate::output::{print, print_json};
use crate::outputs::Outputs;
use forebay_results::compare::comparisons;
use forebay_results::directory::read_run;
use forebay_results::metrics::Unit;
use forebay_results::stats::Interval;
use forebay_results::{RunDirectory, Summary};
use serde_json::{Value, json};
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
/// What the measure of a workload's rate ends in.
const RATE: &str = "rate at the end";
/// Rates below this, in Mb/s, are as good as none.
const SMALL: f64 = 1.0;

/// Results of one scenario side by side.
struct Section {
    title: String,
    /// What was expected of the live one.
    expected: String,
    rows: Vec<Row>,
}

/// A measure of a point.
struct Row {
    point: String,
    measure: String,
    unit: Unit,
    simulated: Interval,
    live: Interval,
    /// The share by which the live one is larger.
    difference: Option<f64>,
    /// It counts among the times and rates.
    is_judged: bool,
}

pub(crate) fn run(args: &LabCompareArgs) -> Result<(), Failure> {
    let introduction = args.introduction.as_ref().map_or_else(
        || Ok("# Live and simulated\n".to_owned()),
        |path| std::fs::read_to_string(path).map_err(|error| Failure::refused(path.display(), error, "")),
    )?;
    let mut sections = Vec::new();
    for pair in args.results.chunks(2) {
        let [simulated, live] = pair else {
            let help = "give SIMULATED LIVE, or several such pairs";
            return Err(Failure::refused("", "these are not pairs of results", help));
        };
        sections.push(section(simulated, live)?);
    }
    if args.json {
        return print_json(&sections.iter().flat_map(Section::json).collect());
    }
    let page = introduction + &sections.iter().map(Section::text).collect::<String>() + &how_far_apart(&sections);
    match &args.out {
        None => print(&page),
        Some(path) => {
            let mut outputs = Outputs::new(args.replace.force);
            args.introduction.iter().for_each(|path| outputs.reads(path));
            outputs.write(path, &page)
        }
    }
}

fn how_far_apart(sections: &[Section]) -> String {
    let judged = sections.iter().flat_map(|section| &section.rows).filter(|row| row.is_judged);
    let mut apart: Vec<f64> = judged.filter_map(|row| row.difference.map(f64::abs)).collect();
    apart.sort_by(f64::total_cmp);
    let Some(median) = apart.get(apart.len() / 2) else { return String::new() };
    let within = |most: f64| 100.0 * apart.iter().filter(|apart| **apart <= most).count() as f64 / apart.len() as f64;
    format!(
        "\n## How far apart\n\nOf {} times and rates above, half differ by at most {:.0}%; {:.0}% of them differ by at most 10%, {:.0}% by at most 30%.\n",
        apart.len(),
        100.0 * median,
        within(0.1),
        within(0.3),
    )
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

fn section(simulated: &Path, live: &Path) -> Result<Section, Failure> {
    let expected = std::fs::read_to_string(live.join(EXPECTED)).unwrap_or_default();
    let (simulated, live) = (points(simulated)?, points(live)?);
    let title = live.first().and_then(|(_, runs)| runs.first()).map_or("", |run| run.summary.run.name.as_str());
    let mut rows = Vec::new();
    for (name, runs) in &live {
        let Some((_, others)) = simulated.iter().find(|(other, _)| other == name) else { continue };
        let summaries = |runs: &[RunDirectory]| runs.iter().map(|run| run.summary.clone()).collect::<Vec<Summary>>();
        let polluted = runs.iter().any(is_polluted);
        let mut point = if name.is_empty() { "-".to_owned() } else { name.replace("--", ", ") };
        if polluted {
            point.push_str(" (polluted by stalls)");
        }
        for line in comparisons(&summaries(others), &summaries(runs)) {
            let is_shown = SHOWN.iter().any(|shown| line.name.ends_with(shown)) && !line.name.contains('(');
            let (true, Some(simulated), Some(live)) = (is_shown, line.a, line.b) else { continue };
            rows.push(Row {
                point: point.clone(),
                difference: line.ratio().map(|ratio| ratio - 1.0),
                is_judged: line.unit == Unit::Time,
                measure: line.name,
                unit: line.unit,
                simulated,
                live,
            });
        }
        let (ours, theirs) = (rates(runs)?, rates(others)?);
        for (workload, live) in &ours {
            let Some(simulated) = theirs.get(workload) else { continue };
            let rate = |mean: f64| Interval { mean, half: None };
            rows.push(Row {
                point: point.clone(),
                measure: format!("{workload}: {RATE}"),
                unit: Unit::Count,
                simulated: rate(*simulated),
                live: rate(*live),
                difference: (*simulated >= SMALL).then(|| live / simulated - 1.0),
                is_judged: true,
            });
        }
    }
    Ok(Section { title: title.to_owned(), expected, rows })
}

impl Section {
    /// In Markdown.
    fn text(&self) -> String {
        let mut page = format!("\n## {}\n", self.title);
        if !self.expected.is_empty() {
            let _ = write!(page, "\nWhat is expected, live:\n\n```\n{}```\n", self.expected);
        }
        let _ = write!(page, "\n| point | measure | simulated | live | difference |\n|---|---|---|---|---|\n");
        for row in &self.rows {
            let shown = |side: &Interval| match row.is_rate() {
                true => format!("{:.1}Mb/s", side.mean),
                false => row.unit.print_interval(Some(side)),
            };
            let difference = row.difference.map_or_else(String::new, |share| format!("{:+.0}%", 100.0 * share));
            let (simulated, live) = (shown(&row.simulated), shown(&row.live));
            let _ = writeln!(page, "| {} | {} | {simulated} | {live} | {difference} |", row.point, row.measure);
        }
        page
    }

    fn json(&self) -> impl Iterator<Item = Value> {
        self.rows.iter().map(|row| {
            let side = |side: &Interval| json!({ "mean": side.mean, "ci95": side.half });
            json!({
                "scenario": self.title,
                "point": row.point,
                "measure": row.measure,
                "unit": if row.is_rate() { "Mb/s" } else { row.unit.name() },
                "simulated": side(&row.simulated),
                "live": side(&row.live),
                "difference": row.difference,
            })
        })
    }
}

impl Row {
    fn is_rate(&self) -> bool {
        self.measure.ends_with(RATE)
    }
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
