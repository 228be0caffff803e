//! Settings that ran with the same seeds: the difference seed by seed, and what it decides.
//!
//! Runs with one seed have the same flows, so most of what a measure varies by from seed to seed is common to them and
//! not in their difference. A difference decides something only if its 95% confidence interval excludes zero. What has
//! not finished counts as worse than anything that has: a mean over what has finished is no merit of those who finished
//! less.

use crate::stats::Interval;
use std::cmp::Ordering;

/// A measure of one run, in which less is better.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// The seed of the run.
    pub seed: u64,
    /// The value; `None` if the run has none.
    pub value: Option<f64>,
    /// Flows or queries that the measure is about and that have not finished.
    pub unfinished: u64,
}

/// What a difference says of the setting that was compared with the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Less than the baseline.
    Better,
    /// More than the baseline.
    Worse,
    /// Leaves less unfinished, whatever the values of what has finished are.
    FinishesMore,
    /// Leaves more unfinished.
    FinishesLess,
    /// The seeds do not tell.
    Undecided,
}

impl Verdict {
    /// For people; nothing where nothing is decided.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::FinishesMore => "finishes more",
            Self::FinishesLess => "finishes less",
            Self::Undecided => "",
        }
    }

    /// Whether it speaks for the setting (`Less`: it has less of what is bad) or against it (`Greater`); `None` if
    /// neither.
    pub const fn side(self) -> Option<Ordering> {
        match self {
            Self::Better | Self::FinishesMore => Some(Ordering::Less),
            Self::Worse | Self::FinishesLess => Some(Ordering::Greater),
            Self::Undecided => None,
        }
    }
}

/// How far a setting is from the baseline, over the seeds that both have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// The mean of the setting's values less the baseline's, and its confidence.
    pub interval: Interval,
    /// What it decides.
    pub verdict: Verdict,
}

impl Difference {
    /// The difference of a setting from a baseline; `None` if no seed has a value of both.
    pub fn between(baseline: &[Sample], setting: &[Sample]) -> Option<Self> {
        let pairs: Vec<(&Sample, &Sample)> =
            setting.iter().filter_map(|of| Some((baseline.iter().find(|base| base.seed == of.seed)?, of))).collect();
        let values: Vec<f64> = pairs.iter().filter_map(|(base, of)| Some(of.value? - base.value?)).collect();
        let interval = Interval::of(&values)?;
        let unfinished = pairs.iter().map(|(base, of)| of.unfinished as f64 - base.unfinished as f64);
        Some(Self { interval, verdict: verdict(interval, &unfinished.collect::<Vec<_>>()) })
    }
}

/// More that has not finished is worse, and less is better, whatever the values are; otherwise they decide, unless they
/// are better than the baseline's with more that has not finished, or the other way round.
fn verdict(values: Interval, unfinished: &[f64]) -> Verdict {
    let more = unfinished.iter().sum::<f64>();
    match Interval::of(unfinished).and_then(|interval| interval.sign()) {
        Some(Ordering::Less) => Verdict::FinishesMore,
        Some(Ordering::Greater) => Verdict::FinishesLess,
        _ => match values.sign() {
            Some(Ordering::Less) if more <= 0.0 => Verdict::Better,
            Some(Ordering::Greater) if more >= 0.0 => Verdict::Worse,
            _ => Verdict::Undecided,
        },
    }
}

