//! Three-colour meters of two rates (trTCM, RFC 2698, colour-blind), exact.
//!
//! A bucket counts in parts of a bit that are as large as its rate allows: so many to a bit that the rate adds a whole
//! number of them each picosecond. Nothing is ever rounded.

use crate::error::Fault;

/// Picoseconds of a second.
const SECOND: u64 = 1_000_000_000_000;

/// The rates and bursts of a meter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeterConfig {
    /// The rate up to which packets are green, in bits a second.
    pub committed: u64,
    /// The rate up to which packets are yellow, in bits a second.
    pub peak: u64,
    /// The bytes that may come at once and be green.
    pub committed_burst: u64,
    /// The bytes that may come at once and be yellow.
    pub peak_burst: u64,
}

/// The colours.
pub(crate) const GREEN: u64 = 0;
pub(crate) const YELLOW: u64 = 1;
pub(crate) const RED: u64 = 2;

/// A bucket: what is in it, what it holds, what it gets each picosecond, and what a byte takes, all in parts of a bit.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    level: u64,
    burst: u64,
    fill: u64,
    byte: u64,
}

impl Bucket {
    /// A full bucket, or the longest burst that can be counted at this rate.
    fn new(rate: u64, burst: u64) -> Result<Self, u64> {
        let common = common_divisor(SECOND, rate);
        let byte = 8 * (SECOND / common);
        match burst.checked_mul(byte) {
            Some(burst) if burst < u64::MAX => Ok(Self { level: burst, burst, fill: rate / common, byte }),
            _ => Err((u64::MAX - 1) / byte),
        }
    }

    #[inline]
    fn fill(&mut self, elapsed: u64) {
        // What is more than a number can hold is more than the bucket does.
        self.level = self.level.saturating_add(elapsed.saturating_mul(self.fill)).min(self.burst);
    }

    /// Takes a packet out, if there is enough for it.
    #[inline]
    fn take(&mut self, bytes: u64) -> bool {
        let cost = bytes.saturating_mul(self.byte);
        let takes = self.level >= cost;
        if takes {
            self.level -= cost;
        }
        takes
    }
}

fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

/// The two buckets of an entry; without rates there are none, and all packets are green.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buckets {
    both: Option<(Bucket, Bucket)>,
    filled: u64,
}

impl Buckets {
    /// Full buckets; a fault where a burst is too long to be counted.
    pub(crate) fn new(config: MeterConfig) -> Result<Self, Fault> {
        let bucket = |rate, burst| {
            Bucket::new(rate, burst).map_err(|most| {
                let problem = format!("a burst of {burst} bytes at {rate} bit/s cannot be counted exactly");
                (problem, format!("make it at most {most} bytes, or the rate a rounder number"))
            })
        };
        let committed = bucket(config.committed, config.committed_burst)?;
        Ok(Self { both: Some((committed, bucket(config.peak, config.peak_burst)?)), filled: 0 })
    }

    /// What is always green.
    pub(crate) fn none() -> Self {
        Self { both: None, filled: 0 }
    }

    /// The colour of a packet at a time in picoseconds.
    #[inline]
    pub(crate) fn colour(&mut self, now: u64, bytes: u64) -> u64 {
        let Some((committed, peak)) = &mut self.both else { return GREEN };
        let elapsed = now.saturating_sub(self.filled);
        self.filled = self.filled.max(now);
        committed.fill(elapsed);
        peak.fill(elapsed);
        match peak.take(bytes) {
            false => RED,
            true if committed.take(bytes) => GREEN,
            true => YELLOW,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: MeterConfig =
        MeterConfig { committed: 8_000_000_000, peak: 16_000_000_000, committed_burst: 1000, peak_burst: 3000 };

    #[test]
    fn colours_follow_the_buckets() {
        let mut buckets = Buckets::new(CONFIG).unwrap();
        assert_eq!(buckets.colour(0, 1000), GREEN);
        assert_eq!(buckets.colour(0, 1000), YELLOW, "the committed bucket is empty");
        assert_eq!(buckets.colour(0, 1001), RED, "1000 bytes are left in the peak bucket");
        assert_eq!(buckets.colour(0, 1000), YELLOW, "a red packet took nothing");
        // 1 and 2 bytes a nanosecond.
        assert_eq!(buckets.colour(499_999, 1000), RED);
        assert_eq!(buckets.colour(500_000, 1000), YELLOW);
        assert_eq!(buckets.colour(1_000_000, 1000), GREEN);
    }

    #[test]
    fn nothing_is_lost_in_small_steps() {
        let config = MeterConfig { committed: 3, peak: 3, committed_burst: 1, peak_burst: 1 };
        let mut buckets = Buckets::new(config).unwrap();
        assert_eq!(buckets.colour(0, 1), GREEN);
        // 8 bits at 3 bits a second take 2.666... s.
        for step in 1..2667 {
            assert_eq!(buckets.colour(step * 1_000_000_000, 1), RED);
        }
        assert_eq!(buckets.colour(2_667_000_000_000, 1), GREEN);
    }

    #[test]
    fn no_overflow() {
        let config = MeterConfig { committed: u64::MAX, peak: u64::MAX, committed_burst: 1 << 20, peak_burst: 1 << 20 };
        let mut buckets = Buckets::new(config).unwrap();
        assert_eq!(buckets.colour(0, u64::MAX), RED);
        assert_eq!(buckets.colour(0, 1 << 20), GREEN);
        assert_eq!(buckets.colour(u64::MAX, 1 << 20), GREEN);
        assert_eq!(buckets.colour(u64::MAX, 1), RED);
    }

    #[test]
    fn a_burst_that_cannot_be_counted_is_refused() {
        // One part of a bit a picosecond, 10^12 to a bit.
        let config = MeterConfig { committed: 1, peak: 1, committed_burst: 2_305_843, peak_burst: 2_305_843 };
        assert!(Buckets::new(config).is_ok());
        let (problem, remedy) = Buckets::new(MeterConfig { peak_burst: 2_305_844, ..config }).unwrap_err();
        assert!(
            problem.contains("2305844 bytes at 1 bit/s") && remedy.contains("at most 2305843 bytes"),
            "{problem}; {remedy}"
        );
        // A round rate leaves much more room.
        let round = MeterConfig { committed: 1000, peak: 1000, ..config };
        assert!(Buckets::new(MeterConfig { peak_burst: 2_305_843_009, ..round }).is_ok());
    }
}
