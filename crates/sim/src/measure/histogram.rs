//! Occupancy over time, as a histogram of samples.

/// Values are kept exactly below 2^SUB and to 1 part in 2^SUB above.
const SUB: u32 = 5;

/// How often a queue was how long, sampled at regular times: percentiles are weighted by time.
#[derive(Clone, Debug, Default)]
pub struct Occupancy {
    /// Samples per bucket; grows as needed.
    buckets: Vec<u32>,
    samples: u64,
    sum: u128,
    max: u64,
}

fn bucket_of(value: u64) -> usize {
    if value < 1 << SUB {
        return value as usize;
    }
    let shift = value.ilog2() - SUB;
    (((shift + 1) as usize) << SUB) + (value >> shift) as usize - (1 << SUB)
}

/// The largest value of a bucket.
fn top_of(bucket: usize) -> u64 {
    if bucket < 1 << SUB {
        return bucket as u64;
    }
    let shift = (bucket >> SUB) as u32 - 1;
    let mantissa = (1u64 << SUB) + (bucket & ((1 << SUB) - 1)) as u64;
    ((mantissa + 1) << shift) - 1
}

impl Occupancy {
    /// Counts a sample.
    pub fn record(&mut self, value: u64) {
        let bucket = bucket_of(value);
        if bucket >= self.buckets.len() {
            self.buckets.resize(bucket + 1, 0);
        }
        self.buckets[bucket] += 1;
        self.samples += 1;
        self.sum += u128::from(value);
        self.max = self.max.max(value);
    }

    /// Counts many samples of 0.
    pub fn record_zeros(&mut self, count: u64) {
        if count > 0 {
            if self.buckets.is_empty() {
                self.buckets.resize(1, 0);
            }
            self.buckets[0] += u32::try_from(count).unwrap_or(u32::MAX);
            self.samples += count;
        }
    }

    /// Samples.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// The mean.
    pub fn mean(&self) -> f64 {
        if self.samples == 0 { 0.0 } else { self.sum as f64 / self.samples as f64 }
    }

    /// The largest sample.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// The smallest value that at least the share `p` of the samples do not exceed, to within 1 part in 32.
    pub fn percentile(&self, p: f64) -> u64 {
        let rank = (p * self.samples as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (bucket, count) in self.buckets.iter().enumerate() {
            seen += u64::from(*count);
            if seen >= rank {
                return top_of(bucket).min(self.max);
            }
        }
        self.max
    }
}

/// How often a share of something was how large, in steps of a percent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shares {
    /// How often it was so many percent, rounded to the nearest; empty if nothing was ever counted.
    counts: Vec<u64>,
    sum: f64,
}

impl Shares {
    /// Counts a share, from 0 to 1.
    pub fn record(&mut self, share: f64) {
        if self.counts.is_empty() {
            self.counts.resize(101, 0);
        }
        self.counts[(share * 100.0).round().clamp(0.0, 100.0) as usize] += 1;
        self.sum += share;
    }

    /// Counts what another has counted.
    pub fn add(&mut self, other: &Self) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (own, others) in self.counts.iter_mut().zip(&other.counts) {
            *own += others;
        }
        self.sum += other.sum;
    }

    /// How many were counted.
    pub fn samples(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The mean, exactly; NaN of nothing.
    pub fn mean(&self) -> f64 {
        self.sum / self.samples() as f64
    }

    /// For each percent, as a share, how large a part of what was counted does not exceed it; empty of nothing.
    pub fn distribution(&self) -> Vec<(f64, f64)> {
        let samples = self.samples();
        let mut below = 0;
        let part = |(percent, count): (usize, &u64)| {
            below += count;
            (percent as f64 / 100.0, below as f64 / samples as f64)
        };
        self.counts.iter().enumerate().map(part).collect()
    }

    /// The smallest share, in whole percent, that at least the part `p` of what was counted does not exceed; NaN of
    /// nothing.
    pub fn percentile(&self, p: f64) -> f64 {
        self.distribution().into_iter().find(|(_, below)| *below >= p).map_or(f64::NAN, |(share, _)| share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_counted_by_the_percent() {
        let mut shares = Shares::default();
        assert!(shares.mean().is_nan() && shares.percentile(0.5).is_nan() && shares.distribution().is_empty());
        for eighths in 1..=8 {
            shares.record(f64::from(eighths) / 8.0);
        }
        assert_eq!((shares.samples(), shares.mean()), (8, 4.5 / 8.0));
        assert_eq!((shares.percentile(0.5), shares.percentile(0.51), shares.percentile(1.0)), (0.5, 0.63, 1.0));
        let mut both = Shares::default();
        both.add(&shares);
        both.record(0.0);
        assert_eq!((both.samples(), both.mean(), both.percentile(0.01)), (9, 0.5, 0.0));
        assert_eq!((both.distribution().len(), both.distribution()[100]), (101, (1.0, 1.0)));
    }

    #[test]
    fn buckets_are_narrow_and_in_order() {
        let mut last = 0;
        for value in (0..200_000u64).chain([1 << 40, (1 << 40) + 1, u64::MAX / 2]) {
            let bucket = bucket_of(value);
            assert!(bucket >= last);
            assert!(top_of(bucket) >= value, "{value}");
            assert!((top_of(bucket) - value) as f64 <= value as f64 / 32.0, "{value}");
            last = bucket;
        }
    }

    #[test]
    fn percentiles_of_a_ramp() {
        let mut occupancy = Occupancy::default();
        for value in 0..1_000 {
            occupancy.record(value);
        }
        occupancy.record_zeros(1_000);
        assert_eq!(occupancy.samples(), 2_000);
        assert_eq!(occupancy.percentile(0.5), 0);
        let p99 = occupancy.percentile(0.99);
        assert!((979..=1_012).contains(&p99), "{p99}");
        assert_eq!(occupancy.percentile(1.0), 999);
    }
}
