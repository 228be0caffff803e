//! Buffer policies of other crates, called through a pointer.

use super::{Admission, Arrival, BufferPolicy, Candidate, PolicySettings, QueueId};
use crate::buffer::Buffer;
use crate::described::Described;
use crate::packet::Packet;
use crate::units::{Duration, Instant};
use crate::verdict::{Explain, Explanation, Threshold};
use alloc::boxed::Box;
use core::any::Any;
use core::fmt::Debug;

/// Settings of a policy of another crate, whatever their type.
pub(super) trait CustomSettings: Debug + Send + Sync {
    fn settings(&self) -> &dyn PolicySettings;
    fn described(&mut self) -> &mut dyn Described;
    fn copy(&self) -> Box<dyn CustomSettings>;
}

impl<S: PolicySettings + Clone + Debug + Send + Sync + 'static> CustomSettings for S {
    fn settings(&self) -> &dyn PolicySettings {
        self
    }

    fn described(&mut self) -> &mut dyn Described {
        self
    }

    fn copy(&self) -> Box<dyn CustomSettings> {
        Box::new(self.clone())
    }
}

/// The methods of [`BufferPolicy`] that can be called through a pointer.
trait Erased: Debug + Send + Sync {
    fn copy(&self) -> Box<dyn Erased>;
    fn any(&self) -> &dyn Any;
    fn classify(&mut self, now: Instant, packet: &Packet) -> usize;
    fn admit(&mut self, arrival: Arrival<'_>, buffer: &Buffer, why: Option<&mut Explanation>) -> Admission;
    fn enqueued(&mut self, queue: QueueId, before: u64, after: u64);
    fn dequeued(&mut self, queue: QueueId, before: u64, after: u64, sent: u32);
    fn passed(&mut self, queue: QueueId, bytes: u32);
    fn interval(&self) -> Option<Duration>;
    fn update(&mut self, buffer: &Buffer) -> bool;
    fn repeat(&mut self, buffer: &Buffer, times: u64) -> bool;
    fn threshold_of(&self, queue: QueueId, buffer: &Buffer) -> Option<Threshold>;
    fn inherit(&mut self, earlier: &dyn Any, now: Instant);
    fn sent(&mut self, now: Instant, bytes: u32);
    fn not_before(&self, now: Instant, buffer: &Buffer, likely: bool) -> Instant;
    fn candidate(&mut self, buffer: &Buffer) -> Option<Candidate>;
    fn ready(&mut self, from: Instant, bytes: u32) -> Instant;
    fn expelled(&mut self, now: Instant, queue: usize, bytes: u32);
}

impl<P: BufferPolicy> Erased for P {
    fn copy(&self) -> Box<dyn Erased> {
        Box::new(self.clone())
    }

    fn any(&self) -> &dyn Any {
        self
    }

    fn classify(&mut self, now: Instant, packet: &Packet) -> usize {
        BufferPolicy::classify(self, now, packet)
    }

    fn admit(&mut self, arrival: Arrival<'_>, buffer: &Buffer, mut why: Option<&mut Explanation>) -> Admission {
        BufferPolicy::admit(self, arrival, buffer, &mut why)
    }

    fn enqueued(&mut self, queue: QueueId, before: u64, after: u64) {
        BufferPolicy::enqueued(self, queue, before, after);
    }

    fn dequeued(&mut self, queue: QueueId, before: u64, after: u64, sent: u32) {
        BufferPolicy::dequeued(self, queue, before, after, sent);
    }

    fn passed(&mut self, queue: QueueId, bytes: u32) {
        BufferPolicy::passed(self, queue, bytes);
    }

    fn interval(&self) -> Option<Duration> {
        BufferPolicy::interval(self)
    }

    fn update(&mut self, buffer: &Buffer) -> bool {
        BufferPolicy::update(self, buffer)
    }

    fn repeat(&mut self, buffer: &Buffer, times: u64) -> bool {
        BufferPolicy::repeat(self, buffer, times)
    }

    fn threshold_of(&self, queue: QueueId, buffer: &Buffer) -> Option<Threshold> {
        BufferPolicy::threshold_of(self, queue, buffer)
    }

    fn inherit(&mut self, earlier: &dyn Any, now: Instant) {
        BufferPolicy::inherit(self, earlier, now);
    }

    fn sent(&mut self, now: Instant, bytes: u32) {
        BufferPolicy::sent(self, now, bytes);
    }

    fn not_before(&self, now: Instant, buffer: &Buffer, likely: bool) -> Instant {
        BufferPolicy::not_before(self, now, buffer, likely)
    }

    fn candidate(&mut self, buffer: &Buffer) -> Option<Candidate> {
        BufferPolicy::candidate(self, buffer)
    }

    fn ready(&mut self, from: Instant, bytes: u32) -> Instant {
        BufferPolicy::ready(self, from, bytes)
    }

    fn expelled(&mut self, now: Instant, queue: usize, bytes: u32) {
        BufferPolicy::expelled(self, now, queue, bytes);
    }
}

/// A policy of another crate at work.
#[derive(Debug)]
pub(crate) struct Custom(Box<dyn Erased>);

impl Custom {
    pub(super) fn new(policy: impl BufferPolicy) -> Self {
        Self(Box::new(policy))
    }

