//! What a switch looks like at one moment: what views, the control socket, metrics and timelines are made of.

use crate::clock::Stalls;
use crate::dataplane::{Books, Unforwarded};
use crate::port::Outside;
use forebay_tm::counters::{Counters, MemoryReads};
use forebay_tm::{Bytes, Duration, Instant, Rate, Reason};

/// A switch at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// Counts snapshots from 1.
    pub sequence: u64,
    /// Since the switch was started, by the machine's clock.
    pub uptime: Duration,
    /// The switch's own time: the machine's, less what was given up after stalls.
    pub at: Instant,
    /// The name of the policy in force.
    pub policy: String,
    /// All of the buffer.
    pub buffer: Bytes,
    /// What is charged of it now.
    pub used: Bytes,
    /// The counters of all ports together.
    pub total: Counters,
    /// Memory bandwidth used so far.
    pub memory: MemoryReads,
    /// The ports, in the order of the file.
    pub ports: Vec<PortState>,
    /// Frames that never reached the traffic manager.
    pub unforwarded: Unforwarded,
    /// Where all frames are.
    pub books: Books,
    /// How often the machine was away.
    pub stalls: Stalls,
    /// Pieces of the frames' memory: all, and those that nobody has.
    pub pieces: (usize, usize),
    /// What the work costs.
    pub cost: Cost,
    /// How often settings were changed while it ran.
    pub changes: u64,
    /// Losses since the snapshot before, oldest first; at most [`RECENT`] of them.
    pub recent: Vec<Loss>,
    /// The last drop of each queue for each reason that has occurred.
    pub last_drops: Vec<Loss>,
}

/// The most losses that a snapshot tells of one by one. Counters count them all.
pub const RECENT: usize = 256;

/// A port at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct PortState {
    /// The interface.
    pub name: String,
    /// Whether the interface is there and up.
    pub is_up: bool,
    /// Its rate.
    pub rate: Rate,
    /// The sums over its queues, and its own peak.
    pub counters: Counters,
    /// Headers of trimmed packets that wait.
    pub headers_waiting: usize,
    /// What was lost outside the buffer.
    pub outside: Outside,
    /// Frames and bytes that came in by it.
    pub received: forebay_tm::counters::Count,
    /// Frames and bytes that were put on its wire.
    pub transmitted: forebay_tm::counters::Count,
    /// Frames that were to be cut and could not be, since they are no IP packets.
    pub untrimmable: u64,
    /// Its queues.
    pub queues: Vec<QueueState>,
}

/// A queue at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueState {
    /// Bytes charged to it.
    pub bytes: Bytes,
    /// Packets that wait.
    pub packets: usize,
    /// The most bytes that were charged to it since the snapshot before.
    pub watermark: Bytes,
    /// Its threshold in bytes for an ordinary packet; none where the policy has none.
    pub threshold: Option<f64>,
    /// What has happened.
    pub counters: Counters,
}

/// What the work costs so far, by the machine's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Turns of the loop in which there was something to do.
    pub busy_turns: u64,
    /// All turns.
    pub turns: u64,
    /// Packets that arrived, for the costs below.
    pub packets: u64,
    /// Nanoseconds in the data path and the traffic manager.
    pub core_ns: u64,
    /// Nanoseconds in receiving and sending.
    pub io_ns: u64,
}

/// Why a packet was lost, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// When, in the switch's time.
    pub at: Instant,
    /// The port it was to leave by.
    pub port: usize,
    /// Its queue.
    pub queue: usize,
    /// Its bytes.
    pub bytes: u32,
    /// What became of it.
    pub fate: Fate,
}

/// What became of a packet that was not sent whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is gone.
    Dropped(Reason),
    /// Its header goes on.
    Trimmed,
    /// Its header goes back to the sender.
    Returned,
}
