//! Every circuit in Verilator, in lock step with its model, on random traffic; and Occamy's against the core.
//!
//! `FOREBAY_RTL_SEEDS` says how many seeds are run; 1 if it is not set.

mod core;
mod occamy;
mod selector;
mod thresholds;

use forebay_rtl::verilator::{Circuit, Recording, Simulation};
use std::path::PathBuf;

/// Builds a circuit under its name, once.
fn build(circuit: Circuit, name: &str) -> Simulation {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    Simulation::build(circuit, &directory).unwrap_or_else(|problem| panic!("{problem}"))
}

fn compare(simulation: &Simulation, recording: &Recording, seed: u64) {
    simulation.compare(recording, seed as u32).unwrap_or_else(|problem| panic!("seed {seed}: {problem}"));
}

fn seeds() -> std::ops::RangeInclusive<u64> {
    1..=std::env::var("FOREBAY_RTL_SEEDS").ok().and_then(|count| count.parse().ok()).unwrap_or(1)
}
