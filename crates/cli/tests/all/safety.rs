//! No way to lose a file, a run or a machine: what is written where, what a run needs, and what is said beforehand.

use crate::simulation;

use simulation::{directory, files, forebay};
use std::path::Path;
use std::process::Stdio;

const SWITCH: &str = "ports = 2\nrate = \"8Gbps\"\nbuffer = 8000\n[policy]\nkind = \"cs\"\n";
const ARRIVALS: &str = "time_ps,bytes,port,queue\n0,1000,0,0\n0,1000,0,0\n";

/// A directory with a switch, arrivals and other names for both.
fn replayable() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    std::fs::write(at("sw.toml"), SWITCH).unwrap();
    std::fs::write(at("a.csv"), ARRIVALS).unwrap();
    std::fs::hard_link(at("a.csv"), at("hard.csv")).unwrap();
    std::os::unix::fs::symlink("a.csv", at("soft.csv")).unwrap();
    directory
}

/// Two hosts at a switch that send to each other.
fn plain(duration: &str, drain: &str, bytes: &str) -> String {
    format!(
        "duration = \"{duration}\"\ndrain = \"{drain}\"\n\
         topology = {{ kind = \"single\", hosts = 2, rate = \"10Gbps\", delay = \"1us\" }}\nswitch = {{ buffer = \"60KB\" }}\n\
         policy = {{ kind = \"cs\" }}\nworkload = [{{ kind = \"permutation\", bytes = \"{bytes}\", transport = \"dctcp\" }}]\n"
    )
}

fn printed(directory: &Path, args: &str) -> String {
    let output = forebay(directory, args);
    assert!(output.status.success() && output.stderr.is_empty(), "{args}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn refused(directory: &Path, args: &str) -> String {
    let output = forebay(directory, args);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && output.stdout.is_empty(), "{args}: {error}");
    assert!(error.contains("\n  help: "), "{args}: {error}");
    error
}

fn change(path: &Path, from: &str, to: &str) {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{from} is not in {text}");
    std::fs::write(path, text.replacen(from, to, 1)).unwrap();
}

// Files

#[test]
fn what_a_command_reads_it_does_not_write() {
    let directory = replayable();
    let before = files(directory.path());
    for args in [
        "replay sw.toml a.csv -o a.csv",
        "replay sw.toml a.csv -o ./../x/a.csv",
        "replay sw.toml a.csv --timeline sw.toml",
        "replay sw.toml a.csv -o hard.csv",
        "replay sw.toml a.csv -o soft.csv",
        "replay sw.toml soft.csv -o a.csv",
        "replay sw.toml hard.csv -o soft.csv --summary",
    ] {
        let name = directory.path().file_name().unwrap().to_str().unwrap();
        for force in ["", " --force"] {
            let error = refused(directory.path(), &format!("{}{force}", args.replace("/x/", &format!("/{name}/"))));
            assert!(error.contains("is read by the same command"), "{args}: {error}");
            assert!(files(directory.path()) == before, "{args}{force} changes a file");
        }
    }
    // What standard input comes from, too.
    let mut command = simulation::command(directory.path(), "replay sw.toml - -o a.csv --force");
    let output = command.stdin(std::fs::File::open(directory.path().join("a.csv")).unwrap()).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(files(directory.path()) == before);
}

#[test]
fn two_outputs_have_two_names() {
    let directory = replayable();
    for args in ["-o x --timeline x", "-o x --timeline ./x", "-o - --timeline -"] {
        let error = refused(directory.path(), &format!("replay sw.toml a.csv {args}"));
        assert!(error.contains("twice") || error.contains("two outputs"), "{args}: {error}");
    }
    assert_eq!(files(directory.path()).len(), 4);
}

