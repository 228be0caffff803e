//! Recorded traces: what the kernel sent, kept as text beside the scripts.

use super::{ScriptFile, Stage};
use crate::error::{self, Result};
use crate::program::run;
use forebay_script::compare::Comparison;
use forebay_script::trace::Trace;
use std::path::{Path, PathBuf};

/// Runs that must have sent the same.
const ENOUGH: usize = 3;
/// Runs that there are at most.
const MOST: usize = 7;

/// Where the recorded trace of a script is.
pub fn path_of(file: &ScriptFile, directory: Option<&Path>) -> PathBuf {
    let beside = || file.path.parent().unwrap_or(Path::new("")).join("recorded");
    directory.map_or_else(beside, Path::to_owned).join(format!("{}.txt", file.name))
}

/// Plays a script until enough runs agree with each other. Returns the first of these, or of the most that agree, and
/// how many of how many did; none if `is_stopped` says so.
pub fn play_until_stable(
    stage: &Stage,
    file: &ScriptFile,
    is_stopped: &dyn Fn() -> bool,
) -> Result<Option<(Trace, String)>> {
    // Traces that differ, with how often each came.
    let mut kinds: Vec<(Trace, usize)> = Vec::new();
    let mut runs = 0;
    while runs < MOST && kinds.iter().all(|(_, count)| *count < ENOUGH) {
        let trace = stage.play(file)?;
        if is_stopped() {
            return Ok(None);
        }
        runs += 1;
        match kinds.iter_mut().find(|(before, _)| Comparison::new(&file.script, before, &trace).agrees()) {
            Some((_, count)) => *count += 1,
            None => kinds.push((trace, 1)),
        }
    }
    kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let (trace, count) = kinds.swap_remove(0);
    Ok(Some((trace, format!("{count} of {runs} runs"))))
}

/// Reads the recorded trace of a script.
pub fn read(file: &ScriptFile, directory: Option<&Path>) -> Result<Trace> {
    let path = path_of(file, directory);
    let text = std::fs::read_to_string(&path).map_err(|error| {
        let problem = format!("{}: cannot read the recorded trace: {error}", path.display());
        error::problem(problem, format_args!("record it, as root: forebay lab script --record {}", file.path.display()))
    })?;
    Trace::parse(&text).map_err(|problem| {
        error::problem(format_args!("{}: {problem}", path.display()), "record it again with --record")
    })
}

/// Keeps a trace, and how many runs agreed on it, as the recorded one. Returns it with what is said about it.
pub fn keep(file: &ScriptFile, directory: Option<&Path>, (mut trace, agreement): (Trace, String)) -> Result<Trace> {
    let kernel = run("uname", &["-srm"], "")?.trim().to_owned();
    let about = [("script", file.name.clone()), ("kernel", kernel), ("agreement", agreement)];
    trace.about = about.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    let path = path_of(file, directory);
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(|error| error::of_file(parent, "make", &error))?;
    }
    std::fs::write(&path, trace.to_string()).map_err(|error| error::of_file(&path, "write", &error))?;
    Ok(trace)
}