/// The one of several settings that is better than each of the others.
pub fn best(settings: &[Vec<Sample>]) -> Option<usize> {
    let beats = |one: &[Sample], other: &[Sample]| {
        Difference::between(other, one).is_some_and(|difference| difference.verdict.side() == Some(Ordering::Less))
    };
    let beats_all = |index: &usize| {
        let mut others = settings.iter().enumerate().filter(|(other, _)| other != index);
        others.all(|(_, other)| beats(&settings[*index], other))
    };
    if settings.len() < 2 { None } else { (0..settings.len()).find(beats_all) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(values: &[f64]) -> Vec<Sample> {
        (1..).zip(values).map(|(seed, value)| Sample { seed, value: Some(*value), unfinished: 0 }).collect()
    }

    fn with_unfinished(values: &[(f64, u64)]) -> Vec<Sample> {
        let sample = |(seed, (value, unfinished)): (u64, &(f64, u64))| Sample {
            seed,
            value: Some(*value),
            unfinished: *unfinished,
        };
        (1..).zip(values).map(sample).collect()
    }

    fn verdict_of(baseline: &[Sample], setting: &[Sample]) -> Verdict {
        let there = Difference::between(baseline, setting).unwrap().verdict;
        let back = Difference::between(setting, baseline).unwrap().verdict;
        let turned = match there {
            Verdict::Better => Verdict::Worse,
            Verdict::Worse => Verdict::Better,
            Verdict::FinishesMore => Verdict::FinishesLess,
            Verdict::FinishesLess => Verdict::FinishesMore,
            Verdict::Undecided => Verdict::Undecided,
        };
        assert_eq!(back, turned, "a difference says the same both ways");
        there
    }

    #[test]
    fn seeds_that_vary_alike_decide_what_means_do_not() {
        // Means 20 and 21 with deviations of 10: far from apart. Differences 0.8, 1.0, 1.2: mean 1, s = 0.2.
        let (base, other) = (samples(&[10.0, 20.0, 30.0]), samples(&[10.8, 21.0, 31.2]));
        let difference = Difference::between(&base, &other).unwrap();
        assert!((difference.interval.mean - 1.0).abs() < 1e-12);
        assert!((difference.interval.half.unwrap() - 4.302_653 * 0.2 / 3f64.sqrt()).abs() < 1e-9);
        assert_eq!(verdict_of(&base, &other), Verdict::Worse);
        let means = [&base, &other]
            .map(|side| Interval::of(&side.iter().filter_map(|sample| sample.value).collect::<Vec<_>>()).unwrap());
        assert_eq!(means[0].is_apart_from(&means[1]), Some(false));
    }

    #[test]
    fn an_interval_with_zero_in_it_decides_nothing() {
        // Differences -1, 1, 3: mean 1, s = 2, half 4.97.
        assert_eq!(verdict_of(&samples(&[5.0, 5.0, 5.0]), &samples(&[4.0, 6.0, 8.0])), Verdict::Undecided);
        assert_eq!(verdict_of(&samples(&[5.0, 6.0]), &samples(&[5.0, 6.0])), Verdict::Undecided);
        // One seed decides nothing, however far it is.
        assert_eq!(verdict_of(&samples(&[5.0]), &samples(&[500.0])), Verdict::Undecided);
    }

    #[test]
    fn only_seeds_that_both_have_are_paired() {
        let mut other = samples(&[1.0, 2.0, 3.0, 900.0]);
        other[2].value = None;
        let difference = Difference::between(&samples(&[1.5, 2.5, 3.5]), &other).unwrap();
        assert_eq!(difference.interval, Interval { mean: -0.5, half: Some(0.0) });
        other.iter_mut().for_each(|sample| sample.seed += 10);
        assert_eq!(Difference::between(&samples(&[1.0]), &other), None);
    }

    #[test]
    fn what_has_not_finished_is_worst() {
        let base = samples(&[10.0, 20.0, 30.0]);
        // Every seed has unfinished flows: worse, though those that finished were faster.
        assert_eq!(verdict_of(&base, &with_unfinished(&[(5.0, 3), (15.0, 4), (25.0, 5)])), Verdict::FinishesLess);
        // One seed has: it could be chance, and the faster mean is no merit.
        assert_eq!(verdict_of(&base, &with_unfinished(&[(5.0, 0), (15.0, 0), (25.0, 5)])), Verdict::Undecided);
        // Slower, and with more that has not finished.
        assert_eq!(verdict_of(&base, &with_unfinished(&[(15.0, 0), (25.0, 0), (35.0, 5)])), Verdict::Worse);
        // As much on both sides: the values decide.
        let both = with_unfinished(&[(10.0, 2), (20.0, 1), (30.0, 0)]);
        assert_eq!(verdict_of(&both, &with_unfinished(&[(5.0, 1), (15.0, 2), (25.0, 0)])), Verdict::Better);
    }

    #[test]
    fn the_best_is_better_than_every_other() {
        let (a, b) = (samples(&[1.0, 2.0, 3.0]), samples(&[2.0, 3.1, 4.0]));
        // On average the best, but not better than `a` with any confidence.
        let c = samples(&[0.0, 2.1, 3.2]);
        assert_eq!(best(&[b.clone(), a.clone()]), Some(1));
        assert_eq!(best(&[a.clone(), b, c]), None);
        assert_eq!(best(&[a.clone(), a.clone()]), None);
        assert_eq!(best(&[a]), None);
        assert_eq!(best(&[samples(&[1.0]), samples(&[2.0])]), None);
    }
}
