//! `forebay run`, `sweep`, `check`, `compare`, `report` and `bench` as a person uses them.

use crate::simulation;

use forebay_results::Table;
use forebay_results::directory::file_names;
use simulation::{command, directory, files, forebay};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// What every run leaves, in order: the tables as Parquet, the scenario and the summary.
fn kept() -> Vec<String> {
    let mut names: Vec<String> = file_names().filter(|name| !name.ends_with(".csv")).collect();
    names.sort();
    assert!(names.iter().any(|name| name == "flows.parquet") && names.iter().any(|name| name == "summary.json"));
    names
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

fn read(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(path).unwrap()
}

fn names(directory: &Path) -> Vec<String> {
    files(directory).keys().map(|name| name.display().to_string()).collect()
}

/// `summary.json` without what the run cost, which is at its end.
fn without_cost(summary: &str) -> &str {
    let (kept, cost) = summary.split_once("\"cost\"").unwrap();
    assert!(cost.contains("\"cpu_seconds\"") && cost.lines().count() < 8, "the cost is last");
    kept
}

/// The files of a directory, and summaries without what cannot be repeated.
pub(crate) fn repeatable(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let cut = |(name, contents): (PathBuf, Vec<u8>)| {
        if !name.ends_with("summary.json") {
            return (name, contents);
        }
        (name, without_cost(std::str::from_utf8(&contents).unwrap()).into())
    };
    files(directory).into_iter().map(cut).collect()
}

fn assert_snapshot(name: &str, text: &str) {
    let text = text.replace(concat!("forebay ", env!("CARGO_PKG_VERSION")), "forebay VERSION");
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(name, text) });
}

// run

#[test]
fn a_run_writes_its_directory_and_tells_what_happened() {
    let directory = directory();
    let text = printed(directory.path(), "run small.toml");
    let small: Vec<String> = kept().iter().map(|name| format!("small-seed1/{name}")).collect();
    assert_eq!(names(&directory.path().join("results")), small);
    assert!(text.ends_with("\nresults: results/small-seed1\n"));
    // What the run cost is another every time.
    let told: Vec<&str> = text.lines().filter(|line| !line.starts_with("cost: ")).collect();
    assert_eq!(told.len() + 1, text.lines().count());
    assert!(told.iter().all(|line| line.chars().count() <= 120), "{text}");
    assert_snapshot("run_small", &told.join("\n"));
    let summary = read(directory.path().join("results/small-seed1/summary.json"));
    assert!(summary.contains("\"seed\": 1,") && summary.contains("\"interrupted\": false"), "{summary}");
    assert!(summary.contains(concat!("\"version\": \"", env!("CARGO_PKG_VERSION"), "\"")), "{summary}");
}

#[test]
fn the_same_run_twice_gives_the_same_bytes() {
    let directory = directory();
    for out in ["a", "b"] {
        printed(directory.path(), &format!("run small.toml --csv --set measure.trace_flows=[0] --out {out}"));
    }
    let [a, b] = ["a", "b"].map(|out| repeatable(&directory.path().join(out)));
    assert_eq!(a.len(), file_names().count() + 1, "with all tables as CSV, and a capture");
    assert!(a == b, "the files differ");
    // Again over the first, and nothing of it is left that was not asked for now.
    printed(directory.path(), "run small.toml --out a --force");
    assert_eq!(names(&directory.path().join("a")), kept());
    let over = repeatable(&directory.path().join("a"));
    // Where nobody watches packets leave, there are fewer events for the same results.
    let results = |contents: &[u8]| -> Vec<Vec<u8>> {
        let lines = contents.split(|byte| *byte == b'\n').map(<[u8]>::to_vec);
        lines.filter(|line| !line.trim_ascii_start().starts_with(b"\"events\": ")).collect()
    };
    // Flows that are not traced have no responses in the table.
    let differs = ["scenario.toml", "responses.parquet"];
    let is_same =
        |name: &Path, file: &[u8]| differs.iter().any(|end| name.ends_with(end)) || results(&b[name]) == results(file);
    assert!(over.iter().all(|(name, file)| is_same(name, file)));
}

