//! Sizes that several transports derive from their flow's link and round trip.

use super::FlowInfo;
use super::config::{Common, InitialWindow};
use forebay_tm::Bytes;

/// The bandwidth-delay product of the sender's link and the base round trip, in bytes on the wire, rounded up.
fn bdp_bytes(flow: &FlowInfo) -> u64 {
    let bits_ps = u128::from(flow.rate.bps()) * u128::from(flow.base_rtt.ps());
    u64::try_from(bits_ps.div_ceil(8 * u128::from(forebay_tm::units::PS_PER_SECOND))).unwrap_or(u64::MAX)
}

/// The bandwidth-delay product in full packets, rounded up: the fewest packets that keep the link busy for a round
/// trip.
fn bdp_packets(common: &Common, flow: &FlowInfo) -> u32 {
    let full = u64::from(common.mss) + u64::from(common.header);
    u32::try_from(bdp_bytes(flow).div_ceil(full).max(1)).unwrap_or(u32::MAX)
}

/// The first window in packets, at least one; it may exceed the flow.
pub(crate) fn initial_packets(common: &Common, flow: &FlowInfo) -> u32 {
    match common.initial_window {
        InitialWindow::Packets(packets) => packets.max(1),
        InitialWindow::Bdp => bdp_packets(common, flow),
        InitialWindow::Flow => flow.packets,
    }
}

/// Packets below this number are flagged unscheduled: those of the first bytes of payload, as many as the setting says
/// or as the bandwidth-delay product is.
pub(crate) fn unscheduled_packets(common: &Common, flow: &FlowInfo) -> u32 {
    let bytes = common.unscheduled.map_or_else(|| bdp_bytes(flow), Bytes::get);
    u32::try_from(bytes.div_ceil(u64::from(common.mss.max(1)))).unwrap_or(u32::MAX)
}

/// The ranks of a flow's packets, which have 32 bits: what is left of the flow, or always the same.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ranks {
    least: u32,
    most: u32,
}

impl Ranks {
    pub(crate) fn new(common: &Common) -> Self {
        let (least, most) = common.fixed_rank.map_or((0, u32::MAX), |rank| (rank, rank));
        Self { least, most }
    }

    /// The rank of a packet with so many bytes of its flow left.
    #[inline]
    pub(crate) fn of(self, bytes_left: u64) -> u32 {
        u32::try_from(bytes_left).unwrap_or(u32::MAX).max(self.least).min(self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_tm::{Duration, Instant, Rate};

    #[test]
    fn windows_are_rounded_up_to_whole_packets() {
        let flow = FlowInfo {
            bytes: 100_000,
            packets: FlowInfo::packets_of(100_000, 1_460),
            base_rtt: Duration::from_us(14),
            open_rtt: Duration::from_us(14),
            rate: Rate::from_gbps(10),
            number: 0,
            seed: 0,
            until: Instant::NEVER,
        };
        // 10 Gb/s for 14 us are 17,500 bytes: 11.67 packets of 1500 bytes.
        let mut common = Common { initial_window: InitialWindow::Bdp, ..Common::default() };
        assert_eq!(bdp_bytes(&flow), 17_500);
        assert_eq!(initial_packets(&common, &flow), 12);
        assert_eq!(unscheduled_packets(&common, &flow), 12);
        common.unscheduled = Some(Bytes::new(2 * 1_460 + 1));
        assert_eq!(unscheduled_packets(&common, &flow), 3);
        common.initial_window = InitialWindow::Flow;
        assert_eq!(initial_packets(&common, &flow), 69);
        common.initial_window = InitialWindow::Packets(0);
        assert_eq!(initial_packets(&common, &flow), 1);
        let ranks = Ranks::new(&common);
        assert_eq!([ranks.of(FlowInfo::ENDLESS), ranks.of(1_460), ranks.of(0)], [u32::MAX, 1_460, 0]);
        common.fixed_rank = Some(7);
        let ranks = Ranks::new(&common);
        assert_eq!([ranks.of(FlowInfo::ENDLESS), ranks.of(1_460), ranks.of(0)], [7; 3]);
    }
}
