//! The command line, in one binary.

mod bad_input;
mod book;
mod commands;
mod deep_input;
mod demo;
mod dependencies;
mod live;
#[path = "../common/pages.rs"]
mod pages;
mod pisa;
mod readme;
mod regressions;
mod replay;
mod reproduce;
mod rtl;
mod safety;
mod shards;
mod simulate;
mod simulation;
mod simulation_errors;
mod slurm;
mod sonic;
mod threads;
mod three_hundred;
#[path = "../common/trimming.rs"]
mod trimming;
mod vectors;
mod warm_up;
