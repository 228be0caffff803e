//! What the figures against the load have in common: their axis, the paper's marks, and statistics at a load.

use super::published::{LOADS, Published};
use crate::{Found, Measured, Panel, Stat, Table, Unit};

/// The key of the load in the scenario files.
pub(super) const LOAD: &str = "workload.0.load";

/// The mean of small flows, their 99th percentile, the mean of large flows: as the paper takes them.
pub(super) const METRICS: [&str; 3] = ["small.mean_ms", "small.p99_ms", "large.mean_ms"];

/// What a metric of [`METRICS`] is, in a claim.
pub(super) fn words(metric: &str) -> &'static str {
    match metric {
        "small.mean_ms" => "small flows, mean",
        "small.p99_ms" => "small flows, 99th percentile",
        _ => "large flows, mean",
    }
}

/// A panel of the paper's three: a metric against the load.
pub(super) fn panel(letter: &'static str, metric: &'static str, load: &str) -> Panel {
    let title = match metric {
        "small.mean_ms" => "Small flows (below 100 KB), mean",
        "small.p99_ms" => "Small flows (below 100 KB), 99th percentile",
        _ => "Large flows (1 MB and more), mean",
    };
    let panel = Panel::lines(letter, title).x(LOAD, load, Unit::Share);
    panel.y(metric, "completion time", Unit::Milliseconds).log_y()
}

/// A panel of the paper's three, with the authors' values.
pub(super) fn against_load(letter: &'static str, metric: &'static str, figure: &'static [Published]) -> Panel {
    against(letter, metric, figure.iter())
}

/// The same with the values of some of the authors' schemes.
pub(super) fn against(
    letter: &'static str,
    metric: &'static str,
    schemes: impl Iterator<Item = &'static Published>,
) -> Panel {
    let panel = panel(letter, metric, "offered load; labelled 20, 30, ... 80% in the paper");
    schemes.fold(panel, |panel, published| {
        let marks: Vec<(f64, f64)> =
            LOADS.into_iter().zip(*published.of(metric)).filter(|(_, y)| y.is_finite()).collect();
        if marks.is_empty() { panel } else { panel.paper(published.name, &marks) }
    })
}

/// A metric of a scheme at a load.
pub(super) fn at(table: &Table, scheme: &str, load: f64, metric: &str) -> Stat {
    table.at(scheme).and(LOAD, load).get(metric)
}

/// The loads of this run, ascending.
pub(super) fn loads(table: &Table) -> Vec<f64> {
    let mut loads = table.values(LOAD);
    loads.sort_unstable_by(f64::total_cmp);
    loads
}

/// The lowest and the highest load of this run; no numbers if nothing has run.
pub(super) fn ends(table: &Table) -> (f64, f64) {
    let loads = loads(table);
    let or_none = |load: Option<&f64>| load.copied().unwrap_or(f64::NAN);
    (or_none(loads.first()), or_none(loads.last()))
}

/// A load as a claim names it.
pub(super) fn percent(load: f64) -> String {
    format!("{:.0}%", load * 100.0)
}

/// Whether `a` is below `b` at every load: a line for each.
pub(super) fn below(table: &Table, a: &str, b: &str, metric: &str) -> Vec<(String, Found)> {
    let line = |load: f64| {
        let (ours, theirs) = (at(table, a, load, metric), at(table, b, load, metric));
        (format!("{a} below {b}, {} at {}", words(metric), percent(load)), ours.less_than(&theirs))
    };
    loads(table).into_iter().map(line).collect()
}

/// Whether what was measured at a load is within 25% of the authors' data: a line for each scheme and metric.
pub(super) fn near_the_authors_data(table: &Table, figure: &[Published], load: f64, metrics: &[&str]) -> Measured {
    let index = LOADS.iter().position(|&known| known == load).expect("the authors ran this load");
    let lines = figure.iter().flat_map(|published| {
        metrics.iter().map(move |metric| {
            let (ours, theirs) = (at(table, published.name, load, metric), published.of(metric)[index]);
            let name = format!("{}, {} ({:.3} ms, there {theirs})", published.name, words(metric), ours.mean());
            (name, ours.between(0.75 * theirs, 1.25 * theirs))
        })
    });
    Measured::points("authors-data", lines.collect()).at([index + 2])
}
