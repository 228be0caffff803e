//! What is expected of an experiment's outcome, as data: one number is better than another, or than a limit.

use forebay_results::stats::Interval;
use forebay_settings::{Diagnostic, Table};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The numbers of a point, by name: means over its seeds.
pub type Numbers = BTreeMap<String, f64>;

/// The number that says which share of the time was given up to stalls of the machine.
pub const STALLED: &str = "stalled";

/// Where stalls took more of the time than this, what was measured is the machine.
const TOO_MUCH: f64 = 0.02;

/// A point of a sweep with its numbers.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Its variant.
    pub variant: String,
    /// Its values of the grid, as text.
    pub grid: String,
    /// Its numbers.
    pub numbers: Numbers,
    /// The numbers of its runs, by their seeds.
    pub runs: BTreeMap<u64, Numbers>,
}

impl Outcome {
    fn number(&self, seed: u64, name: &str) -> Option<f64> {
        self.runs.get(&seed)?.get(name).copied()
    }

    fn stalled(&self) -> f64 {
        self.numbers.get(STALLED).copied().unwrap_or(0.0)
    }
}

/// What a number is compared with.
#[derive(Clone, Debug, PartialEq)]
pub enum Than {
    /// The same number of another variant, at the same point of the grid.
    Variant(String),
    /// A limit.
    Limit(f64),
}

/// An expectation.
#[derive(Clone, Debug, PartialEq)]
pub struct Expect {
    /// The number.
    pub metric: String,
    /// Where the file names it.
    pub place: Diagnostic,
    /// Of which variant; empty: of all.
    pub of: String,
    /// A lower one is better.
    pub lower: bool,
    /// Than what.
    pub than: Than,
    /// By this factor at least.
    pub by: f64,
    /// Only where the grid's values have this in their text; empty: everywhere.
    pub at: String,
}

const KEYS: [&str; 6] = ["metric", "of", "better", "than", "by", "at"];

/// Reads an `[[expect]]` table.
pub fn read(table: &Table<'_>) -> Result<Expect, Diagnostic> {
    table.allow(&KEYS, |_| false, "")?;
    let text = |key: &str| table.get(key).map_or(Ok(String::new()), |value| value.text().map(str::to_owned));
    let than = table.need("than", "than = \"DT\"")?;
    let metric = table.need("metric", "metric = \"query.p99_us\"")?;
    Ok(Expect {
        metric: metric.text()?.to_owned(),
        place: metric.error("", ""),
        of: text("of")?,
        lower: table.need("better", "better = \"lower\"")?.word(&[("lower", true), ("higher", false)])?,
        than: if than.is_text() { Than::Variant(than.text()?.to_owned()) } else { Than::Limit(than.real()?) },
        by: table.get("by").map_or(Ok(1.0), |value| value.real())?,
        at: text("at")?,
    })
}

impl Expect {
    /// By how much a number is on the right side of another; at zero it holds, too.
    fn margin(&self, own: f64, other: f64) -> f64 {
        if self.lower { other - own * self.by } else { own - other * self.by }
    }

    /// Whether it holds by the runs: those of one seed have the same flows, so that their differences are compared with
    /// zero. `None` if the 95% confidence interval of the differences does not tell.
    fn decided(&self, outcome: &Outcome, other: Option<&Outcome>) -> Option<bool> {
        let margin = |seed: &u64| {
            let other = match &self.than {
                Than::Limit(limit) => *limit,
                Than::Variant(_) => other?.number(*seed, &self.metric)?,
            };
            Some(self.margin(outcome.number(*seed, &self.metric)?, other))
        };
        let margins: Vec<f64> = outcome.runs.keys().filter_map(margin).collect();
        let interval = Interval::of(&margins)?;
        match interval.half {
            // All the same, or a single one.
            None | Some(0.0) => Some(interval.mean >= 0.0),
            Some(_) => interval.sign().map(|side| side == Ordering::Greater),
        }
    }
}

