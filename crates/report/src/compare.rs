//! The comparison of runs: one row per run, one column per measure.

use crate::groups::{LONG_FROM, SHORT_BELOW};
use crate::html::escape;
use crate::stats::{mean, percentile, sorted};
use crate::{FlowPoint, Report, RunView, number, timeline};

/// What is compared.
struct Measure {
    name: &'static str,
    /// What the column's heading says when asked.
    meaning: &'static str,
    of: fn(&RunView) -> Option<f64>,
    print: fn(f64) -> String,
    /// Whether less is better; otherwise neither is, and no value is marked.
    less_is_better: bool,
    /// Whether the column is left out when every run has 0.
    only_if_any: bool,
}

const MEASURES: [Measure; 9] = [
    Measure::of("QCT mean", "Mean completion time of finished queries", qct_mean, number::seconds),
    Measure::of("QCT p99", "99th percentile of the completion time of finished queries", qct_p99, number::seconds),
    Measure::of("Short p50", "Median slowdown of finished flows below 100 KB", short_p50, number::plain),
    Measure::of(
        "Short p99",
        "99th percentile of the slowdown of finished flows below 100 KB",
        short_p99,
        number::plain,
    ),
    Measure::of("Long p50", "Median slowdown of finished flows from 1 MB", long_p50, number::plain),
    Measure::of("Drops", "Packets dropped, for any reason", drops, whole),
    Measure {
        less_is_better: false,
        ..Measure::of("Max occupancy", "Most that any buffer was filled", occupancy, number::percent)
    },
    Measure {
        less_is_better: false,
        only_if_any: true,
        ..Measure::of("Unfinished flows", "Flows that had not finished at the end", unfinished_flows, whole)
    },
    Measure {
        less_is_better: false,
        only_if_any: true,
        ..Measure::of("Unfinished queries", "Queries that had not finished at the end", unfinished_queries, whole)
    },
];

impl Measure {
    const fn of(
        name: &'static str,
        meaning: &'static str,
        of: fn(&RunView) -> Option<f64>,
        print: fn(f64) -> String,
    ) -> Self {
        Self { name, meaning, of, print, less_is_better: true, only_if_any: false }
    }

    /// The best of the values, if there is something to choose between.
    fn best(&self, values: &[Option<f64>]) -> Option<f64> {
        let present: Vec<f64> = values.iter().copied().flatten().collect();
        let best = present.iter().copied().min_by(f64::total_cmp)?;
        (self.less_is_better && present.iter().any(|value| *value > best)).then_some(best)
    }
}

fn whole(value: f64) -> String {
    number::count(value as u64)
}

fn qct(run: &RunView) -> Vec<f64> {
    sorted(run.queries.iter().map(|query| query.qct_s))
}

fn qct_mean(run: &RunView) -> Option<f64> {
    mean(&qct(run))
}

fn qct_p99(run: &RunView) -> Option<f64> {
    at(&qct(run), 0.99)
}

fn slowdowns(run: &RunView, which: impl Fn(&&FlowPoint) -> bool) -> Vec<f64> {
    sorted(run.flows.iter().filter(which).map(|flow| flow.slowdown))
}

fn at(sorted: &[f64], p: f64) -> Option<f64> {
    (!sorted.is_empty()).then(|| percentile(sorted, p))
}

fn short_p50(run: &RunView) -> Option<f64> {
    at(&slowdowns(run, |flow| flow.bytes < SHORT_BELOW), 0.5)
}

fn short_p99(run: &RunView) -> Option<f64> {
    at(&slowdowns(run, |flow| flow.bytes < SHORT_BELOW), 0.99)
}

fn long_p50(run: &RunView) -> Option<f64> {
    at(&slowdowns(run, |flow| flow.bytes >= LONG_FROM), 0.5)
}

fn drops(run: &RunView) -> Option<f64> {
    Some(run.drops.iter().map(|(_, count)| *count).sum::<u64>() as f64)
}

/// From the occupancies, or from the timeline where there are none.
fn occupancy(run: &RunView) -> Option<f64> {
    let known =
        run.occupancy.iter().map(|(_, _, _, max)| *max).filter(|share| share.is_finite()).max_by(f64::total_cmp);
    known.or_else(|| run.timeline.iter().filter_map(timeline::peak).max_by(f64::total_cmp))
}

fn unfinished_flows(run: &RunView) -> Option<f64> {
    Some(run.flows.iter().filter(|flow| flow.fct_s.is_none()).count() as f64)
}

