//! Facts, costs and further tables as HTML.

use crate::html::escape;
use crate::{Report, RunView};

/// The names that occur in any run's list, in order of first appearance.
fn names<'a>(report: &'a Report, list: impl Fn(&'a RunView) -> &'a [(String, String)]) -> Vec<&'a str> {
    let mut names = Vec::new();
    for (name, _) in report.runs.iter().flat_map(list) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names
}

fn lookup<'a>(list: &'a [(String, String)], name: &str) -> Option<&'a str> {
    list.iter().find(|(of, _)| of == name).map(|(_, value)| value.as_str())
}

/// The facts: those that all runs share as a list, those that tell them apart as a table, unless they are the runs' labels.
pub(crate) fn facts(report: &Report) -> String {
    let (same, different): (Vec<&str>, Vec<&str>) = names(report, |run| &run.facts).into_iter().partition(|name| {
        report.runs.iter().all(|run| lookup(&run.facts, name) == lookup(&report.runs[0].facts, name))
    });
    let is_label = |name: &&str| report.runs.iter().all(|run| lookup(&run.facts, name) == Some(&run.label));
    let different: Vec<&str> = different.into_iter().filter(|name| !is_label(name)).collect();
    let mut out = String::new();
    if !same.is_empty() {
        out += "<dl class=\"facts\">";
        for name in same {
            let value = lookup(&report.runs[0].facts, name).unwrap_or_default();
            out += &format!("<div><dt>{}</dt><dd>{}</dd></div>", escape(name), escape(value));
        }
        out += "</dl>";
    }
    if !different.is_empty() {
        out += &by_run(report, &different, |run| &run.facts);
    }
    out
}

/// What the runs cost; empty if nothing is known.
pub(crate) fn costs(report: &Report) -> String {
    let names = names(report, |run| &run.cost);
    if names.is_empty() { String::new() } else { by_run(report, &names, |run| &run.cost) }
}

/// A table with a row per run and a column per name.
fn by_run<'a>(report: &'a Report, names: &[&str], list: impl Fn(&'a RunView) -> &'a [(String, String)]) -> String {
    let header: Vec<&str> = ["Run"].into_iter().chain(names.iter().copied()).collect();
    let rows: Vec<Vec<&str>> = report
        .runs
        .iter()
        .map(|run| {
            let values = names.iter().map(|name| lookup(list(run), name).unwrap_or("\u{2013}"));
            [run.label.as_str()].into_iter().chain(values).collect()
        })
        .collect();
    table(&header, &rows)
}

/// The further tables of all runs: those of the same title and header together, with the run as their first column if
/// there are several runs.
pub(crate) fn further(report: &Report) -> String {
    let mut done: Vec<(&str, &[String])> = Vec::new();
    let mut out = String::new();
    for of_run in report.runs.iter().flat_map(|run| &run.tables) {
        let key = (of_run.title.as_str(), of_run.header.as_slice());
        if done.contains(&key) {
            continue;
        }
        done.push(key);
        let several = report.runs.len() > 1;
        let header: Vec<&str> = several.then_some("Run").into_iter().chain(key.1.iter().map(String::as_str)).collect();
        let mut rows: Vec<Vec<&str>> = Vec::new();
        for run in &report.runs {
            for same in run.tables.iter().filter(|table| (table.title.as_str(), table.header.as_slice()) == key) {
                rows.extend(same.rows.iter().map(|row| {
                    several.then_some(run.label.as_str()).into_iter().chain(row.iter().map(String::as_str)).collect()
                }));
            }
        }
        out += &format!(
            "<details{}><summary>{} <small>{} {}</small></summary>{}</details>",
            if rows.len() <= 12 { " open" } else { "" },
            escape(key.0),
            rows.len(),
            if rows.len() == 1 { "row" } else { "rows" },
            table(&header, &rows)
        );
    }
    out
}

/// Whether a cell holds a number, perhaps with a unit, and is aligned to the right.
fn is_number(text: &str) -> bool {
    let text = text.trim_start_matches(['-', '+']);
    text.starts_with(|first: char| first.is_ascii_digit()) || matches!(text, "" | "\u{2013}" | "NaN" | "inf")
}

fn table(header: &[&str], rows: &[Vec<&str>]) -> String {
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
            out += &format!("<td{}>{}</td>", class(column), escape(cell));
        }
        out += "</tr>";
    }
    out + "</tbody></table></div>"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NamedTable;

    fn run(label: &str, facts: &[(&str, &str)], rows: &[&str]) -> RunView {
        RunView {
            label: label.into(),
            facts: facts.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect(),
            tables: vec![NamedTable {
                title: "Ports".into(),
                header: vec!["port".into()],
                rows: rows.iter().map(|cell| vec![cell.to_string()]).collect(),
            }],
            ..RunView::default()
        }
    }

    #[test]
    fn facts_in_common_are_told_once() {
        let runs = vec![
            run("a", &[("hosts", "64"), ("policy", "dt")], &[]),
            run("b", &[("hosts", "64"), ("policy", "abm")], &[]),
        ];
        let html = facts(&Report { runs, ..Report::default() });
        assert_eq!(html.matches("<dt>hosts</dt><dd>64</dd>").count(), 1);
        assert!(html.contains("<td>a</td><td>dt</td>") && html.contains("<td>b</td><td>abm</td>"), "{html}");
        assert!(!html.contains("<dt>policy"));
        let runs = vec![run("dt", &[("policy", "dt")], &[]), run("abm", &[("policy", "abm")], &[])];
        assert_eq!(facts(&Report { runs, ..Report::default() }), "");
    }

    #[test]
    fn a_fact_that_one_run_lacks_tells_them_apart() {
        let runs = vec![run("a", &[("alpha", "0.5")], &[]), run("b", &[], &[])];
        let html = facts(&Report { runs, ..Report::default() });
        assert!(html.contains("0.5</td>") && html.contains("\u{2013}</td>"), "{html}");
    }

    #[test]
    fn tables_of_one_kind_become_one() {
        let runs = vec![run("a", &[], &["1", "2"]), run("b", &[], &["3"])];
        let html = further(&Report { runs, ..Report::default() });
        assert_eq!(html.matches("<details").count(), 1);
        assert!(
            html.contains("<small>3 rows</small>") && html.contains("<td>b</td><td class=\"number\">3</td>"),
            "{html}"
        );
        let html = further(&Report { runs: vec![run("a", &[], &["1"])], ..Report::default() });
        assert!(!html.contains(">Run<"));
    }
}
