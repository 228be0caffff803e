//! Trimming: what happens to a packet that is rejected. One file a scheme.
//!
//! Only packets rejected by AIFO, by `queue_capacity`, by the buffer policy or above a watermark are trimmed; what is
//! larger than the buffer, dropped by its rank in a queue, pushed out or expelled is dropped.

mod cut_payload;
mod ndp;
mod return_to_sender;
mod to_queue;

pub use cut_payload::CutPayloadConfig;
pub use ndp::{HeaderPriority, NdpConfig};
pub use return_to_sender::SourceFlowControlConfig;
pub use to_queue::ToQueueConfig;

pub(crate) use ndp::{Header, HeaderTurn};

use crate::config::{ConfigError, TmConfig};
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
        /// What is left is tried once on another queue (SONiC).
        /// What is left is a packet like any other there: the policy and `queue_capacity` decide.
        "to-queue" => ToQueue(ToQueueConfig),
    }
}

impl TrimConfig {
    /// Packets that find more than this in their queue are rejected.
    pub(crate) fn watermark(&self) -> u64 {
        match self {
            Self::CutPayload(config) => config.watermark.map_or(u64::MAX, Bytes::get),
            Self::Ndp(_) | Self::ToQueue(_) => u64::MAX,
            Self::SourceFlowControl(config) => config.watermark.get(),
        }
    }

    /// What is left of a packet that is cut.
    pub fn size(&self) -> Option<Bytes> {
        match self {
            Self::CutPayload(config) => Some(config.size),
            Self::Ndp(config) => Some(config.size),
            Self::ToQueue(config) => Some(config.size),
            Self::SourceFlowControl(_) => None,
        }
    }

    pub(crate) fn validate(&self, switch: &TmConfig) -> Result<(), ConfigError> {
        if let Self::ToQueue(config) = self {
            config.validate(switch)?;
        }
        let Some(size) = self.size() else { return Ok(()) };
        if size == Bytes::ZERO || size.get() > u64::from(MAX_PACKET_BYTES) {
            return Err(
                ConfigError::new("trim.size", size, "a header is 1 byte to 2GiB long").remedy("give a size such as 64")
            );
        }
        Ok(())
    }
}