    /// The policy itself.
    pub(super) fn any(&self) -> &dyn Any {
        self.0.any()
    }
}

impl Clone for Custom {
    fn clone(&self) -> Self {
        Self(self.0.copy())
    }
}

/// Whatever a policy can do, this one might.
impl BufferPolicy for Custom {
    const OBSERVES: bool = true;
    const EXPELS: bool = true;
    const EXPELS_AND_UPDATES: bool = true;
    const TAKES_BACK: bool = true;
    const COUNTS_ARRIVALS: bool = true;

    fn classify(&mut self, now: Instant, packet: &Packet) -> usize {
        self.0.classify(now, packet)
    }

    fn admit(&mut self, arrival: Arrival<'_>, buffer: &Buffer, why: &mut impl Explain) -> Admission {
        self.0.admit(arrival, buffer, why.explanation())
    }

    fn enqueued(&mut self, queue: QueueId, before: u64, after: u64) {
        self.0.enqueued(queue, before, after);
    }

    fn dequeued(&mut self, queue: QueueId, before: u64, after: u64, sent: u32) {
        self.0.dequeued(queue, before, after, sent);
    }

    fn passed(&mut self, queue: QueueId, bytes: u32) {
        self.0.passed(queue, bytes);
    }

    fn interval(&self) -> Option<Duration> {
        self.0.interval()
    }

    fn update(&mut self, buffer: &Buffer) -> bool {
        self.0.update(buffer)
    }

    fn repeat(&mut self, buffer: &Buffer, times: u64) -> bool {
        self.0.repeat(buffer, times)
    }

    fn threshold_of(&self, queue: QueueId, buffer: &Buffer) -> Option<Threshold> {
        self.0.threshold_of(queue, buffer)
    }

    fn inherit(&mut self, earlier: &dyn Any, now: Instant) {
        self.0.inherit(earlier, now);
    }

    fn sent(&mut self, now: Instant, bytes: u32) {
        self.0.sent(now, bytes);
    }

    fn not_before(&self, now: Instant, buffer: &Buffer, likely: bool) -> Instant {
        self.0.not_before(now, buffer, likely)
    }

    fn candidate(&mut self, buffer: &Buffer) -> Option<Candidate> {
        self.0.candidate(buffer)
    }

    fn ready(&mut self, from: Instant, bytes: u32) -> Instant {
        self.0.ready(from, bytes)
    }

    fn expelled(&mut self, now: Instant, queue: usize, bytes: u32) {
        self.0.expelled(now, queue, bytes);
    }
}

#[cfg(test)]
mod tests {
    use crate::admit::{BufferPolicy, PolicyConfig};
    use crate::described::Choice;
    use crate::random::Random;
    use crate::units::{Bytes, Duration, Instant};
    use crate::{Lost, Outcome, Packet, PacketId, Tm, TmConfig, Wire};
    use alloc::vec;
    use alloc::vec::Vec;

    /// What a switch says of random traffic.
    fn outcomes(mut tm: Tm) -> (Vec<Outcome>, Vec<Option<PacketId>>, Vec<Lost>, Vec<Instant>) {
        let mut random = Random::stream(7, "traffic", 0);
        let (mut now, mut all) = (Instant::ZERO, (Vec::new(), Vec::new(), Vec::new(), Vec::new()));
        for id in 0..20_000 {
            now = now + Duration::from_ps(random.below(400_000));
            let port = random.below(3) as u32;
            if random.below(2) == 0 {
                let packet = Packet {
                    id: PacketId(id),
                    bytes: 64 + random.below(1_400) as u32,
                    port,
                    queue: random.below(2) as u32,
                    flow: random.below(9),
                    unscheduled: random.below(8) == 0,
                    ..Packet::default()
                };
                all.0.push(tm.offer(now, &packet, Wire::Busy));
            } else {
                all.1.push(tm.next(now, port as usize).map(|departure| departure.id));
            }
            all.2.extend(tm.losses());
            all.3.push(tm.due());
        }
        assert!(tm.is_consistent());
        all
    }

    /// Called through a pointer a policy decides as it does otherwise, expulsions and updates included.
    #[test]
    fn a_pointer_changes_nothing() {
        for name in PolicyConfig::NAMES {
            let mut config = TmConfig::new(vec!["10Gbps".parse().unwrap(); 3], Bytes::new(20_000));
            config.queues = 2;
            config.scheduler = crate::schedule::SchedulerConfig::RoundRobin;
            config.policy = PolicyConfig::by_name(name).unwrap();
            if let PolicyConfig::Occamy(occamy) = &mut config.policy {
                occamy.alpha = crate::PerQueue::All(0.5);
            }
            let tm = Tm::new(config.validate().unwrap());
            let plain = outcomes(tm.clone());
            assert!(*name != "occamy" || !plain.2.is_empty(), "something is expelled");
            assert_eq!(plain, outcomes(tm.with_erased_policy()), "{name}");
        }
    }

    /// Only built-in policies are known not to expel.
    #[test]
    fn anything_is_expected_of_a_policy_of_another_crate() {
        const { assert!(super::Custom::EXPELS && super::Custom::OBSERVES && super::Custom::TAKES_BACK) };
    }
}
