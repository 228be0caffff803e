//! The table of collectives: rounds of all-reduce and all-to-all.

use crate::flows::{reached, workload_name};
use crate::table::Table;
use forebay_sim::flow::{FlowRecord, NONE};
use forebay_sim::measure::RunResult;
use forebay_sim::scenario::Scenario;
use forebay_tm::Instant;
use std::collections::BTreeMap;

/// A round of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collective {
    /// The index of the workload.
    pub workload: u16,
    /// The round, from 0.
    pub round: u32,
    /// Its flows, and those that are complete.
    pub flows: u64,
    /// See `flows`.
    pub complete: u64,
    /// Payload of all its flows.
    pub bytes: u64,
    /// When its first flow started; [`Instant::NEVER`] if none has.
    pub start: Instant,
    /// When its last flow had arrived; [`Instant::NEVER`] if one has not.
    pub end: Instant,
    /// Packets of its flows that were dropped.
    pub drops: u64,
    /// Timeouts of its flows.
    pub timeouts: u64,
    /// The flow that arrived last, if all have: a number in the table of flows.
    pub last: Option<u64>,
}

impl Collective {
    /// From the start of the first flow to the arrival of the last.
    pub fn completion_ps(&self) -> Option<u64> {
        (self.end != Instant::NEVER).then(|| self.end.since(self.start).ps())
    }

    fn add(&mut self, number: u64, flow: &FlowRecord) {
        self.flows += 1;
        self.complete += u64::from(flow.is_complete());
        self.bytes += flow.spec.bytes;
        self.start = self.start.min(flow.spec.start);
        self.drops += u64::from(flow.drops);
        self.timeouts += u64::from(flow.timeouts);
        if self.flows == 1 || (flow.end > self.end) {
            (self.end, self.last) = (flow.end, Some(number).filter(|_| flow.is_complete()));
        }
    }
}

/// All rounds, by workload and number.
pub fn collectives(result: &RunResult) -> Vec<Collective> {
    let mut rounds: BTreeMap<(u16, u32), Collective> = BTreeMap::new();
    for (number, flow) in (0u64..).zip(&result.flows).filter(|(_, flow)| flow.spec.round != NONE) {
        let (workload, round) = (flow.spec.workload, flow.spec.round);
        let never = Instant::NEVER;
        let fresh = Collective {
            workload,
            round,
            flows: 0,
            complete: 0,
            bytes: 0,
            start: never,
            end: never,
            drops: 0,
            timeouts: 0,
            last: None,
        };
        rounds.entry((workload, round)).or_insert(fresh).add(number, flow);
    }
    rounds.into_values().collect()
}

/// A row for each round.
pub fn table(scenario: &Scenario, result: &RunResult) -> Table {
    let all = collectives(result);
    let counts = |count: fn(&Collective) -> u64| all.iter().map(count);
    let mut table = Table::new();
    table.text("workload", all.iter().map(|round| workload_name(scenario, round.workload)));
    table.count("round", counts(|round| u64::from(round.round)));
    table.count("flows", counts(|round| round.flows));
    table.count("complete_flows", counts(|round| round.complete));
    table.count("bytes", counts(|round| round.bytes));
    table.optional_count("start_ps", all.iter().map(|round| reached(round.start)));
    table.optional_count("end_ps", all.iter().map(|round| reached(round.end)));
    table.optional_count("completion_ps", all.iter().map(Collective::completion_ps));
    table.optional_count("last_flow", all.iter().map(|round| round.last));
    table.count("dropped_packets", counts(|round| round.drops));
    table.count("timeouts", counts(|round| round.timeouts));
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn a_round_ends_with_its_last_flow() {
        let mut result = testing::result();
        result.flows = [(0, 50), (0, 80), (1, 20), (1, 30)].map(|(_, us)| testing::flow(0, 1_000, us, 10)).to_vec();
        for (flow, round) in result.flows.iter_mut().zip([0, 0, 1, 1]) {
            flow.spec.round = round;
        }
        result.flows[3].end = Instant::NEVER;
        result.flows.push(testing::flow(1, 7, 999, 10));
        let table = table(&testing::scenario(), &result);
        let int = |name: &str, row| table.column(name).unwrap().int(row);
        assert_eq!(table.rows(), 2, "a flow of no round is in none");
        assert_eq!((int("completion_ps", 0), int("last_flow", 0)), (Some(80_000_000), Some(1)));
        assert_eq!((int("completion_ps", 1), int("last_flow", 1)), (None, None));
        assert_eq!((int("flows", 1), int("complete_flows", 1), int("bytes", 1)), (Some(2), Some(1), Some(2_000)));
    }
}
