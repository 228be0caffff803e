//! Source flow control: a packet that finds more than a watermark in its queue, or is rejected, goes no further: its
//! header is turned around to the sender.

use crate::described::settings;
use crate::units::Bytes;

settings! {
    /// Settings of source flow control.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct SourceFlowControlConfig {
        /// Packets that find more than this in their queue are returned.
        pub watermark: Bytes = Bytes::new(30_000) => given,
    }
}
