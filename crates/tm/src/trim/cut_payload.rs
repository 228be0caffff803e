//! Cut payload: a rejected packet is cut to its header, which joins the tail of the same queue and is charged to the
//! buffer like any packet, past every threshold. If the buffer has no room for it, it is lost.

use crate::described::settings;
use crate::units::Bytes;

settings! {
    /// Settings of cut payload.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct CutPayloadConfig {
        /// Bytes of a trimmed packet.
        pub size: Bytes = Bytes::new(64),
        /// Packets that find more than this in their queue are also cut; without it, only rejected packets are.
        pub watermark: Option<Bytes> = None,
    }
}
