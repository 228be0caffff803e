//! A small scenario gives the same results on one thread and on four.

#![no_main]

#[path = "../../crates/sim/tests/all/common/mod.rs"]
mod common;
#[path = "../../crates/sim/tests/all/on_threads.rs"]
mod on_threads;

use libfuzzer_sys::fuzz_target;
use on_threads::{drawn, run_on};

fuzz_target!(|bytes: &[u8]| {
    let text = drawn(bytes);
    let scenario = common::scenario(&text);
    assert!(run_on(1, &scenario).0 == run_on(4, &scenario).0, "4 threads differ from one\n{text}");
});
