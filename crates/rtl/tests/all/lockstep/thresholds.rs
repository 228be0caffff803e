//! The threshold units of FB and ABM on random arrivals and departures.

use super::{build, compare, seeds};
use forebay_rtl::model::abm::{AbmUnit, Size};
use forebay_rtl::model::fb::FbUnit;
use forebay_rtl::model::selector::fits;
use forebay_rtl::verilator::{Circuit, Port, Recording};
use forebay_tm::random::Random;

const PORTS: usize = 8;
const CLASSES: usize = 8;
const QUEUES: usize = PORTS * CLASSES;

/// What a packet asks, of both units.
#[derive(Clone, Copy)]
struct Ask {
    queue: usize,
    length: u64,
    cells: u64,
    remaining: u64,
    alpha_shift: u32,
}

impl Ask {
    /// For a packet that finds these lengths.
    fn draw(random: &mut Random, lengths: &[u64]) -> Self {
        let queue = random.below(QUEUES as u64) as usize;
        Self {
            queue,
            length: lengths[queue],
            cells: random.below(64),
            remaining: {
                let below = 1 << random.below(17);
                random.below(below)
            },
            alpha_shift: random.below(10) as u32,
        }
    }

    fn words(&self) -> [u64; 6] {
        let (port, class) = (self.queue / CLASSES, self.queue % CLASSES);
        [port as u64, class as u64, self.length, self.cells, self.remaining, u64::from(self.alpha_shift)]
    }
}

/// A step of queue lengths: which queue changes, and by how much.
fn change(random: &mut Random, lengths: &mut [u64]) -> (usize, u64, u64) {
    let queue = random.below(QUEUES as u64) as usize;
    let before = lengths[queue];
    // Small steps, so that queues are empty often.
    lengths[queue] = (before + random.below(40)).saturating_sub(random.below(60));
    (queue, before, lengths[queue])
}

const OUTPUTS: &[Port] = &[("threshold", 16), ("admits", 1)];

const fn fb(parameters: &'static [(&'static str, u32)]) -> Circuit {
    Circuit {
        module: "fb_threshold",
        parameters,
        inputs: &[
            ("reset", 1),
            ("fills", 1),
            ("fills_port", 3),
            ("fills_class", 3),
            ("empties", 1),
            ("empties_port", 3),
            ("empties_class", 3),
            ("port", 3),
            ("class_of_packet", 3),
            ("length", 16),
            ("cells", 6),
            ("remaining", 16),
            ("alpha_shift", 4),
        ],
        outputs: OUTPUTS,
    }
}

fn check_fb(terms: usize, circuit: Circuit) {
    let simulation = build(circuit, &format!("fb{terms}"));
    for seed in seeds() {
        let mut random = Random::stream(seed, "fb unit", terms as u64);
        let mut unit = FbUnit::new(PORTS, CLASSES, 16, terms);
        let mut lengths = vec![0; QUEUES];
        let mut recording = Recording::new(circuit);
        let mut admitted = 0;
        for cycle in 0..30_000 {
            let reset = cycle == 0;
            let ask = Ask::draw(&mut random, &lengths);
            let (port, class) = (ask.queue / CLASSES, ask.queue % CLASSES);
            let threshold = unit.threshold(port, class, ask.length == 0, ask.remaining, ask.alpha_shift);
            let admits = fits(ask.length, ask.cells, ask.remaining, threshold);
            let mut words = vec![u64::from(reset), 0, 0, 0, 0, 0, 0];
            // One queue that gets packets and one that loses some, which can be the same port or class.
            for (at, fills) in [(1, true), (4, false)] {
                let (queue, before, after) = if reset { (0, 0, 0) } else { change(&mut random, &mut lengths) };
                let crosses = if fills { before == 0 && after > 0 } else { before > 0 && after == 0 };
                if !crosses {
                    // The counters follow only what they are told.
                    lengths[queue] = if (before > 0) == (after > 0) { after } else { before };
                    continue;
                }
                let (port, class) = (queue / CLASSES, queue % CLASSES);
                words[at..at + 3].copy_from_slice(&[1, port as u64, class as u64]);
                if fills { unit.fills(port, class) } else { unit.empties(port, class) }
            }
            words.extend(ask.words());
            let known = |value: u64| (!reset).then_some(value);
            recording.cycle(&words, &[known(threshold), known(u64::from(admits))]);
            admitted += u32::from(admits);
        }
        assert!((3_000..27_000).contains(&admitted), "the traffic shows little: {admitted}");
        compare(&simulation, &recording, seed);
    }
}

