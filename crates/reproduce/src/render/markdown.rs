//! The Markdown pages.

use super::{COUNTED, PAGE, PAGES, RECORD, VERDICTS, View, caption, count, table_of, title_of};
use crate::claim::Claim;
use crate::figure::Paper;
use crate::record::Reproduction;
use crate::statement::Mark;
use crate::verdict::Verdict;

/// The index: the papers, and how often each verdict was given to their headline claims.
pub(crate) fn index(views: &[(&Paper, Vec<View<'_>>)], all: &Reproduction) -> String {
    let mut text = format!(
        "# The papers' experiments, made again\n\n\
         Made by `forebay reproduce{}` of version {} on {}, at the {} scale, from [{RECORD}]({RECORD}); \
         `forebay reproduce --render {RECORD} --docs .` makes all pages again. [With plots]({PAGE}); [all verdicts as JSON]({PAGES}/{VERDICTS}).\n\n\
         Claims of the abstracts and introductions:\n\n",
        all.scale.argument(),
        all.version,
        all.date,
        all.scale.name(),
    );
    text.push_str(&counts(views, all, &[Mark::Headline]));
    text.push_str("\nAll statements that are counted:\n\n");
    text.push_str(&counts(views, all, &COUNTED));
    text.push_str("\nWhat the verdicts mean; intervals are 95% confidence intervals over seeds, paired by seed:\n\n");
    for (verdict, meaning) in MEANINGS {
        text.push_str(&format!("- **{}**: {meaning}\n", verdict.words()));
    }
    text
}

fn counts(views: &[(&Paper, Vec<View<'_>>)], all: &Reproduction, marks: &[Mark]) -> String {
    let heads: Vec<&str> = Verdict::ALL.iter().map(|verdict| verdict.words()).collect();
    let mut text = format!("| paper | {} |\n|---|{}\n", heads.join(" | "), "---|".repeat(heads.len()));
    for (paper, views) in views {
        let counts = count(views, all, marks).map(|count| format!(" {count} |"));
        text.push_str(&format!("| [{}]({PAGES}/{}.md) |{}\n", paper.system, paper.id, counts.concat()));
    }
    text
}

/// What the verdicts mean, in a line each.
pub(crate) const MEANINGS: [(Verdict, &str); 8] = [
    (
        Verdict::Holds,
        "a gain of 0.75 to 1.5 times the paper's (interval: 0.5 to 2 times), a value within 25% or 5 points (interval: a factor of 2 or 15 points), a difference above 0, an order in all pairs (2% of leeway; two zeros are in none), something that is so at every point.",
    ),
    (Verdict::Stronger, "a gain of more than 1.5 times the paper's, all of the interval above the paper's."),
    (
        Verdict::InPart,
        "the direction is right, but not the size, or not everywhere (half of the points, two thirds of the pairs).",
    ),
    (Verdict::Inconclusive, "the interval allows both, or there is one seed only."),
    (Verdict::DoesNotHold, "it came out otherwise, or less than a tenth of it did."),
    (Verdict::Circular, "a parameter was set from the statement itself."),
    (Verdict::NotShown, "this scale is too small to show it."),
    (Verdict::Missing, "there are no numbers."),
];

/// A paper's page; `scenarios` leads from it to the papers' scenario files.
pub(crate) fn page(paper: &Paper, views: &[View<'_>], all: &Reproduction, scenarios: &str) -> String {
    let mut text = format!("# {}\n\n{}\n\n[All papers](../{})\n", title_of(paper), paper.about, super::TEXT);
    text.push_str("\n## Headline claims\n");
    table(views.iter().flat_map(|view| view.marked(&[Mark::Headline])), all, &mut text);
    text.push_str("\n## Figures\n");
    for view in views {
        figure(view, all, scenarios, &mut text);
    }
    if views.iter().any(|view| view.marked(&[Mark::Appendix]).next().is_some()) {
        text.push_str(&format!("\n## Appendix\n\n{APPENDIX}\n"));
    }
    for view in views.iter().filter(|view| view.marked(&[Mark::Appendix]).next().is_some()) {
        text.push_str(&format!("\n### {}\n", view.heading()));
        table(view.marked(&[Mark::Appendix]), all, &mut text);
    }
    text
}

/// What the appendix is.
pub(crate) const APPENDIX: &str = "Second readings of statements above, comparisons with single runs of others, and studies of our own. They are not counted.";

fn table<'c>(claims: impl Iterator<Item = &'c Claim>, all: &Reproduction, text: &mut String) {
    let mut head = "\n| id | statement | section | paper | here | verdict |\n|---|---|---|---|---|---|\n";
    for claim in claims {
        text.push_str(head);
        head = "";
        let because = claim.because(all.scale).map_or_else(String::new, |why| format!(": {}", cell(&why)));
        text.push_str(&format!(
            "| `{}` | {} | {} | {} | {} | **{}**{because} |\n",
            claim.id,
            cell(&claim.words),
            cell(&claim.section),
            cell(&claim.paper),
            cell(&claim.ours),
            claim.verdict(all.scale).words(),
        ));
    }
}

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
    table(view.marked(&COUNTED), all, text);
    if !view.has_plots() {
        return;
    }
    text.push_str(&format!("\n![{}]({}.svg)\n", cell(view.figure.title), view.slug()));
    text.push_str("\n<details><summary>Numbers</summary>\n");
    for plot in view.plots.iter().filter(|plot| !plot.series.is_empty()) {
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