#[test]
fn what_is_not_ours_is_replaced_only_with_force() {
    let directory = replayable();
    let at = |name: &str| directory.path().join(name);
    std::fs::write(at("notes"), "mine\n").unwrap();
    for output in ["-o notes", "--timeline notes"] {
        let error = refused(directory.path(), &format!("replay sw.toml a.csv {output}"));
        assert!(error.contains("which Forebay has not written") && error.contains("--force"), "{error}");
    }
    printed(directory.path(), "replay sw.toml a.csv -o notes --force");
    // Now it is ours.
    printed(directory.path(), "replay sw.toml a.csv -o notes");
    assert!(refused(directory.path(), "replay sw.toml a.csv --timeline notes").contains("has not written"));
    // Files to go on with are the user's as soon as they are changed.
    printed(directory.path(), "demo --write demo");
    printed(directory.path(), "demo --write demo");
    change(&at("demo/switch.toml"), "400KB", "300KB");
    assert!(refused(directory.path(), "demo --write demo").contains("demo/switch.toml"));
    printed(directory.path(), "demo --write demo --force");
}

#[test]
fn a_page_takes_the_place_of_nothing_but_a_page() {
    let directory = directory();
    let at = |name: &str| directory.path().join(name);
    printed(directory.path(), "run small.toml --out r");
    std::fs::write(at("my.toml"), "duration = 1\n").unwrap();
    let before = files(directory.path());
    assert!(refused(directory.path(), "report r --out my.toml").contains("has not written"));
    for input in ["r/flows.parquet", "r/summary.json", "r/scenario.toml"] {
        assert!(refused(directory.path(), &format!("report r --out {input} --force")).contains("is read"), "{input}");
    }
    assert!(files(directory.path()) == before);
    printed(directory.path(), "report r --out page.html");
    printed(directory.path(), "report r --out page.html");
}

#[test]
fn the_files_that_a_scenario_names_are_kept() {
    let directory = directory();
    let at = |name: &str| directory.path().join(name);
    std::fs::create_dir(at("out")).unwrap();
    std::fs::write(at("out/flows.csv"), "start_s,src,dst,bytes\n0,0,1,1000\n").unwrap();
    let text = "duration = \"1ms\"\ntopology = { kind = \"single\", hosts = 2, rate = \"10Gbps\", delay = \"1us\" }\n\
                switch = { buffer = \"60KB\" }\npolicy = { kind = \"cs\" }\n\
                workload = [{ kind = \"csv\", path = \"out/flows.csv\", transport = \"dctcp\" }]\n";
    std::fs::write(at("named.toml"), text).unwrap();
    let checked = forebay(directory.path(), "check named.toml");
    assert!(checked.status.success(), "{checked:?}");
    let before = files(directory.path());
    for args in
        ["run named.toml --out out", "run named.toml --out out --force", "run named.toml --out out --csv --force"]
    {
        refused(directory.path(), args);
        assert!(files(directory.path()) == before, "{args}");
    }
    assert!(refused(directory.path(), "run named.toml --out out --force").contains("flows.csv here is read"));
}

// Results

#[test]
fn results_of_another_scenario_or_version_are_kept() {
    let directory = directory();
    let at = |name: &str| directory.path().join(name);
    printed(directory.path(), "run small.toml --out r");
    // The same again, and over a damaged one.
    printed(directory.path(), "run small.toml --out r");
    std::fs::write(at("r/summary.json"), "{").unwrap();
    printed(directory.path(), "run small.toml --out r");
    let before = files(directory.path());
    let other = "run small.toml --set policy.alpha=2 --out r";
    let error = refused(directory.path(), other);
    assert!(
        error.contains("r: this is the result of another scenario: it has `alpha = 1.0`, this has `alpha = 2.0`"),
        "{error}"
    );
    assert!(error.contains("--force") && files(directory.path()) == before, "{error}");
    printed(directory.path(), &format!("{other} --force"));
    printed(directory.path(), other);
    let version = concat!("\"version\": \"", env!("CARGO_PKG_VERSION"), "\"");
    change(&at("r/summary.json"), version, "\"version\": \"0.0.1\"");
    assert!(refused(directory.path(), other).contains("another version, 0.0.1"));
    // Something that nobody knows.
    std::fs::create_dir(at("mine")).unwrap();
    std::fs::write(at("mine/notes"), "").unwrap();
    assert!(refused(directory.path(), "run small.toml --out mine").contains("something else"));
    printed(directory.path(), "run small.toml --out mine --force");
    assert!(at("mine/notes").exists() && at("mine/summary.json").exists());
}

