//! FB, the flexible buffer: `T_i = ((alpha_c / N_p) * gamma_i) * (B - Q)` (FB eq. 4).
//!
//! `N_p` counts the non-empty queues of the priority group, `gamma_i` is the share of its port that the scheduler gives
//! the queue; both count the queue itself. With one queue per port, classes can be the packets' own: then `gamma` is 1
//! and `N` counts all non-empty queues, so that packets of one queue meet different thresholds (FB section 4.1).

use super::shares::Shares;
use super::{ActivePolicy, Admission, Arrival, BufferPolicy, PolicySettings, QueueId, real};
use crate::buffer::{Buffer, Queue};
use crate::config::{ConfigError, PerQueue, TmConfig, ValidConfig, check_alpha, check_alphas, group_of};
use crate::described::{settings, words};
use crate::units::Bytes;
use crate::verdict::{Explain, Threshold};
use alloc::vec::Vec;

/// Whether the class of the queue or of the packet selects alpha.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Classes {
    /// The queue number's.
    #[default]
    Queue,
    /// The packet's own; for one queue per port.
    Packet,
}

words!(Classes { Queue = "queue", Packet = "packet" });

settings! {
    /// Settings of FB.
    #[derive(Clone, Debug, PartialEq)]
    pub struct FlexibleBufferConfig {
        /// Per queue number, or per class.
        pub alpha: PerQueue<f64> = PerQueue::All(1.0) => needed,
        /// Priority groups of queue numbers; without them every queue number is on its own.
        pub groups: Option<Vec<Vec<usize>>> = None,
        /// Whether the class of the queue or of the packet selects alpha.
        pub classes: Classes = Classes::Queue,
    }
}

impl PolicySettings for FlexibleBufferConfig {
    fn validate(&self, switch: &TmConfig) -> Result<(), ConfigError> {
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

    fn alpha(&self, number: usize) -> f64 {
        match self.classes {
            Classes::Queue => self.alpha.at(number),
            // The alphas are those of classes.
            Classes::Packet => 0.0,
        }
    }

    fn classes(&self) -> Option<usize> {
        match (self.classes, &self.alpha) {
            (Classes::Packet, PerQueue::Each(alphas)) => Some(alphas.len()),
            _ => None,
        }
    }

    fn start(&self, switch: &ValidConfig) -> ActivePolicy {
        FlexibleBuffer::new(self, switch).into()
    }
}

#[derive(Clone, Debug)]
pub(crate) struct FlexibleBuffer {
    /// Whether the class is the packet's, and then the alpha of each class.
    by_class: bool,
    class_alpha: PerQueue<f64>,
    shares: Shares,
}

impl FlexibleBuffer {
    pub(super) fn new(config: &FlexibleBufferConfig, switch: &ValidConfig) -> Self {
        let groups = group_of("policy.groups", config.groups.as_ref(), switch.queues).expect("validated");
        let shares = Shares::new(&groups, switch);
        Self { by_class: config.classes == Classes::Packet, class_alpha: config.alpha.clone(), shares }
    }

    #[inline(always)]
    fn factors(&self, index: usize, queue: &Queue, port: usize, class: u32) -> (f64, f64, f64) {
        let waits = queue.bytes > 0;
        let alpha = if self.by_class { self.class_alpha.at(class as usize) } else { queue.alpha };
        let (n, g) = self.shares.counting(index, port, waits);
        (alpha, n, g)
    }

    pub(super) fn threshold(&self, queue: usize, port: usize, class: u32, buffer: &Buffer) -> Threshold {
        let (alpha, n, g) = self.factors(queue, &buffer.queues[queue], port, class);
        Threshold {
            value: ((alpha / n) * g) * real(buffer.remaining()),
            alpha: Some(alpha),
            remaining: Some(Bytes::new(buffer.remaining())),
            n: Some(n),
            g: Some(g),
            ..Threshold::default()
        }
    }
}

impl BufferPolicy for FlexibleBuffer {
    const OBSERVES: bool = true;

    #[inline(always)]
    fn admit(&mut self, arrival: Arrival<'_>, buffer: &Buffer, why: &mut impl Explain) -> Admission {
        let Arrival { queue: QueueId { index: queue, .. }, packet, .. } = arrival;
        why.note(|e| e.threshold = Some(self.threshold(queue, packet.port as usize, packet.class, buffer)));
        let state = &buffer.queues[queue];
        let (alpha, n, g) = self.factors(queue, state, packet.port as usize, packet.class);
        let threshold = ((alpha / n) * g) * real(buffer.remaining());
        Admission::within(threshold, buffer.remaining(), state, arrival.charge)
    }

    fn threshold_of(&self, queue: QueueId, buffer: &Buffer) -> Option<Threshold> {
        Some(self.threshold(queue.index, queue.port, 0, buffer))
    }

    #[inline(always)]
    fn enqueued(&mut self, queue: QueueId, before: u64, _: u64) {
        self.shares.enqueued(queue, before);
    }

    #[inline(always)]
    fn dequeued(&mut self, queue: QueueId, _: u64, after: u64, _: u32) {
        self.shares.dequeued(queue, after);
    }

    #[inline(always)]
    fn passed(&mut self, _: QueueId, _: u32) {}
}
