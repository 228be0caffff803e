//! The HTML page: self-contained, without scripts.

use super::markdown::RULES;
use super::{RECORD, VERDICTS, View, caption, count, svg, table_of};
use crate::claim::Verdict;
use crate::figure::Paper;
use crate::record::Reproduction;

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
        Verdict::Holds => "holds",
        Verdict::InPart => "part",
        Verdict::DoesNotHold => "fails",
        Verdict::NotShown | Verdict::Missing => "unknown",
    }
}

/// The page; `scenarios` leads to the papers' scenario files.
pub fn page(papers: &[Paper], all: &Reproduction, scenarios: &str) -> String {
    let views: Vec<(&Paper, Vec<View<'_>>)> =
        papers.iter().map(|paper| (paper, View::of_paper(paper, all))).filter(|(_, views)| !views.is_empty()).collect();
    let mut body = String::new();
    for (paper, views) in &views {
        body.push_str(&format!(
            "<section id=\"{}\"><h2>{}</h2><p class=\"about\">{}</p>\n",
            paper.id,
            escape(&super::title_of(paper)),
            prose(paper.about)
        ));
        for view in views {
            figure(view, all, scenarios, &mut body);
        }
        body.push_str("</section>\n");
    }
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<link rel=\"icon\" href=\"data:,\">\n\
         <title>The papers' experiments, made again</title>\n<style>\n{STYLE}{plots}</style>\n</head>\n<body>\n\
         <header><h1>The papers’ experiments, made again</h1>\n\
         <p>Forebay {version}, {date}, {scale} scale. <code>forebay reproduce{argument}</code> makes this page; its numbers are in \
         <a href=\"{RECORD}\">{RECORD}</a>.</p></header>\n{overview}<details class=\"rules\"><summary>How verdicts are computed</summary><p>{rules}</p></details>\n\
         <main>\n{body}</main>\n</body>\n</html>\n",
        plots = svg::STYLE,
        version = escape(&all.version),
        date = escape(&all.date),
        scale = all.scale.name(),
        argument = all.scale.argument(),
        overview = overview(&views, all),
        rules = escape(RULES),
    )
}

/// Papers with their figures and verdicts.
fn overview(views: &[(&Paper, Vec<View<'_>>)], all: &Reproduction) -> String {
    let mut text = "<nav aria-label=\"Papers\"><table class=\"overview\"><thead><tr><th>Paper</th>".to_owned();
    for verdict in VERDICTS {
        text.push_str(&format!("<th class=\"number\">{}</th>", verdict.words()));
    }
    text.push_str("<th>Experiments</th></tr></thead><tbody>\n");
    for (paper, views) in views {
        text.push_str(&format!("<tr><th><a href=\"#{}\">{}</a></th>", paper.id, escape(paper.system)));
        for (verdict, count) in VERDICTS.iter().zip(count(views, all)) {
            let class = if count > 0 { class_of(*verdict) } else { "none" };
            text.push_str(&format!("<td class=\"number\"><span class=\"count {class}\">{count}</span></td>"));
        }
        let links: Vec<String> = views
            .iter()
            .map(|view| format!("<a href=\"#{}\">{}</a>", view.slug(), escape(view.figure.number)))
            .collect();
        text.push_str(&format!("<td class=\"links\">{}</td></tr>\n", links.join(" ")));
    }
    text.push_str("</tbody></table></nav>\n");
    text
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
    if !view.claims.is_empty() {
        out.push_str("<div class=\"scroll\"><table class=\"claims\"><thead><tr><th>Claim</th><th>Paper</th><th>Here</th><th>Verdict</th></tr></thead><tbody>\n");
        for claim in &view.claims {
            let verdict = claim.verdict(all.scale);
            let reason = claim
                .reason(all.scale)
                .map_or_else(String::new, |reason| format!("<div class=\"reason\">{}</div>", prose(reason)));
            out.push_str(&format!(
                "<tr><td>{}</td><td>{}</td><td>{}</td><td><span class=\"verdict {}\">{}</span>{reason}</td></tr>\n",
                prose(&claim.words),
                prose(&claim.paper),
                prose(&claim.ours),
                class_of(verdict),
                verdict.words(),
            ));
        }
        out.push_str("</tbody></table></div>\n");
    }
    let plots: Vec<_> = view.plots.iter().filter(|plot| !plot.series.is_empty()).collect();
    if !plots.is_empty() {
        let names = svg::names(&view.plots);
        out.push_str("<div class=\"plots\">\n");
        for plot in &plots {
            out.push_str(&format!("<figure>{}</figure>\n", svg::plot(plot, &names)));
        }
        out.push_str("</div>\n<details><summary>Numbers</summary>\n");
        for plot in &plots {
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
