//! The core gives the verdicts, marks, times and queue lengths of the naive reference.

#![no_main]

use forebay_compare::agree;
use forebay_naive::{Dice, random_case};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let (switch, arrivals) = random_case(&mut Dice::from_bytes(bytes));
    agree("these bytes", &switch, &arrivals);
});
