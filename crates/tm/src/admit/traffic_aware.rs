//! Traffic-aware dynamic thresholds (TDT; Huang, Wang and Cui, INFOCOM 2021): DT whose alpha follows what a queue is
//! going through.
//!
//! `T_i = a*(B-Q)`, where `a` depends on the state of the queue:
//!
//! * *normal*: `alpha`, DT's own;
//! * *absorb*: `alpha_absorb`, more, for a queue that takes in a burst;
//! * *evacuate*: `alpha_evacuate`, less, for a queue that has been congested for so long that it holds up others.
//!
//! The paper detects bursts and long congestion with counters at the enqueue and dequeue of a port. Here an arrival
//! looks, before it is judged, at the queue that it finds: an empty one becomes normal. One that has not been empty for
//! `evacuate_after` evacuates, until it is. One that has grown by `burst` or more within `window` absorbs; one that has
//! not grown from one window to the next is normal again.

use super::{ActivePolicy, Admission, Arrival, BufferPolicy, PolicySettings, QueueId, real};
use crate::buffer::Buffer;
use crate::config::{ConfigError, PerQueue, TmConfig, ValidConfig, check_alpha, check_alphas, check_span};
use crate::described::settings;
use crate::units::{Bytes, Duration, Instant};
use crate::verdict::{Explain, Threshold};
use alloc::vec;
use alloc::vec::Vec;
use core::any::Any;

settings! {
    /// Settings of TDT.
    #[derive(Clone, Debug, PartialEq)]
    pub struct TrafficAwareConfig {
        /// In the normal state, per queue number.
        pub alpha: PerQueue<f64> = PerQueue::All(1.0) => needed,
        /// In the absorb state.
        pub alpha_absorb: f64 = 8.0,
        /// In the evacuate state.
        pub alpha_evacuate: f64 = 0.25,
        /// A queue that grows by this much within `window` is in the absorb state.
        pub burst: Bytes = Bytes::new(15_000),
        /// The time over which growth is measured.
        pub window: Duration = Duration::from_us(50),
        /// A queue that has not been empty for this long is in the evacuate state.
        pub evacuate_after: Duration = Duration::from_us(5_000),
    }
}

impl PolicySettings for TrafficAwareConfig {
    fn validate(&self, switch: &TmConfig) -> Result<(), ConfigError> {
        check_alphas(&self.alpha, switch.queues)?;
        check_alpha("policy.alpha_absorb", self.alpha_absorb)?;
        check_alpha("policy.alpha_evacuate", self.alpha_evacuate)?;
        if self.burst == Bytes::ZERO {
            return Err(ConfigError::new("policy.burst", self.burst, "every packet would be a burst")
                .remedy("give a size such as \"15KB\""));
        }
        check_span("policy.window", self.window)?;
        check_span("policy.evacuate_after", self.evacuate_after)
    }

    fn alpha(&self, number: usize) -> f64 {
        self.alpha.at(number)
    }

    fn start(&self, switch: &ValidConfig) -> ActivePolicy {
        TrafficAware { config: self.clone(), queues: vec![Traffic::default(); switch.total_queues()] }.into()
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Normal,
    Absorb,
    Evacuate,
}

/// What a queue is going through.
#[derive(Clone, Copy, Debug, Default)]
struct Traffic {
    state: State,
    /// Since when it is not empty.
    busy_since: Instant,
    /// When the window began, and the length of the queue then.
    window_start: Instant,
    window_length: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct TrafficAware {
    config: TrafficAwareConfig,
    queues: Vec<Traffic>,
}

impl TrafficAware {
    /// An arrival finds a queue of `length` bytes, and would add `charge`.
    fn observe(&mut self, now: Instant, queue: usize, length: u64, charge: u64) {
        let TrafficAwareConfig { burst, window, evacuate_after, .. } = self.config;
        let traffic = &mut self.queues[queue];
        if length == 0 {
            *traffic = Traffic { state: State::Normal, busy_since: now, window_start: now, window_length: 0 };
        }
        if now.since(traffic.busy_since) >= evacuate_after {
            traffic.state = State::Evacuate;
            return;
        }
        if now.since(traffic.window_start) > window {
            if length <= traffic.window_length {
                traffic.state = State::Normal;
            }
            (traffic.window_start, traffic.window_length) = (now, length);
        }
        if (length + charge).saturating_sub(traffic.window_length) >= burst.get() {
            traffic.state = State::Absorb;
        }
    }

