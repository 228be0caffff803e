//! Packets that arrive, on the fast paths and on the full one. An arrival has six steps:
//!
//! 1. A packet that is larger than the whole buffer is dropped.
//! 2. Its queue may be full in packets or above a watermark, or the scheduler may refuse its rank (AIFO, RIFO).
//! 3. The buffer policy admits it, rejects it, or has others pushed out for it.
//! 4. What steps 2 and 3 reject is trimmed, returned to the sender or dropped.
//! 5. The marking rule marks it, or drops it instead.
//! 6. It joins its queue, unless a scheduler with an order of its own has no place for it.

use super::{Checks, Dropped, Full, Path};
use crate::admit::{Admission, Arrival, BufferPolicy, QueueId};
use crate::buffer::{Descriptor, Taken};
use crate::mark::Mark;
use crate::packet::{Packet, PacketId};
use crate::schedule::Join;
use crate::trim::{Header, TrimConfig};
use crate::units::{Bytes, Instant};
use crate::verdict::{Explain, Lost, Outcome, Reason, Verdict, Wire};

impl Path {
    /// The place of a packet in queue `number` of its port.
    #[inline(always)]
    fn place_of(&self, packet: &Packet, number: usize) -> QueueId {
        // One test for a length of 1 to `MAX_PACKET_BYTES`.
        let has_length = packet.bytes as i32 > 0;
        assert!(
            number < self.queues && has_length,
            "the packet names a queue of its port and is not empty nor too long"
        );
        QueueId { port: packet.port as usize, queue: packet.port as usize * self.queues + number }
    }

    /// Steps 1 to 6 of an arrival on the fast path. At an idle wire a packet that meets no other leaves at once.
    #[inline(always)]
    pub(crate) fn offer_fast<P: BufferPolicy, C: Checks>(
        &mut self,
        policy: &mut P,
        now: Instant,
        packet: &Packet,
        wire: Wire,
        why: &mut impl Explain,
    ) -> Outcome {
        let number = policy.classify(now, packet);
        let place = self.place_of(packet, number);
        let charge = u64::from(packet.bytes);
        why.note(|e| self.describe(e, now, place.queue, charge));
        // Step 1. Where it makes no difference to the policy, it waits until the packet is found not to fit.
        if P::COUNTS_ARRIVALS && charge > self.buffer.capacity() {
            return self.oversize(packet.id, packet.bytes, place).into();
        }
        // Step 2.
        if C::AIFO && charge <= self.buffer.capacity() {
            let waiting = self.buffer.queues[place.queue].packets();
            if !self.scheduler.aifo_admits(place.port, packet.rank, waiting, why) {
                return self.reject(policy, packet, charge, place, Reason::Rank, why).into();
            }
        }
        if C::LIMITS {
            if let Some(reason) = self.check_limits(place) {
                return self.reject(policy, packet, charge, place, reason, why).into();
            }
        }
        // Step 3.
        loop {
            match policy.admit(Arrival { now, packet, queue: place.queue, number, charge }, &self.buffer, why) {
                Admission::Admit => break,
                Admission::Reject(reason) => {
                    return self.reject(policy, packet, charge, place, reason, why).into();
                }
                Admission::PushOut(victim) => self.push_out(policy, now, victim),
            }
        }
        // Steps 5 and 6.
        let Self { ports, buffer, .. } = self;
        let port = &mut ports[place.port];
        // A packet that the policy has moved to another queue waits there until the caller asks for it and is told the
        // queue; and so does one that others had to give way to.
        let alone = wire == Wire::Idle
            && number == packet.queue as usize
            && port.is_empty()
            && (!P::TAKES_BACK || self.untold.is_empty());
        if alone && self.sends_at_once {
            port.passed(number, packet.bytes, buffer.passed(place.queue, charge));
            policy.passed(place, packet.bytes);
            policy.sent(now, packet.bytes);
            self.see_to_expulsions(policy, now, false);
            return Outcome::Sent;
        }
        let descriptor = Descriptor::new(packet.id, packet.bytes, packet.bytes, packet.rank);
        let before = buffer.append::<true>(place.queue, descriptor);
        port.grew(number, charge, before);
        self.joined(policy, now, place, charge, before);
        let marked = C::LIMITS && before >= self.step && packet.ect;
        if marked {
            self.losses[place.queue].marked.add(packet.bytes);
        }
        if alone { self.send_alone(policy, now, place.port) } else { Verdict::Queued { marked }.into() }
    }

