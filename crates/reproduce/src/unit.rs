//! Units of axes and numbers.

/// What a number counts. Numbers are kept in the unit they are shown in, except for shares, which are shown as
/// percentages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A number without a unit.
    None,
    /// 0 to 1, shown as a percentage.
    Share,
    /// Already a percentage.
    Percent,
    /// Nanoseconds.
    Nanoseconds,
    /// Microseconds.
    Microseconds,
    /// Milliseconds.
    Milliseconds,
    /// Seconds.
    Seconds,
    /// Bytes.
    Bytes,
    /// Thousands of bytes.
    Kilobytes,
    /// Millions of bytes.
    Megabytes,
    /// Packets.
    Packets,
    /// 10^9 bits a second.
    Gbps,
    /// 10^6 bits a second.
    Mbps,
}

impl Unit {
    /// As it stands behind a number or in the brackets of an axis; empty if there is none.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Share | Self::Percent => "%",
            Self::Nanoseconds => "ns",
            Self::Microseconds => "us",
            Self::Milliseconds => "ms",
            Self::Seconds => "s",
            Self::Bytes => "B",
            Self::Kilobytes => "KB",
            Self::Megabytes => "MB",
            Self::Packets => "packets",
            Self::Gbps => "Gb/s",
            Self::Mbps => "Mb/s",
        }
    }

    /// Whether differences of this are told in percentage points.
    pub fn is_percentage(self) -> bool {
        matches!(self, Self::Share | Self::Percent)
    }

    /// The number that is shown.
    pub fn shown(self, value: f64) -> f64 {
        if self == Self::Share { value * 100.0 } else { value }
    }

    /// A number with its unit.
    pub fn text(self, value: f64) -> String {
        let symbol = self.symbol();
        let space = if symbol.is_empty() || symbol == "%" { "" } else { " " };
        format!("{}{space}{symbol}", significant(self.shown(value)))
    }
}

/// A number as people read it: three significant digits, all digits of a whole part.
pub fn significant(value: f64) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    let size = value.abs();
    if size != 0.0 && size < 0.001 {
        return format!("{value:.1e}");
    }
    let digits: usize = match size {
        s if s >= 99.95 || s == 0.0 => 0,
        s if s >= 9.995 => 1,
        s if s >= 0.9995 => 2,
        s if s >= 0.099_95 => 3,
        _ => 4,
    };
    let text = format!("{value:.digits$}");
    // What ends in zeros is no more exact for them; "-0" is 0.
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits() {
        let texts =
            [1234.5, 100.0, 99.96, 12.34, 1.0, 1.236, 0.5, 0.012_345, 0.0, -0.000_01, f64::NAN].map(significant);
        assert_eq!(texts, ["1234", "100", "100", "12.3", "1", "1.24", "0.5", "0.0123", "0", "-1.0e-5", "-"]);
        assert_eq!(Unit::Share.text(0.123_4), "12.3%");
        assert_eq!(Unit::Microseconds.text(5.0), "5 us");
    }
}