#[test]
fn a_directory_that_another_command_writes_to_is_left_alone() {
    let directory = directory();
    let claim = forebay_runner::destination::Claim::take(&directory.path().join("out")).unwrap();
    for command in ["run", "sweep"] {
        let error = refused(directory.path(), &format!("{command} small.toml --out out --force"));
        assert!(error.contains("out: another forebay is writing to this directory"), "{error}");
    }
    assert_eq!(files(directory.path()).len(), 1);
    drop(claim);
    printed(directory.path(), "run small.toml --out out");
}

#[test]
fn runs_of_another_build_are_run_again_and_that_is_said() {
    let directory = directory();
    let sweep = "sweep small.toml --seeds 1-2 --out s";
    printed(directory.path(), sweep);
    assert!(printed(directory.path(), sweep).contains("2 of 2 runs were finished before"));
    let summary = directory.path().join("s/all/seed1/summary.json");
    let text = std::fs::read_to_string(&summary).unwrap();
    let (_, build) = text.split_once("\"build\": \"").unwrap();
    change(&summary, &build[..16], "0123456789abcdef");
    let output = forebay(directory.path(), sweep);
    let (told, error) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(error, "1 of 2 runs here are of another build of forebay, and are run again\n");
    assert!(told.contains("1 of 2 runs were finished before"), "{told}");
    assert!(std::fs::read_to_string(&summary).unwrap() != text.replace(&build[..16], "0123456789abcdef"));
    // Results from before builds were written down.
    change(&summary, "    \"build\": \"", "    \"was\": \"");
    assert!(String::from_utf8(forebay(directory.path(), sweep).stderr).unwrap().starts_with("1 of 2 runs here"));
}

/// One table cannot be written, as if the disk were full just then: the summary is told all the same, and the other
/// tables stay.
#[test]
fn a_run_that_cannot_be_written_is_told_and_kept_as_far_as_it_goes() {
    let directory = directory();
    let at = |name: &str| directory.path().join(name);
    printed(directory.path(), "run small.toml --out r");
    let told = printed(directory.path(), "run small.toml --out whole");
    for table in ["queues", "timeline"] {
        let place = at("r").join(format!("{table}.parquet"));
        std::fs::remove_file(&place).unwrap();
        std::fs::create_dir(&place).unwrap();
        std::fs::write(place.join("x"), "").unwrap();
        let output = forebay(directory.path(), "run small.toml --out r --force");
        let (text, error) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(&format!("r/{table}.parquet: cannot write it")), "{error}");
        let first = |text: &str| {
            text.lines().take_while(|line| !line.starts_with("cost")).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(first(&text), first(&told), "the summary is told");
        assert!(!at("r/summary.json").exists(), "this is no whole result");
        for kept in ["flows", "queries", "queue_timeline", "progress"] {
            let [kept, whole] =
                ["r", "whole"].map(|out| std::fs::read(at(out).join(format!("{kept}.parquet"))).unwrap());
            assert!(kept == whole);
        }
        std::fs::remove_dir_all(&place).unwrap();
        printed(directory.path(), "run small.toml --out r --force");
    }
}

// Memory

#[test]
fn samples_do_not_fill_the_memory() {
    let directory = directory();
    let fine = "--set measure.sample=\"1ns\" --set duration=\"400us\"";
    let checked = printed(directory.path(), &format!("check small.toml {fine}"));
    assert!(
        checked.contains(
            "\nSamples: at most 2000000 rows, 91.2MB before they are compressed by the end of the duration; "
        ),
        "{checked}"
    );
    let output = forebay(directory.path(), &format!("run small.toml {fine} --out out"));
    assert!(output.status.success(), "{output:?}");
    // A run says it, too, before it begins.
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("Samples: at most 2000000 rows, 91.2MB"), "{output:?}");
    let summary = std::fs::read_to_string(directory.path().join("out/summary.json")).unwrap();
    let (_, peak) = summary.split_once("\"peak_memory\": ").unwrap();
    let peak: u64 = peak.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap();
    assert!(peak < 50_000_000, "{peak} bytes for samples that are written as they are taken");
    let table = |name: &str| forebay_results::Table::read_parquet(&directory.path().join("out").join(name)).unwrap();
    assert!(table("queue_timeline.parquet").rows() > 1_000_000 && table("progress.parquet").rows() > 200_000);
}

