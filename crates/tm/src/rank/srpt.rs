//! Shortest remaining processing time: the flow with the fewest bytes left goes first. End hosts write the bytes left
//! into the packet (pFabric, AIFO section 2.1).

use super::{ActiveRank, RankFunction, RankSettings};
use crate::config::ValidConfig;
use crate::packet::Packet;
use crate::units::Instant;

#[derive(Clone, Debug)]
pub(crate) struct Srpt;

impl RankSettings for Srpt {
    fn is_carried(&self) -> bool {
        true
    }

    fn start(&self, _: &ValidConfig) -> ActiveRank {
        Self.into()
    }
}

impl RankFunction for Srpt {
    #[inline]
    fn rank(&self, _: Instant, packet: &Packet) -> u64 {
        packet.rank
    }
}
