//! The round trip as Linux estimates it, and the timers' clock.
//!
//! Times are exact here (Linux counts microseconds).

use forebay_tm::{Duration, Instant};

/// The least that Linux waits beyond two round trips for a probe, and beyond the reordering window for a loss:
/// `TCP_TIMEOUT_MIN_US`.
pub(super) const LEAST_WAIT: Duration = Duration::from_us(2_000);

/// Smoothed round trip, its deviation, and the retransmission timeout.
#[derive(Clone, Debug)]
pub(super) struct RoundTrip {
    /// Eight times the smoothed round trip; zero before the first sample.
    smoothed8: u64,
    /// Four times the mean deviation.
    deviation: u64,
    /// Its maximum over the last round trip, at least the shortest timeout.
    deviation_max: u64,
    /// What the timeout adds to the smoothed round trip.
    variance: u64,
    /// The maximum is taken over when this packet is acknowledged.
    round_ends: u32,
    /// The shortest that was seen.
    least: Duration,
    timeout: Duration,
    min: u64,
    max: u64,
}

impl RoundTrip {
    pub(super) fn new(min: Duration, initial: Duration, max: Duration) -> Self {
        Self {
            smoothed8: 0,
            deviation: 0,
            deviation_max: min.ps(),
            variance: 0,
            round_ends: 0,
            least: Duration::from_ps(u64::MAX),
            timeout: initial.min(max),
            min: min.ps(),
            max: max.ps(),
        }
    }

    /// The smoothed round trip; zero before the first sample.
    #[inline(always)]
    pub(super) fn smoothed(&self) -> Duration {
        Duration::from_ps(self.smoothed8 / 8)
    }

    /// The shortest round trip; the longest span there is before the first sample.
    #[inline(always)]
    pub(super) fn least(&self) -> Duration {
        self.least
    }

    /// The timeout, with its back-off.
    #[inline(always)]
    pub(super) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// How long to wait for the ACK of the last of several packets before a probe is sent; of one packet, its receiver
    /// may be waiting for a second.
    #[inline(always)]
    pub(super) fn probe_after(&self, alone: bool) -> Duration {
        let more = if alone { self.min } else { LEAST_WAIT.ps() };
        Duration::from_ps(self.smoothed8 / 4 + more)
    }

    /// The latest of a run of packets that were acknowledged together took so long.
    #[inline(always)]
    pub(super) fn observe_least(&mut self, rtt: Duration) {
        self.least = self.least.min(rtt);
    }

    /// A round trip has been measured, with `una` acknowledged and `next` to be sent next.
    #[inline]
    pub(super) fn sample(&mut self, rtt: Duration, una: u32, next: u32) {
        let rtt = rtt.ps();
        if self.smoothed8 == 0 {
            self.smoothed8 = (rtt * 8).max(1);
            self.deviation = rtt * 2;
            self.variance = self.deviation.max(self.min);
            self.deviation_max = self.variance;
            self.round_ends = next;
        } else {
            let smoothed = self.smoothed8 / 8;
            self.smoothed8 = (self.smoothed8 - smoothed + rtt).max(1);
            let quarter = self.deviation / 4;
            if rtt >= smoothed {
                self.deviation = self.deviation - quarter + (rtt - smoothed);
            } else {
                // A shorter round trip raises the deviation with an eighth of the weight only.
                let below = smoothed - rtt;
                self.deviation = if below > quarter {
                    self.deviation + (below - quarter) / 8
                } else {
                    self.deviation - (quarter - below)
                };
            }
            if self.deviation > self.deviation_max {
                self.deviation_max = self.deviation;
                self.variance = self.variance.max(self.deviation_max);
            }
            if una > self.round_ends {
                self.variance -= self.variance.saturating_sub(self.deviation_max) / 4;
                self.round_ends = next;
                self.deviation_max = self.min;
            }
        }
        self.timeout = Duration::from_ps((self.smoothed8 / 8 + self.variance).min(self.max));
    }