// Time

#[test]
fn updates_that_change_nothing_take_no_time() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    // Two packets at once, and two more a second later.
    let arrivals = "time_ps,bytes,port,queue\n0,1000,0,0\n0,1000,0,0\n1000000000000,1000,1,0\n1000000000000,1000,1,0\n";
    std::fs::write(at("a.csv"), arrivals).unwrap();
    for interval in ["1ps", "1ns"] {
        let switch = format!(
            "ports = 2\nrate = \"8Gbps\"\nbuffer = 8000\n[policy]\nkind = \"abm\"\nalpha = 1\ninterval = \"{interval}\"\n"
        );
        std::fs::write(at("sw.toml"), switch).unwrap();
        for every in ["", "--every 500ns"] {
            let mut command =
                simulation::command(directory.path(), &format!("replay sw.toml a.csv --timeline t.csv {every}"));
            let mut child = command.stdout(Stdio::null()).spawn().unwrap();
            let start = std::time::Instant::now();
            let status = loop {
                if let Some(status) = child.try_wait().unwrap() {
                    break status;
                }
                if start.elapsed().as_secs() >= 10 {
                    child.kill().unwrap();
                    panic!("abm with an interval of {interval} hangs {every}");
                }
                std::thread::sleep(std::time::Duration::from_millis(10));
            };
            assert!(status.success());
            let rows = std::fs::read_to_string(at("t.csv")).unwrap();
            assert!(rows.lines().last().unwrap().starts_with("1000001000000,1,0,0,0,"), "{rows}");
            assert!(rows.contains("\n0,0,0,1000,1,"), "{rows}");
        }
    }
}

// What is said

#[test]
fn settings_with_which_nothing_gets_through_are_told() {
    let directory = directory();
    for (set, problem) in [
        (
            "policy.alpha=0.0",
            "drops every full packet of \"random\" (dctcp, 1500 B, queue 0), even with nothing in its buffer (threshold): its threshold is 0B",
        ),
        ("switch.buffer=1B", "(oversize): its buffer is 1B"),
        ("switch.cell=100KB", "drops every full packet of \"bursts\""),
    ] {
        for command in ["check small.toml", "run small.toml --force --out out", "sweep small.toml --force --out sweep"]
        {
            let output = forebay(directory.path(), &format!("{command} --set {set}"));
            let (text, error) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
            assert!(output.status.success(), "{set}: {error}");
            assert!(error.starts_with("warning: switch0 ") && error.contains(problem), "{set}: {error}");
            if command.starts_with("run") {
                assert!(text.contains(" flows completed: ") && text.contains(" for the reason \""), "{set}: {text}");
            }
        }
    }
    // One that has too little time loses nothing.
    std::fs::write(directory.path().join("short.toml"), plain("50us", "1us", "10MB")).unwrap();
    let text = printed(directory.path(), "run short.toml");
    assert!(
        text.contains("none of 2 flows completed: no packet was lost, so that there was too little time"),
        "{text}"
    );
}

