//! The packet carries its rank.

use super::{ActiveRank, RankFunction, RankSettings};
use crate::config::ValidConfig;
use crate::packet::Packet;
use crate::units::Instant;

#[derive(Clone, Debug)]
pub(crate) struct Given;

impl RankSettings for Given {
    fn is_carried(&self) -> bool {
        true
    }

    fn start(&self, _: &ValidConfig) -> ActiveRank {
        Self.into()
    }
}

impl RankFunction for Given {
    #[inline]
    fn rank(&self, _: Instant, packet: &Packet) -> u64 {
        packet.rank
    }
}
