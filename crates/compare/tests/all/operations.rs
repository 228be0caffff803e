//! Arbitrary calls on random switches, from seeds.

use forebay_compare::operate;
use forebay_naive::Dice;

/// How many random cases; more with `FOREBAY_CASES=100000`.
fn cases() -> u64 {
    std::env::var("FOREBAY_CASES").ok().map_or(2_000, |text| text.parse().expect("FOREBAY_CASES is a number"))
}

#[test]
fn any_calls_keep_the_accounts() {
    for seed in 0..cases() {
        if let Err(panic) = std::panic::catch_unwind(|| operate(&mut Dice::from_seed(seed))) {
            eprintln!("seed {seed}");
            std::panic::resume_unwind(panic);
        }
    }
}
