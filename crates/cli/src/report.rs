//! `forebay report`: results as one page with plots.

use crate::Failure;
use crate::args::ReportArgs;
use crate::found::{self, Found, below, look};
use crate::output::print;
use crate::outputs::Outputs;
use crate::report_detail::detail;
use crate::report_reasons::in_words;
use crate::report_scenario;
use forebay_report::{
    Amount, Detail, FlowPoint, NamedTable, Point, QueryPoint, Report, RunView, TimelineSeries, page, seeds_inside,
};
use forebay_results::directory::{file_names, read_run};
use forebay_results::{RunDirectory, Table};
use forebay_runner::destination::PAGE;
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &ReportArgs) -> Result<(), Failure> {
    let path = match (&args.out, args.results.as_slice()) {
        (Some(path), _) => path.clone(),
        (None, [only]) if only != Path::new(".") => only.join(PAGE),
        (None, _) => PathBuf::from(PAGE),
    };
    write(&path, &args.results, args.replace.force)?;
    print(&format!("report: {}\n", path.display()))
}

/// What a page shows.
#[derive(Default)]
struct Shown {
    /// The directories of runs and of points, each with its runs: itself, or one for each seed.
    points: Vec<(PathBuf, Vec<PathBuf>)>,
    /// Some are of a sweep. Its runs share a process and its cores, so that what they cost depends on their neighbours:
    /// a page leaves it out, and is the same whenever the sweep is.
    from_sweep: bool,
}

impl Shown {
    /// Adds what is in a directory: itself if it is a run, a point with its seeds, the points of a sweep, or what is
    /// below it, if that is of one scenario.
    fn gather(&mut self, directory: &Path) -> Result<(), Failure> {
        let before = self.points.len();
        self.descend(directory, 0);
        if matches!(look(directory), Found::Nothing) {
            refuse_a_mixture(directory, &self.points[before..])?;
        }
        if self.points.len() == before && !self.has(directory) {
            // It is refused when it is read.
            self.add(directory, vec![directory.to_owned()]);
        }
        Ok(())
    }

    fn has(&self, directory: &Path) -> bool {
        self.points.iter().any(|(known, runs)| known == directory || runs.iter().any(|run| run == directory))
    }

    fn descend(&mut self, directory: &Path, depth: usize) {
        /// Enough for a directory of sweeps.
        const DEEPEST: usize = 2;
        match look(directory) {
            Found::Run => self.add(directory, vec![directory.to_owned()]),
            Found::Point(seeds) => {
                self.from_sweep = true;
                self.add(directory, seeds);
            }
            Found::Sweep(points) => {
                self.from_sweep = true;
                for point in points {
                    if let Found::Point(seeds) = look(&point) {
                        self.add(&point, seeds);
                    }
                }
            }
            Found::Nothing if depth < DEEPEST => {
                below(directory).iter().for_each(|path| self.descend(path, depth + 1));
            }
            Found::Nothing => {}
        }
    }

    fn add(&mut self, directory: &Path, runs: Vec<PathBuf>) {
        if !self.has(directory) {
            self.points.push((directory.to_owned(), runs));
        }
    }
}

/// Refuses a directory in which there are results of several scenarios: they have nothing to do with each other unless
/// somebody says so.
fn refuse_a_mixture(directory: &Path, points: &[(PathBuf, Vec<PathBuf>)]) -> Result<(), Failure> {
    // By the name of the scenario, what was found first: a run, or the sweep that a point is of.
    let mut scenarios: Vec<(String, PathBuf)> = Vec::new();
    for (point, runs) in points {
        let Some(name) = runs.first().and_then(|run| read_run(run).ok()).map(|run| run.summary.run.name) else {
            continue;
        };
        if !scenarios.iter().any(|(known, _)| *known == name) {
            let place = if runs.first() == Some(point) { Some(point.as_path()) } else { point.parent() };
            scenarios.push((name, place.unwrap_or(point).to_owned()));
        }
    }
    if scenarios.len() < 2 {
        return Ok(());
    }
    let some: Vec<String> =
        scenarios.iter().take(3).map(|(name, path)| format!("{} ({name})", path.display())).collect();
    let more = if scenarios.len() > some.len() { ", ..." } else { "" };
    let problem = format!("there are results of {} scenarios below it: {}{more}", scenarios.len(), some.join(", "));
    Err(Failure::refused(directory.display(), problem, "give those that belong on one page"))
}

