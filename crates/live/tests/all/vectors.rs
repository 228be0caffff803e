//! The specification's examples as real frames through the data path: every packet gets the verdict, and leaves at the
//! instant, that it must.

use forebay_live::classify::{Classifier, Kind, Matches, Rule};
use forebay_live::dataplane::{Dataplane, Forwarding, FrameObserver, NO_PORT, Parts, RankFrom, Treatment};
use forebay_live::edit::Lengths;
use forebay_live::frame::Mac;
use forebay_live::mac_table::MacTable;
use forebay_live::pool::{Pool, Slot};
use forebay_settings::read_switch;
use forebay_tm::trim::TrimConfig;
use forebay_tm::{Departure, Duration, Eviction, Instant, Packet, Tm, Verdict};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn vectors() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors");
    let mut all: Vec<PathBuf> =
        root.read_dir().unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    all.sort();
    assert!(all.len() >= 29);
    all
}

/// A line of arrivals.csv.
#[derive(Clone, Copy, Default)]
struct Arrival {
    time: u64,
    bytes: usize,
    port: u8,
    kind: Kind,
    flow: u16,
    rank: u64,
    ect: bool,
}

fn arrivals(text: &str) -> Vec<Arrival> {
    let mut lines = text.lines();
    let columns: Vec<&str> = lines.next().unwrap().split(',').collect();
    let read = |line: &str| {
        let mut arrival = Arrival::default();
        for (column, value) in columns.iter().zip(line.split(',')) {
            let value: u64 = value.parse().unwrap();
            match *column {
                "time_ps" => arrival.time = value,
                "bytes" => arrival.bytes = value as usize,
                "port" => arrival.port = value as u8,
                "queue" => arrival.kind.queue = value as u32,
                "flow" => arrival.flow = value.try_into().unwrap(),
                "rank" => arrival.rank = value,
                "class" => arrival.kind.class = value as u32,
                "unscheduled" => arrival.kind.unscheduled = value == 1,
                "ect" => arrival.ect = value == 1,
                other => panic!("{other}"),
            }
        }
        arrival
    };
    lines.map(read).collect()
}

/// The interface behind a port.
fn address(port: u8) -> Mac {
    Mac([2, 0, 0, 0, 1, port])
}

/// A UDP packet to the interface behind the port, with the kind as its code point, the flow as its source port, and the
/// rank as its first 8 bytes.
fn frame(arrival: &Arrival, code_point: u8) -> Vec<u8> {
    let mut frame = address(arrival.port).0.to_vec();
    frame.extend([2, 0, 0, 0, 0, 2, 0x08, 0x00]);
    let length = (arrival.bytes - 14) as u16;
    frame.extend([0x45, code_point << 2 | if arrival.ect { 2 } else { 0 }]);
    frame.extend(length.to_be_bytes());
    frame.extend([0, 0, 0, 0, 64, 17, 0, 0, 10, 1, 0, 1, 10, 0, 0, 1]);
    frame.extend(arrival.flow.to_be_bytes());
    frame.extend([0, 9]);
    frame.extend((length - 20).to_be_bytes());
    frame.extend([0, 0]);
    frame.extend(arrival.rank.to_be_bytes());
    frame.resize(arrival.bytes, 0);
    frame
}

/// What became of each packet, as lines of verdicts.csv.
#[derive(Default)]
struct Log {
    /// The packet that is in a frame buffer.
    packet: BTreeMap<u64, usize>,
    next: usize,
    lines: Vec<Line>,
}

#[derive(Clone, Default)]
struct Line {
    verdict: &'static str,
    reason: &'static str,
    marked: bool,
    times: Option<(u64, u64)>,
}

impl FrameObserver for Log {
    fn judged(&mut self, _: Instant, packet: &Packet, verdict: Verdict) {
        self.packet.insert(packet.id.0, self.next);
        self.next += 1;
        let line = match verdict {
            Verdict::Queued { marked } => Line { verdict: "sent", marked, ..Line::default() },
            Verdict::Trimmed { reason } => Line { verdict: "trimmed", reason: reason.as_str(), ..Line::default() },
            Verdict::Returned { reason } => Line { verdict: "returned", reason: reason.as_str(), ..Line::default() },
            Verdict::Dropped { reason } => Line { verdict: "dropped", reason: reason.as_str(), ..Line::default() },
        };
        self.lines.push(line);
    }

