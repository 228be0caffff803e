//! The fast core against the naive reference: the same random switches and arrivals, through the same text forms that a
//! user writes, get the same verdicts, marks and times; and every queue is as long at the end of every instant.

use forebay_compare::agree;
use forebay_naive::{Dice, random_case};

/// How many random cases; more with `FOREBAY_CASES=100000`.
fn cases() -> u64 {
    std::env::var("FOREBAY_CASES").ok().map_or(4_000, |text| text.parse().expect("FOREBAY_CASES is a number"))
}

#[test]
fn random_switches_agree() {
    for seed in 0..cases() {
        let (switch, arrivals) = random_case(&mut Dice::from_seed(seed));
        agree(&format!("seed {seed}"), &switch, &arrivals);
    }
}
