//! Runs side by side.

use crate::metrics::{Metric, Unit, metrics, over_seeds};
use crate::paired::{Difference, Sample};
use crate::stats::Interval;
use crate::summary::Summary;
use crate::text::{ABSENT, TextTable, number, short_name};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// One line of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The measure.
    pub name: String,
    /// What it is in.
    pub unit: Unit,
    /// The first side, over its seeds.
    pub a: Option<Interval>,
    /// The second.
    pub b: Option<Interval>,
    /// The second less the first, seed by seed, if they have the same seeds.
    pub paired: Option<Interval>,
}

impl Comparison {
    /// How many times the first side's mean the second's is; `None` if either is absent or the first is 0.
    pub fn ratio(&self) -> Option<f64> {
        match (self.a?.mean, self.b?.mean) {
            (0.0, _) => None,
            (a, b) => Some(b / a),
        }
    }

    /// The second side's mean less the first's, with its confidence if it is known seed by seed.
    pub fn difference(&self) -> Option<Interval> {
        self.paired.or_else(|| Some(Interval { mean: self.b?.mean - self.a?.mean, half: None }))
    }

    /// Whether the two sides differ by more than chance: seed by seed if they have the same seeds, otherwise if their
    /// confidence intervals have nothing in common. `None` with a single seed on either side.
    pub fn is_apart(&self) -> Option<bool> {
        match self.paired {
            Some(difference) => difference.half.map(|_| difference.sign().is_some()),
            None => self.a?.is_apart_from(&self.b?),
        }
    }
}

/// Compares two groups of runs, each with one scenario and any number of seeds, measure by measure. Measures that only
/// one side has are kept; those that nobody has a value of are left out.
pub fn comparisons(a: &[Summary], b: &[Summary]) -> Vec<Comparison> {
    let sides: [Vec<Vec<Metric>>; 2] = [a, b].map(|side| side.iter().map(metrics).collect());
    let mut names: Vec<(&str, Unit)> = Vec::new();
    for metric in sides.iter().flatten().flatten() {
        if !names.iter().any(|(name, _)| *name == metric.name) {
            names.push((&metric.name, metric.unit));
        }
    }
    let is_paired = has_same_seeds(a, b);
    let lines = names.into_iter().map(|(name, unit)| {
        let of_run = |run: &Vec<Metric>| run.iter().find(|metric| metric.name == name).and_then(|metric| metric.value);
        let values = |side: usize| sides[side].iter().map(of_run);
        let samples = |side: usize, runs: &[Summary]| -> Vec<Sample> {
            let sample = |(run, value): (&Summary, _)| Sample { seed: run.run.seed, value, unfinished: 0 };
            runs.iter().zip(values(side)).map(sample).collect()
        };
        let difference = || Difference::between(&samples(0, a), &samples(1, b)).map(|difference| difference.interval);
        Comparison {
            name: name.to_owned(),
            unit,
            a: over_seeds(values(0)),
            b: over_seeds(values(1)),
            paired: if is_paired { difference() } else { None },
        }
    });
    lines.filter(|line| line.a.is_some() || line.b.is_some()).collect()
}

/// Whether each seed of either side is one of the other.
fn has_same_seeds(a: &[Summary], b: &[Summary]) -> bool {
    let seeds = |side: &[Summary]| side.iter().map(|run| run.run.seed).collect::<BTreeSet<_>>();
    a.len() == b.len() && seeds(a) == seeds(b)
}

