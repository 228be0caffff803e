//! What is measured of runs beyond their summaries.

use crate::figure::Run;
use crate::metrics::Metrics;
use forebay_results::stats;
use forebay_sim::flow::{FlowRecord, NONE};
use forebay_sim::measure::QueryRecord;

/// `queries.with_timeouts`: the share of queries of which a flow had to wait for its timer.
pub(super) fn timeouts(run: &Run<'_>, m: &mut Metrics) {
    let queries = &run.result.queries;
    let hit = queries.iter().filter(|query| query.timeouts > 0).count();
    m.set("queries.with_timeouts", hit as f64 / queries.len() as f64);
}

/// Twice the round trip of the large network: one for the handshake, one for the data.
const AUTHORS_LATENCY_US: f64 = 160.0;
/// The links of the large network, in bits a microsecond.
const BITS_PER_US: f64 = 1e5;
const MSS: u64 = 1448;
const HEADER: u64 = 52;
/// What the authors call a small flow, in bytes on the wire.
const SMALL: u64 = 100_000;

/// Bytes on the wire.
fn wire(payload: u64) -> u64 {
    payload + payload.div_ceil(MSS) * HEADER
}

/// The ideal time of the authors' evaluation: two round trips and the bytes at the rate of a link.
fn ideal_us(wire_bytes: u64) -> f64 {
    AUTHORS_LATENCY_US + 8.0 * wire_bytes as f64 / BITS_PER_US
}

fn flow_slowdown(flow: &FlowRecord) -> Option<f64> {
    flow.fct().map(|fct| fct.ps() as f64 / 1e6 / ideal_us(wire(flow.spec.bytes)))
}

fn query_slowdown(query: &QueryRecord) -> Option<f64> {
    let time = forebay_results::queries::completion_time(query)?;
    let answers = u64::from(query.spec.fan_in.max(1));
    Some(time.ps() as f64 / 1e6 / ideal_us(answers * wire(query.spec.bytes / answers)))
}

fn distribution(m: &mut Metrics, name: &str, mut values: Vec<f64>) {
    values.sort_by(f64::total_cmp);
    m.set_some(format!("{name}.mean"), stats::mean(&values));
    m.set_some(format!("{name}.p99"), stats::percentile(&values, 0.99));
}

/// Slowdowns as the authors' scripts have them: `slowdown.query`, `slowdown.background` and, of its small flows,
/// `slowdown.small`, each with
/// `.mean` and `.p99`; and [`timeouts`]. Requests of closed loops do not count.
pub(super) fn slowdowns(run: &Run<'_>, m: &mut Metrics) {
    timeouts(run, m);
    distribution(m, "slowdown.query", run.result.queries.iter().filter_map(query_slowdown).collect());
    let is_background =
        |flow: &&FlowRecord| flow.spec.query == NONE && (flow.spec.session == NONE || flow.spec.is_response);
    let background: Vec<&FlowRecord> = run.result.flows.iter().filter(is_background).collect();
    let small = background.iter().filter(|flow| wire(flow.spec.bytes) <= SMALL);
    distribution(m, "slowdown.small", small.filter_map(|flow| flow_slowdown(flow)).collect());
    distribution(m, "slowdown.background", background.iter().filter_map(|flow| flow_slowdown(flow)).collect());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_authors_ideal_time() {
        assert_eq!(wire(1448), 1500);
        assert_eq!(wire(1449), 1553);
        // 1.25 MB take 100 us at 100 Gb/s.
        assert_eq!(ideal_us(1_250_000), 260.0);
    }
}