fn unfinished_queries(run: &RunView) -> Option<f64> {
    Some(run.queries.iter().filter(|query| query.qct_s.is_none()).count() as f64)
}

/// The table in HTML. The best value of a column is marked, the others say how many times as much they are.
pub(crate) fn table(report: &Report) -> String {
    let columns: Vec<(&Measure, Vec<Option<f64>>)> = MEASURES
        .iter()
        .map(|measure| (measure, report.runs.iter().map(measure.of).collect::<Vec<_>>()))
        .filter(|(measure, values)| !measure.only_if_any || values.iter().flatten().any(|value| *value > 0.0))
        .collect();
    let mut out =
        String::from("<table id=\"compare\" class=\"numbers sortable\"><thead><tr><th scope=\"col\">Run</th>");
    for (measure, _) in &columns {
        out += &format!("<th scope=\"col\" title=\"{}\">{}</th>", measure.meaning, measure.name);
    }
    out += "</tr></thead><tbody>";
    for (index, run) in report.runs.iter().enumerate() {
        out += &format!("<tr data-run=\"{index}\"><th scope=\"row\">{}</th>", escape(&run.label));
        for (measure, values) in &columns {
            out += &cell(measure, values[index], measure.best(values));
        }
        out += "</tr>";
    }
    out + "</tbody></table>"
}

fn cell(measure: &Measure, value: Option<f64>, best: Option<f64>) -> String {
    let Some(value) = value else { return "<td class=\"none\">&ndash;</td>".to_owned() };
    let text = (measure.print)(value);
    match best {
        Some(best) if value == best => {
            format!("<td data-value=\"{value}\" class=\"best\">{text} <small>best</small></td>")
        }
        Some(best) if best > 0.0 => {
            format!("<td data-value=\"{value}\">{text} <small>{}&times;</small></td>", number::plain(value / best))
        }
        _ => format!("<td data-value=\"{value}\">{text}</td>"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::QueryPoint;

    fn run(label: &str, qct: &[f64], slowdown: f64, drops: u64) -> RunView {
        let flow = |bytes| FlowPoint { bytes, fct_s: Some(1.0), slowdown: Some(slowdown), ..FlowPoint::default() };
        RunView {
            label: label.into(),
            flows: vec![flow(99_999), flow(100_000), flow(1_000_000)],
            queries: qct.iter().map(|&qct| QueryPoint { qct_s: Some(qct), ..QueryPoint::default() }).collect(),
            drops: vec![("policy".into(), drops), ("full".into(), 1)],
            occupancy: vec![("leaf".into(), 0.1, 0.2, 0.5), ("spine".into(), 0.1, 0.2, 0.25)],
            ..RunView::default()
        }
    }

    #[test]
    fn the_best_are_marked_and_the_others_measured_by_them() {
        let runs = vec![run("dt", &[0.001, 0.003], 2.0, 1_999), run("abm", &[0.0005, 0.0005], 3.0, 999)];
        let table = table(&Report { runs, ..Report::default() });
        let rows: Vec<&str> = table.split("<tr data-run").collect();
        assert!(rows[1].contains(">2.00 ms <small>4.00&times;</small>"), "{table}");
        assert!(rows[2].contains("class=\"best\">500 us"), "{table}");
        assert_eq!(rows[1].matches("class=\"best\">2.00 <").count(), 3);
        assert!(rows[2].contains("3.00 <small>1.50&times;"));
        assert!(rows[1].contains("2,000 <small>2.00&times;") && rows[2].contains("class=\"best\">1,000"));
        assert!(rows[1].contains(">50.0%</td>"));
        assert!(!table.contains("Unfinished"));
    }

    #[test]
    fn nothing_is_best_when_all_are_equal_or_alone() {
        let equal = Report { runs: vec![run("a", &[0.1], 2.0, 5), run("b", &[0.1], 2.0, 5)], ..Report::default() };
        assert!(!table(&equal).contains("best"));
        let alone = Report { runs: vec![run("a", &[0.1], 2.0, 5)], ..Report::default() };
        assert!(!table(&alone).contains("best"));
    }

    #[test]
    fn what_did_not_finish_is_counted() {
        let mut run = run("a", &[0.1], 2.0, 5);
        run.flows[0] = FlowPoint { bytes: 10, ..FlowPoint::default() };
        let table = table(&Report { runs: vec![run], ..Report::default() });
        assert!(table.contains("Unfinished flows") && !table.contains("Unfinished queries"));
        assert!(table.contains("<td class=\"none\">"), "no short flow finished: {table}");
    }
}
