//! What a rank function is: the traits that those of this crate implement, and that others can implement.

use super::Ranker;
use super::custom::AnyRank;
use crate::config::{ConfigError, TmConfig, ValidConfig};
use crate::custom::Custom;
use crate::described::Described;
use crate::packet::Packet;
use crate::units::Instant;
use core::fmt::Debug;

/// A rank function at work, for all ports.
pub trait RankFunction: Clone + Debug + Send + Sync + 'static {
    /// The rank of a packet that arrives now. It may be dropped after all.
    fn rank(&self, now: Instant, packet: &Packet) -> u64;

    /// The packet has joined its queue with this rank.
    #[inline]
    fn joined(&mut self, _packet: &Packet, _rank: u64) {}

    /// A packet of this rank was picked at a port; `empty` says that none is left there.
    #[inline]
    fn picked(&mut self, _port: usize, _rank: u64, _empty: bool) {}
}

/// The settings of a rank function: what makes one.
pub trait RankSettings {
    /// Whether the rank is the one that the packet carries.
    fn is_carried(&self) -> bool {
        false
    }

    /// Whether a switch can work with these settings.
    fn validate(&self, _switch: &TmConfig) -> Result<(), ConfigError> {
        Ok(())
    }

    /// The rank function at work in an empty switch: [`ActiveRank::new`].
    fn start(&self, switch: &ValidConfig) -> ActiveRank;
}

/// A rank function at work, whichever it is.
#[derive(Clone, Debug)]
pub struct ActiveRank(pub(super) Ranker);

impl ActiveRank {
    /// A rank function of another crate. It is called through a pointer; those of this crate are not.
    pub fn new(rank: impl RankFunction) -> Self {
        Self(Ranker::Custom(AnyRank::new(rank)))
    }
}

/// The choice of a rank function of another crate, with its settings.
pub type CustomRank = Custom<dyn RankSettings>;

impl CustomRank {
    /// A rank function by the name that it has in files, one sentence about it, and its settings.
    pub fn new(
        name: &'static str,
        about: &'static str,
        settings: impl RankSettings + Described + Clone + Send + Sync + 'static,
    ) -> Self {
        Self::of(name, about, settings, |settings| settings)
    }
}
