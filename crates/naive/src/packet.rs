//! What arrives and what becomes of it (section 10 of the specification).

use crate::ingress::NaiveRefusal;

/// A packet that arrives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When, in ps. Times never decrease from one arrival to the next.
    pub time: u64,
    /// `L`, its length in bytes; not 0.
    pub bytes: u64,
    /// The port it leaves by.
    pub port: usize,
    /// Its queue number at that port.
    pub queue: usize,
    /// Its flow.
    pub flow: u64,
    /// Its rank: smaller is more important.
    pub rank: u64,
    /// Its class (for FB's single-queue form).
    pub class: usize,
    /// Whether it is flagged unscheduled (for ABM).
    pub unscheduled: bool,
    /// Whether it is ECN-capable.
    pub ect: bool,
    /// Green, yellow, red: 0, 1, 2 (for WRED).
    pub colour: usize,
}

/// What became of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The verdict.
    pub verdict: Verdict,
    /// Why, if it was not sent.
    pub reason: Reason,
    /// Whether it was marked on joining its queue.
    pub marked: bool,
    /// When it, or its header, was picked, in ps.
    pub start: Option<u64>,
    /// When the last bit of it, or of its header, left, in ps.
    pub end: Option<u64>,
}

/// A verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    /// Admitted and transmitted.
    Sent,
    /// Its header was transmitted.
    Trimmed,
    /// Returned to the sender: there was no room for its header.
    Returned,
    /// Dropped.
    Dropped,
}

impl Verdict {
    /// All of them.
    pub const ALL: [Verdict; 4] = [Verdict::Sent, Verdict::Trimmed, Verdict::Returned, Verdict::Dropped];

    /// The word for it in the output.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Sent => "sent",
            Verdict::Trimmed => "trimmed",
            Verdict::Returned => "returned",
            Verdict::Dropped => "dropped",
        }
    }
}

/// Why a packet was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// It was sent.
    None,
    /// It is larger than the buffer.
    Oversize,
    /// Rejected by AIFO, or dropped on arrival by PIFO or SP-PIFO.
    Rank,
    /// `queue_capacity` packets were waiting.
    QueueFull,
    /// It would not have fit.
    Full,
    /// It would have passed a threshold.
    Threshold,
    /// Pushed out for another packet.
    PushedOut,
    /// Expelled by Occamy.
    Expelled,
    /// Rejected, and there was no room for its header.
    HeaderFull,
    /// Dropped by WRED.
    Marking,
    /// Refused by the ingress side.
    Ingress(NaiveRefusal),
}

impl Reason {
    /// All of them, but for those of the ingress side.
    pub const ALL: [Reason; 10] = [
        Reason::None,
        Reason::Oversize,
        Reason::Rank,
        Reason::QueueFull,
        Reason::Full,
        Reason::Threshold,
        Reason::PushedOut,
        Reason::Expelled,
        Reason::HeaderFull,
        Reason::Marking,
    ];

    /// The word for it in the output; empty for `None`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Reason::None => "",
            Reason::Oversize => "oversize",
            Reason::Rank => "rank",
            Reason::QueueFull => "queue-full",
            Reason::Full => "full",
            Reason::Threshold => "threshold",
            Reason::PushedOut => "pushed-out",
            Reason::Expelled => "expelled",
            Reason::HeaderFull => "header-full",
            Reason::Marking => "marking",
            Reason::Ingress(refusal) => refusal.as_str(),
        }
    }
}
