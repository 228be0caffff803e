//! What a switch looks like at one moment: what views, the control socket, metrics and timelines are made of.
//!
//! Both ends of the control socket have this type. `docs/live-control.md` says what the keys mean; one that is missing
//! is an error.

use crate::clock::Stalls;
use crate::dataplane::{Books, Unforwarded};
use crate::port::Outside;
use forebay_tm::counters::{Counters, MemoryReads};
use forebay_tm::{Bytes, Duration, Instant, Rate, Reason};
use serde::{Deserialize, Serialize};

/// A switch at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Counts snapshots from 1.
    pub sequence: u64,
    /// Since the switch was started, by the machine's clock.
    #[serde(rename = "uptime_s", with = "seconds")]
    pub uptime: Duration,
    /// The switch's own time: the machine's, less what was given up after stalls.
    #[serde(rename = "time_s", with = "instant")]
    pub at: Instant,
    /// The name of the policy in force.
    pub policy: String,
    /// All of the buffer.
    #[serde(rename = "buffer_bytes")]
    pub buffer: Bytes,
    /// What is charged of it now.
    #[serde(rename = "used_bytes")]
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
    #[serde(serialize_with = "Books::with_missing")]
    pub books: Books,
    /// How often the machine was away.
    pub stalls: Stalls,
    /// The memory that frames are in.
    pub frame_buffers: FrameBuffers,
    /// What the work costs.
    pub cost: Cost,
    /// How often settings were changed while it ran.
    pub changes: u64,
    /// Losses since the snapshot before, oldest first; at most [`RECENT`] of them.
    pub recent: Vec<Loss>,
    /// The last drop of each queue for each reason that has occurred.
    #[serde(skip)]
    pub last_drops: Vec<Loss>,
}

/// The most losses that a snapshot tells of one by one. Counters count them all.
pub const RECENT: usize = 256;

/// A port at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PortState {
    /// The interface.
    pub name: String,
    /// Whether the interface is there and up.
    pub is_up: bool,
    /// Its rate.
    #[serde(rename = "rate_bps")]
    pub rate: Rate,
    /// Frames and bytes that came in by it.
    pub received: forebay_tm::counters::Count,
    /// Frames and bytes that were put on its wire.
    pub transmitted: forebay_tm::counters::Count,
    /// Frames that were to be cut and could not be, since they are no IP packets.
    pub untrimmable: u64,
    /// The sums over its queues, and its own peak.
    pub counters: Counters,
    /// Headers of trimmed packets that wait.
    pub headers_waiting: usize,
    /// What was lost outside the buffer.
    pub outside: Outside,
    /// Its queues.
    pub queues: Vec<QueueState>,
}

/// A queue at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueueState {
    /// Bytes charged to it.
    pub bytes: Bytes,
    /// Packets that wait.
    pub packets: usize,
    /// The most bytes that were charged to it since the snapshot before.
    #[serde(rename = "watermark_bytes")]
    pub watermark: Bytes,
    /// Its threshold in bytes for an ordinary packet; none where the policy has none.
    #[serde(rename = "threshold_bytes")]
    pub threshold: Option<f64>,
    /// What has happened.
    pub counters: Counters,
}

/// Frame buffers: all, and those that nobody has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameBuffers {
    /// All of them.
    pub all: usize,
    /// Those that nobody has.
    pub free: usize,
}

/// What the work costs so far, by the machine's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loss {
    /// When, in the switch's time.
    #[serde(rename = "time_s", with = "instant")]
    pub at: Instant,
    /// The port it was to leave by.
    pub port: usize,
    /// Its queue.
    pub queue: usize,
    /// Its bytes.
    pub bytes: u32,
    /// What became of it.
    #[serde(flatten)]
    pub fate: Fate,
}

/// What became of a packet that was not sent whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "fate", content = "reason", rename_all = "lowercase")]
pub enum Fate {
    /// It is gone.
    Dropped(Reason),
    /// Its header goes on.
    Trimmed,
    /// Its header goes back to the sender.
    Returned,
}

/// Times as JSON has them, which are exact to about 2^-53 of their size.
macro_rules! times {
    ($name:ident, $type:ty, $ps:expr) => {
        pub(crate) mod $name {
            use serde::{Deserialize, Deserializer, Serializer};

            pub(crate) fn serialize<S: Serializer>(time: &$type, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_f64(time.ps() as f64 / $ps)
            }

            pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<$type, D::Error> {
                f64::deserialize(from).map(|time| <$type>::from_ps((time * $ps).round() as u64))
            }
        }
    };
}
times!(seconds, forebay_tm::Duration, 1e12);
times!(instant, forebay_tm::Instant, 1e12);
times!(microseconds, forebay_tm::Duration, 1e6);
