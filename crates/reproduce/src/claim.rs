//! What a paper says, what came out, and the verdict that follows.
//!
//! The rules are the same for all papers; a claim only chooses its kind:
//!
//! * a **gain** ("up to 94% less"): holds if ours is 0.75 to 1.5 times the paper's and its interval is above 0; in part if its mean is above 0;
//!   else it does not hold;
//! * a **direction** ("better than"): holds if the interval is above 0, in part if only the mean is;
//! * a **value**: holds within 25% of the paper's number (percentages: or within 5 points), or if our interval has it and reaches at most half of the
//!   paper's number to either side; in part within a factor of 2 (percentages: or within 15 points);
//! * a **ranking**: of all pairs that the paper orders, those with the better mean where it should be, or means within 2%; holds if all are so,
//!   in part if two thirds are;
//! * **every** point: holds if all are as the paper says, in part if half are.
//!
//! Intervals are 95% confidence intervals over seeds; a single seed has none, and its value is taken as it is.

use crate::figure::Scale;
use crate::stat::Stat;
use crate::unit::{Unit, significant};

/// Whether a claim of the paper came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// As the paper says.
    Holds,
    /// The direction is right, but not the size, or not everywhere.
    InPart,
    /// It came out otherwise.
    DoesNotHold,
    /// The scale is too small to show it.
    NotShown,
    /// There are no numbers for it: runs are missing.
    Missing,
}

impl Verdict {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::InPart => "holds in part",
            Self::DoesNotHold => "does not hold",
            Self::NotShown => "not shown at this scale",
            Self::Missing => "not run",
        }
    }
}

/// Which of two numbers is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// The smaller.
    Less,
    /// The larger.
    More,
}

/// A row of the table of claims.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The claim in a few words.
    pub words: String,
    /// The paper's number.
    pub paper: String,
    /// Our number with its spread.
    pub ours: String,
    verdict: Verdict,
    reason: Option<String>,
    needs: Option<(Scale, String)>,
}

impl Claim {
    fn new(words: impl Into<String>, paper: impl Into<String>, ours: String, verdict: Verdict) -> Self {
        Self { words: words.into(), paper: paper.into(), ours, verdict, reason: None, needs: None }
    }

    /// Something is better by so many percent, or by up to so many.
    pub fn gain(words: impl Into<String>, paper: f64, ours: &Stat) -> Self {
        let verdict = match ours {
            stat if stat.is_empty() => Verdict::Missing,
            stat if (0.75 * paper..=1.5 * paper).contains(&stat.mean()) && stat.low() > 0.0 => Verdict::Holds,
            stat if stat.mean() > 0.0 => Verdict::InPart,
            _ => Verdict::DoesNotHold,
        };
        let mut claim = Self::new(words, Unit::Percent.text(paper), spread(ours, Unit::Percent), verdict);
        if ours.mean() > 1.5 * paper {
            claim.reason = Some("It is so, and more than in the paper.".to_owned());
        }
        claim
    }

    /// A difference is positive.
    pub fn direction(words: impl Into<String>, paper: impl Into<String>, ours: &Stat, unit: Unit) -> Self {
        let verdict = match ours {
            stat if stat.is_empty() => Verdict::Missing,
            stat if stat.low() > 0.0 => Verdict::Holds,
            stat if stat.mean() > 0.0 => Verdict::InPart,
            _ => Verdict::DoesNotHold,
        };
        Self::new(words, paper, spread(ours, unit), verdict)
    }

    /// A number is what the paper says.
    pub fn value(words: impl Into<String>, paper: f64, unit: Unit, ours: &Stat) -> Self {
        let (mean, points) = (ours.mean(), (unit.shown(ours.mean()) - unit.shown(paper)).abs());
        let within = |factor: f64| mean <= paper * factor && mean * factor >= paper;
        let near = |limit: f64| unit.is_percentage() && points <= limit;
        // A wide interval has anything in it.
        let is_narrow = ours.half().is_some_and(|half| half <= 0.5 * paper.abs());
        let within_interval = is_narrow && (ours.low()..=ours.high()).contains(&paper);
        let verdict = if ours.is_empty() {
            Verdict::Missing
        } else if within(1.25) || near(5.0) || within_interval {
            Verdict::Holds
        } else if within(2.0) || near(15.0) {
            Verdict::InPart
        } else {
            Verdict::DoesNotHold
        };
        Self::new(words, unit.text(paper), spread(ours, unit), verdict)
    }