/// A comparison as text: the measure, A, B, B over A and B less A. With several seeds on both sides, means come with
/// 95% confidence intervals; so does the difference if the seeds are the same. An asterisk marks lines that differ by
/// more than chance. `places` say where A and B are.
pub fn compare(places: [&str; 2], a: &[Summary], b: &[Summary]) -> String {
    let lines = comparisons(a, b);
    let with_marks = lines.iter().any(|line| line.is_apart().is_some());
    let mut table = TextTable::new(1, ["", "A", "B", "B/A", "B-A"].into_iter().chain(with_marks.then_some("apart")));
    for line in &lines {
        let mut cells = vec![
            line.name.clone(),
            line.unit.print_interval(line.a.as_ref()),
            line.unit.print_interval(line.b.as_ref()),
            line.ratio().map_or_else(|| ABSENT.to_owned(), number),
            line.difference().map_or_else(|| ABSENT.to_owned(), |difference| line.unit.print_difference(&difference)),
        ];
        if line.is_apart() == Some(true) {
            cells.push("*".to_owned());
        }
        table.row(cells);
    }
    let [a_place, b_place] = places;
    let mut text = format!("A: {a_place}: {}\nB: {b_place}: {}\n\n{}", side_name(a), side_name(b), table.render());
    text.push_str("\npp: percentage points");
    if with_marks {
        let paired = lines.iter().any(|line| line.paired.is_some());
        let apart = if paired { "B-A, paired by seed, excludes zero" } else { "the intervals do not overlap" };
        text.push_str(&format!("; ±: 95% confidence of the mean over seeds; *: {apart}"));
    }
    text.push('\n');
    text
}

/// Any number of sides as text: a column with the values of each, and a table of the differences to the first, each
/// with an asterisk if it is more than chance. `places` say where the sides are; two sides are [`compare`].
pub fn compare_all(places: &[String], sides: &[Vec<Summary>]) -> String {
    if let ([a_place, b_place], [a, b]) = (places, sides) {
        return compare([a_place, b_place], a, b);
    }
    let Some((baseline, others)) = sides.split_first() else { return String::new() };
    // A side beside itself: every measure that anybody has, in one order.
    let lines: Vec<Vec<Comparison>> = others.iter().map(|side| comparisons(baseline, side)).collect();
    let mut names: Vec<(&str, Unit)> = Vec::new();
    for line in lines.iter().flatten() {
        if !names.iter().any(|(name, _)| *name == line.name) {
            names.push((&line.name, line.unit));
        }
    }
    let letters: Vec<String> = (0..sides.len()).map(letter).collect();
    let mut text: String = (letters.iter().zip(places).zip(sides))
        .map(|((letter, place), side)| format!("{letter}: {place}: {}\n", side_name(side)))
        .collect();
    let mut values = TextTable::new(1, std::iter::once(String::new()).chain(letters.iter().cloned()));
    let differ = letters.iter().skip(1).flat_map(|letter| [format!("{letter}-A"), String::new()]);
    let mut differences = TextTable::new(1, std::iter::once(String::new()).chain(differ));
    for (name, unit) in names {
        let own: Vec<Option<&Comparison>> =
            lines.iter().map(|lines| lines.iter().find(|line| line.name == name)).collect();
        let first = own.iter().flatten().find_map(|line| line.a);
        let mut cells = vec![name.to_owned(), unit.print_interval(first.as_ref())];
        cells.extend(own.iter().map(|line| unit.print_interval(line.and_then(|line| line.b).as_ref())));
        values.row(cells);
        let mut cells = vec![name.to_owned()];
        for line in own {
            let difference = line.and_then(Comparison::difference);
            cells.push(difference.map_or_else(|| ABSENT.to_owned(), |difference| unit.print_difference(&difference)));
            let apart = line.and_then(Comparison::is_apart) == Some(true);
            cells.push(if apart { "*" } else { "" }.to_owned());
        }
        differences.row(cells);
    }
    let paired = others.iter().all(|side| has_same_seeds(baseline, side));
    let apart = if paired { "the difference, paired by seed, excludes zero" } else { "more than chance" };
    text.push_str(&format!("\n{}\nDifferences to A\n{}", values.render(), differences.render()));
    text.push_str(&format!("\npp: percentage points; ±: 95% confidence of the mean over seeds; *: {apart}\n"));
    text
}

/// A, B, ..., Z, A1, B1, ...
fn letter(number: usize) -> String {
    let letter = char::from(b'A' + (number % 26) as u8);
    if number < 26 { letter.to_string() } else { format!("{letter}{}", number / 26) }
}

