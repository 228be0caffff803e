//! Script files: what is wrong with bad ones, and that no text is too strange for the reader.

use forebay_script::director::{Director, Subject};
use forebay_script::file::{Action, CongestionControl, ReceiveBuffer, Which, read};
use forebay_tm::{Bytes, Duration, Rate};
use proptest::prelude::*;

const GOOD: &str = r#"about = "all there is"
congestion_control = "cubic"
ecn = true
rate = "20Mbps"
round_trip = "30ms"
buffer = "60KB"
mark_above = "30KB"
initial_window = 4
rto_min = "20ms"
idle_restart = false
receive_buffer = "64KB"
limit = "5s"
note = "nothing"

[[flow]]
segments = 60

[[flow]]
start = "100ms"
write = [{ segments = 5 }, { at = "200ms", segments = 7 }]
reply = 3
pause_from = "10ms"
pause_until = "90ms"

[[drop]]
segment = [20, "30-32"]
transmission = "1-2"

[[drop]]
flow = 1
reply = 5

[[mark]]
segment = "10-"
every = 5

[[delay]]
ack = 7
by = "5ms"

[[hold]]
acknowledges = 9
by = "300ms"

[[duplicate]]
handshake = "syn-ack"
after = "1ms"
"#;

#[test]
fn everything_is_read() {
    let script = read("good.toml", GOOD).unwrap();
    assert_eq!(script.congestion_control, CongestionControl::Cubic);
    assert_eq!((script.rate, script.round_trip), (Rate::from_bps(20_000_000), Duration::from_us(30_000)));
    assert_eq!((script.buffer, script.mark_above), (Bytes::new(60_000), Some(Bytes::new(30_000))));
    assert_eq!((script.initial_window, script.rto_min), (4, Duration::from_us(20_000)));
    assert!(script.ecn && !script.idle_restart);
    assert_eq!(
        (script.receive_buffer, script.limit),
        (ReceiveBuffer::Fixed(Bytes::new(64_000)), Duration::from_us(5_000_000))
    );
    let auto = with("receive_buffer = \"64KB\"", "receive_buffer = \"auto\"");
    assert_eq!(read("auto.toml", &auto).unwrap().receive_buffer, ReceiveBuffer::Auto);
    let [first, second] = &script.flows[..] else { panic!("two flows") };
    assert_eq!((first.segments(), second.segments(), second.reply_segments()), (60, 12, 6));
    assert_eq!(second.writes[1].at, Duration::from_us(200_000));
    assert_eq!(second.pause, Some((Duration::from_us(10_000), Duration::from_us(90_000))));
    let actions: Vec<Action> = script.rules.iter().map(|rule| rule.action).collect();
    let ms = |ms: u64| Duration::from_us(1_000 * ms);
    let expected = [
        Action::Drop,
        Action::Drop,
        Action::Mark,
        Action::Delay(ms(5)),
        Action::Hold(ms(300)),
        Action::Duplicate(ms(1)),
    ];
    assert_eq!(actions, expected);
    assert_eq!(script.rules[5].which, Which::SynAck);
}

#[test]
fn what_is_left_out_is_the_kernels() {
    let script = read("x.toml", "about = \"x\"\ncongestion_control = \"dctcp\"\n[[flow]]\nsegments = 1\n").unwrap();
    assert!(script.ecn && script.idle_restart, "DCTCP brings ECN");
    assert_eq!((script.initial_window, script.rto_min), (10, Duration::from_us(200_000)));
    assert_eq!((script.rate, script.round_trip), (Rate::from_bps(10_000_000), Duration::from_us(40_000)));
}

/// The good script with a piece of it replaced.
fn with(old: &str, new: &str) -> String {
    assert!(GOOD.contains(old), "{old}");
    GOOD.replacen(old, new, 1)
}

