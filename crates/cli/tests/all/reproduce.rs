//! `forebay reproduce` as a person uses it.

use crate::simulation;

use simulation::{directory, files, forebay};
use std::path::{Path, PathBuf};

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn printed(directory: &Path, args: &str) -> String {
    let output = forebay(directory, args);
    assert!(output.status.success() && output.stderr.is_empty(), "{args}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn refused(directory: &Path, args: &str) -> String {
    let output = forebay(directory, args);
    assert!(output.status.code() == Some(2) && output.stdout.is_empty(), "{args}: {output:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// Figures of all papers that take seconds.
const CHOSEN: &str = "fb/guarantees abm/reference occamy/fig10 aifo/fig12 trimming/fig5";

#[test]
fn a_part_of_each_paper() {
    let directory = directory();
    let text = printed(directory.path(), &format!("reproduce --quick {CHOSEN} --out out"));
    assert!(!text.contains("not run"), "every claim has its numbers:\n{text}");
    assert!(text.lines().any(|line| line.contains(" headline claims: ")), "{text}");
    let out = directory.path().join("out");
    for name in CHOSEN.split(' ') {
        let (paper, figure) = name.split_once('/').unwrap();
        let page = std::fs::read_to_string(out.join(format!("reproduction/{paper}.html"))).unwrap();
        assert!(page.contains(&format!("forebay reproduce --quick {name}<")), "{name}");
        assert!(out.join(format!("scenarios/{name}.toml")).exists(), "{name}");
        let picture = std::fs::read_to_string(out.join(format!("reproduction/{paper}-{figure}.svg"))).unwrap();
        assert!(picture.contains("<path") || picture.contains("<rect class=\"bar"), "{name}");
    }
    // Again, with what is kept and with nothing kept on one thread: the same bytes.
    let pages = |from: &Path| -> Vec<(PathBuf, Vec<u8>)> {
        files(from).into_iter().filter(|(name, _)| name.to_string_lossy().starts_with("reproduction")).collect()
    };
    let first = pages(&out);
    let runs = files(&out.join("runs"));
    assert_eq!(printed(directory.path(), &format!("reproduce --quick {CHOSEN} --out out")), text);
    assert_eq!(files(&out.join("runs")), runs, "nothing was run again");
    printed(directory.path(), &format!("reproduce --quick {CHOSEN} --out other --jobs 1"));
    assert!(pages(&directory.path().join("other")) == first, "the number of threads changes nothing");
    // The pages are made from the numbers alone.
    printed(directory.path(), "reproduce --render out/reproduction.json.gz --docs pages");
    let read = |name: &str| std::fs::read_to_string(directory.path().join(name)).unwrap();
    assert_eq!(
        read("pages/reproduction/fb.html"),
        read("out/reproduction/fb.html").replace("\"../scenarios/", "\"../../scenarios/")
    );
}

#[test]
fn figures_are_listed_and_unknown_ones_refused() {
    let directory = directory();
    let list = printed(directory.path(), "reproduce --list");
    for name in CHOSEN.split(' ') {
        assert!(list.contains(name), "{name}: {list}");
    }
    let error = refused(directory.path(), "reproduce abc");
    assert_eq!(
        error,
        "error: abc: there is no such paper or figure\n  help: the papers are fb, abm, occamy, aifo, trimming; --list names \
         their figures\n"
    );
    assert!(refused(directory.path(), "reproduce abm/fig99").contains("help: abm has fig"));
    assert!(refused(directory.path(), "reproduce --render nothing.json --docs .").contains("nothing.json"));
    std::fs::write(directory.path().join("bad.json"), "{}").unwrap();
    let error = refused(directory.path(), "reproduce --render bad.json --docs .");
    assert!(
        error.contains("bad.json: missing field `version`") && error.contains("help: give a reproduction.json.gz"),
        "{error}"
    );
    assert_eq!(files(directory.path()).len(), 2, "nothing was written");
}

#[test]
fn scenarios_of_ones_own_are_read_and_errors_are_told_where_they_stand() {
    let directory = directory();
    let name = CHOSEN.split(' ').next().unwrap();
    let own = directory.path().join("own").join(format!("{name}.toml"));
    std::fs::create_dir_all(own.parent().unwrap()).unwrap();
    let text = std::fs::read_to_string(project().join(format!("scenarios/{name}.toml"))).unwrap();
    let at = text.lines().position(|line| line.starts_with("[scale.quick]")).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.insert(at + 1, "speed = 3");
    std::fs::write(&own, lines.join("\n")).unwrap();
    let error = refused(directory.path(), &format!("reproduce --quick {name} --scenarios own --out out"));
    assert!(error.contains(&format!("own/{name}.toml")) && error.contains("speed"), "{error}");
    assert!(error.contains(&format!("{}", at + 2)), "the line {}: {error}", at + 2);
}
