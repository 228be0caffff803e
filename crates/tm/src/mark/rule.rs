//! What a marking rule is: the traits that those of this crate implement, and that others can implement.

use super::custom::AnyRule;
use super::{MarkAction, Rule};
use crate::buffer::Buffer;
use crate::config::{ConfigError, TmConfig, ValidConfig};
use crate::custom::Custom;
use crate::described::Described;
use crate::packet::Packet;
use crate::units::Instant;
use core::fmt::Debug;

/// A marking rule at work, for all queues.
pub trait MarkingRule: Clone + Debug + Send + Sync + 'static {
    /// What happens to a packet that was admitted to the queue with this index and has not joined it yet; nothing, if
    /// the rule leaves it alone.
    fn judge(&mut self, now: Instant, queue: usize, packet: &Packet, buffer: &Buffer) -> Option<MarkAction>;

    /// A queue has emptied.
    #[inline]
    fn emptied(&mut self, _now: Instant, _queue: usize) {}

    /// Goes on from where an earlier rule of this kind was, when the settings of a switch change.
    fn inherit(&mut self, _earlier: &Self) {}
}

/// The settings of a marking rule: what makes one.
pub trait MarkSettings {
    /// Whether a switch can work with these settings.
    fn validate(&self, _switch: &TmConfig) -> Result<(), ConfigError> {
        Ok(())
    }

    /// The rule at work in an empty switch: [`ActiveRule::new`].
    fn start(&self, switch: &ValidConfig) -> ActiveRule;
}

/// A marking rule at work, whichever it is.
#[derive(Clone, Debug)]
pub struct ActiveRule(pub(super) Rule);

impl ActiveRule {
    /// A marking rule of another crate. It is called through a pointer; those of this crate are not.
    pub fn new(rule: impl MarkingRule) -> Self {
        Self(Rule::Custom(AnyRule::new(rule)))
    }
}

/// The choice of a marking rule of another crate, with its settings.
pub type CustomMark = Custom<dyn MarkSettings>;

impl CustomMark {
    /// A marking rule by the name that it has in files, one sentence about it, and its settings.
    pub fn new(
        name: &'static str,
        about: &'static str,
        settings: impl MarkSettings + Described + Clone + Send + Sync + 'static,
    ) -> Self {
        Self::of(name, about, settings, |settings| settings)
    }
}
