//! No frame, however malformed, harms the data path of a live switch.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| forebay_live::torture::torture(bytes));
