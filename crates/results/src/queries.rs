//! The table of queries.

use crate::flows::{is_measured, reached, workload_name};
use crate::table::Table;
use forebay_sim::measure::{QueryRecord, RunResult};
use forebay_sim::scenario::Scenario;
use forebay_tm::{Duration, Instant};

/// Query completion time, from the start to the arrival of the last response.
pub fn completion_time(query: &QueryRecord) -> Option<Duration> {
    (query.end != Instant::NEVER).then(|| query.end.since(query.spec.start))
}

/// Completion time over ideal time.
pub fn slowdown(query: &QueryRecord) -> Option<f64> {
    completion_time(query).map(|time| time.ps() as f64 / query.ideal.ps().max(1) as f64)
}

/// One row for each query, in the order of the result; times in picoseconds.
pub fn table(scenario: &Scenario, result: &RunResult) -> Table {
    let queries = &result.queries;
    let counts = |count: fn(&QueryRecord) -> u32| queries.iter().map(move |query| u64::from(count(query)));
    let mut table = Table::new();
    table.count("query", 0..queries.len() as u64);
    table.text("workload", queries.iter().map(|query| workload_name(scenario, query.spec.workload)));
    table.count("host", counts(|query| query.spec.host));
    let name = |number: u32| scenario.network.hosts.get(number as usize).map_or("", String::as_str);
    table.text("host_name", queries.iter().map(|query| name(query.spec.host)));
    table.count("fan_in_flows", counts(|query| query.spec.fan_in));
    table.count("bytes", queries.iter().map(|query| query.spec.bytes));
    table.count("start_ps", queries.iter().map(|query| query.spec.start.ps()));
    table.optional_count("end_ps", queries.iter().map(|query| reached(query.end)));
    table.optional_count("qct_ps", queries.iter().map(|query| completion_time(query).map(Duration::ps)));
    table.count("ideal_ps", queries.iter().map(|query| query.ideal.ps()));
    table.optional_float("slowdown", queries.iter().map(slowdown));
    table.count("dropped_packets", counts(|query| query.drops));
    table.count("trimmed_packets", counts(|query| query.trims));
    table.count("timeouts", counts(|query| query.timeouts));
    table.bool("measured", queries.iter().map(|query| is_measured(scenario, query.spec.start)));
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn completion_times_and_slowdowns() {
        let mut result = testing::result();
        result.queries = vec![testing::query(Some(300), 100, 0), testing::query(None, 100, 7)];
        let table = table(&testing::scenario(), &result);
        assert_eq!(table.column("workload").unwrap().text(0), Some("incast"));
        assert_eq!(table.column("qct_ps").unwrap().int(0), Some(300_000_000));
        assert_eq!(table.column("slowdown").unwrap().number(0), Some(3.0));
        assert_eq!(table.column("qct_ps").unwrap().int(1), None);
        assert_eq!(table.column("slowdown").unwrap().number(1), None);
        assert_eq!(table.column("dropped_packets").unwrap().int(1), Some(7));
    }
}
