//! The ideal beside a program: an exact switch that gets the same arrivals, and what the program worked out beside the
//! exact value.

use crate::measure::chip::ReferenceRecord;
use crate::scenario::ChipSetup;
use forebay_pisa::programs::{FbProgram, ProgramConfig};
use forebay_pisa::{Checked, Pipeline};
use forebay_tm::View as _;
use forebay_tm::drive::{Driver, Silent};
use forebay_tm::{Instant, Packet, Tm, ValidConfig, Verdict};

/// Steps of the logarithm of a ratio, for each doubling.
const STEPS: f64 = 8.0;
/// Doublings that are told apart, up and down.
const DOUBLINGS: f64 = 8.0;

/// The ideal of a chip's program.
pub(super) struct ReferenceSwitch {
    /// The exact switch.
    ideal: Driver,
    /// For FB: what it knows, and its settings.
    threshold: Option<(Known, FbProgram)>,
    /// For AIFO: the place of the length that it knows.
    length: Option<usize>,
    cell: f64,
    record: ReferenceRecord,
}

/// The places of what FB knows among the program's fields.
#[derive(Clone, Copy)]
struct Known {
    threshold: usize,
    free: usize,
    at_port: usize,
    of_priority: usize,
}

impl Known {
    fn of(program: &Checked) -> Option<Self> {
        let [threshold, free, at_port, of_priority] =
            ["threshold", "free", "at_port", "of_priority"].map(|name| program.field(name));
        Some(Self { threshold: threshold?, free: free?, at_port: at_port?, of_priority: of_priority? })
    }
}

impl ReferenceSwitch {
    pub(super) fn new(setup: &ChipSetup, program: &Checked, buffer: &ValidConfig) -> Self {
        let ideal = setup.ideal(buffer).expect("only programs with an ideal have a witness");
        let threshold = match &setup.program {
            ProgramConfig::Fb(fb) => Known::of(program).map(|known| (known, fb.clone())),
            _ => None,
        };
        let steps = (2.0 * DOUBLINGS * STEPS) as usize + 2;
        Self {
            ideal: Driver::new(Tm::new(ideal)),
            threshold,
            length: program.field("known"),
            cell: buffer.cell.get().max(1) as f64,
            record: ReferenceRecord {
                threshold_ratio: vec![0; steps],
                rounding_ratio: vec![0; steps],
                counts_ratio: vec![0; steps],
                remaining_ratio: vec![0; steps],
                ..ReferenceRecord::default()
            },
        }
    }

    /// A data packet has arrived, and the program would take it or not. `pipeline` has just run it; `tm` is as it was
    /// before.
    pub(super) fn arrival(&mut self, now: Instant, packet: &Packet, taken: bool, pipeline: &Pipeline, tm: &Tm) {
        let verdict = self.ideal.arrive(now, packet, &mut Silent);
        let ideal = matches!(verdict, Ok(Verdict::Queued { .. }));
        let count = match (ideal, taken) {
            (true, true) => &mut self.record.both,
            (true, false) => &mut self.record.ideal_only,
            (false, true) => &mut self.record.chip_only,
            (false, false) => &mut self.record.neither,
        };
        *count += 1;
        if let Some(place) = self.length {
            let known = pipeline.value(place) * self.cell as u64;
            let own = tm.queue_bytes(tm.queue_index(packet.port as usize, packet.queue as usize)).get();
            self.record.length_error += known.abs_diff(own);
            self.record.length_error_most = self.record.length_error_most.max(known.abs_diff(own));
        }
        if let Some((known, fb)) = &self.threshold {
            let exact = Exact::new(fb, packet, tm);
            let value = |place: usize| pipeline.value(place) as f64;
            // A queue counts itself, as the program's table has it.
            let at_port = if fb.single { 1.0 } else { value(known.at_port).max(1.0) };
            let counts = at_port * value(known.of_priority).max(1.0);
            let (threshold, free) = (value(known.threshold) * self.cell, value(known.free) * self.cell);
            let record = &mut self.record;
            record.threshold_ratio[step_of(threshold, exact.threshold())] += 1;
            record.rounding_ratio[step_of(threshold, exact.alpha / counts * free)] += 1;
            record.counts_ratio[step_of(exact.counts, counts)] += 1;
            record.remaining_ratio[step_of(free, exact.remaining)] += 1;
        }
    }

    pub(super) fn record(&self) -> ReferenceRecord {
        self.record.clone()
    }
}

/// What FB's threshold (eq. 4) is made of in the chip's own buffer as it is: `alpha / N * gamma * (B - Q)`, for queues
/// of equal weight.
struct Exact {
    alpha: f64,
    /// `N / gamma`: congested queues of the priority, times those of the port.
    counts: f64,
    remaining: f64,
}

impl Exact {
    fn new(fb: &FbProgram, packet: &Packet, tm: &Tm) -> Self {
        let config = tm.config();
        let own = tm.queue_index(packet.port as usize, packet.queue as usize);
        let waits = |queue: usize| queue == own || tm.queue_packets(queue) > 0;
        let group = |queue: usize| fb.group(queue % config.queues);
        let all = 0..config.total_queues();
        let of_group = all.filter(|queue| group(*queue) == group(own) && waits(*queue)).count();
        let first = packet.port as usize * config.queues;
        let at_port = (first..first + config.queues).filter(|queue| waits(*queue)).count();
        Self {
            alpha: fb.alpha(packet.class as usize),
            counts: (of_group * if fb.single { 1 } else { at_port }) as f64,
            remaining: (config.buffer.get() - tm.used().get()) as f64,
        }
    }

    fn threshold(&self) -> f64 {
        self.alpha / self.counts * self.remaining
    }
}

/// The step that a ratio belongs to; the last one is for zeros.
fn step_of(worked_out: f64, exact: f64) -> usize {
    let last = (2.0 * DOUBLINGS * STEPS) as usize + 1;
    if worked_out <= 0.0 || exact <= 0.0 {
        return last;
    }
    let doublings = (worked_out / exact).log2().clamp(-DOUBLINGS, DOUBLINGS);
    ((doublings + DOUBLINGS) * STEPS).round() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_have_steps_of_an_eighth_of_a_doubling() {
        for (worked_out, exact, step) in
            [(1.0, 1.0, 64), (2.0, 1.0, 72), (1.0, 2.0, 56), (1e9, 1.0, 128), (1.0, 1e9, 0), (0.0, 5.0, 129)]
        {
            assert_eq!(step_of(worked_out, exact), step, "{worked_out} / {exact}");
        }
    }
}
