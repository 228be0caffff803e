//! Commands that help to begin and to go on: `init`, `list`, `--json`, comparisons of many, replays of captures.

use crate::simulation;

use serde_json::Value;
use simulation::{directory, forebay};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

pub(crate) fn printed(directory: &Path, args: &str) -> String {
    let output = forebay(directory, args);
    assert!(output.status.success() && output.stderr.is_empty(), "{args}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

pub(crate) fn json(directory: &Path, args: &str) -> Value {
    let text = printed(directory, args);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{args}: {error}: {text}"))
}

pub(crate) fn refused(directory: &Path, args: &str) -> String {
    let output = forebay(directory, args);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && output.stdout.is_empty(), "{args}: {error}");
    error
}

const LISTS: [&str; 6] = ["policies", "schedulers", "transports", "workloads", "distributions", "topologies"];

#[test]
fn every_list_says_what_the_json_says() {
    let here = Path::new(".");
    for what in LISTS {
        let text = printed(here, &format!("list {what}"));
        assert!(text.lines().all(|line| line.chars().count() <= 200), "{text}");
        let list = json(here, &format!("list {what} --json"));
        for kind in list.as_array().unwrap() {
            let (name, about) = (kind["name"].as_str().unwrap(), kind["about"].as_str().unwrap());
            assert!(!about.is_empty(), "{name}");
            let line = text.lines().find(|line| line.split_whitespace().next() == Some(name)).unwrap();
            assert!(line.ends_with(about), "{line}");
            for key in kind["keys"].as_array().unwrap() {
                assert!(text.contains(key.as_str().unwrap()), "{name} has {key}");
            }
        }
    }
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!("list_policies", printed(here, "list policies")) });
    assert!(refused(here, "list polices").contains("policies"));
}