    /// Schemes are in this order, the best first.
    pub fn ranking(words: impl Into<String>, order: &[&str], ours: &[(&str, Stat)], better: Better) -> Self {
        let mean_of = |name: &str| ours.iter().find(|(own, _)| *own == name).map_or(f64::NAN, |(_, stat)| stat.mean());
        let means: Vec<f64> = order.iter().map(|name| mean_of(name)).collect();
        let is_right = |a: f64, b: f64| {
            let better = if better == Better::Less { a <= b } else { a >= b };
            better || (a - b).abs() <= 0.02 * a.abs().max(b.abs())
        };
        let pairs: Vec<bool> = (0..means.len())
            .flat_map(|a| (a + 1..means.len()).map(move |b| (a, b)))
            .map(|(a, b)| is_right(means[a], means[b]))
            .collect();
        let right = pairs.iter().filter(|right| **right).count();
        let verdict = if means.iter().any(|mean| mean.is_nan()) {
            Verdict::Missing
        } else if right == pairs.len() {
            Verdict::Holds
        } else if 3 * right >= 2 * pairs.len() {
            Verdict::InPart
        } else {
            Verdict::DoesNotHold
        };
        let mut sorted: Vec<(&str, f64)> = order.iter().copied().zip(means).collect();
        sorted.sort_by(|a, b| if better == Better::Less { a.1.total_cmp(&b.1) } else { b.1.total_cmp(&a.1) });
        let sorted: Vec<String> = sorted.iter().map(|(name, mean)| format!("{name} {}", significant(*mean))).collect();
        let sign = if better == Better::Less { " < " } else { " > " };
        let ours = format!("{} ({right} of {} pairs)", sorted.join(sign), pairs.len());
        Self::new(words, order.join(sign), ours, verdict)
    }

    /// Something is so at every point.
    pub fn every(words: impl Into<String>, paper: impl Into<String>, points: Vec<(String, bool)>) -> Self {
        let right = points.iter().filter(|(_, right)| *right).count();
        let verdict = match (right, points.len()) {
            (_, 0) => Verdict::Missing,
            (right, all) if right == all => Verdict::Holds,
            (right, all) if 2 * right >= all => Verdict::InPart,
            _ => Verdict::DoesNotHold,
        };
        const SHOWN: usize = 6;
        let wrong: Vec<String> = points.into_iter().filter(|(_, right)| !right).map(|(name, _)| name).collect();
        let mut ours = format!("{right} of {}", right + wrong.len());
        if !wrong.is_empty() {
            let more = if wrong.len() > SHOWN { format!(" and {} more", wrong.len() - SHOWN) } else { String::new() };
            ours.push_str(&format!("; not at {}{more}", wrong[..wrong.len().min(SHOWN)].join(", ")));
        }
        Self::new(words, paper, ours, verdict)
    }

    /// Why it does not hold, or not in full; shown only then.
    #[must_use]
    pub fn because(mut self, reason: impl Into<String>) -> Self {
        let before = self.reason.take().map_or_else(String::new, |known| format!("{known} "));
        self.reason = Some(format!("{before}{}", reason.into()));
        self
    }

    /// The smallest scale that can show it, and why smaller ones cannot.
    #[must_use]
    pub fn needs(mut self, scale: Scale, why: impl Into<String>) -> Self {
        self.needs = Some((scale, why.into()));
        self
    }

    /// The same where runs are missing: nothing is said about it.
    #[must_use]
    pub fn without_verdict(self) -> Self {
        Self { verdict: Verdict::Missing, ..self }
    }

    /// The verdict at a scale.
    pub fn verdict(&self, scale: Scale) -> Verdict {
        match &self.needs {
            Some((least, _)) if scale < *least && self.verdict != Verdict::Missing => Verdict::NotShown,
            _ => self.verdict,
        }
    }

    /// What there is to say about the verdict at a scale.
    pub fn reason(&self, scale: Scale) -> Option<&str> {
        match (self.verdict(scale), &self.needs) {
            (Verdict::NotShown, Some((_, why))) => Some(why),
            (Verdict::InPart | Verdict::DoesNotHold, _) => self.reason.as_deref(),
            _ => None,
        }
    }
}