/// What became of an expectation at one point.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// In words, with the numbers.
    pub text: String,
    /// Whether it holds; none if a number is missing, seeds do not decide it, or the machine stalled for too long.
    pub holds: Option<bool>,
}

/// Compares. An expectation that meets no point has one verdict, which says so.
pub fn judge(expects: &[Expect], outcomes: &[Outcome]) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for expect in expects {
        let before = verdicts.len();
        let meant = |outcome: &&Outcome| {
            (expect.of.is_empty() || outcome.variant == expect.of) && outcome.grid.contains(&expect.at)
        };
        for outcome in outcomes.iter().filter(meant) {
            let mut stalled = outcome.stalled();
            let same = |other: &&Outcome| match &expect.than {
                Than::Limit(_) => false,
                Than::Variant(name) => other.variant == *name && other.grid == outcome.grid,
            };
            let other = outcomes.iter().find(same);
            stalled = stalled.max(other.map_or(0.0, Outcome::stalled));
            let mut verdict = compare(expect, outcome, other);
            if stalled > TOO_MUCH {
                verdict.holds = None;
                let _ = write!(verdict.text, "; the machine was away for {:.0}% of the time", 100.0 * stalled);
            }
            verdicts.push(verdict);
        }
        if verdicts.len() == before {
            let text = format!("{} of {}: no such point was run", expect.metric, expect.of);
            verdicts.push(Verdict { text, holds: None });
        }
    }
    verdicts
}

fn compare(expect: &Expect, outcome: &Outcome, other: Option<&Outcome>) -> Verdict {
    let number = |outcome: &Outcome| outcome.numbers.get(&expect.metric).copied();
    let (own, (than, name)) = match &expect.than {
        Than::Limit(limit) => (number(outcome), (Some(*limit), String::new())),
        Than::Variant(name) => (number(outcome), (other.and_then(number), format!("{name} "))),
    };
    let sign = if expect.lower { "<=" } else { ">=" };
    let mut text = format!("{}: {} ", expect.metric, outcome.variant);
    let show = |value: Option<f64>| value.map_or_else(|| "not measured".to_owned(), |value| format!("{value:.4}"));
    let _ = write!(text, "{} {sign} {name}{}", show(own), show(than));
    if expect.by != 1.0 {
        let _ = write!(text, " by a factor of {}", expect.by);
    }
    if !outcome.grid.is_empty() {
        let _ = write!(text, " ({})", outcome.grid);
    }
    let mut holds = own.zip(than).map(|(own, than)| expect.margin(own, than) >= 0.0);
    if holds.is_some() && outcome.runs.len() > 1 {
        holds = expect.decided(outcome, other);
        if holds.is_none() {
            let _ = write!(text, "; {} seeds do not decide it", outcome.runs.len());
        }
    }
    Verdict { text, holds }
}

