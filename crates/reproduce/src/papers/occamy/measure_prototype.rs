//! Numbers of figures 10 and 11 on the P4 form: the chip beside the algorithm that it stands for, on the same arrivals.

use super::measure_micro::fair_share;
use crate::figure::Run;
use crate::metrics::Metrics;
use crate::papers::measure_twin;
use forebay_sim::measure::RunResult;
use forebay_sim::measure::trace::{Place, What};
use forebay_tm::Instant;

/// The ports of the receivers: of the long-lived traffic, and of the burst.
const PORTS: [u32; 2] = [2, 3];
/// The burst's flow.
const BURST: usize = 1;

/// Two queues of one run, and what became of the burst.
struct Seen {
    /// At each sample, in the order of [`PORTS`]: bytes.
    lengths: Vec<[f64; 2]>,
    /// When the burst first lost a packet.
    first_loss: Option<Instant>,
    /// Packets of the burst that had joined their queue by then.
    before_loss: usize,
    /// Its packets: sent, and lost.
    sent: f64,
    lost: f64,
}

impl Seen {
    fn new(result: &RunResult, sample: u64) -> Self {
        let mut lengths: Vec<[f64; 2]> = Vec::new();
        for seen in &result.queue_timeline {
            let number = (seen.at.ps() / sample) as usize;
            if let Some(place) = PORTS.iter().position(|port| *port == seen.port) {
                if lengths.len() <= number {
                    lengths.resize(number + 1, [0.0; 2]);
                }
                lengths[number][place] = seen.bytes.as_f64();
            }
        }
        let at_switch = result.trace.iter().filter(|event| matches!(event.place, Place::Switch(..)));
        let lost = at_switch.clone().filter(|event| matches!(event.what, What::Rejected(_) | What::Lost(_)));
        let first_loss = lost.map(|event| event.at).min();
        let joined = at_switch.filter(|event| event.what == What::Queued);
        let sent =
            result.trace.iter().filter(|event| matches!(event.place, Place::Host(_)) && event.what == What::Sent);
        Self {
            lengths,
            first_loss,
            before_loss: joined.filter(|event| first_loss.is_some_and(|loss| event.at <= loss)).count(),
            sent: sent.count() as f64,
            lost: f64::from(result.flows[BURST].drops),
        }
    }

    fn loss(&self) -> f64 {
        self.lost / self.sent
    }
}

/// A run on the chip and its twin.
struct Pair {
    chip: Seen,
    ideal: Seen,
    /// Picoseconds from sample to sample.
    sample: u64,
    start: Instant,
    buffer: f64,
    alpha: f64,
}

impl Pair {
    /// `None` if the scenario's switch has no ideal, which the files do not ask for.
    fn new(run: &Run<'_>) -> Option<Self> {
        let sample = run.scenario.measure.sample.ps();
        let twin = measure_twin::ideal(run, |_| ()).ok()?;
        Some(Self {
            chip: Seen::new(run.result, sample),
            ideal: Seen::new(&twin, sample),
            sample,
            start: run.result.flows[BURST].spec.start,
            buffer: run.scenario.switches[0].buffers[0].buffer.as_f64(),
            alpha: run.point.number("chip.options.alpha"),
        })
    }

    fn time(&self, number: usize) -> f64 {
        (number as f64 * self.sample as f64 - self.start.ps() as f64) / 1e6
    }

    /// How far the chip's queues are from the ideal's from the burst on, as shares of the buffer: the mean over time,
    /// and the most.
    fn distance(&self, metrics: &mut Metrics) {
        let from = (self.start.ps() / self.sample) as usize;
        let pairs = self.chip.lengths.iter().zip(&self.ideal.lengths).skip(from);
        for (place, name) in ["lasting", "burst"].into_iter().enumerate() {
            let apart: Vec<f64> =
                pairs.clone().map(|(chip, ideal)| (chip[place] - ideal[place]).abs() / self.buffer).collect();
            metrics.set(format!("apart.{name}.mean"), apart.iter().sum::<f64>() / apart.len() as f64);
            metrics.set(format!("apart.{name}.most"), apart.iter().copied().fold(0.0, f64::max));
        }
    }

