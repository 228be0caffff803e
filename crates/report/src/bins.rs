//! Slowdown by size: flows in bins of size that hold about a tenth of them each.

use crate::bands::{self, Shares};
use crate::groups::{self, Group};
use crate::stats::{percentile, significant, sorted};
use crate::{Report, RunView, seeds};
use serde_json::{Value, json};

/// Bins, unless many flows have the same size.
const BINS: usize = 10;
/// What is shown of the slowdowns in a bin.
const PERCENTILES: [f64; 3] = [0.5, 0.95, 0.99];

/// The bins of sorted sizes: from above the last bin's upper end to a tenth further on, at least one whole size. Where
/// one size has more than a tenth of the flows there are fewer bins.
fn upper_ends(sizes: &[u64]) -> Vec<u64> {
    let mut ends: Vec<u64> = (1..=BINS).filter_map(|k| percentile(sizes, k as f64 / BINS as f64)).collect();
    ends.dedup();
    ends
}

/// Slowdown percentiles by size for a group of flows: those of all seeds of a point, and those of single seeds. All
/// runs share the bins, so that they are compared at equal sizes.
pub(crate) fn of_group(report: &Report, group: &Group, single: &[u64]) -> Value {
    let all = report.points.iter().flat_map(|point| groups::flows(&point.seeds, group));
    let mut sizes: Vec<u64> = all.map(|flow| flow.bytes).collect();
    sizes.sort_unstable();
    let ends = upper_ends(&sizes);
    let bins: Value = ends
        .iter()
        .scan(0, |from, end| {
            let to = sizes.partition_point(|size| size <= end);
            let of_bin = &sizes[*from..to];
            *from = to;
            Some(json!({ "from": of_bin[0], "to": end, "mid": percentile(of_bin, 0.5) }))
        })
        .collect();
    let of_runs = |runs: &[RunView]| -> Value {
        let by_seed: Vec<Vec<Vec<f64>>> = runs.iter().map(|run| by_bin(run, group, &ends)).collect();
        let of_bin = |bin: usize| by_seed.iter().map(|bins| bins[bin].as_slice()).collect::<Vec<_>>();
        (0..ends.len()).map(|bin| percentiles(&of_bin(bin))).collect()
    };
    let points: Value = report.points.iter().map(|point| of_runs(&point.seeds)).collect();
    let of_seed = |runs: &[RunView], seed: u64| {
        seeds::run_of(runs, seed).map_or(Value::Null, |run| of_runs(std::slice::from_ref(run)))
    };
    let of_seeds = |runs: &[RunView]| single.iter().map(|seed| of_seed(runs, *seed)).collect::<Value>();
    let singles: Value = report.points.iter().map(|point| of_seeds(&point.seeds)).collect();
    json!({ "bins": bins, "runs": points, "singles": singles })
}

/// The slowdowns of a run's flows by bin, in order.
fn by_bin(run: &RunView, group: &Group, ends: &[u64]) -> Vec<Vec<f64>> {
    let mut bins = vec![Vec::new(); ends.len()];
    for flow in groups::flows(std::slice::from_ref(run), group) {
        bins[ends.partition_point(|end| *end < flow.bytes)].push(flow.slowdown);
    }
    bins.into_iter().map(|bin| sorted(bin.into_iter())).collect()
}

/// The number of values of all seeds, their 50th, 95th and 99th percentile, and the confidence intervals of these if
/// there are enough seeds; null of nothing.
fn percentiles(by_seed: &[&[f64]]) -> Value {
    let mut all = by_seed.concat();
    if all.is_empty() {
        return Value::Null;
    }
    all.sort_unstable_by(f64::total_cmp);
    let shown = |value| significant(value, 4);
    let values = PERCENTILES.iter().map(|p| json!(percentile(&all, *p).map(shown)));
    let shares: Vec<Shares> = by_seed.iter().map(|sorted| Shares { sorted, all: sorted.len() }).collect();
    let intervals = PERCENTILES.iter().filter_map(|p| bands::of_percentile(&shares, &all, *p));
    let intervals = intervals.map(|(low, high)| json!([shown(low), shown(high)]));
    [json!(all.len())].into_iter().chain(values).chain(intervals).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FlowPoint, Point, RunView};

    fn report(sizes: impl Iterator<Item = u64>) -> Report {
        let flows =
            sizes.map(|bytes| FlowPoint { bytes, slowdown: Some(bytes as f64), ..FlowPoint::default() }).collect();
        let seeds = vec![RunView { flows, ..RunView::default() }];
        Report { points: vec![Point { seeds, ..Point::default() }], ..Report::default() }
    }

    #[test]
    fn tenths_of_a_ramp() {
        let bins = of_group(&report(1..=1_000), &Group::All, &[]);
        assert_eq!(bins["bins"].as_array().unwrap().len(), 10);
        assert_eq!(bins["bins"][3], json!({ "from": 301, "to": 400, "mid": 350 }));
        assert_eq!(bins["runs"][0][3], json!([100, 350.0, 395.0, 399.0]));
    }

    #[test]
    fn equal_sizes_share_a_bin() {
        let bins = of_group(&report((0..500).map(|_| 40_000).chain(50_001..50_501)), &Group::All, &[]);
        assert_eq!(bins["bins"].as_array().unwrap().len(), 6);
        assert_eq!(bins["bins"][0], json!({ "from": 40_000, "to": 40_000, "mid": 40_000 }));
        assert_eq!(bins["runs"][0][0][0], json!(500));
        assert_eq!(bins["runs"][0][5][0], json!(100));
    }

    #[test]
    fn seeds_are_pooled_and_kept_apart() {
        let mut report = report(1..=1_000);
        let flow = FlowPoint { bytes: 350, slowdown: Some(9_000.0), ..FlowPoint::default() };
        report.points[0].seeds.push(RunView { seed: 7, flows: vec![flow; 200], ..RunView::default() });
        let bins = of_group(&report, &Group::All, &[0, 7, 8]);
        let bin = bins["bins"].as_array().unwrap().iter().position(|bin| bin["to"] == 350).unwrap();
        assert_eq!(bins["runs"][0][bin][0].as_u64(), bins["singles"][0][0][bin][0].as_u64().map(|own| own + 200));
        assert_eq!(bins["singles"][0][1][bin], json!([200, 9_000.0, 9_000.0, 9_000.0]));
        assert_eq!((&bins["singles"][0][1][0], &bins["singles"][0][2]), (&Value::Null, &Value::Null));
    }

    #[test]
    fn no_flows_no_bins() {
        assert_eq!(of_group(&Report::default(), &Group::All, &[]), json!({ "bins": [], "runs": [], "singles": [] }));
    }
}
