//! The core from outside, in one binary.

mod aifo;
mod common;
mod conservation;
mod determinism;
mod explanations;
mod mmu;
mod preemption;
mod reconfigure;
mod regressions;
mod reverie;
mod schedulers;
mod steady_state;
mod trim_and_mark;
mod worked_examples;