#[test]
fn the_resolved_scenario_runs_the_same() {
    let directory = directory();
    printed(directory.path(), "run small.toml --set policy.kind=abm --set policy.interval=20us --seed 5 --out a");
    printed(directory.path(), "run a/scenario.toml --out b");
    let [a, b] = ["a", "b"].map(|out| repeatable(&directory.path().join(out)));
    assert!(a == b);
}

#[test]
fn seeds_and_settings_change_the_results_and_the_names() {
    let directory = directory();
    for args in ["", "--seed 2", "--set policy.alpha=0.25", "--seed 2 --set policy.kind=\"cs\" -q"] {
        printed(directory.path(), &format!("run small.toml {args}"));
    }
    let results = directory.path().join("results");
    let found = ["small-policy.alpha=0.25-seed1", "small-policy.kind=cs-seed2", "small-seed1", "small-seed2"];
    let summaries = found.map(|name| read(results.join(name).join("summary.json")));
    assert_eq!(std::fs::read_dir(&results).unwrap().count(), 4);
    // The directory has the scenario's name, not the file's.
    printed(directory.path(), "run small.toml --set name=other");
    assert!(results.join("other-seed1/summary.json").exists());
    let flows = found.map(|name| std::fs::read(results.join(name).join("flows.parquet")).unwrap());
    for (number, one) in flows.iter().enumerate() {
        assert!(flows[number + 1..].iter().all(|other| other != one), "{} is like another", found[number]);
    }
    assert!(summaries[3].contains("\"seed\": 2,") && summaries[1].contains("\"seed\": 2,"));
    assert!(read(results.join(found[0]).join("scenario.toml")).contains("alpha = 0.25"));
}

#[test]
fn csv_says_what_parquet_says() {
    let directory = directory();
    printed(directory.path(), "run small.toml --csv --out out");
    for table in ["flows", "queries", "queues", "timeline", "queue_timeline", "progress", "chips", "controls"] {
        let path = directory.path().join("out").join(table);
        let parquet = Table::read_parquet(&path.with_extension("parquet")).unwrap();
        let csv = read(path.with_extension("csv"));
        let mut lines = csv.lines();
        let header: Vec<&str> = lines.next().unwrap().split(',').collect();
        assert!(header.iter().all(|name| parquet.column(name).is_some()), "{header:?}");
        // There is no chip in it.
        assert!(
            lines.count() == parquet.rows() && (parquet.rows() > 0) != ["chips", "controls"].contains(&table),
            "{table}"
        );
    }
}

#[test]
fn what_is_not_a_result_is_not_written_over() {
    let directory = directory();
    let at = |path: &str| directory.path().join(path);
    for (path, problem) in
        [("notes", "something else"), ("a-file", "not a directory"), ("own", "the scenario itself"), ("sweep", "sweep")]
    {
        if path == "a-file" {
            std::fs::write(at(path), "").unwrap();
            continue;
        }
        std::fs::create_dir(at(path)).unwrap();
        match path {
            "notes" => std::fs::write(at("notes/important.txt"), "x").unwrap(),
            // The user's own scenario must not be replaced by the resolved one, not even beside a result.
            "own" => {
                std::fs::copy(at("small.toml"), at("own/scenario.toml")).unwrap();
                std::fs::write(at("own/summary.json"), "{}").unwrap();
            }
            _ => drop(printed(directory.path(), "sweep small.toml --out sweep")),
        }
        let before = files(&at(path));
        let scenario = if path == "own" { "own/scenario.toml" } else { "small.toml" };
        let error = refused(directory.path(), &format!("run {scenario} --out {path}"));
        assert!(error.contains(problem) && error.contains("\n  help: give another directory"), "{error}");
        assert!(files(&at(path)) == before);
    }
    assert!(refused(directory.path(), "run small.toml --out a-file").contains("not a directory"));
    assert!(refused(directory.path(), "sweep small.toml --out notes").contains("something else"));
    printed(directory.path(), "run small.toml --out run");
    assert!(refused(directory.path(), "sweep small.toml --out run").contains("the results of a run"));
}

