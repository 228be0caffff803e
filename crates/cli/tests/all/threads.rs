//! `forebay run --threads`: the same files for every number.

use crate::simulate::repeatable;
use crate::simulation::{directory, forebay};
use std::path::Path;

/// Bundled scenarios, made short: failures, chips, incasts with samples, queues served in turn.
const SHORT: [(&str, &str); 4] = [
    (
        "examples/three-tier-failure.toml",
        "--set duration=300us --set failure.0.at=80us --set failure.0.until=200us --set drain=5ms",
    ),
    ("examples/tofino-trimming.toml", "--set duration=30us --set drain=1ms --set measure.trace_flows=[0,1]"),
    ("examples/storage-incast.toml", "--set duration=300us --set drain=3ms --set measure.progress=[\"rebuild\"]"),
    ("compare.toml", "--set duration=300us --set drain=3ms --set measure.breakdown=true"),
];

fn run(directory: &Path, args: &str) -> String {
    let output = forebay(directory, args);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{args}: {errors}");
    errors
}

#[test]
fn bundled_scenarios_give_the_same_files() {
    let directory = directory();
    for (number, (scenario, sets)) in SHORT.iter().enumerate() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(scenario);
        for seed in [1, 2] {
            let files = |threads: usize| {
                let out = format!("{number}-{seed}-{threads}");
                let args =
                    format!("run {} {sets} --seed {seed} --threads {threads} --profile --out {out}", path.display());
                let said = run(directory.path(), &args);
                // All have at least four leaves.
                let first =
                    if threads == 1 { "1 thread\n".to_owned() } else { format!("{} threads: ", threads.min(4)) };
                assert!(threads > 4 || said.contains(&first), "{said}");
                repeatable(&directory.path().join(out))
            };
            let one = files(1);
            assert!(one.len() > 5);
            // Every number once for each scenario.
            let others: &[usize] = if seed == 1 { &[2, 8] } else { &[3] };
            assert!(others.iter().all(|threads| files(*threads) == one), "{scenario}, seed {seed}");
        }
    }
}

#[test]
fn what_only_one_thread_can_do_is_said() {
    let directory = directory();
    let said = run(directory.path(), "run small.toml --threads 2 -q --out a");
    assert_eq!(said, "1 thread instead of 2: 1 switch with hosts\n");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/compare.toml");
    let short = format!("run {} --set duration=20us --set drain=10us", path.display());
    let said = run(directory.path(), &format!("{short} --threads 2 -q --out b --set measure.drops=all"));
    assert_eq!(said, "1 thread instead of 2: measure.drops keeps the first drops of all switches together\n");
    // Nobody asked for a number.
    assert_eq!(run(directory.path(), &format!("{short} -q --out c --set measure.drops=all")), "");
    let refused = forebay(directory.path(), "run small.toml --threads 0");
    assert_eq!(refused.status.code(), Some(2));
}
