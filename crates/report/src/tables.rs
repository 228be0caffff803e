//! Facts, costs and further tables as HTML.

use crate::html::escape;
use crate::{Amount, Point, Report, RunView, number, seeds};

/// The names that occur in any run's list, in order of first appearance.
fn names<'a, T: 'a>(report: &'a Report, list: impl Fn(&'a RunView) -> &'a [(String, T)]) -> Vec<&'a str> {
    let mut names = Vec::new();
    for (name, _) in report.runs().flat_map(list) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names
}

fn lookup<'a, T>(list: &'a [(String, T)], name: &str) -> Option<&'a T> {
    list.iter().find(|(of, _)| of == name).map(|(_, value)| value)
}

/// A fact of a point: that of its runs, or all that these have. `None` if none has it.
fn fact(point: &Point, name: &str) -> Option<String> {
    let mut values: Vec<&str> = Vec::new();
    for run in &point.seeds {
        let value = lookup(&run.facts, name).map_or(MISSING, String::as_str);
        if !values.contains(&value) {
            values.push(value);
        }
    }
    let is_seed = |value: &&str| point.seeds.iter().any(|run| *value == run.seed.to_string());
    match values.as_slice() {
        [] | [MISSING] => None,
        [only] => Some((*only).to_owned()),
        all if all.iter().all(is_seed) => {
            Some(seeds::names(&point.seeds.iter().map(|run| run.seed).collect::<Vec<_>>()))
        }
        all => Some(range(all).unwrap_or_else(|| some_of(all))),
    }
}

/// The least and the most of numbers with one unit; `None` if they are something else.
fn range(values: &[&str]) -> Option<String> {
    let parts = values.iter().map(|value| value.split_once(' ').unwrap_or((value, "")));
    let numbers: Vec<(f64, &str, &str)> =
        parts.map(|(number, unit)| Some((number.parse().ok()?, number, unit))).collect::<Option<_>>()?;
    let (_, _, unit) = numbers[0];
    let least = numbers.iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
    let most = numbers.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let same = numbers.iter().all(|(.., of)| *of == unit);
    same.then(|| format!("{} to {} {unit}", least.1, most.1).trim_end().to_owned())
}

/// The first values.
fn some_of(values: &[&str]) -> String {
    const MOST: usize = 4;
    let more = if values.len() > MOST { ", \u{2026}" } else { "" };
    format!("{}{more}", values[..values.len().min(MOST)].join(", "))
}

/// A fact whose settings say what they mean when asked.
fn explained(report: &Report, fact: &str, text: &str) -> String {
    let mut kind = "";
    let mut word = |word: &str| {
        let Some((key, value)) = word.split_once('=') else {
            // Lists have values of their own behind spaces.
            if word.starts_with(|first: char| first.is_ascii_alphabetic()) {
                kind = report.meanings.iter().find(|of| of.kind == word).map_or("", |of| &of.kind);
            }
            return escape(word);
        };
        match report
            .meanings
            .iter()
            .find(|of| (of.fact.as_str(), of.kind.as_str(), of.key.as_str()) == (fact, kind, key))
        {
            Some(of) => format!("<abbr title=\"{}\">{}</abbr>={}", escape(&of.meaning), escape(key), escape(value)),
            None => escape(word),
        }
    };
    text.split(' ').map(&mut word).collect::<Vec<_>>().join(" ")
}

const MISSING: &str = "\u{2013}";

/// The facts: those that all points share as a list, those that tell them apart as a table, unless they are the points'
/// labels.
pub(crate) fn facts(report: &Report) -> String {
    let by_point = |name: &str| report.points.iter().map(|point| fact(point, name)).collect::<Vec<_>>();
    let all: Vec<(&str, Vec<Option<String>>)> =
        names(report, |run| &run.facts).into_iter().map(|name| (name, by_point(name))).collect();
    let (same, different): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|(_, values)| values.iter().all(|value| *value == values[0]));
    let is_label = |values: &[Option<String>]| {
        report.points.iter().zip(values).all(|(point, value)| value.as_ref() == Some(&point.label))
    };
    let different: Vec<_> = different.into_iter().filter(|(_, values)| !is_label(values)).collect();
    let mut out = String::new();
    if !same.is_empty() {
        out += "<dl class=\"facts\">";
        for (name, values) in same {
            let value = explained(report, name, values[0].as_deref().unwrap_or_default());
            out += &format!("<div><dt>{}</dt><dd>{value}</dd></div>", escape(name));
        }
        out += "</dl>";
    }
    if !different.is_empty() {
        out += &by_name(report, &different, |name, cell| explained(report, name, cell));
    }
    out
}

