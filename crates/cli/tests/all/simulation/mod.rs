//! What tests of simulations share: a small scenario, and the command.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Four hosts at one switch: a burst of responses every 100 us over random flows.
pub(crate) const SMALL: &str = r#"seed = 1
duration = "500us"

[topology]
kind = "single"
hosts = 4
rate = "10Gbps"
delay = "1us"

[switch]
buffer = "60KB"

[policy]
kind = "dt"
alpha = 1.0

[transport.dctcp]
rto_min = "1ms"

[[workload]]
name = "random"
kind = "poisson"
sizes = "20KB"
load = 0.5
transport = "dctcp"

[[workload]]
name = "bursts"
kind = "incast"
request = "90KB"
fan_in = 3
rate = 10_000
transport = "dctcp"

[measure]
timeline = "all"
queues = "all"
progress = ["random"]
"#;

/// A directory with [`SMALL`] as `small.toml`.
pub(crate) fn directory() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("small.toml"), SMALL).unwrap();
    directory
}

pub(crate) fn command(directory: &Path, args: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forebay"));
    command.args(args.split_whitespace()).current_dir(directory);
    command
}

pub(crate) fn forebay(directory: &Path, args: &str) -> Output {
    command(directory, args).output().unwrap()
}

/// All files in and below a directory with their contents.
#[allow(dead_code, reason = "not all tests look at files")]
pub(crate) fn files(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in directory.read_dir().unwrap() {
        let path = entry.unwrap().path();
        let name = PathBuf::from(path.file_name().unwrap());
        if path.is_dir() {
            all.extend(files(&path).into_iter().map(|(below, contents)| (name.join(below), contents)));
        } else {
            all.insert(name, std::fs::read(&path).unwrap());
        }
    }
    all
}
