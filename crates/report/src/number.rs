//! Numbers as people read them.

/// A time with a fitting unit.
pub(crate) fn seconds(value: f64) -> String {
    let (scaled, unit) = match value.abs() {
        s if s >= 0.999_5 => (value, "s"),
        s if s >= 0.999_5e-3 => (value * 1e3, "ms"),
        s if s >= 0.999_5e-6 || s == 0.0 => (value * 1e6, "us"),
        _ => (value * 1e9, "ns"),
    };
    format!("{} {unit}", plain(scaled))
}

/// A number with three significant digits, or all digits of its whole part.
pub(crate) fn plain(value: f64) -> String {
    match value.abs() {
        v if v >= 999.5 => count(value.round().max(0.0) as u64),
        v if v >= 99.95 => format!("{value:.0}"),
        v if v >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// A share as a percentage.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

/// A whole number with its thousands apart.
pub(crate) fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_and_digits() {
        assert_eq!(seconds(1.234), "1.23 s");
        assert_eq!(seconds(0.001_234), "1.23 ms");
        assert_eq!(seconds(0.999_9e-3), "1.00 ms");
        assert_eq!(seconds(45.678e-6), "45.7 us");
        assert_eq!(seconds(5e-9), "5.00 ns");
        assert_eq!(seconds(0.0), "0.00 us");
        assert_eq!(plain(123.4), "123");
        assert_eq!(plain(99.96), "100");
        assert_eq!(plain(12_345.6), "12,346");
        assert_eq!([count(0), count(999), count(1_000), count(1_234_567)], ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(percent(0.8765), "87.6%");
    }
}
