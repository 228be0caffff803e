//! `forebay completions` and `forebay manual`: what shells and `man` know of the commands, made from the arguments
//! themselves.

use crate::Failure;
use crate::args::{Args, Force};
use crate::output::{cannot_write, print};
use crate::outputs::{Ours, Outputs};
use clap::{Args as ClapArgs, Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use std::path::PathBuf;

#[derive(ClapArgs, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

#[derive(ClapArgs, Debug)]
pub(crate) struct ManualArgs {
    /// The directory, which is made if it is not there.
    pub(crate) directory: PathBuf,
    #[command(flatten)]
    pub(crate) replace: Force,
}

/// What man pages begin with.
const HEAD: &str = ".ie \\n(.g .ds Aq";

pub(crate) fn completions(args: &CompletionsArgs) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "forebay", &mut script);
    print(&String::from_utf8_lossy(&script))
}

pub(crate) fn pages(args: &ManualArgs) -> Result<(), Failure> {
    let failure = |error| cannot_write(&args.directory.display().to_string(), &error);
    std::fs::create_dir_all(&args.directory).map_err(failure)?;
    let mut command = Args::command().disable_help_subcommand(true);
    command.build();
    let mut all = Vec::new();
    gather(&command, "forebay", &mut all);
    // All of them may be written, or none is.
    let mut trial = Outputs::new(args.replace.force);
    for (name, _) in &all {
        trial.check(&args.directory.join(name), Ours::Begins(HEAD))?;
    }
    let mut outputs = Outputs::new(args.replace.force);
    for (name, text) in &all {
        outputs.write(&args.directory.join(name), text)?;
    }
    print(&format!("{} pages in {}\n", all.len(), args.directory.display()))
}

/// The pages of a command and of those below it.
fn gather(command: &Command, name: &str, all: &mut Vec<(String, String)>) {
    let mut page = Vec::new();
    // Writing into memory does not fail.
    let _ = Man::new(command.clone()).title(name.to_uppercase()).render(&mut page);
    all.push((format!("{name}.1"), String::from_utf8_lossy(&page).into_owned()));
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        gather(below, &format!("{name}-{}", below.get_name()), all);
    }
}