/// The verdicts as lines.
pub fn render(verdicts: &[Verdict]) -> String {
    let mut out = String::new();
    for Verdict { text, holds } in verdicts {
        let word = match holds {
            Some(true) => "holds",
            Some(false) => "does not hold",
            None => "cannot be told",
        };
        let _ = writeln!(out, "{word:<14} {text}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(variant: &str, grid: &str, value: f64) -> Outcome {
        let numbers = Numbers::from([("qct".to_owned(), value)]);
        Outcome { variant: variant.to_owned(), grid: grid.to_owned(), runs: [(1, numbers.clone())].into(), numbers }
    }

    fn expect(of: &str, than: Than) -> Expect {
        let place = Diagnostic::of_file("e.toml", "", "");
        Expect { metric: "qct".to_owned(), place, of: of.to_owned(), lower: true, than, by: 1.0, at: String::new() }
    }

    #[test]
    fn numbers_are_compared_at_the_same_point_of_the_grid() {
        let all =
            [outcome("A", "x=1", 5.0), outcome("A", "x=2", 9.0), outcome("B", "x=1", 6.0), outcome("B", "x=2", 8.0)];
        let verdicts = judge(&[expect("A", Than::Variant("B".to_owned()))], &all);
        assert_eq!(verdicts.iter().map(|verdict| verdict.holds).collect::<Vec<_>>(), [Some(true), Some(false)]);
        assert_eq!(verdicts[0].text, "qct: A 5.0000 <= B 6.0000 (x=1)");
        let only = Expect { at: "x=2".to_owned(), ..expect("A", Than::Variant("B".to_owned())) };
        assert_eq!(judge(&[only], &all).len(), 1);
        let by = Expect { by: 1.3, ..expect("A", Than::Variant("B".to_owned())) };
        assert_eq!(judge(&[by], &all)[0].holds, Some(false));
        assert!(render(&verdicts).starts_with("holds          qct: A"));
    }

    #[test]
    fn a_machine_that_was_away_decides_nothing() {
        let mut all = [outcome("A", "", 5.0), outcome("B", "", 6.0), outcome("C", "", 1.0)];
        let [other, limit] = [Than::Variant("B".to_owned()), Than::Limit(4.0)];
        let holds = |all: &[Outcome], than: &Than| judge(&[expect("A", than.clone())], all)[0].holds;
        all[1].numbers.insert(STALLED.to_owned(), 0.01);
        assert_eq!((holds(&all, &other), holds(&all, &limit)), (Some(true), Some(false)));
        all[1].numbers.insert(STALLED.to_owned(), 0.41);
        assert_eq!((holds(&all, &other), holds(&all, &limit)), (None, Some(false)));
        all[0].numbers.insert(STALLED.to_owned(), 0.03);
        assert_eq!(holds(&all, &limit), None);
        let text = render(&judge(&[expect("A", other)], &all));
        assert_eq!(text, "cannot be told qct: A 5.0000 <= B 6.0000; the machine was away for 41% of the time\n");
    }

    #[test]
    fn what_is_missing_is_never_taken_for_success() {
        let all = [outcome("A", "", 5.0)];
        let holds = |expects: &[Expect]| judge(expects, &all)[0].holds;
        assert_eq!(holds(&[expect("A", Than::Variant("B".to_owned()))]), None);
        assert_eq!(holds(&[expect("C", Than::Limit(9.0))]), None);
        assert_eq!(holds(&[Expect { metric: "other".to_owned(), ..expect("A", Than::Limit(9.0)) }]), None);
        assert_eq!(holds(&[expect("", Than::Limit(5.0))]), Some(true));
        assert_eq!(holds(&[Expect { lower: false, ..expect("A", Than::Limit(5.1)) }]), Some(false));
    }

    #[test]
    fn seeds_decide_by_their_differences() {
        let point = |variant: &str, values: [f64; 3]| {
            let mut point = outcome(variant, "", values.iter().sum::<f64>() / 3.0);
            let run = |(seed, value): (u64, &f64)| (seed, Numbers::from([("qct".to_owned(), *value)]));
            point.runs = (1..).zip(&values).map(run).collect();
            point
        };
        let holds =
            |a, b| judge(&[expect("A", Than::Variant("B".to_owned()))], &[point("A", a), point("B", b)])[0].clone();
        // Seeds differ by much, and the variants by the same amount with each.
        assert_eq!(holds([10.0, 50.0, 90.0], [12.0, 53.0, 92.0]).holds, Some(true));
        assert_eq!(holds([12.0, 53.0, 92.0], [10.0, 50.0, 90.0]).holds, Some(false));
        assert_eq!(holds([7.0, 7.0, 7.0], [7.0, 7.0, 7.0]).holds, Some(true));
        let open = holds([10.0, 50.0, 95.0], [11.0, 52.0, 93.0]);
        assert_eq!(open.holds, None);
        assert!(open.text.ends_with("; 3 seeds do not decide it"), "{}", open.text);
        let limit = |limit| judge(&[expect("A", Than::Limit(limit))], &[point("A", [4.0, 5.0, 6.0])])[0].holds;
        assert_eq!([limit(9.0), limit(5.5), limit(1.0)], [Some(true), None, Some(false)]);
    }
}
