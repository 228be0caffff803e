//! ABM on a switch that only has DT: a controller reads the queues' statistics every interval and sets each queue's
//! alpha to `a_i = (alpha_k / n_k) * m_i` (ABM section 3.4). DT then uses `T_i = a_i * (B - Q)` until the next time.
//!
//! DT has one alpha per queue, so unscheduled packets cannot have one of their own.

use super::congestion::Congestion;
use super::{ActivePolicy, Admission, Arrival, BufferPolicy, PolicySettings, QueueId, real};
use crate::buffer::Buffer;
use crate::config::{ConfigError, PerQueue, TmConfig, ValidConfig, check_alphas, check_span};
use crate::described::settings;
use crate::units::{Bytes, Duration, Instant};
use crate::verdict::{Explain, Threshold};
use alloc::vec::Vec;
use core::any::Any;

settings! {
    /// Settings of ABM on DT.
    #[derive(Clone, Debug, PartialEq)]
    pub struct AbmOnDtConfig {
        /// Per queue number.
        pub alpha: PerQueue<f64> = PerQueue::All(0.5) => needed,
        /// Time between updates; 8 ms is a hundred round trips, at which the paper still sees ABM's benefit.
        pub interval: Duration = Duration::from_us(8_000) => needed,
    }
}

impl PolicySettings for AbmOnDtConfig {
    fn validate(&self, switch: &TmConfig) -> Result<(), ConfigError> {
        check_alphas(&self.alpha, switch.queues)?;
        check_span("policy.interval", self.interval)
    }

    fn start(&self, switch: &ValidConfig) -> ActivePolicy {
        AbmOnDt::new(self, switch).into()
    }
}

#[derive(Clone, Debug)]
pub(crate) struct AbmOnDt {
    /// What the operator asked for.
    wanted: Vec<f64>,
    /// What the switch has.
    set: Vec<f64>,
    pub(super) congestion: Congestion,
}

impl AbmOnDt {
    pub(super) fn new(config: &AbmOnDtConfig, switch: &ValidConfig) -> Self {
        let wanted = config.alpha.spread(switch);
        Self { set: wanted.clone(), wanted, congestion: Congestion::new(config.interval, switch) }
    }

    pub(super) fn threshold(&self, queue: usize, buffer: &Buffer) -> Threshold {
        Threshold {
            value: self.set[queue] * real(buffer.remaining()),
            alpha: Some(self.set[queue]),
            remaining: Some(Bytes::new(buffer.remaining())),
            n: Some(self.congestion.n_of(queue)),
            mu: Some(self.congestion.m(queue)),
            ..Threshold::default()
        }
    }

    fn apply(&mut self) {
        for (queue, set) in self.set.iter_mut().enumerate() {
            *set = (self.wanted[queue] / self.congestion.n_of(queue)) * self.congestion.m(queue);
        }
    }
}

impl BufferPolicy for AbmOnDt {
    const UPDATES: bool = true;
    const OBSERVES: bool = true;

    #[inline(always)]
    fn admit(&mut self, arrival: Arrival<'_>, buffer: &Buffer, why: &mut impl Explain) -> Admission {
        why.note(|e| e.threshold = Some(self.threshold(arrival.queue.index, buffer)));
        let threshold = self.set[arrival.queue.index] * real(buffer.remaining());
        Admission::within(threshold, buffer.remaining(), &buffer.queues[arrival.queue.index], arrival.charge)
    }

    fn threshold_of(&self, queue: QueueId, buffer: &Buffer) -> Option<Threshold> {
        Some(self.threshold(queue.index, buffer))
    }

    #[inline(always)]
    fn dequeued(&mut self, queue: QueueId, _: u64, _: u64, sent: u32) {
        self.congestion.sent(queue.index, sent);
    }

    fn interval(&self) -> Option<Duration> {
        Some(self.congestion.interval())
    }

    fn update(&mut self, buffer: &Buffer) -> bool {
        let (set, remaining) = (&self.set, real(buffer.remaining()));
        let changed = self.congestion.update(buffer, |_, queue| set[queue] * remaining);
        self.apply();
        changed
    }

    fn inherit(&mut self, earlier: &dyn Any, _: Instant) {
        if let Some(earlier) = earlier.downcast_ref::<Self>() {
            self.congestion.inherit(&earlier.congestion);
            self.apply();
        }
    }
}
