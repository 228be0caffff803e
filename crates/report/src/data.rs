//! The data that the page's script draws.

use crate::groups::{self, BUCKETS, Group};
use crate::{Report, RunView, bands, bins, curves, detail, measures, seeds, timeline};
use serde_json::{Value, json};

/// What is drawn of some runs: those of a point together, or a single one.
struct Drawn<'a> {
    flows: &'a [Group],
    queries: &'a [Group],
    grid: &'a [f64],
}

impl Drawn<'_> {
    fn of(&self, runs: &[RunView]) -> Value {
        json!({
            "flows": curves::of_flows(runs, self.flows, self.grid),
            "queries": curves::of_queries(runs, self.queries, self.grid),
            "drops": drops(runs),
            "dropped": seeds::interval(runs.iter().map(|run| Some(run.drops.iter().map(|(_, count)| *count as f64).sum()))),
            "occupancy": occupancy(runs),
        })
    }
}

/// Names in order of first appearance.
fn names<'a>(all: impl Iterator<Item = &'a String>) -> Vec<&'a String> {
    let mut names = Vec::new();
    for name in all {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Packets dropped by reason: means over runs. A reason that a run does not have is 0 there.
fn drops(runs: &[RunView]) -> Value {
    let count = |run: &RunView, name: &String| -> f64 {
        run.drops.iter().filter(|(reason, _)| reason == name).map(|(_, count)| *count as f64).sum()
    };
    let reasons = names(runs.iter().flat_map(|run| &run.drops).map(|(reason, _)| reason));
    let of = |reason: &&String| json!([reason, seeds::interval(runs.iter().map(|run| Some(count(run, reason))))]);
    reasons.iter().map(of).collect()
}

/// Occupancy by place: means over runs of the median, the 99th percentile and the maximum.
fn occupancy(runs: &[RunView]) -> Value {
    let places = names(runs.iter().flat_map(|run| &run.occupancy).map(|(place, ..)| place));
    let of = |place: &&String| {
        let found = |run: &RunView| run.occupancy.iter().find(|(name, ..)| name == *place).cloned();
        let mean =
            |value: fn((String, f64, f64, f64)) -> f64| seeds::interval(runs.iter().map(|run| found(run).map(value)));
        json!([place, mean(|(_, p50, ..)| p50), mean(|(_, _, p99, _)| p99), mean(|(.., max)| max)])
    };
    places.iter().map(of).collect()
}

/// Everything the script needs.
pub(crate) fn of_report(report: &Report) -> Value {
    let of_flows = groups::of_flows(report);
    let of_queries = groups::of_queries(report);
    let grid = curves::grid_for(report);
    let seed_grid = curves::grid(curves::FEWEST_POINTS);
    let single = seeds::single(report);
    let names = |groups: &[Group], all: &str| groups.iter().map(|group| group.name(all)).collect::<Value>();
    let together = Drawn { flows: &of_flows, queries: &of_queries, grid: &grid };
    let one_by_one = Drawn { flows: &of_flows, queries: &of_queries, grid: &seed_grid };
    let runs: Value = report
        .points
        .iter()
        .map(|point| {
            let of_seed = |seed: &u64| {
                let run = seeds::run_of(&point.seeds, *seed);
                run.map_or(Value::Null, |run| one_by_one.of(std::slice::from_ref(run)))
            };
            let mut drawn = together.of(&point.seeds);
            drawn["label"] = json!(point.label);
            drawn["seeds"] = json!(point.seeds.len());
            drawn["singles"] = single.iter().map(of_seed).collect();
            drawn
        })
        .collect();
    json!({
        "grid": grid,
        "seedGrid": seed_grid,
        "seeds": seeds::all(report).len(),
        "singles": single,
        "bandFrom": bands::FEWEST_SEEDS,
        "paired": measures::are_paired(report),
        "measures": measures::of_report(report, &single),
        "buckets": BUCKETS.iter().map(|bucket| bucket.name).collect::<Value>(),
        "ideals": curves::of_ideals(report, &of_flows, &grid),
        "flowGroups": names(&of_flows, "All flows"),
        "queryGroups": names(&of_queries, "All queries"),
        "sizes": of_flows.iter().map(|group| bins::of_group(report, group, &single)).collect::<Value>(),
        "timeline": timeline::of_report(report, &single),
        "details": detail::of_report(report, &single),
        "parts": detail::parts(report),
        "runs": runs,
    })
}
