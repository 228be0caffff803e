//! Dynamic thresholds (Choudhury and Hahne): `T_i = alpha_k * (B - Q)` (FB eq. 1, ABM eq. 5), where `k` is the number
//! of queue `i`. A packet is admitted if it fits the buffer, `charge <= B - Q`, and its queue stays within the
//! threshold, `q_i + charge <= T_i`. `Q` and `q_i` are taken before the packet is added.
//!
//! With a reserved share `r`, each of the `P*K` queues has `R = floor(r*B/(P*K))` bytes of its own. The rest,
//! `S = B - P*K*R`, is shared; `X` of it is in use. A packet that leaves its queue within `R` is admitted. Else the
//! bytes of the queue above `R` have to fit what is shared, and stay within `T_i = alpha_k * (S - X)`.

use super::{ActivePolicy, Admission, Arrival, BufferPolicy, PolicySettings, QueueId, real};
use crate::buffer::Buffer;
use crate::config::{ConfigError, PerQueue, TmConfig, ValidConfig, check_alphas, check_share};
use crate::described::settings;
use crate::units::Bytes;
use crate::verdict::{Explain, Reason, Threshold};

settings! {
    /// Settings of DT.
    #[derive(Clone, Debug, PartialEq)]
    pub struct DynamicThresholdsConfig {
        /// A queue's threshold is this factor times the free buffer.
        pub alpha: PerQueue<f64> = PerQueue::All(1.0) => needed,
        /// The share of the buffer that is reserved for the queues, in equal parts.
        pub reserved: f64 = 0.0,
    }
}

impl PolicySettings for DynamicThresholdsConfig {
    fn validate(&self, switch: &TmConfig) -> Result<(), ConfigError> {
        check_alphas(&self.alpha, switch.queues)?;
        check_share("policy.reserved", self.reserved)
    }

    fn alpha(&self, number: usize) -> f64 {
        self.alpha.at(number)
    }

    fn start(&self, switch: &ValidConfig) -> ActivePolicy {
        match ReservedThresholds::new(self, switch) {
            Some(reserved) => reserved.into(),
            None => DynamicThresholds.into(),
        }
    }
}

/// DT without a reserve. It has no state: the buffer keeps each queue's alpha beside its length.
#[derive(Clone, Debug)]
pub(crate) struct DynamicThresholds;

impl BufferPolicy for DynamicThresholds {
    #[inline(always)]
    fn admit(&mut self, arrival: Arrival<'_>, buffer: &Buffer, why: &mut impl Explain) -> Admission {
        why.note(|e| e.threshold = Some(threshold(arrival.queue.index, buffer)));
        let queue = &buffer.queues[arrival.queue.index];
        Admission::within(queue.alpha * real(buffer.remaining()), buffer.remaining(), queue, arrival.charge)
    }

    fn threshold_of(&self, queue: QueueId, buffer: &Buffer) -> Option<Threshold> {
        Some(threshold(queue.index, buffer))
    }
}

/// `alpha * (B - Q)`, also for the policies derived from DT.
pub(super) fn threshold(queue: usize, buffer: &Buffer) -> Threshold {
    let (alpha, remaining) = (buffer.queues[queue].alpha, buffer.remaining());
    Threshold {
        value: alpha * real(remaining),
        alpha: Some(alpha),
        remaining: Some(Bytes::new(remaining)),
        ..Threshold::default()
    }
}

/// DT with a reserve.
#[derive(Clone, Debug)]
pub(crate) struct ReservedThresholds {
    /// `R`: what each queue has of its own.
    reserve: u64,
    /// `S`: what is shared.
    shared: u64,
    /// `X`: how much of `S` is in use.
    taken: u64,
}

impl ReservedThresholds {
    /// `None` if the reserve is less than a byte: plain DT is the same then.
    pub(super) fn new(config: &DynamicThresholdsConfig, switch: &ValidConfig) -> Option<Self> {
        let queues = switch.total_queues() as u64;
        let capacity = switch.buffer.get();
        // A buffer has fewer than 2^44 bytes and the share is not negative: the cast is a floor.
        let reserve = (config.reserved * real(capacity) / real(queues)) as u64;
        (reserve > 0).then_some(Self { reserve, shared: capacity - reserve * queues, taken: 0 })
    }

    fn free(&self) -> u64 {
        // `X` can exceed `S` if the reserve was enlarged while other queues occupied that space.
        self.shared.saturating_sub(self.taken)
    }

    fn threshold(&self, queue: usize, buffer: &Buffer) -> Threshold {
        let alpha = buffer.queues[queue].alpha;
        Threshold {
            value: alpha * real(self.free()),
            alpha: Some(alpha),
            remaining: Some(Bytes::new(self.free())),
            reserved: Some(Bytes::new(self.reserve)),
            ..Threshold::default()
        }
    }

    /// A queue went from `before` to `after` bytes.
    #[inline]
    fn changed(&mut self, before: u64, after: u64) {
        self.taken = self.taken - before.saturating_sub(self.reserve) + after.saturating_sub(self.reserve);
    }
}

impl BufferPolicy for ReservedThresholds {
    const OBSERVES: bool = true;

    #[inline(always)]
    fn admit(&mut self, arrival: Arrival<'_>, buffer: &Buffer, why: &mut impl Explain) -> Admission {
        why.note(|e| e.threshold = Some(self.threshold(arrival.queue.index, buffer)));
        let queue = &buffer.queues[arrival.queue.index];
        let above = (queue.bytes + arrival.charge).saturating_sub(self.reserve);
        // A queue within its reserve always fits, unless the reserve was enlarged while others occupied the buffer.
        if arrival.charge > buffer.remaining() {
            return Admission::Reject(Reason::Full);
        }
        if above == 0 {
            return Admission::Admit;
        }
        if self.taken - queue.bytes.saturating_sub(self.reserve) + above > self.shared {
            return Admission::Reject(Reason::Full);
        }
        if real(above) <= queue.alpha * real(self.free()) {
            Admission::Admit
        } else {
            Admission::Reject(Reason::Threshold)
        }
    }

    #[inline(always)]
    fn enqueued(&mut self, _: QueueId, before: u64, after: u64) {
        self.changed(before, after);
    }

    #[inline(always)]
    fn dequeued(&mut self, _: QueueId, before: u64, after: u64, _: u32) {
        self.changed(before, after);
    }

    /// A packet that joins an empty queue and leaves at once changes no length.
    #[inline(always)]
    fn passed(&mut self, _: QueueId, _: u32) {}

    fn threshold_of(&self, queue: QueueId, buffer: &Buffer) -> Option<Threshold> {
        Some(self.threshold(queue.index, buffer))
    }
}
