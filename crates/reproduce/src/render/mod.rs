//! What is shown of a reproduction: a terminal's tables, and an index with a page for each paper, in Markdown with
//! pictures and in HTML.

pub mod html;
pub mod markdown;
pub mod svg;
pub mod terminal;
pub mod verdicts;

use crate::claim::Claim;
use crate::figure::{Figure, Paper};
use crate::panel::{Form, Plot};
use crate::record::{FigureResult, Reproduction};
use crate::statement::Mark;
use crate::unit::{Unit, significant};
use crate::verdict::Verdict;

/// The numbers that everything else is made from.
pub const RECORD: &str = "reproduction.json.gz";
/// The index.
pub const PAGE: &str = "reproduction.html";
/// The same in Markdown.
pub const TEXT: &str = "reproduction.md";
/// The directory of the papers' pages, of their pictures and of the verdicts.
pub const PAGES: &str = "reproduction";
/// The verdicts, in the directory of the pages.
pub const VERDICTS: &str = "verdicts.json";

/// A figure with its numbers, ready to be shown.
pub(crate) struct View<'r> {
    pub(crate) paper: &'r Paper,
    pub(crate) figure: &'r Figure,
    pub(crate) result: &'r FigureResult,
    pub(crate) claims: Vec<Claim>,
    pub(crate) plots: Vec<Plot>,
}

impl<'r> View<'r> {
    /// All figures of a paper that there is something of.
    pub(crate) fn of_paper(paper: &'r Paper, all: &'r Reproduction) -> Vec<Self> {
        let view = |figure: &'r Figure| {
            let result = all.result(paper.id, figure.id)?;
            // Where runs are missing, some number is, too, and no verdict would be sound.
            let claims = figure.judged(paper.id, &result.table).into_iter();
            let claims = claims.map(|claim| if result.missing > 0 { claim.without_verdict() } else { claim }).collect();
            let plots = figure.panels.iter().map(|panel| panel.plot(&result.table)).collect();
            Some(Self { paper, figure, result, claims, plots })
        };
        paper.figures.iter().filter_map(view).collect()
    }

    /// The claims with one of these marks.
    pub(crate) fn marked(&self, marks: &[Mark]) -> impl Iterator<Item = &Claim> {
        self.claims.iter().filter(|claim| marks.contains(&claim.mark))
    }

    /// "abm/fig6".
    pub(crate) fn name(&self) -> String {
        format!("{}/{}", self.paper.id, self.figure.id)
    }

    /// "abm-fig6".
    pub(crate) fn slug(&self) -> String {
        format!("{}-{}", self.paper.id, self.figure.id)
    }

    /// "Figure 6", "Figures 7a, c" or "Theorem 1".
    pub(crate) fn heading(&self) -> String {
        let number = self.figure.number;
        if !number.starts_with(|c: char| c.is_ascii_digit()) {
            let mut letters = number.chars();
            return letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect());
        }
        let several = number.contains([',', '-']) || number.contains(" and ");
        format!("Figure{} {number}", if several { "s" } else { "" })
    }

    /// Whether there is something to plot.
    pub(crate) fn has_plots(&self) -> bool {
        self.plots.iter().any(|plot| !plot.series.is_empty())
    }

    /// The command that makes it again.
    pub(crate) fn command(&self, all: &Reproduction) -> String {
        format!("forebay reproduce{} {}", all.scale.argument(), self.name())
    }

    /// Scale, runs, seeds and missing runs in a line.
    pub(crate) fn facts(&self, all: &Reproduction) -> String {
        let table = &self.result.table;
        let seeds = table.seeds().len();
        let mut facts = format!(
            "{} scale, {} runs, {} seed{}",
            all.scale.name(),
            table.stored().len(),
            seeds,
            if seeds == 1 { "" } else { "s" }
        );
        if self.result.missing > 0 {
            facts.push_str(&format!(", {} runs missing", self.result.missing));
        }
        facts
    }
}

/// A paper's title, with the name of its system before it unless it begins so.
pub(crate) fn title_of(paper: &Paper) -> String {
    if paper.title.starts_with(paper.system) {
        return paper.title.to_owned();
    }
    format!("{}: {}", paper.system, paper.title)
}

/// How often each verdict was given to claims with one of these marks, in the order of [`Verdict::ALL`].
pub(crate) fn count<'v, 'r: 'v>(
    views: impl IntoIterator<Item = &'v View<'r>>,
    all: &Reproduction,
    marks: &[Mark],
) -> [usize; Verdict::ALL.len()] {
    let mut counts = [0; Verdict::ALL.len()];
    for claim in views.into_iter().flat_map(|view| view.marked(marks)) {
        counts[claim.verdict(all.scale) as usize] += 1;
    }
    counts
}

