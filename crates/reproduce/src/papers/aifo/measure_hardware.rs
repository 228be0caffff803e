//! AIFO and SP-PIFO on a pipeline beside the algorithms and PIFO, on the same arrivals.

use crate::figure::Run;
use crate::metrics::Metrics;
use crate::papers::measure_twin;
use forebay_analysis::aifo::gap_of_rates;
use forebay_sim::measure::RunResult;
use forebay_sim::measure::trace::{Place, TraceEvent, What};
use forebay_tm::TmConfig;
use forebay_tm::schedule::{AifoConfig, PifoConfig, SchedulerConfig};
use std::collections::HashSet;

/// The port that everything goes to, and bytes of a packet there in cells.
const PORT: u32 = 4;
const PACKET: f64 = 560.0;
/// Ranks are below this.
const RANKS: usize = 17;
/// Larger windows that the algorithm can have.
const WINDOWS: [usize; 3] = [20, 100, 1_000];

/// What one switch sent.
struct Sent {
    packets: HashSet<(u32, u32)>,
    by_rank: Vec<f64>,
    /// Waiting packets of smaller ranks when a packet was sent, summed up.
    passed_over: f64,
    /// Its queue in packets: mean, and the most.
    queue: (f64, f64),
}

impl Sent {
    fn of(result: &RunResult) -> Self {
        let here = |event: &&TraceEvent| matches!(event.place, Place::Switch(_, PORT));
        let mut sent =
            Self { packets: HashSet::new(), by_rank: vec![0.0; RANKS], passed_over: 0.0, queue: queue(result) };
        let mut waiting = [0i64; RANKS];
        for event in result.trace.iter().filter(here) {
            let rank = (event.packet.rank as usize).min(RANKS - 1);
            match event.what {
                What::Queued => waiting[rank] += 1,
                What::Lost(_) => waiting[rank] -= 1,
                What::Sent => {
                    waiting[rank] -= 1;
                    sent.packets.insert((event.packet.flow, event.packet.seq));
                    sent.by_rank[rank] += 1.0;
                    sent.passed_over += waiting[..rank].iter().sum::<i64>() as f64;
                }
                _ => {}
            }
        }
        sent
    }

    /// The share of packets that only one of two sends (AIFO's equation 1).
    fn gap(&self, other: &Self) -> f64 {
        let both = (self.packets.len() + other.packets.len()) as f64;
        self.packets.symmetric_difference(&other.packets).count() as f64 / both
    }

    fn describe(&self, metrics: &mut Metrics, prefix: &str, pifo: &Self) {
        metrics.set(format!("{prefix}gap_to_pifo"), self.gap(pifo));
        metrics.set(format!("{prefix}gap_to_pifo.by_rank"), gap_of_rates(&pifo.by_rank, &self.by_rank));
        metrics.set(format!("{prefix}passed_over"), self.passed_over / self.packets.len() as f64);
        metrics.set(format!("{prefix}queue.mean"), self.queue.0);
        metrics.set(format!("{prefix}queue.most"), self.queue.1);
        metrics.set(format!("{prefix}sent"), self.packets.len() as f64);
        let ranks: Vec<(f64, f64)> = (1..RANKS).map(|rank| (rank as f64, self.by_rank[rank])).collect();
        metrics.curve(format!("{prefix}ranks"), &ranks);
    }
}

/// The port's queues together over time, in packets: the mean, and the most.
fn queue(result: &RunResult) -> (f64, f64) {
    let mut by_time: Vec<(u64, f64)> = Vec::new();
    for sample in result.queue_timeline.iter().filter(|sample| sample.port == PORT) {
        let packets = sample.bytes.as_f64() / PACKET;
        match by_time.last_mut() {
            Some((at, sum)) if *at == sample.at.ps() => *sum += packets,
            _ => by_time.push((sample.at.ps(), packets)),
        }
    }
    let most = by_time.iter().map(|(_, packets)| *packets).fold(0.0, f64::max);
    (by_time.iter().map(|(_, packets)| packets).sum::<f64>() / by_time.len() as f64, most)
}

/// A PIFO as large as the scheme's own queues.
fn pifo(config: &mut TmConfig) {
    let capacity = match &config.scheduler {
        SchedulerConfig::Aifo(aifo) => aifo.capacity,
        SchedulerConfig::SpPifo(queues) => queues.queues * queues.capacity,
        _ => return,
    };
    config.scheduler = SchedulerConfig::Pifo(PifoConfig { capacity });
}

