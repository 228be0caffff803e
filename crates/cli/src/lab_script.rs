//! `forebay lab script`: the same script played by the kernel's TCP and by the simulator's.

use crate::Failure;
use crate::args::LabScriptArgs;
use crate::output::print;
use forebay_lab::script::{ScriptFile, Stage, actors, record};
use std::net::Ipv4Addr;
use std::path::Path;

/// A host of a script. What goes wrong goes to standard output.
pub(crate) fn act(path: &Path, congestion_control: &str, to: Option<Ipv4Addr>) -> Result<(), Failure> {
    let script = ScriptFile::read(path)?.script;
    let done = match to {
        Some(to) => actors::send(&script, to, congestion_control),
        None => actors::receive(&script, congestion_control),
    };
    done.or_else(|problem| print(&format!("failed {problem}\n")))
}

pub(crate) fn run(prefix: &str, args: &LabScriptArgs) -> Result<(), Failure> {
    let files = args.scripts.iter().map(|path| ScriptFile::read(path)).collect::<Result<Vec<_>, _>>()?;
    let stage = Stage::make(prefix)?;
    for file in &files {
        let (trace, agreement) = record::play_until_stable(&stage, file)?;
        print(&format!("{}: {agreement}\n", file.name))?;
        if args.record {
            record::keep(file, args.recorded.as_deref(), agreement, trace)?;
        }
    }
    Ok(())
}
