//! Percentiles and what is shown of a set of numbers.

use serde_json::{Value, json};

/// The nearest-rank percentile: the smallest value that at least the share `p` of the values do not exceed.
///
/// `sorted` must not be empty.
pub(crate) fn percentile<T: Copy>(sorted: &[T], p: f64) -> T {
    sorted[rank(sorted.len(), p)]
}

/// The index of the nearest-rank percentile among `count` sorted values: ceil(p n) - 1. The product is made a hair
/// smaller before it is rounded up, or 0.07 of 100 would be the 8th value, because 0.07 * 100.0 is above 7.
pub(crate) fn rank(count: usize, p: f64) -> usize {
    let product = p * count as f64;
    let rank = (product - product * 4.0 * f64::EPSILON).ceil().max(1.0) as usize;
    rank.min(count) - 1
}

/// The numbers among the values that are there and finite, in order.
pub(crate) fn sorted(values: impl Iterator<Item = Option<f64>>) -> Vec<f64> {
    let mut values: Vec<f64> = values.flatten().filter(|value| value.is_finite()).collect();
    values.sort_unstable_by(f64::total_cmp);
    values
}

/// The mean; `None` of nothing.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// To so many significant digits, so that a number takes few characters.
pub(crate) fn significant(value: f64, digits: i32) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let places = digits - 1 - value.abs().log10().floor() as i32;
    // A power of ten with a positive exponent is exact where one with a negative exponent is not.
    if places >= 0 {
        let unit = 10f64.powi(places);
        (value * unit).round() / unit
    } else {
        let unit = 10f64.powi(-places);
        (value / unit).round() * unit
    }
}

/// Mean and percentiles of sorted values for the page's script.
pub(crate) fn summary(sorted: &[f64]) -> Value {
    let Some(mean) = mean(sorted) else { return Value::Null };
    let at = |p| significant(percentile(sorted, p), 5);
    json!({
        "mean": significant(mean, 5), "p50": at(0.5), "p95": at(0.95), "p99": at(0.99), "p999": at(0.999), "max": at(1.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_rank_by_hand() {
        let hundred: Vec<u32> = (1..=100).collect();
        for p in 1..=100u32 {
            assert_eq!(percentile(&hundred, f64::from(p) / 100.0), p);
        }
        assert_eq!(percentile(&hundred, 0.991), 100);
        assert_eq!(percentile(&hundred, 0.0), 1);
        assert_eq!(percentile(&[5, 6, 7], 0.5), 6);
        assert_eq!(percentile(&[5, 6, 7, 8], 0.5), 6);
        assert_eq!(percentile(&[5], 0.99), 5);
    }

    #[test]
    fn what_is_not_a_number_is_left_out() {
        assert_eq!(sorted([Some(2.0), None, Some(f64::NAN), Some(1.0), Some(f64::INFINITY)].into_iter()), [1.0, 2.0]);
        assert_eq!(summary(&[]), Value::Null);
        assert_eq!(mean(&[]), None);
    }

    #[test]
    fn digits_are_cut_and_printed_short() {
        assert_eq!(significant(0.000_123_456, 4).to_string(), "0.0001235");
        assert_eq!(significant(123_456.0, 4).to_string(), "123500");
        assert_eq!(significant(9.9996, 4).to_string(), "10");
        assert_eq!(significant(0.0, 4), 0.0);
        assert_eq!(significant(-1.23456, 3).to_string(), "-1.23");
    }
}
