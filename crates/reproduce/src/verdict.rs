//! The rules of the verdicts: few, the same for all papers, and functions of intervals alone.
//!
//! * A **gain** ("up to 94% less"; the paper's number is g). Holds if ours is 0.75 to 1.5 g and its interval is inside
//!   0.5 to 2 g; stronger if it is above 1.5 g and the interval is above g; in part if it is below 0.75 g and the
//!   interval is above 0 and below g. It does not hold if the interval ends at 0, or below a tenth of g.
//! * A **direction** ("better than"): holds if the interval is above 0; does not if it ends at 0.
//! * A **value** (v): holds if ours is within 25% of v (percentages: or 5 points) and the interval within a factor of 2
//!   (or 15 points); in part if it is farther away and the interval is within that factor and has not v in it; does not
//!   hold if all of the interval is farther than the factor.
//! * **At most** and **at least**: a value of which less, or more, is as good.
//! * An **order**: of all pairs that the paper orders, those whose difference has an interval on the right side of 0,
//!   or all within 2%; two zeros are in none. Holds if all pairs are so, in part if some are not and two thirds are.
//! * **Every** point: holds if all are as the paper says, in part if some are not and half are.
//!
//! What the interval allows both ways is inconclusive. A single seed of a run that chance has a part in has no
//! interval, and decides nothing.

use crate::found::Found;
use crate::stat::Stat;
use crate::unit::Unit;

/// Whether a statement of the paper came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// As the paper says.
    Holds,
    /// So, and more than in the paper.
    Stronger,
    /// The direction is right, but not the size, or not everywhere.
    InPart,
    /// The interval allows both.
    Inconclusive,
    /// It came out otherwise.
    DoesNotHold,
    /// A parameter came from the statement itself.
    Circular,
    /// It takes a larger scale to show it.
    NotShown,
    /// There are no numbers for it: runs are missing.
    Missing,
}

impl Verdict {
    /// All, in the order in which they are counted.
    pub const ALL: [Self; 8] = [
        Self::Holds,
        Self::Stronger,
        Self::InPart,
        Self::Inconclusive,
        Self::DoesNotHold,
        Self::Circular,
        Self::NotShown,
        Self::Missing,
    ];

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Stronger => "stronger than the paper",
            Self::InPart => "holds in part",
            Self::Inconclusive => "inconclusive",
            Self::DoesNotHold => "does not hold",
            Self::Circular => "circular",
            Self::NotShown => "needs a larger scale",
            Self::Missing => "not run",
        }
    }

    /// Whether there is something to explain.
    pub fn has_cause(self) -> bool {
        matches!(self, Self::InPart | Self::DoesNotHold)
    }

    /// Whether more seeds may change it.
    pub fn is_open(self) -> bool {
        self == Self::Inconclusive
    }
}

/// Where a number may be: its best value and an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Range {
    pub(crate) low: f64,
    pub(crate) best: f64,
    pub(crate) high: f64,
}

impl Range {
    pub(crate) fn of(stat: &Stat) -> Self {
        Self { low: stat.low(), best: stat.mean(), high: stat.high() }
    }

    fn is_inside(self, low: f64, high: f64) -> bool {
        self.low >= low && self.high <= high
    }
}

pub(crate) fn gain(paper: f64, ours: Range) -> Verdict {
    let Range { low, best, high } = ours;
    if high <= 0.0 || high < 0.1 * paper {
        Verdict::DoesNotHold
    } else if low <= 0.0 {
        Verdict::Inconclusive
    } else if (0.75 * paper..=1.5 * paper).contains(&best) && ours.is_inside(0.5 * paper, 2.0 * paper) {
        Verdict::Holds
    } else if best > 1.5 * paper && low > paper {
        Verdict::Stronger
    } else if best < 0.75 * paper && high < paper {
        Verdict::InPart
    } else {
        Verdict::Inconclusive
    }
}

