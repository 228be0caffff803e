//! The table of queue lengths over time.

use crate::table::Table;
use forebay_sim::measure::{QueueSample, RunResult};
use forebay_sim::scenario::Scenario;

/// One row for each sample of a queue of a chosen switch, in the order of the result; bytes, and picoseconds.
pub fn table(scenario: &Scenario, result: &RunResult) -> Table {
    rows(scenario, &result.queue_timeline)
}

/// Some of the rows.
pub(crate) fn rows(scenario: &Scenario, samples: &[QueueSample]) -> Table {
    let switch = |index: u32| scenario.network.switches.get(index as usize).map_or("", |switch| &switch.name);
    let mut table = Table::new();
    table.count("at_ps", samples.iter().map(|sample| sample.at.ps()));
    table.text("switch", samples.iter().map(|sample| switch(sample.switch)));
    table.count("port", samples.iter().map(|sample| u64::from(sample.port)));
    table.count("queue", samples.iter().map(|sample| u64::from(sample.queue)));
    table.count("bytes", samples.iter().map(|sample| sample.bytes.get()));
    table.optional_float("threshold_bytes", samples.iter().map(|sample| sample.threshold));
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use forebay_tm::{Bytes, Instant};

    #[test]
    fn samples_keep_their_place() {
        let sample = QueueSample {
            at: Instant::from_ps(30),
            switch: 1,
            port: 4,
            queue: 5,
            bytes: Bytes::new(200),
            threshold: None,
        };
        let mut result = testing::result();
        result.queue_timeline = vec![sample, QueueSample { threshold: Some(1.5), ..sample }];
        let table = table(&testing::scenario(), &result);
        let row: Vec<_> = table.columns().iter().map(|column| column.number(0)).collect();
        assert_eq!(row, [Some(30.0), None, Some(4.0), Some(5.0), Some(200.0), None]);
        assert_eq!(table.column("switch").unwrap().text(0), Some("spine0"));
        assert_eq!(table.column("threshold_bytes").unwrap().number(1), Some(1.5));
    }
}
