//! Dynamic thresholds for ports: the alpha of a queue is divided by the number of non-empty queues of its port.
//!
//! `T_i = (alpha / n_p) * (B - Q)`, where `n_p` counts the non-empty queues of port `p`, the packet's own included.
//! With one queue per port it is DT.

use forebay_tm::admit::{ActivePolicy, Admission, Arrival, Buffer, BufferPolicy, PolicySettings, QueueId};
use forebay_tm::{Bytes, ConfigError, Explain, Instant, Threshold, TmConfig, ValidConfig, settings};
use std::any::Any;

settings! {
    /// Settings of thresholds for ports.
    #[derive(Clone, Debug, PartialEq)]
    pub struct PerPortThresholdsConfig {
        /// The alpha of a port: its non-empty queues share it.
        pub alpha: f64 = 1.0 => needed,
    }
}

impl PolicySettings for PerPortThresholdsConfig {
    fn validate(&self, _: &TmConfig) -> Result<(), ConfigError> {
        if self.alpha > 0.0 && self.alpha.is_finite() {
            return Ok(());
        }
        Err(ConfigError::new("policy.alpha", self.alpha, "it must be above 0").remedy("give a number such as 1.0"))
    }

    fn start(&self, switch: &ValidConfig) -> ActivePolicy {
        ActivePolicy::new(PerPortThresholds { alpha: self.alpha, nonempty: vec![0; switch.rates.len()] })
    }
}

#[derive(Clone, Debug)]
struct PerPortThresholds {
    alpha: f64,
    /// Per port: its non-empty queues.
    nonempty: Vec<u32>,
}

impl PerPortThresholds {
    fn threshold(&self, queue: QueueId, buffer: &Buffer) -> Threshold {
        // The queue counts with its packet, even if it is empty now.
        let n = self.nonempty[queue.port] + u32::from(buffer.length(queue.index) == 0);
        let (alpha, remaining) = (self.alpha / f64::from(n), buffer.remaining());
        Threshold {
            value: alpha * remaining as f64,
            alpha: Some(alpha),
            remaining: Some(Bytes::new(remaining)),
            n: Some(f64::from(n)),
            ..Threshold::default()
        }
    }
}

impl BufferPolicy for PerPortThresholds {
    const OBSERVES: bool = true;

    fn admit(&mut self, arrival: Arrival<'_>, buffer: &Buffer, why: &mut impl Explain) -> Admission {
        let threshold = self.threshold(arrival.queue, buffer);
        why.note(|e| e.threshold = Some(threshold));
        Admission::below(threshold.value, &arrival, buffer)
    }

    fn enqueued(&mut self, queue: QueueId, before: u64, _: u64) {
        self.nonempty[queue.port] += u32::from(before == 0);
    }

    fn dequeued(&mut self, queue: QueueId, _: u64, after: u64, _: u32) {
        self.nonempty[queue.port] -= u32::from(after == 0);
    }

    fn threshold_of(&self, queue: QueueId, buffer: &Buffer) -> Option<Threshold> {
        Some(self.threshold(queue, buffer))
    }

    /// The counts follow from the lengths of the queues, which `enqueued` has told already.
    fn inherit(&mut self, _: &dyn Any, _: Instant) {}
}
