//! The receiving end of TCP, its relatives and pFabric.

use super::bit_ring::BitRing;
use super::config::{HandshakeAck, TransportConfig};
use super::rto::Rto;
use super::stream::CONFIRMS;
use super::{FlowInfo, Reply};
use crate::packet::{Block, Kind, Packet, flag};
use forebay_tm::{Duration, Instant};

/// The `echo` of a reply to a probe.
const NO_ECHO: u32 = u32::MAX;

/// The receiving end: cumulative and selective acknowledgement. ACKs may be held back for several packets; then an echo
/// of congestion experienced follows DCTCP's two states (RFC 8257, section 3.2): when marking starts or ends, what was
/// held back is acknowledged first, so that one ACK never stands for marked and unmarked packets.
#[derive(Clone, Debug)]
pub struct StreamReceiver {
    /// The first packet that is missing.
    expected: u32,
    /// Packets that have come in beyond it; one while the connection opens, so that no packet is in order.
    beyond: u32,
    /// The SYN-ACK is not acknowledged yet: data is discarded.
    opening: bool,
    /// A packet of its own acknowledges the SYN-ACK, which is sent again until that is there.
    syn_ack: Option<Box<Rto>>,
    packets: u32,
    ack_every: u32,
    /// Packets that wait for an ACK.
    held: u32,
    /// Whether those were marked.
    held_marked: bool,
    /// When the last of those was sent.
    held_sent_at: Instant,
    /// When they are acknowledged at the latest.
    ack_at: Instant,
    ack_delay: Duration,
    ring: BitRing,
}

impl StreamReceiver {
    /// The receiver of a flow.
    pub fn new(config: &TransportConfig, flow: FlowInfo) -> Self {
        let common = &config.common;
        let opening = common.handshake && common.handshake_ack == HandshakeAck::Alone;
        let syn_ack = opening.then(|| Box::new(Rto::new(common)));
        Self {
            expected: 0,
            beyond: u32::from(opening),
            opening,
            syn_ack,
            packets: flow.packets,
            ack_every: common.ack_every.max(1),
            held: 0,
            held_marked: false,
            held_sent_at: Instant::ZERO,
            ack_at: Instant::NEVER,
            ack_delay: common.ack_delay,
            ring: BitRing::default(),
        }
    }

    /// A packet has come in; it is made into the ACK if there is to be one now.
    #[inline]
    pub fn on_packet(&mut self, now: Instant, packet: &mut Packet) -> Reply {
        let seq = packet.seq;
        let in_order = (seq == self.expected) & (self.beyond == 0);
        if !in_order | (packet.kind != Kind::Data) | packet.has(flag::TRIMMED) {
            return self.on_unusual(now, packet);
        }
        self.expected = seq + 1;
        if self.ack_every > 1 {
            return self.hold(now, packet);
        }
        self.fill(packet, seq, (0, 0))
    }

    /// Makes a packet into the ACK of packet `echo`; all that was held back is acknowledged by it.
    fn reply(&mut self, packet: &mut Packet, echo: u32, block: Block) -> Reply {
        self.held = 0;
        self.ack_at = Instant::NEVER;
        self.fill(packet, echo, block)
    }

    #[inline]
    fn fill(&self, packet: &mut Packet, echo: u32, block: Block) -> Reply {
        packet.kind = Kind::Ack;
        packet.seq = self.expected;
        packet.echo = echo;
        packet.block = block;
        packet.flags &= flag::CE;
        Reply::Packet
    }

    /// A packet in order whose ACK may wait.
    #[inline(never)]
    fn hold(&mut self, now: Instant, packet: &mut Packet) -> Reply {
        let (seq, sent_at, marked) = (packet.seq, packet.sent_at, packet.has(flag::CE));
        let last = packet.has(flag::LAST);
        if self.held > 0 && marked != self.held_marked {
            // The state changes: the packets before this one are acknowledged with their state, this one waits; the
            // last one only for a packet to reply with.
            packet.sent_at = self.held_sent_at;
            packet.flags = if self.held_marked { flag::CE } else { 0 };
            self.reply(packet, seq - 1, (0, 0));
            packet.seq = seq;
            self.start_holding(now, sent_at, marked);
            if last {
                self.ack_at = now;
            }
            return Reply::Packet;
        }
        if last || self.held + 1 >= self.ack_every {
            return self.reply(packet, seq, (0, 0));
        }
        if self.held == 0 {
            self.start_holding(now, sent_at, marked);
        } else {
            self.held += 1;
            self.held_sent_at = sent_at;
        }
        Reply::Nothing
    }

    fn start_holding(&mut self, now: Instant, sent_at: Instant, marked: bool) {
        self.held = 1;
        self.held_marked = marked;
        self.held_sent_at = sent_at;
        self.ack_at = now + self.ack_delay;
    }

