//! What an ACK means that is not just the next one: reports of packets out of order, echoes of marks, losses, and cuts
//! of the window that are taken back.

use super::control::Acked;
use super::round_trip::LEAST_WAIT;
use super::sender::{LinuxSender, Purpose, State};
use super::sent::{Newest, blocks};
use crate::packet::{Packet, flag};
use forebay_tm::{Duration, Instant};

/// The most reordering that is taken for granted, in packets.
const MOST_REORDERING: u32 = 300;
/// Arrivals out of order that make a loss where no reordering was seen.
pub(super) const DUP_THRESHOLD: u32 = 3;
/// Recoveries for which a larger reordering window is kept.
pub(super) const PERSIST: u32 = 16;
/// The largest reordering window, in quarters of the shortest round trip.
const MOST_STEPS: u32 = 255;

/// What an ACK has told.
struct News {
    /// Data was acknowledged.
    advanced: bool,
    /// Packets out of order were reported.
    sacked: bool,
    /// An echo of congestion experienced.
    echo: bool,
    /// A duplicate was reported ...
    duplicate: bool,
    /// ... that of the tail loss probe.
    probe_duplicate: bool,
    /// Packets sent before `high` have arrived that were never sent again.
    original: bool,
    /// It says nothing at all: neither data acknowledged nor reported nor a new window.
    bare: bool,
    /// The timer is to be set.
    set_timer: bool,
    /// A retransmission was found lost.
    lost_again: bool,
    /// The lowest packet that arrived later than ones sent after it.
    late: Option<u32>,
    /// Packets newly known to have arrived.
    delivered: u32,
    /// When the first and the last of them were sent, of those acknowledged and of those reported.
    acked_times: Option<(Instant, Instant)>,
    sacked_times: Option<(Instant, Instant)>,
    /// The time stamp that the ACK echoes.
    stamp: Instant,
}

/// What to send after an ACK.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    Nothing,
    Repair,
    NewFirst,
}

impl LinuxSender {
    #[cold]
    #[inline(never)]
    pub(super) fn on_unusual(&mut self, now: Instant, packet: &Packet) {
        if self.is_opening() {
            return self.open(now, packet);
        }
        if self.out() == 0 {
            return self.take_room(packet);
        }
        let (prior_una, prior_high) = (self.una, self.highest_reported());
        let advanced = packet.seq > self.una;
        let had_room = self.has_new();
        let mut news = News {
            advanced,
            sacked: false,
            echo: packet.has(flag::CE),
            duplicate: false,
            probe_duplicate: false,
            original: false,
            bare: false,
            set_timer: false,
            lost_again: false,
            late: None,
            delivered: 0,
            acked_times: None,
            sacked_times: None,
            stamp: packet.sent_at,
        };
        if advanced {
            self.timeouts_in_a_row = 0;
        }
        let lost_before = self.losses;
        self.take_room(packet);
        self.take_reports(now, packet, &mut news);
        if !packet.has(flag::DUPLICATE) {
            self.peer_stamp = packet.echo;
        } else {
            self.take_duplicate(packet.echo, prior_una, &mut news);
        }
        if self.state != State::Loss || self.undo.marker.is_some() {
            self.note_reordering(news.late.take());
        }
        let rtt = self.take_acknowledged(now, packet, prior_high, &mut news);
        news.bare = !(advanced | news.sacked | news.duplicate | (self.has_new() & !had_room));
        self.widen_reordering_window();
        if self.probe_end != 0 {
            self.judge_probe(packet.seq, &news);
        }
        let acked = Acked {
            now,
            delivered: news.delivered,
            una: self.una,
            next: self.next,
            rtt: rtt.unwrap_or(Duration::ZERO),
            marked: news.echo,
            paced: self.is_paced(),
            smoothed: self.trip.smoothed(),
        };
        self.control.on_acked(&acked, &mut self.window);
        let mut then = Then::Nothing;
        if news.bare | news.sacked | news.echo | news.duplicate | (self.state != State::Open) {
            then = self.judge(now, prior_una, &mut news);
        }
        if news.set_timer {
            self.set_timer(now);
        }
        let newly_lost = self.losses - lost_before;
        if self.in_reduction() {
            self.reduce(news.delivered, newly_lost, advanced);
        } else if self.may_grow(&news) && self.is_in_use() {
            self.control.grow(now, &mut self.window, news.delivered);
        }
        self.set_pace();
        match then {
            Then::Nothing => {}
            Then::Repair => self.repair(),
            Then::NewFirst => self.new_data_first(),
        }
    }

