//! Least slack time first: a packet carries the time it may still wait on its way. Waiting uses slack up equally for all
//! packets, so their order is that of arrival time plus slack.

use crate::packet::Packet;
use crate::units::Instant;

/// `packet.rank` is the slack in picoseconds. What is left of it when the packet is picked is the rank minus that instant.
#[inline]
pub(super) fn rank(now: Instant, packet: &Packet) -> u64 {
    now.ps().saturating_add(packet.rank)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_packet_with_little_slack_overtakes() {
        let packet = |slack| Packet { rank: slack, ..Packet::default() };
        let early = rank(Instant::from_ps(100), &packet(500));
        assert!(rank(Instant::from_ps(300), &packet(200)) < early);
        assert!(rank(Instant::from_ps(300), &packet(400)) > early);
    }
}
