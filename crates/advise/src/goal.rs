//! What an operator wants, read from a TOML file.

use crate::measured::Watermarks;
use forebay_runner::scenario_file::read_text;
use forebay_settings::{Diagnostic, Document, Table};
use forebay_tm::{Bytes, Duration};
use std::path::{Path, PathBuf};

/// A goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Goal {
    /// `senders` times `bytes` to one port at once are not lost, while so many other ports are congested.
    Burst {
        /// The queue of the burst.
        queue: u8,
        /// Ports that send at once, each at its full rate.
        senders: usize,
        /// What each sends.
        bytes: Bytes,
        /// Other ports that are congested.
        congested: usize,
        /// The queue that is congested there.
        with: u8,
    },
    /// A queue can have this much of the buffer at any time, whatever another queue number holds.
    Isolate {
        /// The queue.
        queue: u8,
        /// The queue number that may hold the buffer at all ports.
        from: u8,
        /// What the first can have.
        minimum: Bytes,
    },
    /// A packet of a queue that has its port to itself waits no longer than this.
    Latency {
        /// The queue.
        queue: u8,
        /// The time.
        below: Duration,
    },
    /// ECN marks packets of a queue before it drops them or its PG pauses.
    Marks {
        /// The queue.
        queue: u8,
    },
    /// The PG of a lossless queue does not ask its senders to pause.
    NoPause {
        /// The queue.
        queue: u8,
        /// What it carries.
        traffic: Traffic,
        /// Another lossless queue, and how many senders congest one port by it.
        from: Option<(u8, usize)>,
    },
    /// Nothing of a lossless queue is lost, whatever so many senders send to one port.
    Lossless {
        /// The queue.
        queue: u8,
        /// Ports that send at once, each at its full rate.
        senders: usize,
        /// Metres of cable; without this, those of the longest cable of the ports.
        cable: Option<u64>,
    },
    /// Nothing of a queue is lost of traffic that was measured; a lossless one does not pause, either.
    Measured {
        /// The queue.
        queue: u8,
        /// What was measured.
        traffic: Measured,
    },
    /// Nothing of a queue is lost in a scenario whose switches are made from the configuration; the PGs of a lossless
    /// one do not ask for pause, either.
    Scenario {
        /// The queue.
        queue: u8,
        /// The scenario.
        file: PathBuf,
    },
}

/// Traffic that was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Measured {
    /// Arrivals as `forebay replay` reads them: CSV or a capture.
    Trace(PathBuf),
    /// What queues or PGs have held, all at once.
    Watermarks {
        /// What they have held.
        marks: Watermarks,
        /// This share of it, in percent.
        percent: u64,
    },
}

/// What a lossless queue carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Traffic {
    /// Random flows between all ports: load in percent, and the distribution of sizes as scenarios have it.
    Load {
        /// Percent of the rate of the ports.
        percent: u64,
        /// A size, or the name of a distribution.
        sizes: String,
    },
    /// So many senders send so much each to one port at once.
    Burst {
        /// Ports that send.
        senders: usize,
        /// What each sends.
        bytes: Bytes,
    },
}

impl Goal {
    /// Its queue.
    pub fn queue(&self) -> u8 {
        match self {
            Self::Burst { queue, .. }
            | Self::Isolate { queue, .. }
            | Self::Latency { queue, .. }
            | Self::NoPause { queue, .. }
            | Self::Lossless { queue, .. }
            | Self::Measured { queue, .. }
            | Self::Scenario { queue, .. }
            | Self::Marks { queue } => *queue,
        }
    }

