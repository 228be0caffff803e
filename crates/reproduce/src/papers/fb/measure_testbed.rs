//! Numbers of figure 9: short TCP flows beside UDP that holds the buffer.

use crate::figure::Run;
use crate::metrics::Metrics;
use forebay_results::stats::{mean, percentile};
use forebay_sim::flow::FlowRecord;

/// The place of TCP among the workloads, behind UDP's.
const TCP: u16 = 7;

/// Of the TCP flows: `fct_ms.mean`, `fct_ms.p10` to `fct_ms.p90`, the curve `fct`, the share that lost a packet
/// (`with_drops`), timeouts of a flow (`timeouts`), and the share that has ended (`complete`); and `udp.occupancy`, the
/// share of the buffer that UDP holds when TCP starts.
pub(super) fn flows(run: &Run<'_>, metrics: &mut Metrics) {
    let flows: Vec<&FlowRecord> = run.result.flows.iter().filter(|flow| flow.spec.workload == TCP).collect();
    let share = |count: usize| count as f64 / flows.len() as f64;
    let mut times: Vec<f64> = flows.iter().filter_map(|flow| flow.fct()).map(|time| time.ps() as f64 / 1e9).collect();
    times.sort_by(f64::total_cmp);
    metrics.set("complete", share(times.len()));
    metrics.set("with_drops", share(flows.iter().filter(|flow| flow.drops > 0).count()));
    metrics.set("timeouts", flows.iter().map(|flow| f64::from(flow.timeouts)).sum::<f64>() / flows.len() as f64);
    metrics.set_some("fct_ms.mean", mean(&times));
    for decile in 1..10 {
        metrics.set_some(format!("fct_ms.p{decile}0"), percentile(&times, f64::from(decile) / 10.0));
    }
    metrics.curve("fct", &steps(&times));
    let start = run.scenario.workloads[usize::from(TCP)].start;
    let buffer = run.scenario.switches[0].buffers[0].buffer.as_f64();
    let before = run.result.timeline.iter().take_while(|sample| sample.at <= start).last();
    metrics.set_some("udp.occupancy", before.map(|sample| sample.used.as_f64() / buffer));
}

/// The share of flows that have ended by each time.
fn steps(times: &[f64]) -> Vec<(f64, f64)> {
    let all = times.len() as f64;
    (1..).map(f64::from).zip(times).map(|(number, time)| (*time, number / all)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_grow_to_one() {
        assert_eq!(steps(&[2.0, 5.0]), [(2.0, 0.5), (5.0, 1.0)]);
    }
}
