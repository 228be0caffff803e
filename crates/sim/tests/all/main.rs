//! The simulator against theory, closed forms, peers and itself, in one binary.

mod bad_scenarios;
mod buffers;
mod chip;
mod closed_forms;
mod common;
mod dependencies;
mod egress;
mod examples;
mod failures;
mod fairness;
mod invariants;
mod long_runs;
mod lossless;
mod mirror;
mod on_threads;
mod peers;
mod queueing;
mod reverie;
mod samples;
mod script;
mod sonic;
mod threads;
mod transports;
mod trimming;
mod victims;
