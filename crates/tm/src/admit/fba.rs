//! FBA: FB on a switch that only has DT, whose alphas a controller sets anew every interval (FB section 5.2).
//!
//! `T_i = a_i * (B - Q)`; at every update `a_i = (alpha_k / max(1, N')) * g_i`. Before the first one `a_i = alpha_k`.

use super::shares::Shares;
use super::{ActivePolicy, Admission, Arrival, BufferPolicy, PolicySettings, QueueId, real};
use crate::buffer::Buffer;
use crate::config::{ConfigError, PerQueue, TmConfig, ValidConfig, check_alphas, check_span, group_of};
use crate::described::settings;
use crate::units::{Bytes, Duration, Instant};
use crate::verdict::{Explain, Threshold};
use alloc::vec;
use alloc::vec::Vec;
use core::any::Any;

settings! {
    /// Settings of FBA.
    #[derive(Clone, Debug, PartialEq)]
    pub struct FbaConfig {
        /// Per queue number.
        pub alpha: PerQueue<f64> = PerQueue::All(1.0) => needed,
        /// Priority groups of queue numbers; without them every queue number is on its own.
        pub groups: Option<Vec<Vec<usize>>> = None,
        /// Time between updates; 1 s in the paper's evaluation.
        pub interval: Duration = Duration::from_us(1_000_000) => needed,
    }
}

impl PolicySettings for FbaConfig {
    fn validate(&self, switch: &TmConfig) -> Result<(), ConfigError> {
        check_alphas(&self.alpha, switch.queues)?;
        check_span("policy.interval", self.interval)?;
        group_of("policy.groups", self.groups.as_ref(), switch.queues).map(|_| ())
    }

    fn start(&self, switch: &ValidConfig) -> ActivePolicy {
        Fba::new(self, switch).into()
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Fba {
    /// Per queue index: what the operator asked for.
    wanted: Vec<f64>,
    /// Per queue index: `N'` and `g`, as the controller saw them last.
    seen: Vec<(f64, f64)>,
    /// Per queue index: what the switch has.
    set: Vec<f64>,
    shares: Shares,
    interval: Duration,
    queues_per_port: usize,
}

impl Fba {
    pub(super) fn new(config: &FbaConfig, switch: &ValidConfig) -> Self {
        let groups = group_of("policy.groups", config.groups.as_ref(), switch.queues).expect("validated");
        let wanted = config.alpha.spread(switch);
        Self {
            seen: vec![(1.0, 1.0); wanted.len()],
            set: wanted.clone(),
            wanted,
            shares: Shares::new(&groups, switch),
            interval: config.interval,
            queues_per_port: switch.queues,
        }
    }

    pub(super) fn threshold(&self, queue: usize, port: usize, buffer: &Buffer) -> Threshold {
        let waits = buffer.length(queue) > 0;
        Threshold {
            value: self.set[queue] * real(buffer.remaining()),
            alpha: Some(self.set[queue]),
            remaining: Some(Bytes::new(buffer.remaining())),
            n: Some(real(u64::from(self.shares.busy(queue).max(1)))),
            g: Some(self.shares.share(queue, port, waits)),
            ..Threshold::default()
        }
    }

    fn apply(&mut self) {
        for (queue, (n, g)) in self.seen.iter().enumerate() {
            self.set[queue] = (self.wanted[queue] / n) * g;
        }
    }
}

impl BufferPolicy for Fba {
    const UPDATES: bool = true;
    const OBSERVES: bool = true;

    #[inline(always)]
    fn admit(&mut self, arrival: Arrival<'_>, buffer: &Buffer, why: &mut impl Explain) -> Admission {
        why.note(|e| e.threshold = Some(self.threshold(arrival.queue.index, arrival.packet.port as usize, buffer)));
        let threshold = self.set[arrival.queue.index] * real(buffer.remaining());
        Admission::within(threshold, buffer.remaining(), &buffer.queues[arrival.queue.index], arrival.charge)
    }

    fn threshold_of(&self, queue: QueueId, buffer: &Buffer) -> Option<Threshold> {
        Some(self.threshold(queue.index, queue.port, buffer))
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

    fn interval(&self) -> Option<Duration> {
        Some(self.interval)
    }

    /// Doing this twice with the same buffer is doing it once.
    fn update(&mut self, buffer: &Buffer) -> bool {
        for (queue, seen) in self.seen.iter_mut().enumerate() {
            let n = real(u64::from(self.shares.busy(queue).max(1)));
            *seen = (n, self.shares.share(queue, queue / self.queues_per_port, buffer.length(queue) > 0));
        }
        self.apply();
        false
    }

    fn inherit(&mut self, earlier: &dyn Any, _: Instant) {
        if let Some(earlier) = earlier.downcast_ref::<Self>() {
            self.seen.clone_from(&earlier.seen);
            self.apply();
        }
    }
}
