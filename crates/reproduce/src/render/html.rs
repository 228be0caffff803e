//! The HTML pages: without scripts, plots as pictures beside them.

use super::markdown::{APPENDIX, MEANINGS};
use super::{COUNTED, PAGES, RECORD, VERDICTS, View, caption, count, table_of, title_of};
use crate::claim::Claim;
use crate::figure::Paper;
use crate::record::Reproduction;
use crate::statement::Mark;
use crate::verdict::Verdict;

const STYLE: &str = include_str!("../../assets/page.css");

/// Text as it may stand between tags and in attributes.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Text with `code` between backquotes.
fn prose(text: &str) -> String {
    let parts = escape(text);
    let parts: Vec<&str> = parts.split('`').collect();
    let mut out = String::new();
    for (number, part) in parts.iter().enumerate() {
        match number % 2 {
            1 if number + 1 < parts.len() => out.push_str(&format!("<code>{part}</code>")),
            1 => out.push_str(&format!("`{part}")),
            _ => out.push_str(part),
        }
    }
    out
}

fn class_of(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds | Verdict::Stronger => "holds",
        Verdict::InPart => "part",
        Verdict::DoesNotHold => "fails",
        Verdict::Inconclusive | Verdict::Circular | Verdict::NotShown | Verdict::Missing => "unknown",
    }
}

/// A whole page.
fn document(title: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<link rel=\"icon\" href=\"data:,\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n",
        escape(title)
    )
}