#[test]
fn errors_name_the_line_and_the_remedy() {
    let bad = [
        with("about = \"all there is\"\n", ""),
        with("all there is", "a | b"),
        with("\"cubic\"", "\"bbr\""),
        with("congestion_control = \"cubic\"\n", ""),
        with("congestion_control = \"cubic\"\necn = true", "congestion_control = \"dctcp\"\necn = false"),
        with("ecn = true", "ecn = 1"),
        with("ecn = true\n", "").replace("mark_above = \"30KB\"\n", ""),
        with("ecn = true\n", ""),
        with("20Mbps", "1bps"),
        with("round_trip = \"30ms\"", "round_trip = 0"),
        with("30ms", "3000s"),
        with("60KB", "2KB"),
        with("initial_window = 4", "initial_window = 0"),
        with("\"20ms\"", "\"2500us\""),
        with("receive_buffer = \"64KB\"", "receive_buffer = 1"),
        with("limit", "limits"),
        with("segments = 60", "segments = 0"),
        with("segments = 60", "segmnets = 60"),
        with("segments = 60", "segments = 60\nwrite = [{ segments = 5 }]"),
        with("segments = 60\n", ""),
        with("write = [{ segments = 5 }, ", "write = [{ at = \"1s\", segments = 5 }, "),
        with("pause_until = \"90ms\"", "pause_until = \"5ms\""),
        with("pause_until = \"90ms\"\n", ""),
        with("segment = [20, \"30-32\"]", "segment = 60"),
        with("segment = [20, \"30-32\"]", "segment = \"32-30\""),
        with("segment = [20, \"30-32\"]", "segment = \"a few\""),
        with("segment = [20, \"30-32\"]", "segment = []"),
        with("segment = [20, \"30-32\"]", "segment = 20\nack = 5"),
        with("segment = [20, \"30-32\"]\n", ""),
        with("transmission = \"1-2\"", "transmission = 0"),
        with("flow = 1\nreply = 5", "flow = 2\nreply = 5"),
        with("flow = 1\nreply = 5", "flow = 0\nreply = 5"),
        with("reply = 5", "reply = 6"),
        with("ack = 7", "ack = 0"),
        with("ack = 7", "ack = 7\ntransmission = 2"),
        with("by = \"5ms\"\n", ""),
        with("by = \"5ms\"", "by = 0"),
        with("[[drop]]\nsegment", "[[drop]]\nby = \"5ms\"\nsegment"),
        with("segment = \"10-\"\nevery = 5", "ack = 5"),
        with("handshake = \"syn-ack\"", "handshake = \"fin\""),
        with("handshake = \"syn-ack\"", "handshake = \"syn\"\nevery = 2"),
        "about = \"x\"\ncongestion_control = \"reno\"\n".to_owned(),
        "about = \"x\"\ncongestion_control = \"reno\"\nflow = 3\n".to_owned(),
    ];
    let said: Vec<String> = bad
        .iter()
        .map(|text| match read("bad.toml", text) {
            Ok(script) => panic!("this was read:\n{text}\n{script:?}"),
            Err(error) => error.to_string(),
        })
        .collect();
    insta::assert_snapshot!(said.join("\n\n"));
}

/// A change of the good script that may make it bad.
fn changed() -> impl Strategy<Value = String> {
    let values = prop::sample::select(vec![
        "0",
        "1",
        "-1",
        "9999999999",
        "\"all\"",
        "\"1-\"",
        "\"-1\"",
        "\"5-2\"",
        "[]",
        "[1, \"2-3\"]",
        "{}",
        "true",
        "\"1ms\"",
        "\"99999s\"",
        "1.5",
        "\"syn\"",
        "\"\u{fc}-\u{1f600}\"",
        "[[1]]",
        "\"1Gbps\"",
    ]);
    let lines: Vec<String> = GOOD.lines().map(str::to_owned).collect();
    let count = lines.len();
    (prop::collection::vec((0..count, 0..4u8, 0..count, values), 0..6)).prop_map(move |changes| {
        let mut lines = lines.clone();
        for (place, what, other, value) in changes {
            let place = place % lines.len();
            match what {
                0 => drop(lines.remove(place)),
                1 => {
                    let line = lines[other % lines.len()].clone();
                    lines.insert(place, line);
                }
                2 => {
                    if let Some((key, _)) = lines[place].split_once(" = ") {
                        lines[place] = format!("{key} = {value}");
                    }
                }
                _ => lines[place] = lines[place].chars().rev().collect(),
            }
        }
        lines.join("\n")
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_script_is_read_and_works_or_is_refused_with_a_remedy(text in changed()) {
        match read("changed.toml", &text) {
            Ok(script) => {
                let mut director = Director::new(&script);
                for segment in 0..200 {
                    for subject in [
                        Subject::Data { segment: segment / 2 },
                        Subject::Ack { next: segment / 3 },
                        Subject::Reply { segment, next: segment },
                        Subject::Syn,
                        Subject::SynAck,
                    ] {
                        director.decide(segment % 3, subject);
                    }
                }
            }
            Err(error) => prop_assert!(error.line.is_some() && !error.remedy.is_empty(), "{error}"),
        }
    }
}
