//! Dynamic thresholds (Choudhury and Hahne): `T_i = alpha_k * (B - Q)` (FB eq. 1, ABM eq. 5).
//!
//! With a reserve `r` each queue owns `R = floor(r*B/(P*K))` bytes, and thresholds are those of the rest.

use super::{Admission, Request, real};
use crate::buffer::Buffer;
use crate::config::{ConfigError, PerQueue, TmConfig, ValidConfig, check_alphas, check_share};
use crate::units::Bytes;
use crate::verdict::{Reason, Threshold, Why};
use alloc::vec::Vec;

/// Settings of DT.
#[derive(Clone, Debug, PartialEq)]
pub struct DynamicThresholdsConfig {
    /// The share of the remaining buffer that a queue may take. Default 1.
    pub alpha: PerQueue<f64>,
    /// The share of the buffer that is divided equally among the queues beforehand. Default 0.
    pub reserved: f64,
}

impl Default for DynamicThresholdsConfig {
    fn default() -> Self {
        Self { alpha: PerQueue::All(1.0), reserved: 0.0 }
    }
}

impl DynamicThresholdsConfig {
    pub(super) fn validate(&self, switch: &TmConfig) -> Result<(), ConfigError> {
        check_alphas(&self.alpha, switch.queues)?;
        check_share("policy.reserved", self.reserved)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct DynamicThresholds {
    alpha: Vec<f64>,
    /// `R`.
    reserve: u64,
    /// `S`: what is shared.
    shared: u64,
    /// `X`: how much of it is taken. Kept only where there is a reserve; `X = Q` where there is none.
    taken: u64,
}

impl DynamicThresholds {
    pub(super) fn new(config: &DynamicThresholdsConfig, switch: &ValidConfig) -> Self {
        let queues = switch.total_queues() as u64;
        let capacity = switch.buffer.get();
        // The product is below 2^44 and not negative: the cast is a floor.
        let reserve = (config.reserved * real(capacity) / real(queues)) as u64;
        Self { alpha: config.alpha.spread(switch), reserve, shared: capacity - reserve * queues, taken: 0 }
    }

    pub(super) fn threshold(&self, queue: usize, buffer: &Buffer) -> Threshold {
        let free = if self.reserve == 0 { buffer.remaining() } else { self.shared.saturating_sub(self.taken) };
        let alpha = self.alpha[queue];
        Threshold {
            value: alpha * real(free),
            alpha: Some(alpha),
            remaining: Some(Bytes::new(free)),
            reserved: (self.reserve > 0).then_some(Bytes::new(self.reserve)),
            ..Threshold::default()
        }
    }

    #[inline]
    pub(super) fn admit(&self, request: Request<'_>, buffer: &Buffer, why: &mut impl Why) -> Admission {
        why.note(|e| e.threshold = Some(self.threshold(request.queue, buffer)));
        if self.reserve > 0 {
            return self.admit_with_reserve(request, buffer);
        }
        let threshold = self.alpha[request.queue] * real(buffer.remaining());
        Admission::within(threshold, buffer, request.queue, request.charge)
    }

    fn admit_with_reserve(&self, request: Request<'_>, buffer: &Buffer) -> Admission {
        let length = buffer.length(request.queue);
        let above = (length + request.charge).saturating_sub(self.reserve);
        // A queue within its reserve always fits, unless the reserve was enlarged while others held the buffer.
        if request.charge > buffer.remaining() {
            return Admission::Reject(Reason::Full);
        }
        if above == 0 {
            return Admission::Admit;
        }
        if self.taken - length.saturating_sub(self.reserve) + above > self.shared {
            return Admission::Reject(Reason::Full);
        }
        if real(above) <= self.alpha[request.queue] * real(self.shared.saturating_sub(self.taken)) {
            Admission::Admit
        } else {
            Admission::Reject(Reason::Threshold)
        }
    }

    /// A queue went from `before` to `after` bytes.
    #[inline]
    pub(super) fn changed(&mut self, before: u64, after: u64) {
        if self.reserve > 0 {
            self.taken = self.taken - before.saturating_sub(self.reserve) + after.saturating_sub(self.reserve);
        }
    }
}
