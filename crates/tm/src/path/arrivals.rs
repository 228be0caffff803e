//! Packets that arrive, on the fast paths and on the full one. The policy selects the queue: the one that the packet
//! names, for all policies but one (IB). Then an arrival has six steps:
//!
//! 1. A packet that is larger than the whole buffer is dropped.
//! 2. The scheduler may reject its rank (AIFO, RIFO); then its queue may be full in packets, or above a watermark.
//! 3. The buffer policy admits it, rejects it, or has another packet pushed out and is asked again.
//! 4. What steps 2 and 3 reject is trimmed, returned to the sender or dropped.
//! 5. The marking rule marks it, or drops it instead.
//! 6. It joins its queue, unless a scheduler with an order of its own (PIFO, SP-PIFO, AFQ) has no room for it: then it
//!    is dropped. What steps 1, 5 and 6 drop is never trimmed.

use super::{Aifo, ArrivalPath, Checked, Checks, Dropped, Full, Path, Plain};
use crate::admit::{Admission, Arrival, BufferPolicy, Placement, QueueId};
use crate::buffer::{Descriptor, Taken};
use crate::mark::Mark;
use crate::packet::{Packet, PacketId, Summary};
use crate::schedule::Join;
use crate::trim::{Header, TrimConfig};
use crate::units::{Bytes, Instant};
use crate::verdict::{Eviction, Explain, Outcome, Reason, Verdict, Wire};

/// A copy of a packet that is really made, here: else the compiler would pass on the address of the original, which
/// would then have to be in memory on the fast path, too.
#[inline(always)]
fn copied(packet: &Packet) -> Packet {
    core::hint::black_box(*packet)
}

impl Path {
    /// A packet arrives: [`Tm::offer`](crate::Tm::offer). What is called from here is marked as cold, so that a
    /// caller that does not call it keeps its registers.
    #[inline(always)]
    pub(crate) fn offer<P: BufferPolicy + Placement>(
        &mut self,
        policy: &mut P,
        now: Instant,
        packet: &Packet,
        place: usize,
        wire: Wire,
        why: &mut impl Explain,
    ) -> Outcome {
        if P::CALLED {
            return self.call_offer(policy, now, copied(packet), place, wire, why);
        }
        self.offer_here(policy, now, packet, place, wire, why)
    }

