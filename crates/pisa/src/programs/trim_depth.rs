//! Trimming on chips whose ingress sees queue lengths.

use super::{Facts, Image, ProgramError, checked};
use crate::Target;
use forebay_tm::{Bytes, describe};

/// Settings of trimming by queue length.
#[derive(Clone, Debug, PartialEq)]
pub struct TrimDepthProgram {
    /// Packets are cut from this length of their queue on, in bytes. Default 9,000, six packets: what pipelines let in
    /// at the same time has to find room behind the limit.
    pub limit: Bytes,
    /// The queue for headers. Default 0.
    pub header_queue: u64,
}

impl Default for TrimDepthProgram {
    fn default() -> Self {
        Self { limit: Bytes::new(9_000), header_queue: 0 }
    }
}

describe! {
    TrimDepthProgram {
        /// Packets are cut from this length of their queue on. The queue should hold a packet more for each pipeline,
        /// and what comes in `depth_delay`.
        limit: Bytes,
    }
}

impl TrimDepthProgram {
    pub(super) fn load(&self, target: &Target, facts: &Facts) -> Result<Image, ProgramError> {
        let constants = [("limit", self.limit.get() / facts.cell), ("header_queue", self.header_queue)];
        let program = checked("trim-depth", target, &constants)?;
        Ok(Image { program, generators: Vec::new() })
    }
}
