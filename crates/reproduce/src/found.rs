//! What a measurement says about a condition: yes, no, or nothing yet.

use crate::stat::Stat;

/// Whether something is so. What an interval does not decide is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// All of the interval says so.
    Yes,
    /// All of the interval says the opposite.
    No,
    /// The interval has both in it, or there is only one seed.
    Open,
    /// There is no number.
    Nothing,
}

impl From<bool> for Found {
    fn from(is_so: bool) -> Self {
        if is_so { Self::Yes } else { Self::No }
    }
}

impl Found {
    /// Whether both are so.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, _) | (_, Self::Nothing) => Self::Nothing,
            (Self::No, _) | (_, Self::No) => Self::No,
            (Self::Yes, Self::Yes) => Self::Yes,
            _ => Self::Open,
        }
    }

    /// Whether all are so; `Nothing` if there are none.
    pub fn all(all: impl IntoIterator<Item = Self>) -> Self {
        all.into_iter().reduce(Self::and).unwrap_or(Self::Nothing)
    }

    /// Whether it is as expected: `Yes` where `expected`, `No` elsewhere.
    #[must_use]
    pub fn is(self, expected: bool) -> Self {
        match (self, expected) {
            (Self::Yes, false) => Self::No,
            (Self::No, false) => Self::Yes,
            _ => self,
        }
    }
}

impl Stat {
    /// Whether it is above a number.
    pub fn above(&self, limit: f64) -> Found {
        match (self.is_empty(), self.low(), self.high()) {
            (true, ..) => Found::Nothing,
            (_, low, _) if low > limit => Found::Yes,
            (_, _, high) if high <= limit => Found::No,
            _ => Found::Open,
        }
    }

    /// Whether it is at most a number.
    pub fn at_most(&self, limit: f64) -> Found {
        self.above(limit).is(false)
    }

    /// Whether it is below a number.
    pub fn below(&self, limit: f64) -> Found {
        self.times(-1.0).above(-limit)
    }

    /// Whether it is at least a number.
    pub fn at_least(&self, limit: f64) -> Found {
        self.below(limit).is(false)
    }

    /// Whether it is from one number to another.
    pub fn between(&self, low: f64, high: f64) -> Found {
        self.at_least(low).and(self.at_most(high))
    }

    /// Whether it is less than another of the same seeds.
    pub fn less_than(&self, other: &Self) -> Found {
        other.minus(self).above(0.0)
    }

    /// Whether it is at most so many times another of the same seeds.
    pub fn at_most_times(&self, factor: f64, other: &Self) -> Found {
        self.minus(&other.times(factor)).at_most(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_decide_or_do_not() {
        let three = |mean: f64, step: f64| Stat::new([(1, mean - step), (2, mean), (3, mean + step)]);
        assert_eq!(three(1.0, 0.1).above(0.0), Found::Yes);
        assert_eq!(three(1.0, 5.0).above(0.0), Found::Open);
        assert_eq!(three(-1.0, 0.1).above(0.0), Found::No);
        assert_eq!(three(-1.0, 0.1).at_most(0.0), Found::Yes);
        assert_eq!(three(1.0, 0.01).between(0.9, 1.1), Found::Yes);
        assert_eq!(three(1.0, 0.1).between(0.9, 1.1), Found::Open);
        assert_eq!(three(2.0, 0.1).between(0.9, 1.1), Found::No);
        assert_eq!(Stat::default().above(0.0), Found::Nothing);
        assert_eq!(three(1.0, 0.1).less_than(&three(2.0, 0.1)), Found::Yes);
        // One seed of a run with chance in it says nothing; what has no seed is exact.
        assert_eq!(Stat::new([(7, 1.0)]).above(0.0), Found::Open);
        assert_eq!(Stat::exact(1.0).above(0.0), Found::Yes);
        assert_eq!(Stat::exact(1.0).at_least(1.0), Found::Yes);
        assert_eq!(Found::all([Found::Yes, Found::Open]), Found::Open);
        assert_eq!(Found::all([Found::No, Found::Open]), Found::No);
        assert_eq!(Found::all([]), Found::Nothing);
    }
}
