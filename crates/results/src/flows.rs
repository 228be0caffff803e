//! The table of flows.

use crate::table::Table;
use forebay_sim::flow::{FlowRecord, NONE};
use forebay_sim::measure::RunResult;
use forebay_sim::scenario::Scenario;
use forebay_sim::transport::FlowInfo;
use forebay_tm::{Duration, Instant};

/// An instant in picoseconds, if it has come.
pub(crate) fn reached(at: Instant) -> Option<u64> {
    (at != Instant::NEVER).then(|| at.ps())
}

/// Whether a flow has a size: a flow without end has none, and nothing that depends on a size is told of it.
pub(crate) fn is_finite(flow: &FlowRecord) -> bool {
    flow.spec.bytes != FlowInfo::ENDLESS
}

/// Whether what starts then is in the summary: the warm-up is over.
pub(crate) fn is_measured(scenario: &Scenario, start: Instant) -> bool {
    start >= Instant::ZERO + scenario.measure.from
}

/// The name of a workload by its index.
pub(crate) fn workload_name(scenario: &Scenario, workload: u16) -> &str {
    scenario.workloads.get(usize::from(workload)).map_or("", |workload| &workload.name)
}

/// One row for each flow, in the order of the result: its plan, its times in picoseconds and what happened to its
/// packets.
///
/// `bytes` and `ideal_ps` are absent for flows without end, `start_ps` for flows that have not started; `fct_ps` and
/// `slowdown` are absent for flows that have not arrived whole.
pub fn table(scenario: &Scenario, result: &RunResult) -> Table {
    let flows = &result.flows;
    let counts = |count: fn(&FlowRecord) -> u32| flows.iter().map(move |flow| u64::from(count(flow)));
    let transport_name =
        |flow: &FlowRecord| scenario.transports.get(usize::from(flow.spec.transport)).map_or("", |(name, _)| name);
    let mut table = Table::new();
    table.count("flow", 0..flows.len() as u64);
    table.text("workload", flows.iter().map(|flow| workload_name(scenario, flow.spec.workload)));
    table.text("transport", flows.iter().map(transport_name));
    table.count("class", flows.iter().map(|flow| u64::from(flow.spec.class)));
    let host = |number: u32| scenario.network.hosts.get(number as usize).map_or("", String::as_str);
    table.count("src", counts(|flow| flow.spec.src));
    table.count("dst", counts(|flow| flow.spec.dst));
    table.text("src_host", flows.iter().map(|flow| host(flow.spec.src)));
    table.text("dst_host", flows.iter().map(|flow| host(flow.spec.dst)));
    table.optional_count("bytes", flows.iter().map(|flow| is_finite(flow).then_some(flow.spec.bytes)));
    table.optional_count("start_ps", flows.iter().map(|flow| reached(flow.spec.start)));
    table.optional_count("end_ps", flows.iter().map(|flow| reached(flow.end)));
    table.optional_count("acked_ps", flows.iter().map(|flow| reached(flow.acked)));
    table.optional_count("ideal_ps", flows.iter().map(|flow| is_finite(flow).then_some(flow.ideal.ps())));
    table.optional_count("fct_ps", flows.iter().map(|flow| flow.fct().map(Duration::ps)));
    table.optional_float("slowdown", flows.iter().map(|flow| flow.slowdown().filter(|_| is_finite(flow))));
    table.count("received_packets", counts(|flow| flow.received));
    table.count("retransmitted_packets", counts(|flow| flow.retransmissions));
    table.count("timeouts", counts(|flow| flow.timeouts));
    table.count("loss_probes", counts(|flow| flow.probes));
    table.count("dropped_packets", counts(|flow| flow.drops));
    table.count("trimmed_packets", counts(|flow| flow.trims));
    table.count("marked_packets", counts(|flow| flow.marks));
    let queries = flows.iter().map(|flow| (flow.spec.query != NONE).then_some(u64::from(flow.spec.query)));
    table.optional_count("query", queries);
    let rounds = flows.iter().map(|flow| (flow.spec.round != NONE).then_some(u64::from(flow.spec.round)));
    table.optional_count("round", rounds);
    table.bool("measured", flows.iter().map(|flow| is_measured(scenario, flow.spec.start)));
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn a_flow_that_arrived_and_others_that_did_not() {
        let scenario = testing::scenario();
        let mut result = testing::result();
        result.flows = vec![
            testing::flow(0, 1_000, 50, 10),
            FlowRecord { end: Instant::NEVER, acked: Instant::NEVER, ..testing::flow(1, 7, 50, 10) },
            FlowRecord { end: Instant::NEVER, ..testing::flow(0, FlowInfo::ENDLESS, 50, 10) },
        ];
        result.flows[1].spec.query = 3;
        result.flows[2].spec.start = Instant::NEVER;
        let table = table(&scenario, &result);
        let int = |name: &str, row| table.column(name).unwrap().int(row);
        assert_eq!(table.rows(), 3);
        assert_eq!(table.column("workload").unwrap().text(0), Some("websearch"));
        assert_eq!(table.column("workload").unwrap().text(1), Some("incast"));
        assert_eq!(table.column("transport").unwrap().text(0), Some("dctcp"));
        assert_eq!(int("bytes", 0), Some(1_000));
        assert_eq!(int("fct_ps", 0), Some(50_000_000));
        assert_eq!(table.column("slowdown").unwrap().number(0), Some(5.0));
        assert_eq!([int("end_ps", 1), int("acked_ps", 1), int("fct_ps", 1)], [None; 3]);
        assert_eq!(table.column("slowdown").unwrap().number(1), None);
        assert_eq!([int("query", 0), int("query", 1)], [None, Some(3)]);
        assert_eq!([int("bytes", 2), int("start_ps", 2), int("ideal_ps", 2)], [None; 3]);
    }
}
