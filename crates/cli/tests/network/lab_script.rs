//! `forebay lab script`: the simulator beside what the kernel was seen to send, and the kernel itself.
//!
//! The last test needs root, iproute2 and ethtool, which `./test` installs.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn forebay(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_forebay")).args(arguments).current_dir(ROOT).output().unwrap()
}

fn ok(output: &Output) -> String {
    let [out, error] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
    assert!(output.status.success(), "{out}\n{error}");
    out
}

fn refused(arguments: &[&str]) -> String {
    let output = forebay(arguments);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// All scripts, as they are called from the root of the project.
fn scripts() -> Vec<String> {
    let files = Path::new(ROOT).join("lab/scripts").read_dir().unwrap().map(|entry| entry.unwrap().path());
    let name = |path: PathBuf| format!("lab/scripts/{}", path.file_name().unwrap().to_string_lossy());
    let mut names: Vec<String> =
        files.filter(|path| path.extension().is_some_and(|end| end == "toml")).map(name).collect();
    names.sort();
    names
}

/// What the simulator sends beside what the kernel was seen to send: a change of its TCP shows here, script by script,
/// and makes docs/kernel.md anew (`forebay lab script --simulate --docs docs/kernel.md lab/scripts/*.toml`).
#[test]
fn the_simulator_beside_the_recorded_kernel() {
    let _alone = crate::alone();
    let scripts = scripts();
    assert!(scripts.len() >= 80, "{scripts:?}");
    let directory = tempfile::tempdir().unwrap();
    let page = directory.path().join("kernel.md");
    let mut arguments = vec!["lab", "script", "--simulate", "--docs", page.to_str().unwrap()];
    arguments.extend(scripts.iter().map(String::as_str));
    insta::assert_snapshot!(ok(&forebay(&arguments)));
    let made = std::fs::read_to_string(page).unwrap();
    let kept = std::fs::read_to_string(Path::new(ROOT).join("docs/kernel.md")).unwrap();
    assert!(made == kept, "docs/kernel.md is not what `forebay lab script --simulate --docs` makes");
}

/// Traces that no script has any more would never be looked at.
#[test]
fn every_recorded_trace_has_its_script() {
    let _alone = crate::alone();
    let recorded = Path::new(ROOT).join("lab/scripts/recorded").read_dir().unwrap();
    let names: Vec<String> =
        recorded.map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned()).collect();
    assert_eq!(names.len(), scripts().len());
    for name in names {
        assert!(scripts().contains(&format!("lab/scripts/{name}.toml")), "{name}");
    }
}

#[test]
fn the_place_where_they_part_is_shown() {
    let _alone = crate::alone();
    // A kernel that does not send the last retransmission.
    let directory = tempfile::tempdir().unwrap();
    let (from, to) = (Path::new(ROOT).join("lab/scripts"), directory.path());
    std::fs::copy(from.join("reno-backoff.toml"), to.join("reno-backoff.toml")).unwrap();
    let trace = std::fs::read_to_string(from.join("recorded/reno-backoff.txt")).unwrap();
    let mut lines: Vec<&str> = trace.lines().collect();
    let last = lines.iter().rposition(|line| line.contains("> seg") && !line.contains("tx 1")).unwrap();
    lines.remove(last);
    std::fs::create_dir(to.join("recorded")).unwrap();
    std::fs::write(to.join("recorded/reno-backoff.txt"), lines.join("\n") + "\n").unwrap();
    let script = to.join("reno-backoff.toml");
    let said = ok(&forebay(&["lab", "script", "--simulate", "-v", script.to_str().unwrap()]));
    assert!(said.contains("  kernel:\n") && said.contains("  simulator:\n") && said.contains("\n  * "), "{said}");
}

#[test]
fn bad_scripts_and_missing_traces_are_refused() {
    let _alone = crate::alone();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("own.toml");
    let name = path.to_str().unwrap();
    std::fs::write(
        &path,
        "about = \"x\"\ncongestion_control = \"reno\"\n[[flow]]\nsegments = 5\n[[drop]]\nsegment = 5\n",
    )
    .unwrap();
    let said = refused(&["lab", "script", "--simulate", name]);
    assert!(
        said.contains("own.toml:6: drop.0.segment: there is no such segment") && said.contains("give 0 to 4"),
        "{said}"
    );
    std::fs::write(&path, "about = \"x\"\ncongestion_control = \"reno\"\n[[flow]]\nsegments = 5\n").unwrap();
    let said = refused(&["lab", "script", "--simulate", name]);
    assert!(said.contains("recorded/own.txt") && said.contains("forebay lab script --record"), "{said}");
    std::fs::create_dir(directory.path().join("recorded")).unwrap();
    std::fs::write(directory.path().join("recorded/own.txt"), "# kernel: x\n0 0 > nonsense\n").unwrap();
    let said = refused(&["lab", "script", "--simulate", name]);
    assert!(said.contains("own.txt: line 2: no event"), "{said}");
    let said = refused(&["live", "lab/scripts/none.toml", "--script", name, "--trace", "/dev/null"]);
    assert!(said.contains("none.toml"), "{said}");
}

/// The release of a kernel without what its builder has added: "6.18" of "Linux 6.18.44-x".
fn release(kernel: &str) -> String {
    let numbers = kernel.trim_start_matches("Linux ").split('.').take(2);
    numbers
        .map(|number| number.chars().take_while(char::is_ascii_digit).collect::<String>())
        .collect::<Vec<_>>()
        .join(".")
}

/// The kernel still sends what was recorded. A kernel of another release may do otherwise: then the scripts are only
/// played.
#[test]
fn the_kernel_sends_what_was_recorded() {
    let _alone = crate::alone();
    let chosen =
        ["reno-single-loss", "cubic-tail-3", "reno-syn-ack-lost", "reno-duplicate-data", "cubic-spurious-timeout"];
    let recorded = std::fs::read_to_string(Path::new(ROOT).join("lab/scripts/recorded/reno-single-loss.txt")).unwrap();
    let recorded = recorded.lines().find_map(|line| line.strip_prefix("# kernel: ")).unwrap();
    let ours = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let files: Vec<String> = chosen.iter().map(|name| format!("lab/scripts/{name}.toml")).collect();
    let mut arguments = vec!["lab", "--prefix", "fbts", "script"];
    if release(recorded) == release(&ours) {
        arguments.push("--check");
    }
    arguments.extend(files.iter().map(String::as_str));
    // Round trips of 40 ms are nothing to a machine that is away for 100.
    let mut output = forebay(&arguments);
    for _ in 0..4 {
        if output.status.success() {
            break;
        }
        output = forebay(&arguments);
    }
    let said = ok(&output);
    for name in chosen {
        assert!(said.contains(name), "{said}");
    }
}
