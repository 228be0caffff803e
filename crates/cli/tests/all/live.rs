//! `forebay live` between captures: the same frames get the same verdicts as in `forebay replay`.

use std::path::Path;
use std::process::{Command, Output};

fn forebay(directory: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_forebay")).current_dir(directory).args(arguments).output().unwrap()
}

fn sound(output: &Output) -> String {
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A frame of a UDP packet between two hosts, which can be marked, with so many bytes.
fn frame(source: u8, destination: u8, dscp: u8, bytes: usize) -> Vec<u8> {
    let packet = (bytes - 14) as u16;
    let mut frame = vec![2, 0, 0, 0, 0, destination, 2, 0, 0, 0, 0, source, 8, 0];
    frame.extend([0x45, dscp << 2 | 2]);
    frame.extend(packet.to_be_bytes());
    frame.extend([0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, source, 10, 0, 0, destination]);
    frame.extend([0, 7, 0, 9]);
    frame.extend((packet - 20).to_be_bytes());
    frame.resize(bytes, 0);
    frame
}

/// A capture, in 2026, of frames that come at these microseconds.
pub(crate) fn capture(frames: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let words = |numbers: &[u32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
    let mut file = words(&[0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, 1]);
    for (us, frame) in frames {
        file.extend(words(&[1_790_000_000, *us, frame.len() as u32, frame.len() as u32]));
        file.extend(frame);
    }
    file
}

/// The times (in nanoseconds) and frames of a capture that the switch has written.
pub(crate) fn read(path: &Path) -> Vec<(u32, Vec<u8>)> {
    let file = std::fs::read(path).unwrap();
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    assert_eq!(word(0), 0xa1b2_3c4d);
    let (mut at, mut frames) = (24, Vec::new());
    while at < file.len() {
        let length = word(at + 8) as usize;
        frames.push((word(at + 4), file[at + 16..at + 16 + length].to_vec()));
        at += 16 + length;
    }
    frames
}

const TABLES: &str = "buffer = \"30KB\"\nqueues = 2\n[policy]\nkind = \"dt\"\nalpha = [1.0, 0.5]\n[scheduler]\nkind = \"strict\"\n\
                      [ecn]\nkind = \"step\"\nthreshold = \"6KB\"\n";

/// Three ports send to the fourth, 900 Mb/s in all to 100 Mb/s, in two classes.
fn make(directory: &Path) {
    let mut live = format!("rate = \"100Mbps\"\n{TABLES}");
    for port in 0..3u8 {
        let frames: Vec<_> = (0..200u32)
            .map(|number| {
                let (us, bytes) = (number * 30 + u32::from(port) * 7, 200 + (number as usize * 37 + 5) % 1_300);
                (us, frame(port + 1, 4, if number % 3 == 0 { 46 } else { 0 }, bytes))
            })
            .collect();
        std::fs::write(directory.join(format!("in{port}.pcap")), capture(&frames)).unwrap();
        live.push_str(&format!("[[interface]]\nread = \"in{port}.pcap\"\n"));
    }
    live.push_str(
        "[[interface]]\nwrite = \"out.pcap\"\n[[forwarding.entry]]\nmac = \"02:00:00:00:00:04\"\nport = \"port3\"\n",
    );
    live.push_str(
        "[[classify]]\ndscp = 46\nqueue = 0\n[[classify]]\nqueue = 1\n[live]\nout = \"results\"\noverhead = 0\n",
    );
    std::fs::write(directory.join("live.toml"), live).unwrap();
    std::fs::write(directory.join("switch.toml"), format!("ports = 4\nrate = \"100Mbps\"\n{TABLES}")).unwrap();
}

#[test]
fn captures_get_the_verdicts_of_a_replay() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    make(path);
    let told = sound(&forebay(path, &["live", "live.toml"]));
    assert!(told.contains("600"), "{told}");
    sound(&forebay(path, &["replay", "switch.toml", "results/arrivals.csv", "-o", "replayed.csv", "-q"]));
    let [live, replayed] =
        ["results/verdicts.csv", "replayed.csv"].map(|name| std::fs::read_to_string(path.join(name)).unwrap());
    assert_eq!(live, replayed);
    assert_eq!(live.lines().count(), 601);
    let count = |what: &str| live.lines().filter(|line| line.contains(what)).count();
    assert!(count("dropped") > 100 && count("sent") > 100, "{told}");
    // Each frame that was sent is in the capture, when its wire was free, and marked if the verdict says so.
    let sent = read(&path.join("out.pcap"));
    assert_eq!(sent.len(), count("sent"));
    let marked = sent.iter().filter(|(_, frame)| frame[15] & 3 == 3).count();
    assert!(marked > 10);
    let ends: Vec<u32> = sent.iter().map(|(ns, frame)| ns + frame.len() as u32 * 80).collect();
    assert!(sent.iter().skip(1).zip(&ends).all(|((start, _), end)| start + 1 >= *end), "one after the other");
    let again = std::fs::read(path.join("out.pcap")).unwrap();
    sound(&forebay(path, &["live", "live.toml"]));
    assert_eq!(std::fs::read(path.join("out.pcap")).unwrap(), again, "the same files, the same bytes");
}

#[test]
fn bad_captures_are_told() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    make(path);
    let whole = std::fs::read(path.join("in1.pcap")).unwrap();
    for (file, says) in [
        (&whole[..100], "in1.pcap: at byte"),
        (b"GIF89a..................", "this is neither pcap nor pcapng"),
        (&[], "too short"),
    ] {
        std::fs::write(path.join("in1.pcap"), file).unwrap();
        let output = forebay(path, &["live", "live.toml"]);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(says) && error.contains("help:"), "{error}");
        assert!(
            !path.join("out.pcap").exists() && !path.join("results/verdicts.csv").exists(),
            "nothing is half written"
        );
    }
    std::fs::remove_file(path.join("in1.pcap")).unwrap();
    let output = forebay(path, &["live", "live.toml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("in1.pcap: cannot read it"));
}

#[test]
fn interfaces_that_are_not_there_are_told() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let text =
        format!("rate = \"100Mbps\"\n{TABLES}[[interface]]\nname = \"fb-none1\"\n[[interface]]\nname = \"fb-none2\"\n");
    std::fs::write(path.join("live.toml"), text).unwrap();
    let output = forebay(path, &["live", "live.toml"]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("live.toml: interface.0") && error.contains("fb-none1"), "{error}");
    assert_eq!(path.read_dir().unwrap().count(), 1, "nothing is written");
}
