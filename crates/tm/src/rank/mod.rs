//! Rank functions: what a rank scheduler sorts by. Smaller is more important. One file a function.

mod lstf;
mod srpt;
mod stfq;

pub use stfq::StfqConfig;

use crate::config::{ConfigError, TmConfig, ValidConfig};
use crate::packet::Packet;
use crate::units::Instant;
use stfq::Stfq;

/// Where ranks come from.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum RankConfig {
    /// The packet carries its rank.
    #[default]
    Given,
    /// Shortest remaining processing time: the packet carries its flow's bytes left.
    Srpt,
    /// Start-time fair queueing: computed here.
    Stfq(StfqConfig),
    /// Least slack time first: the packet carries its slack.
    Lstf,
}

impl RankConfig {
    /// Its name in files.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Given => "given",
            Self::Srpt => "srpt",
            Self::Stfq(_) => "stfq",
            Self::Lstf => "lstf",
        }
    }

    pub(crate) fn validate(&self, switch: &TmConfig) -> Result<(), ConfigError> {
        if *self != Self::Given && !switch.scheduler.uses_ranks() {
            return Err(ConfigError::new("scheduler.rank", self.name(), "this scheduler does not look at ranks")
                .remedy("use it with pifo, sp-pifo, pieo or aifo"));
        }
        match self {
            Self::Stfq(config) => config.validate(),
            _ => Ok(()),
        }
    }
}

/// A rank function at work.
#[derive(Clone, Debug)]
pub(crate) enum Ranker {
    Given,
    Srpt,
    Stfq(Stfq),
    Lstf,
}

impl Ranker {
    pub(crate) fn new(switch: &ValidConfig) -> Self {
        match &switch.rank {
            RankConfig::Given => Self::Given,
            RankConfig::Srpt => Self::Srpt,
            RankConfig::Stfq(config) => Self::Stfq(Stfq::new(config, switch)),
            RankConfig::Lstf => Self::Lstf,
        }
    }

    /// The rank of a packet that arrives now.
    #[inline]
    pub(crate) fn rank(&self, now: Instant, packet: &Packet) -> u64 {
        match self {
            Self::Given => packet.rank,
            Self::Srpt => srpt::rank(packet),
            Self::Stfq(stfq) => stfq.rank(packet),
            Self::Lstf => lstf::rank(now, packet),
        }
    }

    /// The packet has joined its queue with this rank.
    #[inline]
    pub(crate) fn joined(&mut self, packet: &Packet, rank: u64) {
        if let Self::Stfq(stfq) = self {
            stfq.joined(packet, rank);
        }
    }

    /// A packet of this rank was picked at a port; `empty` says that none is left there.
    #[inline]
    pub(crate) fn picked(&mut self, port: usize, rank: u64, empty: bool) {
        if let Self::Stfq(stfq) = self {
            stfq.picked(port, rank, empty);
        }
    }
}
