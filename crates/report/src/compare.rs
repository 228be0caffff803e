//! The comparison of points: one row per point, one column per measure.

use crate::html::escape;
use crate::measures::{Column, columns};
use crate::{Report, number};
use forebay_results::paired::Difference;

/// The table in HTML, with the first point as the baseline. `base.js` writes the same cells for another baseline.
pub(crate) fn table(report: &Report) -> String {
    let columns = columns(report);
    let mut out =
        String::from("<table id=\"compare\" class=\"numbers sortable\"><thead><tr><th scope=\"col\">Run</th>");
    for Column { measure, .. } in &columns {
        out += &format!("<th scope=\"col\" title=\"{}\">{}</th>", measure.meaning, measure.name);
    }
    out += "</tr></thead><tbody>";
    for (index, point) in report.points.iter().enumerate() {
        out += &format!("<tr data-run=\"{index}\"><th scope=\"row\">{}</th>", escape(&point.label));
        for column in &columns {
            out += &cell(column, index);
        }
        out += "</tr>";
    }
    out + "</tbody></table>"
}

fn cell(column: &Column, point: usize) -> String {
    let Some(mean) = column.means[point] else { return "<td class=\"none\">&ndash;</td>".to_owned() };
    let text = unbroken(&number::interval(column.measure.kind, &mean));
    let (class, mark) = if column.best == Some(point) { (" class=\"best\"", " <b>best</b>") } else { ("", "") };
    let difference = if point == 0 { None } else { column.difference(0, point) };
    let small = difference.map_or_else(String::new, |difference| {
        let (word, class) = words(column, &difference);
        let space = if word.is_empty() { "" } else { " " };
        let text = unbroken(&column.text_of(&difference, 0));
        format!("<small{class}>{text}{space}{word}</small>")
    });
    format!("<td data-value=\"{}\"{class}>{text}{mark}{small}</td>", mean.mean)
}

/// A value that may become two lines before its interval, and nowhere else.
fn unbroken(text: &str) -> String {
    text.replace(' ', "&nbsp;").replacen("&nbsp;&plusmn;", " &plusmn;", 1)
}

/// What a difference decides, and the class of the element that says it. Of single seeds nothing is said.
fn words(column: &Column, difference: &Difference) -> (&'static str, &'static str) {
    match (difference.interval.half, column.said(difference)) {
        (None, _) | (_, (_, 0)) => ("", ""),
        (_, (word, -2..=-1)) => (word, " class=\"better\""),
        (_, (word, 1..=2)) => (word, " class=\"worse\""),
        (_, (word, _)) => (word, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FlowPoint, Point, QueryPoint, RunView};

    fn run(seed: u64, qct: f64, slowdown: f64, drops: u64) -> RunView {
        let flow = |bytes| FlowPoint { bytes, fct_s: Some(1.0), slowdown: Some(slowdown), ..FlowPoint::default() };
        RunView {
            seed,
            flows: vec![flow(99_999), flow(100_000), flow(1_000_000)],
            queries: vec![QueryPoint { qct_s: Some(qct), ..QueryPoint::default() }],
            drops: vec![("policy".into(), drops), ("full".into(), 1)],
            occupancy: vec![("leaf".into(), 0.1, 0.2, 0.5), ("spine".into(), 0.1, 0.2, 0.25)],
            ..RunView::default()
        }
    }

    fn point(label: &str, seeds: Vec<RunView>) -> Point {
        Point { label: label.into(), seeds }
    }

    fn rows(points: Vec<Point>) -> Vec<String> {
        let table = table(&Report { points, ..Report::default() });
        table.split("<tr data-run").skip(1).map(str::to_owned).collect()
    }

    #[test]
    fn means_over_seeds_and_differences_that_are_more_than_chance() {
        let rows = rows(vec![
            point("dt", vec![run(1, 0.002, 2.0, 1_999), run(2, 0.004, 2.0, 3_999), run(3, 0.003, 2.0, 2_999)]),
            point("abm", vec![run(1, 0.001, 2.5, 999), run(2, 0.003, 1.0, 2_999), run(3, 0.002, 3.0, 1_999)]),
        ]);
        // 2, 4, 3 ms: mean 3, s = 1, half 4.302653 / sqrt 3.
        assert!(rows[0].contains(">3.00 &plusmn;&nbsp;2.48&nbsp;ms</td>"), "{}", rows[0]);
        // Every seed is less by 1 ms, a third of 3 ms: the intervals of the means overlap, that of the difference has
        // no width.
        assert!(
            rows[1].contains(
                " class=\"best\">2.00 &plusmn;&nbsp;2.48&nbsp;ms <b>best</b><small class=\"better\">&minus;33.3 &plusmn;&nbsp;0.00% better</small>"
            ),
            "{}",
            rows[1]
        );
        // Slowdowns differ by 0.5, -1, 1: that decides nothing.
        assert!(
            rows[1].contains(">2.17 &plusmn;&nbsp;2.59<small>+8.33 &plusmn;&nbsp;129%</small></td>"),
            "{}",
            rows[1]
        );
        assert!(
            rows[1].contains("2,000 &plusmn;&nbsp;2,484 <b>best</b><small class=\"better\">&minus;33.3"),
            "{}",
            rows[1]
        );
        assert!(
            rows[1].contains(">50.0 &plusmn;&nbsp;0.0%<small>0.00 &plusmn;&nbsp;0.00%</small></td>"),
            "{}",
            rows[1]
        );
        assert!(!rows[0].contains("<small"), "the baseline is not compared with itself: {}", rows[0]);
    }

    #[test]
    fn what_is_neither_good_nor_bad_is_higher_or_lower() {
        let with = |seed, max| RunView { occupancy: vec![("leaf".into(), 0.1, 0.2, max)], ..run(seed, 0.1, 1.0, 1) };
        let rows =
            rows(vec![point("dt", vec![with(1, 0.5), with(2, 0.6)]), point("abm", vec![with(1, 0.75), with(2, 0.9)])]);
        assert!(rows[1].contains("<small>+50.0 &plusmn;&nbsp;57.8%</small>"), "{}", rows[1]);
        let rows = tests::rows(vec![
            point("dt", vec![with(1, 0.5), with(2, 0.5)]),
            point("abm", vec![with(1, 0.75), with(2, 0.75)]),
        ]);
        assert!(rows[1].contains("<small>+50.0 &plusmn;&nbsp;0.00% higher</small>"), "{}", rows[1]);
    }

    #[test]
    fn nothing_is_best_of_single_runs() {
        let rows = rows(vec![point("dt", vec![run(1, 0.002, 2.0, 1)]), point("abm", vec![run(1, 0.001, 3.0, 0)])]);
        assert!(rows[1].contains(">1.00&nbsp;ms<small>&minus;50.0%</small>"), "{}", rows[1]);
        assert!(rows.iter().all(|row| !row.contains("best") && !row.contains("better")));
    }

    #[test]
    fn what_did_not_finish_is_counted() {
        let mut unfinished = run(1, 0.1, 2.0, 5);
        unfinished.flows[0] = FlowPoint { bytes: 10, ..FlowPoint::default() };
        let table = table(&Report { points: vec![point("a", vec![unfinished])], ..Report::default() });
        assert!(table.contains("Unfinished flows") && !table.contains("Unfinished queries"));
        assert!(table.contains("<td class=\"none\">"), "no short flow finished: {table}");
    }
}
