//! Cumulative distributions, thinned out.

use crate::bands::{self, Shares};
use crate::groups::{self, BUCKETS, Group};
use crate::stats::{mean, percentile, significant, sorted, summary};
use crate::{FlowPoint, QueryPoint, Report, RunView, seeds};
use serde_json::{Value, json};

/// The most points of a curve.
const MOST_POINTS: usize = 400;
/// The fewest that a curve is thinned out to; curves of single seeds have no more.
pub(crate) const FEWEST_POINTS: usize = 60;
/// About how many points all curves of a page may have together.
const POINTS_OF_PAGE: usize = 120_000;
/// Digits of a point: more than a plot can show.
const DIGITS: i32 = 4;
/// Times are in microseconds.
const PER_SECOND: f64 = 1e6;

/// The shares at which a curve of many values is sampled: three quarters of them evenly, the rest closer and closer to
/// 1, because the tail is what runs differ in; the last is 1, so that the largest value is kept.
pub(crate) fn grid(points: usize) -> Vec<f64> {
    let tail = points / 4;
    let even = points - tail;
    let evenly = (1..=even).map(|k| k as f64 / (even + 1) as f64);
    // From 1 - 10^-2 to 1 - 10^-5.
    let closer = (0..tail - 1).map(|k| 1.0 - 10f64.powf(-2.0 - 3.0 * k as f64 / (tail - 2) as f64));
    let mut grid: Vec<f64> = evenly.chain(closer).chain([1.0]).map(|p| (p * 1e6).round() / 1e6).collect();
    grid.sort_unstable_by(f64::total_cmp);
    grid
}

/// The grid for all curves of a page.
pub(crate) fn grid_for(report: &Report) -> Vec<f64> {
    let sets = groups::of_flows(report).len() * BUCKETS.len() + groups::of_queries(report).len();
    let curves = 2 * sets * report.points.len().max(1);
    grid((POINTS_OF_PAGE / curves).clamp(FEWEST_POINTS, MOST_POINTS))
}

/// The values at the grid's shares, or all of them if they are not more than that.
fn thinned(sorted: &[f64], grid: &[f64]) -> Vec<f64> {
    if sorted.len() <= grid.len() {
        return sorted.to_vec();
    }
    grid.iter().filter_map(|p| percentile(sorted, *p)).collect()
}

/// A curve, and its summary.
fn curve(sorted: &[f64], grid: &[f64]) -> Value {
    let values = thinned(sorted, grid).into_iter().map(|value| significant(value, DIGITS));
    json!({ "x": values.collect::<Vec<_>>(), "stats": summary(sorted) })
}

fn in_microseconds(value: Option<f64>) -> Option<f64> {
    value.map(|seconds| seconds * PER_SECOND)
}

/// What is known seed by seed of a set of numbers: the mean over seeds of its mean and percentiles, each with half its
/// confidence interval.
fn over_seeds(by_seed: &[Vec<f64>]) -> Value {
    let of = |value: &dyn Fn(&[f64]) -> Option<f64>| seeds::interval(by_seed.iter().map(|sorted| value(sorted)));
    let at = |p: f64| of(&|sorted: &[f64]| percentile(sorted, p));
    json!({ "mean": of(&mean), "p50": at(0.5), "p95": at(0.95), "p99": at(0.99) })
}

/// A measure of the flows or queries of some runs: all together as a curve, and what is known seed by seed if there are
/// several.
fn pooled<T>(by_seed: &[Vec<&T>], grid: &[f64], value: impl Fn(&T) -> Option<f64>) -> Value {
    let values: Vec<Vec<f64>> = by_seed.iter().map(|of| sorted(of.iter().map(|one| value(one)))).collect();
    let mut all: Vec<f64> = values.iter().flatten().copied().collect();
    all.sort_unstable_by(f64::total_cmp);
    let mut curve = curve(&all, grid);
    if values.len() > 1 {
        curve["seeds"] = over_seeds(&values);
        let shares: Vec<Shares> =
            by_seed.iter().zip(&values).map(|(of, sorted)| Shares { sorted, all: of.len() }).collect();
        if let Some(band) = bands::around(&shares, &thinned(&all, grid)) {
            curve["band"] = json!(band);
        }
    }
    curve
}

/// The distributions of the flows of some runs, by group and bucket; null where there are no flows.
pub(crate) fn of_flows(runs: &[RunView], groups: &[Group], grid: &[f64]) -> Value {
    let of_bucket = |group: &Group, bucket: &groups::Bucket| {
        let of_run =
            |run| groups::flows(std::slice::from_ref(run), group).filter(|flow| bucket.has(flow.bytes)).collect();
        let by_seed: Vec<Vec<&FlowPoint>> = runs.iter().map(of_run).collect();
        let flows = || by_seed.iter().flatten();
        if flows().next().is_none() {
            return Value::Null;
        }
        json!({
            "all": flows().count(),
            "done": flows().filter(|flow| flow.fct_s.is_some()).count(),
            "time": pooled(&by_seed, grid, |flow| in_microseconds(flow.fct_s)),
            "slowdown": pooled(&by_seed, grid, |flow| flow.slowdown),
        })
    };
    groups.iter().map(|group| BUCKETS.iter().map(|bucket| of_bucket(group, bucket)).collect::<Value>()).collect()
}

