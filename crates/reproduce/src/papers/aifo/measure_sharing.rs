//! How flows that start one after the other share a link (figures 15 and 16).

use crate::figure::Run;
use crate::metrics::Metrics;
use forebay_tm::Instant;

/// The part at the start of a phase that is not measured: flows are still finding their rates.
const SETTLING: f64 = 0.4;

/// The goodput of each flow over time (`flow1` and so on, seconds and Gb/s), its mean in each phase (`flow1.phase2`),
/// where a phase starts with a flow, and its share of all in it (`share1.phase2`).
pub(super) fn goodputs(run: &Run<'_>, metrics: &mut Metrics) {
    let flows = &run.result.flows;
    let end = run.scenario.duration.ps() as f64 / 1e12;
    let mut starts: Vec<f64> = flows.iter().map(|flow| seconds(flow.spec.start)).collect();
    starts.push(end);
    let progress: Vec<Vec<(f64, f64)>> = (0..flows.len() as u32).map(|flow| samples_of(run, flow)).collect();
    for (number, samples) in (1..).zip(&progress) {
        metrics.curve(format!("flow{number}"), &rates(samples));
    }
    for (phase, span) in starts.windows(2).enumerate() {
        let from = span[0] + SETTLING * (span[1] - span[0]);
        let means: Vec<f64> = progress.iter().map(|samples| mean_rate(samples, from, span[1])).collect();
        let sum: f64 = means.iter().sum();
        for (number, mean) in (1..).zip(&means) {
            metrics.set(format!("flow{number}.phase{}", phase + 1), *mean);
            metrics.set(format!("share{number}.phase{}", phase + 1), mean / sum);
        }
        metrics.set(format!("all.phase{}", phase + 1), sum);
    }
}

fn seconds(at: Instant) -> f64 {
    at.ps() as f64 / 1e12
}

/// Times in seconds, and the bytes of a flow that had arrived by then.
fn samples_of(run: &Run<'_>, flow: u32) -> Vec<(f64, f64)> {
    let own = run.result.progress.iter().filter(|sample| sample.flow == flow);
    own.map(|sample| (seconds(sample.at), sample.bytes as f64)).collect()
}

/// The rate between each two samples, in Gb/s, at the time of the second.
fn rates(samples: &[(f64, f64)]) -> Vec<(f64, f64)> {
    samples.windows(2).map(|two| (two[1].0, gbps(two[0], two[1]))).collect()
}

/// The mean rate from one time to another, by the samples next to them; 0 without any.
fn mean_rate(samples: &[(f64, f64)], from: f64, to: f64) -> f64 {
    let within: Vec<&(f64, f64)> = samples.iter().filter(|(at, _)| (from..=to).contains(at)).collect();
    match (within.first(), within.last()) {
        (Some(first), Some(last)) if last.0 > first.0 => gbps(**first, **last),
        _ => 0.0,
    }
}

fn gbps(first: (f64, f64), second: (f64, f64)) -> f64 {
    (second.1 - first.1) * 8.0 / (second.0 - first.0) / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_of_samples() {
        let samples = [(1.0, 0.0), (2.0, 1e9), (3.0, 3e9), (4.0, 3e9)];
        assert_eq!(rates(&samples), [(2.0, 8.0), (3.0, 16.0), (4.0, 0.0)]);
        assert_eq!(mean_rate(&samples, 1.5, 4.0), 8.0);
        assert_eq!(mean_rate(&samples, 4.5, 5.0), 0.0);
    }
}
