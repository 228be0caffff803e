//! Marking: who carries a congestion mark, or is dropped in its stead. One file a rule.

mod red;
mod step_ecn;
mod wred;

pub use red::RedConfig;
pub use step_ecn::StepConfig;
pub use wred::{Colours, WredConfig};

use crate::config::{ConfigError, ValidConfig};
use crate::described::{kinds, words};
use crate::packet::Packet;
use crate::units::Instant;
use red::Red;
use step_ecn::Step;
use wred::Wred;

kinds! {
    /// Which rule, with its settings.
    #[derive(Clone, Debug, PartialEq)]
    #[allow(clippy::large_enum_variant, reason = "a switch has one")]
    pub enum MarkConfig {
        /// Everything above a queue length (DCTCP).
        "step" => Step(StepConfig),
        /// With a probability that grows with the queue length.
        "red" => Red(RedConfig),
        /// RED with thresholds for each colour and each queue number, as SONiC's WRED profiles have it.
        "wred" => Wred(WredConfig),
    }
}

/// What happens to a packet that the rule hits.
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
    pub(crate) fn validate(&self, queues: usize) -> Result<(), ConfigError> {
        match self {
            Self::Step(_) => Ok(()),
            Self::Red(config) => config.validate(),
            Self::Wred(config) => config.validate(queues),
        }
    }
}

/// What the marker says of a packet that was admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    No,
    Yes,
    Drop,
}

/// A rule at work.
#[derive(Clone, Debug)]
pub(crate) enum Marker {
    Off,
    Step(Step, MarkAction),
    Red(Red, MarkAction),
    Wred(Wred),
}

impl Marker {
    pub(crate) fn new(switch: &ValidConfig) -> Self {
        match &switch.mark {
            None => Self::Off,
            Some(MarkConfig::Step(config)) => Self::Step(Step::new(config), config.action),
            Some(MarkConfig::Red(config)) => Self::Red(Red::new(config, switch), config.action),
            Some(MarkConfig::Wred(config)) => Self::Wred(Wred::new(config, switch)),
        }
    }

    /// `length` is `q_i` before the packet is added.
    #[inline]
    pub(crate) fn judge(&mut self, now: Instant, queue: usize, length: u64, packet: &Packet) -> Mark {
        let (hit, action) = match self {
            Self::Off => return Mark::No,
            Self::Step(step, action) => (step.hits(length), *action),
            Self::Red(red, action) => (red.hits(now, queue, length), *action),
            Self::Wred(wred) => return wred.judge(queue, length, packet),
        };
        match (hit, action, packet.ect) {
            (false, _, _) | (true, MarkAction::Mark, false) => Mark::No,
            (true, MarkAction::Mark | MarkAction::MarkOrDrop, true) => Mark::Yes,
            (true, MarkAction::Drop, _) | (true, MarkAction::MarkOrDrop, false) => Mark::Drop,
        }
    }

    /// A queue has emptied.
    #[inline]
    pub(crate) fn emptied(&mut self, now: Instant, queue: usize) {
        if let Self::Red(red, _) = self {
            red.emptied(now, queue);
        }
    }

    /// Goes on from the averages of an earlier marker.
    pub(crate) fn succeed(&mut self, earlier: &Self) {
        match (self, earlier) {
            (Self::Red(new, _), Self::Red(old, _)) => new.inherit(old),
            (Self::Wred(new), Self::Wred(old)) => new.inherit(old),
            _ => {}
        }
    }
}
