//! Flow-size distributions.

use forebay_tm::Bytes;
use std::sync::Arc;

/// What a table of points says about the sizes between them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interpolation {
    /// Sizes between two points are equally likely: the cumulative probability is a line from point to point. A first
    /// point above 0 is an atom: its size has that probability.
    #[default]
    Linear,
    /// Only the sizes of the points exist: the cumulative probability is a staircase.
    Step,
}

/// A size and the probability that a flow is not larger.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The size.
    pub bytes: f64,
    /// The cumulative probability.
    pub probability: f64,
}

/// A distribution of flow sizes. Cheap to clone: points are shared.
#[derive(Clone, Debug, PartialEq)]
pub enum SizeDistribution {
    /// Always the same.
    Fixed(Bytes),
    /// All sizes of a range are equally likely.
    Uniform {
        /// The smallest.
        min: Bytes,
        /// The largest.
        max: Bytes,
    },
    /// Exponential.
    Exponential {
        /// Its mean.
        mean: Bytes,
    },
    /// Points of the cumulative distribution; bytes and probabilities never decrease and the last probability is 1.
    Table {
        /// In order.
        points: Arc<[Point]>,
        /// What lies between the points.
        interpolation: Interpolation,
    },
}

impl SizeDistribution {
    /// The mean in bytes, exact but for the rounding of samples to whole bytes; at least 1, as samples are.
    pub fn mean(&self) -> f64 {
        let mean = match self {
            Self::Fixed(bytes) => bytes.as_f64(),
            Self::Uniform { min, max } => (min.as_f64() + max.as_f64()) / 2.0,
            Self::Exponential { mean } => mean.as_f64(),
            Self::Table { points, interpolation } => {
                let mut mean = points[0].bytes * points[0].probability;
                for pair in points.windows(2) {
                    let size = match interpolation {
                        Interpolation::Linear => (pair[0].bytes + pair[1].bytes) / 2.0,
                        Interpolation::Step => pair[1].bytes,
                    };
                    mean += (pair[1].probability - pair[0].probability) * size;
                }
                mean
            }
        };
        mean.max(1.0)
    }

    /// The size that a share `u` of all flows is below (0 <= u < 1): the inverse of the cumulative distribution,
    /// rounded to whole bytes, at least 1.
    pub fn sample(&self, u: f64) -> u64 {
        let size = match self {
            Self::Fixed(bytes) => return bytes.get().max(1),
            Self::Uniform { min, max } => min.as_f64() + u * (max.as_f64() - min.as_f64()),
            Self::Exponential { mean } => -mean.as_f64() * (-u).ln_1p(),
            Self::Table { points, interpolation } => {
                let above = points.partition_point(|point| point.probability <= u).min(points.len() - 1);
                let upper = points[above];
                match (above.checked_sub(1).map(|below| points[below]), interpolation) {
                    (Some(lower), Interpolation::Linear) => {
                        let share = (u - lower.probability) / (upper.probability - lower.probability);
                        lower.bytes + share * (upper.bytes - lower.bytes)
                    }
                    _ => upper.bytes,
                }
            }
        };
        (size.round() as u64).max(1)
    }

    /// The probability that a flow is not larger than `bytes`, before rounding to whole bytes.
    pub fn cumulative(&self, bytes: f64) -> f64 {
        match self {
            Self::Fixed(size) => f64::from(u8::from(bytes >= size.as_f64())),
            Self::Uniform { min, max } if min == max => f64::from(u8::from(bytes >= min.as_f64())),
            Self::Uniform { min, max } => ((bytes - min.as_f64()) / (max.as_f64() - min.as_f64())).clamp(0.0, 1.0),
            Self::Exponential { mean } => -(-bytes.max(0.0) / mean.as_f64()).exp_m1(),
            Self::Table { points, interpolation } => {
                let above = points.partition_point(|point| point.bytes <= bytes);
                let Some(lower) = above.checked_sub(1).map(|below| points[below]) else { return 0.0 };
                match (points.get(above), interpolation) {
                    (Some(upper), Interpolation::Linear) => {
                        let share = (bytes - lower.bytes) / (upper.bytes - lower.bytes);
                        lower.probability + share * (upper.probability - lower.probability)
                    }
                    _ => lower.probability,
                }
            }
        }
    }

    /// The mean number of packets of `mss` bytes of payload: the sum over k of the probability that a flow is larger
    /// than k packets; every flow has at least one.
    pub fn mean_packets(&self, mss: u32) -> f64 {
        let mss = f64::from(mss.max(1));
        match self {
            Self::Fixed(bytes) => (bytes.as_f64() / mss).ceil().max(1.0),
            // A geometric series.
            Self::Exponential { mean } => -1.0 / (-mss / mean.as_f64()).exp_m1(),
            Self::Uniform { max, .. } => self.count_packets(mss, max.as_f64()),
            Self::Table { points, .. } => self.count_packets(mss, points[points.len() - 1].bytes),
        }
    }

    fn count_packets(&self, mss: f64, largest: f64) -> f64 {
        let full = (largest / mss).floor() as u64;
        1.0 + (1..=full).map(|k| 1.0 - self.cumulative(k as f64 * mss)).sum::<f64>()
    }

