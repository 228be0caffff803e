//! A sender's timers.

use super::LinuxSender;
use super::state::{Purpose, State, special};
use forebay_tm::{Duration, Instant};

impl LinuxSender {
    /// The timer for new data: a probe if all goes well, else the timeout.
    #[inline(always)]
    pub(super) fn arm_for_new(&mut self, now: Instant) {
        let alone = self.out() == 1;
        if self.probes() {
            if alone | (self.timer.start != now) | (self.timer.purpose != Purpose::Probe) | (self.out() == 2) {
                let since = now.since(self.times.get(self.una)).ps();
                let left = Duration::from_ps(self.trip.timeout().ps().saturating_sub(since));
                let mut span = self.trip.probe_after(alone);
                if left > Duration::ZERO {
                    span = span.min(left);
                }
                self.timer.set(Purpose::Probe, now, span);
            }
        } else if alone | (self.timer.purpose == Purpose::Probe) | (self.timer.purpose == Purpose::Nothing) {
            self.arm_timeout(now);
        }
    }

    /// Whether a tail loss probe may be sent when the time comes.
    #[inline(always)]
    pub(super) fn probes(&self) -> bool {
        self.parts.probe & matches!(self.state, State::Open | State::Reduction)
    }

    /// Sets the retransmission timer; a probe or the reordering timer in its place has used up some of it.
    pub(in crate::transport::linux) fn arm_timeout(&mut self, now: Instant) {
        if self.out() == 0 {
            return self.timer.stop();
        }
        let mut span = self.trip.timeout();
        if matches!(self.timer.purpose, Purpose::Probe | Purpose::Reordering) {
            let since = now.since(self.times.get(self.una)).ps();
            span = Duration::from_ps(span.ps().saturating_sub(since).max(1_000_000));
        }
        self.timer.set(Purpose::Timeout, now, span);
    }

    /// The timer after an ACK of new data.
    #[inline(always)]
    pub(in crate::transport::linux) fn set_timer(&mut self, now: Instant) {
        let out = self.out();
        if out == 0 {
            self.timer.stop();
            if self.next < self.written && self.next >= self.window_end {
                self.timer.set(Purpose::Persist, now, self.trip.timeout());
            }
        } else if self.probes() {
            let span = self.trip.probe_after(out == 1).min(self.trip.timeout());
            self.timer.set(Purpose::Probe, now, span);
        } else {
            self.arm_timeout(now);
        }
    }

    /// When pacing lets the next packet go, if nothing else keeps it back.
    #[inline]
    pub fn paced_until(&self) -> Instant {
        if self.held_by_pace { self.pace_at } else { Instant::NEVER }
    }

    /// When the timer runs out, or an application writes.
    #[inline]
    pub fn deadline(&self) -> Instant {
        let mut at = self.timer.at;
        if let Some(writing) = &self.writing {
            at = at.min(writing.at());
        }
        at
    }

    /// Says, before a deadline, whether the last packet that was sent still waits in its host.
    pub fn set_in_host(&mut self, in_host: bool) {
        self.in_host = in_host;
    }

    /// The deadline has come.
    pub fn on_deadline(&mut self, now: Instant) {
        self.take_writes(now);
        if now < self.timer.at {
            return;
        }
        if !self.timer.is_tick {
            self.timer.at = self.ticks.end(self.timer.start, self.timer.span).max(now);
            self.timer.is_tick = true;
            if self.timer.at > now {
                return;
            }
        }
        let purpose = self.timer.purpose;
        self.timer.at = Instant::NEVER;
        match purpose {
            Purpose::Nothing => {}
            Purpose::Timeout => self.on_timeout(now),
            Purpose::Probe => self.special |= special::PROBE,
            Purpose::Reordering => self.on_reordering_timeout(now),
            Purpose::Persist => {
                self.special |= special::PERSIST;
                self.trip.back_off();
                self.timer.set(Purpose::Persist, now, self.trip.timeout());
            }
        }
    }

    pub(super) fn on_timeout(&mut self, now: Instant) {
        self.stats.timeouts += 1;
        if self.special & special::OPENING != 0 {
            // The first retries come at equal intervals.
            if self.knocks > 4 {
                self.trip.back_off();
            }
            self.special |= special::KNOCK;
            self.timer.set(Purpose::Timeout, now, self.trip.timeout());
            return;
        }
        self.enter_loss(now);
        self.timeouts_in_a_row += 1;
        self.trip.back_off();
        self.timer.set(Purpose::Timeout, now, self.trip.timeout());
    }
}