    /// The file that has its traffic.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::Measured { traffic: Measured::Trace(file), .. } | Self::Scenario { file, .. } => Some(file),
            Self::Measured { traffic: Measured::Watermarks { marks, .. }, .. } => Some(marks.file()),
            _ => None,
        }
    }

    /// In words.
    pub fn words(&self) -> String {
        match self {
            Self::Burst { queue, senders, bytes, congested, with } => {
                let beside = match congested {
                    0 => String::new(),
                    ports => format!(" while queue {with} of {ports} other ports is congested"),
                };
                format!("absorb {senders} x {bytes} to queue {queue} of any port{beside}")
            }
            Self::Isolate { queue, from, minimum } => {
                format!("queue {queue} can have {minimum}, whatever queue {from} holds at all ports")
            }
            Self::Latency { queue, below } => format!("a packet of queue {queue} alone waits at most {below}"),
            Self::Marks { queue } => format!("ECN marks at queue {queue} before it drops or pauses"),
            Self::NoPause { queue, traffic, from } => {
                let what = match traffic {
                    Traffic::Load { percent, sizes } => format!("a load of {percent}% ({sizes}) in queue {queue}"),
                    Traffic::Burst { senders, bytes } => format!("{senders} x {bytes} to one port in queue {queue}"),
                };
                let beside = from.map_or(String::new(), |(from, congested)| {
                    format!(" while {congested} senders congest a port by queue {from}")
                });
                format!("no pause by {what}{beside}")
            }
            Self::Lossless { queue, senders, cable } => {
                let over = cable.map_or(String::new(), |metres| format!(" over {metres} m"));
                format!("{senders} senders lose nothing in queue {queue}{over}")
            }
            Self::Measured { queue, traffic } => {
                let what = match traffic {
                    Measured::Trace(path) => path.display().to_string(),
                    Measured::Watermarks { marks, percent: 100 } => marks.words(),
                    Measured::Watermarks { marks, percent } => format!("{percent}% of {}", marks.words()),
                };
                format!("nothing of queue {queue} is lost or paused by {what}")
            }
            Self::Scenario { queue, file } => {
                format!("nothing of queue {queue} is lost or paused in {}", file.display())
            }
        }
    }
}

const KINDS: [(&str, Kind); 9] = [
    ("burst", Kind::Burst),
    ("isolate", Kind::Isolate),
    ("latency", Kind::Latency),
    ("marks", Kind::Marks),
    ("no-pause", Kind::NoPause),
    ("lossless", Kind::Lossless),
    ("trace", Kind::Trace),
    ("watermarks", Kind::Watermarks),
    ("scenario", Kind::Scenario),
];

#[derive(Clone, Copy)]
enum Kind {
    Burst,
    Isolate,
    Latency,
    Marks,
    NoPause,
    Lossless,
    Trace,
    Watermarks,
    Scenario,
}

/// The most of anything that is counted in ports.
const MOST_PORTS: usize = 4096;

/// Reads the goals of a file. Files that it names are found beside it.
///
/// # Errors
/// If it says something that is no goal, or names a file of watermarks that are none.
pub fn read_goals(file: &str, text: &str) -> Result<Vec<Goal>, Diagnostic> {
    let document = Document::parse(file, text)?;
    let root = document.root();
    root.allow(&["goal"], |_| false, "")?;
    let goals: Vec<Goal> = root.tables("goal")?.iter().map(|table| goal(file, table)).collect::<Result<_, _>>()?;
    if goals.is_empty() {
        return Err(Diagnostic::of_file(file, "there is no goal", "write [[goal]] and kind = \"burst\" below it"));
    }
    Ok(goals)
}

fn goal(file: &str, table: &Table<'_>) -> Result<Goal, Diagnostic> {
    let kind = table.need("kind", "kind = \"burst\"")?.word(&KINDS)?;
    let queue = |key| {
        let value = table.need(key, &format!("{key} = 0"))?;
        let queue: u8 = value.number()?;
        if queue < 16 { Ok(queue) } else { Err(value.error("there is no such queue", "give 0 to 15")) }
    };
    let keys = |keys: &[&str]| table.allow(keys, |_| false, "");
    match kind {
        Kind::Burst => {
            keys(&["kind", "queue", "senders", "bytes", "congested", "with"])?;
            let of = queue("queue")?;
            let (senders, bytes) = (senders(table)?, burst_bytes(table)?);
            let congested = table.get("congested").map_or(Ok(0), |value| value.number())?;
            let with = if table.has("with") { queue("with")? } else { of };
            Ok(Goal::Burst { queue: of, senders, bytes, congested, with })
        }
        Kind::Isolate => {
            keys(&["kind", "queue", "from", "minimum"])?;
            let minimum = table.need("minimum", "minimum = \"100KB\"")?.bytes()?;
            let (of, from) = (queue("queue")?, queue("from")?);
            if of == from {
                return Err(table.key_error("from", "a queue is not isolated from itself", "name another queue"));
            }
            Ok(Goal::Isolate { queue: of, from, minimum })
        }
        Kind::Latency => {
            keys(&["kind", "queue", "below"])?;
            Ok(Goal::Latency { queue: queue("queue")?, below: table.need("below", "below = \"200us\"")?.duration()? })
        }
        Kind::Marks => {
            keys(&["kind", "queue"])?;
            Ok(Goal::Marks { queue: queue("queue")? })
        }
        Kind::NoPause => no_pause(table, queue("queue")?),
        Kind::Lossless => {
            keys(&["kind", "queue", "senders", "cable"])?;
            let cable = table.get("cable").map(|value| value.number()).transpose()?;
            if cable.is_some_and(|metres: u64| metres == 0 || metres > 1_000_000) {
                return Err(table.key_error("cable", "this is no cable", "give metres, 1 to 1000000"));
            }
            Ok(Goal::Lossless { queue: queue("queue")?, senders: senders(table)?, cable })
        }
        Kind::Trace => {
            keys(&["kind", "queue", "arrivals"])?;
            let path = beside(file, table.need("arrivals", "arrivals = \"arrivals.csv\"")?.text()?);
            Ok(Goal::Measured { queue: queue("queue")?, traffic: Measured::Trace(path) })
        }
        Kind::Watermarks => {
            keys(&["kind", "queue", "file", "times"])?;
            let path = beside(file, table.need("file", "file = \"watermarks.txt\"")?.text()?);
            let times = table.get("times").map_or(Ok(1.0), |value| value.real())?;
            if !(0.01..=1000.0).contains(&times) {
                return Err(table.key_error("times", "this is no factor for what was measured", "give 0.01 to 1000"));
            }
            let marks = Watermarks::read(&path.display().to_string(), &read_text(&path)?)?;
            let traffic = Measured::Watermarks { marks, percent: (100.0 * times).round() as u64 };
            Ok(Goal::Measured { queue: queue("queue")?, traffic })
        }
        Kind::Scenario => {
            keys(&["kind", "queue", "file"])?;
            let file = beside(file, table.need("file", "file = \"scenario.toml\"")?.text()?);
            Ok(Goal::Scenario { queue: queue("queue")?, file })
        }
    }
}

