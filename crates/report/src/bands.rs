//! Bands around the distribution of all seeds: how far the share of a single seed's values is from it.

use crate::stats::{percentile, significant};
use forebay_results::stats::Interval;

/// With two seeds Student's t is 12.7, and a band would hide the plot and say nothing.
pub(crate) const FEWEST_SEEDS: usize = 3;
/// The most points of a band; between two of them the page lets its distance from the curve change evenly.
const MOST_POINTS: usize = 24;
/// The fewest, on pages of many curves.
const FEWEST_POINTS: usize = 12;
/// A band has a point for so many of a long curve.
const EVERY: usize = 10;
/// Digits of a distance from the curve.
const DIGITS: i32 = 3;

/// The flows or queries of a seed: the values of those that finished, in order, and how many there are of all.
pub(crate) struct Shares<'a> {
    pub(crate) sorted: &'a [f64],
    pub(crate) all: usize,
}

impl Shares<'_> {
    /// How many do not exceed a value.
    fn up_to(&self, value: f64) -> usize {
        self.sorted.partition_point(|of| *of <= value)
    }
}

/// A point of a band: which point of the curve it belongs to, and how far below and above the curve the ends of the
/// interval are.
type BandPoint = (usize, f64, f64);

/// The 95% confidence interval over seeds of the share that does not exceed a value, at some points of the curve of all
/// seeds; they are its values `xs`. Seeds that have nothing to count say nothing. `None` of too few seeds.
pub(crate) fn around(by_seed: &[Shares], xs: &[f64]) -> Option<Vec<BandPoint>> {
    let counted: Vec<&Shares> = by_seed.iter().filter(|seed| seed.all > 0).collect();
    let all: usize = counted.iter().map(|seed| seed.all).sum();
    let at = |index: usize| {
        let shares: Vec<f64> = counted.iter().map(|seed| seed.up_to(xs[index]) as f64 / seed.all as f64).collect();
        let Interval { mean, half } = Interval::of(&shares)?;
        let curve = counted.iter().map(|seed| seed.up_to(xs[index])).sum::<usize>() as f64 / all as f64;
        let half = half?;
        Some((index, significant(mean - half - curve, DIGITS), significant(mean + half - curve, DIGITS)))
    };
    (counted.len() >= FEWEST_SEEDS && !xs.is_empty()).then(|| spread(xs.len()).filter_map(at).collect())
}

/// The 95% confidence interval over seeds of a percentile of all their values: the percentiles at the ends of the
/// interval of the share that does not exceed it (Woodruff's method). It ends at the smallest and the largest value.
pub(crate) fn of_percentile(by_seed: &[Shares], all: &[f64], p: f64) -> Option<(f64, f64)> {
    let (_, below, above) = *around(by_seed, &[percentile(all, p)?])?.first()?;
    let at = |share: f64| percentile(all, share.clamp(0.0, 1.0));
    Some((at(p + below)?, at(p + above)?))
}