    /// Queue lengths in KB over microseconds, from 10 us before the burst on.
    fn curves(&self, metrics: &mut Metrics) {
        let from = (self.start.ps() / self.sample).saturating_sub(10_000_000 / self.sample) as usize;
        let mut curve = |name: &str, seen: &Seen, of: &dyn Fn(&[f64; 2]) -> f64| {
            let points = seen.lengths.iter().enumerate().skip(from);
            let points: Vec<_> = points.map(|(number, lengths)| (self.time(number), of(lengths) / 1e3)).collect();
            metrics.curve(name, &points);
        };
        let threshold = |lengths: &[f64; 2]| self.alpha * (self.buffer - lengths[0] - lengths[1]);
        for (seen, prefix) in [(&self.chip, ""), (&self.ideal, "ideal.")] {
            curve(&format!("{prefix}lasting"), seen, &|lengths| lengths[0]);
            curve(&format!("{prefix}burst"), seen, &|lengths| lengths[1]);
            curve(&format!("{prefix}threshold"), seen, &threshold);
        }
    }

    /// How the queues stood when the burst first lost a packet, in fair shares of two queues.
    fn first_loss(&self, metrics: &mut Metrics) {
        let fair = self.buffer * fair_share(self.alpha, 2);
        for (seen, prefix) in [(&self.chip, ""), (&self.ideal, "ideal.")] {
            let Some(at) = seen.first_loss else { continue };
            let Some(lengths) = seen.lengths.get((at.ps() / self.sample) as usize) else { continue };
            metrics.set(format!("{prefix}first_loss.of_fair_share"), lengths[1] / fair);
            metrics.set(format!("{prefix}first_loss.lasting_of_fair_share"), lengths[0] / fair);
        }
    }
}

/// Figure 10.
pub(super) fn evolution(run: &Run<'_>, metrics: &mut Metrics) {
    let Some(pair) = Pair::new(run) else { return };
    pair.distance(metrics);
    pair.curves(metrics);
    pair.first_loss(metrics);
    metrics.set("loss", pair.chip.loss());
    metrics.set("ideal.loss", pair.ideal.loss());
    let Some(pipeline) = run.result.chips.first().and_then(|chip| chip.pipelines.first()) else { return };
    let seconds = run.result.end.ps() as f64 / 1e12;
    metrics.set("recirculated_gbps", pipeline.recirculation.bytes as f64 * 8.0 / seconds / 1e9);
}

/// Figure 11: the loss of the burst, and, if it lost something, what had been absorbed before.
pub(super) fn absorption(run: &Run<'_>, metrics: &mut Metrics) {
    let Some(pair) = Pair::new(run) else { return };
    for (seen, prefix) in [(&pair.chip, ""), (&pair.ideal, "ideal.")] {
        metrics.set(format!("{prefix}loss"), seen.loss());
        if seen.first_loss.is_some() {
            metrics.set(format!("{prefix}absorbed_kb"), seen.before_loss as f64 * 1.5);
        }
    }
    metrics.set("loss.more", pair.chip.loss() - pair.ideal.loss());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(lengths: &[[f64; 2]]) -> Seen {
        Seen { lengths: lengths.to_vec(), first_loss: Some(Instant::from_ps(2)), before_loss: 3, sent: 10.0, lost: 4.0 }
    }

    #[test]
    fn distances_are_shares_of_the_buffer_from_the_burst_on() {
        let pair = Pair {
            chip: seen(&[[900.0, 0.0], [500.0, 100.0], [400.0, 300.0]]),
            ideal: seen(&[[0.0, 0.0], [500.0, 0.0], [200.0, 300.0]]),
            sample: 1,
            start: Instant::from_ps(1),
            buffer: 1_000.0,
            alpha: 1.0,
        };
        let mut metrics = Metrics::default();
        pair.distance(&mut metrics);
        pair.first_loss(&mut metrics);
        let got = |name: &str| metrics.get(name);
        assert_eq!((got("apart.lasting.mean"), got("apart.lasting.most")), (0.1, 0.2));
        assert_eq!((got("apart.burst.mean"), got("apart.burst.most")), (0.05, 0.1));
        // A third of the buffer is fair.
        assert!((got("first_loss.of_fair_share") - 0.9).abs() < 1e-6);
        assert!((got("ideal.first_loss.lasting_of_fair_share") - 0.6).abs() < 1e-6);
        assert_eq!(pair.chip.loss(), 0.4);
    }
}