/// [`compare_all`] as JSON: `sides` with their places, names and seeds, and `measures`, each with its unit, the mean
/// and half the 95% confidence interval of every side, and of every side's difference from the first, with `apart` if
/// that is known.
pub fn compare_json(places: &[String], sides: &[Vec<Summary>]) -> String {
    let interval = |interval: Option<Interval>| match interval {
        Some(Interval { mean, half }) => json!({ "mean": mean, "ci95": half }),
        None => Value::Null,
    };
    let Some((baseline, _)) = sides.split_first() else { return "null\n".to_owned() };
    let lines: Vec<Vec<Comparison>> = sides.iter().map(|side| comparisons(baseline, side)).collect();
    let mut names: Vec<(&str, Unit)> = Vec::new();
    for line in lines.iter().flatten() {
        if !names.iter().any(|(name, _)| *name == line.name) {
            names.push((&line.name, line.unit));
        }
    }
    let measure = |(name, unit): &(&str, Unit)| {
        let of = |lines: &Vec<Comparison>| lines.iter().find(|line| line.name == *name).cloned();
        let own: Vec<Option<Comparison>> = lines.iter().map(of).collect();
        let values: Vec<Value> = own.iter().map(|line| interval(line.as_ref().and_then(|line| line.b))).collect();
        let differences: Vec<Value> = own
            .iter()
            .skip(1)
            .map(|line| {
                let mut value = interval(line.as_ref().and_then(Comparison::difference));
                if let Value::Object(object) = &mut value {
                    object.insert("apart".to_owned(), json!(line.as_ref().and_then(Comparison::is_apart)));
                }
                value
            })
            .collect();
        json!({ "name": name, "unit": unit.name(), "sides": values, "differences": differences })
    };
    let side = |(place, runs): (&String, &Vec<Summary>)| {
        let seeds: Vec<u64> = runs.iter().map(|run| run.run.seed).collect();
        let first = runs.first().map(|run| &run.run);
        json!({
            "place": place,
            "name": first.map(|run| run.name.clone()),
            "version": first.map(|run| run.version.clone()),
            "seeds": seeds,
            "interrupted": runs.iter().any(|run| run.run.interrupted),
        })
    };
    let sides: Vec<Value> = places.iter().zip(sides).map(side).collect();
    let measures: Vec<Value> = names.iter().map(measure).collect();
    format!("{:#}\n", json!({ "sides": sides, "measures": measures }))
}