/// The index: the papers, and how often each verdict was given.
pub(crate) fn index(views: &[(&Paper, Vec<View<'_>>)], all: &Reproduction) -> String {
    let mut body = format!(
        "<header><h1>The papers’ experiments, made again</h1>\n\
         <p>Forebay {}, {}, {} scale. <code>forebay reproduce{}</code> makes these pages; their numbers are in \
         <a href=\"{RECORD}\">{RECORD}</a>, the verdicts in <a href=\"{PAGES}/{VERDICTS}\">{VERDICTS}</a>.</p></header>\n<main>\n",
        escape(&all.version),
        escape(&all.date),
        all.scale.name(),
        all.scale.argument(),
    );
    body.push_str("<h2>Claims of the abstracts and introductions</h2>\n");
    body.push_str(&overview(views, all, &[Mark::Headline]));
    body.push_str("<h2>All statements that are counted</h2>\n");
    body.push_str(&overview(views, all, &COUNTED));
    body.push_str("<details class=\"rules\"><summary>What the verdicts mean</summary><ul>\n");
    for (verdict, meaning) in MEANINGS {
        body.push_str(&format!("<li><b>{}</b>: {}</li>\n", verdict.words(), escape(meaning)));
    }
    body.push_str("</ul></details>\n</main>\n");
    document("The papers' experiments, made again", &body)
}

/// Papers with their verdicts.
fn overview(views: &[(&Paper, Vec<View<'_>>)], all: &Reproduction, marks: &[Mark]) -> String {
    let mut text = "<div class=\"scroll\"><table class=\"overview\"><thead><tr><th>Paper</th>".to_owned();
    for verdict in Verdict::ALL {
        text.push_str(&format!("<th class=\"number\">{}</th>", verdict.words()));
    }
    text.push_str("</tr></thead><tbody>\n");
    for (paper, views) in views {
        text.push_str(&format!("<tr><th><a href=\"{PAGES}/{}.html\">{}</a></th>", paper.id, escape(paper.system)));
        for (verdict, count) in Verdict::ALL.iter().zip(count(views, all, marks)) {
            let class = if count > 0 { class_of(*verdict) } else { "none" };
            text.push_str(&format!("<td class=\"number\"><span class=\"count {class}\">{count}</span></td>"));
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</tbody></table></div>\n");
    text
}

/// A paper's page; `scenarios` leads from it to the papers' scenario files.
pub(crate) fn page(paper: &Paper, views: &[View<'_>], all: &Reproduction, scenarios: &str) -> String {
    let links: Vec<String> =
        views.iter().map(|view| format!("<a href=\"#{}\">{}</a>", view.slug(), escape(view.figure.number))).collect();
    let mut body = format!(
        "<header><h1>{}</h1>\n<p>{}</p>\n<p class=\"links\"><a href=\"../{}\">All papers</a> {}</p></header>\n<main>\n",
        escape(&title_of(paper)),
        prose(paper.about),
        super::PAGE,
        links.join(" "),
    );
    body.push_str("<article><h3>Headline claims</h3>\n");
    table(views.iter().flat_map(|view| view.marked(&[Mark::Headline])), all, &mut body);
    body.push_str("</article>\n");
    for view in views {
        figure(view, all, scenarios, &mut body);
    }
    body.push_str(&format!("<article><h3>Appendix</h3><p class=\"setting\">{APPENDIX}</p>\n"));
    for view in views.iter().filter(|view| view.marked(&[Mark::Appendix]).next().is_some()) {
        body.push_str(&format!("<h4>{}</h4>\n", escape(&view.heading())));
        table(view.marked(&[Mark::Appendix]), all, &mut body);
    }
    body.push_str("</article>\n</main>\n");
    document(&title_of(paper), &body)
}

fn table<'c>(claims: impl Iterator<Item = &'c Claim>, all: &Reproduction, out: &mut String) {
    let mut claims = claims.peekable();
    if claims.peek().is_none() {
        return;
    }
    out.push_str(
        "<div class=\"scroll\"><table class=\"claims\"><thead><tr><th>Statement</th><th>Paper</th><th>Here</th><th>Verdict</th></tr></thead><tbody>\n",
    );
    for claim in claims {
        let verdict = claim.verdict(all.scale);
        let because = claim.because(all.scale);
        let reason = because.map_or_else(String::new, |why| format!("<div class=\"reason\">{}</div>", prose(&why)));
        out.push_str(&format!(
            "<tr><td>{}<div class=\"reason\">{} · section {}</div></td><td>{}</td><td>{}</td><td><span class=\"verdict {}\">{}</span>{reason}</td></tr>\n",
            prose(&claim.words),
            escape(&claim.id),
            escape(&claim.section),
            prose(&claim.paper),
            prose(&claim.ours),
            class_of(verdict),
            verdict.words(),
        ));
    }
    out.push_str("</tbody></table></div>\n");
}

fn figure(view: &View<'_>, all: &Reproduction, scenarios: &str, out: &mut String) {
    let name = view.name();
    out.push_str(&format!(
        "<article id=\"{slug}\"><h3><a href=\"#{slug}\">{heading}</a> {title}</h3>\n<p class=\"setting\">{setting}</p>\n\
         <p class=\"facts\"><a href=\"{scenarios}/{name}.toml\">{name}.toml</a> · <code>{command}</code> · {facts}</p>\n",
        slug = view.slug(),
        heading = escape(&view.heading()),
        title = escape(view.figure.title),
        setting = prose(view.figure.setting),
        command = escape(&view.command(all)),
        facts = view.facts(all),
    ));
    if let Some(says) = &view.result.says {
        out.push_str(&format!("<p class=\"says\">At this scale: {}</p>\n", prose(says)));
    }
    table(view.marked(&COUNTED), all, out);
    if view.has_plots() {
        let title = escape(view.figure.title);
        out.push_str(&format!("<img loading=\"lazy\" src=\"{}.svg\" alt=\"{title}\">\n", view.slug()));
        out.push_str("<details><summary>Numbers</summary>\n");
        for plot in view.plots.iter().filter(|plot| !plot.series.is_empty()) {
            numbers(plot, out);
        }
        out.push_str("</details>\n");
    }
    out.push_str("</article>\n");
}

fn numbers(plot: &crate::panel::Plot, out: &mut String) {
    let (header, rows) = table_of(plot);
    let cells = |tag: &str, cells: &[String]| {
        let cell = |text: &String| format!("<{tag}>{}</{tag}>", escape(text));
        cells.iter().map(cell).collect::<String>()
    };
    out.push_str(&format!(
        "<div class=\"scroll\"><table class=\"numbers\"><caption>{}</caption><thead><tr>{}</tr></thead><tbody>\n",
        escape(&caption(plot)),
        cells("th", &header)
    ));
    for row in &rows {
        let (first, rest) = row.split_first().map_or((String::new(), &[][..]), |(first, rest)| (first.clone(), rest));
        out.push_str(&format!("<tr><th>{}</th>{}</tr>\n", escape(&first), cells("td", rest)));
    }
    out.push_str("</tbody></table></div>\n");
}
