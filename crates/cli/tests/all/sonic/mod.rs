//! `forebay sonic`: codes and formats are as docs/operators.md says. `readme.rs` runs the commands of the page.

mod trimming;

use crate::commands::{json, printed, refused};
use crate::pages::root;
use crate::simulation::forebay;

const DATA: &str = "crates/sonic/tests/data";

#[test]
fn codes_and_formats() {
    let rows = json(root(), &format!("sonic hardware {DATA}/hardware.csv --json"));
    let first = &rows.as_array().unwrap()[0];
    assert_eq!((first["row"].as_str(), first["pause_asserted"].as_u64()), (Some("1"), Some(4898)));
    assert!(first["pause_error"].as_f64().unwrap().abs() < 0.01 && rows.as_array().unwrap().len() == 48);

    let predictions = json(root(), &format!("sonic predict {DATA}/small.json --json --packet 1500 --others 3"));
    let cases = predictions.as_array().unwrap().iter().flat_map(|of| of["cases"].as_array().unwrap());
    assert!(cases.clone().count() > 3);
    assert!(cases.clone().all(|case| case["agrees"] == true && case["others"] == 3));

    // Findings: exit code 1, with the findings on standard output.
    let sample = format!("sonic lint {DATA}/config_db_sample.json --chip th");
    for (format, expected) in [
        ("", "pir-without-cir"),
        (" --json", "\"rule\": \"pir-without-cir\""),
        (" --sarif", "\"ruleId\": \"pir-without-cir\""),
    ] {
        let output = forebay(root(), &format!("{sample}{format}"));
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.code() == Some(1) && output.stderr.is_empty() && text.contains(expected), "{text}");
    }
    assert!(printed(root(), &format!("sonic lint {DATA}/small.json")).ends_with("errors: 0, warnings: 0, notes: 0\n"));
}

#[test]
fn what_cannot_be_is_refused() {
    for (args, expected) in [
        (format!("sonic lint {DATA}/hardware.csv"), "hardware.csv:1:1"),
        (format!("sonic lint {DATA}/none.json"), "none.json"),
        (format!("sonic lint {DATA}/small.json --chip th9"), "no such chip family"),
        (format!("sonic predict {DATA}/config_db_sample.json"), "MAP_PFC_PRIORITY_TO_QUEUE"),
        (format!("sonic predict {DATA}/small.json --packet 0"), "--packet"),
        (format!("sonic predict {DATA}/small.json --others x"), "--others"),
        (format!("sonic hardware {DATA}/small.json"), "no such column"),
        (format!("sonic advise {DATA}/small.json --goal {DATA}/none.toml"), "none.toml"),
        (format!("sonic advise {DATA}/small.json --goal {DATA}/small.json"), "this is not TOML"),
        (
            format!("sonic advise {DATA}/config_db_sample.json --goal crates/advise/tests/goals/ecn.toml"),
            "MAP_PFC_PRIORITY_TO_QUEUE",
        ),
        (format!("sonic predict {DATA}/small.json --html {DATA}/small.json --force"), "small.json"),
    ] {
        let error = refused(root(), &args);
        assert!(error.contains(expected), "{args}: {error}");
    }
}

/// Files that hold no configuration: whatever is asked of them, the code is 2, and the message names the file and a
/// remedy.
#[test]
fn files_that_hold_no_configuration_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let nested = format!("{}1{}", "{\"a\":".repeat(9_000), "}".repeat(9_000));
    let files: [(&str, &[u8]); 5] = [
        ("empty.json", b""),
        ("not-utf8.json", b"{\"PORT\": {\"Ethernet\xff\": {}}}"),
        ("nested.json", nested.as_bytes()),
        ("cut.json", b"{\"PORT\": {\"Ethernet0\": {\"speed\": "),
        ("other.json", b"{\"VLAN\": {}}"),
    ];
    for (name, bytes) in files {
        std::fs::write(directory.path().join(name), bytes).unwrap();
    }
    let goal = "--goal crates/advise/tests/goals/ecn.toml";
    for name in files.iter().map(|(name, _)| *name).chain([".", "none.json"]) {
        let path = directory.path().join(name).display().to_string();
        for command in ["lint", "predict", "import"].map(|verb| format!("sonic {verb} {path}")) {
            assert!(refused(root(), &command).contains(path.trim_end_matches('.')), "{command}");
        }
        refused(root(), &format!("sonic advise {path} {goal}"));
        refused(root(), &format!("sonic hardware {path}"));
    }
}

/// As in `forebay sonic advise <(ssh SWITCH sonic-cfggen -d --print-data)`.
#[test]
fn a_configuration_may_come_by_a_pipe() {
    let config = std::fs::File::open(root().join(DATA).join("small.json")).unwrap();
    let mut advise =
        crate::simulation::command(root(), "sonic advise /dev/stdin --goal crates/advise/tests/goals/ecn.toml --json");
    let mut child = advise.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()).spawn().unwrap();
    std::io::copy(&mut &config, &mut child.stdin.take().unwrap()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.code().is_some_and(|code| code < 2) && !output.stdout.is_empty());
}

#[test]
fn an_imported_switch_can_be_replayed() {
    let directory = tempfile::tempdir().unwrap();
    let (switch, arrivals) = (directory.path().join("switch.toml"), directory.path().join("arrivals.csv"));
    let config = root().join(DATA).join("configs/td3-7050cx3-c32-t0.json");
    let text = printed(root(), &format!("sonic import {} -o {}", config.display(), switch.display()));
    assert!(text.contains("nothing is left out"), "{text}");
    std::fs::write(&arrivals, "time_ps,bytes,port,queue,in_port\n0,1500,0,0,1\n0,1500,0,3,2\n").unwrap();
    let verdicts = printed(directory.path(), "replay switch.toml arrivals.csv");
    assert!(verdicts.contains("1,sent"), "{verdicts}");
    // It overwrites nothing, and never its input.
    std::fs::write(&switch, "mine").unwrap();
    refused(root(), &format!("sonic import {} -o {}", config.display(), switch.display()));
    refused(root(), &format!("sonic import {0} -o {0} --force", config.display()));
}

#[test]
fn pages_and_patches_are_written() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| directory.path().join(name).display().to_string();
    let config = format!("{DATA}/configs/td3-7050cx3-c32-t0.json");
    let (page, patch) = (file("page.html"), file("patch.json"));
    let goal = "--goal crates/advise/tests/goals/ecn.toml";
    let advice = json(root(), &format!("sonic advise {config} {goal} --json --html {page} --patch {patch}"));
    assert_eq!(advice["goals"][0]["after"]["met"], true);
    let written: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&patch).unwrap()).unwrap();
    assert_eq!(written, advice["patch"]);
    assert_eq!(written[0]["op"], "add");
    let page = std::fs::read_to_string(&page).unwrap();
    for part in ["Advice", "Pools", "egress_lossy_pool", "What each class can get", "pg_lossless_100000_40m_profile"] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("http"), "it stands alone");
}
