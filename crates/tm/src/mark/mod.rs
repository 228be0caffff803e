//! Marking: who carries a congestion mark, or is dropped in its stead. One file a rule.
//!
//! A rule is a [`MarkingRule`], its settings are a config type that implements [`MarkSettings`]. `rules!` below lists
//! all of them: a new one is a file and its lines there. One of another crate is a [`CustomMark`].

mod custom;
mod red;
mod rule;
mod step_ecn;
mod wred;

pub use rule::{ActiveRule, CustomMark, MarkSettings, MarkingRule};
pub use wred::Colours;

use crate::buffer::Buffer;
use crate::config::{ConfigError, TmConfig, ValidConfig};
use crate::described::{kinds, words};
use crate::packet::Packet;
use crate::units::Instant;
use custom::AnyRule;

/// Makes [`MarkConfig`], the choice of a rule, and [`Rule`], a rule at work. A row has a sentence, the name in files,
/// the module and the rule with its config type.
macro_rules! rules {
    ($(#[doc = $about:literal] $word:literal => $module:ident::$rule:ident($config:ident);)*) => {
        $(pub use $module::$config;)*

        kinds! {
            /// Which rule, with its settings.
            #[derive(Clone, Debug, PartialEq)]
            #[allow(clippy::large_enum_variant, reason = "a switch has one")]
            pub enum MarkConfig {
                $(#[doc = $about] $word => $rule($config),)*
            }
            custom CustomMark
        }

        impl MarkConfig {
            fn as_settings(&self) -> &dyn MarkSettings {
                match self {
                    $(Self::$rule(config) => config,)*
                    Self::Custom(custom) => custom.role(),
                }
            }
        }

        /// A rule at work.
        #[derive(Clone, Debug)]
        pub(crate) enum Rule {
            $($rule($module::$rule),)*
            Custom(AnyRule),
        }

        $(impl From<$module::$rule> for ActiveRule {
            fn from(rule: $module::$rule) -> Self {
                Self(Rule::$rule(rule))
            }
        })*

        impl Rule {
            #[inline]
            fn judge(
                &mut self,
                now: Instant,
                queue: usize,
                packet: &Packet,
                buffer: &Buffer,
            ) -> Option<MarkAction> {
                match self {
                    $(Self::$rule(rule) => rule.judge(now, queue, packet, buffer),)*
                    Self::Custom(rule) => rule.judge(now, queue, packet, buffer),
                }
            }

            #[inline]
            fn emptied(&mut self, now: Instant, queue: usize) {
                match self {
                    $(Self::$rule(rule) => rule.emptied(now, queue),)*
                    Self::Custom(rule) => rule.emptied(now, queue),
                }
            }

            /// Goes on from where an earlier rule was, if it is of the same kind.
            fn inherit(&mut self, earlier: &Self) {
                match (self, earlier) {
                    $((Self::$rule(new), Self::$rule(old)) => new.inherit(old),)*
                    (Self::Custom(new), Self::Custom(old)) => new.inherit(old),
                    _ => {}
                }
            }
        }
    };
}

rules! {
    /// Marks every packet above a queue length (DCTCP).
    "step" => step_ecn::Step(StepConfig);
    /// Marks with a probability that grows with the queue length (RED).
    "red" => red::Red(RedConfig);
    /// RED with thresholds per colour and queue number, as SONiC's WRED profiles have it (WRED).
    "wred" => wred::Wred(WredConfig);
}

/// What happens to a packet that the rule selects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MarkAction {
    /// It is marked if it is ECN-capable, and left alone otherwise.
    #[default]
    Mark,
    /// It is dropped.
    Drop,
    /// It is marked if it is ECN-capable, and dropped otherwise.
    MarkOrDrop,
}

words!(MarkAction { Mark = "mark", Drop = "drop", MarkOrDrop = "mark-or-drop" });

impl MarkConfig {
    pub(crate) fn validate(&self, switch: &TmConfig) -> Result<(), ConfigError> {
        self.as_settings().validate(switch)
    }
}

/// What the marker says of a packet that was admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    No,
    Yes,
    Drop,
}

/// The marking of a switch: a rule, if there is one.
#[derive(Clone, Debug)]
pub(crate) struct Marker {
    rule: Option<Rule>,
}

impl Marker {
    pub(crate) fn new(switch: &ValidConfig) -> Self {
        Self { rule: switch.mark.as_ref().map(|config| config.as_settings().start(switch).0) }
    }

    /// What becomes of a packet that is about to join its queue.
    #[inline]
    pub(crate) fn judge(&mut self, now: Instant, queue: usize, packet: &Packet, buffer: &Buffer) -> Mark {
        let Some(rule) = &mut self.rule else { return Mark::No };
        match (rule.judge(now, queue, packet, buffer), packet.ect) {
            (None, _) | (Some(MarkAction::Mark), false) => Mark::No,
            (Some(MarkAction::Mark | MarkAction::MarkOrDrop), true) => Mark::Yes,
            (Some(MarkAction::Drop), _) | (Some(MarkAction::MarkOrDrop), false) => Mark::Drop,
        }
    }

    /// A queue has emptied.
    #[inline]
    pub(crate) fn emptied(&mut self, now: Instant, queue: usize) {
        if let Some(rule) = &mut self.rule {
            rule.emptied(now, queue);
        }
    }

    /// Goes on from what the rule of an earlier marker had seen.
    pub(crate) fn inherit(&mut self, earlier: &Self) {
        if let (Some(new), Some(old)) = (&mut self.rule, &earlier.rule) {
            new.inherit(old);
        }
    }
}
