//! How far PISA FB is from FB: thresholds, admissions and losses on the same arrivals.

use crate::figure::Run;
use crate::metrics::Metrics;
use crate::papers::measure_twin;
use forebay_sim::measure::RunResult;
use forebay_tm::admit::{DynamicThresholdsConfig, FbaConfig, FlexibleBufferConfig, PolicyConfig};
use forebay_tm::{Duration, TmConfig};

/// The places of the workloads.
const BACKGROUND: u16 = 0;
const QUERIES: u16 = 1;

/// Ratios as base-2 logarithms: the steps of a doubling, and the step of 1.
const STEPS: f64 = 8.0;
const ONE: usize = 64;

/// Of the thresholds, and of the three parts of their errors (`rounding`, `counts`, `remaining`), as base-2 logarithms
/// of what the program had over what is exact: `NAME.mean`, `NAME.p5`, `NAME.p50`, `NAME.p95`, and the part that is
/// within a factor of sqrt 2 and 2 (`NAME.within_sqrt2`, `NAME.within_2`). Of admissions: `differ`, and
/// `differ.chip_only`. Of losses: the share of packets of each workload, on the chip (`loss.queries`,
/// `loss.background`), and `ideal.`, `fba.` and `dt.` of the others. And `recirculated_gbps`.
pub(super) fn errors(run: &Run<'_>, metrics: &mut Metrics) {
    let Some(chip) = run.result.chips.first() else { return };
    let witness = &chip.witness;
    for (name, steps) in [
        ("threshold", &witness.threshold_ratio),
        ("rounding", &witness.rounding_ratio),
        ("counts", &witness.counts_ratio),
        ("remaining", &witness.remaining_ratio),
    ] {
        describe(metrics, name, steps);
    }
    let all = (witness.both + witness.ideal_only + witness.chip_only + witness.neither) as f64;
    metrics.set("differ", (witness.ideal_only + witness.chip_only) as f64 / all);
    metrics.set("differ.chip_only", witness.chip_only as f64 / all);
    let seconds = run.result.end.ps() as f64 / 1e12;
    let bytes: u64 = chip.pipelines.iter().map(|pipeline| pipeline.recirculation.bytes).sum();
    metrics.set("recirculated_gbps", bytes as f64 * 8.0 / seconds / 1e9);
    let full: u64 = chip.pipelines.iter().map(|pipeline| pipeline.recirculation.full).sum();
    metrics.set("recirculation.full", full as f64);
    losses(metrics, "", run.result);
    let interval = Duration::from_ps((run.point.number("chip.options.interval") * 1e6) as u64);
    if let Ok(ideal) = measure_twin::ideal(run, |_| ()) {
        losses(metrics, "ideal.", &ideal);
    }
    // FBA needs queues of their own for classes.
    if run.scenario.switches[0].buffers[0].queues > 1 {
        if let Ok(fba) = measure_twin::ideal(run, |config| polled(config, interval)) {
            losses(metrics, "fba.", &fba);
        }
        if let Ok(dt) = measure_twin::ideal(run, plain_dt) {
            losses(metrics, "dt.", &dt);
        }
    }
}

/// FB's settings for a controller that polls.
fn polled(config: &mut TmConfig, interval: Duration) {
    if let PolicyConfig::FlexibleBuffer(FlexibleBufferConfig { alpha, groups, .. }) = config.policy.clone() {
        config.policy = PolicyConfig::Fba(FbaConfig { alpha, groups, interval });
    }
}

/// DT with FB's alphas.
fn plain_dt(config: &mut TmConfig) {
    if let PolicyConfig::FlexibleBuffer(FlexibleBufferConfig { alpha, .. }) = config.policy.clone() {
        config.policy = PolicyConfig::DynamicThresholds(DynamicThresholdsConfig { alpha, ..Default::default() });
    }
}

fn losses(metrics: &mut Metrics, prefix: &str, result: &RunResult) {
    for (name, workload) in [("background", BACKGROUND), ("queries", QUERIES)] {
        let of = result.flows.iter().filter(|flow| flow.spec.workload == workload);
        let (lost, received) =
            of.fold((0.0, 0.0), |(lost, got), flow| (lost + f64::from(flow.drops), got + f64::from(flow.received)));
        metrics.set(format!("{prefix}loss.{name}"), lost / (lost + received));
    }
}

/// The distribution of a logarithm by its steps; the last step is for zeros, which are below all others.
fn describe(metrics: &mut Metrics, name: &str, steps: &[u64]) {
    let Some((zeros, steps)) = steps.split_last() else { return };
    let all = (zeros + steps.iter().sum::<u64>()) as f64;
    let value = |step: usize| (step as f64 - ONE as f64) / STEPS;
    let sum: f64 = steps.iter().enumerate().map(|(step, count)| value(step) * *count as f64).sum();
    metrics.set(format!("{name}.mean"), sum / (all - *zeros as f64));
    metrics.set(format!("{name}.zeros"), *zeros as f64 / all);
    for (label, part) in [("p5", 0.05), ("p50", 0.5), ("p95", 0.95)] {
        let mut below = *zeros as f64;
        let at = steps.iter().position(|count| {
            below += *count as f64;
            below >= part * all
        });
        metrics.set_some(format!("{name}.{label}"), at.map(value));
    }
    for (label, limit) in [("within_sqrt2", 0.5), ("within_2", 1.0)] {
        let within = steps.iter().enumerate().filter(|(step, _)| value(*step).abs() <= limit);
        metrics.set(format!("{name}.{label}"), within.map(|(_, count)| *count).sum::<u64>() as f64 / all);
    }
    let shown = steps.iter().enumerate().skip(ONE - 32).take(65);
    metrics.curve(
        format!("{name}.share"),
        &shown.map(|(step, count)| (value(step), *count as f64 / all)).collect::<Vec<_>>(),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_by_steps() {
        let mut steps = vec![0; 130];
        // A half, three times exact, a double, and one zero.
        (steps[56], steps[64], steps[72], steps[129]) = (1, 3, 1, 1);
        let mut metrics = Metrics::default();
        describe(&mut metrics, "t", &steps);
        let got = |name: &str| metrics.get(name);
        assert_eq!((got("t.mean"), got("t.p50"), got("t.p95")), (0.0, 0.0, 1.0));
        assert!((got("t.within_sqrt2") - 0.5).abs() < 1e-8 && (got("t.within_2") - 5.0 / 6.0).abs() < 1e-8);
        assert!((got("t.zeros") - 1.0 / 6.0).abs() < 1e-8);
        assert!(got("t.p5").is_finite(), "a zero is below all steps: {}", got("t.p5"));
    }
}
