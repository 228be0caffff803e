//! How a traffic manager reaches its policy: the policy is of one type, which the compiler knows, or one of many.

use super::{ActivePolicy, BufferPolicy, Policy, QueueId, with_policy};
use crate::buffer::Buffer;
use crate::config::ValidConfig;
use crate::packet::Packet;
use crate::path::{DeparturePath, Fast, FastRoundRobin, Path};
use crate::switch::Tm;
use crate::units::{Duration, Instant};
use crate::verdict::{Departure, Explain, Outcome, Threshold, Wire};
use alloc::vec::Vec;
use core::any::Any;

/// What a traffic manager asks of its policy. Every [`BufferPolicy`] has it, and so has [`ActivePolicy`], which may be
/// any of these; nothing else can have it.
pub trait Dispatch: Clone + core::fmt::Debug + Send + Sync + 'static {
    /// Which policy it is, is known at run time alone.
    const IS_ONE_OF_MANY: bool = false;

    /// A packet arrives, whose priority group is at `place` (0 without an ingress side).
    fn offer(
        &mut self,
        path: &mut Path,
        now: Instant,
        packet: &Packet,
        place: usize,
        wire: Wire,
        why: &mut impl Explain,
    ) -> Outcome;

    /// Picks the next packet of an idle port on the fast path, the queues in turn.
    fn transmit_round_robin(&mut self, path: &mut Path, now: Instant, port: usize) -> Option<Departure>;

    /// Picks the next packet of an idle port by its scheduler.
    fn transmit_scheduled(&mut self, path: &mut Path, now: Instant, port: usize) -> Option<Departure>;

    /// Expels what can be expelled up to an instant, and returns when there may be more.
    fn expel(&mut self, path: &mut Path, from: Instant, until: Option<Instant>) -> Instant;

    /// Works out when there may be something to expel.
    fn schedule_expulsion(&self, path: &mut Path);

    /// Whether it observes packets that leave.
    fn observes(&self) -> bool;

    /// Whether it expels packets from their queues.
    fn expels(&self) -> bool;

    /// How often [`Dispatch::make_update`] is due, if ever.
    fn update_interval(&self) -> Option<Duration>;

    /// See [`BufferPolicy::update`].
    fn make_update(&mut self, buffer: &Buffer) -> bool;

    /// See [`BufferPolicy::repeat`].
    fn repeat_update(&mut self, buffer: &Buffer, times: u64) -> bool;

    /// See [`BufferPolicy::threshold_of`].
    fn threshold(&self, queue: QueueId, buffer: &Buffer) -> Option<Threshold>;
}

impl<P: BufferPolicy> Dispatch for P {
    #[inline(always)]
    fn offer(
        &mut self,
        path: &mut Path,
        now: Instant,
        packet: &Packet,
        place: usize,
        wire: Wire,
        why: &mut impl Explain,
    ) -> Outcome {
        path.offer_here(self, now, packet, place, wire, why)
    }

    #[inline(always)]
    fn transmit_round_robin(&mut self, path: &mut Path, now: Instant, port: usize) -> Option<Departure> {
        path.transmit::<_, FastRoundRobin>(self, now, port)
    }

    #[inline(always)]
    fn transmit_scheduled(&mut self, path: &mut Path, now: Instant, port: usize) -> Option<Departure> {
        match path.departure_path {
            DeparturePath::Full => path.transmit_full(self, now, port),
            _ => path.transmit::<_, Fast>(self, now, port),
        }
    }

    fn expel(&mut self, path: &mut Path, from: Instant, until: Option<Instant>) -> Instant {
        path.expel(self, from, until)
    }

    fn schedule_expulsion(&self, path: &mut Path) {
        path.schedule_expulsion(self, path.clock, false);
    }

    fn observes(&self) -> bool {
        P::OBSERVES
    }

    fn expels(&self) -> bool {
        P::EXPELS
    }

    fn update_interval(&self) -> Option<Duration> {
        if P::UPDATES { self.interval() } else { None }
    }

    fn make_update(&mut self, buffer: &Buffer) -> bool {
        self.update(buffer)
    }

    fn repeat_update(&mut self, buffer: &Buffer, times: u64) -> bool {
        self.repeat(buffer, times)
    }

    fn threshold(&self, queue: QueueId, buffer: &Buffer) -> Option<Threshold> {
        self.threshold_of(queue, buffer)
    }
}

impl Dispatch for ActivePolicy {
    const IS_ONE_OF_MANY: bool = true;

    #[inline(always)]
    fn offer(
        &mut self,
        path: &mut Path,
        now: Instant,
        packet: &Packet,
        place: usize,
        wire: Wire,
        why: &mut impl Explain,
    ) -> Outcome {
        with_policy!(&mut self.0, policy => path.offer(policy, now, packet, place, wire, why))
    }

    #[inline(always)]
    fn transmit_round_robin(&mut self, path: &mut Path, now: Instant, port: usize) -> Option<Departure> {
        with_policy!(&mut self.0, policy => policy.transmit_round_robin(path, now, port))
    }

    #[inline(always)]
    fn transmit_scheduled(&mut self, path: &mut Path, now: Instant, port: usize) -> Option<Departure> {
        with_policy!(&mut self.0, policy => policy.transmit_scheduled(path, now, port))
    }

    fn expel(&mut self, path: &mut Path, from: Instant, until: Option<Instant>) -> Instant {
        with_policy!(&mut self.0, policy => policy.expel(path, from, until))
    }

    fn schedule_expulsion(&self, path: &mut Path) {
        with_policy!(&self.0, policy => policy.schedule_expulsion(path));
    }

    fn observes(&self) -> bool {
        with_policy!(&self.0, policy => policy.observes())
    }

    fn expels(&self) -> bool {
        with_policy!(&self.0, policy => policy.expels())
    }

    fn update_interval(&self) -> Option<Duration> {
        with_policy!(&self.0, policy => policy.update_interval())
    }

    fn make_update(&mut self, buffer: &Buffer) -> bool {
        with_policy!(&mut self.0, policy => policy.update(buffer))
    }

    fn repeat_update(&mut self, buffer: &Buffer, times: u64) -> bool {
        with_policy!(&mut self.0, policy => policy.repeat(buffer, times))
    }

    fn threshold(&self, queue: QueueId, buffer: &Buffer) -> Option<Threshold> {
        with_policy!(&self.0, policy => policy.threshold_of(queue, buffer))
    }
}

impl ActivePolicy {
    /// The policy of a switch, at work in an empty one.
    pub(crate) fn of(switch: &ValidConfig) -> Self {
        switch.policy.as_settings().start(switch)
    }

    /// Takes over what an earlier policy had learned, where it is of the same kind, and else starts from the buffer as
    /// it is.
    pub(crate) fn inherit(&mut self, earlier: &Self, now: Instant, buffer: &Buffer, queues: usize) {
        for queue in (0..buffer.queues.len()).filter(|queue| buffer.length(*queue) > 0) {
            let id = QueueId { port: queue / queues, index: queue };
            with_policy!(&mut self.0, policy => policy.enqueued(id, 0, buffer.length(queue)));
        }
        let earlier: &dyn Any = match &earlier.0 {
            Policy::Custom(custom) => custom.any(),
            earlier => with_policy!(earlier, policy => policy),
        };
        with_policy!(&mut self.0, policy => policy.inherit(earlier, now));
    }
}

/// Something that is made of traffic managers whose policies are of one type: [`specialize`](super::specialize).
pub trait ForPolicy {
    /// What is made.
    type Made;

    /// Makes it.
    fn make<P: Dispatch>(self, tms: Vec<Tm<P>>) -> Self::Made;
}
