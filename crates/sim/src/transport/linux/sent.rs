//! What a sender knows of the packets that it has sent and that are not acknowledged yet: when each was last sent, and
//! which have arrived, are lost, or were sent again.

use super::super::bit_ring::BitRing;
use crate::packet::Block;
use forebay_tm::{Duration, Instant};
use std::collections::VecDeque;

/// The smallest ring of times.
const SMALLEST: usize = 16;

/// When the packets between `una` and `next` were last sent.
#[derive(Clone, Debug)]
pub(super) struct Times {
    /// A power of two of them.
    ring: Vec<Instant>,
}

impl Times {
    pub(super) fn new(window: u32) -> Self {
        let places = (window as usize).clamp(SMALLEST, 1 << 16).next_power_of_two();
        Self { ring: vec![Instant::ZERO; places] }
    }

    #[inline(always)]
    pub(super) fn get(&self, seq: u32) -> Instant {
        self.ring[seq as usize & (self.ring.len() - 1)]
    }

    /// Notes when a packet was sent for the first time; `una` is the lowest that must be kept.
    #[inline(always)]
    pub(super) fn push(&mut self, una: u32, seq: u32, now: Instant) {
        if (seq - una) as usize >= self.ring.len() {
            self.grow(una, seq);
        }
        self.set(seq, now);
    }

    #[inline(always)]
    pub(super) fn set(&mut self, seq: u32, now: Instant) {
        let mask = self.ring.len() - 1;
        self.ring[seq as usize & mask] = now;
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, una: u32, seq: u32) {
        let mut larger = Self { ring: vec![Instant::ZERO; self.ring.len() * 2] };
        for old in una..seq {
            larger.set(old, self.get(old));
        }
        *self = larger;
    }
}

/// What is found out about a packet as it is acknowledged or reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fate {
    /// It had been reported before.
    pub(super) sacked: bool,
    /// It had been sent more than once.
    pub(super) repeated: bool,
}

/// The scoreboard. Packets in flight are those sent, less `sacked` and `lost`, plus `again`.
#[derive(Clone, Debug, Default)]
pub(super) struct Board {
    /// Packets reported to have arrived out of order.
    pub(super) sacked: u32,
    /// Packets found lost, whether or not they were sent again.
    pub(super) lost: u32,
    /// Retransmissions that may still be in the network.
    pub(super) again: u32,
    /// One past the highest packet reported; zero if there is none.
    pub(super) highest: u32,
    /// Any bit is set in a ring below this.
    touched: u32,
    /// The originals of all packets below are decided: acknowledged, reported, lost or sent again.
    decided: u32,
    /// No lost packet that waits for its retransmission lies below.
    hint: u32,
    sacked_ring: BitRing,
    lost_ring: BitRing,
    again_ring: BitRing,
    /// Packets that were ever sent again.
    repeated_ring: BitRing,
    /// Retransmissions in the order of their sending.
    retransmitted: VecDeque<(u32, Instant)>,
}

/// What loss detection by time compares with (RFC 8985, section 6.2).
#[derive(Clone, Copy, Debug)]
pub(super) struct Newest {
    /// When the packet that was sent last of all that have arrived was sent ...
    pub(super) sent: Instant,
    /// ... its number, and whether that was not for the first time.
    pub(super) seq: u32,
    pub(super) repeated: bool,
    /// Packets sent before it are lost when they are older than this.
    pub(super) age: Duration,
}

impl Newest {
    /// Whether a packet was sent before the newest that has arrived. Of one instant are packets of a burst, in their
    /// order; which of a new packet and a retransmission came first is not known.
    fn is_after(&self, sent: Instant, seq: u32, repeated: bool) -> bool {
        self.sent > sent || (self.sent == sent && self.repeated == repeated && self.seq > seq)
    }
}

impl Board {
    /// Whether no packet from `una` on was ever reported, lost or sent again.
    #[inline(always)]
    pub(super) fn is_clean(&self, una: u32) -> bool {
        self.touched <= una
    }

    /// Packets that are in flight, of `out` that are not acknowledged.
    #[inline(always)]
    pub(super) fn in_flight(&self, out: u32) -> u32 {
        out + self.again - self.sacked - self.lost
    }