/// Which points of a curve its band has: few, evenly, with the first and the last.
fn spread(points: usize) -> impl Iterator<Item = usize> {
    let many = points.min((points / EVERY).clamp(FEWEST_POINTS, MOST_POINTS));
    (0..many).map(move |k| if many > 1 { (k * (points - 1) + (many - 1) / 2) / (many - 1) } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seed(sorted: &[f64], all: usize) -> Shares<'_> {
        Shares { sorted, all }
    }

    #[test]
    fn the_band_is_students_interval_of_the_shares() {
        // At 10, of three seeds with four flows each, 1, 2 and 3 are through: shares 0.25, 0.5, 0.75; mean 0.5, which is
        // the curve's share of 6 of 12; s = 0.25, and half = 4.302653 * 0.25 / sqrt(3) = 0.62103.
        let seeds = [
            seed(&[10.0, 20.0, 20.0, 20.0], 4),
            seed(&[10.0, 10.0, 20.0, 20.0], 4),
            // One of them never finishes: at 20 the shares are 1, 1 and 0.75, their mean 11/12 as the curve's; s =
            // sqrt(1/48), half = 4.302653 / 12 = 0.35855.
            seed(&[10.0, 10.0, 10.0], 4),
        ];
        let band = around(&seeds, &[10.0, 20.0]).unwrap();
        assert_eq!(band, [(0, -0.621, 0.621), (1, -0.359, 0.359)]);
    }

    #[test]
    fn seeds_of_different_size_count_the_same() {
        // Shares 1, 0 and 0.5: mean 0.5, half = 4.302653 * 0.5 / sqrt(3) = 1.24207. The curve has 9 of 12: 0.75.
        let nine = [1.0; 9];
        let seeds = [seed(&nine[..8], 8), seed(&[2.0, 2.0], 2), seed(&[1.0, 2.0], 2), seed(&[], 0)];
        assert_eq!(around(&seeds, &[1.0]).unwrap(), [(0, -1.49, 0.992)]);
    }

    #[test]
    fn percentiles_have_the_interval_of_their_share() {
        // The median of 1 to 12 is 6. Of the seeds 3, 2 and 1 of 4 are up to it: half 0.62103 as above, so that the
        // interval is from the smallest to the largest.
        let all: Vec<f64> = (1..=12).map(f64::from).collect();
        let seeds = [seed(&[1.0, 2.0, 3.0, 7.0], 4), seed(&[4.0, 5.0, 8.0, 9.0], 4), seed(&[6.0, 10.0, 11.0, 12.0], 4)];
        assert_eq!(of_percentile(&seeds, &all, 0.5), Some((1.0, 12.0)));
        // Here 2 of 4 in two of them, 5 of 10 in the third: no width.
        let ten: Vec<f64> = (1..=10).map(f64::from).collect();
        let pair = [4.0, 5.0, 8.0, 9.0];
        let seeds = [seed(&pair, 4), seed(&ten, 10), seed(&pair, 4)];
        let mut all = [&pair[..], &ten, &pair].concat();
        all.sort_unstable_by(f64::total_cmp);
        assert_eq!(of_percentile(&seeds, &all, 0.5), Some((5.0, 5.0)));
        assert_eq!(of_percentile(&seeds[..2], &all, 0.5), None);
        // Shares 0.4, 0.5 and 0.6 at 50 of 300: s = 0.1, half = 4.302653 * 0.1 / sqrt(3) = 0.248.
        let ramp = |low: u32| -> Vec<f64> {
            (1..=low).map(|k| f64::from(k) / 2.0).chain((low + 1..=100).map(|k| 50.0 + f64::from(k))).collect()
        };
        let ramps = [ramp(40), ramp(50), ramp(60)];
        let seeds: Vec<Shares> = ramps.iter().map(|ramp| seed(ramp, 100)).collect();
        let mut all = ramps.concat();
        all.sort_unstable_by(f64::total_cmp);
        let (low, high) = of_percentile(&seeds, &all, 0.5).unwrap();
        // The ends are the values number 75.6 and 224.4 of 300, rounded up.
        assert_eq!((low, high), (all[75], all[224]));
    }

    #[test]
    fn two_seeds_are_too_few_and_equal_ones_have_a_band_of_no_width() {
        let same = || seed(&[1.0, 2.0], 2);
        assert_eq!(around(&[same(), same()], &[1.0, 2.0]), None);
        assert_eq!(around(&[same(), same(), seed(&[], 0)], &[1.0, 2.0]), None);
        assert_eq!(around(&[same(), same(), same()], &[1.0, 2.0]), Some(vec![(0, 0.0, 0.0), (1, 0.0, 0.0)]));
        assert_eq!(around(&[seed(&[], 1), seed(&[], 1), seed(&[], 1)], &[]), None);
    }

    #[test]
    fn a_band_has_few_points_from_the_first_to_the_last() {
        for (points, many) in [(1, 1), (2, 2), (12, 12), (13, 12), (60, 12), (150, 15), (400, 24)] {
            let spread: Vec<usize> = spread(points).collect();
            assert_eq!((spread[0], spread[spread.len() - 1]), (0, points - 1));
            assert!(spread.len() == many && spread.windows(2).all(|pair| pair[0] < pair[1]));
        }
    }
}
