//! The table of how far flows have come over time.

use crate::table::Table;
use forebay_sim::measure::{FlowSample, RunResult};
use forebay_sim::scenario::Scenario;

/// One row for each sample of a flow of a chosen workload, in the order of the result; bytes, and picoseconds.
pub fn table(scenario: &Scenario, result: &RunResult) -> Table {
    rows(scenario, &result.progress)
}

/// Some of the rows.
pub(crate) fn rows(_: &Scenario, samples: &[FlowSample]) -> Table {
    let mut table = Table::new();
    table.count("at_ps", samples.iter().map(|sample| sample.at.ps()));
    table.count("flow", samples.iter().map(|sample| u64::from(sample.flow)));
    table.count("bytes", samples.iter().map(|sample| sample.bytes));
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use forebay_tm::Instant;

    #[test]
    fn samples_keep_their_place() {
        let mut result = testing::result();
        result.progress = vec![FlowSample { at: Instant::from_ps(30), flow: 7, bytes: 200 }];
        let table = table(&testing::scenario(), &result);
        let row: Vec<_> = table.columns().iter().map(|column| column.number(0)).collect();
        assert_eq!(row, [Some(30.0), Some(7.0), Some(200.0)]);
    }
}