#[test]
fn fb_with_one_shift() {
    check_fb(1, fb(&[("TERMS", 1)]));
}

#[test]
fn fb_with_three_shifts() {
    check_fb(3, fb(&[("TERMS", 3)]));
}

/// Short windows, so that there are many.
const SIZE: Size = Size { ports: 3, classes: 3, cells: 16, window: 10, shares: 5, terms: 2 };

const ABM: Circuit = Circuit {
    module: "abm_threshold",
    parameters: &[("TERMS", SIZE.terms as u32), ("LOG_WINDOW", SIZE.window)],
    inputs: &[
        ("reset", 1),
        ("sends", 1),
        ("sent_port", 3),
        ("sent_class", 3),
        ("sent_cells", 6),
        ("empties", 1),
        ("judges", 1),
        ("port", 3),
        ("class_of_packet", 3),
        ("length", 16),
        ("cells", 6),
        ("remaining", 16),
        ("alpha_shift", 4),
    ],
    outputs: OUTPUTS,
};

#[test]
fn abm_with_two_shifts() {
    let simulation = build(ABM, "abm2");
    for seed in seeds() {
        let mut random = Random::stream(seed, "abm unit", 0);
        let mut unit = AbmUnit::new(SIZE);
        let mut lengths = vec![0; QUEUES];
        let mut recording = Recording::new(ABM);
        let (mut shared, mut several) = (0, 0);
        for cycle in 0..60_000u64 {
            let reset = cycle == 0;
            let mut ask = Ask::draw(&mut random, &lengths);
            let threshold = unit.threshold(ask.queue, ask.remaining, ask.alpha_shift);
            // Often near nine tenths of the threshold, where a queue begins to be congested.
            if random.below(2) == 0 {
                ask.length = threshold * (230 + random.below(5)) / 256;
            }
            let admits = fits(ask.length, ask.cells, ask.remaining, threshold);
            let judges = !reset && random.below(2) == 0;
            let (n, share) = unit.measured(ask.queue);
            several += u32::from(n > 2);
            shared += u32::from(share < 32);
            // In some windows few queues send much, in others many little; and not in every cycle.
            let (queue, before, after) = change(&mut random, &mut lengths);
            let busy = 1 << (cycle / 4_096 % 4);
            let queue = if before > after { queue % busy * (QUEUES / busy) } else { queue };
            let sends = !reset && random.below(8) == 0;
            let (cells, empties) = (random.below(32), random.below(8) == 0);
            let mut words =
                vec![u64::from(reset), u64::from(sends), (queue / CLASSES) as u64, (queue % CLASSES) as u64];
            words.extend([cells, u64::from(empties), u64::from(judges)]);
            words.extend(ask.words());
            let known = |value: u64| (!reset).then_some(value);
            recording.cycle(&words, &[known(threshold), known(u64::from(admits))]);
            if !reset {
                let sent = (queue, cells, empties);
                unit.tick(
                    if sends { std::slice::from_ref(&sent) } else { &[] },
                    judges.then_some((ask.queue, ask.length, threshold)),
                );
            }
        }
        assert!(shared > 1_000 && several > 1_000, "the traffic shows little: {shared} shares, {several} counts");
        compare(&simulation, &recording, seed);
    }
}