/// What is counted: all but the appendix.
pub(crate) const COUNTED: [Mark; 2] = [Mark::Headline, Mark::Figure];

/// The verdicts that some claim has, with how often.
pub(crate) fn tally(counts: [usize; Verdict::ALL.len()]) -> String {
    let counted = Verdict::ALL.iter().zip(counts).filter(|(_, count)| *count > 0);
    counted.map(|(verdict, count)| format!("{count} {}", verdict.words())).collect::<Vec<_>>().join(", ")
}

/// The numbers of a plot: a header, and a row for each series.
pub(crate) fn table_of(plot: &Plot) -> (Vec<String>, Vec<Vec<String>>) {
    if plot.form == Form::Curves {
        let header = ["", "points", "least", "most", "at the end"].map(str::to_owned).to_vec();
        let rows = plot.series.iter().map(|series| {
            let ys = || series.points.iter().map(|point| point.y);
            let least = ys().fold(f64::INFINITY, f64::min);
            let (most, last) = (ys().fold(f64::NEG_INFINITY, f64::max), ys().next_back().unwrap_or(f64::NAN));
            let shown = |value: f64| significant(plot.y.unit.shown(value));
            vec![series.name.clone(), series.points.len().to_string(), shown(least), shown(most), shown(last)]
        });
        return (header, rows.collect());
    }
    let mut xs: Vec<f64> = Vec::new();
    for point in plot.series.iter().flat_map(|series| &series.points) {
        if !xs.iter().any(|x| same(*x, point.x)) {
            xs.push(point.x);
        }
    }
    xs.sort_by(f64::total_cmp);
    let name = |x: f64| match plot.categories.get(x as usize) {
        Some(name) => name.clone(),
        None => significant(plot.x.unit.shown(x)),
    };
    let corner = if plot.form == Form::Bars { plot.x.label.clone() } else { plot.x.title() };
    let header = std::iter::once(corner).chain(xs.iter().map(|x| name(*x))).collect();
    let rows = plot.series.iter().map(|series| {
        let cell = |x: &f64| match series.points.iter().find(|point| same(point.x, *x)) {
            Some(point) => {
                let half = point.half.map(|half| format!(" ± {}", significant(plot.y.unit.shown(half))));
                format!("{}{}", significant(plot.y.unit.shown(point.y)), half.unwrap_or_default())
            }
            None => String::new(),
        };
        let name = if series.is_paper { format!("{} (paper)", series.name) } else { series.name.clone() };
        std::iter::once(if name.is_empty() { plot.y.label.clone() } else { name }).chain(xs.iter().map(cell)).collect()
    });
    (header, rows.collect())
}

fn same(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

/// What a table of numbers is called.
pub(crate) fn caption(plot: &Plot) -> String {
    let letter = if plot.letter.is_empty() { String::new() } else { format!("({}) ", plot.letter) };
    match plot.y.unit {
        Unit::None => format!("{letter}{}", plot.title),
        _ => format!("{letter}{} [{}]", plot.title, plot.y.unit.symbol()),
    }
}

/// Papers with their figures that there is something of.
pub(crate) fn views<'r>(papers: &'r [Paper], all: &'r Reproduction) -> Vec<(&'r Paper, Vec<View<'r>>)> {
    let views = papers.iter().map(|paper| (paper, View::of_paper(paper, all)));
    views.filter(|(_, views)| !views.is_empty()).collect()
}

/// All files of a reproduction, by their names below one directory; `scenarios` leads from there to the papers'
/// scenario files.
pub fn files(papers: &[Paper], all: &Reproduction, scenarios: &str) -> Vec<(String, Vec<u8>)> {
    let views = views(papers, all);
    let mut files = vec![
        (RECORD.to_owned(), all.to_gzip(papers)),
        (TEXT.to_owned(), markdown::index(&views, all).into_bytes()),
        (PAGE.to_owned(), html::index(&views, all).into_bytes()),
        (format!("{PAGES}/{VERDICTS}"), verdicts::json(&views, all).into_bytes()),
    ];
    let scenarios = format!("../{scenarios}");
    for (paper, views) in &views {
        files.push((format!("{PAGES}/{}.md", paper.id), markdown::page(paper, views, all, &scenarios).into_bytes()));
        files.push((format!("{PAGES}/{}.html", paper.id), html::page(paper, views, all, &scenarios).into_bytes()));
        for view in views.iter().filter(|view| view.has_plots()) {
            files.push((format!("{PAGES}/{}.svg", view.slug()), svg::picture(&view.plots).into_bytes()));
        }
    }
    files
}
