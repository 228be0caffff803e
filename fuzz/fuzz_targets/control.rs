//! No line to the control socket, however malformed, harms a live switch.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| forebay_control::torture::control(bytes));
