//! Where all frames are that ever came in.

use serde::{Deserialize, Serialize, Serializer};

/// Frames that never reached the traffic manager.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unforwarded {
    /// Shorter than an Ethernet header.
    pub runts: u64,
    /// To the port that they came from.
    pub back: u64,
    /// No route, no IP packet where there are routes, or a group that nobody asked for.
    pub no_route: u64,
    /// No hop left.
    pub no_hops: u64,
    /// More was to be flooded than storm control lets a port flood.
    pub storm: u64,
    /// A copy for another port found no frame buffer.
    pub no_buffer: u64,
}

impl Unforwarded {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.whole() + self.no_buffer
    }

    /// Frames that came in; copies that were never made are none of them.
    pub(crate) fn whole(&self) -> u64 {
        self.runts + self.back + self.no_route + self.no_hops + self.storm
    }
}

/// Where all frames are that ever came in, each once. Counted frame by frame as frame buffers change handler, apart
/// from the traffic manager's counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Books {
    /// Came in by ports.
    pub received: u64,
    /// Copies that were made of flooded frames.
    pub copies: u64,
    /// Handed to ports to be sent, whole or cut.
    pub sent: u64,
    /// Dropped on arrival.
    pub dropped: u64,
    /// Pushed out or expelled after they had been let in.
    pub pushed_out: u64,
    /// Were to be cut, and could not be.
    pub untrimmable: u64,
    /// Were to go back to their senders, and could not.
    pub unreturned: u64,
    /// Never reached the traffic manager.
    pub unforwarded: u64,
    /// Wait, headers included.
    pub waiting: u64,
}

impl Books {
    /// With what is missing, for those who read it as JSON.
    pub(crate) fn with_missing<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Whole<'a> {
            #[serde(flatten)]
            books: &'a Books,
            missing: i64,
        }
        Whole { books: self, missing: self.missing() }.serialize(to)
    }

    /// Frames that nobody knows of: 0, unless something is wrong with the switch. Below zero if there are more than
    /// came in.
    pub fn missing(&self) -> i64 {
        let known = self.sent
            + self.dropped
            + self.pushed_out
            + self.untrimmable
            + self.unreturned
            + self.unforwarded
            + self.waiting;
        (self.received + self.copies).wrapping_sub(known) as i64
    }
}

/// What became of packets that the traffic manager cut and put into queues of packets (cut payload, trim queue): its
/// counters have these twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CutInQueue {
    /// Wait in this queue as headers: among those that wait, and among the trimmed of the queue that refused them.
    pub(crate) waiting: u64,
    /// Were refused by this queue, and pushed out or expelled as headers: among the trimmed of this queue, and among
    /// the dropped of the queue that they waited in.
    pub(crate) lost: u64,
}
