//! The directory of a run.
//!
//! | file | what |
//! |---|---|
//! | `summary.json` | [`Summary`], with the seed and the version |
//! | `scenario.toml` | the scenario as it was resolved |
//! | `flows.parquet` | [`crate::flows`] |
//! | `queries.parquet` | [`crate::queries`] |
//! | `collectives.parquet` | [`crate::collectives`] |
//! | `breakdown.parquet`, `hops.parquet` | [`crate::breakdown`] |
//! | `topology.parquet` | [`crate::topology`] |
//! | `buffers.parquet`, `ports.parquet`, `queues.parquet` | [`crate::places`] |
//! | `drops.parquet`, `holders.parquet`, `losses.parquet` | [`crate::drops`] |
//! | `responses.parquet` | [`crate::responses`] |
//! | `timeline.parquet` | [`crate::timeline`] |
//! | `queue_timeline.parquet` | [`crate::queue_timeline`] |
//! | `progress.parquet` | [`crate::progress`] |
//! | `chips.parquet`, `controls.parquet` | [`crate::chips`] |
//! | `pauses.parquet`, `paused.parquet`, `storms.parquet`, `victims.parquet`, `deadlocks.parquet` | [`crate::pauses`] |
//!
//! On request, every table is there as CSV, too. What can be written is, even if something else cannot. `summary.json`
//! is removed first and written last, after the scenario: a directory that has one is a whole result, and nothing in it
//! is of an older one.

use crate::error::ResultError;
use crate::file::write_text;
use crate::samples::{SAMPLE_TABLES, Samples};
use crate::summary::{Summary, summarize};
use crate::table::Table;
use crate::{
    breakdown, chips, collectives, drops, flows, pauses, places, progress, queries, queue_timeline, responses,
    timeline, topology,
};
use forebay_sim::measure::RunResult;
use forebay_sim::scenario::Scenario;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The file that makes a directory a result.
pub const SUMMARY: &str = "summary.json";
/// The resolved scenario.
pub const SCENARIO: &str = "scenario.toml";

/// How a table is made.
type MakeTable = fn(&Scenario, &RunResult) -> Table;

/// The tables of a run, by the names of their files.
const TABLES: [(&str, MakeTable); 23] = [
    ("flows", flows::table),
    ("queries", queries::table),
    ("collectives", collectives::table),
    ("breakdown", breakdown::table),
    ("hops", breakdown::hops),
    ("topology", topology::table),
    ("buffers", places::buffers),
    ("ports", places::ports),
    ("queues", places::queues),
    ("drops", drops::table),
    ("holders", drops::holders),
    ("losses", drops::losses),
    ("responses", responses::table),
    ("timeline", timeline::table),
    ("queue_timeline", queue_timeline::table),
    ("progress", progress::table),
    ("chips", chips::table),
    ("controls", chips::controls),
    ("pauses", pauses::requests),
    ("paused", pauses::paused),
    ("storms", pauses::storms),
    ("victims", pauses::victims),
    ("deadlocks", pauses::deadlocks),
];

/// A table of a run, by the name of its file without the ending; `None` if there is no such table.
pub fn table(name: &str, scenario: &Scenario, result: &RunResult) -> Option<Table> {
    let (_, make) = TABLES.iter().find(|(known, _)| *known == name)?;
    Some(make(scenario, result))
}

/// The names of all files that a run's directory can have, but for what is beside the tables and the summary.
pub fn file_names() -> impl Iterator<Item = String> {
    let tables = TABLES.iter().flat_map(|(name, _)| ["parquet", "csv"].map(|end| format!("{name}.{end}")));
    tables.chain([SCENARIO, SUMMARY].map(str::to_owned))
}

/// Writes the directory of a run, which is made if it is not there, and returns the summary. `scenario_text` is the
/// resolved scenario as TOML.
pub fn write_run(
    directory: &Path,
    scenario: &Scenario,
    scenario_text: &str,
    result: &RunResult,
    csv: bool,
) -> Result<Summary, ResultError> {
    let summary = summarize(scenario, result);
    write_summarized_run(directory, &summary, scenario, scenario_text, result, csv)?;
    Ok(summary)
}

/// [`write_run`] with a summary to which something was added, such as loads.
pub fn write_summarized_run(
    directory: &Path,
    summary: &Summary,
    scenario: &Scenario,
    scenario_text: &str,
    result: &RunResult,
    csv: bool,
) -> Result<(), ResultError> {
    write_parts(directory, summary, scenario_text, csv, |name| table(name, scenario, result))
}

/// Writes the directory of a run of which nothing but the summary and the scenario is kept.
pub fn write_summary(directory: &Path, summary: &Summary, scenario_text: &str) -> Result<(), ResultError> {
    write_parts(directory, summary, scenario_text, false, |_| None)
}

