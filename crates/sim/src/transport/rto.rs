//! The retransmission timeout (RFC 6298), in integer picoseconds.

use super::config::Common;
use forebay_tm::Duration;

/// Doublings that are counted; more than that reach any limit.
const MOST_DOUBLINGS: u32 = 32;

/// Estimates the timeout from round trips. ACKs bring back the time at which the packet was sent, so that
/// retransmissions give samples, too.
#[derive(Clone, Debug)]
pub(super) struct Rto {
    /// Eight times SRTT; zero before the first sample.
    smoothed: u64,
    /// Four times RTTVAR.
    variation: u64,
    /// The timeout without back-off.
    timeout: u64,
    min: u64,
    max: u64,
    doublings: u32,
}

impl Rto {
    pub(super) fn new(common: &Common) -> Self {
        let (min, max) = (common.rto_min.ps(), common.rto_max.ps().max(common.rto_min.ps()));
        Self { smoothed: 0, variation: 0, timeout: common.rto_initial.ps().min(max), min, max, doublings: 0 }
    }

    /// A round trip has been measured (equations 2.2 and 2.3 with alpha = 1/8 and beta = 1/4; the clock is exact, so
    /// its granularity G is zero).
    #[inline]
    pub(super) fn sample(&mut self, rtt: Duration) {
        let rtt = rtt.ps();
        if self.smoothed == 0 {
            self.smoothed = rtt * 8;
            self.variation = rtt * 2;
        } else {
            self.variation = self.variation - self.variation / 4 + (self.smoothed / 8).abs_diff(rtt);
            self.smoothed = self.smoothed - self.smoothed / 8 + rtt;
        }
        self.timeout = (self.smoothed / 8 + self.variation).max(self.min).min(self.max);
    }

    /// New data has been acknowledged: the back-off is over.
    #[inline]
    pub(super) fn relax(&mut self) {
        self.doublings = 0;
    }

    /// The timer has run out: the next timeout is twice as long (5.5).
    pub(super) fn back_off(&mut self) {
        self.doublings = (self.doublings + 1).min(MOST_DOUBLINGS);
    }

    /// Whether the timer has run out since new data was last acknowledged.
    pub(super) fn has_backed_off(&self) -> bool {
        self.doublings > 0
    }

    /// The timeout now.
    #[inline]
    pub(super) fn timeout(&self) -> Duration {
        if self.doublings == 0 {
            return Duration::from_ps(self.timeout);
        }
        Duration::from_ps(self.timeout.saturating_mul(1 << self.doublings).min(self.max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rto(min: u64, initial: u64, max: u64) -> Rto {
        Rto::new(&Common {
            rto_min: Duration::from_us(min),
            rto_initial: Duration::from_us(initial),
            rto_max: Duration::from_us(max),
            ..Common::default()
        })
    }

    #[test]
    fn it_follows_the_rfc() {
        let mut rto = rto(1, 300, 1_000_000);
        assert_eq!(rto.timeout(), Duration::from_us(300));
        rto.sample(Duration::from_us(80));
        // SRTT = 80, RTTVAR = 40.
        assert_eq!(rto.timeout(), Duration::from_us(240));
        rto.sample(Duration::from_us(160));
        // RTTVAR = 3/4 * 40 + 1/4 * 80 = 50; SRTT = 7/8 * 80 + 1/8 * 160 = 90.
        assert_eq!(rto.timeout(), Duration::from_us(290));
    }

    #[test]
    fn back_off_doubles_and_is_capped() {
        let mut rto = rto(10_000, 10_000, 50_000);
        rto.sample(Duration::from_us(80));
        let mut seen = Vec::new();
        for _ in 0..40 {
            seen.push(rto.timeout().ps() / 1_000_000);
            rto.back_off();
        }
        assert_eq!(seen[..4], [10_000, 20_000, 40_000, 50_000]);
        assert!(seen[4..].iter().all(|us| *us == 50_000));
        rto.relax();
        assert_eq!(rto.timeout(), Duration::from_us(10_000));
    }
}
