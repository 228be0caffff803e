//! Marking: who carries a congestion mark, or is dropped in its stead. One file a rule.

mod red;
mod step_ecn;

pub use red::RedConfig;
pub use step_ecn::StepConfig;

use crate::config::{ConfigError, ValidConfig};
use crate::described::{kinds, words};
use crate::units::Instant;
use red::Red;
use step_ecn::Step;

kinds! {
    /// Which rule, with its settings.
    #[derive(Clone, Debug, PartialEq)]
    pub enum MarkConfig {
        /// Marks every packet above a queue length (DCTCP).
        "step" => Step(StepConfig),
        /// Marks with a probability that grows with the queue length (RED).
        "red" => Red(RedConfig),
    }
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
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        match self {
            Self::Step(_) => Ok(()),
            Self::Red(config) => config.validate(),
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
}

impl Marker {
    pub(crate) fn new(switch: &ValidConfig) -> Self {
        match &switch.mark {
            None => Self::Off,
            Some(MarkConfig::Step(config)) => Self::Step(Step::new(config), config.action),
            Some(MarkConfig::Red(config)) => Self::Red(Red::new(config, switch), config.action),
        }
    }

    /// `length` is `q_i` before the packet is added.
    #[inline]
    pub(crate) fn judge(&mut self, now: Instant, queue: usize, length: u64, ect: bool) -> Mark {
        let (hit, action) = match self {
            Self::Off => return Mark::No,
            Self::Step(step, action) => (step.hits(length), *action),
            Self::Red(red, action) => (red.hits(now, queue, length), *action),
        };
        match (hit, action, ect) {
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
        if let (Self::Red(new, _), Self::Red(old, _)) = (self, earlier) {
            new.inherit(old);
        }
    }
}