pub(crate) fn direction(ours: Range) -> Verdict {
    if ours.low > 0.0 {
        Verdict::Holds
    } else if ours.high <= 0.0 {
        Verdict::DoesNotHold
    } else {
        Verdict::Inconclusive
    }
}

pub(crate) fn value(paper: f64, unit: Unit, ours: Range) -> Verdict {
    // The numbers from `v / factor` to `v * factor`, or so many points away.
    let around = |factor: f64, points: f64| {
        let (mut low, mut high) = (paper / factor, paper * factor);
        if paper < 0.0 {
            (low, high) = (high, low);
        }
        if unit.is_percentage() {
            let points = points / unit.shown(1.0);
            (low, high) = (low.min(paper - points), high.max(paper + points));
        }
        (low, high)
    };
    let (near, far) = (around(1.25, 5.0), around(2.0, 15.0));
    let is_near = (near.0..=near.1).contains(&ours.best);
    let has_paper = (ours.low..=ours.high).contains(&paper);
    if is_near && ours.is_inside(far.0, far.1) {
        Verdict::Holds
    } else if ours.high < far.0 || ours.low > far.1 {
        Verdict::DoesNotHold
    } else if !is_near && ours.is_inside(far.0, far.1) && !has_paper {
        Verdict::InPart
    } else {
        Verdict::Inconclusive
    }
}

/// At most a number: a value of which less is as good.
pub(crate) fn at_most(paper: f64, unit: Unit, ours: Range) -> Verdict {
    value(paper, unit, Range { low: ours.low.max(paper), best: ours.best.max(paper), high: ours.high.max(paper) })
}

/// At least a number.
pub(crate) fn at_least(paper: f64, unit: Unit, ours: Range) -> Verdict {
    value(paper, unit, Range { low: ours.low.min(paper), best: ours.best.min(paper), high: ours.high.min(paper) })
}

/// Of several things that should be so: in part if a share of `enough` is and some are not.
pub(crate) fn several(found: &[Found], enough: f64) -> Verdict {
    let count = |wanted: Found| found.iter().filter(|one| **one == wanted).count() as f64;
    let (yes, no, open) = (count(Found::Yes), count(Found::No), count(Found::Open));
    let least = enough * (yes + no + open);
    if yes + no + open == 0.0 {
        Verdict::Missing
    } else if no == 0.0 {
        if open == 0.0 { Verdict::Holds } else { Verdict::Inconclusive }
    } else if yes >= least {
        Verdict::InPart
    } else if yes + open < least {
        Verdict::DoesNotHold
    } else {
        Verdict::Inconclusive
    }
}

