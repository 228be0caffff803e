//! A statement of a paper beside what was measured for it, and the verdict that follows.

use crate::figure::Scale;
use crate::found::Found;
use crate::measured::{Measured, What};
use crate::stat::Stat;
use crate::statement::{Cause, Details, Mark, Rule, Said, Statement};
use crate::unit::{Unit, significant};
use crate::verdict::{self, Range, Verdict};

/// A row of a table of claims.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Its stable name.
    pub id: String,
    /// The statement, in our words.
    pub words: String,
    /// Where the paper has it.
    pub section: String,
    /// How important it is.
    pub mark: Mark,
    /// What the paper has.
    pub paper: String,
    /// What came out, with its interval.
    pub ours: String,
    /// Why it does not hold, or not in full.
    pub cause: Option<Cause>,
    /// Runs of the record that show that.
    pub evidence: Vec<String>,
    verdict: Verdict,
    reason: Option<String>,
    circular: Option<String>,
    needs: Option<(Scale, String)>,
}

impl Claim {
    /// Judges what was measured by what the statement says. The error tells what does not fit.
    pub fn new(statement: &Statement, measured: &Measured) -> Result<Self, String> {
        let place = measured.place();
        let id = if place.is_empty() { statement.id.clone() } else { format!("{}-{place}", statement.id) };
        let details = statement.details_at(&place);
        let misfit = || format!("{id}: the numbers do not fit the rule");
        let paper = match (&details.paper, measured.theirs) {
            (Some(Said::Theirs), Some(value)) => Said::Number(value),
            (Some(Said::Theirs), None) | (None, _) => return Err(format!("{id}: the paper's number is missing")),
            (Some(said), _) => said.clone(),
        };
        let unit = statement.unit;
        let (ours, verdict) = match (&measured.what, &paper) {
            (What::Number(stat), _) => (spread(stat, unit), of_number(statement, &paper, stat).ok_or_else(misfit)?),
            (What::Ratio(ours, theirs), Said::Number(number)) if statement.rule == Rule::Gain => {
                let (low, best, high) = ours.ratio(*theirs);
                let percent = |ratio: f64| 100.0 * (ratio - 1.0);
                let range = Range { low: percent(low), best: percent(best), high: percent(high) };
                let none = ours.of == 0 || theirs.of == 0 || best.is_nan();
                let verdict = if none { Verdict::Missing } else { verdict::gain(*number, range) };
                (counts(*ours, *theirs), verdict)
            }
            (What::Order(all), Said::Order(order)) => order_of(order, all, statement.rule),
            (What::Points(points), Said::Words(_)) if statement.rule == Rule::Every => every(points),
            _ => return Err(misfit()),
        };
        let said = match &paper {
            Said::Number(number) => unit.text(*number),
            Said::Words(words) => words.clone(),
            Said::Order(order) => order.join(if statement.rule == Rule::Descending { " > " } else { " < " }),
            Said::Theirs => String::new(),
        };
        Ok(Self::of(statement, measured, id, details, (said, ours, verdict)))
    }

    fn of(
        statement: &Statement,
        measured: &Measured,
        id: String,
        details: Details,
        (paper, ours, verdict): (String, String, Verdict),
    ) -> Self {
        Self {
            id,
            words: filled(&statement.words, measured),
            section: statement.section.clone(),
            mark: details.mark.unwrap_or(Mark::Figure),
            paper,
            ours,
            cause: details.cause,
            evidence: details.evidence,
            verdict,
            reason: details.reason.map(|reason| filled(&reason, measured)),
            circular: details.circular,
            needs: details.needs,
        }
    }

    /// The same where runs are missing: nothing is said about it.
    #[must_use]
    pub fn without_verdict(self) -> Self {
        Self { verdict: Verdict::Missing, ..self }
    }

    /// The verdict at a scale.
    pub fn verdict(&self, scale: Scale) -> Verdict {
        match &self.needs {
            _ if self.verdict == Verdict::Missing => Verdict::Missing,
            _ if self.circular.is_some() => Verdict::Circular,
            Some((least, _)) if scale < *least => Verdict::NotShown,
            _ => self.verdict,
        }
    }

    /// What there is to say about the verdict at a scale: why a larger scale is needed, what makes it circular, or why
    /// it does not hold.
    pub fn reason(&self, scale: Scale) -> Option<&str> {
        match self.verdict(scale) {
            Verdict::NotShown => self.needs.as_ref().map(|(_, why)| why.as_str()),
            Verdict::Circular => self.circular.as_deref(),
            verdict if verdict.has_cause() => self.reason.as_deref(),
            _ => None,
        }
    }

    /// The cause and the reason at a scale, with what shows them: as it stands behind a verdict.
    pub fn because(&self, scale: Scale) -> Option<String> {
        let reason = self.reason(scale)?;
        if !self.verdict(scale).has_cause() {
            return Some(reason.to_owned());
        }
        let cause = self.cause.map_or("", Cause::words);
        let shown = match self.evidence.as_slice() {
            [] => " (conjecture)".to_owned(),
            runs => format!(" (shown by {})", runs.join(", ")),
        };
        Some(format!("{cause}. {reason}{shown}"))
    }
}

