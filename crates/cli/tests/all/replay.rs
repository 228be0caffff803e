//! `forebay replay` as a person uses it: explanations, tables, timelines, odd but sound files, long traces, Ctrl-C.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

fn vector(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors").join(name)
}

fn vectors() -> Vec<PathBuf> {
    let entries = vector("").read_dir().unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.is_dir()).collect()
}

/// `forebay replay switch.toml arrivals.csv` and further arguments, in a directory.
fn replay(directory: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forebay"));
    command.args(["replay", "switch.toml", "arrivals.csv"]).args(args).current_dir(directory);
    command
}

/// What it prints.
fn printed(directory: &Path, args: &[&str]) -> String {
    text(&replay(directory, args).output().unwrap())
}

fn text(output: &Output) -> String {
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && err.is_empty(), "{}: {err}", output.status);
    out.into_owned()
}

fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).unwrap()
}

/// The lines of a CSV file after its header, as fields.
fn rows(csv: &str) -> Vec<Vec<&str>> {
    csv.lines().skip(1).map(|line| line.split(',').collect()).collect()
}

fn number(field: &str) -> u64 {
    field.parse().unwrap_or_else(|_| panic!("{field:?} is not a number"))
}

/// A directory with a switch and arrivals.
fn written(switch: &str, arrivals: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("switch.toml"), switch).unwrap();
    fs::write(directory.path().join("arrivals.csv"), arrivals).unwrap();
    directory
}

// --explain

/// The explanation of a packet whose verdict and reason are known.
fn explain(name: &str, packet: usize, fate: &str) -> String {
    let verdicts = read(vector(name).join("verdicts.csv"));
    let row = &rows(&verdicts)[packet];
    assert_eq!(format!("{} {}", row[1], row[2]).trim_end(), fate, "packet {packet} of {name}");
    printed(&vector(name), &["--explain", &packet.to_string()])
}

macro_rules! explanations {
    ($($test:ident: packet $packet:literal of $vector:literal, $fate:literal;)*) => {$(
        #[test]
        fn $test() {
            let text = explain($vector, $packet, $fate);
            insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(stringify!($test), text) });
        }
    )*};
}

explanations! {
    explain_admitted: packet 40 of "04-fb-figure-5a", "sent";
    explain_partition: packet 11 of "02-cp-rr", "dropped threshold";
    explain_threshold_of_dt_with_reserve: packet 22 of "06-dt-reserved", "dropped threshold";
    explain_threshold_of_fb: packet 67 of "09-fb-strict", "dropped threshold";
    explain_threshold_of_fba: packet 32 of "11-fba-wrr", "dropped threshold";
    explain_threshold_of_abm: packet 117 of "12-abm-rr", "dropped threshold";
    explain_threshold_of_fab: packet 48 of "14-fab", "dropped threshold";
    explain_full: packet 20 of "01-cs-fifo", "dropped full";
    explain_oversize: packet 12 of "01-cs-fifo", "dropped oversize";
    explain_rejected_by_aifo: packet 36 of "25-aifo-figure-4", "dropped rank";
    explain_rejected_by_pifo: packet 23 of "23-pifo-dt", "dropped rank";
    explain_pushed_out: packet 10 of "16-pushout-strict", "dropped pushed-out";
    explain_pushed_out_by_pifo: packet 6 of "23-pifo-dt", "dropped pushed-out";
    explain_expelled: packet 59 of "17-occamy", "dropped expelled";
    explain_trimmed: packet 32 of "27-trim-ratio", "trimmed queue-full";
    explain_header_full: packet 54 of "27-trim-ratio", "dropped header-full";
    explain_returned: packet 43 of "28-trim-strict-return", "returned threshold";
    explain_marked: packet 11 of "21-ecn-strict", "sent";
}

#[test]
fn several_packets_are_explained_in_the_order_asked() {
    let text = printed(&vector("01-cs-fifo"), &["--explain", "20", "--explain", "3", "--explain", "20"]);
    let starts = text.lines().filter(|line| line.starts_with("Packet "));
    let packets: Vec<&str> = starts.map(|line| line.split(' ').nth(1).unwrap()).collect();
    assert_eq!(packets, ["20", "3", "20"]);
}

/// To be asked for an explanation, a timeline and a summary changes no verdict.
#[test]
fn to_be_watched_changes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let (out, timeline) = (directory.path().join("out.csv"), directory.path().join("timeline.csv"));
    for vector in vectors() {
        let packets = (0..42).flat_map(|packet| ["--explain".to_owned(), packet.to_string()]);
        let mut command = replay(&vector, &["--summary"]);
        command.args(packets).arg("-o").arg(&out).arg("--timeline").arg(&timeline);
        text(&command.output().unwrap());
        assert_eq!(read(&out), read(vector.join("verdicts.csv")), "{}", vector.display());
    }
}

