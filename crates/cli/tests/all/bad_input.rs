//! Broken inputs: each ends with exit code 2, writes nothing and says where the error is and what would be right.
//!
//! A case is a directory of `bad_input/` with a broken `switch.toml` or `arrivals.csv`; the other file is the sound one
//! of `bad_input/` itself. A file `args` holds the arguments where they are not the usual ones.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Every case, and the place that its error must name: file, line and field, as far as there are.
const CASES: &[(&str, &str)] = &[
    ("aifo-with-two-queues", "switch.toml:3: queues:"),
    ("alpha-below-zero", "switch.toml:8: policy.alpha:"),
    ("alpha-below-zero-in-list", "switch.toml:8: policy.alpha:"),
    ("alpha-inf", "switch.toml:8: policy.alpha:"),
    ("alpha-list-empty", "switch.toml:8: policy.alpha:"),
    ("alpha-list-too-long", "switch.toml:8: policy.alpha:"),
    ("alpha-nan", "switch.toml:8: policy.alpha:"),
    ("alpha-string", "switch.toml:8: policy.alpha:"),
    ("arrivals-absent", "absent.csv:"),
    ("arrivals-are-a-directory", ".:"),
    ("arrivals-empty", "arrivals.csv:1:"),
    ("arrivals-header-not-utf-8", "arrivals.csv:1:"),
    ("arrivals-not-utf-8", "arrivals.csv:3:"),
    ("buffer-above-2-to-the-64", "switch.toml:4: buffer:"),
    ("buffer-huge", "switch.toml:4: buffer:"),
    ("buffer-zero", "switch.toml:4: buffer:"),
    ("bytes-huge", "arrivals.csv:2: bytes:"),
    ("bytes-zero", "arrivals.csv:3: bytes:"),
    ("cell-zero", "switch.toml:5: cell:"),
    ("class-without-alpha", "arrivals.csv:3: class:"),
    ("colour-3", "arrivals.csv:2: colour:"),
    ("column-missing", "arrivals.csv:1: queue:"),
    ("column-twice", "arrivals.csv:1: port:"),
    ("column-unknown", "arrivals.csv:1: flows:"),
    ("column-unknown-far", "arrivals.csv:1: shade:"),
    ("column-with-space", "arrivals.csv:1: bytes:"),
    ("column-without-name", "arrivals.csv:1:"),
    ("compare-empty", r#"--compare "": kind:"#),
    ("compare-key-of-another-policy", r#"--compare "cs:alpha=1": alpha:"#),
    ("compare-list-too-long", r#"--compare "dt:alpha=[1,2,3]": policy.alpha:"#),
    ("compare-no-value", r#"--compare "dt:alpha":"#),
    ("compare-unknown-key", r#"--compare "dt:alhpa=1": alhpa:"#),
    ("compare-unknown-policy", r#"--compare "abn": kind:"#),
    ("compare-value-below-zero", r#"--compare "dt:alpha=-1": policy.alpha:"#),
    ("compare-value-not-quoted", r#"--compare "abm:alpha=1:interval=80us":"#),
    ("end-of-time", "arrivals.csv:"),
    ("every-zero", "--every 0:"),
    ("explain-no-such-packet", "--explain 3:"),
    ("fifo-by-default-with-two-queues", "switch.toml:3: queues:"),
    ("fifo-with-two-queues", "switch.toml:3: queues:"),
    ("groups-exceed-the-queues", "switch.toml:9: policy.groups:"),
    ("groups-flat", "switch.toml:9: policy.groups:"),
    ("groups-miss-a-queue", "switch.toml:9: policy.groups:"),
    ("groups-repeat-a-queue", "switch.toml:9: policy.groups:"),
    ("header-blank", "arrivals.csv:1:"),
    ("header-missing", "arrivals.csv:1:"),
    ("headroom-one", "switch.toml:11: scheduler.headroom:"),
    ("in-port-99", "arrivals.csv:2: in_port:"),
    ("in-port-missing", "arrivals.csv:1: in_port:"),
    ("in-port-without-ingress", "arrivals.csv:1: in_port:"),
    ("ingress-alpha-and-limit", "switch.toml:23: ingress.group.0.limit:"),
    ("ingress-alpha-of-no-chip", "switch.toml:22: ingress.group.0.alpha:"),
    ("ingress-group-16", "switch.toml:21: ingress.group.0.groups:"),
    ("ingress-group-twice", "switch.toml:21: ingress.group.0.groups:"),
    ("ingress-groups-missing", "switch.toml:20: ingress.group.0.groups:"),
    ("ingress-key-unknown", "switch.toml:14: ingress.cells:"),
    ("ingress-no-pool", "switch.toml:13: ingress.pool:"),
    ("ingress-of-port-without-limit", "switch.toml:23: ingress.group.0.of_port:"),
    ("ingress-partition-7", "switch.toml:21: ingress.port.0.partition:"),
    ("ingress-pool-unknown", "switch.toml:22: ingress.group.0.pool:"),
    ("ingress-port-99", "switch.toml:21: ingress.group.0.ports:"),
    ("ingress-shared-huge", "switch.toml:18: ingress.pool.0.shared:"),
    ("ingress-xon-of-lossy", "switch.toml:23: ingress.group.0.xon:"),
    ("interval-zero", "switch.toml:9: policy.interval:"),
    ("key-duplicate", "switch.toml:4: queues:"),
    ("key-of-another-policy", "switch.toml:8: policy.alpha:"),
    ("key-of-another-scheduler", "switch.toml:12: scheduler.weights:"),
    ("key-unknown-ecn", "switch.toml:15: ecn.treshold:"),
    ("key-unknown-policy", "switch.toml:8: policy.alpa:"),
    ("key-unknown-scheduler", "switch.toml:12: scheduler.quantums:"),
    ("key-unknown-top", "switch.toml:3: queue:"),
    ("key-unknown-top-far", "switch.toml:4: latency:"),
    ("key-unknown-trim", "switch.toml:14: trim.header_capcity:"),
    ("kind-not-a-string", "switch.toml:7: policy.kind:"),
    ("kind-unknown-policy", "switch.toml:7: policy.kind:"),
    ("kind-unknown-scheduler", "switch.toml:11: scheduler.kind:"),
    ("last-line-cut-off", "arrivals.csv:4: bytes:"),
    ("line-empty", "arrivals.csv:3:"),
    ("line-very-long", "arrivals.csv:3:"),
    ("missing-alpha", "switch.toml:6: policy.alpha:"),
    ("missing-buffer", "switch.toml:1: buffer:"),
    ("missing-capacity", "switch.toml:9: scheduler.capacity:"),
    ("missing-ecn-threshold", "switch.toml:13: ecn.threshold:"),
    ("missing-interval", "switch.toml:6: policy.interval:"),
    ("missing-policy", "switch.toml:1: policy:"),
    ("missing-policy-kind", "switch.toml:6: policy.kind:"),
    ("missing-ports", "switch.toml:1: ports:"),
    ("missing-rate", "switch.toml:1: rate:"),
    ("missing-scheduler-kind", "switch.toml:10: scheduler.kind:"),
    ("number-above-2-to-the-64", "arrivals.csv:2: time_ps:"),
    ("number-below-zero", "arrivals.csv:2: bytes:"),
    ("number-empty", "arrivals.csv:2: bytes:"),
    ("number-is-text", "arrivals.csv:2: bytes:"),
    ("number-with-space", "arrivals.csv:2: bytes:"),
    ("output-in-no-directory", "nowhere/out.csv:"),
    ("output-is-a-directory", ".:"),
    ("packet-classes-with-two-queues", "switch.toml:9: policy.classes:"),
    ("pg-missing", "arrivals.csv:2: pg:"),
    ("pifo-with-two-queues", "switch.toml:3: queues:"),
    ("port-out-of-range", "arrivals.csv:2: port:"),
    ("ports-below-zero", "switch.toml:1: ports:"),
    ("ports-empty-list", "switch.toml:1: ports:"),
    ("ports-huge", "switch.toml:1: ports:"),
    ("ports-zero", "switch.toml:1: ports:"),
    ("quantum-zero", "switch.toml:12: scheduler.quantum:"),
    ("queue-capacity-zero", "switch.toml:5: queue_capacity:"),
    ("queue-out-of-range", "arrivals.csv:2: queue:"),
    ("queues-65", "switch.toml:3: queues:"),
    ("queues-zero", "switch.toml:3: queues:"),
    ("rate-beside-ports", "switch.toml:2: rate:"),
    ("rate-sum-too-large", "switch.toml:1: ports:"),
    ("rate-zero", "switch.toml:2: rate:"),
    ("rate-zero-in-list", "switch.toml:1: ports:"),
    ("reserved-one", "switch.toml:9: policy.reserved:"),
    ("return-to-sender-not-a-boolean", "switch.toml:14: trim.return_to_sender:"),
    ("size-below-zero", "switch.toml:4: buffer:"),
    ("size-float", "switch.toml:4: buffer:"),
    ("sp-pifo-with-two-queues", "switch.toml:3: queues:"),
    ("switch-absent", "absent.toml:"),
    ("switch-empty", "switch.toml:1:"),
    ("switch-is-a-directory", ".:"),
    ("switch-is-arrivals", "switch.toml:1:"),
    ("switch-not-utf-8", "switch.toml:7:"),
    ("table-is-a-value", "switch.toml:4: policy:"),
    ("time-backwards", "arrivals.csv:4: time_ps:"),
    ("timeline-in-no-directory", "nowhere/time.csv:"),
    ("toml-no-value", "switch.toml:3:"),
    ("toml-syntax", "switch.toml:10:"),
    ("trim-size-zero", "switch.toml:14: trim.size:"),
    ("unit-fraction-of-a-byte", "switch.toml:4: buffer:"),
    ("unit-of-another-quantity", "switch.toml:2: rate:"),
    ("unit-without-number", "switch.toml:4: buffer:"),
    ("unit-wrong", "switch.toml:4: buffer:"),
    ("unscheduled-two", "arrivals.csv:2: unscheduled:"),
    ("values-too-few", "arrivals.csv:2: queue:"),
    ("values-too-many", "arrivals.csv:2:"),
    ("weight-zero", "switch.toml:12: scheduler.weights:"),
    ("weights-too-few", "switch.toml:12: scheduler.weights:"),
    ("window-zero", "switch.toml:12: scheduler.window:"),
];

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad_input")
}

/// A directory with the sound files, and those of a case over them.
fn set_up(case: Option<&str>) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for from in [Some(cases()), case.map(|case| cases().join(case))].into_iter().flatten() {
        for name in ["switch.toml", "arrivals.csv"] {
            if from.join(name).exists() {
                std::fs::copy(from.join(name), directory.path().join(name)).unwrap();
            }
        }
    }
    directory
}

fn forebay(directory: &Path, args: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forebay"));
    command.args(args.split_whitespace()).current_dir(directory).output().unwrap()
}

/// All files of a directory with their contents.
fn files(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let paths = directory.read_dir().unwrap().map(|entry| entry.unwrap().path());
    paths.map(|path| (path.file_name().unwrap().into(), std::fs::read(&path).unwrap())).collect()
}

/// Runs a case with and without a result of an earlier run in the way; the error, which is the same both times.
fn run(case: &str) -> String {
    let args = std::fs::read_to_string(cases().join(case).join("args"));
    let args = args.unwrap_or("replay switch.toml arrivals.csv -o out.csv".to_owned());
    let run = |old: Option<&str>| {
        let directory = set_up(Some(case));
        if let Some(old) = old {
            std::fs::write(directory.path().join("out.csv"), old).unwrap();
        }
        let before = files(directory.path());
        let output = forebay(directory.path(), &args);
        assert_eq!(output.status.code(), Some(2), "{case}: {output:?}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{case} prints something");
        assert!(files(directory.path()) == before, "{case} writes, changes or leaves a file");
        String::from_utf8(output.stderr).unwrap()
    };
    let error = run(None);
    assert_eq!(run(Some("packet,verdict,reason,marked,start_ps,end_ps\nan older result\n")), error, "{case}");
    error
}

#[test]
fn the_sound_files_are_sound() {
    let directory = set_up(None);
    let output = forebay(directory.path(), "replay switch.toml arrivals.csv -o out.csv");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(std::fs::read_to_string(directory.path().join("out.csv")).unwrap().lines().count(), 4);
}

#[test]
fn every_case_is_listed() {
    let directories = cases().read_dir().unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let mut found: Vec<String> = directories.map(|path| path.file_name().unwrap().display().to_string()).collect();
    found.sort();
    let listed: Vec<&str> = CASES.iter().map(|(case, _)| *case).collect();
    assert_eq!(found, listed);
    assert!(listed.len() >= 45);
}

#[test]
fn errors_name_the_place_and_a_remedy() {
    for (case, place) in CASES {
        let error = run(case);
        assert!(error.starts_with(&format!("error: {place}")), "{case} should be at {place}\n{error}");
        assert!(error.contains("\n  help: "), "{case} has no remedy\n{error}");
        assert!(error.lines().count() <= 12, "{case} says too much\n{error}");
        assert!(!error.contains("panicked"), "{case}\n{error}");
        insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(*case, error) });
    }
}

/// No arrivals are not an error.
#[test]
fn a_header_alone_gives_a_header_alone() {
    let directory = set_up(None);
    std::fs::write(directory.path().join("arrivals.csv"), "time_ps,bytes,port,queue\n").unwrap();
    let output = forebay(directory.path(), "replay switch.toml arrivals.csv");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "packet,verdict,reason,marked,start_ps,end_ps\n");
}
