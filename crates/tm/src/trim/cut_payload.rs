//! Cut payload: a rejected packet is cut to its header, which joins the tail of the same queue and is charged to the
//! buffer like any packet, past every threshold. If the buffer has no room for it, it is lost.

use crate::units::Bytes;

/// Settings of cut payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutPayloadConfig {
    /// What is left of a packet. Default 64 B.
    pub size: Bytes,
    /// Packets that find more than this in their queue are cut, too. Default: only rejected packets.
    pub watermark: Option<Bytes>,
}

impl Default for CutPayloadConfig {
    fn default() -> Self {
        Self { size: Bytes::new(64), watermark: None }
    }
}
