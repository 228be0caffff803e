//! Sweeps in parts, into a directory that they share.

use crate::runs::{file, plan, tables};
use forebay_runner::ScenarioFile;
use forebay_runner::run::Keep;
use forebay_runner::shard::Shard;
use forebay_runner::store::Store;
use forebay_runner::sweep::{Done, Job, Sweep, run_all, run_to_directory};
use std::path::Path;

fn alphas() -> Sweep {
    plan(&[("policy.alpha", &["0.25", "4"])], "1-2").unwrap()
}

/// Runs a part, and says how many of its runs were finished before.
fn part(sweep: &Sweep, out: &Path, shard: Shard, keep: Keep) -> usize {
    let (file, all) = (file(), sweep.jobs(out));
    let store = Store::new(&file, out);
    let own = all.iter().enumerate().filter(|(number, _)| shard.has(*number)).map(|(_, job)| job);
    own.filter(|job| store.run(job, keep, false, &|| false).unwrap().unwrap().before).count()
}

fn found(sweep: &Sweep, out: &Path, keep: Keep) -> Vec<Option<Done>> {
    let file = file();
    let store = Store::new(&file, out);
    let find = |job: &Job| store.find(job, keep).unwrap().map(|summary| Done { summary, before: true });
    sweep.jobs(out).iter().map(find).collect()
}

fn count(out: &Path, sweep: &Sweep, keep: Keep) -> usize {
    found(sweep, out, keep).iter().flatten().count()
}

#[test]
fn parts_come_to_the_table_of_one_machine() {
    let (sweep, root) = (alphas(), tempfile::tempdir().unwrap());
    let (here, apart) = (root.path().join("here"), root.path().join("apart"));
    let local = sweep.jobs(&here);
    let to_directory = |job: &Job| run_to_directory(&file(), job, Keep::Tables, false, &|| false);
    let results = run_all(&local, 1, &|| false, &|_| {}, &to_directory).unwrap();
    let table = |jobs: &[Job], results| tables(&sweep, jobs, results);
    // The first part twice at the same time: both have the same, and none is in the other's way.
    std::thread::scope(|scope| {
        for index in [0, 0, 2] {
            let (sweep, apart) = (&sweep, &apart);
            scope.spawn(move || part(sweep, apart, Shard { index, of: 3 }, Keep::Tables));
        }
    });
    assert_eq!(count(&apart, &sweep, Keep::Tables), 3, "the second part is missing");
    assert_eq!(part(&sweep, &apart, Shard { index: 1, of: 3 }, Keep::Tables), 0);
    let jobs = sweep.jobs(&apart);
    assert_eq!(table(&jobs, found(&sweep, &apart, Keep::Tables)), table(&local, results));
    for (own, other) in local.iter().zip(&jobs) {
        let read = |job: &Job| std::fs::read(job.directory.join("flows.parquet")).unwrap();
        assert_eq!(read(own), read(other));
    }
    // Nothing is done twice, here or there.
    assert_eq!(part(&sweep, &apart, Shard::ALL, Keep::Tables), 4);
    assert!(jobs.iter().all(|job| to_directory(job).unwrap().unwrap().before));
    assert_eq!(part(&sweep, &here, Shard::ALL, Keep::Tables), 4);
}

#[test]
fn names_say_what_results_are_made_of() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("flows.csv");
    let named = ScenarioFile { name: root.path().join("a.toml").display().to_string(), text: String::new() };
    let resolved = "name = \"small\"\nfile = \"flows.csv\"\n";
    let key = |text: &str| Store::new(&named, root.path()).key(text).unwrap();
    let without = key(resolved);
    std::fs::write(&path, "1").unwrap();
    let one = key(resolved);
    std::fs::write(&path, "2").unwrap();
    let two = key(resolved);
    assert!(without != one && one != two && two == key(resolved));
    assert_ne!(key("seed = 1\n"), key("seed = 2\n"));
}

#[test]
fn what_is_damaged_or_less_than_wanted_is_made_again() {
    let (sweep, root) = (alphas(), tempfile::tempdir().unwrap());
    let out = root.path();
    assert_eq!(part(&sweep, out, Shard::ALL, Keep::Summary), 0);
    assert_eq!((count(out, &sweep, Keep::Summary), count(out, &sweep, Keep::Tables)), (4, 0));
    assert_eq!(part(&sweep, out, Shard::ALL, Keep::Tables), 0);
    assert_eq!(count(out, &sweep, Keep::Tables), 4);
    let jobs = sweep.jobs(out);
    std::fs::write(jobs[1].directory.join("summary.json"), "{").unwrap();
    assert_eq!(count(out, &sweep, Keep::Tables), 3);
    assert_eq!(part(&sweep, out, Shard::ALL, Keep::Tables), 3);
    // A run on this machine does not write into the store through a link.
    std::fs::remove_file(jobs[0].directory.join("summary.json")).unwrap();
    assert!(jobs[0].directory.is_symlink());
    run_to_directory(&file(), &jobs[0], Keep::Tables, false, &|| false).unwrap().unwrap();
    assert!(!jobs[0].directory.is_symlink() && jobs[0].directory.join("summary.json").is_file());
    assert_eq!(count(out, &sweep, Keep::Tables), 4);
    // What a process that was killed has left.
    let left = std::fs::read_dir(out.join("runs")).unwrap().next().unwrap().unwrap().path().join(".forebay-left");
    std::fs::create_dir(&left).unwrap();
    let file = file();
    Store::new(&file, out).tidy();
    assert!(!left.exists() && count(out, &sweep, Keep::Tables) == 4);
}

#[test]
fn a_part_that_is_stopped_leaves_nothing_half() {
    let (sweep, root) = (alphas(), tempfile::tempdir().unwrap());
    let file = file();
    let store = Store::new(&file, root.path());
    let mut job = sweep.jobs(root.path()).remove(0);
    job.sets.push(("workload.0.bytes".to_owned(), "\"20MB\"".to_owned()));
    assert!(store.run(&job, Keep::Tables, false, &|| true).unwrap().is_none());
    let shelves = std::fs::read_dir(root.path().join("runs")).unwrap();
    assert!(shelves.flatten().all(|shelf| std::fs::read_dir(shelf.path()).unwrap().next().is_none()));
    assert_eq!(count(root.path(), &sweep, Keep::Summary), 0);
}
