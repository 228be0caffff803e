//! Numbers as people read them, in HTML.

use crate::Amount;
use crate::measures::Kind;
use forebay_results::paired::Difference;
use forebay_results::stats::Interval;

/// How many of a unit that fits a time are in a second, and the unit.
fn time_unit(seconds: f64) -> (f64, &'static str) {
    match seconds.abs() {
        s if s >= 0.999_5 => (1.0, "s"),
        s if s >= 0.999_5e-3 => (1e3, "ms"),
        s if s >= 0.999_5e-6 || s == 0.0 => (1e6, "us"),
        _ => (1e9, "ns"),
    }
}

/// A time.
pub(crate) fn time(seconds: f64) -> String {
    interval(Kind::Time, &Interval { mean: seconds, half: None })
}

/// A mean with half its confidence interval, if that is known, both in one unit.
pub(crate) fn interval(kind: Kind, interval: &Interval) -> String {
    let Interval { mean, half } = *interval;
    let (factor, unit) = match kind {
        Kind::Time => time_unit(mean),
        _ => (1.0, ""),
    };
    let number = |value: f64| match kind {
        Kind::Share => fixed(value * 100.0, 1),
        Kind::Count if half.is_none() => count(value.round().max(0.0) as u64),
        _ => plain(value * factor),
    };
    let half = half.map_or_else(String::new, |half| format!(" &plusmn; {}", number(half)));
    let unit = match kind {
        Kind::Share => "%".to_owned(),
        Kind::Time => format!(" {unit}"),
        _ => String::new(),
    };
    format!("{}{half}{unit}", number(mean))
}

/// A difference as a percentage of the baseline's mean, or as it is without a baseline.
pub(crate) fn difference(kind: Kind, difference: &Difference, baseline: Option<Interval>) -> String {
    let Interval { mean, half } = difference.interval;
    let sign = if mean > 0.0 {
        "+"
    } else if mean < 0.0 {
        "&minus;"
    } else {
        ""
    };
    let (of, kind, unit) = match baseline {
        Some(Interval { mean: base, .. }) => (100.0 / base, Kind::Plain, "%"),
        None => (1.0, kind, ""),
    };
    let scaled = Interval { mean: mean.abs() * of, half: half.map(|half| half * of) };
    format!("{sign}{}{unit}", interval(kind, &scaled))
}

/// A rate.
pub(crate) fn rate(bps: f64) -> String {
    if bps >= 1e9 { format!("{} Gb/s", bps / 1e9) } else { format!("{} Mb/s", bps / 1e6) }
}

/// What a run cost.
pub(crate) fn amount(amount: Amount) -> String {
    match amount {
        Amount::Count(value) => count(value.round() as u64),
        Amount::Seconds(value) => format!("{value:.2}"),
        Amount::Bytes(value) => format!("{:.1} MB", value / 1e6),
    }
}

/// A number with three significant digits, or all digits of its whole part.
pub(crate) fn plain(value: f64) -> String {
    match value.abs() {
        v if v >= 999.5 => count(value.round().max(0.0) as u64),
        v if v >= 99.95 => fixed(value, 0),
        v if v >= 9.995 => fixed(value, 1),
        _ => fixed(value, 2),
    }
}

/// So many decimal places, and half of the last one up, as the page's script has it: a mean over four seeds often is
/// half a packet.
fn fixed(value: f64, places: i32) -> String {
    // What lies half-way between two texts is a whole number of this part of the last place, exactly.
    let is_between =
        (value * 2f64.powi(places + 1)).fract() == 0.0 && (value * 10f64.powi(places)).fract().abs() == 0.5;
    let value = if is_between { value + 0.25 * 10f64.powi(-places) * value.signum() } else { value };
    format!("{value:.0$}", places as usize)
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
    use forebay_results::paired::Verdict;

    #[test]
    fn units_and_digits() {
        let time = |mean| interval(Kind::Time, &Interval { mean, half: None });
        assert_eq!(time(1.234), "1.23 s");
        assert_eq!(time(0.001_234), "1.23 ms");
        assert_eq!(time(0.999_9e-3), "1.00 ms");
        assert_eq!(time(45.678e-6), "45.7 us");
        assert_eq!(time(5e-9), "5.00 ns");
        assert_eq!(time(0.0), "0.00 us");
        assert_eq!(plain(123.4), "123");
        assert_eq!(plain(99.96), "100");
        assert_eq!([plain(434.5), plain(435.5), plain(434.499_999)], ["435", "436", "434"]);
        assert_eq!([plain(10.25), plain(1.125), plain(1.005), plain(2.675)], ["10.3", "1.13", "1.00", "2.67"]);
        assert_eq!(plain(12_345.6), "12,346");
        assert_eq!([count(0), count(999), count(1_000), count(1_234_567)], ["0", "999", "1,000", "1,234,567"]);
        let share = |half| interval(Kind::Share, &Interval { mean: 0.8765, half });
        assert_eq!([share(None), share(Some(0.01))], ["87.6%", "87.6 &plusmn; 1.0%"]);
        let count = |mean, half| interval(Kind::Count, &Interval { mean, half });
        assert_eq!([count(1_234.0, None), count(1_234.4, Some(3.25))], ["1,234", "1,234 &plusmn; 3.25"]);
        assert_eq!(count(434.5, None), "435");
    }

    #[test]
    fn differences_are_shares_of_the_baseline() {
        let text = |mean, half, base| {
            let interval = Interval { mean, half };
            let base = (base > 0.0).then_some(Interval { mean: base, half: None });
            difference(Kind::Time, &Difference { interval, verdict: Verdict::Undecided }, base)
        };
        assert_eq!(text(-0.5e-3, Some(0.1e-3), 2e-3), "&minus;25.0 &plusmn; 5.00%");
        assert_eq!(text(4e-3, None, 2e-3), "+200%");
        assert_eq!(text(0.0, Some(0.0), 2e-3), "0.00 &plusmn; 0.00%");
        assert_eq!(text(4e-3, Some(1e-3), 0.0), "+4.00 &plusmn; 1.00 ms");
    }
}
