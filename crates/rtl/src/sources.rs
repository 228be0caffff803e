//! The Verilog files, as they were when this was built.

use crate::tools::{Problem, file_problem};
use std::path::Path;

macro_rules! sources {
    ($($name:literal),* $(,)?) => { &[$(($name, include_str!(concat!("../../../rtl/", $name, ".v")))),*] };
}

/// Every module with its text; each stands in a file of its name.
pub const SOURCES: &[(&str, &str)] = sources![
    "abm_threshold",
    "counters",
    "enqueue",
    "factor",
    "fb_threshold",
    "first_one",
    "fits",
    "free_list",
    "memory",
    "occamy",
    "occamy_arbiter",
    "occamy_executor",
    "occamy_selector",
    "occamy_threshold",
    "product",
    "queues",
    "round_robin",
    "saturating_shift",
];

/// Writes all of them into a directory. Those that are there already and the same are not touched.
pub fn write(directory: &Path) -> Result<(), Problem> {
    std::fs::create_dir_all(directory).map_err(|error| file_problem(directory, &error))?;
    for (name, text) in SOURCES {
        let file = directory.join(format!("{name}.v"));
        if std::fs::read_to_string(&file).is_ok_and(|there| there == *text) {
            continue;
        }
        std::fs::write(&file, text).map_err(|error| file_problem(&file, &error))?;
    }
    Ok(())
}

/// Lines that are neither empty nor comments, of a module and of all that it is made of.
pub fn lines(module: &str) -> usize {
    let mut modules = vec![module];
    let mut count = 0;
    for at in 0.. {
        let Some(module) = modules.get(at).copied() else { break };
        let text = SOURCES.iter().find(|(name, _)| *name == module).map_or("", |(_, text)| text);
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")) {
            count += 1;
            // An instance begins with the name of its module.
            let first = line.split([' ', '(']).next();
            let part = SOURCES.iter().map(|(name, _)| *name).find(|name| Some(*name) == first);
            modules.extend(part.filter(|part| !modules.contains(part)));
        }
    }
    count
}