    #[cold]
    #[inline(never)]
    fn call_offer<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        now: Instant,
        packet: Packet,
        place: usize,
        wire: Wire,
        why: &mut impl Explain,
    ) -> Outcome {
        self.offer_here(policy, now, &packet, place, wire, why)
    }

    #[inline(always)]
    pub(crate) fn offer_here<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        now: Instant,
        packet: &Packet,
        place: usize,
        wire: Wire,
        why: &mut impl Explain,
    ) -> Outcome {
        match self.arrival_path {
            ArrivalPath::Plain => self.offer_fast::<_, Plain>(policy, now, packet, place, wire, why),
            ArrivalPath::Checked => self.offer_fast::<_, Checked>(policy, now, packet, place, wire, why),
            ArrivalPath::Aifo => self.offer_fast::<_, Aifo>(policy, now, packet, place, wire, why),
            ArrivalPath::Full => self.offer_full(policy, now, copied(packet), wire, why),
        }
    }

    /// Queue `number` of the packet's port.
    #[inline(always)]
    fn queue_of(&self, packet: &Packet, number: usize) -> QueueId {
        // One test for a length of 1 to `MAX_PACKET_BYTES`.
        let has_length = packet.bytes as i32 > 0;
        assert!(
            number < self.queues && has_length,
            "the packet names a queue of its port and is not empty nor too long"
        );
        QueueId { port: packet.port as usize, index: packet.port as usize * self.queues + number }
    }

    /// Steps 1 to 6 of an arrival on the fast path. At an idle wire a packet that meets no other leaves at once.
    #[inline(always)]
    pub(crate) fn offer_fast<P: BufferPolicy, C: Checks>(
        &mut self,
        policy: &mut P,
        now: Instant,
        packet: &Packet,
        place: usize,
        wire: Wire,
        why: &mut impl Explain,
    ) -> Outcome {
        let number = policy.select_queue(now, packet);
        let queue = self.queue_of(packet, number);
        let charge = u64::from(packet.bytes);
        why.note(|e| self.describe(e, now, queue.index, charge));
        // Step 1. Where it makes no difference to the policy, it waits until the packet is found not to fit.
        if P::COUNTS_ARRIVALS && charge > self.buffer.capacity() {
            return self.drop_oversize(packet.id, packet.bytes, queue).into();
        }
        // Step 2.
        if C::AIFO && charge <= self.buffer.capacity() {
            let waiting = self.buffer.queues[queue.index].packets();
            if !self.scheduler.aifo_admits(queue.port, packet.rank, waiting, why) {
                return self.reject(policy, packet, charge, queue, Reason::Rank, why).into();
            }
        }
        if C::LIMITS {
            if let Some(reason) = self.check_limits(queue) {
                return self.reject(policy, packet, charge, queue, reason, why).into();
            }
        }
        // Step 3.
        loop {
            match policy.admit(Arrival { now, packet, queue, number, charge }, &self.buffer, why) {
                Admission::Admit => break,
                Admission::Reject(reason) => {
                    return self.reject(policy, packet, charge, queue, reason, why).into();
                }
                Admission::PushOut(victim) => self.push_out(policy, now, victim),
            }
        }
        // Steps 5 and 6.
        let Self { ports, buffer, .. } = self;
        let port = &mut ports[queue.port];
        // A packet that the policy has moved to another queue waits there until the caller asks for it and is told the
        // queue; and so does one that others had to give way to.
        let alone = wire == Wire::Idle
            && number == packet.queue as usize
            && port.is_empty()
            && (!P::TAKES_BACK || self.evictions.is_empty());
        if alone && self.sends_at_once {
            port.passed(number, packet.bytes, buffer.passed(queue.index, charge));
            policy.passed(queue, packet.bytes);
            policy.sent(now, packet.bytes);
            self.schedule_expulsion(policy, now, false);
            return Outcome::Sent;
        }
        let descriptor = Descriptor::new(packet.id, Summary::new(packet.bytes, place), packet.rank);
        let before = buffer.append::<true>(queue.index, descriptor, charge);
        port.grew(number, charge, before);
        self.joined(policy, now, queue, charge, before);
        let marked = C::LIMITS && before >= self.step && packet.ect;
        if marked {
            self.stats[queue.index].marked.add(packet.bytes);
        }
        if alone { self.send_alone(policy, now, queue.port) } else { Verdict::Queued { marked }.into() }
    }

    /// An arrival at a switch that is not on the fast path.
    #[cold]
    #[inline(never)]
    fn offer_full<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        now: Instant,
        packet: Packet,
        wire: Wire,
        why: &mut impl Explain,
    ) -> Outcome {
        let was_empty = self.ports[packet.port as usize].is_empty();
        let (number, verdict) = self.arrive(policy, now, &packet, why);
        let is_first = wire == Wire::Idle && was_empty && number == packet.queue as usize && self.evictions.is_empty();
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
        let number = policy.select_queue(now, packet);
        let queue = self.queue_of(packet, number);
        let charge = self.buffer.charge(packet.bytes);
        why.note(|e| self.describe(e, now, queue.index, charge));
        // Step 1.
        if charge > self.buffer.capacity() {
            return (number, self.drop_oversize(packet.id, packet.bytes, queue));
        }
        // Step 2.
        let rank = if self.ranked { self.ranker.rank(now, packet) } else { packet.rank };
        let waiting = self.buffer.queues[queue.index].packets();
        let refused = match self.ranked && !self.sorted && !self.scheduler.admits(queue.port, rank, waiting, why) {
            true => Some(Reason::Rank),
            false => self.check_limits(queue),
        };
        if let Some(reason) = refused {
            return (number, self.reject(policy, packet, charge, queue, reason, why));
        }
        // Step 3.
        loop {
            match policy.admit(Arrival { now, packet, queue, number, charge }, &self.buffer, why) {
                Admission::Admit => break,
                Admission::Reject(reason) => {
                    return (number, self.reject(policy, packet, charge, queue, reason, why));
                }
                Admission::PushOut(victim) => self.push_out(policy, now, victim),
            }
        }
        // Step 5.
        let mark = self.marker.judge(now, queue.index, packet, &self.buffer);
        if mark == Mark::Drop {
            return (number, self.drop_packet(packet.id, packet.bytes, queue, Reason::Marking, why));
        }
        // Step 6.
        let descriptor = Descriptor::new(packet.id, Summary::of(packet), rank);
        let before = if self.sorted {
            let lane = match self.scheduler.join(packet, rank) {
                Join::Yes(lane) => lane,
                Join::Displace => {
                    self.push_out(policy, now, queue.index);
                    0
                }
                Join::No => return (number, self.drop_packet(packet.id, packet.bytes, queue, Reason::Rank, why)),
            };
            let (slot, before) = self.buffer.adopt(queue.index, descriptor, charge);
            self.scheduler.insert(packet, slot, lane, &mut self.buffer.slots);
            before
        } else {
            self.buffer.append::<false>(queue.index, descriptor, charge)
        };
        let marked = mark == Mark::Yes;
        if marked {
            self.stats[queue.index].marked.add(packet.bytes);
        }
        self.ports[queue.port].grew(number, charge, before);
        self.joined(policy, now, queue, charge, before);
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
    fn drop_oversize(&mut self, id: PacketId, bytes: u32, queue: QueueId) -> Verdict {
        self.count_drop(id, bytes, queue, Reason::Oversize)
    }

    /// Step 2: `queue_capacity` and the watermark. A packet that step 1 would drop goes on to the policy, which rejects
    /// it.
    #[inline(always)]
    fn check_limits(&self, queue: QueueId) -> Option<Reason> {
        let queue = &self.buffer.queues[queue.index];
        if queue.packets() >= self.queue_capacity {
            Some(Reason::QueueFull)
        } else if queue.bytes > self.watermark {
            Some(Reason::Watermark)
        } else {
            None
        }
    }

    /// A packet has joined its queue, which held `before` bytes.
    #[inline(always)]
    fn joined<P: BufferPolicy>(&mut self, policy: &mut P, now: Instant, queue: QueueId, charge: u64, before: u64) {
        policy.enqueued(queue, before, before + charge);
        self.schedule_expulsion(policy, now, true);
    }

    /// A packet is dropped, and an explanation lists who holds the buffer.
    #[inline(always)]
    fn drop_packet(
        &mut self,
        id: PacketId,
        bytes: u32,
        queue: QueueId,
        reason: Reason,
        why: &mut impl Explain,
    ) -> Verdict {
        why.note(|e| e.holders = self.holders());
        self.count_drop(id, bytes, queue, reason)
    }

    /// Counts a packet as dropped. The caller may still keep its header ([`Tm::keep_header`](crate::Tm::keep_header)).
    #[inline(always)]
    fn count_drop(&mut self, id: PacketId, bytes: u32, queue: QueueId, reason: Reason) -> Verdict {
        self.stats[queue.index].drop(reason, bytes);
        self.last_drop = Some(Dropped { id, queue: queue.index as u32, bytes, reason });
        Verdict::Dropped { reason }
    }

    /// Step 4: a packet that was rejected.
    #[inline(always)]
    fn reject<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        packet: &Packet,
        charge: u64,
        queue: QueueId,
        reason: Reason,
        why: &mut impl Explain,
    ) -> Verdict {
        if charge > self.buffer.capacity() {
            self.drop_oversize(packet.id, packet.bytes, queue)
        } else if self.config.trim.is_some() {
            self.trim(policy, copied(packet), queue, reason, why)
        } else {
            self.drop_packet(packet.id, packet.bytes, queue, reason, why)
        }
    }

    /// Step 4 where rejected packets are trimmed or returned.
    #[inline(never)]
    fn trim<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        packet: Packet,
        queue: QueueId,
        reason: Reason,
        why: &mut impl Explain,
    ) -> Verdict {
        let Packet { id, bytes, .. } = packet;
        let Some(trim) = &self.config.trim else { return self.drop_packet(id, bytes, queue, reason, why) };
        why.note(|e| e.holders = self.holders());
        let number = self.number(queue);
        let stats = &mut self.stats[queue.index];
        match trim {
            TrimConfig::SourceFlowControl(_) => {
                stats.returned.add(bytes);
                Verdict::Returned { reason }
            }
            TrimConfig::Ndp(config) => {
                let headers = &mut self.header_queues[queue.port];
                if headers.len() < config.header_capacity {
                    stats.trimmed.add(bytes);
                    let bytes = bytes.min(config.size.get() as u32);
                    let summary = Summary::of(&Packet { bytes, ..packet }).cut();
                    headers.push_back(Header { id, summary, number: number as u32 });
                    self.ports[queue.port].headers += 1;
                    Verdict::Trimmed { reason }
                } else if config.return_to_sender {
                    stats.returned.add(bytes);
                    Verdict::Returned { reason }
                } else {
                    self.count_drop(id, bytes, queue, Reason::HeaderFull)
                }
            }
            TrimConfig::CutPayload(config) => {
                let left = Packet { bytes: bytes.min(config.size.get() as u32), ..packet };
                let charge = self.buffer.charge(left.bytes);
                if charge > self.buffer.remaining() {
                    return self.count_drop(id, bytes, queue, Reason::HeaderFull);
                }
                stats.trimmed.add(bytes);
                let header = Descriptor::new(id, Summary::of(&left).cut(), 0);
                let before = self.buffer.append::<false>(queue.index, header, charge);
                self.ports[queue.port].grew(number, charge, before);
                self.joined(policy, self.clock, queue, charge, before);
                Verdict::Trimmed { reason }
            }
            TrimConfig::ToQueue(config) if config.from.at(number) => {
                let left = Packet { bytes: bytes.min(config.size.get() as u32), queue: config.queue as u32, ..packet };
                if self.try_trim_queue(policy, &left) {
                    self.stats[queue.index].trimmed.add(bytes);
                    Verdict::Trimmed { reason }
                } else {
                    self.count_drop(id, bytes, queue, Reason::HeaderFull)
                }
            }
            TrimConfig::ToQueue(_) => self.count_drop(id, bytes, queue, reason),
        }
    }

    /// Steps 2, 3 and 6 for what is left of a packet, on the trim queue. Whether it waits there.
    #[cold]
    #[inline(never)]
    fn try_trim_queue<P: BufferPolicy>(&mut self, policy: &mut P, left: &Packet) -> bool {
        let (now, number) = (self.clock, left.queue as usize);
        let queue = self.queue_of(left, number);
        let charge = self.buffer.charge(left.bytes);
        if self.check_limits(queue).is_some() || charge > self.buffer.capacity() {
            return false;
        }
        loop {
            let arrival = Arrival { now, packet: left, queue, number, charge };
            match policy.admit(arrival, &self.buffer, &mut ()) {
                Admission::Admit => break,
                Admission::Reject(_) => return false,
                Admission::PushOut(victim) => self.push_out(policy, now, victim),
            }
        }
        let header = Descriptor::new(left.id, Summary::of(left).cut(), left.rank);
        let before = self.buffer.append::<false>(queue.index, header, charge);
        self.ports[queue.port].grew(number, charge, before);
        self.joined(policy, now, queue, charge, before);
        true
    }

    /// Takes the tail of a queue away for another packet.
    fn push_out<P: BufferPolicy>(&mut self, policy: &mut P, now: Instant, queue: usize) {
        let queue = self.queue_id(queue);
        let taken = self.scheduler.take_tail(queue, self.sorted, &mut self.buffer);
        self.evicted(policy, now, queue, taken, Reason::PushedOut, None);
    }

    pub(super) fn evicted<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        now: Instant,
        queue: QueueId,
        taken: Taken,
        reason: Reason,
        threshold: Option<f64>,
    ) {
        let Taken { id, summary, charge, after, .. } = taken;
        let bytes = summary.bytes();
        let number = self.number(queue);
        self.ports[queue.port].shrank(number, charge, after);
        self.buffer.read_for_eviction += charge;
        // Nothing of it is sent.
        policy.dequeued(queue, after + charge, after, 0);
        self.stats[queue.index].drop(reason, bytes);
        if summary.is_header() {
            self.stats[queue.index].headers_lost.add(bytes);
        }
        if after == 0 {
            self.marker.emptied(now, queue.index);
            self.ports[queue.port].cursor.emptied(number);
            self.scheduler.emptied(queue.port, number);
        }
        let length = Bytes::new(after + charge);
        let eviction = Eviction { id, at: now, queue: queue.index, bytes, reason, length, threshold };
        self.evictions.push((eviction, summary.place()));
    }
}
