//! The table of occupancy over time.

use crate::table::Table;
use forebay_sim::measure::{RunResult, TimelineSample};
use forebay_sim::scenario::Scenario;

/// One row for each sample of a chosen switch's buffer, in the order of the result; bytes, and picoseconds.
pub fn table(scenario: &Scenario, result: &RunResult) -> Table {
    rows(scenario, &result.timeline)
}

/// Some of the rows.
pub(crate) fn rows(scenario: &Scenario, samples: &[TimelineSample]) -> Table {
    let switch = |index: u32| scenario.network.switches.get(index as usize).map_or("", |switch| &switch.name);
    let mut table = Table::new();
    table.count("at_ps", samples.iter().map(|sample| sample.at.ps()));
    table.text("switch", samples.iter().map(|sample| switch(sample.switch)));
    table.count("buffer", samples.iter().map(|sample| u64::from(sample.buffer)));
    table.count("used_bytes", samples.iter().map(|sample| sample.used.get()));
    table.count("longest_port", samples.iter().map(|sample| u64::from(sample.longest.0)));
    table.count("longest_queue", samples.iter().map(|sample| u64::from(sample.longest.1)));
    table.count("longest_bytes", samples.iter().map(|sample| sample.longest_bytes.get()));
    table.optional_float("threshold_bytes", samples.iter().map(|sample| sample.threshold));
    table.count("dropped_packets", samples.iter().map(|sample| sample.drops));
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use forebay_tm::{Bytes, Instant};

    #[test]
    fn samples_keep_their_place() {
        let sample = TimelineSample {
            at: Instant::from_ps(30),
            switch: 1,
            buffer: 2,
            used: Bytes::new(300),
            longest: (4, 5),
            longest_bytes: Bytes::new(200),
            threshold: None,
            drops: 9,
        };
        let mut result = testing::result();
        result.timeline = vec![sample.clone(), TimelineSample { threshold: Some(1.5), ..sample }];
        let table = table(&testing::scenario(), &result);
        let row: Vec<_> = table.columns().iter().map(|column| column.number(0)).collect();
        let expected = [Some(30.0), None, Some(2.0), Some(300.0), Some(4.0), Some(5.0), Some(200.0), None, Some(9.0)];
        assert_eq!(row, expected);
        assert_eq!(table.column("switch").unwrap().text(0), Some("spine0"));
        assert_eq!(table.column("threshold_bytes").unwrap().number(1), Some(1.5));
    }
}
