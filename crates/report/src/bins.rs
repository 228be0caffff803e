//! Slowdown by size: flows in bins of size that hold about a tenth of them each.

use crate::Report;
use crate::groups::{self, Group};
use crate::stats::{percentile, significant, sorted};
use serde_json::{Value, json};

/// Bins, unless many flows have the same size.
const BINS: usize = 10;

/// The bins of sorted sizes: from above the last bin's upper end to a tenth further on, at least one whole size. Where one
/// size has more than a tenth of the flows there are fewer bins.
fn upper_ends(sizes: &[u64]) -> Vec<u64> {
    if sizes.is_empty() {
        return Vec::new();
    }
    let mut ends: Vec<u64> = (1..=BINS).map(|k| percentile(sizes, k as f64 / BINS as f64)).collect();
    ends.dedup();
    ends
}

/// Slowdown percentiles by size for a group of flows. All runs share the bins, so that they are compared at equal sizes.
pub(crate) fn of_group(report: &Report, group: &Group) -> Value {
    let mut sizes: Vec<u64> =
        report.runs.iter().flat_map(|run| groups::flows(run, group)).map(|flow| flow.bytes).collect();
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
    let runs: Value = report
        .runs
        .iter()
        .map(|run| {
            let mut by_bin = vec![Vec::new(); ends.len()];
            for flow in groups::flows(run, group) {
                by_bin[ends.partition_point(|end| *end < flow.bytes)].push(flow.slowdown);
            }
            by_bin.into_iter().map(|bin| percentiles(&sorted(bin.into_iter()))).collect::<Value>()
        })
        .collect();
    json!({ "bins": bins, "runs": runs })
}

/// The number of values and their 50th, 95th and 99th percentile; null of nothing.
fn percentiles(sorted: &[f64]) -> Value {
    if sorted.is_empty() {
        return Value::Null;
    }
    let at = |p| significant(percentile(sorted, p), 4);
    json!([sorted.len(), at(0.5), at(0.95), at(0.99)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FlowPoint, RunView};

    fn report(sizes: impl Iterator<Item = u64>) -> Report {
        let flows =
            sizes.map(|bytes| FlowPoint { bytes, slowdown: Some(bytes as f64), ..FlowPoint::default() }).collect();
        Report { runs: vec![RunView { flows, ..RunView::default() }], ..Report::default() }
    }

    #[test]
    fn tenths_of_a_ramp() {
        let bins = of_group(&report(1..=1_000), &Group::All);
        assert_eq!(bins["bins"].as_array().unwrap().len(), 10);
        assert_eq!(bins["bins"][3], json!({ "from": 301, "to": 400, "mid": 350 }));
        assert_eq!(bins["runs"][0][3], json!([100, 350.0, 395.0, 399.0]));
    }

    #[test]
    fn equal_sizes_share_a_bin() {
        let bins = of_group(&report((0..500).map(|_| 40_000).chain(50_001..50_501)), &Group::All);
        assert_eq!(bins["bins"].as_array().unwrap().len(), 6);
        assert_eq!(bins["bins"][0], json!({ "from": 40_000, "to": 40_000, "mid": 40_000 }));
        assert_eq!(bins["runs"][0][0][0], json!(500));
        assert_eq!(bins["runs"][0][5][0], json!(100));
    }

    #[test]
    fn no_flows_no_bins() {
        assert_eq!(of_group(&Report::default(), &Group::All), json!({ "bins": [], "runs": [] }));
    }
}
