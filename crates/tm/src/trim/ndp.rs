//! NDP: the header of a rejected packet joins the port's header queue, which has a memory of its own. Up to
//! `header_ratio` headers leave before one data packet, or headers always leave first. If the header queue is full the
//! packet is lost, or its header is returned to the sender.

use crate::described::{settings, words};
use crate::packet::{PacketId, Summary};
use crate::units::Bytes;

/// How headers share the port with data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeaderPriority {
    /// Up to `header_ratio` headers, then one data packet.
    #[default]
    Ratio,
    /// Headers first.
    Strict,
}

words!(HeaderPriority { Ratio = "ratio", Strict = "strict" });

settings! {
    /// Settings of NDP's trimming.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct NdpConfig {
        /// Bytes of a trimmed packet.
        pub size: Bytes = Bytes::new(64),
        /// Packets that a header queue holds.
        pub header_capacity: usize = 64,
        /// Headers per data packet when both wait.
        pub header_ratio: u32 = 10,
        /// The order of headers and data when both wait.
        pub header_priority: HeaderPriority = HeaderPriority::Ratio,
        /// Whether a header that finds its queue full goes back to the sender; else the packet is dropped.
        pub return_to_sender: bool = false,
    }
}

/// A header that waits in the header queue of its port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    pub(crate) id: PacketId,
    pub(crate) summary: Summary,
    /// The number of the queue that had no room for its packet.
    pub(crate) number: u32,
}

/// Whose turn it is at a port: the counter `h`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HeaderTurn(u32);

impl HeaderTurn {
    /// Whether a header is served now. At least one of the two waits.
    pub(crate) fn header_next(&mut self, config: &NdpConfig, headers: bool, data: bool) -> bool {
        match (headers, data) {
            (true, false) => true,
            (true, true) if config.header_priority == HeaderPriority::Strict => true,
            (true, true) if self.0 < config.header_ratio => {
                self.0 += 1;
                true
            }
            _ => {
                self.0 = 0;
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_then_one_data_packet() {
        let config = NdpConfig { header_ratio: 2, ..NdpConfig::default() };
        let mut turn = HeaderTurn::default();
        let both: [bool; 6] = core::array::from_fn(|_| turn.header_next(&config, true, true));
        assert_eq!(both, [true, true, false, true, true, false]);
        // Headers that wait alone do not move the counter; data that waits alone resets it.
        assert!(turn.header_next(&config, true, true));
        assert!(turn.header_next(&config, true, false));
        assert!(turn.header_next(&config, true, true));
        assert!(!turn.header_next(&config, true, true));
        assert!(turn.header_next(&config, true, true));
        assert!(!turn.header_next(&config, false, true));
        assert!(turn.header_next(&config, true, true));
    }

    #[test]
    fn strict_headers_always_go_first() {
        let config = NdpConfig { header_priority: HeaderPriority::Strict, header_ratio: 0, ..NdpConfig::default() };
        let mut turn = HeaderTurn::default();
        assert!((0..50).all(|_| turn.header_next(&config, true, true)));
        assert!(!turn.header_next(&config, false, true));
    }
}
