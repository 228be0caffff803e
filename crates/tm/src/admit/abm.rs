//! ABM, active buffer management: `T_i = ((alpha * (B - Q)) / n_k) * m_i` (ABM eq. 9).
//!
//! `n_k` is the number of congested queues of the priority, `m_i` the drain rate of the queue over that of its port; both
//! are measured every interval. Packets of the first round trip may have an alpha of their own (ABM section 3.3).

use super::congestion::Congestion;
use super::{Admission, Request, real};
use crate::buffer::Buffer;
use crate::config::{ConfigError, PerQueue, TmConfig, ValidConfig, check_alpha, check_alphas, check_span};
use crate::units::{Bytes, Duration};
use crate::verdict::{Threshold, Why};
use alloc::vec::Vec;

/// Settings of ABM.
#[derive(Clone, Debug, PartialEq)]
pub struct AbmConfig {
    /// Per queue number. Default 0.5, as in the paper's evaluation.
    pub alpha: PerQueue<f64>,
    /// For packets flagged unscheduled; `None` ignores the flag. Default 64, as in the paper's evaluation.
    pub alpha_unscheduled: Option<f64>,
    /// Time between measurements. Default 80 us, a round trip in the paper's evaluation.
    pub interval: Duration,
}

impl Default for AbmConfig {
    fn default() -> Self {
        Self { alpha: PerQueue::All(0.5), alpha_unscheduled: Some(64.0), interval: Duration::from_us(80) }
    }
}

impl AbmConfig {
    pub(super) fn validate(&self, switch: &TmConfig) -> Result<(), ConfigError> {
        check_alphas(&self.alpha, switch.queues)?;
        if let Some(alpha) = self.alpha_unscheduled {
            check_alpha("policy.alpha_unscheduled", alpha)?;
        }
        check_span("policy.interval", self.interval)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Abm {
    alpha: Vec<f64>,
    alpha_unscheduled: Option<f64>,
    pub(super) congestion: Congestion,
}

impl Abm {
    pub(super) fn new(config: &AbmConfig, switch: &ValidConfig) -> Self {
        Self {
            alpha: config.alpha.spread(switch),
            alpha_unscheduled: config.alpha_unscheduled,
            congestion: Congestion::new(config.interval, switch),
        }
    }

    #[inline]
    fn alpha_for(&self, queue: usize, unscheduled: bool) -> f64 {
        match self.alpha_unscheduled {
            Some(alpha) if unscheduled => alpha,
            _ => self.alpha[queue],
        }
    }

    pub(super) fn threshold(&self, queue: usize, unscheduled: bool, buffer: &Buffer) -> Threshold {
        let alpha = self.alpha_for(queue, unscheduled);
        let (n, m) = (self.congestion.n(queue), self.congestion.m(queue));
        Threshold {
            value: ((alpha * real(buffer.remaining())) / n) * m,
            alpha: Some(alpha),
            remaining: Some(Bytes::new(buffer.remaining())),
            n: Some(n),
            mu: Some(m),
            ..Threshold::default()
        }
    }

    #[inline]
    pub(super) fn admit(&self, request: Request<'_>, buffer: &Buffer, why: &mut impl Why) -> Admission {
        let Request { queue, packet, .. } = request;
        why.note(|e| e.threshold = Some(self.threshold(queue, packet.unscheduled, buffer)));
        let alpha = self.alpha_for(queue, packet.unscheduled);
        let threshold = ((alpha * real(buffer.remaining())) / self.congestion.n(queue)) * self.congestion.m(queue);
        Admission::within(threshold, buffer, queue, request.charge)
    }

    pub(super) fn update(&mut self, buffer: &Buffer) -> bool {
        let (alpha, remaining) = (&self.alpha, real(buffer.remaining()));
        self.congestion.update(buffer, |old, queue| ((alpha[queue] * remaining) / old.n(queue)) * old.m(queue))
    }
}