// --summary and --compare

#[test]
fn summary() {
    let text = printed(&vector("28-trim-strict-return"), &["--summary"]);
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!("summary_trimming", text) });
    let text = printed(&vector("18-occamy-small-bucket"), &["--summary"]);
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!("summary_occamy", text) });
}

#[test]
fn summary_counts_what_the_verdicts_say() {
    for vector in vectors() {
        let verdicts = read(vector.join("verdicts.csv"));
        let count = |verdict: &str| rows(&verdicts).iter().filter(|row| row[1] == verdict).count().to_string();
        let summary = printed(&vector, &["--summary"]);
        let header: Vec<&str> = summary.lines().next().unwrap().split_whitespace().collect();
        let all: Vec<&str> =
            summary.lines().find(|line| line.starts_with("all ")).unwrap().split_whitespace().collect();
        for verdict in ["sent", "dropped", "trimmed", "returned"] {
            // A column without a count is left out.
            let cell = header.iter().position(|name| *name == verdict).map_or("0", |column| all[column]);
            assert_eq!(cell, count(verdict), "{verdict} in {}\n{summary}", vector.display());
        }
    }
}

#[test]
fn compare() {
    let policies = "cs,cp,dt,dt:alpha=[8,8],fb,abm,pushout,occamy:alpha=8";
    let text = printed(&vector("04-fb-figure-5a"), &["--compare", policies]);
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!("compare", text) });
}

#[test]
fn compare_agrees_with_plain_runs() {
    let vector = vector("04-fb-figure-5a");
    let (switch, arrivals) = (read(vector.join("switch.toml")), read(vector.join("arrivals.csv")));
    let policies = [
        ("cs", "kind = \"cs\""),
        ("dt", "kind = \"dt\"\nalpha = [2.0, 1.0]"),
        ("dt:alpha=0.5", "kind = \"dt\"\nalpha = 0.5"),
        ("fb", "kind = \"fb\"\nalpha = [2.0, 1.0]"),
        ("pushout", "kind = \"pushout\""),
        ("abm:interval=\"2us\"", "kind = \"abm\"\nalpha = [2.0, 1.0]\nalpha_unscheduled = 64.0\ninterval = \"2us\""),
    ];
    let arguments: Vec<&str> = policies.iter().map(|(argument, _)| *argument).collect();
    let table = printed(&vector, &["--compare", &arguments.join(",")]);
    assert_eq!(table.lines().count(), 2 + policies.len(), "{table}");
    for ((argument, settings), line) in policies.iter().zip(table.lines().skip(2)) {
        let directory = written(&switch.replace("kind = \"fb\"\nalpha = [2.0, 1.0]", settings), &arrivals);
        let verdicts = printed(directory.path(), &[]);
        let rows = rows(&verdicts);
        let count = |verdict: &str| rows.iter().filter(|row| row[1] == verdict).count().to_string();
        let cells: Vec<&str> = line.split_whitespace().collect();
        let wanted = [argument.to_string(), rows.len().to_string(), count("sent"), count("dropped")];
        assert_eq!(cells[..4], wanted, "{table}");
    }
}

// --timeline

/// Time, port, bytes and packets of every change of a queue's length at the end of an instant, from the verdicts alone.
fn changes(arrivals: &str, verdicts: &str, ports: usize) -> Vec<[u64; 4]> {
    let mut events = Vec::new();
    for (arrival, verdict) in rows(arrivals).into_iter().zip(rows(verdicts)) {
        if verdict[1] == "sent" {
            let (bytes, port) = (number(arrival[1]) as i64, number(arrival[2]) as usize);
            events.push((number(arrival[0]), port, bytes, 1));
            events.push((number(verdict[4]), port, -bytes, -1));
        }
    }
    events.sort_unstable();
    let (mut queues, mut told) = (vec![(0, 0); ports], vec![0; ports]);
    let mut changes = Vec::new();
    for instant in events.chunk_by(|a, b| a.0 == b.0) {
        for (_, port, bytes, packets) in instant {
            queues[*port].0 += bytes;
            queues[*port].1 += packets;
        }
        for port in (0..ports).filter(|port| queues[*port].0 != told[*port]).collect::<Vec<_>>() {
            told[port] = queues[port].0;
            changes.push([instant[0].0, port as u64, queues[port].0 as u64, queues[port].1 as u64]);
        }
    }
    changes
}