#[test]
fn packets_are_captured_in_order_of_time() {
    let directory = directory();
    printed(
        directory.path(),
        "run small.toml --set measure.trace_flows=[0,3] --set measure.trace_switches=all --out out",
    );
    let capture = std::fs::read(directory.path().join("out/trace.pcapng")).unwrap();
    assert_eq!(capture[..4], [0x0a, 0x0d, 0x0d, 0x0a], "the magic number of a section");
    let word = |at: usize| u32::from_le_bytes(capture[at..at + 4].try_into().unwrap());
    assert_eq!(word(8), 0x1a2b_3c4d, "little-endian");
    let (mut at, mut times, mut interfaces) = (0, Vec::new(), 0);
    while at < capture.len() {
        let (kind, length) = (word(at), word(at + 4) as usize);
        assert_eq!(word(at + length - 4) as usize, length, "a block ends with its length");
        interfaces += u32::from(kind == 1);
        if kind == 6 {
            assert!(word(at + 8) < interfaces, "a packet of an interface that is not there");
            times.push(u64::from(word(at + 12)) << 32 | u64::from(word(at + 16)));
        }
        at += length;
    }
    assert!(times.is_sorted() && times.len() > 100, "{} packets", times.len());
    assert!(interfaces >= 4, "four hosts or ports were seen");
}

// Interrupts

/// Flows without end for as long as one likes.
const ENDLESS: &str = r#"duration = "1000s"
topology = { kind = "single", hosts = 2, rate = "10Gbps", delay = "1us" }
switch = { buffer = "60KB" }
policy = { kind = "cs" }
workload = [{ kind = "permutation", bytes = "endless", transport = "dctcp" }]
"#;

/// Starts a command, waits for a file, and presses Ctrl-C.
fn interrupted(directory: &Path, args: &str, file: &str) -> Output {
    let mut child = command(directory, args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while !directory.join(file).exists() {
        let running = child.try_wait().unwrap().is_none() && start.elapsed() < Duration::from_secs(30);
        if !running {
            let _ = child.kill();
            panic!("{args}: {file} does not appear: {:?}", child.wait_with_output());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(300));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    output
}

#[test]
fn an_interrupted_run_writes_what_it_has() {
    let directory = directory();
    std::fs::write(directory.path().join("endless.toml"), ENDLESS).unwrap();
    let output = interrupted(directory.path(), "run endless.toml --out out", "out");
    assert_eq!(names(&directory.path().join("out")), kept());
    assert!(read(directory.path().join("out/summary.json")).contains("\"interrupted\": true"));
    let (text, error) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(
        text.starts_with("endless, seed 1, ") && text.lines().next().unwrap().contains("interrupted after"),
        "{text}"
    );
    assert!(error.contains("interrupted"), "{error}");
    assert!(printed(directory.path(), "compare out out").contains(", interrupted\n"));
}

#[test]
fn an_interrupted_sweep_goes_on_where_it_was() {
    let directory = directory();
    std::fs::write(directory.path().join("endless.toml"), ENDLESS).unwrap();
    let out = directory.path().join("out");
    let args = "sweep endless.toml --out out --jobs 1 --grid duration=100us,1000s";
    let output = interrupted(directory.path(), args, "out/duration=100us/seed1/summary.json");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("1 of 2 runs are not finished; give the same command again to go on\n"), "{text}");
    assert!(!out.join("duration=1000s").exists(), "an unfinished run leaves nothing");
    assert!(out.join("sweep.csv").exists() && out.join("report.html").exists());
    let first = std::fs::metadata(out.join("duration=100us/seed1/summary.json")).unwrap().modified().unwrap();
    let args = "sweep endless.toml --out out --grid duration=100us,200us";
    let text = printed(directory.path(), args);
    assert!(text.contains("1 of 2 runs were finished before and not run again\n"), "{text}");
    assert_eq!(std::fs::metadata(out.join("duration=100us/seed1/summary.json")).unwrap().modified().unwrap(), first);
    assert_eq!(read(out.join("sweep.csv")).lines().count(), 3);
}

#[test]
fn a_sweep_that_has_finished_nothing_can_go_on_too() {
    let directory = directory();
    std::fs::write(directory.path().join("endless.toml"), ENDLESS).unwrap();
    let output = interrupted(directory.path(), "sweep endless.toml --out out --seeds 1-3", "out");
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text, "3 of 3 runs are not finished; give the same command again to go on\n");
    // As if it had been killed while it wrote.
    std::fs::create_dir_all(directory.path().join("out/all/seed1")).unwrap();
    std::fs::write(directory.path().join("out/all/seed1/flows.parquet"), "").unwrap();
    printed(directory.path(), "sweep endless.toml --out out --seeds 1-3 --set duration=50us");
}

