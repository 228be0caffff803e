//! What is shown of a set of numbers.

pub(crate) use forebay_results::stats::{mean, percentile};
use serde_json::{Value, json};

/// The numbers among the values that are there and finite, in order.
pub(crate) fn sorted(values: impl Iterator<Item = Option<f64>>) -> Vec<f64> {
    let mut values: Vec<f64> = values.flatten().filter(|value| value.is_finite()).collect();
    values.sort_unstable_by(f64::total_cmp);
    values
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
    let at = |p| percentile(sorted, p).map(|value| significant(value, 5));
    json!({
        "mean": significant(mean, 5), "p50": at(0.5), "p95": at(0.95), "p99": at(0.99), "p999": at(0.999), "max": at(1.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_number_is_left_out() {
        assert_eq!(sorted([Some(2.0), None, Some(f64::NAN), Some(1.0), Some(f64::INFINITY)].into_iter()), [1.0, 2.0]);
        assert_eq!(summary(&[]), Value::Null);
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