#[test]
fn timeline_follows_from_the_verdicts() {
    for (name, ports) in [("01-cs-fifo", 3), ("05-dt-rates-ties", 4), ("14-fab", 3)] {
        let vector = vector(name);
        let timeline = printed(&vector, &["--timeline", "-"]);
        assert_eq!(timeline.lines().next(), Some("time_ps,port,queue,bytes,packets,threshold"));
        let found: Vec<[u64; 4]> =
            rows(&timeline).iter().map(|row| [0, 1, 3, 4].map(|column: usize| number(row[column]))).collect();
        let wanted = changes(&read(vector.join("arrivals.csv")), &read(vector.join("verdicts.csv")), ports);
        assert!(wanted.len() > 100);
        assert_eq!(found, wanted, "{name}");
    }
}

#[test]
fn timeline_has_thresholds() {
    // dt with alpha 0.3 and a buffer of 15000 B.
    let timeline = printed(&vector("05-dt-rates-ties"), &["--timeline", "-"]);
    let mut lengths = [0; 4];
    let all = rows(&timeline);
    for instant in all.chunk_by(|a, b| a[0] == b[0]) {
        for row in instant {
            lengths[number(row[1]) as usize] = number(row[3]);
        }
        let threshold = 0.3 * (15_000 - lengths.iter().sum::<u64>()) as f64;
        assert!(instant.iter().all(|row| row[5].parse() == Ok(threshold)), "{instant:?} should have {threshold}");
    }
    // Complete sharing has none.
    assert!(rows(&printed(&vector("01-cs-fifo"), &["--timeline", "-"])).iter().all(|row| row[5].is_empty()));
}

#[test]
fn timelines_are_plausible() {
    for vector in vectors() {
        let switch = read(vector.join("switch.toml"));
        let buffer = switch.lines().find_map(|line| line.strip_prefix("buffer = ")).unwrap();
        let buffer = number(buffer.trim_matches('"').trim_end_matches('B'));
        let timeline = printed(&vector, &["--timeline", "-"]);
        let rows = rows(&timeline);
        let times: Vec<u64> = rows.iter().map(|row| number(row[0])).collect();
        assert!(times.is_sorted() && !times.is_empty(), "{}", vector.display());
        for row in &rows {
            let (bytes, packets) = (number(row[3]), number(row[4]));
            assert!(bytes <= buffer && packets <= bytes && (bytes == 0) == (packets == 0), "{row:?}");
            assert!(row[5].is_empty() || row[5].parse::<f64>().is_ok_and(|value| value >= 0.0), "{row:?}");
        }
        // Every queue is empty in the end.
        for queue in rows.iter().map(|row| &row[1..3]) {
            let last = rows.iter().rfind(|row| &row[1..3] == queue).unwrap();
            assert_eq!(last[3], "0", "{queue:?} of {}", vector.display());
        }
    }
}

#[test]
fn samples_agree_with_the_changes() {
    let vector = vector("08-fb-drr-groups");
    let changes = printed(&vector, &["--timeline", "-"]);
    let changes = rows(&changes);
    let samples = printed(&vector, &["--timeline", "-", "--every", "700ns"]);
    let samples = rows(&samples);
    assert!(samples.len() > 50);
    for sample in samples {
        let time = number(sample[0]);
        assert_eq!(time % 700_000, 0, "{sample:?}");
        let before = changes.iter().rfind(|row| row[1..3] == sample[1..3] && number(row[0]) <= time);
        assert_eq!(before.map(|row| &row[3..5]), Some(&sample[3..5]), "{sample:?}");
    }
}

// Odd but sound files

/// Every example gives its verdicts also when its arrivals are written another way.
fn same_when(written_as: impl Fn(&str) -> Vec<u8>) {
    for vector in vectors() {
        let directory = tempfile::tempdir().unwrap();
        fs::copy(vector.join("switch.toml"), directory.path().join("switch.toml")).unwrap();
        fs::write(directory.path().join("arrivals.csv"), written_as(&read(vector.join("arrivals.csv")))).unwrap();
        assert_eq!(printed(directory.path(), &[]), read(vector.join("verdicts.csv")), "{}", vector.display());
    }
}

#[test]
fn line_ends_of_windows() {
    same_when(|arrivals| arrivals.replace('\n', "\r\n").into());
}

#[test]
fn byte_order_mark() {
    same_when(|arrivals| [b"\xef\xbb\xbf", arrivals.as_bytes()].concat());
}

#[test]
fn blank_lines_at_the_end() {
    same_when(|arrivals| format!("{arrivals}\n\r\n\n").into());
}

