//! Text for terminals: tables, and numbers as short as they can be read.

/// A table in text: the first columns to the left, numbers to the right.
#[derive(Clone, Debug)]
pub struct TextTable {
    rows: Vec<Vec<String>>,
    left: usize,
}

impl TextTable {
    /// `left` columns are aligned to the left.
    pub fn new(left: usize, header: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { rows: vec![header.into_iter().map(Into::into).collect()], left }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Whether there are rows beside the header.
    pub fn has_rows(&self) -> bool {
        self.rows.len() > 1
    }

    /// The text, with a line below the header.
    pub fn render(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut text = String::new();
        for (number, row) in self.rows.iter().enumerate() {
            let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
                if column < self.left { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
            });
            text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
            text.push('\n');
            if number == 0 {
                text.push_str(&"─".repeat(widths.iter().sum::<usize>() + 2 * columns.saturating_sub(1)));
                text.push('\n');
            }
        }
        text
    }
}

/// What stands for an absent value.
pub const ABSENT: &str = "-";

/// A number with three significant digits, never less than its whole part.
pub fn number(value: f64) -> String {
    let size = value.abs();
    // Limits are those of rounding, so that 9.996 is 10.0 and not 10.00.
    let decimals = if size >= 99.95 {
        0
    } else if size >= 9.995 {
        1
    } else if size >= 0.9995 || size == 0.0 {
        2
    } else if size >= 0.0005 {
        3
    } else {
        return format!("{value:.1e}");
    };
    format!("{value:.decimals$}")
}

/// A unit to print values in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// What values are divided by.
    pub divisor: f64,
    /// What follows the number.
    pub suffix: &'static str,
}

impl Scale {
    const ONE: Self = Self { divisor: 1.0, suffix: "" };

    /// The largest unit in which a value is not less than 1 when rounded, or the smallest.
    fn fitting(value: f64, units: &[(f64, &'static str)]) -> Self {
        let unit = units.iter().rev().find(|(divisor, _)| value.abs() >= 0.9995 * divisor).or(units.first());
        unit.map_or(Self::ONE, |(divisor, suffix)| Self { divisor: *divisor, suffix })
    }

    /// For times in microseconds like this one.
    pub fn time(us: f64) -> Self {
        if us == 0.0 {
            return Self { divisor: 1.0, suffix: "us" };
        }
        Self::fitting(us, &[(1e-3, "ns"), (1.0, "us"), (1e3, "ms"), (1e6, "s")])
    }

    /// For shares.
    pub fn percent() -> Self {
        Self { divisor: 0.01, suffix: "%" }
    }

    /// For counts like this one: exact below 100,000.
    pub fn count(value: f64) -> Self {
        if value.abs() < 100_000.0 {
            return Self::ONE;
        }
        Self::fitting(value, &[(1e3, "k"), (1e6, "M"), (1e9, "G"), (1e12, "T")])
    }

    /// For numbers of bytes like this one, in powers of 1000.
    pub fn bytes(value: f64) -> Self {
        Self::fitting(value, &[(1.0, "B"), (1e3, "KB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB")])
    }

    /// For plain numbers.
    pub fn plain() -> Self {
        Self::ONE
    }

    /// A value without the suffix.
    pub fn number(self, value: f64) -> String {
        number(value / self.divisor)
    }
}

/// A time given in microseconds.
pub fn time(us: f64) -> String {
    let scale = Scale::time(us);
    format!("{}{}", if us == 0.0 { "0".to_owned() } else { scale.number(us) }, scale.suffix)
}

/// A share as a percentage. What is not quite the whole does not look like it.
pub fn percent(share: f64) -> String {
    match Scale::percent().number(share) {
        text if text == "100" && share < 1.0 => ">99.9%".to_owned(),
        text => format!("{text}%"),
    }
}

/// A count: exact below 100,000, and with three digits and a letter above.
pub fn count(value: f64) -> String {
    let scale = Scale::count(value);
    if scale == Scale::ONE && value.fract() == 0.0 {
        return format!("{value}");
    }
    format!("{}{}", scale.number(value), scale.suffix)
}

/// A number of bytes, in powers of 1000.
pub fn bytes(value: f64) -> String {
    let scale = Scale::bytes(value);
    format!("{}{}", if scale.divisor == 1.0 { format!("{value:.0}") } else { scale.number(value) }, scale.suffix)
}

/// A name cut to a width.
pub fn short_name(name: &str, width: usize) -> String {
    if name.chars().count() <= width {
        return name.to_owned();
    }
    let mut cut: String = name.chars().take(width.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        assert_eq!(
            [0.0, 0.000_04, 0.0123, 0.9996, 1.0, 9.996, 12.34, 99.96, 1234.5].map(number),
            ["0.00", "4.0e-5", "0.012", "1.00", "1.00", "10.0", "12.3", "100", "1234"]
        );
    }

    #[test]
    fn units() {
        assert_eq!(
            [0.0, 0.0305, 9.0, 999.9, 1234.0, 2.5e6].map(time),
            ["0us", "30.5ns", "9.00us", "1.00ms", "1.23ms", "2.50s"]
        );
        assert_eq!([0.0, 99_999.0, 123_456.0, 4e6].map(count), ["0", "99999", "123k", "4.00M"]);
        assert_eq!([999.0, 9_600.0, 4e6].map(bytes), ["999B", "9.60KB", "4.00MB"]);
        assert_eq!([0.0, 0.1234, 0.999_99, 1.0].map(percent), ["0.00%", "12.3%", ">99.9%", "100%"]);
        assert_eq!(short_name("websearch", 6), "webse…");
    }

    #[test]
    fn a_table() {
        let mut table = TextTable::new(1, ["name", "n"]);
        table.row(vec!["ä".to_owned(), "10".to_owned()]);
        assert_eq!(table.render(), "name   n\n────────\nä     10\n");
    }
}
