//! ABM, active buffer management: `T_i = ((alpha * (B - Q)) / n_k) * m_i` (ABM eq. 9).
//!
//! `B` is the size of the buffer and `Q` what all queues hold. `n_k` is the number of congested queues with the queue
//! number `k` (the paper's priority), `m_i` the drain rate of queue `i` divided by the rate of its port; both are
//! measured every interval. Packets of the first round trip may have an alpha of their own (ABM section 3.3).
//! What the authors' own code takes for congested is in `abm_by_length.rs`.

pub(crate) use super::abm_by_length::AbmByLength;
use super::congestion::Congestion;
use super::{ActivePolicy, Admission, Arrival, BufferPolicy, PolicySettings, QueueId, real};
use crate::buffer::{Buffer, Queue};
use crate::config::{ConfigError, PerQueue, TmConfig, ValidConfig, check_alpha, check_alphas, check_span};
use crate::described::{Value, settings};
use crate::units::{Bytes, Duration, Instant};
use crate::verdict::{Explain, Threshold};
use core::any::Any;

settings! {
    /// Settings of ABM.
    #[derive(Clone, Debug, PartialEq)]
    pub struct AbmConfig {
        /// Per queue number; 0.5 in the paper's evaluation.
        pub alpha: PerQueue<f64> = PerQueue::All(0.5) => needed,
        /// For packets flagged unscheduled, 64 in the paper's evaluation; without it the flag is ignored.
        pub alpha_unscheduled: Option<f64> = Some(64.0) => otherwise Value::Nothing,
        /// Time between measurements; 80 us, one round trip, in the paper's evaluation.
        pub interval: Duration = Duration::from_us(80) => needed,
        /// With it, a queue counts as congested in proportion to its length at the last arrival, fully from this length
        /// on: the rule of the authors' code (28,000). Without it, a queue is congested from nine tenths of its
        /// threshold on: the rule of the paper.
        pub congested_at: Option<Bytes> = None,
    }
}

impl PolicySettings for AbmConfig {
    fn validate(&self, switch: &TmConfig) -> Result<(), ConfigError> {
        check_alphas(&self.alpha, switch.queues)?;
        if let Some(alpha) = self.alpha_unscheduled {
            check_alpha("policy.alpha_unscheduled", alpha)?;
        }
        if let Some(length) = self.congested_at.filter(|length| *length == Bytes::ZERO) {
            return Err(ConfigError::new(
                "policy.congested_at",
                length,
                "every queue would be congested, empty ones too",
            )
            .remedy("give a length such as \"28KB\", or leave it out"));
        }
        check_span("policy.interval", self.interval)
    }

    fn alpha(&self, number: usize) -> f64 {
        self.alpha.at(number)
    }

    fn start(&self, switch: &ValidConfig) -> ActivePolicy {
        match self.congested_at {
            None => Abm::new(self, switch).into(),
            Some(full) => AbmByLength::new(self, full, switch).into(),
        }
    }
}

/// `T_i = ((alpha * (B - Q)) / n_k) * m_i`.
#[inline(always)]
fn threshold(alpha: f64, remaining: u64, n: f64, m: f64) -> f64 {
    ((alpha * real(remaining)) / n) * m
}

#[derive(Clone, Debug)]
pub(crate) struct Abm {
    alpha_unscheduled: Option<f64>,
    pub(super) congestion: Congestion,
}

impl Abm {
    pub(super) fn new(config: &AbmConfig, switch: &ValidConfig) -> Self {
        Self { alpha_unscheduled: config.alpha_unscheduled, congestion: Congestion::new(config.interval, switch) }
    }

    #[inline(always)]
    fn alpha_for(&self, queue: &Queue, unscheduled: bool) -> f64 {
        match self.alpha_unscheduled {
            Some(alpha) if unscheduled => alpha,
            _ => queue.alpha,
        }
    }

    pub(super) fn threshold(&self, queue: usize, unscheduled: bool, buffer: &Buffer) -> Threshold {
        let alpha = self.alpha_for(&buffer.queues[queue], unscheduled);
        let (n, m) = (self.congestion.n_of(queue), self.congestion.m(queue));
        Threshold {
            value: threshold(alpha, buffer.remaining(), n, m),
            alpha: Some(alpha),
            remaining: Some(Bytes::new(buffer.remaining())),
            n: Some(n),
            mu: Some(m),
            ..Threshold::default()
        }
    }
}

impl BufferPolicy for Abm {
    const UPDATES: bool = true;
    const OBSERVES: bool = true;

    #[inline(always)]
    fn admit(&mut self, arrival: Arrival<'_>, buffer: &Buffer, why: &mut impl Explain) -> Admission {
        let Arrival { queue: QueueId { index: queue, .. }, number, packet, .. } = arrival;
        why.note(|e| e.threshold = Some(self.threshold(queue, packet.unscheduled, buffer)));
        let state = &buffer.queues[queue];
        let alpha = self.alpha_for(state, packet.unscheduled);
        let (n, m) = (self.congestion.n(number), self.congestion.m(queue));
        let threshold = threshold(alpha, buffer.remaining(), n, m);
        Admission::within(threshold, buffer.remaining(), state, arrival.charge)
    }

    fn threshold_of(&self, queue: QueueId, buffer: &Buffer) -> Option<Threshold> {
        Some(self.threshold(queue.index, false, buffer))
    }

    #[inline(always)]
    fn dequeued(&mut self, queue: QueueId, _: u64, _: u64, sent: u32) {
        self.congestion.sent(queue.index, sent);
    }

    fn interval(&self) -> Option<Duration> {
        Some(self.congestion.interval())
    }

    fn update(&mut self, buffer: &Buffer) -> bool {
        let remaining = buffer.remaining();
        self.congestion.update(buffer, |old, queue| {
            threshold(buffer.queues[queue].alpha, remaining, old.n_of(queue), old.m(queue))
        })
    }

    fn inherit(&mut self, earlier: &dyn Any, _: Instant) {
        if let Some(earlier) = earlier.downcast_ref::<Self>() {
            self.congestion.inherit(&earlier.congestion);
        } else if let Some(earlier) = earlier.downcast_ref::<AbmByLength>() {
            self.congestion.inherit(&earlier.abm.congestion);
        }
    }
}
