//! `forebay`: the traffic manager of a datacenter switch on the command line.
//!
//! A program that brings policies or transports of its own registers them (`forebay_settings::register`) and then calls
//! [`main`]: every command has them.

#![forbid(unsafe_code)]

mod args;
mod bench;
mod chart;
mod check;
mod cluster;
mod compare;
mod compare_runs;
mod demo;
mod explain;
mod found;
mod init;
mod lab;
mod lab_compare;
mod lab_run;
mod lab_script;
mod list;
mod live;
mod manual;
mod output;
mod outputs;
mod pisa;
mod progress;
mod replay;
mod report;
mod report_detail;
mod report_reasons;
mod report_scenario;
mod reproduce;
mod rtl;
mod run;
mod sets;
mod sonic;
mod summary;
mod sweep;
mod table;
mod timeline;
mod verdicts;

use clap::Parser;
use forebay_settings::Diagnostic;
use std::fmt::Display;
use std::process::ExitCode;

/// How a command ends without having done its job.
pub(crate) enum Failure {
    /// Something that the user can put right: exit code 2.
    Input(Diagnostic),
    /// The same, told by others: a list of errors in a program, or another process. Exit code 2.
    Said(String),
    /// It has found what it looks for, and has printed it: exit code 1.
    Findings,
    /// The user stopped it; what was finished has been written: exit code 130.
    Interrupted,
}

impl Failure {
    /// An argument or a file, what is wrong with it, and what would be right; the first and the last may be empty.
    pub(crate) fn refused(place: impl Display, problem: impl Display, help: impl Display) -> Self {
        Diagnostic::of_file(place.to_string(), problem.to_string(), help.to_string()).into()
    }
}

/// All errors of the libraries are diagnostics, or become one.
impl<E: Into<Diagnostic>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Input(error.into())
    }
}

/// The command line: reads the arguments of the program and does what they say.
pub fn main() -> ExitCode {
    let args = args::Args::parse();
    // A live switch does it when it knows who it acts as.
    if !matches!(args.command, args::Command::Live(_)) {
        output::clean_up_on_interrupt();
    }
    let result = match &args.command {
        args::Command::Replay(args) => replay::run(args),
        args::Command::Demo(args) => demo::run(args),
        args::Command::Run(args) => run::run(args),
        args::Command::Sweep(args) => sweep::run(args),
        args::Command::Check(args) => check::run(args),
        args::Command::Compare(args) => compare_runs::run(args),
        args::Command::Report(args) => report::run(args),
        args::Command::Init(args) => init::run(args),
        args::Command::List(args) => list::run(args),
        args::Command::Bench(args) => bench::run(args),
        args::Command::Reproduce(args) => reproduce::run(args),
        args::Command::Live(args) => live::run(args),
        args::Command::Lab(args) => lab::run(args),
        args::Command::Pisa(args) => pisa::run(args),
        args::Command::Rtl(args) => rtl::run(args),
        args::Command::Completions(args) => manual::completions(args),
        args::Command::Manual(args) => manual::pages(args),
        args::Command::Sonic(args) => sonic::run(args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Input(error)) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
        Err(Failure::Said(text)) => {
            eprintln!("{text}");
            ExitCode::from(2)
        }
        Err(Failure::Findings) => ExitCode::from(1),
        Err(Failure::Interrupted) => {
            eprintln!("interrupted; what was finished has been written");
            ExitCode::from(130)
        }
    }
}