/// The scenario and seeds of one side.
fn side_name(side: &[Summary]) -> String {
    let Some(first) = side.first() else {
        return "no run".to_owned();
    };
    let seeds: Vec<String> = side.iter().map(|run| run.run.seed.to_string()).collect();
    let stopped = if side.iter().any(|run| run.run.interrupted) { ", interrupted" } else { "" };
    let plural = if seeds.len() > 1 { "s" } else { "" };
    let seeds = short_name(&seeds.join(", "), 60);
    format!("{}, seed{plural} {seeds}, forebay {}{stopped}", first.run.name, first.run.version)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::summarize;
    use crate::testing;

    fn run(seed: u64, factor: u64) -> Summary {
        let (scenario, result) = testing::busy(seed, factor);
        let mut summary = summarize(&scenario, &result);
        summary.run.version = "1.2.3".to_owned();
        summary
    }

    fn line(lines: &[Comparison], name: &str) -> Comparison {
        lines.iter().find(|line| line.name == name).unwrap().clone()
    }

    #[test]
    fn twice_as_slow_is_a_ratio_of_two() {
        let lines = comparisons(&[run(1, 1)], &[run(1, 2)]);
        let fct = line(&lines, "websearch: FCT p99");
        assert_eq!((fct.a.unwrap().mean, fct.b.unwrap().mean), (990.0, 1_980.0));
        let difference = |line: &Comparison| line.difference().map(|difference| difference.mean);
        assert_eq!((fct.ratio(), difference(&fct), fct.is_apart()), (Some(2.0), Some(990.0), None));
        let drops = line(&lines, "packets dropped in buffers");
        assert_eq!((drops.ratio(), difference(&drops)), (Some(2.0), Some(2.0)));
        assert_eq!(line(&lines, "incast: QCT mean").ratio(), Some(2.0));
        // Nothing was expelled on either side.
        assert!(lines.iter().all(|line| line.name != "packets expelled"));
    }

    #[test]
    fn what_one_side_lacks_is_shown_as_absent() {
        let mut without = run(1, 1);
        without.queries.clear();
        let lines = comparisons(&[without], &[run(1, 2)]);
        let qct = line(&lines, "incast: QCT mean");
        assert!(qct.a.is_none() && qct.b.is_some());
        assert_eq!((qct.ratio(), qct.difference()), (None, None));
    }

    #[test]
    fn intervals_over_seeds_tell_real_differences() {
        let a = [run(1, 1), run(2, 2), run(3, 3)];
        let b = [run(1, 11), run(2, 12), run(3, 13)];
        let fct = line(&comparisons(&a, &b), "websearch: FCT mean");
        // Means of 505, 1010, 1515 us: s = 505, n = 3, t = 4.302653.
        assert!((fct.a.unwrap().mean - 1_010.0).abs() < 1e-9);
        assert!((fct.a.unwrap().half.unwrap() - 4.302_653 * 505.0 / 3f64.sqrt()).abs() < 1e-6);
        assert_eq!(fct.is_apart(), Some(true));
        assert_eq!(line(&comparisons(&a, &a), "websearch: FCT mean").is_apart(), Some(false));
        // Means 10 times 505 apart, the same for every seed.
        assert_eq!(fct.paired, Some(Interval { mean: 5_050.0, half: Some(0.0) }));
        // With other seeds there is nothing to pair: the intervals decide, and 505 to 2,525 overlaps with 505 to 1,515.
        let c = [run(4, 1), run(5, 3), run(6, 5)];
        let fct = line(&comparisons(&a, &c), "websearch: FCT mean");
        assert_eq!((fct.paired, fct.is_apart()), (None, Some(false)));
    }

    #[test]
    fn the_table_of_two_runs() {
        insta::assert_snapshot!(compare(["one", "other"], &[run(1, 1)], &[run(1, 2)]));
    }

    #[test]
    fn the_table_of_three_groups() {
        let sides = [vec![run(1, 1), run(2, 2)], vec![run(1, 40), run(2, 41)], vec![run(1, 1), run(2, 2)]];
        let places = ["one", "other", "third"].map(str::to_owned);
        insta::assert_snapshot!(compare_all(&places, &sides));
        // Two are as ever.
        assert_eq!(compare_all(&places[..2], &sides[..2]), compare(["one", "other"], &sides[0], &sides[1]));
    }

    #[test]
    fn json_says_what_the_table_says() {
        let sides = [vec![run(1, 1), run(2, 2)], vec![run(1, 40), run(2, 41)], vec![run(1, 1), run(2, 2)]];
        let text = compare_json(&["one", "other", "third"].map(str::to_owned), &sides);
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["sides"][1]["place"], "other");
        assert_eq!(value["sides"][2]["seeds"], json!([1, 2]));
        let measures = value["measures"].as_array().unwrap();
        let fct = measures.iter().find(|measure| measure["name"] == "websearch: FCT mean").unwrap();
        assert_eq!((&fct["unit"], fct["sides"].as_array().unwrap().len()), (&json!("us"), 3));
        assert_eq!(fct["differences"][0]["apart"], true);
        assert_eq!(fct["differences"][1]["mean"], 0.0);
        assert!((fct["sides"][0]["mean"].as_f64().unwrap() - 757.5).abs() < 1e-9, "{fct}");
    }

    #[test]
    fn the_table_of_two_groups() {
        insta::assert_snapshot!(compare(["one", "other"], &[run(1, 1), run(2, 2)], &[run(1, 40), run(2, 41)]));
    }
}
