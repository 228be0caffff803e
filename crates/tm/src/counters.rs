//! What has happened, per queue, per port and for the whole buffer.
//!
//! The core counts per queue as packets pass; ports and the pool are sums over their queues, made when somebody asks.
//! Only high watermarks are kept at every level, since they are not sums.

pub use crate::buffer::Count;
use crate::units::Bytes;
use crate::verdict::Reason;

/// The counters of a queue that most packets do not touch, apart from those that every packet does ([`Totals`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct QueueStats {
    dropped: [Count; Reason::COUNT],
    /// Packets dropped for any reason, so that a sample need not add them up.
    pub(crate) dropped_packets: u64,
    pub(crate) trimmed: Count,
    pub(crate) returned: Count,
    pub(crate) marked: Count,
    /// Headers of trimmed packets that were sent.
    pub(crate) headers_sent: Count,
    /// Headers that were pushed out or expelled from a data queue (cut payload), or discarded after they were picked.
    pub(crate) headers_lost: Count,
    /// Cut to a header outside the traffic manager: by a program in front of it, or by one that mirrors what is
    /// dropped. Unlike headers of `trimmed`, these wait in no queue here.
    pub(crate) mirrored: Count,
}

impl QueueStats {
    pub(crate) fn drop(&mut self, reason: Reason, bytes: u32) {
        self.dropped[reason as usize].add(bytes);
        self.dropped_packets += 1;
    }

    /// The caller has kept the header of a packet that was dropped: the drop is taken back, and counts as trimmed.
    pub(crate) fn keep_header(&mut self, reason: Reason, bytes: u32) {
        self.dropped[reason as usize].take_back(bytes);
        self.dropped_packets -= 1;
        self.mirrored.add(bytes);
    }

    /// A header that was picked for transmission was dropped behind the traffic manager: the count of headers sent is
    /// taken back.
    pub(crate) fn discard_header(&mut self, bytes: u32) {
        self.headers_sent.take_back(bytes);
        self.headers_lost.add(bytes);
        self.drop(Reason::Expelled, bytes);
    }

    /// Whole packets that were admitted and neither wait nor were sent.
    pub(crate) fn evicted(&self) -> Count {
        let mut evicted = self.dropped[Reason::PushedOut as usize];
        evicted += self.dropped[Reason::Expelled as usize];
        evicted - self.headers_lost
    }
}

/// What a queue counts for every packet.
pub(crate) struct Totals {
    pub(crate) admitted: Count,
    /// Packets and headers, with the bytes that they are charged.
    pub(crate) waiting: Count,
    /// Of these the whole packets, with their bytes on the wire.
    pub(crate) waiting_whole: Count,
    pub(crate) peak: Bytes,
}

/// The counters of a queue, of all queues of a port, or of all queues. Bytes are real lengths on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Counters {
    /// Arrived.
    pub offered: Count,
    /// Joined their queue whole.
    pub admitted: Count,
    /// Picked for transmission whole.
    pub sent: Count,
    /// Marked.
    pub marked: Count,
    /// Cut to a header; the bytes are those of the whole packets.
    pub trimmed: Count,
    /// Headers of cut packets, picked for transmission; the bytes are the headers'.
    pub headers_sent: Count,
    /// Turned around to the sender.
    pub returned: Count,
    /// Dropped, pushed out or expelled, for any reason.
    pub dropped: Count,
    #[cfg_attr(feature = "serde", serde(rename = "drops", with = "crate::serialized::drops"))]
    dropped_by: [Count; Reason::COUNT],
    /// Waiting now: packets, and bytes charged.
    pub waiting: Count,
    /// The most bytes ever charged.
    #[cfg_attr(feature = "serde", serde(rename = "peak_bytes"))]
    pub peak: Bytes,
}

impl Counters {
    /// Dropped for one reason.
    pub fn dropped_by(&self, reason: Reason) -> Count {
        self.dropped_by[reason as usize]
    }

    /// Adds packets that were dropped for a reason, as someone else has counted them.
    pub fn count_dropped(&mut self, reason: Reason, count: Count) {
        self.dropped_by[reason as usize] += count;
        self.dropped += count;
    }

    /// Expelled (Occamy).
    pub fn expelled(&self) -> Count {
        self.dropped_by(Reason::Expelled)
    }

    pub(crate) fn new(totals: &Totals, stats: &QueueStats) -> Self {
        let mut trimmed = stats.trimmed;
        trimmed += stats.mirrored;
        let mut counters = Self {
            admitted: totals.admitted,
            // What was admitted, does not wait and was not evicted has left.
            sent: totals.admitted - totals.waiting_whole - stats.evicted(),
            marked: stats.marked,
            trimmed,
            headers_sent: stats.headers_sent,
            returned: stats.returned,
            dropped_by: stats.dropped,
            waiting: totals.waiting,
            peak: totals.peak,
            ..Self::default()
        };
        let after_admission = |reason: &&Reason| matches!(reason, Reason::PushedOut | Reason::Expelled);
        counters.offered = counters.admitted;
        for reason in &Reason::ALL {
            let count = stats.dropped[*reason as usize];
            counters.dropped += count;
            if !after_admission(&reason) {
                counters.offered += count;
            }
        }
        counters.offered += trimmed;
        counters.offered += stats.returned;
        counters
    }

    /// The sums of counters, with the peak of all of them, which is not a sum.
    pub(crate) fn sum(counters: impl Iterator<Item = Self>, peak: Bytes) -> Self {
        counters.fold(Self { peak, ..Self::default() }, |mut sum, counters| {
            sum.add(&counters);
            sum
        })
    }

    fn add(&mut self, other: &Self) {
        let pairs = [
            (&mut self.offered, other.offered),
            (&mut self.admitted, other.admitted),
            (&mut self.sent, other.sent),
            (&mut self.marked, other.marked),
            (&mut self.trimmed, other.trimmed),
            (&mut self.headers_sent, other.headers_sent),
            (&mut self.returned, other.returned),
            (&mut self.dropped, other.dropped),
            (&mut self.waiting, other.waiting),
        ];
        for (sum, part) in pairs.into_iter().chain(self.dropped_by.iter_mut().zip(other.dropped_by)) {
            *sum += part;
        }
    }
}

/// Memory bandwidth: bytes read from the buffer's cells, charged sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MemoryReads {
    /// To be sent.
    #[cfg_attr(feature = "serde", serde(rename = "transmission_bytes"))]
    pub transmission: Bytes,
    /// To be thrown away (pushed out or expelled).
    #[cfg_attr(feature = "serde", serde(rename = "expulsion_bytes"))]
    pub expulsion: Bytes,
}
