//! The data that the page's script draws.

use crate::groups::{self, BUCKETS, Group};
use crate::{Report, bins, curves, timeline};
use serde_json::{Value, json};

/// Everything the script needs.
pub(crate) fn of_report(report: &Report) -> Value {
    let of_flows = groups::of_flows(report);
    let of_queries = groups::of_queries(report);
    let grid = curves::grid_for(report);
    let names = |groups: &[Group], all: &str| groups.iter().map(|group| group.name(all)).collect::<Value>();
    let runs: Value = report
        .runs
        .iter()
        .map(|run| {
            json!({
                "label": run.label,
                "flows": curves::of_flows(run, &of_flows, &grid),
                "queries": curves::of_queries(run, &of_queries, &grid),
                "drops": run.drops,
                "occupancy": run.occupancy,
            })
        })
        .collect();
    json!({
        "grid": grid,
        "buckets": BUCKETS.iter().map(|bucket| bucket.name).collect::<Value>(),
        "ideals": curves::of_ideals(report, &of_flows, &grid),
        "flowGroups": names(&of_flows, "All flows"),
        "queryGroups": names(&of_queries, "All queries"),
        "sizes": of_flows.iter().map(|group| bins::of_group(report, group)).collect::<Value>(),
        "timeline": timeline::of_report(report),
        "runs": runs,
    })
}
