//! What a sender sends: the handshake, new data, retransmissions and probes.

use super::state::{Purpose, special};
use super::{LinuxSender, Segment};
use crate::packet::{Kind, Packet, flag};
use forebay_tm::Instant;

impl LinuxSender {
    /// The next packet to send now, if there is one.
    #[inline(always)]
    pub fn poll(&mut self, now: Instant) -> Option<Segment> {
        if (self.special != 0) | (self.board.lost > self.board.again) {
            return self.poll_special(now);
        }
        self.poll_new(now)
    }

    #[inline(always)]
    pub(super) fn poll_new(&mut self, now: Instant) -> Option<Segment> {
        let flight = self.in_flight();
        self.held_by_pace = false;
        if (flight >= self.window.size) | (self.next >= self.limit) {
            if self.burst | (self.next < self.limit) {
                self.end_burst(now);
            }
            return None;
        }
        if self.paced && !self.may_pace(now) {
            return None;
        }
        if self.offload != 0 && self.should_wait(now, flight) {
            self.is_limited = true;
            return None;
        }
        Some(self.send_new(now))
    }

    #[inline(always)]
    pub(super) fn send_new(&mut self, now: Instant) -> Segment {
        let seq = self.next;
        self.times.push(self.una, seq, now);
        self.next = seq + 1;
        self.burst = true;
        self.last_sent = now;
        if self.in_reduction() {
            self.reduction.sent += 1;
        }
        self.arm_for_new(now);
        let mut segment = self.segment(seq, self.flags);
        if self.cwr {
            self.cwr = false;
            if self.flags & flag::ECT != 0 {
                segment.flags |= flag::CWR;
            }
        }
        segment
    }

    #[inline(always)]
    pub(super) fn segment(&self, seq: u32, mut flags: u16) -> Segment {
        if seq < self.unscheduled {
            flags |= flag::UNSCHEDULED;
        }
        let left = self.bytes - u64::from(seq) * u64::from(self.mss);
        let mut payload = self.mss;
        if seq + 1 == self.packets {
            flags |= flag::LAST | flag::PUSH;
            payload = left as u32;
        } else if seq + 1 == self.written {
            flags |= flag::PUSH;
        }
        Segment { kind: Kind::Data, seq, payload, rank: self.ranks.of(left), flags }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn poll_special(&mut self, now: Instant) -> Option<Segment> {
        if self.special & special::OPENING != 0 {
            return self.knock(now);
        }
        if self.special & special::PERSIST != 0 {
            self.special &= !special::PERSIST;
            return Some(Segment { kind: Kind::Probe, seq: self.una, payload: 0, rank: 0, flags: flag::UNSCHEDULED });
        }
        if self.special & special::PROBE != 0 {
            self.special &= !special::PROBE;
            if let Some(probe) = self.send_probe(now) {
                return Some(probe);
            }
        }
        if self.special & special::NEW_FIRST != 0 {
            if let Some(segment) = self.poll_new(now) {
                return Some(segment);
            }
            self.special &= !special::NEW_FIRST;
            if self.next > self.high {
                self.special |= special::NO_REPAIR;
                return None;
            }
            self.frto = false;
        }
        if self.special & special::NO_REPAIR == 0 && self.board.lost > self.board.again {
            let forced = self.special & special::FORCED != 0;
            self.special &= !special::FORCED;
            self.held_by_pace = false;
            if !forced && self.in_flight() >= self.window.size {
                self.end_burst(now);
                return None;
            }
            if self.paced && !self.may_pace(now) {
                return None;
            }
            if let Some(seq) = self.board.next_lost(self.una, self.next) {
                return Some(self.send_again(now, seq));
            }
        }
        self.poll_new(now)
    }

    pub(in crate::transport::linux) fn send_again(&mut self, now: Instant, seq: u32) -> Segment {
        self.board.sent_again(self.una, seq, now, false);
        self.undo.retransmissions = Some(self.undo.retransmissions.unwrap_or(0) + 1);
        self.undo.first.get_or_insert(now);
        if self.in_reduction() {
            self.reduction.sent += 1;
        }
        if seq == self.una && self.timer.purpose != Purpose::Reordering {
            self.timer.set(Purpose::Timeout, now, self.trip.timeout());
        }
        self.repeat(now, seq)
    }

    pub(super) fn repeat(&mut self, now: Instant, seq: u32) -> Segment {
        self.times.set(seq, now);
        self.stats.retransmissions += 1;
        self.last_sent = now;
        let ecn = if self.parts.counts_marks { self.flags } else { self.flags & !flag::ECT };
        self.segment(seq, ecn | flag::RETRANSMISSION)
    }

    /// The tail loss probe (RFC 8985, section 7.3): new data if there is any, whatever the window, else the last packet
    /// again, unless it has not left its host yet.
    pub(super) fn send_probe(&mut self, now: Instant) -> Option<Segment> {
        let mut probe = None;
        if self.probe_end == 0 {
            self.probe_repeats = false;
            if self.has_new() {
                probe = Some(self.send_new(now));
            } else if self.next > self.una && !self.in_host {
                self.probe_repeats = true;
                self.board.sent_again(self.una, self.next - 1, now, true);
                probe = Some(self.repeat(now, self.next - 1));
            }
        }
        if probe.is_some() {
            self.probes_sent += 1;
            self.probe_end = self.next;
            self.timer.purpose = Purpose::Nothing;
        }
        self.arm_timeout(now);
        probe
    }

    pub(super) fn knock(&mut self, now: Instant) -> Option<Segment> {
        if self.special & special::KNOCK == 0 {
            return None;
        }
        self.special &= !special::KNOCK;
        self.knocks += 1;
        self.timer.set(Purpose::Timeout, now, self.trip.timeout());
        let rank = self.ranks.of(self.bytes);
        Some(Segment { kind: Kind::Probe, seq: 0, payload: 0, rank, flags: flag::UNSCHEDULED })
    }

    /// The reply to the header of the handshake.
    pub(in crate::transport::linux) fn open(&mut self, now: Instant, packet: &Packet) {
        self.special &= !(special::OPENING | special::KNOCK);
        self.timer.stop();
        let rtt = now.since(packet.sent_at);
        self.trip.observe_least(rtt);
        self.trip.sample(rtt, 0, 0);
        if self.knocks > 2 {
            self.window.size = 1;
        }
        self.take_room(packet);
        self.used_at = now;
        self.last_sent = now;
        if let Some(writing) = &mut self.writing {
            writing.since = now;
            self.take_writes(now);
        }
        self.set_pace();
    }
}
