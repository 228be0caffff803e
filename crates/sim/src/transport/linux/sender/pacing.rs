//! How fast a sender sends: the pacing rate, the size of segments, and what may wait in the host.

use super::state::State;
use super::{LinuxSender, SmallQueue};
use forebay_tm::{Duration, Instant};

/// Packets that are sent before pacing begins.
const UNPACED: u32 = 10;

impl LinuxSender {
    /// The time between packets at the pacing rate, which says how large segments are even where nothing is paced.
    #[inline(always)]
    pub(in crate::transport::linux) fn set_pace(&mut self) {
        let packets = u64::from(self.window.size.max(self.out()));
        self.gap = Duration::from_ps(self.trip.smoothed().ps() * 100 / (packets * u64::from(self.pace_percent())));
    }

    /// Whether pacing lets a packet go now. Packets of one burst, as large as the kernel makes its segments, go
    /// together.
    #[inline(always)]
    pub(super) fn may_pace(&mut self, now: Instant) -> bool {
        if (self.burst_at == now) & (self.paced_burst != 0) {
            self.paced_burst -= 1;
        } else {
            self.held_by_pace = now < self.pace_at;
            if self.held_by_pace {
                return false;
            }
            self.burst_at = now;
            self.paced_burst = self.burst_size() - 1;
            self.pace_credit = now.since(self.pace_at);
            self.pace_sum = Duration::ZERO;
            self.pace_at = now;
        }
        if self.next >= UNPACED {
            // Time that went by unused makes up for half of it at most.
            self.pace_sum = Duration::from_ps(self.pace_sum.ps() + self.gap.ps());
            let credit = self.pace_credit.min(Duration::from_ps(self.pace_sum.ps() / 2));
            self.pace_at = now + Duration::from_ps(self.pace_sum.ps() - credit.ps());
        }
        true
    }

    /// Packets that go together: those of a millisecond at the pacing rate, at least two, and up to 64 KB where round
    /// trips are short.
    #[inline]
    pub(super) fn burst_size(&self) -> u32 {
        let largest = self.largest;
        let halvings = self.trip.least().ps() / 512_000_000;
        let more = if halvings < 32 { largest >> halvings } else { 0 };
        if more >= largest || self.gap == Duration::ZERO {
            return largest;
        }
        let at_rate = (1_000_000_000 / self.gap.ps()).min(u64::from(largest)) as u32;
        (at_rate + more).clamp(2, largest)
    }

    /// What may wait below: what goes out in `span` at the pacing rate, at least two segments.
    #[inline]
    pub fn small_queue(&self, span: Duration) -> SmallQueue {
        let bytes = self.bytes_in(span);
        if self.offload == 0 {
            return SmallQueue { bytes, segment: 0 };
        }
        let segment = u64::from(self.burst_size().min(self.offload)) * u64::from(self.wire);
        SmallQueue { bytes: bytes.max(2 * segment), segment }
    }

    /// Bytes that it sends in a time at the pacing rate.
    #[inline]
    pub(super) fn bytes_in(&self, span: Duration) -> u64 {
        if self.gap != Duration::ZERO {
            return u64::from(self.wire).saturating_mul(span.ps()) / self.gap.ps();
        }
        let smoothed = u128::from(self.trip.smoothed().ps()) * 100;
        let packets = u128::from(self.window.size.max(self.out()));
        let sent = packets * u128::from(self.wire) * u128::from(self.pace_percent()) * u128::from(span.ps());
        u64::try_from(sent.checked_div(smoothed).unwrap_or(u128::MAX)).unwrap_or(u64::MAX)
    }

    /// The pacing rate in windows per hundred round trips: in the first half of slow start the window doubles in a
    /// round trip.
    #[inline(always)]
    pub(super) fn pace_percent(&self) -> u32 {
        if self.window.size < self.window.threshold / 2 { 200 } else { 120 }
    }

    /// With segmentation offload, new data waits for more of the window if an ACK is about to open it: until a third of
    /// the window, or the largest segment, can go at once.
    #[cold]
    #[inline(never)]
    pub(super) fn should_wait(&mut self, now: Instant, flight: u32) -> bool {
        if self.burst && self.last_sent == now {
            return false;
        }
        let room = (self.window.size - flight).min(self.limit - self.next);
        let goal = self.burst_size().min(self.offload);
        if self.state >= State::Recovery
            || room >= goal
            || self.next + room >= self.written
            || room >= self.window.size / 3
            || now.since(self.last_sent).ps() > 1_000_000_000
            || self.out() == 0
        {
            return false;
        }
        // The ACK of the oldest packet is not due soon.
        now.since(self.times.get(self.una)).ps() >= self.trip.smoothed().ps() / 2
    }
}
