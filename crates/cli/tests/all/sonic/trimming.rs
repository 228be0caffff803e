//! From a CONFIG_DB that trims to frames: `forebay sonic import --live`, and its file in a live switch between captures.

use crate::commands::{json, printed, refused};
use crate::live::{capture, read};
use crate::pages::root;
use crate::trimming::{DSCP, SIZE, configuration, dscp, frame, is_whole, network_checksum_is_right};
use serde_json::{Value, json};
use std::path::Path;

/// The frames of a capture, in the order in which they left.
fn captured(path: &Path) -> Vec<Vec<u8>> {
    read(path).into_iter().map(|(_, frame)| frame).collect()
}

/// Imports a configuration, and lets the switch run between captures: what `frames` has of each port.
fn run(directory: &Path, config: &Value, frames: [&[(u32, Vec<u8>)]; 3], set: &str) -> (String, Value) {
    let at = |name: &str| directory.join(name);
    std::fs::write(at("config.json"), config.to_string()).unwrap();
    let imported = printed(directory, "sonic import config.json --live -o live.toml --force");
    // Captures for the interfaces of the machine; nothing else differs.
    let mut live = std::fs::read_to_string(at("live.toml")).unwrap();
    for (port, frames) in frames.into_iter().enumerate() {
        std::fs::write(at(&format!("in{port}.pcap")), capture(frames)).unwrap();
        let name = format!("name = \"Ethernet{}\"", 4 * port);
        assert_eq!(live.matches(&name).count(), 1, "{live}");
        live = live.replace(&name, &format!("read = \"in{port}.pcap\"\nwrite = \"out{port}.pcap\""));
    }
    std::fs::write(at("captures.toml"), live).unwrap();
    printed(directory, &format!("live captures.toml --set live.out=results {set}"));
    let predictions = json(directory, "sonic predict config.json --json --others 0 --packet 1500");
    (imported, predictions)
}

/// Verdicts with a text, such as a reason.
fn verdicts(directory: &Path, text: &str) -> usize {
    let verdicts = std::fs::read_to_string(directory.join("results/verdicts.csv")).unwrap();
    verdicts.lines().filter(|line| line.contains(text)).count()
}

/// The packet of a lone queue that is refused first, as `predict` says.
fn refused_first(predictions: &Value, profile: &str) -> usize {
    let of = predictions.as_array().unwrap().iter().find(|of| of["profile"] == profile && of["side"] == "egress");
    of.unwrap()["cases"][0]["drop"]["packets"].as_u64().unwrap() as usize
}

/// So many frames from host 1 to host 3, from the first millisecond on, and as many from host 2; host 3 is known.
fn incast(each: usize) -> [Vec<(u32, Vec<u8>)>; 3] {
    let from = |host: u8| vec![(1_000, frame(host, 3, 1_500)); each];
    [from(1), from(2), vec![(0, frame(3, 9, 60))]]
}

#[test]
fn a_configuration_that_trims_trims_frames() {
    const EACH: usize = 200;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let [one, two, three] = incast(EACH);
    let (imported, predictions) = run(path, &configuration(), [&one, &two, &three], "");
    assert!(imported.contains("the ingress side: a live switch has no PGs"), "{imported}");
    assert!(!imported.contains("DSCP"), "nothing is left to set by hand: {imported}");
    let packets = json(path, "sonic predict config.json --json --others 0 --packet 256");
    // One is on the wire; the queue has all before the first that it refuses, and so has the trim queue.
    let whole = refused_first(&predictions, "q_trim_profile");
    let cut = refused_first(&packets, "q_headers_profile") - 1;
    let trim_drops = 2 * EACH - whole - cut;
    assert!(whole > 100 && cut >= 20 && trim_drops > 100, "{whole} {cut} {trim_drops}");

    let out = captured(&path.join("out2.pcap"));
    assert_eq!(out.len(), whole + cut);
    // The trim queue is strict: what is cut overtakes all that waits but the frame on the wire.
    assert!(dscp(&out[0]) == 0 && out[0] == one[0].1);
    for (place, frame) in out[1..=cut].iter().enumerate() {
        assert_eq!((frame.len(), dscp(frame)), (SIZE, DSCP), "{place}");
        assert!(network_checksum_is_right(frame));
        // As on the chips, lengths and the checksum of UDP are those of the whole packet.
        let original = crate::trimming::frame(frame[11], 3, 1_500);
        assert!(frame[16..24] == original[16..24] && frame[26..] == original[26..SIZE]);
    }
    assert!(out[1 + cut..].iter().all(|frame| frame.len() == 1_500 && dscp(frame) == 0 && is_whole(frame)));
    let found = [verdicts(path, ",trimmed,"), verdicts(path, ",header-full,"), verdicts(path, ",sent,")];
    // Host 3's own frame was flooded to both others.
    assert_eq!(found, [cut, trim_drops, whole + 2]);
    assert_eq!(verdicts(path, "dropped"), trim_drops, "trim drops, and no others");

    // Hosts that are to take what is left for a short packet: with lengths and checksums that fit it.
    run(path, &configuration(), [&one, &two, &three], "--set live.trim_lengths=cut");
    let again = captured(&path.join("out2.pcap"));
    assert_eq!(again.len(), out.len());
    assert!(again.iter().all(|frame| network_checksum_is_right(frame) && is_whole(frame)));
}