    /// The window grows for data in order; where the network is known to reorder, for any.
    fn may_grow(&self, news: &News) -> bool {
        news.advanced || (self.reordering > DUP_THRESHOLD && news.sacked)
    }

    /// One past the highest packet that has arrived.
    fn highest_reported(&self) -> u32 {
        if self.board.sacked == 0 { self.una } else { self.board.highest }
    }

    // ---- What has arrived
    // --------------------------------------------------------------------------------------------

    fn take_reports(&mut self, now: Instant, packet: &Packet, news: &mut News) {
        let mut reports = blocks(packet);
        reports.sort_unstable();
        for (from, to) in reports {
            let (mut seq, to) = (from.max(self.una), to.min(self.next));
            while seq < to {
                let Some(new) = self.board.first_unreported(self.una, seq, to) else { break };
                self.take_report(now, new, news);
                seq = new + 1;
            }
        }
    }

    fn take_report(&mut self, now: Instant, seq: u32, news: &mut News) {
        let sent = self.times.get(seq);
        let highest = self.highest_reported();
        let fate = self.board.report(self.una, seq);
        self.advance_rack(now, seq, sent, fate.repeated);
        if !fate.repeated {
            if seq < highest {
                news.late = Some(news.late.map_or(seq, |late| late.min(seq)));
            }
            news.original |= seq < self.high;
            news.sacked_times = Some((news.sacked_times.map_or(sent, |times| times.0), sent));
        }
        news.sacked = true;
        news.delivered += 1;
    }

    /// A packet has come in twice.
    fn take_duplicate(&mut self, seq: u32, prior_una: u32, news: &mut News) {
        news.probe_duplicate = self.probe_end != 0 && self.probe_end == seq + 1;
        self.duplicates += 1;
        if self.duplicates > self.stats.retransmissions {
            // The network has repeated it.
            return;
        }
        news.duplicate = true;
        news.delivered += 1;
        if self.reorderings > 0 && !news.probe_duplicate {
            self.rack.duplicate = true;
        }
        let counts = seq < prior_una || self.board.is_repeated(seq);
        if self.undo.marker.is_some_and(|marker| seq + 1 > marker) && counts {
            self.undo.retransmissions = self.undo.retransmissions.map(|left| left.saturating_sub(1));
        }
        if seq >= self.una {
            self.board.report_duplicate(seq);
        }
    }

    /// Takes the acknowledged packets off the board; the round trip of the latest packet that has arrived, if it is
    /// known.
    fn take_acknowledged(
        &mut self,
        now: Instant,
        packet: &Packet,
        prior_high: u32,
        news: &mut News,
    ) -> Option<Duration> {
        let mut repeated = false;
        let mut late = None;
        for seq in self.una..packet.seq {
            let sent = self.times.get(seq);
            let fate = self.board.acknowledge(seq);
            if fate.repeated {
                repeated = true;
            } else if !fate.sacked {
                news.acked_times = Some((news.acked_times.map_or(sent, |times| times.0), sent));
                late = late.or(Some(seq));
                news.original |= seq < self.high;
            }
            if !fate.sacked {
                news.delivered += 1;
                // A time stamp from before the retransmission: it is the original that has arrived.
                if !(fate.repeated && news.stamp < sent) {
                    self.advance_rack(now, seq, sent, fate.repeated);
                }
            }
        }
        self.una = self.una.max(packet.seq);
        let since = |at: Instant| now.since(at);
        let mut measured = news.acked_times.filter(|_| !repeated).map(|(first, last)| (since(first), since(last)));
        let reported = news.sacked_times.map(|(first, last)| (since(first), since(last)));
        if let Some((first, last)) = reported {
            measured = Some((measured.map_or(first, |times| times.0), last));
        }
        if measured.is_none() && news.advanced {
            // Karn's algorithm forbids the rest, but the time stamp tells which packet it was.
            measured = Some((since(news.stamp), since(news.stamp)));
        }
        if let Some((first, last)) = measured {
            self.trip.observe_least(last);
            self.trip.sample(first, self.una, self.next);
        }
        if news.advanced {
            news.set_timer = true;
            if late.is_some_and(|seq| seq < prior_high) {
                self.note_reordering(late);
            }
        } else if let (Some((first, _)), true) = (reported, self.out() > 0) {
            // Only what was sent after the first packet may put the timer off.
            news.set_timer = first > since(self.times.get(self.una));
        }
        measured.map(|times| times.1)
    }

