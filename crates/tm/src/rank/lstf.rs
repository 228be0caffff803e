//! Least slack time first: a packet carries the time it may still wait on its way. Waiting uses slack up equally for
//! all packets, so their order is that of arrival time plus slack.

use super::{ActiveRank, RankFunction, RankSettings};
use crate::config::ValidConfig;
use crate::packet::Packet;
use crate::units::Instant;

#[derive(Clone, Debug)]
pub(crate) struct Lstf;

impl RankSettings for Lstf {
    fn start(&self, _: &ValidConfig) -> ActiveRank {
        Self.into()
    }
}

impl RankFunction for Lstf {
    /// `packet.rank` is the slack in picoseconds. What is left of it when the packet is picked is the rank minus that
    /// instant.
    #[inline]
    fn rank(&self, now: Instant, packet: &Packet) -> u64 {
        now.ps().saturating_add(packet.rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_packet_with_little_slack_overtakes() {
        let packet = |slack| Packet { rank: slack, ..Packet::default() };
        let rank = |now, slack| Lstf.rank(Instant::from_ps(now), &packet(slack));
        assert!(rank(300, 200) < rank(100, 500));
        assert!(rank(300, 400) > rank(100, 500));
    }
}
