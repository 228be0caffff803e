//! The page around the tables, the plots and the data.

use crate::measures::Column;
use crate::{Report, compare, data, measures, network, seeds, tables};
use forebay_results::paired::Verdict;

const STYLE: &str = include_str!("../assets/page.css");
/// What all plots share (errors in what follows are caught there), the plots themselves, then what they show.
const SCRIPTS: [&str; 8] = [
    include_str!("../assets/base.js"),
    include_str!("../assets/plot.js"),
    include_str!("../assets/compare.js"),
    include_str!("../assets/flows.js"),
    include_str!("../assets/timeline.js"),
    include_str!("../assets/buffers.js"),
    include_str!("../assets/inside.js"),
    include_str!("../assets/page.js"),
];

/// What the measures of flows are.
const FLOWS: &str = "Short flows are below 100 KB, long flows have at least 1 MB; p50 and p99 are percentiles of the \
                     slowdown, the completion time over that on the empty network.";

/// Text as it may stand between tags and in attributes.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            other => out.push(other),
        }
    }
    out
}

/// JSON as it may stand in a script element: without `<`, it can neither end the element nor begin a comment.
fn embedded(report: &Report) -> String {
    data::of_report(report).to_string().replace('<', "\\u003c")
}

/// A section that is left out when it has nothing to show.
fn section(id: &str, title: &str, body: &str) -> String {
    if body.is_empty() {
        return String::new();
    }
    format!("<section id=\"{id}\" aria-labelledby=\"{id}-title\"><h2 id=\"{id}-title\">{title}</h2>{body}</section>\n")
}

/// How the comparison is to be read.
fn notes(report: &Report) -> String {
    let mut notes = String::new();
    let seeds = seeds::all(report);
    if seeds::are_several(report) {
        notes += &format!(
            "<span id=\"seed-note\"> Means over seeds ({}) &plusmn; half-width of the 95% confidence interval.</span>",
            escape(&seeds::names(&seeds))
        );
    }
    if let [first, _, ..] = report.points.as_slice() {
        let first = escape(&first.label);
        notes += &format!(" Below them: the difference from <span class=\"baseline\">{first}</span>");
        notes += &if measures::are_paired(report) {
            let all = significance(&measures::columns(report), report.points.len());
            format!("<span id=\"significance-note\">{all}</span>")
        } else {
            ", of one seed, which does not tell whether it is significant.".to_owned()
        };
    }
    notes
}

/// What the words in the table mean, of those that stand there with some baseline.
fn significance(columns: &[Column], points: usize) -> String {
    let baselines = measures::baselines(points, columns.len());
    let pairs = || (0..baselines).flat_map(|base| (0..points).map(move |point| (base, point)));
    let all = columns.iter().flat_map(|column| pairs().filter_map(|(base, point)| column.difference(base, point)));
    let verdicts: Vec<Verdict> = all.map(|difference| difference.verdict).collect();
    let mut neutral = columns.iter().filter(|column| !column.measure.less_is_better);
    let differs = |column: &Column| {
        pairs().filter_map(|(base, point)| column.difference(base, point)).any(|of| column.said(&of).1 != 0)
    };
    let neutral = neutral.any(differs);
    let any = |one, other| verdicts.contains(&one) || verdicts.contains(&other);
    let mut notes = ", seed by seed, as a share of its mean".to_owned();
    if columns.iter().any(|column| !column.has_shares()) {
        notes += ", or as it is, for measures that are 0 in some run";
    }
    let words = match (any(Verdict::Better, Verdict::Worse), neutral) {
        (true, true) => {
            "<i>Better</i> and <i>worse</i>, and <i>higher</i> and <i>lower</i> of what is neither good nor bad,"
        }
        (true, false) => "<i>Better</i> and <i>worse</i>",
        (false, _) => "<i>Higher</i> and <i>lower</i>, of what is neither good nor bad,",
    };
    notes += &if neutral || any(Verdict::Better, Verdict::Worse) {
        format!(
            ". {words} stand where the 95% confidence interval of the difference excludes zero; elsewhere there is no \
             significant difference."
        )
    } else {
        ". All 95% confidence intervals include zero: there is no significant difference.".to_owned()
    };
    if columns.iter().any(|column| column.best.is_some()) {
        notes += " <i>Best</i> is better than each of the others.";
    }
    if any(Verdict::FinishesLess, Verdict::FinishesMore) {
        notes += " A point that leaves more unfinished, by the same rule, <i>finishes less</i>, and that goes before its times.";
    }
    notes
}

/// The network, if all points have the same.
fn network(report: &Report) -> String {
    let mut networks = report.points.iter().filter_map(|point| point.seeds.first()).map(|run| &run.detail.network);
    let Some(first) = networks.next() else { return String::new() };
    if networks.all(|other| other.nodes == first.nodes && other.links == first.links) {
        network::section(first)
    } else {
        "<p class=\"note\">The points have different networks.</p>".to_owned()
    }
}

/// The page.
pub(crate) fn page(report: &Report) -> String {
    let comparison = if report.points.is_empty() {
        "<p class=\"empty\">There are no runs in this report.</p>".to_owned()
    } else {
        format!(
            "<ul id=\"verdicts\" hidden></ul><div class=\"scroll\">{}</div><p class=\"note\">{}{}</p>",
            compare::table(report),
            if report.runs().any(|run| !run.flows.is_empty()) { FLOWS } else { "" },
            notes(report),
        )
    };
    let heading = if report.points.len() > 1 { "Comparison" } else { "In short" };
    let subtitle =
        if report.subtitle.is_empty() { String::new() } else { format!("<p>{}</p>", escape(&report.subtitle)) };
    // The empty drawing lends the script its namespace, so that no address of any kind stands in the page.
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'unsafe-inline'; img-src data: blob:\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <svg id=\"root\" width=\"0\" height=\"0\" aria-hidden=\"true\"></svg>\n\
         <header><h1>{title}</h1>{subtitle}{facts}</header>\n\
         <div id=\"errors\" role=\"alert\" hidden></div>\n<nav id=\"legend\" aria-label=\"Runs\"></nav>\n<main>\n\
         {network}{compare}\
         <noscript><p class=\"note\">The plots need JavaScript, which is switched off; the tables do not.</p></noscript>\n\
         <div id=\"plots\"></div>\n{costs}{further}</main>\n\
         <div id=\"tip\" role=\"status\" hidden></div>\n\
         <script id=\"data\" type=\"application/json\">{data}</script>\n{scripts}</body>\n</html>\n",
        title = escape(&report.title),
        facts = tables::facts(report),
        network = section("network", "Network", &network(report)),
        compare = section("comparison", heading, &comparison),
        costs = section(
            "costs",
            if report.runs().count() > 1 { "What the runs cost" } else { "What the run cost" },
            &tables::costs(report)
        ),
        further = section("tables", "Tables", &tables::further(report)),
        data = embedded(report),
        scripts = SCRIPTS.map(|script| format!("<script>\n\"use strict\";\n{script}</script>\n")).concat(),
    )
}
