//! FB, the flexible buffer: `T_i = ((alpha_c / N_p) * gamma_i) * (B - Q)` (FB eq. 4).
//!
//! `N_p` counts the non-empty queues of the priority group, `gamma_i` is the share of its port that the scheduler gives
//! the queue; both count the queue itself. With one queue per port, classes can be the packets' own: then `gamma` is 1 and
//! `N` counts all non-empty queues, so that packets of one queue meet different thresholds (FB section 4.1).

use super::shares::Shares;
use super::{Admission, Request, real};
use crate::buffer::Buffer;
use crate::config::{ConfigError, PerQueue, TmConfig, ValidConfig, check_alpha, check_alphas, group_of};
use crate::units::Bytes;
use crate::verdict::{Threshold, Why};
use alloc::vec;
use alloc::vec::Vec;

/// Whose class decides alpha.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Classes {
    /// The queue number's.
    #[default]
    Queue,
    /// The packet's own; for one queue per port.
    Packet,
}

/// Settings of FB.
#[derive(Clone, Debug, PartialEq)]
pub struct FlexibleBufferConfig {
    /// Per queue number, or per class. Default 1.
    pub alpha: PerQueue<f64>,
    /// Priority groups of queue numbers. Default: every queue number on its own.
    pub groups: Option<Vec<Vec<usize>>>,
    /// Default: the queue's.
    pub classes: Classes,
}

impl Default for FlexibleBufferConfig {
    fn default() -> Self {
        Self { alpha: PerQueue::All(1.0), groups: None, classes: Classes::Queue }
    }
}

impl FlexibleBufferConfig {
    pub(super) fn validate(&self, switch: &TmConfig) -> Result<(), ConfigError> {
        match self.classes {
            Classes::Queue => check_alphas(&self.alpha, switch.queues)?,
            Classes::Packet => {
                if switch.queues != 1 {
                    return Err(ConfigError::new(
                        "policy.classes",
                        "packet",
                        "packet classes are for one queue per port",
                    )
                    .remedy("set queues = 1, or classes = \"queue\""));
                }
                if self.alpha.values().is_empty() {
                    return Err(ConfigError::new("policy.alpha", "[]", "no class has an alpha")
                        .remedy("give one alpha for each class, such as alpha = [4.0, 0.5]"));
                }
                self.alpha.values().iter().try_for_each(|alpha| check_alpha("policy.alpha", *alpha))?;
            }
        }
        group_of("policy.groups", self.groups.as_ref(), switch.queues).map(|_| ())
    }
}

#[derive(Clone, Debug)]
pub(crate) struct FlexibleBuffer {
    /// Per queue index.
    alpha: Vec<f64>,
    /// Per class, where the class is the packet's.
    class_alpha: Option<PerQueue<f64>>,
    pub(super) shares: Shares,
}

impl FlexibleBuffer {
    pub(super) fn new(config: &FlexibleBufferConfig, switch: &ValidConfig) -> Self {
        let groups = group_of("policy.groups", config.groups.as_ref(), switch.queues).expect("validated");
        let shares = Shares::new(&groups, switch);
        match config.classes {
            Classes::Queue => Self { alpha: config.alpha.spread(switch), class_alpha: None, shares },
            Classes::Packet => {
                Self { alpha: vec![0.0; switch.total_queues()], class_alpha: Some(config.alpha.clone()), shares }
            }
        }
    }

    #[inline]
    fn factors(&self, queue: usize, port: usize, class: u32, waits: bool) -> (f64, f64, f64) {
        let alpha = match &self.class_alpha {
            None => self.alpha[queue],
            Some(of) => of.at(class as usize),
        };
        let n = real(u64::from(self.shares.busy(queue) + u32::from(!waits)));
        (alpha, n, self.shares.share(queue, port, waits))
    }

    pub(super) fn threshold(&self, queue: usize, port: usize, class: u32, buffer: &Buffer) -> Threshold {
        let (alpha, n, g) = self.factors(queue, port, class, buffer.length(queue) > 0);
        Threshold {
            value: ((alpha / n) * g) * real(buffer.remaining()),
            alpha: Some(alpha),
            remaining: Some(Bytes::new(buffer.remaining())),
            n: Some(n),
            g: Some(g),
            ..Threshold::default()
        }
    }

    #[inline]
    pub(super) fn admit(&self, request: Request<'_>, buffer: &Buffer, why: &mut impl Why) -> Admission {
        let Request { queue, packet, .. } = request;
        why.note(|e| e.threshold = Some(self.threshold(queue, packet.port as usize, packet.class, buffer)));
        let (alpha, n, g) = self.factors(queue, packet.port as usize, packet.class, buffer.length(queue) > 0);
        let threshold = ((alpha / n) * g) * real(buffer.remaining());
        Admission::within(threshold, buffer, queue, request.charge)
    }
}
