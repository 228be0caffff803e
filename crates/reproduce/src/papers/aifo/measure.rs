//! Completion times as the authors' scripts take them: from a flow's start until its sender has every ACK, over the
//! flows that have ended when the
//! run does; and, beside these, over all flows, since runs here wait for the rest.

use crate::{Metrics, Run};
use forebay_sim::flow::FlowRecord;
use forebay_tm::{Duration, Instant};

/// Flows of fewer bytes are small.
const SMALL: u64 = 100_000;
/// Flows of as many bytes or more are large.
const LARGE: u64 = 1_000_000;

/// The sizes that figure 14c tells apart: a name, the least and the most bytes.
const SIZES: [(&str, u64, u64); 7] = [
    ("10KB", 10_000, 10_000),
    ("20KB", 20_000, 20_000),
    ("30KB", 30_000, 30_000),
    ("50KB", 50_000, 50_000),
    ("80KB", 80_000, 80_000),
    ("200KB-1MB", 200_000, 1_000_000),
    (">=2MB", 2_000_000, u64::MAX),
];

/// Adds `small.*` and `large.*` of the flows that ended before `duration`, as the paper takes them, and, where the run
/// waits for the rest, `all.small.*` and
/// `all.large.*` of all flows.
pub(super) fn completion_times(run: &Run<'_>, metrics: &mut Metrics) {
    let end = end_of(run);
    for (kind, least, below) in [("small", 0, SMALL), ("large", LARGE, u64::MAX)] {
        let flows = Flows { run, least, most: below - 1 };
        flows.describe(metrics, kind, end);
        if run.scenario.drain > Duration::ZERO {
            flows.describe(metrics, &format!("all.{kind}"), Instant::NEVER);
        }
    }
}

/// Adds what [`completion_times`] does, and `size.*` and the curve `mean_by_size` for figure 14c.
pub(super) fn completion_times_by_size(run: &Run<'_>, metrics: &mut Metrics) {
    completion_times(run, metrics);
    let end = end_of(run);
    let mut curve = Vec::new();
    for (name, least, most) in SIZES {
        let times = Flows { run, least, most }.times(end);
        metrics.set(format!("size.{name}.mean_ms"), mean(&times));
        metrics.set(format!("size.{name}.p99_ms"), percentile_99(times.clone()));
        if !times.is_empty() {
            curve.push((least as f64 / 1e3, mean(&times)));
        }
    }
    metrics.curve("mean_by_size", &curve);
}

/// When the run ends for the paper.
fn end_of(run: &Run<'_>) -> Instant {
    Instant::from_ps(run.scenario.duration.ps())
}

/// The flows of a run with a size between two bounds, both of which belong.
struct Flows<'a> {
    run: &'a Run<'a>,
    least: u64,
    most: u64,
}

impl Flows<'_> {
    fn all(&self) -> impl Iterator<Item = &FlowRecord> {
        self.run.result.flows.iter().filter(|flow| (self.least..=self.most).contains(&flow.spec.bytes))
    }

    /// Completion times in milliseconds of those whose sender has every ACK by `end`; if that is never, of all that
    /// have ended: a run is over with
    /// the last byte, whose ACK is then on its way.
    fn times(&self, end: Instant) -> Vec<f64> {
        let when = |flow: &FlowRecord| match flow.acked {
            Instant::NEVER if end == Instant::NEVER => flow.end,
            acked => acked,
        };
        let ended = self.all().map(|flow| (flow.spec.start, when(flow)));
        let ended = ended.filter(|&(_, when)| when <= end && when != Instant::NEVER);
        ended.map(|(start, when)| when.since(start).ps() as f64 / 1e9).collect()
    }

    fn describe(&self, metrics: &mut Metrics, name: &str, end: Instant) {
        let times = self.times(end);
        metrics.set(format!("{name}.mean_ms"), mean(&times));
        metrics.set(format!("{name}.left_out"), 1.0 - times.len() as f64 / self.all().count() as f64);
        metrics.set(format!("{name}.p99_ms"), percentile_99(times));
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The smallest value that at least 99 in 100 do not exceed.
fn percentile_99(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let rank = (values.len() * 99).div_ceil(100);
    rank.checked_sub(1).map_or(f64::NAN, |index| values[index])
}
