//! What a sender knows of its packets in flight beyond the cumulative acknowledgement: which have arrived, which are
//! lost (in the spirit of RFC 6675).

use super::bit_ring::BitRing;
use crate::packet::Block;

/// A packet is lost when so many packets above it have arrived (`DupThresh`).
const DUP_THRESHOLD: usize = 3;

/// The packets in flight. In flight are the numbers `una..next` that the sender keeps; a clean scoreboard, one with
/// nothing selectively acknowledged and nothing lost, needs no attention at all.
#[derive(Clone, Debug, Default)]
pub(super) struct Scoreboard {
    /// Packets that have arrived out of order.
    sacked: u32,
    /// Packets that are lost and have not been sent again.
    lost: u32,
    /// All below have been examined for loss: a packet is found lost once, and again only by a timeout.
    examined: u32,
    /// No lost packet lies below.
    first_lost: u32,
    /// The highest packets that have arrived out of order, in falling order; 0 is none (packet 0 is never out of
    /// order).
    highest: [u32; DUP_THRESHOLD],
    /// The latest block that was reported: all of it is in the ring. Reports mostly extend the one before.
    known: Block,
    sacked_ring: BitRing,
    lost_ring: BitRing,
}

impl Scoreboard {
    /// Whether nothing has arrived out of order and nothing is lost.
    #[inline]
    pub(super) fn is_clean(&self) -> bool {
        self.sacked | self.lost == 0
    }

    /// Packets between `una` and `next` that are not in the network any more: arrived, or lost.
    #[inline]
    pub(super) fn gone(&self) -> u32 {
        self.sacked + self.lost
    }

    /// Whether there are packets to be sent again.
    #[inline]
    pub(super) fn has_lost(&self) -> bool {
        self.lost != 0
    }

    /// The packets `una..to` are acknowledged; how many of them were not known to have arrived.
    pub(super) fn acknowledge(&mut self, una: u32, to: u32) -> u32 {
        let known = self.sacked_ring.remove_range(una, to);
        self.sacked -= known;
        self.lost -= self.lost_ring.remove_range(una, to);
        self.examined = self.examined.max(to);
        to - una - known
    }

    /// A block beyond `una` has arrived; how many of its packets were not known to. The work is that of the words of
    /// the part of the block that the last report did not have.
    pub(super) fn report(&mut self, una: u32, block: Block) -> u32 {
        let (mut from, mut to) = (block.0.max(una), block.1);
        if from >= to {
            return 0;
        }
        self.reserve(una, to);
        let whole = (from, to);
        let (known_from, known_to) = self.known;
        if known_from <= from && from < known_to {
            from = known_to.min(to);
        } else if known_from < to && to <= known_to {
            to = known_from.max(from);
        }
        self.known = whole;
        let new = self.sacked_ring.insert_range(from, to);
        if new != 0 {
            self.sacked += new;
            self.lost -= self.lost_ring.remove_range(from, to);
            self.raise(whole);
        }
        new
    }

    /// The highest packets that have arrived, now that a block has.
    fn raise(&mut self, block: Block) {
        for seq in (block.0..block.1).rev().take(DUP_THRESHOLD) {
            let Some(place) = self.highest.iter().position(|high| *high <= seq) else { return };
            if self.highest[place] != seq {
                self.highest[place..].rotate_right(1);
                self.highest[place] = seq;
            }
        }
    }

    /// Finds the packets lost that have enough arrivals above them; whether there are new ones.
    pub(super) fn find_lost(&mut self, una: u32) -> bool {
        let (from, to) = (self.examined.max(una), self.highest[DUP_THRESHOLD - 1]);
        if from >= to {
            return false;
        }
        self.examined = to;
        self.lose(una, from, to)
    }

    /// Finds the first missing packet lost if it has enough arrivals above it, or `anyway`; whether it is news.
    pub(super) fn find_first_lost(&mut self, una: u32, anyway: bool) -> bool {
        if self.examined > una || !(anyway || una < self.highest[DUP_THRESHOLD - 1]) {
            return false;
        }
        self.examined = una + 1;
        self.lose(una, una, una + 1)
    }

    /// Everything in flight that has not arrived is lost.
    pub(super) fn lose_all(&mut self, una: u32, next: u32) {
        self.examined = next;
        self.lose(una, una, next);
    }

    fn lose(&mut self, una: u32, from: u32, to: u32) -> bool {
        self.reserve(una, to);
        let new = self.lost_ring.insert_range_except(from, to, &self.sacked_ring);
        if new != 0 {
            self.first_lost = if self.lost == 0 { from } else { self.first_lost.min(from) };
            self.lost += new;
        }
        new != 0
    }

    /// The lowest lost packet; it counts as in flight again.
    pub(super) fn take_lost(&mut self, una: u32, next: u32) -> Option<u32> {
        if self.lost == 0 {
            return None;
        }
        let seq = self.lost_ring.first(self.first_lost.max(una), next)?;
        self.lost_ring.remove(seq);
        self.lost -= 1;
        self.first_lost = seq + 1;
        Some(seq)
    }

    fn reserve(&mut self, una: u32, to: u32) {
        self.sacked_ring.reserve(una, to - una);
        self.lost_ring.reserve(una, to - una);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_arrivals_above_make_a_loss() {
        let mut board = Scoreboard::default();
        // 10 and 13 are missing; 11, 12, 14 have arrived.
        assert_eq!(board.report(10, (11, 13)), 2);
        assert!(!board.find_lost(10));
        assert_eq!(board.report(10, (14, 15)), 1);
        assert!(board.find_lost(10));
        assert_eq!(board.take_lost(10, 20), Some(10));
        assert_eq!(board.take_lost(10, 20), None);
        // Two more above 13: it has three above, too. 10 is on its way again and is not found twice.
        assert_eq!(board.report(10, (14, 17)), 2);
        assert!(board.find_lost(10));
        assert_eq!(board.gone(), 6);
        assert_eq!(board.take_lost(10, 20), Some(13));
        assert_eq!(board.acknowledge(10, 17), 2);
        assert!(board.is_clean());
    }

    #[test]
    fn a_timeout_loses_all_that_has_not_arrived() {
        let mut board = Scoreboard::default();
        board.report(0, (5, 8));
        board.find_lost(0);
        assert_eq!(board.take_lost(0, 10), Some(0));
        board.lose_all(0, 10);
        assert_eq!(board.gone(), 10);
        let lost: Vec<u32> = core::iter::from_fn(|| board.take_lost(0, 10)).collect();
        assert_eq!(lost, [0, 1, 2, 3, 4, 8, 9]);
        // A late arrival of a packet that was given up.
        board.lose_all(0, 10);
        assert_eq!(board.report(0, (3, 8)), 2);
        assert_eq!(board.gone(), 10);
        assert_eq!(board.acknowledge(0, 10), 5);
        assert!(board.is_clean());
    }

    #[test]
    fn reports_that_overlap_count_each_packet_once() {
        let mut board = Scoreboard::default();
        let mut seen = std::collections::BTreeSet::new();
        for block in [(5, 6), (5, 9), (3, 9), (20, 25), (3, 12), (2, 30), (12, 13), (1, 40)] {
            let new = (block.0..block.1).filter(|seq| seen.insert(*seq)).count();
            assert_eq!(board.report(1, block) as usize, new, "{block:?}");
        }
        assert_eq!(board.highest, [39, 38, 37]);
    }
}