#[test]
fn the_second_of_two_runs_into_one_directory_is_told() {
    let directory = directory();
    std::fs::write(directory.path().join("endless.toml"), ENDLESS).unwrap();
    for (first, second) in [
        ("run endless.toml --out out", "run endless.toml --out out"),
        ("sweep endless.toml --out sweep", "sweep endless.toml --out sweep"),
    ] {
        let mut child = command(directory.path(), first).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let start = Instant::now();
        // Until the first has it, the second could come first.
        let out = directory.path().join(first.split_whitespace().last().unwrap());
        while !out.exists() && start.elapsed() < Duration::from_secs(30) {
            std::thread::sleep(Duration::from_millis(10));
        }
        std::thread::sleep(Duration::from_millis(300));
        let output = forebay(directory.path(), second);
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(130));
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains("another forebay is writing to this directory\n  help: wait for it"), "{error}");
    }
}

// sweep

const GRID: &str = "--grid policy.alpha=0.5,2 --seeds 1-2";

#[test]
fn the_number_of_jobs_changes_nothing() {
    let directory = directory();
    for jobs in [1, 2, 8] {
        printed(directory.path(), &format!("sweep small.toml {GRID} --csv --jobs {jobs} --out jobs/{jobs}"));
    }
    let [one, two, eight] = ["jobs/1", "jobs/2", "jobs/8"].map(|out| repeatable(&directory.path().join(out)));
    let names: Vec<String> = one.keys().map(|name| name.display().to_string()).collect();
    assert_eq!(
        names.len(),
        4 * file_names().count() + 5,
        "four runs with CSV, the tables of seeds and points, report.html"
    );
    for (name, contents) in &one {
        assert!(two[name] == *contents && eight[name] == *contents, "{} differs", name.display());
    }
    assert_eq!((two.len(), eight.len()), (one.len(), one.len()));
    // A run of the sweep is the run that it names.
    printed(directory.path(), "run small.toml --set policy.alpha=2 --seed 2 --csv --out alone");
    assert!(repeatable(&directory.path().join("alone")) == repeatable(&directory.path().join("jobs/1/alpha=2/seed2")));
    // The page can be made again.
    let page = read(directory.path().join("jobs/1/report.html"));
    assert_eq!(printed(directory.path(), "report jobs/1"), "report: jobs/1/report.html\n");
    assert!(read(directory.path().join("jobs/1/report.html")) == page);
}

#[test]
fn what_is_finished_is_not_run_again_unless_something_has_changed() {
    let directory = directory();
    let first = printed(directory.path(), &format!("sweep small.toml {GRID}"));
    assert_snapshot("sweep_small", &first);
    let out = directory.path().join("results/small-sweep");
    let times = || {
        let runs = ["alpha=0.5/seed1", "alpha=0.5/seed2", "alpha=2/seed1", "alpha=2/seed2"];
        runs.map(|run| std::fs::metadata(out.join(run).join("flows.parquet")).unwrap().modified().unwrap())
    };
    let before = times();
    let again = printed(directory.path(), &format!("sweep small.toml {GRID}"));
    assert_eq!(again, format!("{first}4 of 4 runs were finished before and not run again\n"));
    assert_eq!(times(), before);
    // One that is damaged is run again, and only that.
    std::fs::write(out.join("alpha=2/seed1/summary.json"), "{").unwrap();
    let again = printed(directory.path(), &format!("sweep small.toml {GRID}"));
    assert_eq!(again, format!("{first}3 of 4 runs were finished before and not run again\n"));
    let after = times();
    assert!(after[2] > before[2] && (after[0], after[1], after[3]) == (before[0], before[1], before[3]));
    // Those that lack what is asked for now are, too.
    let again = printed(directory.path(), &format!("sweep small.toml {GRID} --csv"));
    assert_eq!(again, first);
    let after = times();
    // With another scenario in the same directory, all are, if that is meant.
    let other = format!("sweep small.toml {GRID} --set duration=400us --out results/small-sweep");
    let error = refused(directory.path(), &other);
    assert!(error.contains("alpha=0.5/seed1: this is the result of another scenario: it has `duration = "), "{error}");
    let text = printed(directory.path(), &format!("{other} --force"));
    assert!(!text.contains("not run again") && text != first, "{text}");
    assert!(times().iter().zip(after).all(|(now, then)| *now > then));
}

