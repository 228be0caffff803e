//! Mistakes that the command line made once.

use std::io::{Read, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const SWITCH: &str = "ports = 2\nrate = \"8Gbps\"\nbuffer = 8000\n";
const ARRIVALS: &str = "time_ps,bytes,port,queue\n0,1000,0,0\n";
const VERDICTS: &str = "packet,verdict,reason,marked,start_ps,end_ps\n0,sent,,0,0,1000000\n";

/// A directory with a switch under a policy, and arrivals.
fn directory(policy: &str, arrivals: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("switch.toml"), format!("{SWITCH}[policy]\n{policy}\n")).unwrap();
    std::fs::write(directory.path().join("arrivals.csv"), arrivals).unwrap();
    directory
}

fn forebay(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forebay"));
    command.current_dir(directory);
    command
}

fn replay(directory: &Path, args: &[&str]) -> Output {
    forebay(directory).args(["replay", "switch.toml", "arrivals.csv"]).args(args).output().unwrap()
}

fn explain(vector: &str, packet: &str) -> String {
    let vector = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors")).join(vector);
    let output = replay(&vector, &["--explain", packet]);
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

/// Refused politely: exit code 2, a remedy, no panic.
fn refused(output: &Output) -> String {
    let error = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("help: ") && !error.contains("panicked"), "{error}");
    error
}

#[test]
fn a_pipe_is_written_to_and_not_replaced() {
    let directory = directory("kind = \"cs\"", ARRIVALS);
    let pipe = directory.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read_to_string(pipe).unwrap()
    });
    assert!(replay(directory.path(), &["-o", "pipe"]).status.success());
    assert!(std::fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());
    assert_eq!(reader.join().unwrap(), VERDICTS);
}

#[test]
fn a_link_stays_a_link() {
    let directory = directory("kind = \"cs\"", ARRIVALS);
    let [link, target] = ["link", "target"].map(|name| directory.path().join(name));
    std::fs::write(&target, "old").unwrap();
    std::os::unix::fs::symlink(&target, &link).unwrap();
    assert!(replay(directory.path(), &["-o", "link", "--force"]).status.success());
    assert!(std::fs::symlink_metadata(&link).unwrap().file_type().is_symlink());
    assert_eq!(std::fs::read_to_string(&target).unwrap(), VERDICTS);
}

#[test]
fn a_comparison_refuses_a_class_that_one_of_the_policies_does_not_know() {
    let arrivals = "time_ps,bytes,port,queue,class\n0,1000,0,0,1\n";
    let directory = directory("kind = \"fb\"\nalpha = [1.0, 2.0]\nclasses = \"packet\"", arrivals);
    assert!(replay(directory.path(), &["--compare", "fb"]).status.success());
    for policies in ["fb,fb:alpha=[1]", "fb:alpha=[1],fb"] {
        let error = refused(&replay(directory.path(), &["--compare", policies]));
        assert!(error.contains("class 1 has no alpha"), "{error}");
    }
}

#[test]
fn an_interrupt_is_heard_while_nothing_is_read() {
    let directory = directory("kind = \"cs\"", ARRIVALS);
    let mut command = forebay(directory.path());
    command.args(["replay", "switch.toml", "-", "-o", "out.csv"]);
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(ARRIVALS.as_bytes()).unwrap();
    let files = || std::fs::read_dir(directory.path()).unwrap().count();
    let start = Instant::now();
    while files() < 3 {
        assert!(start.elapsed() < Duration::from_secs(20), "no temporary file appears");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    // The input stays open: the end of the file is not what ends the run.
    let status = child.wait().unwrap();
    drop(input);
    let mut error = String::new();
    child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
    assert_eq!(status.code(), Some(130), "{error}");
    assert_eq!(files(), 2, "a temporary file was left behind");
}

#[test]
fn explanations_know_what_a_queue_owns() {
    // 06-dt-reserved: every queue owns floor(0.35 * 18000 / 6) = 1050 bytes.
    let admitted = explain("06-dt-reserved", "20");
    assert!(admitted.contains("- 1050 B =") && admitted.contains("are within the threshold"), "{admitted}");
    let full = explain("06-dt-reserved", "89");
    assert!(full.contains("it did not fit the shared part"), "{full}");
}

#[test]
fn explanations_blame_ecn_only_where_it_matters() {
    let below = explain("21-ecn-strict", "10");
    assert!(below.contains("It was admitted") && !below.contains("ECN-capable"), "{below}");
}

#[test]
fn samples_may_be_far_apart() {
    let directory = directory("kind = \"cs\"", "time_ps,bytes,port,queue\n13000000000000000000,1000,0,0\n");
    let every = ["--timeline", "timeline.csv", "--every", "12000000000000000000ps"];
    let output = replay(directory.path(), &every);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn an_endless_switch_file_is_refused() {
    let directory = directory("kind = \"cs\"", ARRIVALS);
    let output = forebay(directory.path()).args(["replay", "/dev/zero", "arrivals.csv"]).output().unwrap();
    assert!(refused(&output).contains("too many for a file of settings"));
}

#[test]
fn the_last_instant_is_an_error_and_not_an_endless_loop() {
    let arrivals = "time_ps,bytes,port,queue\n18446744073709551615,1000,0,0\n";
    for policy in ["kind = \"cs\"", "kind = \"abm\"\nalpha = 1\ninterval = \"1us\""] {
        let directory = directory(policy, arrivals);
        assert!(refused(&replay(directory.path(), &[])).contains("end of time"));
    }
}

/// It only said "cannot be told", after all runs. What is wrong is told before a lab is made.
#[test]
fn an_expectation_about_a_number_that_there_is_not_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let lab = concat!(env!("CARGO_MANIFEST_DIR"), "/../../lab");
    let text = std::fs::read_to_string(format!("{lab}/occamy-qct.toml")).unwrap();
    let text = text.replace("\"scenarios/", &format!("\"{lab}/scenarios/")).replacen("dropped_packets", "drops", 1);
    let line = 1 + text.lines().position(|line| line.contains("\"drops\"")).unwrap();
    std::fs::write(directory.path().join("e.toml"), text).unwrap();
    let output = forebay(directory.path()).args(["lab", "--prefix", "fbex", "run", "e.toml"]).output().unwrap();
    let error = refused(&output);
    let place = format!("error: e.toml:{line}: expect.0.metric: \"drops\" is no number of this experiment");
    assert!(error.starts_with(&place), "{error}");
    assert!(error.contains("dropped_packets") && error.contains("query.p99_us"), "{error}");
    assert!(!directory.path().join("results").exists());
}
