//! `forebay`: the traffic manager of a datacenter switch on the command line.

#![forbid(unsafe_code)]

mod args;
mod arrivals;
mod chart;
mod compare;
mod demo;
mod explain;
mod output;
mod progress;
mod replay;
mod summary;
mod table;
mod timeline;
mod verdicts;

use clap::Parser;
use std::process::ExitCode;

/// How a command ends without having done its job.
pub(crate) enum Failure {
    /// Something that the user can put right: exit code 2.
    Input(String),
}

impl From<forebay_settings::Diagnostic> for Failure {
    fn from(diagnostic: forebay_settings::Diagnostic) -> Self {
        Self::Input(diagnostic.to_string())
    }
}

fn main() -> ExitCode {
    let args = args::Args::parse();
    output::clean_up_on_interrupt();
    let result = match &args.command {
        args::Command::Replay(args) => replay::run(args),
        args::Command::Demo(args) => demo::run(args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Input(text)) => {
            eprintln!("{text}");
            ExitCode::from(2)
        }
    }
}