/// The verdict about a number; `None` if the rule is for something else.
fn of_number(statement: &Statement, paper: &Said, stat: &Stat) -> Option<Verdict> {
    let judged = match (statement.rule, paper) {
        (Rule::Gain, Said::Number(number)) => verdict::gain(*number, Range::of(stat)),
        (Rule::Direction, _) => verdict::direction(Range::of(stat)),
        (Rule::Value, Said::Number(number)) => verdict::value(*number, statement.unit, Range::of(stat)),
        (Rule::AtMost, Said::Number(number)) => verdict::at_most(*number, statement.unit, Range::of(stat)),
        (Rule::AtLeast, Said::Number(number)) => verdict::at_least(*number, statement.unit, Range::of(stat)),
        _ => return None,
    };
    Some(if stat.is_empty() { Verdict::Missing } else { judged })
}

/// Of those schemes that have numbers: whether they are in order.
fn order_of(order: &[String], all: &[(String, Stat)], rule: Rule) -> (String, Verdict) {
    let of = |name: &String| all.iter().find(|(own, _)| own == name).map(|(_, stat)| stat);
    let mut known: Vec<(&String, &Stat)> = order.iter().filter_map(|name| Some((name, of(name)?))).collect();
    let mut pairs = Vec::new();
    for (index, (_, first)) in known.iter().enumerate() {
        for (_, second) in &known[index + 1..] {
            let (first, second) = if rule == Rule::Descending { (second, first) } else { (first, second) };
            pairs.push(verdict::in_order(first, second));
        }
    }
    let is_missing = known.len() < 2 || known.iter().any(|(_, stat)| stat.is_empty());
    let verdict = if is_missing { Verdict::Missing } else { verdict::several(&pairs, 2.0 / 3.0) };
    known.sort_by(|a, b| a.1.mean().total_cmp(&b.1.mean()));
    let mut sign = " < ";
    if rule == Rule::Descending {
        known.reverse();
        sign = " > ";
    }
    let shown: Vec<String> = known.iter().map(|(name, stat)| format!("{name} {}", significant(stat.mean()))).collect();
    let open = tally(&pairs);
    (format!("{} ({open} of {} pairs)", shown.join(sign), pairs.len()), verdict)
}

/// "3", or "3, 1 open".
fn tally(found: &[Found]) -> String {
    let count = |wanted: Found| found.iter().filter(|one| **one == wanted).count();
    match count(Found::Open) {
        0 => count(Found::Yes).to_string(),
        open => format!("{} and {open} open,", count(Found::Yes)),
    }
}

fn every(points: &[(String, Found)]) -> (String, Verdict) {
    const SHOWN: usize = 6;
    let found: Vec<Found> = points.iter().map(|(_, found)| *found).collect();
    let names = |wanted: Found| -> Vec<&str> {
        points.iter().filter(|(_, found)| *found == wanted).map(|(name, _)| name.as_str()).collect()
    };
    let mut ours = format!("{} of {}", names(Found::Yes).len(), points.len());
    for (wanted, word) in [(Found::No, "not at"), (Found::Open, "open at")] {
        let names = names(wanted);
        if !names.is_empty() {
            let more = if names.len() > SHOWN { format!(" and {} more", names.len() - SHOWN) } else { String::new() };
            ours.push_str(&format!("; {word} {}{more}", names[..names.len().min(SHOWN)].join(", ")));
        }
    }
    (if points.is_empty() { "-".to_owned() } else { ours }, verdict::several(&found, 0.5))
}

/// "80/94 against 0/94: more by at least 2280%".
fn counts(ours: crate::counts::Count, theirs: crate::counts::Count) -> String {
    if ours.of == 0 || theirs.of == 0 {
        return "-".to_owned();
    }
    let (low, best, high) = ours.ratio(theirs);
    let percent = |ratio: f64| Unit::Percent.text(100.0 * (ratio - 1.0));
    let counted = format!("{}/{} against {}/{}", ours.hits, ours.of, theirs.hits, theirs.of);
    match (best.is_finite(), high.is_finite()) {
        (true, true) => format!("{} ({} to {}; {counted})", percent(best), percent(low), percent(high)),
        _ => format!("at least {} ({counted})", percent(low)),
    }
}

/// Text with its places filled: `{0}` by the setting, `{a}` by numbers for the reason.
fn filled(text: &str, measured: &Measured) -> String {
    let mut text = text.to_owned();
    for (index, part) in measured.at.iter().enumerate() {
        text = text.replace(&format!("{{{index}}}"), part);
    }
    for (letter, part) in ('a'..='z').zip(&measured.told) {
        text = text.replace(&format!("{{{letter}}}"), part);
    }
    text
}

