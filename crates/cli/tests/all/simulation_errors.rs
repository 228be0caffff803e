//! Mistakes in what is given to the commands of the simulator: each ends with exit code 2, a remedy and nothing
//! written.

use crate::simulation;

use simulation::{directory, files, forebay};

/// Every case: its name, the arguments, and how the error begins.
const CASES: &[(&str, &str, &str)] = &[
    ("run-absent", "run absent.toml", "absent.toml:"),
    ("run-directory", "run good", "good:"),
    ("run-not-toml", "run good/flows.parquet", "good/flows.parquet:"),
    ("run-set-without-equals", "run small.toml --set policy.alpha", "--set policy.alpha:"),
    ("run-set-without-key", "run small.toml --set =3", "--set \"=3\":"),
    ("run-set-without-value", "run small.toml --set policy.alpha=", "--set \"policy.alpha=\":"),
    ("run-set-unknown-key", "run small.toml --set policy.alpa=2", "--set \"policy.alpa=2\": policy.alpa:"),
    ("run-set-unknown-table", "run small.toml --set polcy.kind=cs", "--set \"polcy.kind=cs\": polcy:"),
    ("run-set-bad-value", "run small.toml --set policy.alpha=large", "--set \"policy.alpha=large\": policy.alpha:"),
    ("run-set-bad-unit", "run small.toml --set duration=5parsecs", "--set \"duration=5parsecs\": duration:"),
    ("run-set-unknown-kind", "run small.toml --set policy.kind=abn", "--set \"policy.kind=abn\": policy.kind:"),
    (
        "run-set-no-such-workload",
        "run small.toml --set workload.2.load=0.1",
        "--set \"workload.2.load=0.1\": workload.2:",
    ),
    (
        "run-load-no-link-can-carry",
        "run small.toml --set workload.0.load=1.5",
        "--set \"workload.0.load=1.5\": workload.0.load:",
    ),
    (
        "run-no-such-flow-to-trace",
        "run small.toml --set measure.trace_flows=[9999]",
        "--set \"measure.trace_flows=[9999]\":",
    ),
    ("run-out-below-a-file", "run small.toml --out small.toml/out", "small.toml/out:"),
    ("run-out-is-a-file", "run small.toml --out small.toml", "small.toml:"),
    ("run-out-has-something-else", "run small.toml --out .", ".:"),
    ("sweep-absent", "sweep absent.toml", "absent.toml:"),
    ("sweep-grid-without-values", "sweep small.toml --grid policy.alpha", "--grid policy.alpha:"),
    ("sweep-grid-empty", "sweep small.toml --grid policy.alpha=", "--grid policy.alpha=:"),
    ("sweep-grid-value-twice", "sweep small.toml --grid policy.alpha=1,2,1", "--grid policy.alpha=1,2,1:"),
    (
        "sweep-grid-key-twice",
        "sweep small.toml --grid policy.alpha=1,2 --grid policy.alpha=3",
        "--grid policy.alpha=3:",
    ),
    ("sweep-grid-unknown-key", "sweep small.toml --grid policy.alpa=1,2", "--grid \"policy.alpa=1\": policy.alpa:"),
    ("sweep-grid-bad-value", "sweep small.toml --grid policy.alpha=1,x", "--grid \"policy.alpha=x\": policy.alpha:"),
    ("sweep-grid-of-seeds", "sweep small.toml --grid seed=1,2", "--grid seed=1,2:"),
    ("sweep-grid-and-set", "sweep small.toml --set policy.alpha=1 --grid policy.alpha=1,2", "--grid policy.alpha=1,2:"),
    ("sweep-seeds-backwards", "sweep small.toml --seeds 5-1", "--seeds 5-1:"),
    ("sweep-seeds-words", "sweep small.toml --seeds some", "--seeds some:"),
    ("sweep-seeds-twice", "sweep small.toml --seeds 1-3,2", "--seeds 1-3,2:"),
    ("sweep-seeds-and-set", "sweep small.toml --seeds 1-3 --set seed=2", "--seeds 1-3:"),
    (
        "sweep-too-many-runs",
        "sweep small.toml --seeds 1-9999 --grid policy.alpha=1,2,3,4,5,6,7,8,9,10,11",
        "these are ",
    ),
    ("sweep-out-below-a-file", "sweep small.toml --out small.toml/out", "small.toml/out:"),
    ("check-absent", "check absent.toml", "absent.toml:"),
    ("check-directory", "check .", ".:"),
    ("compare-absent", "compare absent good", "absent:"),
    ("compare-file", "compare small.toml good", "small.toml:"),
    ("compare-no-result", "compare good .", ".:"),
    ("compare-corrupt-summary", "compare good corrupt", "corrupt/summary.json:"),
    ("report-absent", "report good absent", "absent:"),
    ("report-no-result", "report empty", "empty:"),
    ("report-corrupt-summary", "report corrupt", "corrupt/summary.json:"),
    ("report-corrupt-table", "report damaged", "damaged/flows.parquet:"),
    ("report-corrupt-detail", "report damaged-drops", "damaged-drops/drops.parquet:"),
    ("report-out-in-no-directory", "report good --out nowhere/page.html", "nowhere/page.html:"),
    ("bench-absent", "bench --native absent.toml", "absent.toml:"),
];

