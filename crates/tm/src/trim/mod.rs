//! Trimming: what happens to a packet that is rejected. One file a scheme.
//!
//! Only packets rejected by AIFO, by `queue_capacity`, by the buffer policy or above a watermark are trimmed; what is
//! larger than the buffer, dropped by its rank in a queue, pushed out or expelled is dropped.

mod cut_payload;
mod ndp;
mod return_to_sender;

pub use cut_payload::CutPayloadConfig;
pub use ndp::{HeaderPriority, NdpConfig};
pub use return_to_sender::SourceFlowControlConfig;

pub(crate) use ndp::{Header, HeaderTurn};

use crate::config::ConfigError;
use crate::described::kinds;
use crate::packet::MAX_PACKET_BYTES;
use crate::units::Bytes;

kinds! {
    /// Which scheme, with its settings.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum TrimConfig {
        /// The header joins a queue for headers (NDP).
        "ndp" => Ndp(NdpConfig),
        /// The header joins the packet's own queue (cut payload).
        /// The header is charged to the buffer.
        "cut-payload" => CutPayload(CutPayloadConfig),
        /// The header goes back to the sender (source flow control).
        "source-flow-control" => SourceFlowControl(SourceFlowControlConfig),
    }
}

impl TrimConfig {
    /// Packets that find more than this in their queue are rejected.
    pub(crate) fn watermark(&self) -> u64 {
        match self {
            Self::CutPayload(config) => config.watermark.map_or(u64::MAX, Bytes::get),
            Self::Ndp(_) => u64::MAX,
            Self::SourceFlowControl(config) => config.watermark.get(),
        }
    }

    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        let size = match self {
            Self::CutPayload(config) => config.size,
            Self::Ndp(config) => config.size,
            Self::SourceFlowControl(_) => return Ok(()),
        };
        if size == Bytes::ZERO || size.get() > u64::from(MAX_PACKET_BYTES) {
            return Err(
                ConfigError::new("trim.size", size, "a header is 1 byte to 2GiB long").remedy("give a size such as 64")
            );
        }
        Ok(())
    }
}
