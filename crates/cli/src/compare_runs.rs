//! `forebay compare`: results side by side.

use crate::Failure;
use crate::args::CompareArgs;
use crate::found::{Found, look};
use crate::output::print;
use forebay_results::Summary;
use forebay_results::compare::{compare_all, compare_json};
use forebay_results::directory::read_run;
use std::path::Path;

pub(crate) fn run(args: &CompareArgs) -> Result<(), Failure> {
    let sides = args.results.iter().map(|path| summaries(path)).collect::<Result<Vec<_>, _>>()?;
    let places: Vec<String> = args.results.iter().map(|path| path.display().to_string()).collect();
    print(&if args.json { compare_json(&places, &sides) } else { compare_all(&places, &sides) })
}

/// The summary of a run, or those of the seeds of a point of a sweep.
fn summaries(directory: &Path) -> Result<Vec<Summary>, Failure> {
    match look(directory) {
        Found::Point(seeds) => seeds.iter().map(|path| Ok(read_run(path)?.summary)).collect(),
        Found::Sweep(points) => match points.as_slice() {
            [only] => summaries(only),
            points => {
                let names: Vec<String> = points.iter().take(5).map(|path| path.display().to_string()).collect();
                let more = if points.len() > names.len() { ", ..." } else { "" };
                let problem = format!("this is a sweep of {} points", points.len());
                let help = format!("give one of its points: {}{more}", names.join(", "));
                Err(Failure::refused(directory.display(), problem, help))
            }
        },
        // What is nothing is told by what is missing.
        Found::Run | Found::Nothing => Ok(vec![read_run(directory)?.summary]),
    }
}
