//! Rank functions: what a rank scheduler sorts by. Smaller is more important. One file a function.
//!
//! A rank function is a [`RankFunction`], its settings are a config type that implements [`RankSettings`]. `ranks!`
//! below lists all of them: a new one is a file and its lines there. One of another crate is a [`CustomRank`].

mod custom;
mod function;
mod given;
mod lstf;
mod srpt;
mod stfq;

pub use function::{ActiveRank, CustomRank, RankFunction, RankSettings};

use crate::config::{ConfigError, TmConfig, ValidConfig};
use crate::described::kinds;
use crate::packet::Packet;
use crate::units::Instant;
use custom::AnyRank;

/// Makes [`RankConfig`], the choice of a rank function, and [`Ranker`], a rank function at work. A row has a sentence,
/// the name in files, the module and the function with its config type. One without settings is its own config type.
macro_rules! ranks {
    ($(#[doc = $about:literal] $word:literal => $module:ident::$rank:ident $(($config:ident))?;)*) => {
        $($(pub use $module::$config;)?)*

        kinds! {
            /// Where ranks come from, with the settings of the function.
            #[derive(Clone, Debug, PartialEq)]
            pub enum RankConfig {
                $(#[doc = $about] $word => $rank $(($config))?,)*
            }
            custom CustomRank
        }

        impl RankConfig {
            fn as_settings(&self) -> &dyn RankSettings {
                match self {
                    $(ranks!(@pattern $rank config $($config)?) => {
                        ranks!(@settings config $module::$rank $($config)?)
                    })*
                    Self::Custom(custom) => custom.role(),
                }
            }
        }

        /// A rank function at work.
        #[derive(Clone, Debug)]
        pub(crate) enum Ranker {
            $($rank($module::$rank),)*
            Custom(AnyRank),
        }

        $(impl From<$module::$rank> for ActiveRank {
            fn from(rank: $module::$rank) -> Self {
                Self(Ranker::$rank(rank))
            }
        })*

        impl Ranker {
            /// The rank of a packet that arrives now.
            #[inline]
            pub(crate) fn rank(&self, now: Instant, packet: &Packet) -> u64 {
                match self {
                    $(Self::$rank(one) => one.rank(now, packet),)*
                    Self::Custom(one) => one.rank(now, packet),
                }
            }

            /// The packet has joined its queue with this rank.
            #[inline]
            pub(crate) fn joined(&mut self, packet: &Packet, rank: u64) {
                match self {
                    $(Self::$rank(one) => one.joined(packet, rank),)*
                    Self::Custom(one) => one.joined(packet, rank),
                }
            }

            /// A packet of this rank was picked at a port; `empty` says that none is left there.
            #[inline]
            pub(crate) fn picked(&mut self, port: usize, rank: u64, empty: bool) {
                match self {
                    $(Self::$rank(one) => one.picked(port, rank, empty),)*
                    Self::Custom(one) => one.picked(port, rank, empty),
                }
            }
        }
    };
    (@pattern $rank:ident $config:ident) => { Self::$rank };
    (@pattern $rank:ident $config:ident $type:ident) => { Self::$rank($config) };
    (@settings $config:ident $module:ident::$rank:ident) => { &$module::$rank };
    (@settings $config:ident $module:ident::$rank:ident $type:ident) => { $config };
}

ranks! {
    /// The packet carries its rank.
    "given" => given::Given;
    /// Shortest remaining processing time: the packet carries its flow's bytes left.
    "srpt" => srpt::Srpt;
    /// Start-time fair queueing: computed here.
    "stfq" => stfq::Stfq(StfqConfig);
    /// Least slack time first: the packet carries its slack.
    "lstf" => lstf::Lstf;
}

impl RankConfig {
    pub(crate) fn validate(&self, switch: &TmConfig) -> Result<(), ConfigError> {
        if *self != Self::Given && !switch.scheduler.uses_ranks() {
            return Err(ConfigError::new("scheduler.rank", self.name(), "this scheduler does not look at ranks")
                .remedy("use it with pifo, sp-pifo, pieo or aifo"));
        }
        self.as_settings().validate(switch)
    }

    /// Whether the rank is the one that the packet carries.
    pub(crate) fn is_carried(&self) -> bool {
        self.as_settings().is_carried()
    }
}

impl Ranker {
    pub(crate) fn new(switch: &ValidConfig) -> Self {
        switch.rank.as_settings().start(switch).0
    }
}