/// Every kind of everything gives a scenario that can be checked.
#[test]
fn a_scenario_to_begin_with_is_sound_whatever_is_chosen() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    std::fs::write(at("flows.csv"), "start_s,src,dst,bytes\n0,0,1,1000\n").unwrap();
    for (what, flag) in LISTS.into_iter().zip(["policy", "scheduler", "transport", "workload", "", "topology"]) {
        for kind in json(directory.path(), &format!("list {what} --json")).as_array().unwrap() {
            if flag.is_empty() {
                continue;
            }
            let name = kind["name"].as_str().unwrap();
            std::fs::write(at("s.toml"), printed(directory.path(), &format!("init --{flag} {name}"))).unwrap();
            let output = forebay(directory.path(), "check s.toml");
            assert!(output.status.success(), "{flag} {name}: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
    let said = printed(directory.path(), "init first.toml --policy abm --topology single");
    assert!(said.contains("wrote first.toml; next: forebay check first.toml"), "{said}");
    let text = std::fs::read_to_string(at("first.toml")).unwrap();
    assert!(text.contains("kind = \"abm\"") && text.contains("kind = \"single\"") && text.contains("# "), "{text}");
    printed(directory.path(), "run first.toml --set duration=\"100us\"");
    // It is the user's from here on.
    std::fs::write(at("first.toml"), text.replace("seed = 1", "seed = 2")).unwrap();
    assert!(refused(directory.path(), "init first.toml").contains("has not written"));
    assert!(refused(directory.path(), "init --policy abn").contains("did you mean abm?"));
}

#[test]
fn what_prints_a_table_prints_json() {
    let directory = directory();
    let here = directory.path();
    let run = json(here, "run small.toml --out a --json");
    assert_eq!((&run["run"]["name"], &run["run"]["seed"]), (&"small".into(), &1.into()));
    let text = printed(here, "run small.toml --out a --json");
    assert_eq!(text, std::fs::read_to_string(here.join("a/summary.json")).unwrap());
    let rows = json(here, "sweep small.toml --grid policy.alpha=0.5,2 --out s --json");
    assert_eq!((&rows[1]["point"], rows[0]["dropped_packets"].is_number()), (&"alpha=2".into(), true), "{rows}");
    let compared = json(here, "compare s/alpha=0.5 s/alpha=2 a --json");
    assert_eq!(compared["sides"].as_array().unwrap().len(), 3);
    assert!(compared["measures"].as_array().unwrap().iter().any(|line| line["name"] == "packets dropped in buffers"));
    let bench = json(here, "bench small.toml --native --json");
    assert!(bench[0]["hops"].as_f64().unwrap() > 1_000.0 && bench[0]["instructions_per_hop"].is_null(), "{bench}");
    printed(here, "demo --write demo");
    let replay = "replay demo/switch.toml demo/arrivals.csv";
    let summary = json(here, &format!("{replay} --summary --json"));
    let rows = summary["rows"].as_array().unwrap();
    assert!(rows.len() > 3 && rows.last().unwrap()["port"].is_null(), "{summary}");
    let sum: u64 = rows[..rows.len() - 1].iter().map(|row| row["offered_packets"].as_u64().unwrap()).sum();
    assert_eq!(rows.last().unwrap()["offered_packets"], sum);
    let policies = json(here, &format!("{replay} --compare dt,pushout --json"));
    assert_eq!((&policies[1]["policy"], policies[0]["dropped_packets"].is_u64()), (&"pushout".into(), true));
    assert!(refused(here, &format!("{replay} --json")).contains("--summary"));
}

/// Recording drops with who held the buffer, where 6.5% of the packets are dropped: 10.9% more instructions in the run
/// as tests are built. The whole command with its files has 20% at most (`docs/results.md`).
#[test]
fn recording_who_held_the_buffer_costs_little() {
    let is_there = Command::new("valgrind").arg("--version").stdout(Stdio::null()).status().is_ok();
    assert!(is_there || std::env::var("FOREBAY_TEST").as_deref() != Ok("1"), "valgrind is missing; ./test installs it");
    if !is_there {
        return;
    }
    const SCENARIO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/compare.toml");
    let cost = |more: &str| {
        let load = "--set workload.1.fan_in=32 --set workload.1.rate_per_host=230 --set workload.1.request=\"100%\" \
                    --set workload.0.allow_overload=true --set workload.1.allow_overload=true";
        let args = format!("bench {SCENARIO} {load} --set duration=4ms --set drain=4ms {more} --json");
        json(directory().path(), &args)[0]["instructions_per_hop"].as_f64().unwrap()
    };
    let (without, with) = (cost(""), cost("--set measure.drops=all"));
    assert!(
        (1.0..=1.14).contains(&(with / without)),
        "{with} instructions a hop with drops recorded, {without} without"
    );
}

/// What is known before anything runs.
#[test]
fn what_is_listed_and_checked_is_printed_as_json_too() {
    let directory = directory();
    let here = directory.path();
    let check = json(here, "check small.toml --json");
    let text = printed(here, "check small.toml");
    assert!(text.contains(&format!(": {} hosts, ", check["hosts"])), "{check}");
    assert!(text.contains(&format!(" {} B ", check["tiers"][0]["buffer_bytes"])), "{check}");
    assert!(text.contains(&format!("Planned: {} flows, {} queries", check["flows"], check["queries"])), "{check}");
    assert!(text.ends_with(check["scenario"].as_str().unwrap()), "the resolved scenario");
    let demo = json(here, "demo --json");
    let text = printed(here, "demo");
    for row in demo.as_array().unwrap() {
        let lost = format!("{} of {} ", row["burst_dropped_packets"], row["burst_packets"]);
        let line = text.lines().find(|line| line.starts_with(row["policy"].as_str().unwrap())).unwrap();
        assert!(line.contains(&lost), "{line} has not {lost}");
    }
    let programs = json(here, "pisa list --json");
    for program in programs.as_array().unwrap() {
        let name = program["name"].as_str().unwrap();
        let [show, check] = ["show", "check"].map(|what| json(here, &format!("pisa {what} {name} --json")));
        assert_eq!(show, check, "{name}");
        let stages = &check["resources"][0];
        assert!(stages["used"].as_u64().unwrap() <= stages["available"].as_u64().unwrap(), "{check}");
        assert!(printed(here, &format!("pisa check {name}")).contains("keeps to the rules of"), "{name}");
    }
    let figures = json(here, "reproduce --list --json");
    let text = printed(here, "reproduce --list");
    let line = |figure: &Value| text.contains(figure["title"].as_str().unwrap());
    assert!(figures.as_array().unwrap().len() > 50 && figures.as_array().unwrap().iter().all(line));
    let rtl = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rtl.json");
    let page = json(here, &format!("rtl --render {} --json", rtl.display()));
    assert_eq!(page, serde_json::from_str::<Value>(&std::fs::read_to_string(rtl).unwrap()).unwrap());
}

#[test]
fn what_a_lab_compares_is_printed_as_json_too() {
    let directory = directory();
    let here = directory.path();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/scripts/reno-single-loss.toml");
    let call = format!("lab script --simulate {}", script.display());
    let (rows, text) = (json(here, &format!("{call} --json")), printed(here, &call));
    assert_eq!(rows.as_array().unwrap().len(), 1);
    let row = &rows[0];
    assert_eq!(row["script"], "reno-single-loss");
    assert!(text.contains(row["verdict"].as_str().unwrap()) && row["kernel_retransmissions"] == 1, "{text}\n{row}");
    printed(here, "sweep small.toml --grid policy.alpha=0.25,2 --seeds 1-2 --out s");
    let (rows, text) = (json(here, "lab compare s s --json"), printed(here, "lab compare s s"));
    let rows = rows.as_array().unwrap();
    assert!(rows.len() > 4 && text.matches("\n| alpha=").count() == rows.len(), "{text}");
    for row in rows {
        assert!(text.contains(&format!(
            "| {} | {} |",
            row["point"].as_str().unwrap(),
            row["measure"].as_str().unwrap()
        )));
        assert!(
            row["simulated"] == row["live"] && row["difference"].as_f64().is_none_or(|share| share == 0.0),
            "{row}"
        );
    }
}

#[test]
fn any_number_of_results_are_compared() {
    let directory = directory();
    let here = directory.path();
    printed(here, "sweep small.toml --grid policy.alpha=0.25,0.5,2 --seeds 1-3 --out s");
    let text = printed(here, "compare s/alpha=0.25 s/alpha=0.5 s/alpha=2");
    assert!(text.starts_with("A: s/alpha=0.25: small, seeds 1, 2, 3, ") && text.contains("\nC: s/alpha=2: "), "{text}");
    assert!(text.contains("\nDifferences to A\n") && text.contains("B-A") && text.contains("C-A"), "{text}");
    let line = text.lines().find(|line| line.starts_with("bursts: QCT mean")).unwrap();
    assert_eq!(line.matches('±').count(), 3, "{line}");
    refused(here, "compare s/alpha=2");
}

/// A capture of Ethernet with microseconds.
fn pcap(frames: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4u32, 0x0004_0002, 0, 0, 65_535, 1] {
        file.extend(word.to_le_bytes());
    }
    for (micros, frame) in frames {
        for word in [1_700_000_000, *micros, frame.len() as u32, frame.len() as u32] {
            file.extend(word.to_le_bytes());
        }
        file.extend(frame);
    }
    file
}

/// A UDP packet of so many bytes to a host, with a DSCP.
fn frame(host: u8, bytes: usize, dscp: u8) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, host, 2, 0, 0, 0, 0, 9, 0x08, 0x00];
    let length = ((bytes - 14) as u16).to_be_bytes();
    frame.extend([0x45, dscp << 2 | 2, length[0], length[1], 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 9, 10, 0, 0, host]);
    frame.extend([0, 7, 0, 9, 0, 0, 0, 0]);
    frame.resize(bytes, 0);
    frame
}