/// The chip (no prefix) and its ideal (`ideal.`): `gap_to_pifo`, by packets and `.by_rank`, `passed_over`,
/// `queue.mean`, `queue.most`, the curve `ranks`; and how far the two are apart (`gap`, `gap.by_rank`).
fn compare(run: &Run<'_>, metrics: &mut Metrics) -> Option<Sent> {
    let chip = Sent::of(run.result);
    let ideal = Sent::of(&measure_twin::ideal(run, |_| ()).ok()?);
    let exact = Sent::of(&measure_twin::ideal(run, pifo).ok()?);
    chip.describe(metrics, "", &exact);
    ideal.describe(metrics, "ideal.", &exact);
    metrics.set("gap", chip.gap(&ideal));
    metrics.set("gap.by_rank", gap_of_rates(&ideal.by_rank, &chip.by_rank));
    Some(exact)
}

/// SP-PIFO: what [`compare`] adds.
pub(super) fn sp_pifo(run: &Run<'_>, metrics: &mut Metrics) {
    compare(run, metrics);
}

/// AIFO: what [`compare`] adds, `window20.` and so on for larger windows of the algorithm (at one point of the grid),
/// how packets' admissions differ (`differ`), and by how many packets the length that the program knew was off
/// (`bias.mean`, `bias.most`).
pub(super) fn aifo(run: &Run<'_>, metrics: &mut Metrics) {
    let Some(pifo) = compare(run, metrics) else { return };
    if is_first(run) {
        windows(run, metrics, &pifo);
    }
    let Some(witness) = run.result.chips.first().map(|chip| &chip.witness) else { return };
    let all = (witness.both + witness.ideal_only + witness.chip_only + witness.neither) as f64;
    metrics.set("differ", (witness.ideal_only + witness.chip_only) as f64 / all);
    metrics.set("bias.mean", witness.length_error as f64 / all / PACKET);
    metrics.set("bias.most", witness.length_error_most as f64 / PACKET);
}

/// Whether the chip is the fastest of the grid: what does not depend on the chip is worked out there alone.
fn is_first(run: &Run<'_>) -> bool {
    let number = |key: &str| run.point.number(key);
    (number("chip.latency"), number("topology.hosts"), number("chip.options.workers")) == (0.2, 5.0, 1.0)
}

/// The algorithm with larger windows.
fn windows(run: &Run<'_>, metrics: &mut Metrics, pifo: &Sent) {
    for window in WINDOWS {
        let larger = |config: &mut TmConfig| {
            if let SchedulerConfig::Aifo(aifo) = config.scheduler.clone() {
                config.scheduler = SchedulerConfig::Aifo(AifoConfig { window, ..aifo });
            }
        };
        if let Ok(result) = measure_twin::ideal(run, larger) {
            Sent::of(&result).describe(metrics, &format!("window{window}."), pifo);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(packets: &[(u32, u32)], by_rank: &[f64]) -> Sent {
        Sent {
            packets: packets.iter().copied().collect(),
            by_rank: by_rank.to_vec(),
            passed_over: 3.0,
            queue: (1.0, 2.0),
        }
    }

    #[test]
    fn gaps_count_packets_that_only_one_sends() {
        let (a, b) =
            (sent(&[(0, 0), (0, 1), (1, 0)], &[0.0, 2.0, 1.0]), sent(&[(0, 0), (0, 2), (1, 0)], &[0.0, 2.0, 1.0]));
        assert!((a.gap(&b) - 2.0 / 6.0).abs() < 1e-12);
        assert_eq!((a.gap(&a), gap_of_rates(&b.by_rank, &a.by_rank)), (0.0, 0.0));
    }

    #[test]
    fn a_pifo_has_as_many_places() {
        let mut config = TmConfig::new(vec![], forebay_tm::Bytes::ZERO);
        config.scheduler = SchedulerConfig::Aifo(AifoConfig { capacity: 33, ..AifoConfig::default() });
        pifo(&mut config);
        assert_eq!(config.scheduler, SchedulerConfig::Pifo(PifoConfig { capacity: 33 }));
    }
}