    fn sent(&mut self, now: Instant, _: usize, departure: &Departure, end: Instant) {
        self.lines[self.packet[&departure.id.0]].times = Some((now.ps(), end.ps()));
    }

    fn evicted(&mut self, eviction: &Eviction) {
        let line = &mut self.lines[self.packet[&eviction.id.0]];
        (line.verdict, line.reason) = ("dropped", eviction.reason.as_str());
    }
}

impl Log {
    fn text(&self) -> String {
        let mut text = "packet,verdict,reason,marked,start_ps,end_ps\n".to_owned();
        for (number, Line { verdict, reason, marked, times }) in self.lines.iter().enumerate() {
            let times = times.map_or_else(|| ",".to_owned(), |(start, end)| format!("{start},{end}"));
            text.push_str(&format!("{number},{verdict},{reason},{},{times}\n", u8::from(*marked)));
        }
        text
    }
}

fn run(switch: &str, arrivals: &[Arrival]) -> String {
    let config = read_switch("switch.toml", switch).unwrap();
    let ports = config.rates.len();
    let mut kinds: Vec<Kind> = Vec::new();
    for arrival in arrivals {
        if !kinds.contains(&arrival.kind) {
            kinds.push(arrival.kind);
        }
    }
    let rule = |(code_point, kind): (usize, &Kind)| Rule {
        matches: Matches { dscp: Some(code_point as u8), ..Matches::default() },
        kind: *kind,
    };
    let mut table = MacTable::new(Duration::from_us(1), 1);
    for port in 0..ports {
        assert!(table.give(address(port as u8), 0, port));
    }
    let parts = Parts {
        pool: Pool::new(2_048, 16_384).unwrap(),
        forwarding: Forwarding::Learn(table),
        classifier: Classifier::new(kinds.iter().enumerate().map(rule).collect(), Kind::default()),
        treatment: Treatment {
            rank: RankFrom::Payload { offset: 0, bytes: 8 },
            // As the file of a live switch has it.
            trim_size: match &config.trim {
                Some(TrimConfig::Ndp(trim)) => trim.size.get() as usize,
                Some(TrimConfig::CutPayload(trim)) => trim.size.get() as usize,
                _ => 64,
            },
            trim_lengths: Lengths::Cut,
            ..Treatment::default()
        },
        overhead: 0,
    };
    let mut path = Dataplane::new(Tm::new(config), parts, Log::default());
    let buffers = path.pool().free();
    for arrival in arrivals {
        let code_point = kinds.iter().position(|kind| *kind == arrival.kind).unwrap() as u8;
        let frame = frame(arrival, code_point);
        let mut slot: Slot = path.pool().take().expect("there are frame buffers for all that can wait");
        path.pool().bytes_mut(&mut slot, frame.len()).copy_from_slice(&frame);
        path.arrive(Instant::from_ps(arrival.time), NO_PORT, slot, frame.len()).unwrap();
        give_back(&mut path);
    }
    path.finish().unwrap();
    give_back(&mut path);
    assert_eq!(path.pool().free(), buffers, "every frame buffer comes back");
    path.observer().text()
}

/// Puts what leaves on no wire at all.
fn give_back(path: &mut Dataplane<Log>) {
    let sent: Vec<_> = path.outgoing().collect();
    for outgoing in sent {
        path.pool().give(outgoing.slot);
    }
}

#[test]
fn frames_get_the_verdicts_of_the_examples() {
    for vector in vectors() {
        let read = |name: &str| std::fs::read_to_string(vector.join(name)).unwrap();
        let found = run(&read("switch.toml"), &arrivals(&read("arrivals.csv")));
        let wanted = read("verdicts.csv");
        for (found, wanted) in found.lines().zip(wanted.lines()) {
            assert_eq!(found, wanted, "in {}", vector.display());
        }
        assert_eq!(found, wanted, "{}", vector.display());
    }
}
