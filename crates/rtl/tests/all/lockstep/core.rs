//! The circuit against the core: the same packets are admitted, and the same queues lose packets in the same order.
//!
//! The core decides at instants, the circuit takes cycles. So each arrival and each departure is let come to rest in
//! the circuit before the next, and the core is given so much memory bandwidth that it expels at once all that it may.

use super::occamy::{CIRCUIT, SIZE, simulation, step};
use super::{compare, seeds};
use forebay_rtl::model::occamy::{Inputs, Occamy, Outputs};
use forebay_rtl::verilator::Recording;
use forebay_tm::View as _;
use forebay_tm::admit::{OccamyConfig, PolicyConfig};
use forebay_tm::random::Random;
use forebay_tm::{Bytes, Instant, Packet, PerQueue, Rate, Tm, TmConfig, Verdict, Wire};

const PORTS: usize = 64;

/// A port for each queue, and a byte for each cell.
fn core(alpha_shift: u32) -> Tm {
    let mut config = TmConfig::new(vec![Rate::from_gbps(100); PORTS], Bytes::new((1 << SIZE.cells) - 1));
    let alpha = PerQueue::All(2f64.powi(alpha_shift as i32 - 3));
    config.policy = PolicyConfig::Occamy(OccamyConfig { alpha, token_cell: Bytes::new(1), bucket: 1 << 20 });
    Tm::new(config.validate().expect("a valid switch"))
}

/// Gives the circuit something and lets it come to rest; what came out of its cycles.
fn settle(model: &mut Occamy, inputs: Inputs, recording: &mut Recording) -> Vec<Outputs> {
    let mut outputs = vec![step(model, &inputs, recording)];
    let rest = Inputs { alpha_shift: inputs.alpha_shift, ..Inputs::default() };
    while !model.is_quiet(inputs.alpha_shift) {
        outputs.push(step(model, &rest, recording));
    }
    outputs
}

#[test]
fn the_core_expels_from_the_same_queues() {
    for seed in seeds() {
        let mut recording = Recording::new(CIRCUIT);
        let (mut expelled, mut in_a_row, mut rejected) = (0, 0, 0);
        for alpha_shift in 0..=8 {
            let mut random = Random::stream(seed, "circuit and core", u64::from(alpha_shift));
            let (mut tm, mut model) = (core(alpha_shift), Occamy::new(SIZE));
            step(&mut model, &Inputs { reset: true, ..Inputs::default() }, &mut recording);
            for event in 0..1_500 {
                let now = Instant::from_ps(1_000_000 * (event + 1));
                let queue = (random.below(8) * random.below(8)) as usize;
                let outputs = if random.below(4) > 0 {
                    // Not so small that descriptors run out, of which the core has any number.
                    let cells = 6 + random.below(58) as u32;
                    let packet = Packet { bytes: cells, port: queue as u32, ..Packet::default() };
                    let verdict = tm.offer(now, &packet, Wire::Busy).verdict();
                    let inputs = Inputs { alpha_shift, arrival: Some((queue, cells)), ..Inputs::default() };
                    let outputs = settle(&mut model, inputs, &mut recording);
                    let admitted = verdict == Verdict::Queued { marked: false };
                    assert_eq!(outputs[0].admitted, admitted, "event {event}, alpha_shift {alpha_shift}");
                    rejected += u32::from(!admitted);
                    outputs
                } else {
                    let departs = tm.dequeue(now, queue).is_some();
                    let inputs = Inputs { alpha_shift, fetch: Some(queue), ..Inputs::default() };
                    let outputs = settle(&mut model, inputs, &mut recording);
                    assert_eq!(outputs.iter().any(|out| out.departs == Some(queue)), departs, "event {event}");
                    outputs
                };
                tm.advance(now);
                let by_core: Vec<(usize, u32)> = tm.drain_evictions().map(|lost| (lost.queue, lost.bytes)).collect();
                let dropped = |out: &Outputs| out.drops.zip(out.packet).map(|(queue, (cells, _))| (queue, cells));
                let by_circuit: Vec<(usize, u32)> = outputs.iter().filter_map(dropped).collect();
                assert_eq!(by_circuit, by_core, "event {event}, alpha_shift {alpha_shift}");
                for (queue, length) in model.lengths().iter().enumerate() {
                    assert_eq!(*length, tm.queue_bytes(queue).get(), "event {event}, queue {queue}");
                }
                expelled += by_core.len();
                in_a_row += usize::from(by_core.len() > 1);
            }
        }
        assert!(expelled > 500 && in_a_row > 50 && rejected > 500, "little happens: {expelled} {in_a_row} {rejected}");
        compare(simulation(), &recording, seed);
    }
}