/// [`write_summarized_run`] of a run whose samples were written as it took them.
pub fn write_sampled_run(
    directory: &Path,
    summary: &Summary,
    scenario: &Scenario,
    scenario_text: &str,
    result: &RunResult,
    samples: Samples<'_>,
    csv: bool,
) -> Result<(), ResultError> {
    fs::create_dir_all(directory).map_err(|error| ResultError::cannot_write(directory, &error))?;
    remove(&directory.join(SUMMARY))?;
    let sampled = samples.finish();
    let others = |name: &str| if SAMPLE_TABLES.contains(&name) { None } else { table(name, scenario, result) };
    match sampled {
        Ok(()) => write_parts(directory, summary, scenario_text, csv, others),
        Err(error) => {
            // What else there is is kept, without the summary that would call it whole.
            write_tables(directory, csv, others).and(write_text(&directory.join(SCENARIO), scenario_text)).ok();
            Err(error)
        }
    }
}

/// Writes everything, the summary last.
fn write_parts(
    directory: &Path,
    summary: &Summary,
    scenario_text: &str,
    csv: bool,
    table: impl Fn(&str) -> Option<Table>,
) -> Result<(), ResultError> {
    fs::create_dir_all(directory).map_err(|error| ResultError::cannot_write(directory, &error))?;
    let summary_path = directory.join(SUMMARY);
    remove(&summary_path)?;
    let tables = write_tables(directory, csv, table);
    tables.and(write_text(&directory.join(SCENARIO), scenario_text))?;
    write_text(&summary_path, &summary.to_json())
}

/// Writes all tables that there are. One that cannot be written does not keep the others from it; the first error is
/// returned.
fn write_tables(directory: &Path, csv: bool, table: impl Fn(&str) -> Option<Table>) -> Result<(), ResultError> {
    let mut done = Ok(());
    for (name, _) in TABLES {
        let Some(table) = table(name) else { continue };
        let csv_path = directory.join(format!("{name}.csv"));
        let parquet = table.write_parquet(&directory.join(format!("{name}.parquet")));
        let text = if csv { table.write_csv(&csv_path) } else { remove(&csv_path) };
        done = done.and(parquet).and(text);
    }
    done
}

/// Removes a file of an older result, if there is one.
pub fn remove(path: &Path) -> Result<(), ResultError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(ResultError::cannot_write(path, &error)),
        _ => Ok(()),
    }
}

/// Whether the tables of a run were kept, as Parquet or as CSV, too.
pub fn has_tables(directory: &Path, csv: bool) -> bool {
    directory.join(if csv { "flows.csv" } else { "flows.parquet" }).is_file()
}

/// Whether a directory holds a whole result.
pub fn is_run(directory: &Path) -> bool {
    directory.join(SUMMARY).is_file()
}

/// The directory of a run: its summary, and its tables when they are asked for.
#[derive(Clone, Debug)]
pub struct RunDirectory {
    /// Where it is.
    pub path: PathBuf,
    /// The summary.
    pub summary: Summary,
}

/// Reads the directory of a run.
pub fn read_run(directory: &Path) -> Result<RunDirectory, ResultError> {
    let not_a_result = |problem: &str| ResultError {
        path: directory.to_owned(),
        problem: problem.to_owned(),
        remedy: "give a directory that `forebay run` or `forebay sweep` has written".to_owned(),
    };
    if !directory.exists() {
        return Err(not_a_result("there is no such directory"));
    }
    if !directory.is_dir() {
        return Err(not_a_result("not a directory"));
    }
    let path = directory.join(SUMMARY);
    let text = fs::read_to_string(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => not_a_result("not the result of a finished run: it has no summary.json"),
        _ => ResultError::cannot_read(&path, &error),
    })?;
    let summary = Summary::from_json(&text).map_err(|problem| ResultError {
        path,
        problem: format!("not the summary of a run: {problem}"),
        remedy: "make the result again with `forebay run`".to_owned(),
    })?;
    Ok(RunDirectory { path: directory.to_owned(), summary })
}

impl RunDirectory {
    /// Reads a table by the name of its file, without the ending. It has the columns that a table of this name has.
    pub fn table(&self, name: &str) -> Result<Table, ResultError> {
        let path = self.path.join(format!("{name}.parquet"));
        let table = Table::read_parquet(&path)?;
        let schema = crate::schema::TABLES.iter().find(|schema| schema.name == name);
        match schema.and_then(|schema| schema.missing(&table)) {
            Some(column) => {
                let problem = format!("it has no column \"{column}\" as a table of {name} has");
                Err(ResultError::cannot_read(&path, &problem))
            }
            None => Ok(table),
        }
    }

    /// Reads the table of flows.
    pub fn flows(&self) -> Result<Table, ResultError> {
        self.table("flows")
    }

    /// Reads the table of queries.
    pub fn queries(&self) -> Result<Table, ResultError> {
        self.table("queries")
    }