    /// An arrival at a switch that is not on the fast path. It takes the packet by value, so that on the fast path a
    /// caller can keep the packet in registers.
    #[inline(never)]
    pub(crate) fn offer_full<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        now: Instant,
        packet: Packet,
        wire: Wire,
        why: &mut impl Explain,
    ) -> Outcome {
        let was_empty = self.ports[packet.port as usize].is_empty();
        let (number, verdict) = self.arrive(policy, now, &packet, why);
        let is_first = wire == Wire::Idle && was_empty && number == packet.queue as usize && self.untold.is_empty();
        if is_first && verdict == (Verdict::Queued { marked: false }) {
            return self.send_alone(policy, now, packet.port as usize);
        }
        verdict.into()
    }

    /// Steps 1 to 6 of an arrival. Returns the number of the packet's queue, and what it got.
    #[inline]
    fn arrive<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        now: Instant,
        packet: &Packet,
        why: &mut impl Explain,
    ) -> (usize, Verdict) {
        let number = policy.classify(now, packet);
        let place = self.place_of(packet, number);
        let charge = self.buffer.charge(packet.bytes);
        why.note(|e| self.describe(e, now, place.queue, charge));
        // Step 1.
        if charge > self.buffer.capacity() {
            return (number, self.oversize(packet.id, packet.bytes, place));
        }
        // Step 2.
        let rank = if self.ranked { self.ranker.rank(now, packet) } else { packet.rank };
        let waiting = self.buffer.queues[place.queue].packets();
        let refused = match self.ranked && !self.sorted && !self.scheduler.admits(place.port, rank, waiting, why) {
            true => Some(Reason::Rank),
            false => self.check_limits(place),
        };
        if let Some(reason) = refused {
            return (number, self.reject(policy, packet, charge, place, reason, why));
        }
        // Step 3.
        loop {
            match policy.admit(Arrival { now, packet, queue: place.queue, number, charge }, &self.buffer, why) {
                Admission::Admit => break,
                Admission::Reject(reason) => {
                    return (number, self.reject(policy, packet, charge, place, reason, why));
                }
                Admission::PushOut(victim) => self.push_out(policy, now, victim),
            }
        }
        // Step 5.
        let mark = self.marker.judge(now, place.queue, packet, &self.buffer);
        if mark == Mark::Drop {
            return (number, self.drop(packet.id, packet.bytes, place, Reason::Marking, why));
        }
        // Step 6.
        let descriptor = Descriptor::new(packet.id, packet.bytes, charge as u32, rank);
        let before = if self.sorted {
            let lane = match self.scheduler.join(packet, rank) {
                Join::Yes(lane) => lane,
                Join::Displace => {
                    self.push_out(policy, now, place.queue);
                    0
                }
                Join::No => return (number, self.drop(packet.id, packet.bytes, place, Reason::Rank, why)),
            };
            let (slot, before) = self.buffer.adopt(place.queue, descriptor);
            self.scheduler.insert(packet, slot, lane, &mut self.buffer.slots);
            before
        } else {
            self.buffer.append::<false>(place.queue, descriptor)
        };
        let marked = mark == Mark::Yes;
        if marked {
            self.losses[place.queue].marked.add(packet.bytes);
        }
        self.ports[place.port].grew(number, charge, before);
        self.joined(policy, now, place, charge, before);
        if self.ranked {
            self.ranker.joined(packet, rank);
        }
        (number, Verdict::Queued { marked })
    }

    /// The only packet of an idle port, which was queued unmarked, leaves at once, unless it is not eligible yet
    /// (PIEO).
    #[inline(never)]
    fn send_alone<P: BufferPolicy>(&mut self, policy: &mut P, now: Instant, port: usize) -> Outcome {
        if self.transmit::<_, Full>(policy, now, port).is_some() {
            return Outcome::Sent;
        }
        Outcome::Verdict(Verdict::Queued { marked: false })
    }

    #[cold]
    fn oversize(&mut self, id: PacketId, bytes: u32, place: QueueId) -> Verdict {
        self.lose(id, bytes, place, Reason::Oversize)
    }

    /// Step 2: `queue_capacity` and the watermark. A packet that step 1 would drop goes on to the policy, which rejects
    /// it.
    #[inline(always)]
    fn check_limits(&self, place: QueueId) -> Option<Reason> {
        let queue = &self.buffer.queues[place.queue];
        if queue.packets() >= self.queue_capacity {
            Some(Reason::QueueFull)
        } else if queue.bytes > self.watermark {
            Some(Reason::Watermark)
        } else {
            None
        }
    }

    /// What follows when a packet has joined its queue, which held `before` bytes, and its port.
    #[inline(always)]
    fn joined<P: BufferPolicy>(&mut self, policy: &mut P, now: Instant, place: QueueId, charge: u64, before: u64) {
        policy.enqueued(place, before, before + charge);
        self.see_to_expulsions(policy, now, true);
    }

    /// Step 4 where nothing is trimmed.
    #[inline(always)]
    fn drop(&mut self, id: PacketId, bytes: u32, place: QueueId, reason: Reason, why: &mut impl Explain) -> Verdict {
        why.note(|e| e.holders = self.holders());
        self.lose(id, bytes, place, reason)
    }

    /// A packet is gone; the caller may still keep its header.
    #[inline(always)]
    fn lose(&mut self, id: PacketId, bytes: u32, place: QueueId, reason: Reason) -> Verdict {
        self.losses[place.queue].drop(reason, bytes);
        self.last_drop = Some(Dropped { id, queue: place.queue as u32, bytes, reason });
        Verdict::Dropped { reason }
    }

    /// Step 4: a packet that was rejected.
    #[inline(always)]
    fn reject<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        packet: &Packet,
        charge: u64,
        place: QueueId,
        reason: Reason,
        why: &mut impl Explain,
    ) -> Verdict {
        if charge > self.buffer.capacity() {
            self.oversize(packet.id, packet.bytes, place)
        } else if self.config.trim.is_some() {
            self.trim(policy, *packet, place, reason, why)
        } else {
            self.drop(packet.id, packet.bytes, place, reason, why)
        }
    }

    /// Step 4 where rejected packets are trimmed or returned. It takes the packet by value, as [`Path::offer_full`] does.
    #[inline(never)]
    fn trim<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        packet: Packet,
        place: QueueId,
        reason: Reason,
        why: &mut impl Explain,
    ) -> Verdict {
        let Packet { id, bytes, .. } = packet;
        let Some(trim) = &self.config.trim else { return self.drop(id, bytes, place, reason, why) };
        why.note(|e| e.holders = self.holders());
        let number = self.number(place);
        let losses = &mut self.losses[place.queue];
        match trim {
            TrimConfig::SourceFlowControl(_) => {
                losses.returned.add(bytes);
                Verdict::Returned { reason }
            }
            TrimConfig::Ndp(config) => {
                let headers = &mut self.header_queues[place.port];
                if headers.len() < config.header_capacity {
                    losses.trimmed.add(bytes);
                    let bytes = bytes.min(config.size.get() as u32);
                    headers.push_back(Header { id, bytes, number: number as u32 });
                    self.ports[place.port].headers += 1;
                    Verdict::Trimmed { reason }
                } else if config.return_to_sender {
                    losses.returned.add(bytes);
                    Verdict::Returned { reason }
                } else {
                    self.lose(id, bytes, place, Reason::HeaderFull)
                }
            }
            TrimConfig::CutPayload(config) => {
                let size = bytes.min(config.size.get() as u32);
                let charge = self.buffer.charge(size);
                if charge > self.buffer.remaining() {
                    return self.lose(id, bytes, place, Reason::HeaderFull);
                }
                losses.trimmed.add(bytes);
                let header = Descriptor::new(id, size, charge as u32, 0).cut();
                let before = self.buffer.append::<false>(place.queue, header);
                self.ports[place.port].grew(number, charge, before);
                self.joined(policy, self.clock, place, charge, before);
                Verdict::Trimmed { reason }
            }
            TrimConfig::ToQueue(config) if config.from.at(number) => {
                let left = Packet { bytes: bytes.min(config.size.get() as u32), queue: config.queue as u32, ..packet };
                if self.try_trim_queue(policy, &left) {
                    self.losses[place.queue].trimmed.add(bytes);
                    Verdict::Trimmed { reason }
                } else {
                    self.lose(id, bytes, place, Reason::HeaderFull)
                }
            }
            TrimConfig::ToQueue(_) => self.lose(id, bytes, place, reason),
        }
    }

    /// Steps 2, 3 and 6 for what is left of a packet, on the trim queue. Whether it waits there.
    #[cold]
    #[inline(never)]
    fn try_trim_queue<P: BufferPolicy>(&mut self, policy: &mut P, left: &Packet) -> bool {
        let (now, number) = (self.clock, left.queue as usize);
        let place = self.place_of(left, number);
        let charge = self.buffer.charge(left.bytes);
        if self.check_limits(place).is_some() || charge > self.buffer.capacity() {
            return false;
        }
        loop {
            let arrival = Arrival { now, packet: left, queue: place.queue, number, charge };
            match policy.admit(arrival, &self.buffer, &mut ()) {
                Admission::Admit => break,
                Admission::Reject(_) => return false,
                Admission::PushOut(victim) => self.push_out(policy, now, victim),
            }
        }
        let header = Descriptor::new(left.id, left.bytes, charge as u32, left.rank).cut();
        let before = self.buffer.append::<false>(place.queue, header);
        self.ports[place.port].grew(number, charge, before);
        self.joined(policy, now, place, charge, before);
        true
    }

    /// Takes the tail of a queue away for another packet.
    fn push_out<P: BufferPolicy>(&mut self, policy: &mut P, now: Instant, queue: usize) {
        let place = self.place(queue);
        let taken = self.scheduler.take_tail(place, self.sorted, &mut self.buffer);
        self.evicted(policy, now, place, taken, Reason::PushedOut, None);
    }

    pub(super) fn evicted<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        now: Instant,
        place: QueueId,
        taken: Taken,
        reason: Reason,
        threshold: Option<f64>,
    ) {
        let Taken { id, bytes, charge, after, header, .. } = taken;
        let number = self.number(place);
        self.ports[place.port].shrank(number, charge, after);
        self.buffer.read_for_expulsion += charge;
        policy.dequeued(place, after + charge, after, 0);
        self.losses[place.queue].drop(reason, bytes);
        if header {
            self.losses[place.queue].headers_lost.add(bytes);
        }
        if after == 0 {
            self.marker.emptied(now, place.queue);
            self.ports[place.port].cursor.emptied(number);
            self.scheduler.emptied(place.port, number);
        }
        let length = Bytes::new(after + charge);
        self.untold.push(Lost { id, at: now, queue: place.queue, bytes, reason, length, threshold });
    }
}
