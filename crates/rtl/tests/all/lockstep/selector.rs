//! The head-drop selector on lengths that are all new in every cycle.

use super::{build, compare, seeds};
use forebay_rtl::model::selector::Selector;
use forebay_rtl::verilator::{Circuit, Recording};
use forebay_tm::random::Random;

const QUEUES: usize = 64;

const CIRCUIT: Circuit = Circuit {
    module: "occamy_selector",
    parameters: &[],
    inputs: &[
        ("reset", 1),
        ("free", 16),
        ("alpha_shift", 4),
        ("take", 1),
        ("taken", 6),
        ("lengths", 16 * QUEUES as u32),
    ],
    outputs: &[("threshold", 16), ("over", 64), ("any", 1), ("choice", 6)],
};

#[test]
fn the_same_queue_is_chosen() {
    let simulation = build(CIRCUIT, "selector");
    for seed in seeds() {
        let mut random = Random::stream(seed, "selector", 0);
        let mut selector = Selector::new(16);
        let mut recording = Recording::new(CIRCUIT);
        let (mut chosen, mut wrapped) = (0, 0);
        for cycle in 0..20_000 {
            let reset = cycle == 0;
            let below = 1 << random.below(17);
            let free = random.below(below);
            let alpha_shift = random.below(16) as u32;
            let threshold = selector.threshold(free, alpha_shift);
            // Around the threshold, so that a few queues are above it, or exactly at it.
            let spread = 1 << random.below(17);
            let lengths: Vec<u64> = (0..QUEUES)
                .map(|_| (threshold + random.below(spread)).saturating_sub(spread * 15 / 16).min(65_535))
                .collect();
            let choice = selector.choose(&lengths, threshold);
            let take = !reset && random.below(2) == 0;
            // Mostly what was chosen, sometimes any queue, as the executor may have chosen earlier.
            let taken = choice.filter(|_| random.below(4) > 0).unwrap_or(random.below(QUEUES as u64) as usize);
            let mut inputs = vec![u64::from(reset), free, u64::from(alpha_shift), u64::from(take), taken as u64];
            inputs.extend(lengths.chunks(2).map(|pair| pair[0] | pair[1] << 16));
            let known = |value: u64| (cycle > 0).then_some(value);
            recording.cycle(
                &inputs,
                &[
                    Some(threshold),
                    Some(Selector::over(&lengths, threshold)),
                    Some(u64::from(choice.is_some())),
                    choice.and_then(|queue| known(queue as u64)),
                ],
            );
            if reset {
                selector.reset();
            } else if take {
                wrapped += u32::from(choice.is_some_and(|queue| queue > taken));
                selector.take(taken, QUEUES);
            }
            chosen += u32::from(choice.is_some());
        }
        assert!(chosen > 10_000 && wrapped > 500, "the traffic shows little: {chosen} choices, {wrapped}");
        compare(&simulation, &recording, seed);
    }
}