/// The distribution of the flows' times on the empty network, over all runs, by group and bucket; null where there are
/// no flows. A run of the same flows can only be to its right.
pub(crate) fn of_ideals(report: &Report, groups: &[Group], grid: &[f64]) -> Value {
    let of_bucket = |group: &Group, bucket: &groups::Bucket| {
        let all = report.points.iter().flat_map(|point| groups::flows(&point.seeds, group));
        let flows = all.filter(|flow| bucket.has(flow.bytes));
        let times = sorted(flows.map(|flow| Some(flow.ideal_s * PER_SECOND).filter(|time| *time > 0.0)));
        if times.is_empty() {
            return Value::Null;
        }
        json!({ "all": times.len(), "done": times.len(), "time": curve(&times, grid) })
    };
    groups.iter().map(|group| BUCKETS.iter().map(|bucket| of_bucket(group, bucket)).collect::<Value>()).collect()
}

/// The distributions of the queries of some runs, by group; null where there are no queries.
pub(crate) fn of_queries(runs: &[RunView], groups: &[Group], grid: &[f64]) -> Value {
    let of_group = |group: &Group| {
        let of_run = |run: &'_ RunView| {
            let filter = group.filter(run);
            move |query: &&QueryPoint| filter(query.workload, 0)
        };
        let by_seed: Vec<Vec<&QueryPoint>> =
            runs.iter().map(|run| run.queries.iter().filter(of_run(run)).collect()).collect();
        let queries = || by_seed.iter().flatten();
        if queries().next().is_none() {
            return Value::Null;
        }
        json!({
            "all": queries().count(),
            "done": queries().filter(|query| query.qct_s.is_some()).count(),
            "dropped": queries().filter(|query| query.drops > 0).count(),
            "time": pooled(&by_seed, grid, |query| in_microseconds(query.qct_s)),
            "slowdown": pooled(&by_seed, grid, |query| query.slowdown),
        })
    };
    groups.iter().map(of_group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_rise_to_one() {
        for points in [FEWEST_POINTS, 200, MOST_POINTS] {
            let grid = grid(points);
            assert_eq!(grid.len(), points);
            assert!(grid.is_sorted() && grid[0] > 0.0);
            assert_eq!(grid[points - 1], 1.0);
            assert!(grid.iter().filter(|p| **p > 0.99).count() >= points / 5);
        }
    }

    #[test]
    fn thinned_curves_lie_on_the_whole_one() {
        let values: Vec<f64> = (1..=100_000).map(f64::from).collect();
        let grid = grid(MOST_POINTS);
        let thin = curve(&values, &grid);
        let xs = thin["x"].as_array().unwrap();
        assert_eq!(xs.len(), grid.len());
        for (x, p) in xs.iter().zip(&grid) {
            let exact = (p * 100_000.0).ceil();
            assert!((x.as_f64().unwrap() - exact).abs() <= exact / 1_000.0 + 1.0, "{x} at {p}");
        }
        assert_eq!(xs[grid.len() - 1], json!(100_000.0));
        assert_eq!(thin["stats"]["p99"], json!(99_000.0));
    }

    #[test]
    fn seeds_are_pooled_into_one_curve() {
        let run = |times: &[f64]| RunView {
            flows: times.iter().map(|&time| FlowPoint { fct_s: Some(time * 1e-6), ..FlowPoint::default() }).collect(),
            ..RunView::default()
        };
        let curves = of_flows(&[run(&[1.0, 5.0]), run(&[2.0, 4.0, 6.0])], &[Group::All], &grid(FEWEST_POINTS));
        let time = &curves[0][0]["time"];
        assert_eq!((&curves[0][0]["all"], &time["x"]), (&json!(5), &json!([1.0, 2.0, 4.0, 5.0, 6.0])));
        // Seed by seed the means are 3 and 4: 3.5, s = sqrt(1/2), half 12.706205 / 2.
        assert_eq!(time["seeds"]["mean"], json!([3.5, 6.353]));
        assert_eq!(time["seeds"]["p50"], json!([2.5, 19.06]));
        let alone = of_flows(&[run(&[1.0, 5.0])], &[Group::All], &grid(FEWEST_POINTS));
        assert_eq!(alone[0][0]["time"].get("seeds"), None);
    }

    #[test]
    fn short_curves_are_kept_whole() {
        let thin = curve(&[1.0, 2.0, 5.0], &grid(MOST_POINTS));
        assert_eq!(thin["x"], json!([1.0, 2.0, 5.0]));
    }
}
