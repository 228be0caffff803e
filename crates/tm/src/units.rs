//! Time, sizes and rates as integers that cannot be mixed up.
//!
//! * [`Instant`] and [`Duration`] count picoseconds (u64: 213 days).
//! * [`Bytes`] counts bytes.
//! * [`Rate`] counts bits per second.
//!
//! Each type parses and prints the forms people write: `"10us"`, `"9.6KB"`, `"100Gbps"`. `KB`, `MB` and `GB` are
//! powers of 1000; `KiB`, `MiB` and `GiB` are powers of 1024. A bare integer is in the base unit (picoseconds, bytes,
//! bits per second). A value must come out as a whole number of the base unit: `"1.5KB"` is 1500 bytes, `"1.5B"` is an
//! error.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;
use core::ops::{Add, AddAssign, Sub};
use core::str::FromStr;

/// Picoseconds in a second.
pub const PS_PER_SECOND: u64 = 1_000_000_000_000;

/// A point in time, in picoseconds since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

/// A span of time, in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(u64);

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct Bytes(u64);

/// A rate in bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct Rate(u64);

impl Instant {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// The last instant there is; used for "never".
    pub const NEVER: Self = Self(u64::MAX);

    /// The instant `ps` picoseconds after the start.
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// Picoseconds since the start.
    pub const fn ps(self) -> u64 {
        self.0
    }

    /// This instant plus a span, or `None` past the end of time.
    pub const fn checked_add(self, span: Duration) -> Option<Self> {
        match self.0.checked_add(span.0) {
            Some(ps) => Some(Self(ps)),
            None => None,
        }
    }

    /// The span since an earlier instant; zero if `earlier` is later.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Instant {
    type Output = Self;
    /// Saturates at [`Instant::NEVER`].
    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl Duration {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// A span of `ps` picoseconds.
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// A span of `us` microseconds.
    pub const fn from_us(us: u64) -> Self {
        Self(us * 1_000_000)
    }

    /// The span in picoseconds.
    pub const fn ps(self) -> u64 {
        self.0
    }
}

impl Bytes {
    /// No bytes.
    pub const ZERO: Self = Self(0);

    /// A number of bytes.
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// The number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The number as a double, for comparison with a threshold.
    pub fn as_f64(self) -> f64 {
        self.0 as f64
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Bytes {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Rate {
    /// A rate of `bps` bits per second.
    pub const fn from_bps(bps: u64) -> Self {
        Self(bps)
    }

    /// A rate of `gbps` gigabits per second.
    pub const fn from_gbps(gbps: u64) -> Self {
        Self(gbps * 1_000_000_000)
    }

    /// Bits per second.
    pub const fn bps(self) -> u64 {
        self.0
    }

    /// How long `bytes` take on a wire of this rate: `ceil(8e12 * bytes / rate)` picoseconds, or `None` if that does
    /// not fit 64 bits or the rate is zero.
    pub const fn checked_serialization(self, bytes: u64) -> Option<Duration> {
        const BIT_PS_PER_BYTE: u64 = 8 * PS_PER_SECOND;
        if self.0 == 0 {
            return None;
        }
        if let Some(product) = BIT_PS_PER_BYTE.checked_mul(bytes) {
            return Some(Duration(product.div_ceil(self.0)));
        }
        let wide = (BIT_PS_PER_BYTE as u128 * bytes as u128).div_ceil(self.0 as u128);
        if wide > u64::MAX as u128 { None } else { Some(Duration(wide as u64)) }
    }

    /// [`Rate::checked_serialization`], saturating at the longest span there is.
    pub const fn serialization(self, bytes: u64) -> Duration {
        match self.checked_serialization(bytes) {
            Some(span) => span,
            None => Duration(u64::MAX),
        }
    }
}

/// A value with a unit that could not be read; its text shows the forms that can.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitError {
    /// What is wrong with the text, without a full stop.
    pub problem: String,
    /// What would be right.
    pub remedy: String,
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.problem, self.remedy)
    }
}

impl core::error::Error for UnitError {}

/// A kind of quantity: its units from the smallest to the largest and how to explain them.
struct Quantity {
    name: &'static str,
    units: &'static [(&'static str, u64)],
    /// Units to print with, largest first.
    print: &'static [(&'static str, u64)],
    forms: &'static str,
}