/// A number with its interval: "43.2 ± 3.1%", "43.2% (exact)", or "43.2% (one seed)".
pub fn spread(stat: &Stat, unit: Unit) -> String {
    if stat.is_empty() {
        return "-".to_owned();
    }
    let mean = unit.text(stat.mean());
    match (stat.is_exact(), stat.half()) {
        (true, None) => format!("{mean} (exact)"),
        (true, Some(_)) => format!("{mean} (with each of {} seeds)", stat.seeds()),
        (false, None) => format!("{mean} (one seed)"),
        (false, Some(half)) => {
            let with_unit = unit.text(half);
            let unit_part = with_unit.trim_start_matches(|c: char| c.is_ascii_digit() || ".e-".contains(c));
            format!("{} ± {}{unit_part}", significant(unit.shown(stat.mean())), significant(unit.shown(half)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::Count;
    use crate::statement::read;

    fn three(mean: f64, step: f64) -> Stat {
        Stat::new([(1, mean - step), (2, mean), (3, mean + step)])
    }

    fn claim(more: &str, measured: &Measured) -> Claim {
        let head = "[[claim]]\nid = \"x\"\nstatement = \"with {0}\"\nsection = \"1\"\nmark = \"figure\"\n";
        let all = read("x.toml", &format!("{head}{more}")).unwrap();
        Claim::new(&all.all[0], measured).unwrap()
    }

    #[test]
    fn statements_are_judged() {
        let gain = "rule = \"gain\"\nunit = \"%\"\npaper = 50.0\n";
        let of = |stat: Stat| claim(gain, &Measured::stat("x", &stat).at(["DT"]));
        let held = of(three(60.0, 1.0));
        assert_eq!((held.id.as_str(), held.words.as_str(), held.paper.as_str()), ("x-dt", "with DT", "50%"));
        assert_eq!((held.ours.as_str(), held.verdict(Scale::Quick)), ("60 ± 2.48%", Verdict::Holds));
        assert_eq!(of(Stat::new([(1, 60.0)])).verdict(Scale::Full), Verdict::Inconclusive, "one seed decides nothing");
        assert_eq!(of(Stat::default()).verdict(Scale::Full), Verdict::Missing);
        let ratio = Measured::ratio("x", Count { hits: 94, of: 94 }, Count { hits: 0, of: 94 });
        let bound = claim(gain, &ratio);
        assert_eq!(bound.ours, "at least 2399% (94/94 against 0/94)");
        assert_eq!(bound.verdict(Scale::Full), Verdict::Stronger);
    }

    #[test]
    fn orders_and_points() {
        let order = "rule = \"ascending\"\npaper = [\"a\", \"b\", \"c\"]\n";
        let all = [("a", Stat::exact(1.0)), ("b", Stat::exact(3.0)), ("c", Stat::exact(2.0))];
        let in_part = claim(order, &Measured::order("x", &all));
        assert_eq!(in_part.ours, "a 1 < c 2 < b 3 (2 of 3 pairs)");
        assert_eq!(in_part.verdict(Scale::Full), Verdict::InPart);
        assert_eq!(in_part.paper, "a < b < c");
        let points = |found: &[Found]| (0..).map(|n| format!("p{n}")).zip(found.iter().copied()).collect::<Vec<_>>();
        let every =
            |found: &[Found]| claim("rule = \"every\"\npaper = \"always\"\n", &Measured::points("x", points(found)));
        let open = every(&[Found::Yes, Found::Open]);
        assert_eq!((open.ours.as_str(), open.verdict(Scale::Full)), ("1 of 2; open at p1", Verdict::Inconclusive));
        assert_eq!(every(&[Found::No; 8]).ours, "0 of 8; not at p0, p1, p2, p3, p4, p5 and 2 more");
        assert_eq!(every(&[]).verdict(Scale::Full), Verdict::Missing);
    }

    #[test]
    fn reasons_are_shown_where_they_are_needed() {
        let text = "rule = \"gain\"\npaper = 50.0\nneeds = \"default\"\nuntil = \"too short\"\ncause = \"scale\"\nreason = \"it is {a}\"\n";
        let of = |ours: f64| claim(text, &Measured::stat("x", &Stat::exact(ours)).telling(["so"]));
        assert_eq!(of(60.0).because(Scale::Quick).as_deref(), Some("too short"));
        assert_eq!(of(60.0).because(Scale::Full), None);
        assert_eq!(of(9.0).because(Scale::Full).as_deref(), Some("scale. it is so (conjecture)"));
        let circular = claim(
            "rule = \"gain\"\npaper = 50.0\ncircular = \"the rate is set for it\"\n",
            &Measured::stat("x", &Stat::exact(50.0)),
        );
        assert_eq!(circular.verdict(Scale::Full), Verdict::Circular);
        assert_eq!(circular.because(Scale::Full).as_deref(), Some("the rate is set for it"));
    }

    #[test]
    fn numbers_with_their_spread() {
        assert_eq!(spread(&three(43.21, 1.0), Unit::Percent), "43.2 ± 2.48%");
        assert_eq!(spread(&Stat::exact(0.5), Unit::Share), "50% (exact)");
        assert_eq!(spread(&Stat::new([(4, 5.0)]), Unit::Microseconds), "5 us (one seed)");
        assert_eq!(spread(&three(5.0, 0.0), Unit::Microseconds), "5 us (with each of 3 seeds)");
    }
}