#[test]
fn a_scenario_without_a_sweep_has_one_point() {
    let directory = directory();
    let text = printed(directory.path(), "sweep small.toml --seeds 3,1");
    assert!(text.starts_with("seeds  ") && text.lines().nth(2).unwrap().trim().starts_with('2'), "{text}");
    assert_eq!(
        names(&directory.path().join("results/small-sweep"))
            .iter()
            .filter(|name| name.ends_with("summary.json"))
            .count(),
        2
    );
    assert!(directory.path().join("results/small-sweep/all/seed3/flows.parquet").exists());
    // The only point of a sweep stands for it.
    let text = printed(directory.path(), "compare results/small-sweep results/small-sweep/all/seed1");
    assert!(text.starts_with("A: results/small-sweep: small, seeds 1, 3, "), "{text}");
}

#[test]
fn variants_and_grids_are_combined() {
    let directory = directory();
    let sweep = "[sweep]\nseeds = [1]\n[[sweep.variant]]\nname = \"cut: DT\"\n\
                 [[sweep.variant]]\nname = \"CS\"\n\"policy.kind\" = \"cs\"\n";
    let text = format!("{}{sweep}", simulation::SMALL);
    std::fs::write(directory.path().join("variants.toml"), text).unwrap();
    let text = printed(directory.path(), "sweep variants.toml --grid switch.buffer=60KB,90KB --grid topology.hosts=4");
    let points: Vec<&str> =
        text.lines().skip(2).map_while(|line| line.split_once("  ")).map(|(point, _)| point).collect();
    let both = |name: &str| [60, 90].map(|kb| format!("{name} buffer={kb}KB hosts=4"));
    assert_eq!(points, [both("cut: DT"), both("CS")].concat());
    let page = read(directory.path().join("results/variants-sweep/report.html"));
    assert!(page.contains(">CS buffer=90KB hosts=4</th>") && page.contains(">cut: DT buffer=60KB hosts=4</th>"));
    let error = refused(directory.path(), "compare results/variants-sweep results/variants-sweep");
    assert!(error.contains("a sweep of 4 points\n  help: give one of its points: results/variants-sweep/"), "{error}");
    printed(
        directory.path(),
        "compare results/variants-sweep/CS-buffer=60KB-hosts=4 results/variants-sweep/CS-buffer=90KB-hosts=4",
    );
}

// compare and report

#[test]
fn two_runs_and_two_points_side_by_side() {
    let directory = directory();
    printed(directory.path(), &format!("sweep small.toml {GRID} --out sweep"));
    let told = |args: &str| {
        let text = printed(directory.path(), args);
        text.lines().filter(|line| !line.starts_with("CPU time")).collect::<Vec<_>>().join("\n")
    };
    assert_snapshot("compare_runs", &told("compare sweep/alpha=0.5/seed1 sweep/alpha=2/seed1"));
    let points = told("compare sweep/alpha=0.5 sweep/alpha=2/");
    assert!(points.contains("B-A, paired by seed, excludes zero"), "{points}");
    assert!(points.starts_with("A: sweep/alpha=0.5: small, seeds 1, 2, ") && points.contains('±'), "{points}");
    assert!(points.contains("bursts: QCT mean ") && points.contains("  apart\n"), "{points}");
    let itself = told("compare sweep/alpha=2 sweep/alpha=2");
    assert!(!itself.contains(" * ") && itself.contains(" 1.00 "), "{itself}");
}