const TIME: Quantity = Quantity {
    name: "time",
    units: &[("ps", 1), ("ns", 1_000), ("us", 1_000_000), ("ms", 1_000_000_000), ("s", PS_PER_SECOND)],
    print: &[("s", PS_PER_SECOND), ("ms", 1_000_000_000), ("us", 1_000_000), ("ns", 1_000)],
    forms: "write a time as \"10us\", with ps, ns, us, ms or s, or as a bare integer of picoseconds",
};

const SIZE: Quantity = Quantity {
    name: "size",
    units: &[
        ("B", 1),
        ("KB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
    ],
    print: &[("GB", 1_000_000_000), ("MB", 1_000_000), ("KB", 1_000)],
    forms: "write a size as \"9.6KB\", with B, KB, MB, GB (powers of 1000) or KiB, MiB, GiB (powers of 1024), \
            or as a bare integer of bytes",
};

const RATE: Quantity = Quantity {
    name: "rate",
    units: &[("bps", 1), ("Kbps", 1_000), ("Mbps", 1_000_000), ("Gbps", 1_000_000_000), ("Tbps", 1_000_000_000_000)],
    print: &[("Tbps", 1_000_000_000_000), ("Gbps", 1_000_000_000), ("Mbps", 1_000_000), ("Kbps", 1_000)],
    forms: "write a rate as \"100Gbps\", with bps, Kbps, Mbps, Gbps or Tbps, or as a bare integer of bits per second",
};

impl Quantity {
    fn error(&self, problem: String) -> UnitError {
        UnitError { problem, remedy: self.forms.to_string() }
    }

    fn parse(&self, text: &str) -> Result<u64, UnitError> {
        let name = self.name;
        let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = (&text[..split], text[split..].trim_start_matches(' '));
        if number.is_empty() {
            return Err(self.error(format!("\"{text}\" is not a {name}: it does not start with a number")));
        }
        let scale = if unit.is_empty() {
            1
        } else {
            match self.units.iter().find(|(known, _)| *known == unit) {
                Some((_, scale)) => *scale,
                None => return Err(self.error(format!("\"{text}\" is not a {name}: there is no unit \"{unit}\""))),
            }
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() || (number.contains('.') && fraction.is_empty()) || fraction.contains('.') {
            return Err(self.error(format!("\"{text}\" is not a {name}: \"{number}\" is not a number")));
        }
        let too_large = || UnitError {
            problem: format!("\"{text}\" is too large a {name}"),
            remedy: format!("give at most {}{}", u64::MAX, self.units[0].0),
        };
        let fraction = fraction.trim_end_matches('0');
        // All the digits as one integer, then scaled: exact, and a fraction of the base unit shows as a remainder.
        let mut digits: u128 = 0;
        for digit in whole.bytes().chain(fraction.bytes()) {
            digits =
                digits.checked_mul(10).and_then(|d| d.checked_add(u128::from(digit - b'0'))).ok_or_else(too_large)?;
        }
        let scaled = digits.checked_mul(u128::from(scale)).ok_or_else(too_large)?;
        let divisor = u32::try_from(fraction.len()).ok().and_then(|n| 10u128.checked_pow(n)).ok_or_else(too_large)?;
        if scaled % divisor != 0 {
            let base = self.units[0].0;
            return Err(self.error(format!("\"{text}\" is not a whole number of {base}")));
        }
        u64::try_from(scaled / divisor).map_err(|_| too_large())
    }

    /// The shortest exact form: the largest unit in which at most six decimals suffice.
    fn print(&self, value: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, scale) in self.print {
            let step = (scale / 1_000_000).max(1);
            if value >= *scale && value % step == 0 {
                let (whole, steps) = (value / scale, value % scale / step);
                let text = if steps == 0 {
                    format!("{whole}{unit}")
                } else {
                    let digits = (scale / step).ilog10() as usize;
                    let decimals = format!("{steps:0digits$}");
                    format!("{whole}.{}{unit}", decimals.trim_end_matches('0'))
                };
                return f.pad(&text);
            }
        }
        f.pad(&format!("{value}{}", self.units[0].0))
    }
}

macro_rules! text_forms {
    ($type:ident, $quantity:ident) => {
        impl FromStr for $type {
            type Err = UnitError;
            fn from_str(text: &str) -> Result<Self, UnitError> {
                $quantity.parse(text).map(Self)
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                $quantity.print(self.0, f)
            }
        }

        impl $type {
            /// The forms that can be parsed, as an instruction to a person.
            pub const FORMS: &'static str = $quantity.forms;
        }
    };
}

text_forms!(Instant, TIME);
text_forms!(Duration, TIME);
text_forms!(Bytes, SIZE);
text_forms!(Rate, RATE);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_decimal_and_binary() {
        for (text, bytes) in [
            ("9MB", 9_000_000),
            ("9.6KB", 9_600),
            ("1KiB", 1_024),
            ("1.5MiB", 1_572_864),
            ("60000B", 60_000),
            ("0", 0),
            ("2 GB", 2_000_000_000),
        ] {
            assert_eq!(text.parse::<Bytes>().unwrap().get(), bytes, "{text}");
        }
    }

    #[test]
    fn rates_and_times() {
        assert_eq!("100Gbps".parse::<Rate>().unwrap(), Rate::from_gbps(100));
        assert_eq!("2.5Gbps".parse::<Rate>().unwrap().bps(), 2_500_000_000);
        assert_eq!("10us".parse::<Duration>().unwrap(), Duration::from_us(10));
        assert_eq!("0.5ns".parse::<Duration>().unwrap().ps(), 500);
        assert_eq!("3".parse::<Duration>().unwrap().ps(), 3);
    }

    #[test]
    fn bad_units_show_the_accepted_forms() {
        for text in ["", "KB", "9XB", "9kb", "1.B", ".5KB", "1..5KB", "-1B", "1.5B", "9MBs", "1e3B"] {
            let error = text.parse::<Bytes>().expect_err(text);
            assert!(error.to_string().contains("KiB, MiB, GiB"), "{error}");
        }
        assert!("10GB".parse::<Rate>().unwrap_err().to_string().contains("Gbps"));
        assert!("99999999999999999999999999999999999999999GB".parse::<Bytes>().is_err());
        assert!("100000000000GB".parse::<Bytes>().unwrap_err().problem.contains("too large"));
    }

    #[test]
    fn printing_is_exact_and_reads_back() {
        for (bytes, text) in
            [(9_600, "9.6KB"), (9_000_000, "9MB"), (1_500, "1.5KB"), (1_234_567, "1.234567MB"), (999, "999B")]
        {
            assert_eq!(Bytes::new(bytes).to_string(), text);
            assert_eq!(text.parse::<Bytes>().unwrap().get(), bytes);
        }
        assert_eq!(Rate::from_gbps(100).to_string(), "100Gbps");
        assert_eq!(Duration::from_ps(1_234_567).to_string(), "1.234567us");
        assert_eq!(Duration::from_ps(1_234_567_891).to_string(), "1234.567891us");
        assert_eq!(Duration::from_ps(0).to_string(), "0ps");
    }

    #[test]
    fn serialization_rounds_up() {
        // 1500 bytes at 7 Gb/s: 12000 bits / 7 = 1714285.71... ps.
        assert_eq!(Rate::from_gbps(7).serialization(1_500).ps(), 1_714_286);
        assert_eq!(Rate::from_gbps(10).serialization(64).ps(), 51_200);
        assert_eq!(Rate::from_bps(1).serialization(3).ps(), 24 * PS_PER_SECOND);
        assert_eq!(Rate::from_bps(1).checked_serialization(4_000_000_000), None);
        assert_eq!(Rate::from_bps(80_000).serialization(1 << 31).ps(), 214_748_364_800_000_000);
        // Above u64 in the product, within u64 in the result.
        assert_eq!(Rate::from_gbps(100).serialization(3_000_000_000).ps(), 240_000_000_000);
    }
}