    /// Reads the table of buffers, ports and queues.
    pub fn queues(&self) -> Result<Table, ResultError> {
        self.table("queues")
    }

    /// Reads the table of occupancy over time.
    pub fn timeline(&self) -> Result<Table, ResultError> {
        self.table("timeline")
    }

    /// Reads the table of queue lengths over time.
    pub fn queue_timeline(&self) -> Result<Table, ResultError> {
        self.table("queue_timeline")
    }

    /// Reads the table of how far flows have come over time.
    pub fn progress(&self) -> Result<Table, ResultError> {
        self.table("progress")
    }

    /// Reads the resolved scenario.
    pub fn scenario_text(&self) -> Result<String, ResultError> {
        let path = self.path.join(SCENARIO);
        fs::read_to_string(&path).map_err(|error| ResultError::cannot_read(&path, &error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    fn files(directory: &Path) -> Vec<(String, Vec<u8>)> {
        let mut files: Vec<(String, Vec<u8>)> = fs::read_dir(directory)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(&path).unwrap()))
            .collect();
        files.sort();
        files
    }

    #[test]
    fn what_was_written_is_read() {
        let (scenario, result) = testing::busy(8, 1);
        let root = tempfile::tempdir().unwrap();
        let directory = root.path().join("runs/first");
        let summary = write_run(&directory, &scenario, "name = \"small\"\n", &result, false).unwrap();
        assert!(is_run(&directory));
        let run = read_run(&directory).unwrap();
        assert_eq!(run.summary, summary);
        assert_eq!(run.flows().unwrap(), flows::table(&scenario, &result));
        assert_eq!(run.queries().unwrap(), queries::table(&scenario, &result));
        assert_eq!(run.queues().unwrap(), places::queues(&scenario, &result));
        assert_eq!(run.timeline().unwrap(), timeline::table(&scenario, &result));
        assert_eq!(run.queue_timeline().unwrap(), queue_timeline::table(&scenario, &result));
        assert_eq!(run.progress().unwrap(), progress::table(&scenario, &result));
        assert_eq!(run.scenario_text().unwrap(), "name = \"small\"\n");
    }

    #[test]
    fn the_same_run_gives_the_same_bytes_in_every_file() {
        let (scenario, result) = testing::busy(8, 1);
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str| {
            write_run(&root.path().join(name), &scenario, "", &result, true).unwrap();
            files(&root.path().join(name))
        };
        let first = write("a");
        let mut expected: Vec<String> = file_names().collect();
        expected.sort();
        assert!(first.iter().map(|(name, _)| name).eq(&expected));
        assert_eq!(expected.len(), 2 * TABLES.len() + 2);
        assert_eq!(first, write("b"));
        // Over an older result, too.
        assert_eq!(first, write("a"));
    }

    #[test]
    fn nothing_of_an_older_result_is_left() {
        let (scenario, result) = testing::busy(8, 1);
        let root = tempfile::tempdir().unwrap();
        write_run(root.path(), &scenario, "", &result, true).unwrap();
        write_run(root.path(), &scenario, "", &result, false).unwrap();
        assert!(files(root.path()).iter().all(|(name, _)| !name.ends_with(".csv")));
    }

    #[test]
    fn a_result_that_cannot_be_written_whole_is_none() {
        let (scenario, result) = testing::busy(8, 1);
        let root = tempfile::tempdir().unwrap();
        write_run(root.path(), &scenario, "", &result, false).unwrap();
        fs::remove_file(root.path().join("queues.parquet")).unwrap();
        fs::create_dir(root.path().join("queues.parquet")).unwrap();
        let error = write_run(root.path(), &scenario, "", &result, false).unwrap_err();
        assert!(error.path.ends_with("queues.parquet"), "{error}");
        assert!(!is_run(root.path()));
    }

    #[test]
    fn errors_tell_what_is_wrong_with_a_directory() {
        let root = tempfile::tempdir().unwrap();
        let problem = |path: &Path| read_run(path).unwrap_err().to_string();
        assert!(problem(&root.path().join("none")).contains("none: there is no such directory; give a directory"));
        assert!(problem(root.path()).contains("it has no summary.json"));
        let file = root.path().join(SUMMARY);
        fs::write(&file, "{\"run\": 1}").unwrap();
        assert!(problem(&file).contains("not a directory"));
        assert!(problem(root.path()).contains(
            "summary.json: not the summary of a run: run: invalid type: integer `1`, expected struct RunInfo"
        ));
        let (scenario, result) = testing::busy(8, 1);
        write_run(root.path(), &scenario, "", &result, false).unwrap();
        fs::remove_file(root.path().join("flows.parquet")).unwrap();
        let error = read_run(root.path()).unwrap().flows().unwrap_err();
        assert!(error.to_string().contains("flows.parquet: cannot read it"), "{error}");
    }
}
