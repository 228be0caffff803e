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
mod mirror;
mod peers;
mod queueing;
mod samples;
mod script;
mod transports;
