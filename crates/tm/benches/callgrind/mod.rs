//! A benchmark that calls itself under callgrind.

use std::process::Command;

/// Instructions that this program takes with some arguments, and the numbers that it printed.
pub(crate) fn count(arguments: &[&str]) -> (f64, Vec<f64>) {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe().expect("the benchmark's own path"))
        .args(arguments)
        .output()
        .expect("valgrind is installed (apt-get install valgrind)");
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{log}");
    let line = log.lines().find(|line| line.contains("Collected")).expect("callgrind says what it collected");
    let instructions = line.rsplit(' ').next().and_then(|word| word.parse().ok()).expect("a number of instructions");
    let printed = String::from_utf8_lossy(&output.stdout);
    (instructions, printed.split_whitespace().map(|word| word.parse().expect("a number")).collect())
}
