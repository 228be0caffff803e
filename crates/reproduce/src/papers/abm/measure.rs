//! What is measured of every run of ABM's evaluation, as the authors' scripts do it.

use crate::figure::Run;
use crate::metrics::Metrics;
use forebay_results::stats::{mean, percentile_abm};
use forebay_sim::flow::{FlowRecord, NONE};
use forebay_sim::routing::Ports;
use forebay_tm::{Duration, Instant};
use std::collections::BTreeMap;

/// The round trip of an empty network: eight links of 10 us.
const ROUND_TRIP_US: f64 = 80.0;

/// Bits that a link carries in a microsecond.
const LINK_BITS_PER_US: f64 = 1e4;

fn us(span: Duration) -> f64 {
    span.ps() as f64 / 1e6
}

/// The authors' slowdown: the ideal time is a round trip and the payload at the rate of the link. Flows of web search
/// open their connection first, which takes a round trip; answers to queries use one that is open.
fn slowdown(flow: &FlowRecord) -> Option<f64> {
    let opening = if flow.spec.query == NONE { ROUND_TRIP_US } else { 0.0 };
    let ideal = ROUND_TRIP_US + flow.spec.bytes as f64 * 8.0 / LINK_BITS_PER_US;
    flow.fct().map(|fct| (us(fct) + opening) / ideal)
}

/// `slowdown.<workload>.<all|short|long>.<p50|p99|p999>`: short is below 100 KB, long 1 MB and more.
fn slowdowns(run: &Run<'_>, metrics: &mut Metrics) {
    type Wanted = fn(u64) -> bool;
    const SIZES: [(&str, Wanted); 3] =
        [("all", |_| true), ("short", |bytes| bytes < 100_000), ("long", |bytes| bytes >= 1_000_000)];
    for (index, workload) in run.scenario.workloads.iter().enumerate() {
        let flows = run.result.flows.iter().filter(|flow| usize::from(flow.spec.workload) == index);
        for (size, wanted) in SIZES {
            let mut values: Vec<f64> =
                flows.clone().filter(|flow| wanted(flow.spec.bytes)).filter_map(slowdown).collect();
            values.sort_by(f64::total_cmp);
            for (name, share) in [("p50", 0.5), ("p99", 0.99), ("p999", 0.999)] {
                let name = format!("slowdown.{}.{size}.{name}", workload.name.replace(' ', "-"));
                metrics.set_some(name, percentile_abm(&values, share));
            }
        }
    }
}

/// `occupancy.p99`: of the samples taken while flows started, as a share of the buffer; the mean over the leaves that
/// were sampled.
fn occupancy(run: &Run<'_>, metrics: &mut Metrics) {
    let mut leaves: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for sample in run.result.timeline.iter().filter(|sample| sample.at <= Instant::ZERO + run.scenario.duration) {
        let size = run.scenario.switches[sample.switch as usize].buffers[sample.buffer as usize].buffer;
        leaves.entry(sample.switch).or_default().push(sample.used.as_f64() / size.as_f64());
    }
    let tails = leaves.into_values().filter_map(|mut samples| {
        samples.sort_by(f64::total_cmp);
        percentile_abm(&samples, 0.99)
    });
    metrics.set_some("occupancy.p99", mean(&tails.collect::<Vec<_>>()));
}

/// What the figures of ABM's evaluation need beside the standard metrics.
pub(super) fn evaluation(run: &Run<'_>, metrics: &mut Metrics) {
    slowdowns(run, metrics);
    occupancy(run, metrics);
}

/// The same, and `drops.up` and `drops.down`: packets dropped by leaves on their way to spines and to servers.
pub(super) fn reference(run: &Run<'_>, metrics: &mut Metrics) {
    evaluation(run, metrics);
    let network = &run.scenario.network;
    let ports = Ports::new(network);
    let (mut up, mut down) = (0, 0);
    for place in run.result.places.iter().filter(|place| place.queue.is_none()) {
        let Some(port) = place.port else { continue };
        if network.switches[place.switch as usize].tier != "leaf" {
            continue;
        }
        let peer = ports.of(network.switch_node(place.switch as usize))[port as usize].peer;
        let drops = if network.is_host(peer) { &mut down } else { &mut up };
        *drops += place.counters.dropped.packets;
    }
    metrics.set("drops.up", up as f64);
    metrics.set("drops.down", down as f64);
}
