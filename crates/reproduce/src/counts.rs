//! Shares of counts, and their ratio, with intervals that follow from the binomial distribution.

/// So many of so many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// How many had it.
    pub hits: u64,
    /// Of how many.
    pub of: u64,
}

/// The probability that each end of an interval of 95% leaves out.
const TAIL: f64 = 0.025;

impl Count {
    /// The share.
    pub fn share(self) -> f64 {
        self.hits as f64 / self.of as f64
    }

    /// The least share that fits (Clopper and Pearson).
    pub fn low(self) -> f64 {
        // With this share, as many hits or more have a probability of `TAIL`.
        if self.hits == 0 { 0.0 } else { root(|p| 1.0 - at_most(self.hits - 1, self.of, p) < TAIL) }
    }

    /// The largest share that fits.
    pub fn high(self) -> f64 {
        if self.hits == self.of { 1.0 } else { root(|p| at_most(self.hits, self.of, p) > TAIL) }
    }

    /// This share over another: the value, and an interval. If the other has no hit, only the lower end is known, and
    /// the value is infinite. Each end takes the worse end of both shares, so that the interval is rather too wide.
    pub fn ratio(self, other: Self) -> (f64, f64, f64) {
        let high = if other.hits == 0 { f64::INFINITY } else { self.high() / other.low() };
        let value = match (self.hits, other.hits) {
            (0, 0) => f64::NAN,
            (_, 0) => f64::INFINITY,
            _ => self.share() / other.share(),
        };
        (self.low() / other.high(), value, high)
    }
}

/// Where a condition that is so for small shares ceases to be.
fn root(is_below: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if is_below(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// The probability of at most `hits` of `of`, each with probability `p`.
fn at_most(hits: u64, of: u64, p: f64) -> f64 {
    if p <= 0.0 {
        return 1.0;
    }
    if p >= 1.0 {
        return if hits >= of { 1.0 } else { 0.0 };
    }
    let (log_p, log_q) = (p.ln(), (-p).ln_1p());
    let (mut log_choose, mut sum) = (0.0, 0.0);
    for k in 0..=hits.min(of) {
        sum += (log_choose + k as f64 * log_p + (of - k) as f64 * log_q).exp();
        log_choose += ((of - k) as f64).ln() - ((k + 1) as f64).ln();
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-4
    }

    /// Values of Clopper and Pearson from tables.
    #[test]
    fn shares_have_exact_intervals() {
        let ten = |hits| Count { hits, of: 10 };
        assert!(near(ten(5).low(), 0.1871) && near(ten(5).high(), 0.8129), "{} {}", ten(5).low(), ten(5).high());
        assert!(near(ten(0).low(), 0.0) && near(ten(0).high(), 0.3085));
        assert!(near(ten(10).low(), 0.6915) && near(ten(10).high(), 1.0));
    }

    /// None of 94 is a bound for the ratio, not the number 94.
    #[test]
    fn none_gives_a_bound() {
        let (low, value, high) = Count { hits: 94, of: 94 }.ratio(Count { hits: 0, of: 94 });
        assert!(value.is_infinite() && high.is_infinite());
        assert!((24.0..27.0).contains(&low), "{low}");
        let (low, value, high) = Count { hits: 80, of: 100 }.ratio(Count { hits: 40, of: 100 });
        assert!(near(value, 2.0) && low < 1.6 && low > 1.2 && high < 2.9 && high > 2.4, "{low} {high}");
    }
}