/// Writes the page of some results.
pub(crate) fn write(path: &Path, results: &[PathBuf], force: bool) -> Result<(), Failure> {
    let mut outputs = Outputs::new(force);
    let mut shown = Shown::default();
    for directory in results {
        shown.gather(directory)?;
    }
    let (mut points, mut names) = (Vec::new(), Vec::new());
    let common = common_ancestor(&shown.points);
    let inside = seeds_inside(shown.points.len());
    for (directory, runs) in &shown.points {
        let mut seeds = Vec::new();
        for (number, path) in runs.iter().enumerate() {
            let run = read_run(path)?;
            file_names().for_each(|name| outputs.reads(&path.join(name)));
            seeds.push(view(&run, !shown.from_sweep, number < inside)?);
            if !names.contains(&run.summary.run.name) {
                names.push(run.summary.run.name.clone());
            }
        }
        let label = label(directory, common.as_deref()).or_else(|| names.last().cloned()).unwrap_or_default();
        points.push(Point { label, seeds });
    }
    let report = Report {
        title: if let [only] = names.as_slice() { only.clone() } else { "Forebay report".to_owned() },
        points,
        meanings: report_scenario::meanings(),
        ..Report::default()
    };
    outputs.write(path, &page(&report))
}

/// The directory that all runs and points are in.
fn common_ancestor(points: &[(PathBuf, Vec<PathBuf>)]) -> Option<PathBuf> {
    let ((first, _), others) = points.split_first()?;
    let mut common = first.parent()?.to_owned();
    while !others.iter().all(|(directory, _)| directory.starts_with(&common)) {
        common = common.parent()?.to_owned();
    }
    Some(common)
}

/// What tells a run or a point from the others: its way from the directory that they share, with the label of a point
/// instead of its directory's name; `None` if it is that directory.
fn label(directory: &Path, common: Option<&Path>) -> Option<String> {
    let short = common.and_then(|common| directory.strip_prefix(common).ok()).unwrap_or(directory);
    let short = found::label(directory).map_or_else(|| short.to_owned(), |label| short.with_file_name(label));
    let text = short.display().to_string();
    (!text.trim_matches(['.', '/']).is_empty()).then_some(text)
}

/// What the page shows of a run. Buffers over time and what happened inside are shown of the first seeds of a point.
fn view(run: &RunDirectory, with_cost: bool, with_detail: bool) -> Result<RunView, Failure> {
    let summary = &run.summary;
    let (flows, queries) = (run.flows()?, run.queries()?);
    let switches = report_scenario::switches_fail(run);
    let mut names = Vec::new();
    let flow_workloads = numbers_of(&flows, &mut names);
    let query_workloads = numbers_of(&queries, &mut names);
    let facts = [
        ("name", summary.run.name.clone()),
        ("seed", summary.run.seed.to_string()),
        ("version", summary.run.version.clone()),
        ("simulated", format!("{:.3} ms", summary.run.end_ps as f64 / 1e9)),
    ];
    let mut facts: Vec<(String, String)> = facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    facts.extend(report_scenario::facts(run));
    if summary.run.interrupted {
        facts.push(("interrupted".to_owned(), "yes".to_owned()));
    }
    let mut cost = vec![
        ("events".to_owned(), Amount::Count(summary.engine.events as f64)),
        ("packet-hops".to_owned(), Amount::Count(summary.engine.hops as f64)),
    ];
    if with_cost {
        cost.push(("CPU seconds".to_owned(), Amount::Seconds(summary.cost.cpu_seconds)));
        if let Some(speed) = summary.cost.hops_per_cpu_second {
            cost.push(("packet-hops per CPU second".to_owned(), Amount::Count(speed)));
        }
        cost.push(("peak memory".to_owned(), Amount::Bytes(summary.cost.peak_memory as f64)));
    }
    let loads = NamedTable {
        title: "Load: configured, and that of the flows of each run".to_owned(),
        header: ["workload", "of the", "configured", "with headers", "flows", "flows with headers"]
            .map(str::to_owned)
            .to_vec(),
        rows: summary
            .loads
            .iter()
            .map(|load| {
                let mut row = vec![load.workload.clone(), load.of.clone()];
                let shares = [load.offered_payload, load.offered_wire, load.achieved_payload, load.achieved_wire];
                row.extend(shares.map(|share| share.map_or("-".to_owned(), |share| format!("{:.2}%", 100.0 * share))));
                row
            })
            .collect(),
    };
    Ok(RunView {
        seed: summary.run.seed,
        facts,
        flows: flow_points(&flows, &flow_workloads),
        workloads: names,
        queries: query_points(&queries, &query_workloads),
        timeline: if with_detail { timeline(run)? } else { Vec::new() },
        detail: if with_detail { detail(run)? } else { Detail::default() },
        drops: summary
            .losses_by_reason()
            .into_iter()
            .map(|drop| (in_words(&drop.reason, switches).to_owned(), drop.packets))
            .collect(),
        tables: if loads.rows.is_empty() { Vec::new() } else { vec![loads] },
        occupancy: summary
            .buffers
            .iter()
            .map(|tier| (tier.tier.clone(), tier.occupancy_p50, tier.occupancy_p99, tier.occupancy_max))
            .collect(),
        cost,
    })
}

