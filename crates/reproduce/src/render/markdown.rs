//! The Markdown page.

use super::{PAGE, PICTURES, RECORD, VERDICTS, View, caption, count, table_of};
use crate::figure::Paper;
use crate::record::Reproduction;

/// The page; `scenarios` leads to the papers' scenario files.
pub fn page(papers: &[Paper], all: &Reproduction, scenarios: &str) -> String {
    let views: Vec<(&Paper, Vec<View<'_>>)> =
        papers.iter().map(|paper| (paper, View::of_paper(paper, all))).filter(|(_, views)| !views.is_empty()).collect();
    let mut text = format!(
        "# The papers' experiments, made again\n\n\
         Made by `forebay reproduce{}` of version {} on {}, at the {} scale. This page, [the same with all its plots]({PAGE}) and every verdict on it are \
         generated from [{RECORD}]({RECORD}); `forebay reproduce --render {RECORD} --docs .` makes them again.\n\n\
         {}\n\n",
        all.scale.argument(),
        all.version,
        all.date,
        all.scale.name(),
        RULES.replace('\n', " ")
    );
    text.push_str("| paper |");
    for verdict in VERDICTS {
        text.push_str(&format!(" {} |", verdict.words()));
    }
    text.push_str("\n|---|---|---|---|---|---|\n");
    for (paper, views) in &views {
        let counts = count(views, all).map(|count| format!(" {count} |"));
        text.push_str(&format!("| [{}](#{}) |{}\n", paper.system, paper.id, counts.concat()));
    }
    for (paper, views) in &views {
        text.push_str(&format!("\n<a id=\"{}\"></a>\n\n## {}\n\n{}\n", paper.id, super::title_of(paper), paper.about));
        for view in views {
            figure(view, all, scenarios, &mut text);
        }
    }
    text
}

/// What the verdicts mean.
pub(crate) const RULES: &str = "Verdicts are computed, by the same rules for all papers. A gain (\"up to 94% less\") holds if ours is 0.75 to 1.5 times \
the paper's and its interval is above 0, and in part if it is above 0. A direction (\"better than\") holds if the interval is above 0, \
in part if only the mean is. A value holds within 25% (percentages: or 5 points) of the paper's, or if our interval has it and reaches at most half of it to either side, and in part within a factor of 2 \
(or 15 points). A ranking holds if all pairs of schemes are in the paper's order or within 2%, in part if two thirds are. A statement about every point \
holds if all points agree, in part if half do. Intervals (±) are 95% confidence intervals over seeds, paired by seed where two schemes are compared; a single seed has none. A reason \
that quotes numbers which are not in the tables quotes runs of its own, some of them with the hosts of an earlier version, which are in no file: take it for a conjecture.";

fn figure(view: &View<'_>, all: &Reproduction, scenarios: &str, text: &mut String) {
    let name = view.name();
    text.push_str(&format!(
        "\n### {}: {}\n\n{}\n\n[{name}.toml]({scenarios}/{name}.toml) · `{}` · {}\n",
        view.heading(),
        view.figure.title,
        view.figure.setting,
        view.command(all),
        view.facts(all)
    ));
    if let Some(says) = &view.result.says {
        text.push_str(&format!("\nAt this scale: {says}\n"));
    }
    if !view.claims.is_empty() {
        text.push_str("\n| claim | paper | here | verdict |\n|---|---|---|---|\n");
        for claim in &view.claims {
            let reason = claim.reason(all.scale).map_or_else(String::new, |reason| format!(": {}", cell(reason)));
            let verdict = claim.verdict(all.scale).words();
            text.push_str(&format!(
                "| {} | {} | {} | **{verdict}**{reason} |\n",
                cell(&claim.words),
                cell(&claim.paper),
                cell(&claim.ours)
            ));
        }
    }
    if view.plots.iter().any(|plot| !plot.series.is_empty()) {
        text.push_str(&format!("\n![{}]({PICTURES}/{}.svg)\n", cell(view.figure.title), view.slug()));
    }
    let plots: Vec<_> = view.plots.iter().filter(|plot| !plot.series.is_empty()).collect();
    if plots.is_empty() {
        return;
    }
    text.push_str("\n<details><summary>Numbers</summary>\n");
    for plot in plots {
        let (header, rows) = table_of(plot);
        let line =
            |cells: &[String]| format!("| {} |\n", cells.iter().map(|text| cell(text)).collect::<Vec<_>>().join(" | "));
        text.push_str(&format!("\n{}\n\n{}|{}\n", cell(&caption(plot)), line(&header), "---|".repeat(header.len())));
        for row in &rows {
            text.push_str(&line(row));
        }
    }
    text.push_str("\n</details>\n");
}

/// Text as it may stand in a cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;").replace('\n', " ")
}