    fn touch(&mut self, una: u32, to: u32) {
        if self.is_clean(una) {
            // Nothing is known of anything: start afresh.
            self.highest = 0;
            self.decided = una;
            self.hint = una;
            self.retransmitted.clear();
        }
        self.touched = self.touched.max(to);
        let span = self.touched.saturating_sub(una).max(1);
        for ring in [&mut self.sacked_ring, &mut self.lost_ring, &mut self.again_ring, &mut self.repeated_ring] {
            ring.reserve(una, span + 1);
        }
    }

    pub(super) fn is_repeated(&self, seq: u32) -> bool {
        seq < self.touched && self.repeated_ring.contains(seq)
    }

    /// Whether any packet from `una` on was sent more than once and is not acknowledged.
    pub(super) fn any_repeated(&self, una: u32, next: u32) -> bool {
        let end = self.touched.min(next);
        una < end && self.repeated_ring.first(una, end).is_some()
    }

    /// A packet is acknowledged.
    pub(super) fn acknowledge(&mut self, seq: u32) -> Fate {
        if seq >= self.touched {
            return Fate { sacked: false, repeated: false };
        }
        let fate = Fate { sacked: self.sacked_ring.contains(seq), repeated: self.repeated_ring.contains(seq) };
        self.sacked -= u32::from(fate.sacked);
        self.lost -= u32::from(self.lost_ring.contains(seq));
        self.again -= u32::from(self.again_ring.contains(seq));
        for ring in [&mut self.sacked_ring, &mut self.lost_ring, &mut self.again_ring, &mut self.repeated_ring] {
            ring.remove(seq);
        }
        fate
    }

    /// The first packet of `from..to` that has not been reported.
    pub(super) fn first_unreported(&mut self, una: u32, from: u32, to: u32) -> Option<u32> {
        self.touch(una, to);
        Some(self.sacked_ring.first_missing(una, from)).filter(|seq| *seq < to)
    }

    /// A packet is reported to have arrived for the first time; what was known of it.
    pub(super) fn report(&mut self, una: u32, seq: u32) -> Fate {
        self.touch(una, seq + 1);
        let fate = Fate { sacked: false, repeated: self.repeated_ring.contains(seq) };
        if self.lost_ring.contains(seq) {
            self.lost_ring.remove(seq);
            self.lost -= 1;
            if self.again_ring.contains(seq) {
                self.again_ring.remove(seq);
                self.again -= 1;
            }
        }
        self.sacked_ring.insert(seq);
        self.sacked += 1;
        self.highest = self.highest.max(seq + 1);
        fate
    }

    /// A duplicate is reported: the retransmission is not in the network any more.
    pub(super) fn report_duplicate(&mut self, seq: u32) {
        if seq < self.touched && self.again_ring.contains(seq) {
            self.again_ring.remove(seq);
            self.again -= 1;
        }
    }

    /// A packet is lost; if it was lost before and sent again, the retransmission is. Whether a retransmission was
    /// lost.
    pub(super) fn lose(&mut self, una: u32, seq: u32) -> bool {
        self.touch(una, seq + 1);
        if self.sacked_ring.contains(seq) {
            return false;
        }
        self.hint = self.hint.min(seq);
        if self.lost_ring.contains(seq) {
            let again = self.again_ring.contains(seq);
            if again {
                self.again_ring.remove(seq);
                self.again -= 1;
            }
            return again;
        }
        self.lost_ring.insert(seq);
        self.lost += 1;
        false
    }

    /// No packet is lost any more: the losses were not real.
    pub(super) fn forgive(&mut self, una: u32, next: u32) {
        let end = self.touched.min(next);
        if una < end {
            self.lost_ring.remove_range(una, end);
            self.lost = 0;
        }
    }

    /// The lowest packet that is lost and has not been sent again.
    pub(super) fn next_lost(&mut self, una: u32, next: u32) -> Option<u32> {
        if self.lost <= self.again {
            return None;
        }
        let end = self.touched.min(next);
        let mut from = self.hint.max(una);
        while from < end {
            let seq = self.lost_ring.first(from, end)?;
            if !self.again_ring.contains(seq) {
                self.hint = seq;
                return Some(seq);
            }
            from = seq + 1;
        }
        None
    }