    fn threshold(&self, queue: usize, buffer: &Buffer) -> Threshold {
        let alpha = match self.queues[queue].state {
            State::Normal => buffer.alpha(queue),
            State::Absorb => self.config.alpha_absorb,
            State::Evacuate => self.config.alpha_evacuate,
        };
        let remaining = buffer.remaining();
        Threshold {
            value: alpha * real(remaining),
            alpha: Some(alpha),
            remaining: Some(Bytes::new(remaining)),
            ..Threshold::default()
        }
    }
}

impl BufferPolicy for TrafficAware {
    const COUNTS_ARRIVALS: bool = true;

    fn admit(&mut self, arrival: Arrival<'_>, buffer: &Buffer, why: &mut impl Explain) -> Admission {
        self.observe(arrival.now, arrival.queue.index, buffer.length(arrival.queue.index), arrival.charge);
        let threshold = self.threshold(arrival.queue.index, buffer);
        why.note(|e| e.threshold = Some(threshold));
        Admission::below(threshold.value, &arrival, buffer)
    }

    fn threshold_of(&self, queue: QueueId, buffer: &Buffer) -> Option<Threshold> {
        Some(self.threshold(queue.index, buffer))
    }

    fn inherit(&mut self, earlier: &dyn Any, _: Instant) {
        if let Some(earlier) = earlier.downcast_ref::<Self>() {
            self.queues.clone_from(&earlier.queues);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admit::PolicyConfig;
    use crate::{Outcome, Packet, Tm, Verdict, Wire};

    fn switch() -> Tm {
        let mut config = TmConfig::new(vec!["10Gbps".parse().unwrap(); 2], Bytes::new(12_000));
        config.policy = PolicyConfig::TrafficAware(TrafficAwareConfig {
            alpha: PerQueue::All(0.5),
            alpha_absorb: 2.0,
            alpha_evacuate: 0.2,
            burst: Bytes::new(3_000),
            window: Duration::from_us(10),
            evacuate_after: Duration::from_us(100),
        });
        Tm::new(config.validate().unwrap())
    }

    fn arrives(tm: &mut Tm, at_us: u64) -> bool {
        let packet = Packet { bytes: 1_000, ..Packet::default() };
        let outcome = tm.offer(Instant::ZERO + Duration::from_us(at_us), &packet, Wire::Busy);
        matches!(outcome, Outcome::Verdict(Verdict::Queued { .. }))
    }

    /// `B` = 12,000. Normal: 0.5*(12,000-4,000) = 4,000. Absorb: 2*(12,000-8,000) = 8,000. Evacuate: 0.2*(12,000-2,000)
    /// = 2,000.
    #[test]
    fn a_slow_queue_is_normal() {
        let mut tm = switch();
        // One packet every 9 us: at most two in a window.
        assert_eq!((0..11).filter(|n| arrives(&mut tm, 9 * n)).count(), 4);
    }

    #[test]
    fn a_burst_is_absorbed() {
        let mut tm = switch();
        assert_eq!((0..20).filter(|_| arrives(&mut tm, 0)).count(), 8);
        // It has not grown for a window: normal again, and above its threshold.
        assert!(!arrives(&mut tm, 11));
        for _ in 0..5 {
            tm.dequeue(Instant::ZERO + Duration::from_us(12), 0);
        }
        assert!(arrives(&mut tm, 12));
        assert!(!arrives(&mut tm, 23));
    }

    #[test]
    fn a_queue_that_stays_congested_is_evacuated_until_it_is_empty() {
        let mut tm = switch();
        assert_eq!((0..4).filter(|n| arrives(&mut tm, 9 * n)).count(), 4);
        let evacuating = Instant::ZERO + Duration::from_us(100);
        tm.dequeue(evacuating, 0);
        tm.dequeue(evacuating, 0);
        // 2,000 wait, which is all that an evacuated queue may have.
        assert!(!arrives(&mut tm, 100));
        tm.dequeue(evacuating, 0);
        tm.dequeue(evacuating, 0);
        assert_eq!((0..20).filter(|_| arrives(&mut tm, 100)).count(), 8);
    }
}
