//! Percentiles, means with their confidence, and fairness.

use std::cmp::Ordering;

/// The percentile by nearest rank: the smallest value that at least the share `p` of the values do not exceed,
/// `sorted[ceil(p n) - 1]`. `None` if there are no values.
pub fn percentile<T: Copy>(sorted: &[T], p: f64) -> Option<T> {
    let n = sorted.len() as f64;
    // 0.07 * 100 is a little more than 7 in floating point; its rank is 7 all the same.
    let rank = (p * n - 4.0 * f64::EPSILON * n).ceil().max(1.0) as usize;
    sorted.get(rank.min(sorted.len()).checked_sub(1)?).copied()
}

/// The percentile as the authors of ABM compute it, `sorted[int(n p) - 1]`: for comparison with their results. In their
/// language index -1 is the last value, so where `n p < 1` it is the largest; this does the same.
pub fn percentile_abm(sorted: &[f64], p: f64) -> Option<f64> {
    match (sorted.len() as f64 * p) as usize {
        0 => sorted.last().copied(),
        rank => sorted.get(rank - 1).copied(),
    }
}

/// The mean; `None` if there are no values.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// A mean over seeds, and how far the true one may be away.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The mean.
    pub mean: f64,
    /// Half the width of the 95% confidence interval; `None` for a single value, of which nothing is known.
    pub half: Option<f64>,
}

impl Interval {
    /// The mean of independent values and its 95% confidence interval by Student's t; `None` if there are no values.
    pub fn of(values: &[f64]) -> Option<Self> {
        let mean = mean(values)?;
        let n = values.len();
        let half = (n > 1).then(|| {
            let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1) as f64;
            student_t_975(n - 1) * (variance / n as f64).sqrt()
        });
        Some(Self { mean, half })
    }

    /// On which side of zero all of the interval lies; `None` if zero is in it, or if nothing is known of its width.
    pub fn sign(&self) -> Option<Ordering> {
        let half = self.half?;
        if self.mean.abs() > half { self.mean.partial_cmp(&0.0) } else { None }
    }

    /// Whether this interval and another have no value in common. `None` if either has no width.
    pub fn is_apart_from(&self, other: &Self) -> Option<bool> {
        let halves = self.half? + other.half?;
        Some((self.mean - other.mean).abs() > halves)
    }
}

/// The 97.5% quantile of Student's t with 1 to 30 degrees of freedom.
const STUDENT_T_975: [f64; 30] = [
    12.706_205, 4.302_653, 3.182_446, 2.776_445, 2.570_582, 2.446_912, 2.364_624, 2.306_004, 2.262_157, 2.228_139,
    2.200_985, 2.178_813, 2.160_369, 2.144_787, 2.131_450, 2.119_905, 2.109_816, 2.100_922, 2.093_024, 2.085_963,
    2.079_614, 2.073_873, 2.068_658, 2.063_899, 2.059_539, 2.055_529, 2.051_831, 2.048_407, 2.045_230, 2.042_272,
];

/// The 97.5% quantile of Student's t. Above the table: the expansion around the normal quantile in powers of one over
/// the degrees of freedom (Cornish and Fisher), which is right to six digits there.
pub fn student_t_975(degrees: usize) -> f64 {
    if let Some(t) = degrees.checked_sub(1).and_then(|index| STUDENT_T_975.get(index)) {
        return *t;
    }
    if degrees == 0 {
        return f64::INFINITY;
    }
    const Z: f64 = 1.959_963_984_540_054;
    let (v, z2) = (degrees as f64, Z * Z);
    let first = (z2 + 1.0) * Z / 4.0;
    let second = ((5.0 * z2 + 16.0) * z2 + 3.0) * Z / 96.0;
    let third = (((3.0 * z2 + 19.0) * z2 + 17.0) * z2 - 15.0) * Z / 384.0;
    Z + first / v + second / (v * v) + third / (v * v * v)
}