/// What is shorter than the size goes whole, with the new code point.
#[test]
fn short_packets_are_not_cut() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let [mut one, two, three] = incast(200);
    one.extend(vec![(1_000, frame(1, 3, 100)); 10]);
    run(path, &configuration(), [&one, &two, &three], "");
    let out = captured(&path.join("out2.pcap"));
    let short: Vec<_> = out.iter().filter(|frame| frame.len() == 100 && dscp(frame) == DSCP).collect();
    assert!(!short.is_empty() && short.iter().all(|frame| network_checksum_is_right(frame) && is_whole(frame)));
    let found = [",trimmed,", ",header-full,", ",sent,"].map(|text| verdicts(path, text));
    assert_eq!(found.iter().sum::<usize>(), 410 + 2, "{found:?}");
    assert_eq!(out.len(), found[0] + found[2] - 2);
}

/// `from-tc`: the port that a packet is trimmed at says which code point it gets.
#[test]
fn asymmetric_code_points_are_those_of_the_port() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let mut config = configuration();
    config["SWITCH_TRIMMING"]["GLOBAL"] =
        json!({"size": "256", "dscp_value": "from-tc", "tc_value": "6", "queue_index": "6"});
    config["TC_TO_DSCP_MAP"] = json!({"hosts": {"6": "11"}, "fabric": {"5": "1", "6": "22"}});
    config["PORT_QOS_MAP"]["Ethernet4"]["tc_to_dscp_map"] = "hosts".into();
    config["PORT_QOS_MAP"]["Ethernet8"]["tc_to_dscp_map"] = "fabric".into();
    let to = |host: u8| vec![(1_000, frame(1, host, 1_500)); 300];
    let known = |host: u8| vec![(0, frame(host, 9, 60))];
    let (imported, _) = run(path, &config, [&[to(2), to(3)].concat(), &known(2), &known(3)], "");
    assert!(imported.contains("trimmed at 1 ports without a tc_to_dscp_map that has TC 6"), "{imported}");
    for (file, code_point) in [("out1.pcap", 11), ("out2.pcap", 22)] {
        let out = captured(&path.join(file));
        let cut: Vec<u8> = out.iter().filter(|frame| frame.len() == SIZE).map(|frame| dscp(frame)).collect();
        assert!(cut.len() >= 20 && cut.iter().all(|dscp| *dscp == code_point), "{file}: {cut:?}");
    }
}

#[test]
fn all_that_is_imported_runs_and_what_cannot_is_refused() {
    const DATA: &str = "crates/sonic/tests/data";
    for config in ["configs/td3-7050cx3-c32-t0", "configs/spc5-sn5640-c512s2-t1-trim", "small"] {
        let directory = tempfile::tempdir().unwrap();
        let live = directory.path().join("live.toml").display().to_string();
        printed(root(), &format!("sonic import {DATA}/{config}.json --live -o {live}"));
        let text = std::fs::read_to_string(&live).unwrap();
        // It is read, and only interfaces are missing.
        let error = refused(root(), &format!("live {live}"));
        assert!(error.contains("Ethernet0") && error.contains("interface"), "{error}\n{text}");
        assert_eq!(text.contains("trim_dscp"), !config.contains("td3"), "{text}");
    }
    let small = format!("sonic import {DATA}/small.json");
    let two = printed(root(), &format!("{small} --live --ports Ethernet8,Ethernet0"));
    assert_eq!(two.matches("name = \"Ethernet").count(), 2);
    assert!(two.find("Ethernet8\"") < two.find("Ethernet0\"") && two.contains("1 ports that were not asked for"));
    assert!(printed(root(), &format!("{small} --ports Ethernet4")).contains("\nports = 1\n"));
    for (args, expected) in [
        ("--live --ports Ethernet0", "two ports or more"),
        ("--live --ports Ethernet0,Ethernet9", "--ports Ethernet9"),
        ("--ports Ethernet0,Ethernet0", "named twice"),
    ] {
        let error = refused(root(), &format!("{small} {args}"));
        assert!(error.contains(expected) && error.contains("help:"), "{error}");
    }
}
