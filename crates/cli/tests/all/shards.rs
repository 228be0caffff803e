//! `forebay sweep` and `forebay reproduce` in parts.

use crate::commands::{json, printed, refused};
use crate::simulation::{directory, files, forebay};
use std::path::{Path, PathBuf};

const SWEEP: &str = "sweep small.toml --grid policy.alpha=0.5,1,2 --seeds 1-3";

#[test]
fn parts_at_the_same_time_make_the_pages_of_one_machine() {
    let root = directory();
    let at = root.path();
    let local = printed(at, &format!("{SWEEP} --out local"));
    std::thread::scope(|scope| {
        for part in ["1/3", "3/3"] {
            scope.spawn(move || printed(at, &format!("{SWEEP} --out parts --jobs 1 --shard {part}")));
        }
    });
    let merge = forebay(at, &format!("{SWEEP} --out parts --merge"));
    let said = String::from_utf8(merge.stdout).unwrap();
    assert_eq!(merge.status.code(), Some(1), "{said}");
    assert!(
        said.ends_with("3 of 9 runs are missing:\n  alpha=0.5 seed 2\n  alpha=1 seed 2\n  alpha=2 seed 2\n"),
        "{said}"
    );
    let part = json(at, &format!("{SWEEP} --out parts --shard 2/3 --json"));
    assert_eq!(
        (part["runs"].as_u64(), part["finished"].as_u64(), part["before"].as_u64()),
        (Some(3), Some(3), Some(0))
    );
    let merged = printed(at, &format!("{SWEEP} --out parts --merge"));
    assert_eq!(merged.replace("parts", "local"), local);
    for name in ["sweep.parquet", "sweep.csv", "report.html", "alpha=1/seed2/flows.parquet"] {
        assert!(
            std::fs::read(at.join("local").join(name)).unwrap() == std::fs::read(at.join("parts").join(name)).unwrap(),
            "{name}"
        );
    }
    // Nothing is made again, by a part or by one machine; and one that is alone finds what parts have made.
    assert!(
        printed(at, &format!("{SWEEP} --out parts --shard 1/1"))
            .starts_with("part 1 of 1: 9 of its 9 runs are finished, 9 of them before")
    );
    let again = printed(at, &format!("{SWEEP} --out parts"));
    assert!(again.ends_with("9 of 9 runs were finished before and not run again\n"), "{again}");
    printed(at, "compare parts/alpha=0.5 parts/alpha=2");
}

#[test]
fn summaries_are_enough_for_the_table() {
    let root = directory();
    let at = root.path();
    printed(at, &format!("{SWEEP} --out local"));
    printed(at, &format!("{SWEEP} --out parts --summaries --shard 1/1"));
    let merged = printed(at, &format!("{SWEEP} --out parts --summaries --merge"));
    assert!(!merged.contains("report:"), "{merged}");
    assert!(
        std::fs::read(at.join("local/sweep.parquet")).unwrap()
            == std::fs::read(at.join("parts/sweep.parquet")).unwrap()
    );
    assert_eq!(files(&at.join("parts/runs")).len(), 18);
    // Tables are wanted now: they are not there.
    assert_eq!(forebay(at, &format!("{SWEEP} --out parts --merge")).status.code(), Some(2));
}

#[test]
fn a_reproduction_in_parts() {
    let root = directory();
    let at = root.path();
    let chosen = "reproduce --quick fb/fig4 fb/fig5";
    let local = printed(at, &format!("{chosen} --out local"));
    printed(at, &format!("{chosen} --out pieces --shard 1/2"));
    assert_eq!(forebay(at, &format!("{chosen} --out pieces --merge")).status.code(), Some(1));
    printed(at, &format!("{chosen} --out pieces --shard 2/2"));
    assert_eq!(printed(at, &format!("{chosen} --out pieces --merge")).replace("pieces", "local"), local);
    let pages = |from: &Path| -> Vec<(PathBuf, Vec<u8>)> {
        files(from).into_iter().filter(|(name, _)| name.to_string_lossy().starts_with("reproduction")).collect()
    };
    assert!(pages(&at.join("pieces")) == pages(&at.join("local")));
    let script = printed(at, &format!("{chosen} --out far --slurm --dry-run --nodes 3 --account net"));
    assert!(
        script.contains("#SBATCH --account=net\n") && script.contains("%3\n") && script.contains(" reproduce "),
        "{script}"
    );
}

#[test]
fn a_script_for_slurm() {
    let root = directory();
    let at = root.path();
    let script = printed(
        at,
        &format!("{SWEEP} --set policy.kind=\"abm\" --out far --slurm --dry-run --time 10 --partition cpu"),
    );
    for part in [
        "# 9 runs in 9 tasks\n# sbatch --array=1-9\n#!/bin/sh\n",
        "#SBATCH --time=10\n#SBATCH --partition=cpu\n",
        " --set 'policy.kind=\"abm\"' --grid policy.alpha=0.5,1,2 --seeds 1-3 --quiet --out ",
        " --jobs 1 --shard \"$SLURM_ARRAY_TASK_ID/9\"\n",
    ] {
        assert!(script.contains(part), "{part}\n{script}");
    }
    assert!(!at.join("far").exists());
}

#[test]
fn what_cannot_be_is_refused() {
    let root = directory();
    let at = root.path();
    for (arguments, says) in [
        ("--shard 4/3", "error: --shard 4/3: there is no part 4 of 3\n  help: give 1/3 to 3/3"),
        ("--shard one", "error: --shard one: this is not a part\n  help: write 3/8"),
        ("--shard 1/2 --merge", "cannot be used with"),
        ("--merge --slurm", "cannot be used with"),
        ("--nodes 2", "--slurm"),
        ("--slurm --nodes 0", "0"),
        ("--slurm --dry-run --time soon", "error: --time soon: this is not a time of Slurm's"),
        ("--slurm --dry-run --partition a;b", "error: --partition a;b: this is not a name"),
        ("--summaries --csv", "cannot be used with"),
        ("--merge --out nothing", "error: nothing: none of the 9 runs is here"),
    ] {
        let error = refused(at, &format!("{SWEEP} {arguments}"));
        assert!(error.contains(says), "{arguments}: {error}");
    }
    assert!(!at.join("nothing").exists());
    // Someone else's directory.
    std::fs::create_dir(at.join("mine")).unwrap();
    std::fs::write(at.join("mine/notes"), "").unwrap();
    assert!(
        refused(at, &format!("{SWEEP} --shard 1/2 --out mine")).contains("there is something else in this directory")
    );
}