#[test]
fn no_line_end_at_the_end() {
    same_when(|arrivals| arrivals.trim_end().into());
}

#[test]
fn columns_in_another_order() {
    let reversed = |line: &str| line.split(',').rev().collect::<Vec<_>>().join(",") + "\n";
    same_when(|arrivals| arrivals.lines().map(reversed).collect::<String>().into());
}

#[test]
fn a_switch_with_line_ends_of_windows() {
    let vector = vector("08-fb-drr-groups");
    let switch = read(vector.join("switch.toml")).replace('\n', "\r\n");
    let directory = written(&switch, &read(vector.join("arrivals.csv")));
    assert_eq!(printed(directory.path(), &[]), read(vector.join("verdicts.csv")));
}

#[test]
fn standard_input_and_output() {
    let vector = vector("08-fb-drr-groups");
    let arrivals = fs::File::open(vector.join("arrivals.csv")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_forebay"));
    command.args(["replay", "switch.toml", "-", "-o", "-"]).current_dir(&vector).stdin(arrivals);
    assert_eq!(text(&command.output().unwrap()), read(vector.join("verdicts.csv")));
}

/// Also with random draws, which start at the switch's seed.
#[test]
fn twice_the_same() {
    let vector = vector("04-fb-figure-5a");
    let ecn = "[ecn]\nkind = \"red\"\nmin = 2000\nmax = 9000\naction = \"drop\"\n";
    let switch = read(vector.join("switch.toml")).replace("\"fb\"", "\"ib\"") + ecn;
    let arrivals = read(vector.join("arrivals.csv"));
    let directory = written(&switch, &arrivals);
    let first = printed(directory.path(), &[]);
    assert!(first.contains(",marking,"), "RED should have drawn");
    assert_eq!(printed(directory.path(), &[]), first);
    let directory = written(&format!("seed = 7\n{switch}"), &arrivals);
    assert_ne!(printed(directory.path(), &[]), first, "another seed draws other packets");
}

// Long traces

/// Waits for a process; the largest resident memory it was seen with, in KiB.
fn peak_memory(mut child: Child) -> u64 {
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    loop {
        let now = fs::read_to_string(&status).unwrap_or_default();
        let line = now.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        peak = peak.max(line.map_or(0, |line| number(line.trim().trim_end_matches(" kB"))));
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success(), "{status}");
            return peak;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Replays into `out.csv` in less than `mib` of memory, and returns that file.
fn replay_in_little_memory(switch: &str, arrivals: &str, mib: u64) -> String {
    let directory = written(switch, arrivals);
    let peak = peak_memory(replay(directory.path(), &["-o", "out.csv"]).spawn().unwrap());
    assert!((1 << 10..mib << 10).contains(&peak), "{peak} KiB");
    read(directory.path().join("out.csv"))
}

#[test]
fn a_million_packets_in_little_memory() {
    const PACKETS: u64 = 1_000_000;
    let switch = "ports = 4\nrate = \"10Gbps\"\nbuffer = \"100KB\"\n[policy]\nkind = \"dt\"\nalpha = 1\n";
    let mut arrivals = "time_ps,bytes,port,queue\n".to_owned();
    // Four ports could send a packet every 300 ns.
    for packet in 0..PACKETS {
        arrivals.push_str(&format!("{},1500,{},0\n", packet * 290_000, packet % 4));
    }
    // Too little to keep a line for every packet.
    let verdicts = replay_in_little_memory(switch, &arrivals, 32);
    assert_eq!(verdicts.lines().count() as u64, PACKETS + 1);
    let sent = verdicts.lines().filter(|line| line.contains(",sent,")).count();
    assert!((960_000..970_000).contains(&sent), "{sent} sent of what arrives at 30/29 of the rate");
}

/// The second packet leaves last, so its line and all after it must wait, which are more than the memory holds.
#[test]
fn a_starving_packet_in_little_memory() {
    const PACKETS: u64 = 3_200_000;
    let switch = "ports = 1\nqueues = 2\nrate = \"10Gbps\"\nbuffer = \"1MB\"\n[policy]\nkind = \"cs\"\n\
                  [scheduler]\nkind = \"strict\"\n";
    let mut arrivals = "time_ps,bytes,port,queue\n0,1500,0,0\n0,1500,0,1\n".to_owned();
    for packet in 2..PACKETS {
        arrivals.push_str(&format!("{},1500,0,0\n", (packet - 1) * 1_200_000 - 600_000));
    }
    let verdicts = replay_in_little_memory(switch, &arrivals, 64);
    for (packet, line) in verdicts.lines().skip(1).enumerate() {
        let packet = packet as u64;
        let place = match packet {
            0 => 0,
            1 => PACKETS - 1,
            _ => packet - 1,
        };
        let (start, end) = (place * 1_200_000, (place + 1) * 1_200_000);
        assert_eq!(line, format!("{packet},sent,,0,{start},{end}"));
    }
    assert_eq!(verdicts.lines().count() as u64, PACKETS + 1);
}

#[test]
fn an_interrupt_leaves_nothing_behind() {
    let directory = written(&read(vector("01-cs-fifo").join("switch.toml")), "");
    let mut command = Command::new(env!("CARGO_BIN_EXE_forebay"));
    command.args(["replay", "switch.toml", "-", "-o", "out.csv", "--timeline", "timeline.csv"]);
    command.current_dir(&directory).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"time_ps,bytes,port,queue\n").unwrap();
    let chunk = "7,1000,0,0\n".repeat(1_000);
    // More than a pipe holds: the replay is well under way when all is written.
    for _ in 0..40 {
        input.write_all(chunk.as_bytes()).unwrap();
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    // Goes on until nobody reads any more.
    let refused = (0..10_000).any(|_| input.write_all(chunk.as_bytes()).is_err());
    drop(input);
    let output = child.wait_with_output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(refused, "ten million packets were read after the interrupt");
    assert_eq!(output.status.code(), Some(130), "{error}");
    assert!(error.starts_with("interrupted; what was not finished has not been written"), "{error}");
    assert!(output.stdout.is_empty());
    let mut left: Vec<_> = directory.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["arrivals.csv", "switch.toml"]);
}

// Both sides

const SIDES: &str = "ports = 2\nrate = \"10Gbps\"\nqueues = 2\nbuffer = \"60KB\"\n\n[policy]\nkind = \"dt\"\nalpha = 1\n\n[scheduler]\nkind = \"drr\"\n\n\
    [ingress]\ncell = 500\nof_queue = [0, 3]\n\n[[ingress.pool]]\nname = \"all\"\nshared = 12\n\n[[ingress.group]]\ngroups = [0]\nlimit = 2\n\n\
    [[ingress.group]]\ngroups = [3]\nminimum = 1\nalpha = 1\nheadroom = 4\nxon_offset = 2\n";

/// Packets of one cell to port 0: some of the lossy group and many of the lossless one.
fn sides() -> tempfile::TempDir {
    let packets = (0..30).map(|n| format!("{n},500,0,{},1\n", u8::from(n > 3))).collect::<String>();
    written(SIDES, &format!("time_ps,bytes,port,queue,in_port\n{packets}"))
}

#[test]
fn the_side_that_refuses_is_named() {
    let directory = sides();
    let verdicts = printed(directory.path(), &[]);
    let reasons: Vec<String> = rows(&verdicts).iter().map(|row| row[2].to_owned()).collect();
    // The first packet leaves at once, two wait, and the lossy group may have no more.
    assert_eq!(reasons[..4], ["", "", "", "ingress-group"]);
    assert!(reasons.iter().any(|reason| reason == "ingress-headroom"), "{reasons:?}");
    let summary = printed(directory.path(), &["--summary"]);
    assert!(summary.contains("ingress-headroom") && summary.contains("on ingress, 0 on egress"), "{summary}");
    assert!(summary.contains("port 1 pg 3"), "{summary}");
    let story = printed(directory.path(), &["--explain", "3", "--explain", "12"]);
    assert!(story.contains("Ingress: it came by port 1, group 0, and has 1 cells."), "{story}");
    assert!(story.contains("above the limit of the group"), "{story}");
}

#[test]
fn pauses_are_written_in_turn() {
    let directory = sides();
    let pauses = printed(directory.path(), &["--pauses", "-"]);
    let signals: Vec<String> = rows(&pauses).iter().map(|row| row[3].to_owned()).collect();
    assert!(pauses.starts_with("time_ps,port,pg,signal\n"), "{pauses}");
    assert_eq!(signals, ["XOFF", "XON"], "{pauses}");
    // Who knows one side alone says so.
    let output = replay(directory.path(), &["--compare", "dt,cs"]).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.code() == Some(2) && error.contains("only replays and scenarios have an ingress side yet"),
        "{error}"
    );
    let other =
        written("ports = 1\nrate = \"1Gbps\"\nbuffer = 1000\n[policy]\nkind = \"cs\"\n", "time_ps,bytes,port,queue\n");
    let output = replay(other.path(), &["--pauses", "p.csv"]).output().unwrap();
    assert!(output.status.code() == Some(2) && !other.path().join("p.csv").exists());
}