#[test]
fn pages_of_one_run_of_several_and_of_a_sweep() {
    let directory = directory();
    printed(directory.path(), "run small.toml --out one");
    printed(directory.path(), "run small.toml --seed 2 --out two");
    printed(directory.path(), &format!("sweep small.toml {GRID} --out sweep"));
    let page = |args: &str, path: &str| {
        assert_eq!(printed(directory.path(), args), format!("report: {path}\n"));
        let page = read(directory.path().join(path));
        // Self-contained: no address to load anything from.
        assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
        assert!(!page.contains("http:") && !page.contains("https:") && !page.contains("src="), "{args}");
        assert!(page.contains("default-src 'none'"));
        page
    };
    let one = page("report one", "one/report.html");
    assert!(one.contains("<h1>small</h1>") && one.contains("CPU seconds") && one.contains("host links"));
    let here = page("report one two", "report.html");
    assert!(here.contains(">one<") && here.contains(">two<"), "the runs have the names of their directories");
    assert_eq!(
        page("report one two one/ --out other.html", "other.html"),
        here,
        "a run that is given twice is shown once"
    );
    // Of a sweep, all seeds of each point together, compared with the first; without what depends on the other runs.
    let sweep = page("report sweep", "sweep/report.html");
    assert!(sweep.contains(">alpha=0.5</th>") && sweep.contains(">alpha=2</th>"));
    assert!(sweep.contains("<dt>seed</dt><dd>1 to 2</dd>") && sweep.contains("Means over seeds (1 to 2)"));
    assert!(sweep.contains(
        "the difference from <span class=\"baseline\">alpha=0.5</span><span id=\"significance-note\">, seed by seed"
    ));
    assert!(!sweep.contains("CPU seconds") && sweep.contains("packet-hops"));
    let point = page("report sweep/alpha=2", "sweep/alpha=2/report.html");
    assert!(
        point.contains(">alpha=2</th>") && point.contains("Means over seeds") && !point.contains("class=\"baseline\"")
    );
    // Points of a sweep side by side are those of the sweep.
    let points = page("report sweep/alpha=0.5 sweep/alpha=2 --out points.html", "points.html");
    assert!(points == sweep);
    // What the page is made from can be written again, and the page does not get in the way.
    printed(directory.path(), "run small.toml --out one");
    printed(directory.path(), &format!("sweep small.toml {GRID} --out sweep"));
    assert!(page("report .", "report.html").contains(">sweep/alpha=2</th>"));
}

// check

fn scenarios() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let all = files(&root).into_keys().filter(|path| path.extension().is_some_and(|end| end == "toml"));
    // What the papers say stands beside their scenarios.
    let all = all.filter(|path| !path.components().any(|part| part.as_os_str() == "claims"));
    all.map(|path| root.join(path)).collect()
}

#[test]
fn a_check_in_numbers() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    assert_snapshot("check_compare", &printed(&root, "check scenarios/compare.toml"));
}

#[test]
fn every_bundled_scenario_is_sound_and_reads_back() {
    assert!(scenarios().len() >= 20);
    let sweeps = |line: &&str| line.starts_with("The sweep has ");
    for path in scenarios() {
        let name = path.file_name().unwrap().to_str().unwrap();
        // Paths of files are seen from the scenario's directory, so that the resolved one must be beside them.
        let copies = tempfile::tempdir().unwrap();
        let directory = copies.path();
        for (file, contents) in files(path.parent().unwrap()).iter().filter(|(file, _)| file.components().count() == 1)
        {
            std::fs::write(directory.join(file), contents).unwrap();
        }
        if read(&path).contains("\nkind = \"analysis\"\n") {
            let error = refused(directory, &format!("check {name}"));
            assert!(error.contains("give it to forebay reproduce"), "{name}: {error}");
            continue;
        }
        // What switches made from a CONFIG_DB leave out of it is told beside the result.
        let printed = |args: &str| {
            let output = forebay(directory, args);
            let told = String::from_utf8(output.stderr).unwrap();
            assert!(output.status.success() && told.lines().all(|line| line.starts_with("note: ")), "{args}: {told}");
            String::from_utf8(output.stdout).unwrap()
        };
        let text = printed(&format!("check {name}"));
        for told in ["buffer", "base RTT", "BDP", "links"] {
            assert!(text.contains(told), "{name} lacks {told}\n{text}");
        }
        // The resolved scenario is longer than the file, and the rest is short.
        let most = 200 + read(&path).lines().count();
        assert!(text.lines().count() < most, "{name}: {} lines", text.lines().count());
        let (_, resolved) = text.split_once("\nThe resolved scenario:\n\n").unwrap();
        std::fs::write(directory.join("resolved.toml"), resolved).unwrap();
        let again = printed("check resolved.toml");
        let lines = |text: &str| text.lines().filter(|line| !sweeps(line)).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(lines(&again), lines(&text), "{name}");
    }
}

