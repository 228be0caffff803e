//! Buffer policies of other crates, called through a pointer.

use super::{Admission, Arrival, BufferPolicy, Candidate, QueueId};
use crate::buffer::Buffer;
use crate::custom::{boxed, methods};
use crate::packet::Packet;
use crate::units::{Duration, Instant};
use crate::verdict::{Explain, Explanation, Threshold};
use alloc::boxed::Box;
use core::any::Any;
use core::fmt::Debug;

macro_rules! policy_methods {
    ($way:ident) => {
        methods! {
            $way BufferPolicy
            looks {
                fn interval() -> Option<Duration>;
                fn threshold_of(queue: QueueId, buffer: &Buffer) -> Option<Threshold>;
                fn not_before(now: Instant, buffer: &Buffer, likely: bool) -> Instant;
            }
            changes {
                fn select_queue(now: Instant, packet: &Packet) -> usize;
                fn enqueued(queue: QueueId, before: u64, after: u64);
                fn dequeued(queue: QueueId, before: u64, after: u64, sent: u32);
                fn passed(queue: QueueId, bytes: u32);
                fn update(buffer: &Buffer) -> bool;
                fn repeat(buffer: &Buffer, times: u64) -> bool;
                fn inherit(earlier: &dyn Any, now: Instant);
                fn sent(now: Instant, bytes: u32);
                fn candidate(buffer: &Buffer) -> Option<Candidate>;
                fn ready(from: Instant, bytes: u32) -> Instant;
                fn expelled(now: Instant, queue: usize, bytes: u32);
            }
        }
    };
}

trait Erased: Debug + Send + Sync {
    fn copy(&self) -> Box<dyn Erased>;
    fn any(&self) -> &dyn Any;
    fn admit(&mut self, arrival: Arrival<'_>, buffer: &Buffer, why: Option<&mut Explanation>) -> Admission;
    policy_methods!(declare);
}

impl<P: BufferPolicy> Erased for P {
    fn copy(&self) -> Box<dyn Erased> {
        Box::new(self.clone())
    }

    fn any(&self) -> &dyn Any {
        self
    }

    fn admit(&mut self, arrival: Arrival<'_>, buffer: &Buffer, mut why: Option<&mut Explanation>) -> Admission {
        BufferPolicy::admit(self, arrival, buffer, &mut why)
    }

    policy_methods!(scheme);
}

boxed! {
    /// A policy of another crate at work.
    AnyPolicy(Erased) of BufferPolicy
}

impl AnyPolicy {
    /// The policy itself.
    pub(super) fn any(&self) -> &dyn Any {
        self.0.any()
    }
}

/// Whatever a policy can do, this one might.
impl BufferPolicy for AnyPolicy {
    const OBSERVES: bool = true;
    const UPDATES: bool = true;
    const EXPELS: bool = true;
    const TAKES_BACK: bool = true;
    const COUNTS_ARRIVALS: bool = true;

    fn admit(&mut self, arrival: Arrival<'_>, buffer: &Buffer, why: &mut impl Explain) -> Admission {
        self.0.admit(arrival, buffer, why.explanation())
    }

    policy_methods!(boxed);
}

#[cfg(test)]
mod tests {
    use crate::admit::{BufferPolicy, PolicyConfig};
    use crate::described::Choice;
    use crate::random::Random;
    use crate::units::{Bytes, Duration, Instant};
    use crate::{Eviction, Outcome, Packet, PacketId, Tm, TmConfig, Wire};
    use alloc::vec;
    use alloc::vec::Vec;

    /// What a switch says of random traffic.
    fn outcomes(mut tm: Tm) -> (Vec<Outcome>, Vec<Option<PacketId>>, Vec<Eviction>, Vec<Instant>) {
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
                all.1.push(tm.dequeue(now, port as usize).map(|departure| departure.id));
            }
            all.2.extend(tm.drain_evictions());
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
        const { assert!(super::AnyPolicy::EXPELS && super::AnyPolicy::OBSERVES && super::AnyPolicy::TAKES_BACK) };
    }
}