/// A number with its spread: "43.2 ± 3.1%", or "43.2% (one seed)".
pub fn spread(stat: &Stat, unit: Unit) -> String {
    if stat.is_empty() {
        return "-".to_owned();
    }
    // What is left of equal numbers when they are added up is no spread.
    let half = stat.half().map(|half| if half < 1e-9 * stat.mean().abs() { 0.0 } else { half });
    match half {
        Some(half) => {
            let with_unit = unit.text(half);
            let unit_part = with_unit.trim_start_matches(|c: char| c.is_ascii_digit() || ".e-".contains(c));
            format!("{} ± {}{unit_part}", significant(unit.shown(stat.mean())), significant(unit.shown(half)))
        }
        None => unit.text(stat.mean()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three(mean: f64, step: f64) -> Stat {
        Stat::new([(1, mean - step), (2, mean), (3, mean + step)])
    }

    fn verdict(claim: &Claim) -> Verdict {
        claim.verdict(Scale::Default)
    }

    #[test]
    fn gains() {
        for (ours, expected) in [
            (three(80.0, 1.0), Verdict::Holds),
            (three(140.0, 1.0), Verdict::Holds),
            (three(200.0, 1.0), Verdict::InPart),
            (three(70.0, 1.0), Verdict::InPart),
            // The mean is large, but the interval is not above 0.
            (three(80.0, 60.0), Verdict::InPart),
            (three(-1.0, 0.1), Verdict::DoesNotHold),
            (Stat::default(), Verdict::Missing),
        ] {
            assert_eq!(verdict(&Claim::gain("", 94.0, &ours)), expected, "{ours:?}");
        }
    }

    #[test]
    fn directions() {
        let of = |stat: Stat| verdict(&Claim::direction("", "", &stat, Unit::None));
        assert_eq!(of(three(1.0, 0.1)), Verdict::Holds);
        assert_eq!(of(three(1.0, 5.0)), Verdict::InPart);
        assert_eq!(of(three(-1.0, 5.0)), Verdict::DoesNotHold);
    }

    #[test]
    fn values() {
        let of = |paper, unit, stat: Stat| verdict(&Claim::value("", paper, unit, &stat));
        assert_eq!(of(100.0, Unit::None, Stat::exact(124.0)), Verdict::Holds);
        assert_eq!(of(100.0, Unit::None, Stat::exact(81.0)), Verdict::Holds);
        assert_eq!(of(100.0, Unit::None, Stat::exact(79.0)), Verdict::InPart);
        assert_eq!(of(100.0, Unit::None, Stat::exact(199.0)), Verdict::InPart);
        assert_eq!(of(100.0, Unit::None, Stat::exact(201.0)), Verdict::DoesNotHold);
        assert_eq!(of(100.0, Unit::None, three(130.0, 20.0)), Verdict::Holds);
        assert_eq!(
            of(100.0, Unit::None, three(150.0, 30.0)),
            Verdict::InPart,
            "an interval of 75 to either side says little"
        );
        assert_eq!(of(0.02, Unit::Share, Stat::exact(0.06)), Verdict::Holds);
        assert_eq!(of(0.02, Unit::Share, Stat::exact(0.08)), Verdict::InPart);
        assert_eq!(of(0.02, Unit::Share, Stat::exact(0.20)), Verdict::DoesNotHold);
    }

    #[test]
    fn rankings() {
        let ours =
            [("a", Stat::exact(1.0)), ("b", Stat::exact(3.0)), ("c", Stat::exact(2.0)), ("d", Stat::exact(0.99))];
        let of = |order: &[&str], better| verdict(&Claim::ranking("", order, &ours, better));
        assert_eq!(of(&["a", "c", "b"], Better::Less), Verdict::Holds);
        assert_eq!(of(&["a", "d", "b"], Better::Less), Verdict::Holds);
        assert_eq!(of(&["a", "b", "c"], Better::Less), Verdict::InPart);
        assert_eq!(of(&["b", "c", "a"], Better::Less), Verdict::DoesNotHold);
        assert_eq!(of(&["b", "c", "a"], Better::More), Verdict::Holds);
        assert_eq!(of(&["a", "x"], Better::Less), Verdict::Missing);
        let text = Claim::ranking("", &["a", "b", "c"], &ours, Better::Less).ours;
        assert_eq!(text, "a 1 < c 2 < b 3 (2 of 3 pairs)");
    }

    #[test]
    fn every_point() {
        let of = |right: usize, all: usize| {
            Claim::every("", "", (0..all).map(|number| (format!("p{number}"), number < right)).collect())
        };
        assert_eq!(verdict(&of(3, 3)), Verdict::Holds);
        assert_eq!(verdict(&of(2, 4)), Verdict::InPart);
        assert_eq!(verdict(&of(1, 3)), Verdict::DoesNotHold);
        assert_eq!(of(2, 3).ours, "2 of 3; not at p2");
        assert_eq!(of(0, 8).ours, "0 of 8; not at p0, p1, p2, p3, p4, p5 and 2 more");
    }

    #[test]
    fn reasons_are_shown_where_they_are_needed() {
        let claim =
            |ours| Claim::gain("", 50.0, &Stat::exact(ours)).because("it is").needs(Scale::Default, "it is too short");
        assert_eq!(
            (claim(60.0).verdict(Scale::Quick), claim(60.0).reason(Scale::Quick)),
            (Verdict::NotShown, Some("it is too short"))
        );
        assert_eq!((claim(60.0).verdict(Scale::Full), claim(60.0).reason(Scale::Full)), (Verdict::Holds, None));
        assert_eq!((claim(1.0).verdict(Scale::Full), claim(1.0).reason(Scale::Full)), (Verdict::InPart, Some("it is")));
    }

    #[test]
    fn numbers_with_their_spread() {
        assert_eq!(spread(&three(43.21, 1.0), Unit::Percent), "43.2 ± 2.48%");
        assert_eq!(spread(&Stat::exact(0.5), Unit::Share), "50%");
        assert_eq!(spread(&three(5.0, 0.0), Unit::Microseconds), "5 ± 0 us");
    }
}