/// What the runs cost, on average over the seeds of a point; empty if nothing is known.
pub(crate) fn costs(report: &Report) -> String {
    let names = names(report, |run| &run.cost);
    if names.is_empty() {
        return String::new();
    }
    let mean = |point: &Point, name: &str| {
        let of: Vec<Amount> = point.seeds.iter().filter_map(|run| lookup(&run.cost, name).copied()).collect();
        let sum: f64 = of.iter().map(|amount| amount.value()).sum();
        of.first().map(|first| number::amount(first.with(sum / of.len() as f64)))
    };
    let columns: Vec<(&str, Vec<Option<String>>)> =
        names.into_iter().map(|name| (name, report.points.iter().map(|point| mean(point, name)).collect())).collect();
    let note = if seeds::are_several(report) { "<p class=\"note\">Means over all seeds.</p>" } else { "" };
    by_name(report, &columns, |_, cell| escape(cell)) + note
}

impl Amount {
    const fn value(self) -> f64 {
        let (Self::Count(value) | Self::Seconds(value) | Self::Bytes(value)) = self;
        value
    }

    /// As much of the same.
    const fn with(self, value: f64) -> Self {
        match self {
            Self::Count(_) => Self::Count(value),
            Self::Seconds(_) => Self::Seconds(value),
            Self::Bytes(_) => Self::Bytes(value),
        }
    }
}

/// A table with a row per point and a column per name.
fn by_name(report: &Report, columns: &[(&str, Vec<Option<String>>)], written: impl Fn(&str, &str) -> String) -> String {
    let header: Vec<&str> = ["Run"].into_iter().chain(columns.iter().map(|(name, _)| *name)).collect();
    let rows: Vec<Vec<&str>> = report
        .points
        .iter()
        .enumerate()
        .map(|(index, point)| {
            let values = columns.iter().map(|(_, values)| values[index].as_deref().unwrap_or(MISSING));
            [point.label.as_str()].into_iter().chain(values).collect()
        })
        .collect();
    table(&header, &rows, written)
}

/// The most rows that a table has of points with several seeds; the rest is in the runs' own files.
const MOST_ROWS: usize = 400;

/// The further tables of all runs: those of the same title and header together, with the run as their first column if
/// there are several runs.
pub(crate) fn further(report: &Report) -> String {
    let several = report.runs().count() > 1;
    let label = |point: &Point, run: &RunView| match point.seeds.len() {
        1 => point.label.clone(),
        _ => format!("{} seed {}", point.label, run.seed).trim_start().to_owned(),
    };
    let runs: Vec<(String, &RunView)> =
        report.points.iter().flat_map(|point| point.seeds.iter().map(move |run| (label(point, run), run))).collect();
    let mut done: Vec<(&str, &[String])> = Vec::new();
    let mut out = String::new();
    for of_run in report.runs().flat_map(|run| &run.tables) {
        let key = (of_run.title.as_str(), of_run.header.as_slice());
        if done.contains(&key) {
            continue;
        }
        done.push(key);
        let header: Vec<&str> = several.then_some("Run").into_iter().chain(key.1.iter().map(String::as_str)).collect();
        let mut rows: Vec<Vec<&str>> = Vec::new();
        for (label, run) in &runs {
            for same in run.tables.iter().filter(|table| (table.title.as_str(), table.header.as_slice()) == key) {
                rows.extend(same.rows.iter().map(|row| {
                    several.then_some(label.as_str()).into_iter().chain(row.iter().map(String::as_str)).collect()
                }));
            }
        }
        let all = rows.len();
        if seeds::are_several(report) {
            rows.truncate(MOST_ROWS);
        }
        let count = match all {
            1 => "1 row".to_owned(),
            all if all > rows.len() => format!("the first {} of {all} rows", rows.len()),
            all => format!("{all} rows"),
        };
        out += &format!(
            "<details{}><summary>{} <small>{count}</small></summary>{}</details>",
            if rows.len() <= 12 { " open" } else { "" },
            escape(key.0),
            table(&header, &rows, |_, cell| escape(cell))
        );
    }
    out
}

/// Whether a cell holds a number, perhaps with a unit, and is aligned to the right.
fn is_number(text: &str) -> bool {
    let text = text.trim_start_matches(['-', '+']);
    text.starts_with(|first: char| first.is_ascii_digit()) || matches!(text, "" | "\u{2013}" | "NaN" | "inf")
}

