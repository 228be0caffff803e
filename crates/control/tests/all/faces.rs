//! What a switch looks like in JSON, to Prometheus and on a terminal.

use crate::fake;
use forebay_control::{metrics, view};
use forebay_live::snapshot::Snapshot;
use forebay_tm::Duration;
use std::collections::{HashMap, HashSet};
use std::process::{Command, Stdio};

/// A switch as it was at two moments, with some changes before.
fn moments(changes: &[(&str, &str)]) -> (Snapshot, Snapshot) {
    let mut fake = fake::Fake::new(fake::SETTINGS).unwrap();
    let changes: Vec<_> = changes.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
    if !changes.is_empty() {
        fake.change(&changes).unwrap();
    }
    fake.go(Duration::from_us(10_900_000));
    let before = fake.snapshot();
    fake.go(Duration::from_us(50_000));
    (before, fake.snapshot())
}

#[test]
fn the_json_of_a_snapshot() {
    let (_, mut now) = moments(&[("policy.kind", "occamy"), ("policy.alpha", "2")]);
    now.ports.truncate(1);
    now.recent.truncate(2);
    insta::assert_snapshot!(serde_json::to_string_pretty(&now).unwrap());
}

#[test]
fn thresholds_that_are_not_there_are_null() {
    let (_, now) = moments(&[("policy.kind", "cs")]);
    assert!(serde_json::json!(now)["ports"][0]["queues"][1]["threshold_bytes"].is_null());
    assert!(!metrics::text(&now).contains("forebay_queue_threshold_bytes{"));
}

#[test]
fn the_terminal_view() {
    let (before, now) = moments(&[]);
    insta::assert_snapshot!("view_120", view::render(&now, Some(&before), 120, false));
    insta::assert_snapshot!("view_60", view::render(&now, None, 60, false));
    let (before, mut now) = moments(&[("policy.kind", "occamy"), ("policy.alpha", "1"), ("trim.kind", "ndp")]);
    now.ports[1].is_up = false;
    insta::assert_snapshot!("view_occamy", view::render(&now, Some(&before), 140, false));
}

#[test]
fn colours_are_all_that_differs_and_no_line_is_too_long() {
    let (before, now) = moments(&[]);
    for width in [0, 1, 7, 20, 39, 80, 200] {
        let plain = view::render(&now, Some(&before), width, false);
        assert!(plain.lines().all(|line| line.chars().count() <= width), "{width}");
        let colored = view::render(&now, Some(&before), width, true);
        let bare =
            colored.split("\x1b[").map(|part| {
                part.split_once('m').map_or(part, |(code, rest)| {
                    if code.bytes().all(|byte| byte.is_ascii_digit()) { rest } else { part }
                })
            });
        let bare: String = bare.collect();
        let lines = |text: &str| text.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
        assert_eq!(lines(&bare), lines(&plain), "{width}");
    }
    assert!(view::render(&now, None, 100, true).contains("\x1b[36m"));
}

/// The samples of a text in Prometheus' format, by their whole names.
fn samples(text: &str) -> HashMap<&str, f64> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.rsplit_once(' ').map(|(name, value)| (name, value.parse().unwrap())).unwrap()).collect()
}

#[test]
fn metrics_are_well_formed_and_agree_with_the_counters() {
    let (_, mut now) = moments(&[]);
    now.ports[1].name = "a \"b\\c\nd".into();
    now.ports[2].queues[0].threshold = Some(f64::INFINITY);
    let text = metrics::text(&now);
    assert!(text.contains("interface=\"a \\\"b\\\\c\\nd\""));
    assert!(text.contains("forebay_queue_threshold_bytes{port=\"2\",interface=\"fb-h3\",queue=\"0\"} +Inf\n"));
    let (mut typed, mut names) = (HashMap::new(), HashSet::new());
    for line in text.lines() {
        if let Some((name, kind)) = line.strip_prefix("# TYPE ").map(|rest| rest.split_once(' ').unwrap()) {
            assert!(typed.insert(name, kind).is_none(), "{name} twice");
            assert_eq!(name.ends_with("_total"), kind == "counter", "{name}");
            assert!(text.contains(&format!("# HELP {name} ")), "{name}");
        } else if !line.starts_with('#') {
            let name = line.split(['{', ' ']).next().unwrap();
            assert!(typed.contains_key(name), "{name} comes before its type");
            assert!(names.insert(line.rsplit_once(' ').unwrap().0), "{line} twice");
        }
    }
    let samples = samples(&text);
    let dropped: f64 =
        samples.iter().filter(|(name, _)| name.starts_with("forebay_dropped_packets_total")).map(|(_, n)| n).sum();
    assert!(dropped > 0.0);
    assert_eq!(dropped, now.total.dropped.packets as f64);
    let sent = "forebay_sent_bytes_total{port=\"0\",interface=\"fb-h1\",queue=\"1\"}";
    assert_eq!(samples[sent], now.ports[0].queues[1].counters.sent.bytes as f64);
}

/// OpenMetrics: families of counters without the ending of their samples, an example for a drop, and an end.
#[test]
fn open_metrics_have_examples_of_drops() {
    use forebay_live::snapshot::{Fate, Loss};
    use forebay_tm::{Instant, Reason};
    let (_, mut now) = moments(&[]);
    let fate = Fate::Dropped(Reason::Threshold);
    now.last_drops = vec![Loss { at: Instant::from_ps(1_500_000_000_000), port: 1, queue: 0, bytes: 1_500, fate }];
    let text = metrics::open_text(&now);
    assert!(text.ends_with("\n# EOF\n"));
    let with: Vec<&str> = text.lines().filter(|line| line.contains(" # {")).collect();
    let name = "forebay_dropped_packets_total{port=\"1\",interface=\"fb-h2\",queue=\"0\",reason=\"threshold\"} ";
    assert_eq!(with.len(), 1);
    assert!(with[0].starts_with(name) && with[0].ends_with(" # {bytes=\"1500\",time_s=\"1.500000\"} 1"), "{}", with[0]);
    for family in text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.strip_suffix(" counter")) {
        assert!(!family.ends_with("_total") && text.contains(&format!("\n{family}_total")), "{family}");
    }
    assert!(!metrics::text(&now).contains(" # {"));
}

/// Where Prometheus' own tool is installed, it is asked as well.
#[test]
fn promtool_finds_nothing_wrong() {
    let tool = Command::new("promtool").args(["check", "metrics"]).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let Ok(mut tool) = tool else { return };
    let text = metrics::text(&moments(&[]).1);
    std::io::Write::write_all(&mut tool.stdin.take().unwrap(), text.as_bytes()).unwrap();
    let output = tool.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
