//! Shortest remaining processing time with aging: what a packet carries, its flow's bytes left, plus a part of its time
//! of arrival, so that long flows are overtaken only so often.

use forebay_tm::rank::{ActiveRank, RankFunction, RankSettings};
use forebay_tm::{Duration, Instant, Packet, ValidConfig, settings};

settings! {
    /// Settings of the aging.
    #[derive(Clone, Debug, PartialEq)]
    pub struct AgedConfig {
        /// A packet that comes so much later has the rank of a flow with one byte more.
        pub per_byte: Duration = Duration::from_us(1),
    }
}

impl RankSettings for AgedConfig {
    fn start(&self, _: &ValidConfig) -> ActiveRank {
        ActiveRank::new(Aged { per_byte: self.per_byte.ps().max(1) })
    }
}

#[derive(Clone, Debug)]
struct Aged {
    per_byte: u64,
}

impl RankFunction for Aged {
    fn rank(&self, now: Instant, packet: &Packet) -> u64 {
        packet.rank.saturating_add(now.ps() / self.per_byte)
    }
}
