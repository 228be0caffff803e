//! Enhanced dynamic thresholds (EDT; Shan, Jiang and Ren, INFOCOM 2015): DT that lets a burst through for a bounded
//! time.
//!
//! A queue is *controlled*, and its threshold is DT's, `alpha*(B-Q)`, or *uncontrolled*. It becomes uncontrolled when a
//! packet finds it empty. While it is, its threshold is an equal part of the buffer, `B/n` with `n` uncontrolled
//! queues, if that is more. It becomes controlled again when `burst_time` is over, or when the buffer has no room for
//! one of its packets.
//!
//! The paper's switch tells the end of a burst by timers and counters, too, whose values it leaves open: here it is the
//! time alone, which an arrival looks at. A queue that empties counts no more.

use super::{ActivePolicy, Admission, Arrival, BufferPolicy, PolicySettings, QueueId, real};
use crate::buffer::Buffer;
use crate::config::{ConfigError, PerQueue, TmConfig, ValidConfig, check_alphas, check_span};
use crate::described::settings;
use crate::units::{Duration, Instant};
use crate::verdict::{Explain, Reason, Threshold};
use alloc::vec;
use alloc::vec::Vec;
use core::any::Any;

settings! {
    /// Settings of EDT.
    #[derive(Clone, Debug, PartialEq)]
    pub struct EnhancedThresholdsConfig {
        /// DT's alpha, per queue number.
        pub alpha: PerQueue<f64> = PerQueue::All(1.0) => needed,
        /// How long a burst may exceed DT's threshold.
        pub burst_time: Duration = Duration::from_us(1_000),
    }
}

impl PolicySettings for EnhancedThresholdsConfig {
    fn validate(&self, switch: &TmConfig) -> Result<(), ConfigError> {
        check_alphas(&self.alpha, switch.queues)?;
        check_span("policy.burst_time", self.burst_time)
    }

    fn alpha(&self, number: usize) -> f64 {
        self.alpha.at(number)
    }

    fn start(&self, switch: &ValidConfig) -> ActivePolicy {
        let until = vec![None; switch.total_queues()];
        EnhancedThresholds { burst_time: self.burst_time, until, uncontrolled: 0 }.into()
    }
}

#[derive(Clone, Debug)]
pub(crate) struct EnhancedThresholds {
    burst_time: Duration,
    /// Per queue index: when its burst is over, while it is uncontrolled.
    until: Vec<Option<Instant>>,
    /// `n`: how many are.
    uncontrolled: u64,
}

impl EnhancedThresholds {
    fn threshold(&self, queue: usize, buffer: &Buffer) -> Threshold {
        let controlled = super::dynamic_thresholds::threshold(queue, buffer);
        let part = real(buffer.capacity()) / real(self.uncontrolled.max(1));
        if self.until[queue].is_some() && part > controlled.value {
            return Threshold { value: part, n: Some(real(self.uncontrolled)), ..Threshold::default() };
        }
        controlled
    }

    fn control(&mut self, queue: usize) {
        if self.until[queue].take().is_some() {
            self.uncontrolled -= 1;
        }
    }
}

impl BufferPolicy for EnhancedThresholds {
    const OBSERVES: bool = true;
    const COUNTS_ARRIVALS: bool = true;

    fn admit(&mut self, arrival: Arrival<'_>, buffer: &Buffer, why: &mut impl Explain) -> Admission {
        let Arrival { now, queue: QueueId { index: queue, .. }, .. } = arrival;
        if buffer.length(queue) == 0 {
            self.uncontrolled += u64::from(self.until[queue].is_none());
            self.until[queue] = Some(now + self.burst_time);
        } else if self.until[queue].is_some_and(|until| now >= until) {
            self.control(queue);
        }
        let threshold = self.threshold(queue, buffer);
        why.note(|e| e.threshold = Some(threshold));
        let admission = Admission::below(threshold.value, &arrival, buffer);
        if admission == Admission::Reject(Reason::Full) {
            self.control(queue);
        }
        admission
    }

    fn dequeued(&mut self, queue: QueueId, _: u64, after: u64, _: u32) {
        if after == 0 {
            self.control(queue.index);
        }
    }

    fn passed(&mut self, queue: QueueId, _: u32) {
        self.control(queue.index);
    }

    fn threshold_of(&self, queue: QueueId, buffer: &Buffer) -> Option<Threshold> {
        Some(self.threshold(queue.index, buffer))
    }

    fn inherit(&mut self, earlier: &dyn Any, _: Instant) {
        if let Some(earlier) = earlier.downcast_ref::<Self>() {
            self.until.clone_from(&earlier.until);
            self.uncontrolled = earlier.uncontrolled;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admit::PolicyConfig;
    use crate::{Bytes, Outcome, Packet, Tm, Verdict, Wire};

    const QUEUED: Outcome = Outcome::Verdict(Verdict::Queued { marked: false });
    const ABOVE: Outcome = Outcome::Verdict(Verdict::Dropped { reason: Reason::Threshold });

    fn switch() -> Tm {
        let mut config = TmConfig::new(vec!["10Gbps".parse().unwrap(); 2], Bytes::new(12_000));
        let alpha = PerQueue::All(0.5);
        let edt = EnhancedThresholdsConfig { alpha, burst_time: Duration::from_us(10) };
        config.policy = PolicyConfig::EnhancedThresholds(edt);
        Tm::new(config.validate().unwrap())
    }

    fn fill(tm: &mut Tm, at_us: u64, port: u32) -> usize {
        let packet = Packet { bytes: 1_000, port, ..Packet::default() };
        (0..100)
            .take_while(|_| tm.offer(Instant::ZERO + Duration::from_us(at_us), &packet, Wire::Busy) == QUEUED)
            .count()
    }

    /// `B` = 12,000. DT with alpha 0.5 stops at 4,000 = 0.5*(12,000-4,000). A burst has all of the buffer; two at once
    /// have half of it each.
    #[test]
    fn a_burst_exceeds_the_threshold_for_a_bounded_time() {
        let mut tm = switch();
        assert_eq!(fill(&mut tm, 0, 0), 12);
        let mut tm = switch();
        assert_eq!(tm.offer(Instant::ZERO, &Packet { bytes: 1_000, ..Packet::default() }, Wire::Busy), QUEUED);
        // The time is over: three more, to DT's 4,000.
        assert_eq!(fill(&mut tm, 10, 0), 3);
        assert_eq!(
            tm.offer(Instant::ZERO + Duration::from_us(20), &Packet { bytes: 1_000, ..Packet::default() }, Wire::Busy),
            ABOVE
        );
        // Another queue bursts meanwhile, alone: the rest is its.
        assert_eq!(fill(&mut tm, 20, 1), 8);
    }

    #[test]
    fn bursts_at_once_share_the_buffer_equally() {
        let mut tm = switch();
        for port in 0..2 {
            assert_eq!(
                tm.offer(Instant::ZERO, &Packet { bytes: 1_000, port, ..Packet::default() }, Wire::Busy),
                QUEUED
            );
        }
        assert_eq!((fill(&mut tm, 1, 0), fill(&mut tm, 1, 1)), (5, 5));
    }

    /// A queue that has emptied may burst again.
    #[test]
    fn an_empty_queue_is_ready_for_the_next_burst() {
        let mut tm = switch();
        assert_eq!(fill(&mut tm, 0, 0), 12);
        let later = Instant::ZERO + Duration::from_us(100);
        while tm.dequeue(later, 0).is_some() {}
        assert_eq!(fill(&mut tm, 100, 0), 12);
        assert!(tm.is_consistent());
    }
}
