//! Shortest remaining processing time: the flow with the fewest bytes left goes first. End hosts write the bytes left
//! into the packet (pFabric, AIFO section 2.1).

use crate::packet::Packet;

#[inline]
pub(super) fn rank(packet: &Packet) -> u64 {
    packet.rank
}
