//! No request for settings, however odd, harms a live switch.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| forebay_control::torture::settings(bytes));