    /// The mean number of bytes on the wire: payload, and a header for every packet.
    pub fn mean_on_the_wire(&self, mss: u32, header: u32) -> f64 {
        self.mean() + f64::from(header) * self.mean_packets(mss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_tm::random::Random;

    fn table(points: &[(f64, f64)], interpolation: Interpolation) -> SizeDistribution {
        let points = points.iter().map(|&(bytes, probability)| Point { bytes, probability }).collect();
        SizeDistribution::Table { points, interpolation }
    }

    /// The largest distance between the distribution and that of `n` samples (Kolmogorov and Smirnov), where samples
    /// are rounded: the distribution is looked at half a byte above a size.
    fn distance(sizes: &SizeDistribution, n: usize, seed: u64) -> f64 {
        let mut random = Random::stream(seed, "test", 0);
        let mut samples: Vec<u64> = (0..n).map(|_| sizes.sample(random.unit())).collect();
        samples.sort_unstable();
        let mut worst = 0.0f64;
        for (i, pair) in samples.windows(2).enumerate() {
            if pair[0] != pair[1] {
                let exact = sizes.cumulative(pair[0] as f64 + 0.5);
                worst = worst.max((exact - (i + 1) as f64 / n as f64).abs());
            }
        }
        worst
    }

    #[test]
    fn samples_follow_the_distribution() {
        let all = crate::workload::BUNDLED.iter().map(|(name, _)| SizeDistribution::bundled(name).unwrap());
        let others = [
            SizeDistribution::Uniform { min: Bytes::new(1_000), max: Bytes::new(50_000) },
            SizeDistribution::Exponential { mean: Bytes::new(100_000) },
            table(&[(1.0, 0.15), (10.0, 0.5), (10_000.0, 1.0)], Interpolation::Step),
            table(&[(10.0, 0.25), (20.0, 0.25), (20.0, 0.75), (1_000.0, 1.0)], Interpolation::Linear),
        ];
        for (i, sizes) in all.chain(others).enumerate() {
            // A distance above 1.95/sqrt(n) has a probability of 0.1% for each seed; seeds are fixed.
            let worst = distance(&sizes, 40_000, i as u64);
            assert!(worst < 1.95 / 200.0, "{i}: {worst}");
        }
    }

    #[test]
    fn samples_have_the_mean() {
        for name in ["websearch", "fb_hadoop", "google_rpc_all", "websearch_netbench", "solar2022"] {
            let sizes = SizeDistribution::bundled(name).unwrap();
            let n = 100_000;
            // One sample in each of n equal parts of [0, 1): no luck involved.
            let sum: f64 = (0..n).map(|i| sizes.sample((f64::from(i) + 0.5) / f64::from(n)) as f64).sum();
            let mean = sum / f64::from(n);
            assert!((mean / sizes.mean() - 1.0).abs() < 0.002, "{name}: {mean} for {}", sizes.mean());
        }
    }

    #[test]
    fn the_inverse_at_the_points() {
        let sizes = table(&[(0.0, 0.0), (100.0, 0.0), (200.0, 0.5), (1_200.0, 1.0)], Interpolation::Linear);
        assert_eq!(sizes.sample(0.0), 100, "nothing is below the last point of probability 0");
        assert_eq!(sizes.sample(0.25), 150);
        assert_eq!(sizes.sample(0.5), 200);
        assert_eq!(sizes.sample(0.75), 700);
        assert_eq!(sizes.mean(), 0.5 * 150.0 + 0.5 * 700.0);
        let step = table(&[(1.0, 0.25), (100.0, 1.0)], Interpolation::Step);
        assert_eq!((step.sample(0.2), step.sample(0.25), step.sample(0.999)), (1, 100, 100));
        assert_eq!(step.mean(), 0.25 + 75.0);
        let atom = table(&[(10.0, 0.5), (20.0, 1.0)], Interpolation::Linear);
        assert_eq!((atom.sample(0.49), atom.sample(0.75)), (10, 15));
        assert_eq!(atom.mean(), 5.0 + 7.5);
        assert_eq!(SizeDistribution::Fixed(Bytes::ZERO).sample(0.3), 1, "a flow has at least a byte");
    }

    #[test]
    fn packets_are_counted_exactly() {
        let mss = 1_000;
        assert_eq!(SizeDistribution::Fixed(Bytes::new(2_001)).mean_packets(mss), 3.0);
        // Uniform over (0, 3000]: one, two and three packets are equally likely.
        let uniform = table(&[(0.0, 0.0), (3_000.0, 1.0)], Interpolation::Linear);
        assert!((uniform.mean_packets(mss) - 2.0).abs() < 1e-12);
        let step = table(&[(1_000.0, 0.5), (1_001.0, 1.0)], Interpolation::Step);
        assert!((step.mean_packets(mss) - 1.5).abs() < 1e-12);
        // Drawn and counted.
        for sizes in
            [SizeDistribution::Exponential { mean: Bytes::new(5_000) }, SizeDistribution::bundled("websearch").unwrap()]
        {
            let n = 200_000;
            let drawn: u64 =
                (0..n).map(|i| sizes.sample((f64::from(i) + 0.5) / f64::from(n)).div_ceil(u64::from(mss))).sum();
            let mean = drawn as f64 / f64::from(n);
            assert!((mean / sizes.mean_packets(mss) - 1.0).abs() < 0.001, "{mean} {}", sizes.mean_packets(mss));
        }
        assert_eq!(SizeDistribution::Fixed(Bytes::new(1_460)).mean_on_the_wire(1_460, 40), 1_500.0);
    }
}
