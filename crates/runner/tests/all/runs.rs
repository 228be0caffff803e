//! Runs and sweeps.

use forebay_results::Table;
use forebay_runner::run::{Keep, simulate, simulate_in_memory, summarize_run};
use forebay_runner::sweep::{
    self, Checked, Dimension, Done, Job, Sweep, Tables, run_all, run_in_memory, run_to_directory,
};
use forebay_runner::{Error, ScenarioFile};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

const SCENARIO: &str = r#"
name = "small"
duration = "500us"
topology = { kind = "single", hosts = 4, rate = "10Gbps", delay = "1us" }
switch = { buffer = "60KB" }
policy = { kind = "dt", alpha = 0.5 }
transport.dctcp = {}
measure = { timeline = "all", queues = "all", progress = "all", sample = "1us", trace_flows = [0] }
[[workload]]
kind = "permutation"
bytes = "200KB"
transport = "dctcp"
"#;

pub(crate) fn file() -> ScenarioFile {
    ScenarioFile { name: "small.toml".to_owned(), text: SCENARIO.to_owned() }
}

/// All files of a directory but the summary, which has what the run cost.
fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    let named = entries.map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap()));
    named.filter(|(name, _)| name != "summary.json").collect()
}

#[test]
fn samples_in_memory_and_in_files_give_the_same_bytes() {
    let prepared = file().prepare(&[]).unwrap();
    let root = tempfile::tempdir().unwrap();
    let (streamed, kept) = (root.path().join("streamed"), root.path().join("kept"));
    simulate(&prepared, &streamed, true, 1, &mut |_| true).write(&prepared, &streamed, true).unwrap();
    let run = simulate_in_memory(&prepared, 1, &mut |_| true);
    run.write(&prepared, &kept, true).unwrap();
    assert!(files(&streamed).contains_key("trace.pcapng"));
    assert_eq!(files(&streamed), files(&kept));
    assert!(run.table(&prepared, "queue_timeline").unwrap().rows() > 1_000);
    assert!(run.table(&prepared, "nothing").is_none());
    let mut alone = summarize_run(&prepared, &mut |_| true);
    alone.cost = run.summary.cost;
    assert_eq!(alone, run.summary);
}

pub(crate) fn plan(grid: &[(&str, &[&str])], seeds: &str) -> Result<Sweep, Error> {
    let dimension = |(key, values): &(&str, &[&str])| Dimension {
        given: format!("grid {key}"),
        argument: "grid",
        key: (*key).to_owned(),
        values: values.iter().map(|value| (*value).to_owned()).collect(),
    };
    let grid: Vec<Dimension> = grid.iter().map(dimension).collect();
    Sweep::plan(&file(), Vec::new(), None, &grid, Some(sweep::parse_seeds("seeds", seeds, &[])?), Checked::Scenarios)
}

/// The tables of a sweep, as they are compared.
pub(crate) fn tables(sweep: &Sweep, jobs: &[Job], results: Vec<Option<Done>>) -> [Table; 2] {
    let Tables { runs, points, .. } = Tables::new(&sweep.points, sweep::summaries(jobs, results));
    [runs, points]
}

fn run(jobs: &[Job], threads: usize, one: &(dyn Fn(&Job) -> Result<Option<Done>, Error> + Sync)) -> Vec<Option<Done>> {
    run_all(jobs, threads, &|| false, &|_| {}, one).unwrap()
}

#[test]
fn threads_and_directories_change_no_table() {
    let sweep = plan(&[("policy.alpha", &["0.25", "4"])], "1-2").unwrap();
    let root = tempfile::tempdir().unwrap();
    let jobs = sweep.jobs(root.path());
    assert_eq!((jobs.len(), jobs[3].label.as_str()), (4, "alpha=4 seed 2"));
    let to_directory = |job: &Job| run_to_directory(&file(), job, Keep::Tables, false, &|| false);
    let kept = run(&jobs, 2, &to_directory);
    let in_memory = run(&jobs, 1, &|job| run_in_memory(&file(), job, &|| false));
    let table = |results: &[Option<Done>]| tables(&sweep, &jobs, results.to_vec());
    assert_eq!(table(&kept), table(&in_memory));
    let again = run(&jobs, 1, &to_directory);
    assert!(again.iter().flatten().all(|done| done.before) && kept.iter().flatten().all(|done| !done.before));
}

#[test]
fn a_sweep_that_is_stopped_has_what_was_finished() {
    let sweep = plan(&[], "1-5").unwrap();
    let jobs = sweep.jobs(Path::new(""));
    let finished = AtomicUsize::new(0);
    let stopped = || finished.load(Ordering::Relaxed) == 2;
    let count = |_: &Job| {
        finished.fetch_add(1, Ordering::Relaxed);
    };
    let results = run_all(&jobs, 1, &stopped, &count, &|job| run_in_memory(&file(), job, &|| false)).unwrap();
    assert_eq!(results.iter().map(Option::is_some).collect::<Vec<_>>(), [true, true, false, false, false]);
}

#[test]
fn errors_name_what_was_given() {
    let text = |sweep: Result<Sweep, Error>| sweep.map_err(|error| error.to_string()).unwrap_err();
    assert!(text(plan(&[("seed", &["1"])], "1")).starts_with("error: grid seed: seeds are not a dimension"));
    assert!(text(plan(&[("policy.alpha", &["1", "1"])], "1")).contains("1 is there twice"));
    assert!(text(plan(&[], "3-1")).starts_with("error: seeds 3-1: these are not seeds\n  help: write 1-5"));
    assert!(text(plan(&[], "1-20000")).contains("give at most 10000 seeds"));
    assert!(text(plan(&[], "1,2,1")).contains("seed 1 is there twice"));
    let sweep = plan(&[("policy.alpha", &["1", "-2"])], "1").unwrap();
    let error = sweep.prepare(&file(), &sweep.jobs(Path::new(""))[1].sets).map(drop).unwrap_err().to_string();
    assert!(error.starts_with("error: grid \"policy.alpha=-2\": policy.alpha: "), "{error}");
    let mut many = sweep;
    many.seeds = (0..60_000).collect();
    assert!(many.check_size().unwrap_err().to_string().starts_with("error: these are 120000 runs\n"));
}