    /// RFC 8985, steps 1 and 2.
    fn advance_rack(&mut self, now: Instant, seq: u32, sent: Instant, repeated: bool) {
        let rtt = now.since(sent);
        if repeated && rtt < self.trip.least() {
            // It may be the original that has arrived.
            return;
        }
        self.rack.advanced = true;
        self.rack.rtt = rtt;
        if sent > self.rack.sent || (sent == self.rack.sent && seq > self.rack.seq) {
            self.rack.sent = sent;
            self.rack.seq = seq;
            self.rack.repeated = repeated;
        }
    }

    /// A packet that was sent once has arrived after ones that were sent later.
    pub(super) fn note_reordering(&mut self, late: Option<u32>) {
        let highest = self.highest_reported();
        let Some(distance) = late.and_then(|seq| highest.checked_sub(seq)).filter(|distance| *distance > 0) else {
            return;
        };
        if distance > self.reordering {
            self.reordering = distance.min(MOST_REORDERING);
        }
        self.reorderings += 1;
    }

    /// RFC 8985, step 4: duplicates after reordering mean that the window was too short.
    fn widen_reordering_window(&mut self) {
        if self.una < self.rack.adjusted {
            self.rack.duplicate = false;
        }
        if self.rack.duplicate {
            self.rack.steps = (self.rack.steps + 1).min(MOST_STEPS);
            self.rack.duplicate = false;
            self.rack.adjusted = self.next;
            self.rack.persist = PERSIST;
        } else if self.rack.persist == 0 {
            self.rack.steps = 1;
        }
    }

    /// Whether the tail loss probe has repaired a loss (RFC 8985, section 7.4).
    fn judge_probe(&mut self, ack: u32, news: &News) {
        if ack < self.probe_end {
            return;
        }
        if !self.probe_repeats || news.probe_duplicate {
            self.probe_end = 0;
        } else if ack > self.probe_end {
            // It has: the window is cut, once and at once.
            self.begin_reduction();
            self.state = State::Reduction;
            self.end_reduction();
            self.try_keep_open();
        } else if news.bare {
            self.probe_end = 0;
        }
    }

    // ---- States
    // ------------------------------------------------------------------------------------------------------

    /// An ACK of the next packets, with or without an echo, while nothing is out of order.
    pub(super) fn follow_marks(&mut self, echo: bool) {
        self.leave_state(echo, Instant::ZERO);
        if self.state == State::Open {
            self.undo_by_duplicates();
        }
        self.try_open(echo);
    }

    /// The state that ends when all that was sent before it has been acknowledged.
    fn leave_state(&mut self, echo: bool, stamp: Instant) {
        if echo {
            // What was cut for a mark is not taken back.
            self.undo.threshold = 0;
        }
        if self.state == State::Open {
            self.undo.first = None;
        } else if self.una >= self.high {
            match self.state {
                State::Reduction if self.una != self.high => {
                    // The receiver has been told that the window was cut.
                    self.end_reduction();
                    self.state = State::Open;
                }
                State::Recovery => {
                    self.end_recovery(stamp);
                    self.end_reduction();
                }
                _ => {}
            }
        }
    }

    fn judge(&mut self, now: Instant, prior_una: u32, news: &mut News) -> Then {
        self.leave_state(news.echo, news.stamp);
        match self.state {
            State::Recovery => {
                if news.advanced && self.undo_partial(prior_una, news.stamp) {
                    return Then::Nothing;
                }
                if self.undo_by_duplicates() {
                    self.try_open(news.echo);
                }
                self.find_losses(now, news);
                if self.state != State::Recovery {
                    if self.board.lost == 0 {
                        return Then::Nothing;
                    }
                    self.enter_recovery(news.echo);
                }
            }
            State::Loss => {
                let then = self.process_loss(news);
                self.find_losses(now, news);
                if self.state != State::Open && !news.lost_again {
                    return then;
                }
                return self.judge_order(now, news, then);
            }
            _ => return self.judge_order(now, news, Then::Nothing),
        }
        Then::Repair
    }

