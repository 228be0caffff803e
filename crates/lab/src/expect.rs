//! What is expected of an experiment's outcome, as data: one number is better than another, or than a limit.

use forebay_settings::{Diagnostic, Table};
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
}

impl Outcome {
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
    Ok(Expect {
        metric: table.need("metric", "metric = \"qct_p99_us\"")?.text()?.to_owned(),
        of: text("of")?,
        lower: table.need("better", "better = \"lower\"")?.word(&[("lower", true), ("higher", false)])?,
        than: if than.is_text() { Than::Variant(than.text()?.to_owned()) } else { Than::Limit(than.real()?) },
        by: table.get("by").map_or(Ok(1.0), |value| value.real())?,
        at: text("at")?,
    })
}

/// What became of an expectation at one point.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// In words, with the numbers.
    pub text: String,
    /// Whether it holds; none if a number is missing, or the machine stalled for too long.
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
            let (other, name) = match &expect.than {
                Than::Limit(limit) => (Some(*limit), String::new()),
                Than::Variant(name) => {
                    let same = |other: &&Outcome| other.variant == *name && other.grid == outcome.grid;
                    let other = outcomes.iter().find(same);
                    stalled = stalled.max(other.map_or(0.0, Outcome::stalled));
                    (other.and_then(|other| other.numbers.get(&expect.metric).copied()), format!("{name} "))
                }
            };
            let mut verdict = compare(expect, outcome, other, &name);
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

fn compare(expect: &Expect, outcome: &Outcome, other: Option<f64>, name: &str) -> Verdict {
    let own = outcome.numbers.get(&expect.metric).copied();
    let sign = if expect.lower { "<=" } else { ">=" };
    let mut text = format!("{}: {} ", expect.metric, outcome.variant);
    let show = |value: Option<f64>| value.map_or_else(|| "not measured".to_owned(), |value| format!("{value:.4}"));
    let _ = write!(text, "{} {sign} {name}{}", show(own), show(other));
    if expect.by != 1.0 {
        let _ = write!(text, " by a factor of {}", expect.by);
    }
    if !outcome.grid.is_empty() {
        let _ = write!(text, " ({})", outcome.grid);
    }
    let holds = own.zip(other).map(|(own, other)| match expect.lower {
        true => own * expect.by <= other,
        false => own >= other * expect.by,
    });
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
        Outcome { variant: variant.to_owned(), grid: grid.to_owned(), numbers: [("qct".to_owned(), value)].into() }
    }

    fn expect(of: &str, than: Than) -> Expect {
        Expect { metric: "qct".to_owned(), of: of.to_owned(), lower: true, than, by: 1.0, at: String::new() }
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
}