    /// The timer has run out: the next timeout is twice as long.
    pub(super) fn back_off(&mut self) {
        self.timeout = Duration::from_ps(self.timeout.ps().saturating_mul(2).min(self.max));
    }

    /// Packets are numbered from 0 again, with the next flow of a connection.
    pub(super) fn renumber(&mut self) {
        self.round_ends = 0;
    }
}

/// The kernel's timer wheel: timers run out at ticks, later than asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticks {
    /// The time between ticks; zero: timers are exact.
    tick: u64,
    /// When the first tick of this host was.
    phase: u64,
}

impl Ticks {
    pub(super) fn new(tick: Duration, draw: u64) -> Self {
        let tick = tick.ps();
        Self { tick, phase: draw.checked_rem(tick).unwrap_or(0) }
    }

    /// When a timer of so long that was set at `start` runs out. Spans are rounded up to ticks, the tick at hand is not
    /// counted, and timers of 63 ticks and more run out at every eighth tick only, of 504 and more at every
    /// sixty-fourth, and so on.
    pub(super) fn end(&self, start: Instant, span: Duration) -> Instant {
        if self.tick == 0 {
            return start + span;
        }
        let count = span.ps().div_ceil(self.tick).max(1);
        let mut grain = 1;
        while count >= 63 * grain {
            grain *= 8;
        }
        let now = start.ps().saturating_sub(self.phase) / self.tick;
        let tick = ((now + count) / grain + 1) * grain;
        Instant::from_ps(tick * self.tick + self.phase)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_us(ms * 1_000)
    }

    #[test]
    fn the_timeout_is_a_round_trip_and_the_shortest_timeout() {
        let mut trip = RoundTrip::new(ms(200), ms(1_000), ms(120_000));
        assert_eq!(trip.timeout(), ms(1_000));
        trip.sample(ms(40), 0, 10);
        assert_eq!((trip.timeout(), trip.smoothed()), (ms(240), ms(40)));
        assert_eq!((trip.probe_after(false), trip.probe_after(true)), (ms(82), ms(280)));
        trip.back_off();
        assert_eq!(trip.timeout(), ms(480));
        trip.sample(ms(40), 11, 20);
        assert_eq!(trip.timeout(), ms(240));
    }

    #[test]
    fn a_long_round_trip_raises_the_timeout_for_a_round_at_least() {
        let mut trip = RoundTrip::new(ms(10), ms(1_000), ms(120_000));
        trip.sample(ms(40), 0, 10);
        // Deviation 80 ms: more than the shortest timeout.
        assert_eq!(trip.timeout(), ms(120));
        for una in 1..=10 {
            trip.sample(ms(40), una, 20);
        }
        assert_eq!(trip.timeout(), ms(120), "the maximum holds for a round trip");
        for una in 11..200 {
            trip.sample(ms(40), una, una + 5);
        }
        assert!(trip.timeout() < ms(60), "{}", trip.timeout());
    }

    #[test]
    fn timers_run_out_after_the_tick_that_follows() {
        let ticks = Ticks::new(ms(4), 0);
        let at = |us: u64| Instant::from_ps(us * 1_000_000);
        // From the middle of a tick: 4.1 ms are two ticks, and the one at hand is not counted.
        assert_eq!(ticks.end(at(2_000), Duration::from_us(4_100)), at(12_000));
        assert_eq!(ticks.end(at(2_000), Duration::from_us(4_000)), at(8_000));
        // 480 ms are 120 ticks: at every eighth.
        assert_eq!(ticks.end(at(0), ms(480)), at(512_000));
        assert_eq!(Ticks::new(Duration::ZERO, 77).end(at(3), ms(1)), at(1_003));
        let shifted = Ticks::new(ms(4), 1_000_000_000);
        assert_eq!(shifted.end(at(2_000), Duration::from_us(4_100)), at(13_000));
    }
}