/// A file that is named by another.
fn beside(file: &str, name: &str) -> PathBuf {
    Path::new(file).parent().unwrap_or(Path::new("")).join(name)
}

/// `senders`, of which one cannot congest a port.
fn senders(table: &Table<'_>) -> Result<usize, Diagnostic> {
    let value = table.need("senders", "senders = 16")?;
    let count: usize = value.number()?;
    if (2..=MOST_PORTS).contains(&count) {
        return Ok(count);
    }
    Err(value.error("one sender cannot congest a port", format!("give 2 to {MOST_PORTS}")))
}

/// `bytes` of a burst.
fn burst_bytes(table: &Table<'_>) -> Result<Bytes, Diagnostic> {
    let value = table.need("bytes", "bytes = \"64KB\"")?;
    let bytes = value.bytes()?;
    if bytes > Bytes::ZERO && bytes <= Bytes::new(1 << 30) {
        return Ok(bytes);
    }
    Err(value.error("this is no burst", "give 1 byte to 1GiB"))
}

/// A load, or a burst, beside which another class may be congested.
fn no_pause(table: &Table<'_>, queue: u8) -> Result<Goal, Diagnostic> {
    let traffic = match table.get("load") {
        Some(value) => {
            table.allow(&["kind", "queue", "load", "sizes", "from", "congested"], |_| false, "no-pause with a load")?;
            let load = value.real()?;
            if !(0.01..=0.99).contains(&load) {
                return Err(value.error("this is no load of a port", "give 0.01 to 0.99"));
            }
            let sizes = table.get("sizes").map_or(Ok("websearch"), |value| value.text())?;
            Traffic::Load { percent: (100.0 * load).round() as u64, sizes: sizes.to_owned() }
        }
        None => {
            table.allow(&["kind", "queue", "senders", "bytes", "from", "congested"], |_| false, "no-pause")?;
            if !table.has("senders") {
                return Err(table.missing("load", "load = 0.5, or senders = 4 and bytes = \"4MB\""));
            }
            Traffic::Burst { senders: senders(table)?, bytes: burst_bytes(table)? }
        }
    };
    let from = match table.get("from") {
        Some(value) => {
            let from: u8 = value.number()?;
            if from >= 16 || from == queue {
                return Err(value.error("this is not another queue", "give 0 to 15"));
            }
            let congested = table.need("congested", "congested = 16")?;
            let count: usize = congested.number()?;
            if !(2..=MOST_PORTS).contains(&count) {
                return Err(congested.error("one sender cannot congest a port", format!("give 2 to {MOST_PORTS}")));
            }
            Some((from, count))
        }
        None if table.has("congested") => {
            return Err(table.key_error("congested", "by which queue is not said", "add from = 3"));
        }
        None => None,
    };
    Ok(Goal::NoPause { queue, traffic, from })
}