/// Whether two numbers are in order, the smaller first: by the interval of their difference, with 2% of leeway. Two of
/// which there is nothing are in none.
pub(crate) fn in_order(first: &Stat, second: &Stat) -> Found {
    const LEEWAY: f64 = 0.02;
    if !first.is_empty() && !second.is_empty() && first.mean() == 0.0 && second.mean() == 0.0 {
        return Found::No;
    }
    let difference = second.minus(first);
    let leeway = LEEWAY * first.mean().abs().max(second.mean().abs());
    difference.at_least(-leeway)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::*;

    fn around(best: f64, half: f64) -> Range {
        Range { low: best - half, best, high: best + half }
    }

    #[test]
    fn gains() {
        for (ours, expected) in [
            (around(80.0, 5.0), Holds),
            (around(140.0, 10.0), Holds),
            // 71.5 +- 61.7 for 94 says next to nothing.
            (around(71.5, 61.7), Inconclusive),
            (around(200.0, 20.0), Stronger),
            (around(200.0, 120.0), Inconclusive),
            (around(30.0, 5.0), InPart),
            // It may be 94.
            (around(60.0, 40.0), Inconclusive),
            (around(1.3, 17.0), Inconclusive),
            (around(1.0, 2.0), DoesNotHold),
            (around(-5.0, 1.0), DoesNotHold),
            (around(-5.0, 20.0), Inconclusive),
            (Range { low: 25.0, best: f64::INFINITY, high: f64::INFINITY }, Inconclusive),
            (Range { low: 99.0, best: f64::INFINITY, high: f64::INFINITY }, Stronger),
        ] {
            assert_eq!(gain(94.0, ours), expected, "{ours:?}");
        }
    }

    #[test]
    fn directions() {
        assert_eq!(direction(around(1.0, 0.5)), Holds);
        assert_eq!(direction(around(1.0, 2.0)), Inconclusive);
        assert_eq!(direction(around(-1.0, 2.0)), Inconclusive);
        assert_eq!(direction(around(-1.0, 0.5)), DoesNotHold);
        assert_eq!(direction(around(0.0, 0.0)), DoesNotHold);
        assert_eq!(direction(around(1.0, f64::INFINITY)), Inconclusive);
    }

    #[test]
    fn values() {
        let of = |paper, ours| value(paper, Unit::None, ours);
        assert_eq!(of(100.0, around(124.0, 0.0)), Holds);
        assert_eq!(of(100.0, around(110.0, 50.0)), Holds);
        assert_eq!(of(100.0, around(110.0, 95.0)), Inconclusive);
        assert_eq!(of(100.0, around(79.0, 5.0)), InPart);
        assert_eq!(of(100.0, around(79.0, 25.0)), Inconclusive);
        assert_eq!(of(100.0, around(150.0, 60.0)), Inconclusive);
        assert_eq!(of(100.0, around(300.0, 60.0)), DoesNotHold);
        assert_eq!(value(0.02, Unit::Share, around(0.06, 0.01)), Holds);
        assert_eq!(value(0.02, Unit::Share, around(0.08, 0.01)), InPart);
        assert_eq!(value(0.02, Unit::Share, around(0.30, 0.01)), DoesNotHold);
        assert_eq!(value(0.0, Unit::Packets, around(0.0, 0.0)), Holds);
    }

    #[test]
    fn one_sided_values() {
        let most = |ours| at_most(100.0, Unit::None, ours);
        assert_eq!(most(around(10.0, 5.0)), Holds);
        assert_eq!(most(around(110.0, 10.0)), Holds);
        assert_eq!(most(around(150.0, 10.0)), InPart);
        assert_eq!(most(around(150.0, 80.0)), Inconclusive);
        assert_eq!(most(around(500.0, 80.0)), DoesNotHold);
        assert_eq!(at_least(100.0, Unit::None, around(900.0, 80.0)), Holds);
        assert_eq!(at_least(100.0, Unit::None, around(10.0, 8.0)), DoesNotHold);
    }

    #[test]
    fn several_things() {
        let of = |yes: usize, no: usize, open: usize| {
            let all = [vec![Found::Yes; yes], vec![Found::No; no], vec![Found::Open; open]].concat();
            several(&all, 0.5)
        };
        assert_eq!(of(3, 0, 0), Holds);
        assert_eq!(of(3, 0, 1), Inconclusive);
        assert_eq!(of(2, 2, 0), InPart);
        assert_eq!(of(1, 2, 0), DoesNotHold);
        assert_eq!(of(1, 2, 1), Inconclusive);
        assert_eq!(of(0, 0, 0), Missing);
    }

    #[test]
    fn pairs_in_order() {
        let three = |mean: f64, step: f64| Stat::new([(1, mean - step), (2, mean), (3, mean + step)]);
        assert_eq!(in_order(&three(1.0, 0.1), &three(2.0, 0.1)), Found::Yes);
        assert_eq!(in_order(&three(2.0, 0.1), &three(1.0, 0.1)), Found::No);
        assert_eq!(in_order(&Stat::exact(1.0), &Stat::exact(0.99)), Found::Yes);
        assert_eq!(in_order(&Stat::exact(0.0), &Stat::exact(0.0)), Found::No);
        assert_eq!(in_order(&Stat::new([(1, 1.0), (2, 2.0)]), &Stat::new([(1, 2.0), (2, 1.0)])), Found::Open);
    }
}
