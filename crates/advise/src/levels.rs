//! Which switches of a scenario are those of the configuration under advice: the ones that are made from the same file.
//! Others stay as they are.

use crate::measured::told;
use forebay_settings::{Diagnostic, Document, Table};
use forebay_sonic::SonicError;
use std::path::Path;

/// The tables of a scenario that the configuration goes to: those that name its file by `sonic`; if none does,
/// `[switch]`, unless that names another file.
pub(super) fn tables_of(file: &str, text: &str, config: &str) -> Result<Vec<String>, SonicError> {
    let named = named(file, text).map_err(|error| told(&error))?;
    let is_same = |path: &Path| same_file(path, Path::new(config));
    let same: Vec<String> = named.iter().filter(|(_, path)| is_same(path)).map(|(table, _)| table.clone()).collect();
    if !same.is_empty() {
        return Ok(same);
    }
    match named.iter().find(|(table, _)| table == "switch") {
        None => Ok(vec!["switch".to_owned()]),
        Some((_, other)) => Err(elsewhere(file, config, &format!("[switch] is made from {}", other.display()))),
    }
}

/// No switch of the scenario is that of the configuration.
pub(super) fn elsewhere(file: &str, config: &str, why: &str) -> SonicError {
    let problem = format!("no switch of the scenario is made from {config}: {why}");
    let remedy = format!("write sonic = with the path of {config} in the table of the switches that the advice is for");
    SonicError::new(file, problem, remedy)
}

/// Tables with `sonic`, and the paths that they name.
fn named(file: &str, text: &str) -> Result<Vec<(String, std::path::PathBuf)>, Diagnostic> {
    let document = Document::parse(file, text)?;
    let root = document.root();
    let mut named = vec![];
    let mut look = |name: String, table: &Table<'_>| -> Result<(), Diagnostic> {
        if let Some(value) = table.get("sonic") {
            named.push((name, value.directory().join(value.text()?)));
        }
        Ok(())
    };
    if let Some(table) = root.table("switch")? {
        look("switch".to_owned(), &table)?;
    }
    for level in ["tier", "switches"] {
        let Some(outer) = root.table(level)? else { continue };
        for name in outer.keys() {
            if let Some(table) = outer.table(name)? {
                look(format!("{level}.{name}"), &table)?;
            }
        }
    }
    Ok(named)
}

fn same_file(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => std::path::absolute(one).ok() == std::path::absolute(other).ok(),
    }
}
