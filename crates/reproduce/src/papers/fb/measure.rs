//! What is measured of a run of the evaluation.

use crate::figure::Run;
use crate::metrics::Metrics;
use forebay_results::stats::percentile;
use forebay_sim::flow::FlowSpec;
use forebay_tm::Instant;

/// The workloads by their places in the files.
const BACKGROUND: u16 = 0;
const BURSTS: usize = 1;

/// A flow of fewer bytes is short.
const SHORT: u64 = 100_000;

/// Everything counts from the first burst on, when the buffers are filled:
///
/// * `bursts.absorbed`: the share of bursts of which no packet was dropped; `bursts.number`: how many there were;
/// * `leaf.occupancy_p99`: of the samples of both leaves until the traffic stops, as a share of the buffer;
/// * `short.fct_us.p95` of the background's short flows, and `short.with_drops`, the share of those that lost a packet.
pub(super) fn evaluation(run: &Run<'_>, metrics: &mut Metrics) {
    let from = run.scenario.workloads[BURSTS].start;
    bursts(run, metrics);
    occupancy(run, from, metrics);
    short_flows(run, from, metrics);
}

fn bursts(run: &Run<'_>, metrics: &mut Metrics) {
    let queries = &run.result.queries;
    let absorbed = queries.iter().filter(|query| query.drops == 0).count();
    metrics.set("bursts.number", queries.len() as f64);
    metrics.set("bursts.absorbed", absorbed as f64 / queries.len() as f64);
}

fn occupancy(run: &Run<'_>, from: Instant, metrics: &mut Metrics) {
    let until = Instant::ZERO + run.scenario.duration;
    let in_time = run.result.timeline.iter().filter(|sample| (from..until).contains(&sample.at));
    let mut used: Vec<f64> = in_time
        .map(|sample| {
            let buffer = &run.scenario.switches[sample.switch as usize].buffers[sample.buffer as usize];
            sample.used.get() as f64 / buffer.buffer.get() as f64
        })
        .collect();
    used.sort_by(f64::total_cmp);
    metrics.set_some("leaf.occupancy_p99", percentile(&used, 0.99));
}

fn short_flows(run: &Run<'_>, from: Instant, metrics: &mut Metrics) {
    let short = |spec: &FlowSpec| spec.workload == BACKGROUND && spec.bytes < SHORT && spec.start >= from;
    let flows: Vec<_> = run.result.flows.iter().filter(|flow| short(&flow.spec)).collect();
    let mut times: Vec<f64> = flows.iter().filter_map(|flow| flow.fct()).map(|time| time.ps() as f64 / 1e6).collect();
    times.sort_by(f64::total_cmp);
    metrics.set_some("short.fct_us.p95", percentile(&times, 0.95));
    let hit = flows.iter().filter(|flow| flow.drops > 0).count();
    metrics.set("short.with_drops", hit as f64 / flows.len() as f64);
}