/// A table; `written` makes HTML of the cell of a column.
fn table(header: &[&str], rows: &[Vec<&str>], written: impl Fn(&str, &str) -> String) -> String {
    let numbers: Vec<bool> = (0..header.len())
        .map(|column| column > 0 && rows.iter().all(|row| row.get(column).is_none_or(|cell| is_number(cell))))
        .collect();
    let class = |column: usize| if numbers.get(column) == Some(&true) { " class=\"number\"" } else { "" };
    let mut out = String::from("<div class=\"scroll\"><table class=\"sortable\"><thead><tr>");
    for (column, name) in header.iter().enumerate() {
        out += &format!("<th scope=\"col\"{}>{}</th>", class(column), escape(name));
    }
    out += "</tr></thead><tbody>";
    for row in rows {
        out += "<tr>";
        for (column, cell) in row.iter().enumerate() {
            out += &format!("<td{}>{}</td>", class(column), written(header[column], cell));
        }
        out += "</tr>";
    }
    out + "</tbody></table></div>"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Meaning, NamedTable};

    fn run(facts: &[(&str, &str)], rows: &[&str]) -> RunView {
        RunView {
            facts: facts.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect(),
            tables: vec![NamedTable {
                title: "Ports".into(),
                header: vec!["port".into()],
                rows: rows.iter().map(|cell| vec![cell.to_string()]).collect(),
            }],
            ..RunView::default()
        }
    }

    fn report(points: Vec<(&str, Vec<RunView>)>) -> Report {
        let seeds = |runs: Vec<RunView>| (1..).zip(runs).map(|(seed, run)| RunView { seed, ..run }).collect();
        let point = |(label, runs): (&str, Vec<RunView>)| Point { label: label.into(), seeds: seeds(runs) };
        Report { points: points.into_iter().map(point).collect(), ..Report::default() }
    }

    #[test]
    fn facts_in_common_are_told_once() {
        let html = facts(&report(vec![
            ("a", vec![run(&[("hosts", "64"), ("policy", "dt")], &[])]),
            ("b", vec![run(&[("hosts", "64"), ("policy", "abm")], &[])]),
        ]));
        assert_eq!(html.matches("<dt>hosts</dt><dd>64</dd>").count(), 1);
        assert!(html.contains("<td>a</td><td>dt</td>") && html.contains("<td>b</td><td>abm</td>"), "{html}");
        assert!(!html.contains("<dt>policy"));
        let html = facts(&report(vec![
            ("dt", vec![run(&[("policy", "dt")], &[])]),
            ("abm", vec![run(&[("policy", "abm")], &[])]),
        ]));
        assert_eq!(html, "");
    }

    #[test]
    fn settings_say_what_they_mean() {
        let meaning = Meaning {
            fact: "policy".into(),
            kind: "dt".into(),
            key: "alpha".into(),
            meaning: "The share <of> what is free.".into(),
        };
        let told = |policy: &str| {
            let points = vec![("a", vec![run(&[("policy", policy)], &[])])];
            facts(&Report { meanings: vec![meaning.clone()], ..report(points) })
        };
        let html = told("dt alpha=[8.0, 1.0] r=0");
        let written = "dt <abbr title=\"The share &lt;of&gt; what is free.\">alpha</abbr>=[8.0, 1.0] r=0";
        assert!(html.contains(written), "{html}");
        assert!(told("cs alpha=1").contains("<dd>cs alpha=1</dd>"));
    }

    #[test]
    fn a_fact_that_one_run_lacks_tells_them_apart() {
        let html = facts(&report(vec![("a", vec![run(&[("alpha", "0.5")], &[])]), ("b", vec![run(&[], &[])])]));
        assert!(html.contains("0.5</td>") && html.contains("\u{2013}</td>"), "{html}");
    }

    #[test]
    fn seeds_are_a_fact_of_the_point() {
        let of = |seed: &str, end: &str, paths: &str| run(&[("seed", seed), ("end", end), ("paths", paths)], &[]);
        let point = || vec![of("1", "9.5 ms", "a"), of("2", "8 ms", "b"), of("3", "10 ms", "a")];
        let html = facts(&report(vec![("a", point()), ("b", point())]));
        assert!(html.contains("<dt>seed</dt><dd>1 to 3</dd>") && html.contains("<dd>8 to 10 ms</dd>"), "{html}");
        assert!(html.contains("<dt>paths</dt><dd>a, b</dd>"), "{html}");
    }

    #[test]
    fn tables_of_one_kind_become_one() {
        let html = further(&report(vec![("a", vec![run(&[], &["1", "2"])]), ("b", vec![run(&[], &["3"])])]));
        assert_eq!(html.matches("<details").count(), 1);
        assert!(
            html.contains("<small>3 rows</small>") && html.contains("<td>b</td><td class=\"number\">3</td>"),
            "{html}"
        );
        let html = further(&report(vec![("a", vec![run(&[], &["1"])])]));
        assert!(!html.contains(">Run<"));
    }

    #[test]
    fn rows_of_seeds_say_so_and_are_not_too_many() {
        let html = further(&report(vec![("a", vec![run(&[], &["1"; 300]), run(&[], &["2"; 300])])]));
        assert!(html.contains("the first 400 of 600 rows") && html.contains("<td>a seed 2</td>"), "{html}");
        assert_eq!(html.matches("<td>a seed").count(), 400);
    }

    #[test]
    fn costs_are_means_over_seeds() {
        let run = |events: f64| RunView { cost: vec![("events".into(), Amount::Count(events))], ..RunView::default() };
        let html = costs(&report(vec![("a", vec![run(1_000.0), run(3_000.0)]), ("b", vec![run(5.0)])]));
        assert!(html.contains("<td>a</td><td class=\"number\">2,000</td>"), "{html}");
        assert!(html.contains("Means over all seeds."));
    }
}
