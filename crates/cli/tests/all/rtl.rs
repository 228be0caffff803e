//! `forebay rtl` where its tools are missing, and what it does without them. What it says of the circuits is tested in
//! `crates/rtl`.

use forebay_rtl::units::UNITS;
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

fn rtl(arguments: &[&str], path: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_forebay")).arg("rtl").args(arguments).env("PATH", path).output().expect("it runs")
}

fn error_of(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn missing_tools_are_named() {
    let nothing = tempfile::tempdir().expect("a directory");
    let said = error_of(&rtl(&["--quiet"], nothing.path()));
    assert!(said.contains("cannot run yosys") && said.contains("apt-get install yosys"), "{said}");
}

#[test]
fn the_sources_are_written_and_the_page_made_again() {
    let directory = tempfile::tempdir().expect("a directory");
    let at = directory.path().to_str().expect("a name");
    let written = rtl(&["--write", at], directory.path());
    assert!(written.status.success(), "{written:?}");
    assert!(directory.path().join("occamy_selector.v").exists());
    let numbers = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/rtl.json");
    let page = rtl(&["--render", numbers, "--docs", at], directory.path());
    assert!(page.status.success(), "{page:?}");
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    for name in ["rtl.md", "rtl.json"] {
        let read = |directory: &Path| std::fs::read_to_string(directory.join(name)).expect(name);
        assert!(read(directory.path()) == read(&docs), "{name} differs from the one in docs");
    }
}

#[test]
fn numbers_of_something_else_are_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("rtl.json");
    for (text, wanted) in [("{", "rtl.json: EOF"), ("{\"yosys\": \"1\", \"units\": []}", "not what forebay rtl writes")]
    {
        std::fs::write(&file, text).expect("written");
        let said = error_of(&rtl(&["--render", file.to_str().expect("a name")], directory.path()));
        assert!(said.contains(wanted) && said.contains("forebay rtl --docs"), "{said}");
    }
}

/// Says of every circuit that it has five look-up tables. While there is a file `stop` beside it and three units are
/// kept, it does not come to an end.
const YOSYS: &str = r#"#!/bin/sh
[ "$1" = -V ] && { echo "Yosys 0.23 (git)"; exit; }
here=$(dirname "$0")
echo >> "$here/runs"
while [ -e "$here/stop" ] && [ "$(ls "$here/kept" | grep -c json)" -ge 3 ]; do sleep 0.02; done
stat=${3#*tee -q -o }; path=${stat#*tee -q -o }
echo '{"design": {"num_cells_by_type": {"LUT6": 5, "FDRE": 2}}}' > "${stat%% *}"
echo 'Longest topological path in top (length=4):' > "${path%% *}"
"#;

/// A directory with a Yosys that takes no time.
struct Tools(tempfile::TempDir);

impl Tools {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let yosys = directory.path().join("yosys");
        std::fs::write(&yosys, YOSYS).expect("written");
        std::fs::set_permissions(&yosys, PermissionsExt::from_mode(0o755)).expect("a program");
        Self(directory)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn quick(&self, more: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_forebay"));
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", self.0.path().display())).args(["rtl", "--quick", "--out"]);
        command.arg(self.at("kept")).args(more);
        command
    }

    /// How many units are kept.
    fn kept(&self) -> usize {
        let files = std::fs::read_dir(self.at("kept")).into_iter().flatten().flatten();
        files.filter(|file| file.path().extension().is_some_and(|end| end == "json")).count()
    }

    /// How often Yosys was started for a circuit.
    fn runs(&self) -> usize {
        std::fs::read_to_string(self.at("runs")).unwrap_or_default().lines().count()
    }
}

#[test]
fn what_was_finished_when_it_was_stopped_is_not_made_again() {
    let (tools, quick) = (Tools::new(), UNITS.iter().filter(|unit| unit.quick));
    // Two units are the same circuit, which is made once.
    let (units, circuits) =
        (quick.clone().count(), quick.map(|unit| (unit.module, unit.parameters)).collect::<BTreeSet<_>>().len());
    std::fs::write(tools.at("stop"), "").expect("written");
    let mut first = tools.quick(&["--quiet"]).stdout(Stdio::null()).spawn().expect("it runs");
    let start = Instant::now();
    while tools.kept() < 3 && start.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(10));
    }
    first.kill().and_then(|()| first.wait()).expect("it is stopped");
    let kept = tools.kept();
    assert!((3..circuits).contains(&kept), "{kept} of {circuits}");
    std::fs::remove_file(tools.at("stop")).expect("removed");

    let again = tools.quick(&[]).output().expect("it runs");
    let (text, told) = (String::from_utf8_lossy(&again.stdout), String::from_utf8_lossy(&again.stderr));
    assert!(again.status.success(), "{told}");
    assert_eq!(told.matches("(finished before)").count(), kept, "{told}");
    assert!(text.contains("| selector |") && text.contains(&format!("{units} of {} units", UNITS.len())), "{text}");

    let runs = tools.runs();
    let json = tools.quick(&["--json", "--quiet"]).output().expect("it runs");
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
    let rows = json["units"].as_array().expect("units");
    assert!(rows.len() == units && rows.iter().all(|unit| unit["luts"] == 5 && unit["depth"] == 4), "{json}");
    assert_eq!((tools.kept(), tools.runs()), (circuits, runs), "nothing was made a third time");
}