/// Jain's index of fairness, `(sum x)^2 / (n sum x^2)`: 1 if all are equal, 1/n if one has all. `None` if there are no
/// values or all are 0.
pub fn jain_index(values: &[f64]) -> Option<f64> {
    let squares: f64 = values.iter().map(|value| value * value).sum();
    (squares > 0.0).then(|| values.iter().sum::<f64>().powi(2) / (values.len() as f64 * squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp(n: u32) -> Vec<f64> {
        (1..=n).map(f64::from).collect()
    }

    #[test]
    fn nearest_rank() {
        let hundred = ramp(100);
        for p in 1..=100u32 {
            assert_eq!(percentile(&hundred, f64::from(p) / 100.0), Some(f64::from(p)), "{p}");
        }
        assert_eq!(percentile(&ramp(5), 0.5), Some(3.0));
        assert_eq!(percentile(&ramp(4), 0.5), Some(2.0));
        assert_eq!(percentile(&ramp(10), 0.99), Some(10.0));
        assert_eq!(percentile(&ramp(3), 0.0), Some(1.0));
        assert_eq!(percentile(&ramp(1_000), 0.999), Some(999.0));
        assert_eq!(percentile::<f64>(&[], 0.5), None);
    }

    #[test]
    fn the_abm_authors_rank_is_one_lower_unless_np_is_whole() {
        // 453 flows: int(448.47) - 1 is the 448th; nearest rank is the 449th.
        assert_eq!(percentile_abm(&ramp(453), 0.99), Some(448.0));
        assert_eq!(percentile(&ramp(453), 0.99), Some(449.0));
        assert_eq!(percentile_abm(&ramp(100), 0.5), percentile(&ramp(100), 0.5));
        assert_eq!(percentile_abm(&ramp(3), 0.1), Some(3.0));
        assert_eq!(percentile_abm(&[], 0.5), None);
    }

    #[test]
    fn a_textbook_confidence_interval() {
        // n = 5, mean 3, s = sqrt(2.5): half = 2.776445 * sqrt(2.5 / 5).
        let interval = Interval::of(&ramp(5)).unwrap();
        assert_eq!(interval.mean, 3.0);
        assert!((interval.half.unwrap() - 2.776_445 * 0.5f64.sqrt()).abs() < 1e-9);
        assert_eq!(Interval::of(&[7.0]), Some(Interval { mean: 7.0, half: None }));
        assert_eq!(Interval::of(&[]), None);
    }

    #[test]
    fn intervals_apart() {
        let interval = |mean, half| Interval { mean, half: Some(half) };
        assert_eq!(interval(1.0, 0.4).is_apart_from(&interval(2.0, 0.5)), Some(true));
        assert_eq!(interval(1.0, 0.6).is_apart_from(&interval(2.0, 0.5)), Some(false));
        assert_eq!(interval(1.0, 0.6).is_apart_from(&Interval { mean: 9.0, half: None }), None);
    }

    #[test]
    fn the_side_of_zero() {
        let interval = |mean, half| Interval { mean, half };
        assert_eq!(interval(-2.0, Some(1.9)).sign(), Some(Ordering::Less));
        assert_eq!(interval(2.0, Some(0.0)).sign(), Some(Ordering::Greater));
        assert_eq!(interval(2.0, Some(2.0)).sign(), None);
        assert_eq!(interval(0.0, Some(0.0)).sign(), None);
        assert_eq!(interval(2.0, None).sign(), None);
    }

    #[test]
    fn quantiles_of_students_t() {
        // From published tables.
        for (degrees, t) in [(1, 12.706), (4, 2.776), (30, 2.042), (40, 2.0211), (60, 2.0003), (120, 1.9799)] {
            assert!((student_t_975(degrees) - t).abs() < 5e-4, "{degrees}");
        }
        assert!((student_t_975(31) - 2.039_513).abs() < 1e-5);
        assert!((student_t_975(1_000_000_000) - 1.959_964).abs() < 1e-6);
        assert!((1..100).all(|degrees| student_t_975(degrees) > student_t_975(degrees + 1)));
    }

    #[test]
    fn fairness() {
        assert_eq!(jain_index(&[3.0; 7]), Some(1.0));
        assert_eq!(jain_index(&[5.0, 0.0, 0.0, 0.0]), Some(0.25));
        assert_eq!(jain_index(&[0.0]), None);
        assert_eq!(jain_index(&[]), None);
    }
}
