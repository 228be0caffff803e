//! `forebay`: the traffic manager of a datacenter switch on the command line.

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    forebay_cli::main()
}
