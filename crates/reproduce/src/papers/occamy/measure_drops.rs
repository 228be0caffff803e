//! Numbers of figure 6: the state of buffers when packets are dropped.

use crate::figure::Run;
use crate::metrics::Metrics;
use forebay_sim::measure::histogram::Shares;

/// How full buffers and how busy their memories were at drops, over all drops of the run.
pub(super) fn use_at_drops(run: &Run<'_>, metrics: &mut Metrics) {
    let (mut buffer, mut memory) = (Shares::default(), Shares::default());
    for place in &run.result.places {
        buffer.add(&place.buffer_use_at_drops);
        memory.add(&place.memory_use_at_drops);
    }
    for (name, shares) in [("buffer", &buffer), ("memory", &memory)] {
        metrics.set(format!("drops.{name}.mean"), shares.mean());
        metrics.set(format!("drops.{name}.p50"), shares.percentile(0.5));
        metrics.set(format!("drops.{name}.p99"), shares.percentile(0.99));
        metrics.curve(format!("drops.{name}"), &shares.distribution());
    }
    metrics.set("drops", buffer.samples() as f64);
}
