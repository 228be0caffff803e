//! Cuts of the window, and how they are taken back.

use super::recovery::{DUP_THRESHOLD, PERSIST};
use super::sender::{LinuxSender, Reduction, State};
use forebay_tm::Instant;

impl LinuxSender {
    pub(super) fn enter_reduction(&mut self) {
        self.undo.threshold = 0;
        if self.state < State::Reduction {
            self.undo.marker = None;
            self.begin_reduction();
            self.state = State::Reduction;
        }
    }

    pub(super) fn begin_reduction(&mut self) {
        self.high = self.next;
        self.probe_end = 0;
        self.window.credit = 0;
        self.reduction = Reduction { prior: self.window.size, delivered: 0, sent: 0 };
        self.undo.window = self.window.size;
        self.window.threshold = self.control.reduced(&self.window);
        if !self.parts.proportional {
            self.window.size = self.window.threshold;
            self.repair_forced();
        }
        self.cwr = true;
    }

    /// Proportional rate reduction (RFC 6937, with the bound that slow start has where less is in flight than the
    /// threshold).
    pub(super) fn reduce(&mut self, delivered: u32, newly_lost: u32, advanced: bool) {
        if delivered == 0 || self.reduction.prior == 0 || !self.parts.proportional {
            return;
        }
        let flight = self.in_flight();
        self.reduction.delivered += delivered;
        let (target, sent) = (i64::from(self.window.threshold), i64::from(self.reduction.sent));
        let delta = target - i64::from(flight);
        let mut more = if delta < 0 {
            let share = u64::from(self.window.threshold) * u64::from(self.reduction.delivered);
            share.div_ceil(u64::from(self.reduction.prior)) as i64 - sent
        } else {
            let owed = (i64::from(self.reduction.delivered) - sent).max(i64::from(delivered));
            (owed + i64::from(advanced && newly_lost == 0)).min(delta)
        };
        // The first retransmission goes out at once.
        more = more.max(i64::from(self.reduction.sent == 0));
        self.window.size = (i64::from(flight) + more) as u32;
    }

    pub(super) fn end_reduction(&mut self) {
        if self.state == State::Reduction || self.undo.marker.is_some() {
            self.window.size = self.window.threshold.min(self.window.max);
        }
    }

    pub(super) fn enter_recovery(&mut self, echo: bool) {
        self.undo.threshold = 0;
        self.remember_for_undo();
        if !self.in_reduction() {
            if !echo {
                self.undo.threshold = self.current_threshold();
            }
            self.begin_reduction();
        }
        self.control.on_loss(&mut self.window, false);
        self.state = State::Recovery;
        self.repair();
        if !self.parts.proportional {
            self.repair_forced();
        }
    }

    /// The timer ran out.
    pub(super) fn enter_loss(&mut self, now: Instant) {
        let fresh = self.state < State::Recovery;
        // All that was not sent just now is lost; the first packet always is.
        for seq in self.una..self.next {
            let age = now.since(self.times.get(seq));
            if !self.parts.rack || seq == self.una || age >= self.rack.rtt {
                self.board.lose(self.una, seq);
            }
        }
        if self.state <= State::Disorder
            || self.high <= self.una
            || (self.state == State::Loss && self.timeouts_in_a_row == 0)
        {
            self.undo.threshold = self.current_threshold();
            self.undo.window = self.window.size;
            self.window.threshold = self.control.reduced(&self.window);
            self.control.on_loss(&mut self.window, true);
            self.remember_for_undo();
        }
        self.window.size = self.in_flight() + 1;
        self.window.credit = 0;
        if self.state <= State::Disorder && self.board.sacked >= DUP_THRESHOLD {
            self.reordering = self.reordering.min(DUP_THRESHOLD);
        }
        self.state = State::Loss;
        self.high = self.next;
        self.probe_end = 0;
        self.cwr = true;
        self.frto = self.parts.frto && (fresh || self.timeouts_in_a_row > 0);
        self.repair();
    }

    pub(super) fn remember_for_undo(&mut self) {
        if !self.parts.undo {
            return;
        }
        self.undo.marker = Some(self.una);
        let out = self.board.again + u32::from(self.probe_end != 0 && self.probe_repeats);
        self.undo.retransmissions = (out > 0).then_some(out);
    }

    /// Whether the ACK at hand is for a packet from before the first retransmission (RFC 3522).
    pub(super) fn is_from_before(&self, stamp: Instant) -> bool {
        self.undo.first.is_none_or(|first| stamp < first)
    }

    /// Whether nothing was lost: all retransmissions were duplicates, or the originals have arrived.
    pub(super) fn may_undo(&self, stamp: Instant) -> bool {
        self.undo.marker.is_some() && (self.undo.retransmissions == Some(0) || self.is_from_before(stamp))
    }

    pub(super) fn undo_cut(&mut self, forgive: bool) {
        if forgive {
            self.board.forgive(self.una, self.next);
        }
        if self.undo.threshold > 0 {
            self.window.size = self.control.before_cut(&self.window, self.undo.window).min(self.window.max);
            if self.undo.threshold > self.window.threshold {
                self.window.threshold = self.undo.threshold;
                self.cwr = false;
            }
        }
        self.undo.marker = None;
        self.rack.advanced = true;
    }

    pub(super) fn end_recovery(&mut self, stamp: Instant) {
        if self.may_undo(stamp) {
            self.undo_cut(false);
        } else {
            self.rack.persist = self.rack.persist.saturating_sub(1);
        }
        self.state = State::Open;
    }

    pub(super) fn undo_by_duplicates(&mut self) -> bool {
        if self.undo.marker.is_some() && self.undo.retransmissions == Some(0) {
            self.rack.persist = (self.rack.persist + 1).min(PERSIST);
            self.undo_cut(false);
            return true;
        }
        false
    }

    /// Part of the losses are acknowledged, by originals: the rest is late, too. Whether nothing more is to be done
    /// now.
    pub(super) fn undo_partial(&mut self, prior_una: u32, stamp: Instant) -> bool {
        if self.undo.marker.is_none() || !self.is_from_before(stamp) {
            return false;
        }
        self.note_reordering(Some(prior_una));
        if self.board.again > 0 {
            return true;
        }
        if !self.board.any_repeated(self.una, self.next) {
            self.undo.first = None;
        }
        self.undo_cut(true);
        self.try_keep_open();
        false
    }

    pub(super) fn undo_loss(&mut self, surely: bool, stamp: Instant) -> bool {
        if !(surely && self.parts.undo || self.may_undo(stamp)) {
            return false;
        }
        self.undo_cut(true);
        self.timeouts_in_a_row = 0;
        self.state = State::Open;
        true
    }
}
