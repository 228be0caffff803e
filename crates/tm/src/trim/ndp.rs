//! NDP: the header of a rejected packet joins the port's header queue, which has a memory of its own. Up to `header_ratio`
//! headers leave before one data packet, or headers always leave first. If the header queue is full the packet is lost,
//! or its header is returned to the sender.

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

/// Settings of NDP's trimming.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NdpConfig {
    /// What is left of a packet. Default 64 B.
    pub size: Bytes,
    /// Packets that a header queue holds. Default 64.
    pub header_capacity: usize,
    /// Headers per data packet when both wait. Default 10.
    pub header_ratio: u32,
    /// Default: by ratio.
    pub header_priority: HeaderPriority,
    /// What happens when the header queue is full. Default: the packet is dropped.
    pub return_to_sender: bool,
}

impl Default for NdpConfig {
    fn default() -> Self {
        Self {
            size: Bytes::new(64),
            header_capacity: 64,
            header_ratio: 10,
            header_priority: HeaderPriority::Ratio,
            return_to_sender: false,
        }
    }
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