#[test]
fn packets_lost_on_failed_links_are_told_everywhere() {
    let directory = directory();
    let failing = format!(
        "{}\n[[failure]]\nat = \"100us\"\nlink = [\"host0\", \"switch0\"]\nuntil = \"300us\"\n",
        simulation::SMALL
    );
    std::fs::write(directory.path().join("failing.toml"), failing).unwrap();
    let told = printed(directory.path(), "run failing.toml --out a");
    let lost =
        told.split_once("failed links and switches ").unwrap().1.split(['\n', ',']).next().unwrap().trim().to_owned();
    assert!(lost.parse::<u64>().unwrap() > 0, "{told}");
    let compared = printed(directory.path(), "compare a a");
    let line = compared.lines().find(|line| line.starts_with("packets lost on failed links and switches ")).unwrap();
    assert!(line.split_whitespace().any(|word| word == lost), "{line}");
    printed(directory.path(), "report a --out a.html");
    let page = std::fs::read_to_string(directory.path().join("a.html")).unwrap();
    assert!(page.contains("\"failed links\""), "the page has the reason; no switch fails");
    // With drops one by one, losses have a row of their own, with times and links.
    printed(directory.path(), "run failing.toml --set measure.drops=all --out b");
    printed(directory.path(), "report b --out b.html");
    let page = std::fs::read_to_string(directory.path().join("b.html")).unwrap();
    assert!(
        page.contains("\"name\":\"failed links\"") && page.contains("\"on host0\u{2192}switch0\""),
        "the page has a row"
    );
    let times = "host0 \u{2013} switch0 fails at 100 us, is back at 300 us.";
    assert!(page.contains(times), "the network has the times");
    let swept = printed(directory.path(), "sweep failing.toml --out s");
    assert!(swept.contains("lost: packets lost outside of the buffers") && swept.contains(&lost), "{swept}");
}

#[test]
fn overload_is_told_where_most_is_asked_for() {
    let directory = directory();
    let args = "check small.toml --set workload.1.rate=2000 --set workload.0.load=0.96";
    let error = refused(directory.path(), args);
    assert!(error.starts_with("error: --set \"workload.0.load=0.96\": workload.0.load:"), "{error}");
}

#[test]
fn too_many_seeds_are_told_with_the_limit() {
    let directory = directory();
    for seeds in ["1-1000000000000", "1-6000,7001-13000"] {
        let error = refused(directory.path(), &format!("sweep small.toml --seeds {seeds}"));
        assert!(error.contains("too many seeds\n  help: give at most 10000 seeds"), "{error}");
    }
}

#[test]
fn directories_have_the_names_of_scenarios() {
    let directory = directory();
    std::fs::write(directory.path().join("named.toml"), format!("name = \"my net: 4 hosts\"\n{}", simulation::SMALL))
        .unwrap();
    let text = printed(directory.path(), "run named.toml");
    assert!(text.ends_with("results: results/my-net-4-hosts-seed1\n"), "{text}");
    let text = printed(directory.path(), "sweep named.toml --set policy.alpha=[1.0]");
    assert!(text.contains("results: results/my-net-4-hosts-policy.alpha=1.0-sweep\n"), "{text}");
    // Lists keep their commas, so that no two have one name.
    let args = "sweep small.toml --set switch.queues=2 --set scheduler.kind=rr --grid policy.alpha=[8.0,1.0],[1.0,1.0]";
    assert!(printed(directory.path(), &format!("{args} --out lists")).starts_with("point"));
    for point in ["alpha=8.0,1.0", "alpha=1.0,1.0"] {
        assert!(directory.path().join("lists").join(point).join("seed1/summary.json").exists(), "{point}");
    }
}

#[test]
fn a_page_of_unrelated_results_is_refused() {
    let directory = directory();
    std::fs::write(directory.path().join("other.toml"), simulation::SMALL).unwrap();
    printed(directory.path(), "run small.toml");
    printed(directory.path(), "sweep other.toml");
    let error = refused(directory.path(), "report results");
    assert!(
        error.contains("results of 2 scenarios below it: results/other-sweep (other), results/small-seed1 (small)"),
        "{error}"
    );
    assert!(!directory.path().join("results/report.html").exists());
    printed(directory.path(), "report results/small-seed1 results/other-sweep");
    printed(directory.path(), "run small.toml --seed 2 --out both/2");
    printed(directory.path(), "run small.toml --out both/1");
    printed(directory.path(), "report both");
}

/// Not all of a disk can be had: a run that needs more is not begun.
#[test]
fn a_run_without_space_is_not_begun() {
    let directory = directory();
    let text = format!("{}measure = {{ sample = \"1ns\", timeline = \"all\" }}\n", plain("4000000s", "1us", "1KB"));
    std::fs::write(directory.path().join("long.toml"), text).unwrap();
    let output = forebay(directory.path(), "run long.toml --out out");
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains(" at least, and ") && error.contains(" are free\n  help: make room"), "{error}");
    assert!(!directory.path().join("out").exists());
}