#[test]
fn switches_that_differ_are_told_apart() {
    let directory = directory();
    let text = "duration = \"1ms\"\n[topology]\nkind = \"leaf-spine\"\nleaves = 3\nspines = 1\nhosts_per_leaf = 2\n\
                host_rate = \"10Gbps\"\nuplink_rate = \"10Gbps\"\ndelay = \"1us\"\n[switch]\nbuffer = \"1MB\"\n\
                [switches.leaf1]\nbuffer = \"2MB\"\n[policy]\nkind = \"cs\"\n\
                [[workload]]\nkind = \"permutation\"\nbytes = \"100KB\"\ntransport = \"dctcp\"\n";
    std::fs::write(directory.path().join("uneven.toml"), text).unwrap();
    let text = printed(directory.path(), "check uneven.toml");
    let rows: Vec<Vec<&str>> =
        text.lines().filter(|line| line.starts_with("leaf ")).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!((rows[0][1], rows[0][3], rows[1][1], rows[1][3]), ("2", "1000000", "1", "2000000"), "{text}");
    // A workload that asks for no load has no expected one.
    assert!(!text.contains(", expected") && text.contains("host links, this seed  uplinks, this seed\n"), "{text}");
}

#[test]
fn a_check_looks_at_the_sweep_too() {
    let directory = directory();
    let with = |sweep: &str| std::fs::write(directory.path().join("s.toml"), format!("{}{sweep}", simulation::SMALL));
    with("[sweep]\nseeds = \"1-5\"\n[sweep.grid]\n\"policy.alpha\" = [1.0, 2.0]\n").unwrap();
    assert!(printed(directory.path(), "check s.toml").contains("The sweep has 2 points with 5 seeds: 10 runs.\n"));
    assert!(!printed(directory.path(), "check s.toml --set policy.alpha=3").contains("The sweep"));
    with("[sweep.grid]\n\"policy.alhpa\" = [1.0, 2.0]\n").unwrap();
    assert!(refused(directory.path(), "check s.toml").contains("policy.alhpa"));
}

// bench

#[test]
fn a_bench_is_a_table() {
    let directory = directory();
    let text = printed(directory.path(), "bench small.toml small.toml --native --set seed=2");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4, "{text}");
    assert!(lines[0].starts_with("scenario  hosts  packet-hops  hops per CPU s  peak memory"), "{text}");
    let row: Vec<&str> = lines[2].split_whitespace().collect();
    assert!(row[0] == "small" && row[1] == "4" && row[2].parse::<u64>().unwrap() > 1_000, "{text}");
    assert_eq!(row[2], lines[3].split_whitespace().nth(2).unwrap());
}

#[test]
fn quiet_or_not_nothing_but_results_is_told_to_a_pipe() {
    let directory = directory();
    for args in ["run small.toml", "run small.toml --quiet", "sweep small.toml", "sweep small.toml -q"] {
        printed(directory.path(), args);
    }
}

#[test]
fn help() {
    for name in ["run", "sweep", "check", "compare", "report", "bench"] {
        assert_snapshot(&format!("help_{name}"), &printed(Path::new("."), &format!("{name} --help")));
    }
}
