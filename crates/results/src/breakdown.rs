//! Where the completion times of flows went: a table of flows, and one of the hops of the packets that completed them.

use crate::table::Table;
use crate::topology;
use forebay_sim::measure::RunResult;
use forebay_sim::measure::breakdown::{FlowTimes, HopTimes, Wait};
use forebay_sim::scenario::Scenario;
use forebay_tm::Duration;

/// The sum of a part over all hops.
fn sum(times: &FlowTimes, part: fn(&HopTimes) -> Duration) -> u64 {
    times.hops.iter().map(|hop| part(hop).ps()).sum()
}

/// A row for each complete flow, with `measure.breakdown`: what its sender waited for, and the parts of the time that
/// the packet that completed it was in the network. All but the first column add up to the flow's completion time.
pub fn table(_: &Scenario, result: &RunResult) -> Table {
    let all = &result.flow_times;
    let mut table = Table::new();
    table.count("flow", all.iter().map(|times| u64::from(times.flow)));
    for wait in Wait::ALL {
        let column = format!("{}_ps", wait.name());
        table.count(&column, all.iter().map(|times| times.waits[wait as usize].ps()));
    }
    table.count("queueing_ps", all.iter().map(|times| sum(times, |hop| hop.queueing)));
    table.count("serialization_ps", all.iter().map(|times| sum(times, |hop| hop.serialization)));
    table.count("propagation_ps", all.iter().map(|times| sum(times, |hop| hop.propagation)));
    table
}

/// A row for each hop of the packet that completed a flow.
pub fn hops(scenario: &Scenario, result: &RunResult) -> Table {
    let network = &scenario.network;
    let rows: Vec<(u32, usize, &HopTimes)> = result
        .flow_times
        .iter()
        .flat_map(|times| times.hops.iter().enumerate().map(|(number, hop)| (times.flow, number, hop)))
        .collect();
    let mut table = Table::new();
    table.count("flow", rows.iter().map(|(flow, ..)| u64::from(*flow)));
    table.count("hop", rows.iter().map(|(_, number, _)| *number as u64));
    table.text("node", rows.iter().map(|(.., hop)| topology::name(network, hop.node)));
    table.count("port", rows.iter().map(|(.., hop)| u64::from(hop.port)));
    table.count("queueing_ps", rows.iter().map(|(.., hop)| hop.queueing.ps()));
    table.count("serialization_ps", rows.iter().map(|(.., hop)| hop.serialization.ps()));
    table.count("propagation_ps", rows.iter().map(|(.., hop)| hop.propagation.ps()));
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn the_parts_of_a_row_are_the_completion_time() {
        let hop = |node, queueing| HopTimes {
            node,
            port: 1,
            queueing: Duration::from_ps(queueing),
            serialization: Duration::from_ps(20),
            propagation: Duration::from_ps(3),
        };
        let mut result = testing::result();
        let waits = [1, 2, 3, 4, 5, 6, 7, 8, 9].map(|us| Duration::from_ps(us * 1_000_000));
        result.flow_times = vec![FlowTimes { flow: 9, waits, hops: vec![hop(0, 100), hop(3, 500)] }];
        let scenario = testing::scenario();
        let (flows, hops) = (table(&scenario, &result), hops(&scenario, &result));
        let parts = flows.columns()[1..].iter().map(|column| column.int(0).unwrap() as u64);
        assert_eq!(parts.sum::<u64>(), result.flow_times[0].total().ps());
        assert_eq!(flows.column("timeout_ps").unwrap().int(0), Some(9_000_000));
        assert_eq!(flows.column("queueing_ps").unwrap().int(0), Some(600));
        assert_eq!((hops.rows(), hops.column("node").unwrap().text(1)), (2, Some("leaf0")));
    }
}