#[test]
fn captures_and_compressed_files_are_replayed() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let switch = "ports = 2\nrate = \"8Gbps\"\nqueues = 2\nbuffer = \"20KB\"\n[policy]\nkind = \"cs\"\n[scheduler]\nkind = \"strict\"\n";
    std::fs::write(at("sw.toml"), switch).unwrap();
    // Two hosts, the second at the higher class: ports 0 and 1, queues 0 and 1.
    let frames = [(0, frame(1, 1_000, 0)), (1, frame(2, 500, 46)), (1, frame(1, 1_000, 0)), (5, frame(1, 100, 0))];
    std::fs::write(at("t.pcap"), pcap(&frames)).unwrap();
    let csv = "time_ps,bytes,port,queue\n0,1000,0,0\n1000000,500,1,1\n1000000,1000,0,0\n5000000,100,0,0\n";
    std::fs::write(at("t.csv"), csv).unwrap();
    for name in ["t.pcap", "t.csv"] {
        let file = std::fs::File::create(at(&format!("{name}.gz"))).unwrap();
        let mut encoder = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        encoder.write_all(&std::fs::read(at(name)).unwrap()).unwrap();
        encoder.finish().unwrap();
    }
    let verdicts = printed(directory.path(), "replay sw.toml t.csv");
    assert_eq!(verdicts.lines().count(), 5);
    for name in ["t.pcap", "t.pcap.gz", "t.csv.gz"] {
        assert_eq!(printed(directory.path(), &format!("replay sw.toml {name}")), verdicts, "{name}");
    }
    // pcapng, as a run writes it.
    let run = directory.path().join("run");
    std::fs::write(at("small.toml"), simulation::SMALL).unwrap();
    printed(directory.path(), "run small.toml --set measure.trace_flows=[0] --out run");
    std::fs::copy(run.join("trace.pcapng"), at("t.pcapng")).unwrap();
    let summary = json(directory.path(), "replay sw.toml t.pcapng --summary --json");
    assert!(summary["rows"][0]["offered_packets"].as_u64().unwrap() > 10, "{summary}");
    // What is cut off or something else is told.
    let whole = std::fs::read(at("t.pcap")).unwrap();
    std::fs::write(at("cut.pcap"), &whole[..whole.len() - 10]).unwrap();
    assert!(refused(directory.path(), "replay sw.toml cut.pcap").contains("not whole"));
    let packed = std::fs::read(at("t.csv.gz")).unwrap();
    std::fs::write(at("cut.gz"), &packed[..packed.len() / 2]).unwrap();
    assert!(refused(directory.path(), "replay sw.toml cut.gz").contains("cut.gz: cannot read it"));
}

/// Shells and `man` know every command.
#[test]
fn completions_and_manual_have_every_command() {
    let directory = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let script = printed(directory.path(), &format!("completions {shell}"));
        assert!(
            ["sweep", "reproduce", "--shard", "--slurm"]
                .iter()
                .all(|word| script.contains(word.trim_start_matches('-'))),
            "{shell}"
        );
    }
    assert!(refused(directory.path(), "completions cmd").contains("bash"));
    let pages = printed(directory.path(), "manual man");
    assert!(pages.ends_with(" pages in man\n"), "{pages}");
    let page = std::fs::read_to_string(directory.path().join("man/forebay-sweep.1")).unwrap();
    assert!(page.contains("\\-\\-shard") && directory.path().join("man/forebay-pisa-check.1").exists());
    // Once more over its own files, and not over those of others.
    printed(directory.path(), "manual man");
    std::fs::write(directory.path().join("man/forebay.1"), "mine").unwrap();
    assert!(refused(directory.path(), "manual man").contains("forebay.1"));
}
