//! `forebay rtl` where its tools are missing, and what it does without them. What it says of the circuits is tested in
//! `crates/rtl`.

use std::path::Path;
use std::process::{Command, Output};

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
