//! PIEO: sorted by rank like PIFO, but a packet leaves only from its eligibility time on: the smallest rank among those
//! that are eligible (Shrivastav, SIGCOMM 2019). A full queue treats an arrival as PIFO does. A port whose packets are all
//! too early stays idle until the first of them may go.
//!
//! The head and the tail of such a queue, for push-out and expulsion, are its smallest and largest rank, eligible or not.

use super::pifo::{Pifo, PifoConfig, Sorted};
use crate::buffer::Slot;
use crate::config::{ConfigError, ValidConfig};
use crate::described::settings;
use crate::units::Instant;

settings! {
    /// Settings of PIEO.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct PieoConfig {
        /// Packets that a port's queue holds.
        pub capacity: usize = 64 => needed "64",
    }
}

impl PieoConfig {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        PifoConfig { capacity: self.capacity }.validate()
    }
}

/// A PIFO whose head may have to wait.
#[derive(Clone, Debug)]
pub(crate) struct Pieo(pub(super) Pifo);

impl Pieo {
    pub(super) fn new(config: &PieoConfig, switch: &ValidConfig) -> Self {
        Self(Pifo::with_trees(&PifoConfig { capacity: config.capacity }, switch))
    }

    pub(super) fn pick(&mut self, now: Instant, port: usize) -> Option<Slot> {
        match &mut self.0.ports[port] {
            Sorted::Tree(tree) => tree.pop_first_eligible(now),
            Sorted::Array(_) => None,
        }
    }

    pub(super) fn next_eligible(&self, port: usize) -> Option<Instant> {
        match &self.0.ports[port] {
            Sorted::Tree(tree) => tree.next_eligible(),
            Sorted::Array(_) => None,
        }
    }
}