    fn judge_order(&mut self, now: Instant, news: &mut News, otherwise: Then) -> Then {
        if self.state <= State::Disorder {
            self.undo_by_duplicates();
        }
        self.find_losses(now, news);
        if self.board.lost == 0 {
            self.try_open(news.echo);
            return otherwise;
        }
        self.enter_recovery(news.echo);
        Then::Repair
    }

    fn find_losses(&mut self, now: Instant, news: &mut News) {
        if self.out() == 0 {
            return;
        }
        let before = self.board.lost;
        if self.parts.rack {
            if !self.rack.advanced {
                return;
            }
            self.rack.advanced = false;
            if self.board.is_clean(self.una) {
                // All that is out was sent after what has arrived.
                return;
            }
            let (wait, again) = self.find_lost_by_time(now);
            news.lost_again |= again;
            if let Some(wait) = wait {
                let span = Duration::from_ps(wait.ps() + LEAST_WAIT.ps()).min(self.trip.timeout());
                self.timer.set(Purpose::Reordering, now, span);
                news.set_timer = false;
            }
        } else {
            self.board.find_overtaken(self.una, self.reordering);
        }
        self.losses += self.board.lost.saturating_sub(before);
    }

    fn find_lost_by_time(&mut self, now: Instant) -> (Option<Duration>, bool) {
        let age = Duration::from_ps(self.rack.rtt.ps() + self.reordering_window().ps());
        let newest = Newest { sent: self.rack.sent, seq: self.rack.seq, repeated: self.rack.repeated, age };
        self.board.find_lost(now, (self.una, self.next), &self.times, newest)
    }

    /// RFC 8985, step 4: none where no reordering was seen and a loss is likely.
    fn reordering_window(&self) -> Duration {
        if self.reorderings == 0 && (self.state >= State::Recovery || self.board.sacked >= self.reordering) {
            return Duration::ZERO;
        }
        let quarter = self.trip.least().ps() / 4;
        let smoothed = self.trip.smoothed();
        Duration::from_ps(quarter.saturating_mul(u64::from(self.rack.steps))).min(smoothed)
    }

    /// The reordering window is over.
    pub(super) fn on_reordering_timeout(&mut self, now: Instant) {
        let (flight, before) = (self.in_flight(), self.board.lost);
        self.find_lost_by_time(now);
        let newly_lost = self.board.lost.saturating_sub(before);
        self.losses += newly_lost;
        if self.in_flight() != flight {
            if self.state != State::Recovery {
                self.enter_recovery(false);
                self.reduce(1, newly_lost, false);
            }
            self.repair();
        }
        if self.timer.purpose != Purpose::Timeout {
            self.arm_timeout(now);
        }
    }

    fn try_open(&mut self, echo: bool) {
        if !self.board.any_repeated(self.una, self.next) {
            self.undo.first = None;
        }
        if echo {
            self.enter_reduction();
        }
        if self.state != State::Reduction {
            self.try_keep_open();
        }
    }

    pub(super) fn try_keep_open(&mut self) {
        let in_order = self.board.sacked + self.board.lost == 0 && !self.board.any_repeated(self.una, self.next);
        let state = if in_order { State::Open } else { State::Disorder };
        if state != self.state {
            self.state = state;
            self.high = self.next;
        }
    }

    /// An ACK after a timeout (RFC 5682, section 3.1).
    fn process_loss(&mut self, news: &News) -> Then {
        let recovered = self.una >= self.high;
        if news.advanced && self.undo_loss(false, news.stamp) {
            return Then::Nothing;
        }
        if self.frto {
            // Data that was never sent again has arrived: not all was lost.
            if news.original && self.undo_loss(true, news.stamp) {
                return Then::Nothing;
            }
            if self.next > self.high {
                if news.sacked || news.bare {
                    self.frto = false;
                }
            } else if news.advanced && !recovered {
                self.high = self.next;
                if self.has_new() {
                    return Then::NewFirst;
                }
                self.frto = false;
            }
        }
        if recovered {
            self.end_recovery(news.stamp);
            return Then::Nothing;
        }
        Then::Repair
    }
}
