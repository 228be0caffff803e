//! The whole of Occamy under arrivals, fetches and changes of alpha.

use super::{build, compare, seeds};
use forebay_rtl::model::occamy::{Inputs, Occamy, Outputs, Size};
use forebay_rtl::verilator::{Circuit, Recording, Simulation};
use forebay_tm::random::Random;
use std::sync::OnceLock;

/// Few cells and fewer descriptors, so that both run out.
pub(crate) const SIZE: Size = Size { queues: 6, cells: 10, descriptors: 8 };

pub(crate) const CIRCUIT: Circuit = Circuit {
    module: "occamy",
    parameters: &[("LOG_QUEUES", SIZE.queues), ("LOG_CELLS", SIZE.cells), ("LOG_DESCRIPTORS", SIZE.descriptors)],
    inputs: &[
        ("reset", 1),
        ("alpha_shift", 4),
        ("arrives", 1),
        ("arrival_queue", 6),
        ("arrival_cells", 6),
        ("fetches", 1),
        ("fetch_queue", 6),
    ],
    outputs: &[
        ("arrival_ready", 1),
        ("arrival_admitted", 1),
        ("links", 1),
        ("fetch_ready", 1),
        ("fetch_starts", 1),
        ("departs", 1),
        ("departure_queue", 6),
        ("free", 10),
        ("threshold", 10),
        ("over", 64),
        ("chosen", 1),
        ("chosen_queue", 6),
        ("drop_starts", 1),
        ("drop_aborts", 1),
        ("drops", 1),
        ("drop_queue", 6),
        ("packet_cells", 6),
        ("packet_cell", 10),
        ("frees", 1),
        ("freed_cell", 10),
    ],
};

/// The circuit, built once for all tests.
pub(crate) fn simulation() -> &'static Simulation {
    static BUILT: OnceLock<Simulation> = OnceLock::new();
    BUILT.get_or_init(|| build(CIRCUIT, "occamy"))
}

/// A cycle of the model, recorded.
pub(crate) fn step(model: &mut Occamy, inputs: &Inputs, recording: &mut Recording) -> Outputs {
    let out = model.step(inputs);
    let (queue, cells) = inputs.arrival.unwrap_or_default();
    let words = [
        u64::from(inputs.reset),
        u64::from(inputs.alpha_shift),
        u64::from(inputs.arrival.is_some()),
        queue as u64,
        u64::from(cells),
        u64::from(inputs.fetch.is_some()),
        inputs.fetch.unwrap_or_default() as u64,
    ];
    let flag = |flag: bool| Some(u64::from(flag));
    let index = |queue: Option<usize>| queue.map(|queue| queue as u64);
    let expected = [
        flag(out.arrival_ready),
        flag(out.admitted),
        flag(out.links),
        flag(out.fetch_ready),
        flag(out.fetch_starts),
        flag(out.departs.is_some()),
        index(out.departs),
        Some(out.free),
        Some(out.threshold),
        Some(out.over),
        flag(out.chosen.is_some()),
        index(out.chosen),
        flag(out.drop_starts),
        flag(out.drop_aborts),
        flag(out.drops.is_some()),
        index(out.drops),
        out.packet.map(|(cells, _)| u64::from(cells)),
        out.packet.map(|(_, first)| u64::from(first)),
        flag(out.frees.is_some()),
        out.frees.map(u64::from),
    ];
    // Until the reset is over, registers hold anything.
    let unknown = [None; 20];
    recording.cycle(&words, if inputs.reset { &unknown } else { &expected });
    out
}

/// What the traffic of a while is like.
struct Phase {
    cycles: u64,
    alpha_shift: u32,
    arrivals: f64,
    fetches: f64,
    /// Queues in use, from this one on.
    first: u64,
    queues: u64,
    cells: u64,
}

impl Phase {
    fn draw(random: &mut Random) -> Self {
        Self {
            cycles: 50 + random.below(400),
            // From 1/8 to 1024: with the largest, the buffer is full.
            alpha_shift: random.below(14) as u32,
            arrivals: random.unit(),
            // Often none: then there is bandwidth to spare.
            fetches: (random.unit() * 1.5 - 0.5).max(0.0),
            first: random.below(64),
            queues: 1 << random.below(7),
            cells: 8 << random.below(4),
        }
    }

    fn inputs(&self, random: &mut Random) -> Inputs {
        let mut queue = || ((self.first + random.below(self.queues)) % 64) as usize;
        let (from, to) = (queue(), queue());
        Inputs {
            reset: false,
            alpha_shift: self.alpha_shift,
            // Sometimes no cells at all, which is refused.
            arrival: (random.unit() < self.arrivals).then(|| (to, random.below(self.cells) as u32)),
            fetch: (random.unit() < self.fetches).then_some(from),
        }
    }
}

/// How often what is worth testing has happened.
#[derive(Debug, Default)]
struct Seen {
    drops: u32,
    aborts: u32,
    drop_waits: u32,
    arrival_waits: u32,
    refused: u32,
    several: u32,
}

impl Seen {
    fn add(&mut self, inputs: &Inputs, out: &Outputs) {
        self.drops += u32::from(out.drops.is_some());
        self.aborts += u32::from(out.drop_aborts);
        self.drop_waits += u32::from(out.drop_waits);
        self.arrival_waits += u32::from(out.arrival_waits);
        self.refused += u32::from(inputs.arrival.is_some() && out.arrival_ready && !out.admitted);
        self.several += u32::from(out.over.count_ones() > 1 && out.drop_starts);
    }
}

#[test]
fn every_cycle_is_the_same() {
    for seed in seeds() {
        let mut random = Random::stream(seed, "occamy circuit", 0);
        let mut model = Occamy::new(SIZE);
        let mut recording = Recording::new(CIRCUIT);
        let mut seen = Seen::default();
        step(&mut model, &Inputs { reset: true, ..Inputs::default() }, &mut recording);
        while recording.cycles() < 100_000 {
            let phase = Phase::draw(&mut random);
            for _ in 0..phase.cycles {
                let inputs = phase.inputs(&mut random);
                let out = step(&mut model, &inputs, &mut recording);
                seen.add(&inputs, &out);
            }
        }
        let least = [seen.drops, seen.aborts, seen.drop_waits, seen.arrival_waits, seen.refused, seen.several];
        assert!(least.iter().all(|count| *count >= 10), "the traffic shows little: {seen:?}");
        compare(simulation(), &recording, seed);
    }
}
