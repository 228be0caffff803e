//! A number measured once for each seed.

use forebay_results::stats::Interval;

/// Values by seed. Arithmetic of two pairs the values of one seed, since runs of one seed share their traffic.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stat {
    values: Vec<(u64, f64)>,
}

impl Stat {
    /// Of seeds and values; values that are no numbers are left out.
    pub fn new(values: impl IntoIterator<Item = (u64, f64)>) -> Self {
        Self { values: values.into_iter().filter(|(_, value)| value.is_finite()).collect() }
    }

    /// A number that does not depend on a seed.
    pub fn exact(value: f64) -> Self {
        Self::new([(0, value)])
    }

    /// Seeds and values.
    pub fn values(&self) -> &[(u64, f64)] {
        &self.values
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// How many seeds.
    pub fn seeds(&self) -> usize {
        self.values.len()
    }

    fn interval(&self) -> Option<Interval> {
        Interval::of(&self.values.iter().map(|(_, value)| *value).collect::<Vec<_>>())
    }

    /// The mean over seeds; NaN if there is no value.
    pub fn mean(&self) -> f64 {
        self.interval().map_or(f64::NAN, |interval| interval.mean)
    }

    /// Half the 95% confidence interval by Student's t; `None` for one value or none.
    pub fn half(&self) -> Option<f64> {
        self.interval().and_then(|interval| interval.half)
    }

    /// Whether it does not depend on chance: it has no seed, or is the same with all of several.
    pub fn is_exact(&self) -> bool {
        match self.values.as_slice() {
            [] => false,
            [(seed, _)] => *seed == 0,
            // What is left of equal numbers when they are added up is no spread.
            _ => self.half().is_some_and(|half| half <= 1e-9 * self.mean().abs()),
        }
    }

    /// The smallest number that the interval holds. One seed says nothing: without end. NaN if there is no value.
    pub fn low(&self) -> f64 {
        self.mean() - self.reach()
    }

    /// The largest number that the interval holds.
    pub fn high(&self) -> f64 {
        self.mean() + self.reach()
    }

    fn reach(&self) -> f64 {
        if self.is_exact() { 0.0 } else { self.half().unwrap_or(f64::INFINITY) }
    }

    /// The same without its seed, if it has only one: for runs in which nothing is left to chance.
    #[must_use]
    pub fn without_chance(&self) -> Self {
        match self.values.as_slice() {
            [(_, value)] => Self::exact(*value),
            _ => self.clone(),
        }
    }

    fn paired(&self, other: &Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let pairs = self.values.iter().filter_map(|(seed, a)| {
            let (_, b) = other.values.iter().find(|(own, _)| own == seed).or_else(|| other.only())?;
            Some((*seed, f(*a, *b)))
        });
        match (self.only(), other.values.len()) {
            // A number without a seed against several.
            (Some((0, a)), 1..) => Self::new(other.values.iter().map(|(seed, b)| (*seed, f(*a, *b)))),
            _ => Self::new(pairs),
        }
    }

    /// The value, if it is the only one and has no seed.
    fn only(&self) -> Option<&(u64, f64)> {
        self.values.first().filter(|(seed, _)| self.values.len() == 1 && *seed == 0)
    }

    /// This over the other.
    pub fn ratio(&self, other: &Self) -> Self {
        self.paired(other, |a, b| a / b)
    }

    /// This less the other.
    pub fn minus(&self, other: &Self) -> Self {
        self.paired(other, |a, b| a - b)
    }

    /// How many percent less than the other this is: `100 (1 - a/b)`.
    pub fn less_than_percent(&self, other: &Self) -> Self {
        self.paired(other, |a, b| 100.0 * (1.0 - a / b))
    }

    /// How many percent more than the other this is: `100 (a/b - 1)`.
    pub fn more_than_percent(&self, other: &Self) -> Self {
        self.paired(other, |a, b| 100.0 * (a / b - 1.0))
    }

    /// Each value times a factor.
    #[must_use]
    pub fn times(&self, factor: f64) -> Self {
        self.map(|value| value * factor)
    }

    /// A function of each value.
    #[must_use]
    pub fn map(&self, f: impl Fn(f64) -> f64) -> Self {
        Self::new(self.values.iter().map(|(seed, value)| (*seed, f(*value))))
    }

    /// The one with the largest mean: for what a paper calls "up to". Empty ones do not count.
    pub fn largest(all: impl IntoIterator<Item = Self>) -> Self {
        let filled = all.into_iter().filter(|stat| !stat.is_empty());
        filled.max_by(|a, b| a.mean().total_cmp(&b.mean())).unwrap_or_default()
    }

    /// The one with the smallest mean.
    pub fn smallest(all: impl IntoIterator<Item = Self>) -> Self {
        let filled = all.into_iter().filter(|stat| !stat.is_empty());
        filled.min_by(|a, b| a.mean().total_cmp(&b.mean())).unwrap_or_default()
    }

    /// The mean over several, seed by seed, of those seeds that all of them have.
    pub fn average(all: &[Self]) -> Self {
        let Some(first) = all.first() else { return Self::default() };
        Self::new(first.values.iter().filter_map(|(seed, _)| {
            let of = |stat: &Self| stat.values.iter().find(|(own, _)| own == seed).map(|(_, value)| *value);
            let values: Option<Vec<f64>> = all.iter().map(of).collect();
            values.map(|values| (*seed, values.iter().sum::<f64>() / values.len() as f64))
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_paired() {
        let a = Stat::new([(1, 10.0), (2, 30.0), (3, f64::NAN)]);
        let b = Stat::new([(2, 60.0), (1, 40.0)]);
        assert_eq!(a.ratio(&b).values(), [(1, 0.25), (2, 0.5)]);
        assert_eq!(a.less_than_percent(&b).mean(), 62.5);
        assert_eq!(b.more_than_percent(&a).values(), [(2, 100.0), (1, 300.0)]);
        assert_eq!(Stat::exact(20.0).minus(&a).values(), [(1, 10.0), (2, -10.0)]);
        assert_eq!(a.minus(&Stat::exact(10.0)).values(), [(1, 0.0), (2, 20.0)]);
        assert!(a.minus(&Stat::default()).is_empty());
        assert_eq!(Stat::average(&[a.clone(), b.clone()]).values(), [(1, 25.0), (2, 45.0)]);
        assert_eq!(Stat::largest([a.clone(), Stat::default(), b.clone()]), b);
        assert_eq!(Stat::smallest([b, a.clone()]), a);
        // mean 20, s = sqrt(200), t = 12.706.
        assert!((a.half().unwrap() - 12.706_205 * 10.0).abs() < 1e-6);
        assert_eq!((Stat::exact(3.0).low(), Stat::exact(3.0).half()), (3.0, None));
        assert!(Stat::new([(1, 3.0), (2, 3.0)]).is_exact() && !Stat::new([(1, 3.0)]).is_exact());
        assert!(Stat::new([(1, 3.0)]).without_chance().is_exact());
    }
}