    /// Probes, packets out of order, packets that fill a gap, duplicates: all get a reply at once. A packet that was
    /// cut to its header has not come in.
    #[cold]
    #[inline(never)]
    fn on_unusual(&mut self, now: Instant, packet: &mut Packet) -> Reply {
        let seq = packet.seq;
        if let Some(reply) = self.shake_hands(now, packet) {
            return reply;
        }
        match packet.kind {
            Kind::Probe => return self.reply(packet, NO_ECHO, (0, 0)),
            Kind::Data if !packet.has(flag::TRIMMED) => {}
            _ => return Reply::Nothing,
        }
        if seq < self.expected {
            return self.reply(packet, seq, (0, 0));
        }
        if seq == self.expected {
            self.expected = seq + 1;
            if self.ring.contains(self.expected) {
                let (from, to) = self.ring.block_around(self.expected);
                self.ring.remove_range(from, to);
                self.beyond -= to - from;
                self.expected = to;
            }
            return self.reply(packet, seq, (0, 0));
        }
        // One more than the span, so that the missing packet at its start ends every block around the ring.
        self.ring.reserve(self.expected, seq - self.expected + 1);
        if !self.ring.contains(seq) {
            self.ring.insert(seq);
            self.beyond += 1;
        }
        let block = self.ring.block_around(seq);
        self.reply(packet, seq, block)
    }

    /// What a packet is to a handshake that a packet of its own ends; `None` if it is nothing to it.
    fn shake_hands(&mut self, now: Instant, packet: &mut Packet) -> Option<Reply> {
        let syn_ack = self.syn_ack.as_ref()?;
        match (packet.kind, packet.seq) {
            (Kind::Probe, CONFIRMS) => {
                if self.opening {
                    self.opening = false;
                    self.beyond = 0;
                    self.ack_at = Instant::NEVER;
                }
                Some(Reply::Nothing)
            }
            (Kind::Probe, _) if self.opening => {
                self.ack_at = now + syn_ack.timeout();
                Some(self.fill(packet, NO_ECHO, (0, 0)))
            }
            _ => self.opening.then_some(Reply::Nothing),
        }
    }

    /// Whether every packet has come in.
    #[inline]
    pub fn is_complete(&self) -> bool {
        self.expected >= self.packets
    }

    /// Different packets that have come in.
    pub fn received(&self) -> u32 {
        self.expected + self.beyond - u32::from(self.opening)
    }

    /// Whether the flow's last packet, which may be shorter than the others, has come in.
    pub fn has_last(&self) -> bool {
        let last = self.packets - 1;
        last < self.expected || (self.beyond > 0 && self.ring.reaches(self.expected, last) && self.ring.contains(last))
    }

    /// When the ACK that is held back must go.
    #[inline]
    pub fn deadline(&self) -> Instant {
        self.ack_at
    }

