//! `forebay lab script`: the same script played by the kernel's TCP and by the simulator's.

use crate::Failure;
use crate::args::LabScriptArgs;
use crate::output::{self, print};
use crate::outputs::{Ours, Outputs, head};
use forebay_lab::script::outcome::{self, Outcome};
use forebay_lab::script::{ScriptFile, Stage, actors, page, record};
use forebay_script::compare::Comparison;
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

/// How often the kernel may try to send what was recorded.
const TRIES: u32 = 5;

pub(crate) fn run(prefix: &str, args: &LabScriptArgs) -> Result<(), Failure> {
    let mut files = args.scripts.iter().map(|path| ScriptFile::read(path)).collect::<Result<Vec<_>, _>>()?;
    files.sort_by(|one, other| one.name.cmp(&other.name));
    let recorded = args.recorded.as_deref();
    if args.check {
        return check(prefix, &files, recorded);
    }
    let mut outputs = Outputs::new(args.replace.force);
    args.scripts.iter().for_each(|script| outputs.reads(script));
    if let Some(path) = &args.docs {
        outputs.check(path, Ours::Begins(head(&page::page(&[]))))?;
    }
    let stage = if args.simulate { None } else { Some(Stage::make(prefix)?) };
    output::stop_gently();
    let width = files.iter().map(|file| file.name.len()).max().unwrap_or(0);
    // A table shows each script as it is done.
    let show = |text: &str| if args.json { Ok(()) } else { print(text) };
    show(&format!("{:width$}  {:>8}  {:>11}  {:>6}\n", "script", "again", "apart", "window"))?;
    let mut outcomes = Vec::new();
    for file in &files {
        if output::is_interrupted() {
            return Err(Failure::Interrupted);
        }
        let kernel = match &stage {
            None => record::read(file, recorded)?,
            Some(stage) if args.record => {
                let played = record::play_until_stable(stage, file, &output::is_interrupted)?;
                record::keep(file, recorded, played.ok_or(Failure::Interrupted)?)?
            }
            Some(stage) => stage.play(file)?,
        };
        let outcome = Outcome::new(file, kernel)?;
        show(&outcome.line(width))?;
        if args.verbose {
            print(&outcome.excerpt())?;
        }
        outcomes.push(outcome);
    }
    show(&format!("\n{}\n", outcome::summary(&outcomes)))?;
    if args.json {
        output::print_json(&outcomes.iter().map(json).collect())?;
    }
    match &args.docs {
        // It was asked for above: this is the same output again.
        Some(path) => Outputs::new(args.replace.force).write(path, &page::page(&outcomes)),
        None => Ok(()),
    }
}

/// An outcome as a row.
fn json(outcome: &Outcome) -> serde_json::Value {
    let comparison = outcome.simulated.as_ref().ok().map(|(_, comparison)| comparison);
    serde_json::json!({
        "script": outcome.file.name,
        "agrees": outcome.agrees(),
        "verdict": outcome.verdict(),
        "kernel_retransmissions": comparison.map(|of| of.retransmissions[0]),
        "simulator_retransmissions": comparison.map(|of| of.retransmissions[1]),
        "apart_ps": comparison.and_then(|of| of.apart).map(forebay_tm::Duration::ps),
        "window_segments": comparison.map(|of| of.window),
    })
}

/// Whether the kernel sends what was recorded.
fn check(prefix: &str, files: &[ScriptFile], recorded: Option<&Path>) -> Result<(), Failure> {
    let wanted = files.iter().map(|file| record::read(file, recorded)).collect::<Result<Vec<_>, _>>()?;
    let stage = Stage::make(prefix)?;
    output::stop_gently();
    let mut failed = 0;
    for (file, wanted) in files.iter().zip(&wanted) {
        let mut left = TRIES;
        let verdict = loop {
            if output::is_interrupted() {
                return Err(Failure::Interrupted);
            }
            let sent = stage.play(file)?;
            let comparison = Comparison::new(&file.script, wanted, &sent);
            left -= 1;
            if comparison.agrees() || left == 0 {
                failed += usize::from(!comparison.agrees());
                break comparison.verdict(wanted, &sent);
            }
        };
        print(&format!("{}: {verdict}\n", file.name))?;
    }
    if failed == 0 {
        return Ok(());
    }
    let help = "a kernel of another version may send other packets: see `uname -r` and the recorded traces";
    Err(Failure::refused("", format!("the kernel does not send what was recorded of {failed} scripts"), help))
}
