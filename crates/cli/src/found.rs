//! Results in directories: runs, points of sweeps with a run for each seed, and sweeps.

use forebay_results::Table;
use forebay_results::directory::is_run;
use forebay_runner::destination::{SWEEP, point_directories};
use std::path::{Path, PathBuf};

/// What a directory holds.
pub(crate) enum Found {
    Run,
    /// The runs of a point, by seed.
    Point(Vec<PathBuf>),
    /// The points of a sweep, in its order.
    Sweep(Vec<PathBuf>),
    /// Something else.
    Nothing,
}

/// Looks at a directory.
pub(crate) fn look(directory: &Path) -> Found {
    if is_run(directory) {
        return Found::Run;
    }
    let runs = seeds(directory);
    if !runs.is_empty() {
        return Found::Point(runs);
    }
    let points = points(directory);
    if points.is_empty() { Found::Nothing } else { Found::Sweep(points) }
}

/// The directories in a directory, with numbers in their names in the order of numbers.
pub(crate) fn below(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    paths.sort_by_cached_key(|path| natural(&path.to_string_lossy()));
    paths
}

/// A key that sorts "seed2" before "seed10" and "0.25" before "0.5": text, and the numbers in it.
fn natural(name: &str) -> Vec<(String, u64)> {
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let (text, after) = rest.split_at(digits);
        let end = after.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(after.len());
        let (number, after) = after.split_at(end);
        // Numbers that are not below 0 are in the order of their bits.
        parts.push((text.to_owned(), number.parse::<f64>().unwrap_or_default().to_bits()));
        rest = after;
    }
    parts
}

/// The label of a point, which its sweep knows; its directory's name leaves out what file names cannot have.
pub(crate) fn label(point: &Path) -> Option<String> {
    let table = Table::read_parquet(&point.parent()?.join(SWEEP)).ok()?;
    let labels = labels(&table);
    let place = point_directories(labels.iter().copied()).iter().position(|name| point.ends_with(name))?;
    Some(labels[place]).filter(|label| !label.is_empty()).map(str::to_owned)
}

/// The finished runs of a point.
fn seeds(directory: &Path) -> Vec<PathBuf> {
    let is_seed = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("seed"));
    below(directory).into_iter().filter(|path| is_seed(path) && is_run(path)).collect()
}

/// The labels of a sweep's points; a point without one is the only one.
fn labels(table: &Table) -> Vec<&str> {
    let label = |row| table.column("point").and_then(|column| column.text(row)).unwrap_or_default();
    let mut labels: Vec<&str> = (0..table.rows()).map(label).collect();
    // A point has a row for each seed.
    labels.dedup();
    labels
}

/// The points of a sweep with finished runs: those of its table, which knows their order.
fn points(directory: &Path) -> Vec<PathBuf> {
    let Ok(table) = Table::read_parquet(&directory.join(SWEEP)) else { return Vec::new() };
    let paths = point_directories(labels(&table)).into_iter().map(|name| directory.join(name));
    paths.filter(|path| !seeds(path).is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_sorted_as_numbers() {
        let mut names = ["seed10", "seed2", "alpha=0.5", "alpha=16", "alpha=2", "alpha=0.25", "seed"];
        names.sort_by_cached_key(|name| natural(name));
        assert_eq!(names, ["alpha=0.25", "alpha=0.5", "alpha=2", "alpha=16", "seed", "seed2", "seed10"]);
    }
}