/// The numbers of the workloads of a table's rows; new names are added.
fn numbers_of(table: &Table, names: &mut Vec<String>) -> Vec<u16> {
    let Some(column) = table.column("workload") else { return Vec::new() };
    (0..table.rows())
        .map(|row| {
            let name = column.text(row).unwrap_or_default();
            let number = names.iter().position(|known| known == name).unwrap_or_else(|| {
                names.push(name.to_owned());
                names.len() - 1
            });
            number as u16
        })
        .collect()
}

fn number(table: &Table, name: &str, row: usize) -> Option<f64> {
    table.column(name).and_then(|column| column.number(row))
}

/// Whether a flow or query is in the summary.
fn is_measured(table: &Table, row: usize) -> bool {
    table.column("measured").and_then(|column| column.bool(row)).unwrap_or(true)
}

fn flow_points(table: &Table, workloads: &[u16]) -> Vec<FlowPoint> {
    (0..table.rows())
        // Flows without end have no size and no completion time.
        .filter(|row| number(table, "bytes", *row).is_some() && is_measured(table, *row))
        .map(|row| FlowPoint {
            bytes: number(table, "bytes", row).unwrap_or_default() as u64,
            fct_s: number(table, "fct_ps", row).map(|ps| ps / 1e12),
            ideal_s: number(table, "ideal_ps", row).unwrap_or_default() / 1e12,
            slowdown: number(table, "slowdown", row),
            workload: workloads[row],
            class: number(table, "class", row).unwrap_or_default() as u8,
        })
        .collect()
}

fn query_points(table: &Table, workloads: &[u16]) -> Vec<QueryPoint> {
    (0..table.rows())
        .filter(|row| is_measured(table, *row))
        .map(|row| QueryPoint {
            qct_s: number(table, "qct_ps", row).map(|ps| ps / 1e12),
            slowdown: number(table, "slowdown", row),
            drops: number(table, "dropped_packets", row).unwrap_or_default() as u32,
            workload: workloads[row],
        })
        .collect()
}

/// One series for each buffer that was sampled.
fn timeline(run: &RunDirectory) -> Result<Vec<TimelineSeries>, Failure> {
    let table = run.timeline()?;
    let buffers = run.table("buffers")?;
    let mut series: Vec<((String, u64), TimelineSeries)> = Vec::new();
    for row in 0..table.rows() {
        let text = |name: &str| table.column(name).and_then(|column| column.text(row)).unwrap_or_default();
        let value = |name: &str| number(&table, name, row).unwrap_or_default();
        let key = (text("switch").to_owned(), value("buffer") as u64);
        let place = series.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
            let name = if key.1 == 0 { key.0.clone() } else { format!("{} buffer {}", key.0, key.1) };
            let size = buffer_size(&buffers, &key);
            series.push((key.clone(), TimelineSeries { name, size, points: Vec::new() }));
            series.len() - 1
        });
        series[place].1.points.push((
            value("at_ps") / 1e12,
            value("used_bytes") as u64,
            value("longest_bytes") as u64,
            number(&table, "threshold_bytes", row),
            value("dropped_packets") as u64,
        ));
    }
    Ok(series.into_iter().map(|(_, series)| series).collect())
}

fn buffer_size(buffers: &Table, (switch, buffer): &(String, u64)) -> u64 {
    let is_it = |row: &usize| {
        buffers.column("switch").and_then(|column| column.text(*row)) == Some(switch)
            && number(buffers, "buffer", *row) == Some(*buffer as f64)
    };
    (0..buffers.rows()).find(is_it).and_then(|row| number(buffers, "size_bytes", row)).unwrap_or_default() as u64
}