    /// The ACK that was held back, or the SYN-ACK again, in a new packet.
    pub fn on_deadline(&mut self, now: Instant, packet: &mut Packet) -> Reply {
        if let Some(syn_ack) = self.syn_ack.as_mut().filter(|_| self.opening && now >= self.ack_at) {
            syn_ack.back_off();
            self.ack_at = now + syn_ack.timeout();
            return self.fill(packet, NO_ECHO, (0, 0));
        }
        if self.held == 0 || now < self.ack_at {
            return Reply::Nothing;
        }
        packet.sent_at = self.held_sent_at;
        packet.flags = if self.held_marked { flag::CE } else { 0 };
        self.reply(packet, self.expected - 1, (0, 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn receiver(packets: u32, ack_every: u32) -> StreamReceiver {
        let mut config = super::super::pipe::rfc("dctcp");
        config.common.ack_every = ack_every;
        StreamReceiver::new(&config, super::super::pipe::flow(&config, packets))
    }

    fn data(seq: u32, flags: u16) -> Packet {
        let sent_at = Instant::from_ps(1_000 + u64::from(seq));
        Packet { seq, flags: flags | flag::ECT | flag::UNSCHEDULED, sent_at, ..Packet::default() }
    }

    /// The cumulative ACK, the echo, the echo of marking, if there was a reply.
    fn give(receiver: &mut StreamReceiver, seq: u32, flags: u16) -> Option<(u32, u32, bool)> {
        let mut packet = data(seq, flags);
        match receiver.on_packet(Instant::ZERO, &mut packet) {
            Reply::Packet => {
                assert_eq!(packet.kind, Kind::Ack);
                assert_eq!(packet.flags & !flag::CE, 0);
                assert_eq!(packet.sent_at.ps(), 1_000 + u64::from(packet.echo));
                Some((packet.seq, packet.echo, packet.has(flag::CE)))
            }
            Reply::Nothing => None,
            Reply::PacketAndPull => panic!("TCP does not pull"),
        }
    }

    proptest! {
        #[test]
        fn it_acknowledges_what_has_come_in(seqs in prop::collection::vec(0u32..400, 1..600), far in any::<bool>()) {
            let mut receiver = receiver(399 * 11 + 1, 1);
            let mut arrived = BTreeSet::new();
            for seq in seqs {
                let seq = if far { seq * 11 } else { seq };
                arrived.insert(seq);
                let mut packet = data(seq, 0);
                prop_assert_eq!(receiver.on_packet(Instant::ZERO, &mut packet), Reply::Packet);
                let missing = (0..).find(|seq| !arrived.contains(seq)).unwrap();
                prop_assert_eq!(packet.seq, missing);
                prop_assert_eq!(packet.echo, seq);
                if seq < missing {
                    prop_assert_eq!(packet.block, (0, 0));
                } else {
                    let from = (0..seq).rev().find(|seq| !arrived.contains(seq)).unwrap() + 1;
                    let to = (seq..).find(|seq| !arrived.contains(seq)).unwrap();
                    prop_assert_eq!(packet.block, (from, to));
                }
                prop_assert_eq!(receiver.received() as usize, arrived.len());
                prop_assert_eq!(receiver.has_last(), arrived.contains(&(399 * 11)));
            }
        }
    }

    #[test]
    fn it_is_complete_when_all_has_come_in() {
        let mut receiver = receiver(3, 1);
        for (seq, complete) in [(2, false), (0, false), (0, false), (1, true)] {
            give(&mut receiver, seq, 0);
            assert_eq!(receiver.is_complete(), complete, "{seq}");
            assert!(receiver.has_last(), "it came first");
        }
        assert_eq!(receiver.received(), 3);
    }

    #[test]
    fn probes_get_a_reply_and_headers_have_not_come_in() {
        let mut receiver = receiver(10, 4);
        assert_eq!(give(&mut receiver, 0, 0), None);
        let mut probe = Packet { kind: Kind::Probe, seq: 1, ..Packet::default() };
        assert_eq!(receiver.on_packet(Instant::ZERO, &mut probe), Reply::Packet);
        assert_eq!((probe.kind, probe.seq, probe.echo), (Kind::Ack, 1, u32::MAX));
        assert_eq!(give(&mut receiver, 1, flag::TRIMMED), None);
        assert_eq!(receiver.received(), 1);
    }

    #[test]
    fn every_second_packet_is_acknowledged_or_the_delay_is_over() {
        let mut receiver = receiver(6, 2);
        assert_eq!(give(&mut receiver, 0, 0), None);
        assert_eq!(receiver.deadline(), Instant::ZERO + Duration::from_us(500));
        assert_eq!(give(&mut receiver, 1, 0), Some((2, 1, false)));
        assert_eq!(receiver.deadline(), Instant::NEVER);
        assert_eq!(give(&mut receiver, 2, flag::CE), None);
        let mut packet = Packet::default();
        let at = receiver.deadline();
        assert_eq!(receiver.on_deadline(Instant::ZERO, &mut packet), Reply::Nothing);
        assert_eq!(receiver.on_deadline(at, &mut packet), Reply::Packet);
        assert_eq!((packet.seq, packet.echo, packet.flags), (3, 2, flag::CE));
        assert_eq!(packet.sent_at.ps(), 1_002);
        assert_eq!(receiver.on_deadline(at, &mut packet), Reply::Nothing);
        // Out of order, in the gap, last: at once.
        assert_eq!(give(&mut receiver, 4, 0), Some((3, 4, false)));
        assert_eq!(give(&mut receiver, 3, 0), Some((5, 3, false)));
        assert_eq!(give(&mut receiver, 5, flag::LAST), Some((6, 5, false)));
    }

    #[test]
    fn a_change_of_marking_is_told_at_once() {
        let mut receiver = receiver(20, 4);
        assert_eq!(give(&mut receiver, 0, 0), None);
        assert_eq!(give(&mut receiver, 1, 0), None);
        // Marking starts: 0 and 1 were not marked.
        assert_eq!(give(&mut receiver, 2, flag::CE), Some((2, 1, false)));
        assert_eq!(give(&mut receiver, 3, flag::CE), None);
        assert_eq!(give(&mut receiver, 4, flag::CE), None);
        // The fourth marked one.
        assert_eq!(give(&mut receiver, 5, flag::CE), Some((6, 5, true)));
        assert_eq!(give(&mut receiver, 6, flag::CE), None);
        // Marking ends.
        assert_eq!(give(&mut receiver, 7, 0), Some((7, 6, true)));
        assert_eq!(receiver.received(), 8);
    }

    #[test]
    fn a_last_packet_of_another_state_needs_two_acks() {
        let mut receiver = receiver(2, 4);
        assert_eq!(give(&mut receiver, 0, 0), None);
        assert_eq!(give(&mut receiver, 1, flag::CE | flag::LAST), Some((1, 0, false)));
        assert!(receiver.is_complete());
        assert_eq!(receiver.deadline(), Instant::ZERO);
        let mut packet = Packet::default();
        assert_eq!(receiver.on_deadline(Instant::ZERO, &mut packet), Reply::Packet);
        assert_eq!((packet.seq, packet.echo, packet.flags), (2, 1, flag::CE));
    }
}
