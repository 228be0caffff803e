//! What an operator wants, read from a TOML file.

use forebay_settings::{Diagnostic, Document, Table};
use forebay_tm::{Bytes, Duration};

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
}

impl Goal {
    /// Its queue.
    pub fn queue(&self) -> u8 {
        match self {
            Self::Burst { queue, .. }
            | Self::Isolate { queue, .. }
            | Self::Latency { queue, .. }
            | Self::Marks { queue } => *queue,
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
        }
    }
}

const KINDS: [(&str, Kind); 5] = [
    ("burst", Kind::Burst),
    ("isolate", Kind::Isolate),
    ("latency", Kind::Latency),
    ("marks", Kind::Marks),
    ("no-pause", Kind::NoPause),
];

#[derive(Clone, Copy)]
enum Kind {
    Burst,
    Isolate,
    Latency,
    Marks,
    NoPause,
}

/// Reads the goals of a file.
///
/// # Errors
/// If it says something that is no goal.
pub fn read_goals(file: &str, text: &str) -> Result<Vec<Goal>, Diagnostic> {
    let document = Document::parse(file, text)?;
    let root = document.root();
    root.allow(&["goal"], |_| false, "")?;
    let goals: Vec<Goal> = root.tables("goal")?.iter().map(goal).collect::<Result<_, _>>()?;
    if goals.is_empty() {
        return Err(Diagnostic::of_file(file, "there is no goal", "write [[goal]] and kind = \"burst\" below it"));
    }
    Ok(goals)
}

fn goal(table: &Table<'_>) -> Result<Goal, Diagnostic> {
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
            let senders = table.need("senders", "senders = 16")?;
            let count: usize = senders.number()?;
            if !(2..=4096).contains(&count) {
                return Err(senders.error("one sender cannot congest a port", "give 2 to 4096"));
            }
            let size = table.need("bytes", "bytes = \"64KB\"")?;
            let bytes = size.bytes()?;
            if bytes == Bytes::ZERO || bytes > Bytes::new(1 << 30) {
                return Err(size.error("this is no burst", "give 1 byte to 1GiB"));
            }
            let congested = table.get("congested").map_or(Ok(0), |value| value.number())?;
            let with = if table.has("with") { queue("with")? } else { of };
            Ok(Goal::Burst { queue: of, senders: count, bytes, congested, with })
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
        Kind::NoPause => {
            let problem = "whether a load pauses senders depends on how they react: it needs a network with PFC, which the simulator does not have yet";
            Err(table.key_error("kind", problem, "give burst, isolate, latency or marks"))
        }
    }
}