#[test]
fn errors_name_the_place_and_a_remedy_and_nothing_is_written() {
    let directory = directory();
    let at = |path: &str| directory.path().join(path);
    for out in ["good", "damaged", "damaged-drops"] {
        assert!(forebay(directory.path(), &format!("run small.toml --out {out}")).status.success());
    }
    std::fs::write(at("damaged/flows.parquet"), "PAR1 or not").unwrap();
    std::fs::write(at("damaged-drops/drops.parquet"), "PAR1 or not").unwrap();
    std::fs::create_dir(at("corrupt")).unwrap();
    std::fs::write(at("corrupt/summary.json"), "{\"run\": 1}").unwrap();
    std::fs::create_dir(at("empty")).unwrap();
    let before = files(directory.path());
    for (case, args, place) in CASES {
        let output = forebay(directory.path(), args);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{case}: {error}");
        assert!(output.stdout.is_empty(), "{case} prints something");
        assert!(error.starts_with(&format!("error: {place}")), "{case} should be at {place}\n{error}");
        assert!(error.contains("\n  help: ") && error.lines().count() <= 12, "{case}\n{error}");
        assert!(!error.contains("panicked"), "{case}\n{error}");
        assert!(files(directory.path()) == before && !at("results").exists(), "{case} writes something");
        insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(*case, error) });
    }
}

/// Settings of what is measured and of programs: the argument, and what the error says.
const SETTINGS: &[(&str, &str)] = &[
    ("measure.from=1s", "nothing would be measured"),
    ("measure.from=-1us", "measure.from"),
    ("measure.from=soon", "measure.from"),
    ("measure.from=0.5", "measure.from"),
    ("measure.breakdown=1", "measure.breakdown"),
    ("measure.breakdown=yes", "measure.breakdown"),
    ("measure.drops=some", "give a list of names such as [\"a\", \"b\"] or \"all\""),
    ("measure.drops=[\"nowhere\"]", "no switch \"nowhere\""),
    ("measure.drops=3", "measure.drops"),
    ("measure.drops=[1]", "measure.drops"),
    ("measure.drops_limit=-1", "measure.drops_limit"),
    ("measure.drops_limit=1e9", "measure.drops_limit"),
    ("measure.drops_limit=99999999999", "measure.drops_limit"),
    ("measure.drop=all", "measure.drop"),
    ("switch.program=own.pisa", "this is for programmable chips"),
];

#[test]
fn settings_that_cannot_be_are_refused() {
    let directory = directory();
    let before = files(directory.path());
    for command in ["run", "check"] {
        for (setting, problem) in SETTINGS {
            let args = ["small.toml", "--set", setting];
            let output = simulation::command(directory.path(), command).args(args).output().unwrap();
            let error = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{setting}: {error}");
            assert!(error.starts_with("error: ") && error.contains(problem), "{setting}: {error}");
            assert!(error.contains("\n  help: ") && !error.contains("panicked"), "{setting}: {error}");
        }
    }
    assert!(files(directory.path()) == before);
}

#[test]
fn wrong_arguments_exit_with_2() {
    let directory = directory();
    for args in [
        "run",
        "run small.toml other.toml",
        "run small.toml --seed -1",
        "run small.toml --seed many",
        "sweep small.toml --jobs 0",
        "sweep small.toml --jobs many",
        "compare small",
        "report",
        "bench",
        "check small.toml --out x",
    ] {
        let output = forebay(directory.path(), args);
        assert!(output.status.code() == Some(2) && output.stdout.is_empty(), "{args}: {output:?}");
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains("Usage: ") || error.contains("--help"), "{args} should say how\n{error}");
    }
    assert_eq!(files(directory.path()).len(), 1);
}
