//! The command line of Forebay with schemes of our own. All of its commands have them: `own-schemes list policies`,
//! `own-schemes replay`, `run`, `sweep`, `live`, ...

fn main() -> std::process::ExitCode {
    assert!(own_schemes::register(), "the names are taken");
    forebay_cli::main()
}
