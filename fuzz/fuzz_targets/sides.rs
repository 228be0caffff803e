//! The core with both sides of the buffer gives the verdicts, times and pauses of the naive reference.

#![no_main]

use forebay_compare::{random_sides, sides_agree};
use forebay_naive::Dice;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let (switch, ingress, arrivals, groups) = random_sides(&mut Dice::from_bytes(bytes));
    sides_agree("these bytes", &switch, &ingress, &arrivals, &groups);
});