    /// A packet is sent again; a tail loss probe is not counted as a retransmission in flight.
    pub(super) fn sent_again(&mut self, una: u32, seq: u32, now: Instant, is_probe: bool) {
        self.touch(una, seq + 1);
        if !is_probe && !self.again_ring.contains(seq) {
            self.again_ring.insert(seq);
            self.again += 1;
        }
        self.repeated_ring.insert(seq);
        self.retransmitted.push_back((seq, now));
    }

    /// Loss detection by time (RFC 8985, step 5): packets that were sent before the newest that has arrived are lost
    /// when they are old enough. How long the last of those that are not has to wait, and whether a retransmission was
    /// found lost.
    pub(super) fn find_lost(
        &mut self,
        now: Instant,
        (una, next): (u32, u32),
        times: &Times,
        newest: Newest,
    ) -> (Option<Duration>, bool) {
        self.touch(una, next);
        let mut wait = None;
        let mut retransmission = false;
        let mut decide = |board: &mut Self, sent: Instant, seq: u32| {
            let age = now.since(sent);
            if age >= newest.age {
                retransmission |= board.lose(una, seq);
                return true;
            }
            wait = wait.max(Some(Duration::from_ps(newest.age.ps() - age.ps())));
            false
        };
        // Originals were sent in the order of their numbers.
        let mut seq = self.decided.max(una);
        let mut in_order = true;
        while seq < next {
            if self.sacked_ring.contains(seq) {
                seq = self.sacked_ring.first_missing(una, seq).max(seq + 1);
            } else if self.lost_ring.contains(seq) || self.repeated_ring.contains(seq) {
                seq += 1;
            } else {
                let sent = times.get(seq);
                if !newest.is_after(sent, seq, false) {
                    break;
                }
                if !decide(self, sent, seq) && in_order {
                    self.decided = seq;
                    in_order = false;
                }
                seq += 1;
            }
        }
        if in_order {
            self.decided = seq.min(next);
        }
        // Retransmissions, in the order of theirs.
        let mut place = 0;
        while let Some((seq, sent)) = self.retransmitted.get(place).copied() {
            let is_current = seq >= una && times.get(seq) == sent && !self.sacked_ring.contains(seq);
            // What is lost and was not sent again waits for that.
            if !is_current || (self.lost_ring.contains(seq) && !self.again_ring.contains(seq)) {
                self.retransmitted.remove(place);
                continue;
            }
            if !newest.is_after(sent, seq, true) {
                break;
            }
            if decide(self, sent, seq) {
                self.retransmitted.remove(place);
            } else {
                place += 1;
            }
        }
        (wait, retransmission)
    }

    /// Loss detection by counting (RFC 6675): a packet is lost when `threshold` packets above it have arrived.
    /// Retransmissions are not looked at. Whether anything is lost that was not.
    pub(super) fn find_overtaken(&mut self, una: u32, threshold: u32) -> bool {
        if self.sacked < threshold {
            return false;
        }
        // The highest packet that has `threshold` reported ones above it: from the top down.
        let (mut limit, mut seen) = (self.highest, 0);
        while limit > una && seen < threshold {
            limit -= 1;
            seen += u32::from(self.sacked_ring.contains(limit));
        }
        let mut found = false;
        let mut seq = self.decided.max(una);
        while seq < limit {
            if !self.sacked_ring.contains(seq) && !self.lost_ring.contains(seq) && !self.repeated_ring.contains(seq) {
                self.lose(una, seq);
                found = true;
            }
            seq += 1;
        }
        self.decided = self.decided.max(limit);
        found
    }
}

/// The blocks of an ACK, the one that was told first in front, as packet numbers.
pub(super) fn blocks(packet: &crate::packet::Packet) -> [Block; 3] {
    let far = |(from, to): (u16, u16)| (packet.seq + u32::from(from), packet.seq + u32::from(to));
    let [second, third] = packet.more;
    [packet.block, far(second), far(third)]
}
