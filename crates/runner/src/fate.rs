//! What became of each packet of a replay.

use forebay_tm::drive::Observer;
use forebay_tm::{Departure, Eviction, Instant, Packet, Reason, Verdict};

/// What is known of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is in the buffer.
    Waiting,
    /// Its header is in the buffer.
    HeaderWaiting,
    /// Sent whole.
    Sent,
    /// Sent as a header.
    Trimmed,
    /// Returned to its sender.
    Returned,
    /// Dropped.
    Dropped,
}

impl Fate {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 6] =
        [Self::Waiting, Self::HeaderWaiting, Self::Sent, Self::Trimmed, Self::Returned, Self::Dropped];

    /// Its name in a file of verdicts.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting | Self::HeaderWaiting => "waiting",
            Self::Sent => "sent",
            Self::Trimmed => "trimmed",
            Self::Returned => "returned",
            Self::Dropped => "dropped",
        }
    }

    /// Whether nothing more can happen.
    pub fn is_final(self) -> bool {
        !matches!(self, Self::Waiting | Self::HeaderWaiting)
    }
}

/// Something that happens to a packet after its arrival.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    /// Its transmission, from the first bit to the last.
    Started(Instant, Instant),
    /// It was pushed out, expelled or displaced.
    Lost(Reason),
}

/// The fate of one packet.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// What became of it.
    pub fate: Fate,
    /// Why it was not sent as it came.
    pub reason: Option<Reason>,
    /// Whether it got an ECN mark.
    pub marked: bool,
    /// When its transmission began, in picoseconds, if it was sent or trimmed.
    pub start: u64,
    /// When its last bit left.
    pub end: u64,
}

impl Row {
    /// Bytes of a row in a temporary file.
    pub const BYTES: usize = 19;

    /// As it is after the arrival.
    pub fn new(verdict: Verdict) -> Self {
        let (fate, reason, marked) = match verdict {
            Verdict::Queued { marked } => (Fate::Waiting, None, marked),
            Verdict::Trimmed { reason } => (Fate::HeaderWaiting, Some(reason), false),
            Verdict::Returned { reason } => (Fate::Returned, Some(reason), false),
            Verdict::Dropped { reason } => (Fate::Dropped, Some(reason), false),
        };
        Self { fate, reason, marked, start: 0, end: 0 }
    }

    /// Something that happened to the packet.
    pub fn apply(&mut self, change: Change) {
        match change {
            Change::Started(start, end) => {
                self.fate = if self.fate == Fate::HeaderWaiting { Fate::Trimmed } else { Fate::Sent };
                self.start = start.ps();
                self.end = end.ps();
            }
            Change::Lost(reason) => {
                self.fate = Fate::Dropped;
                self.reason = Some(reason);
            }
        }
    }

    /// From the first bit to the last, if it was sent, whole or as a header.
    pub fn sent(&self) -> Option<(u64, u64)> {
        matches!(self.fate, Fate::Sent | Fate::Trimmed).then_some((self.start, self.end))
    }

    /// For a temporary file.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[0] = self.fate as u8;
        bytes[1] = self.reason.map_or(u8::MAX, |reason| reason as u8);
        bytes[2] = u8::from(self.marked);
        bytes[3..11].copy_from_slice(&self.start.to_le_bytes());
        bytes[11..].copy_from_slice(&self.end.to_le_bytes());
        bytes
    }

    /// From a temporary file.
    pub fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        let number = |from: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[from..from + 8]);
            u64::from_le_bytes(word)
        };
        Self {
            fate: Fate::ALL[usize::from(bytes[0])],
            reason: Reason::every().nth(usize::from(bytes[1])),
            marked: bytes[2] == 1,
            start: number(3),
            end: number(11),
        }
    }
}

/// The fates of all packets of a replay, in memory. Packets are numbered from 0 in the order of their arrival.
#[derive(Clone, Debug, Default)]
pub struct Fates {
    /// One for each packet.
    pub rows: Vec<Row>,
}

impl Observer for Fates {
    fn arrived(&mut self, _: Instant, _: &Packet, verdict: Verdict) {
        self.rows.push(Row::new(verdict));
    }

    fn started(&mut self, now: Instant, _: usize, departure: &Departure, end: Instant) {
        self.rows[departure.id.0 as usize].apply(Change::Started(now, end));
    }

    fn evicted(&mut self, eviction: Eviction) {
        self.rows[eviction.id.0 as usize].apply(Change::Lost(eviction.reason));
    }
}
