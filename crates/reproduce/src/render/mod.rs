//! What is shown of a reproduction: a terminal's tables, Markdown with pictures, and one HTML page.

pub mod html;
pub mod markdown;
pub mod svg;
pub mod terminal;

use crate::claim::{Claim, Verdict};
use crate::figure::{Figure, Paper};
use crate::panel::{Form, Plot};
use crate::record::{FigureResult, Reproduction};
use crate::unit::{Unit, significant};

/// The numbers that everything else is made from.
pub const RECORD: &str = "reproduction.json";
/// The page.
pub const PAGE: &str = "reproduction.html";
/// The same in Markdown.
pub const TEXT: &str = "reproduction.md";
/// The directory of the pictures in the Markdown.
pub const PICTURES: &str = "reproduction";

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
            let claims = (figure.claims)(&result.table).into_iter();
            let claims = claims.map(|claim| if result.missing > 0 { claim.without_verdict() } else { claim }).collect();
            let plots = figure.panels.iter().map(|panel| panel.plot(&result.table)).collect();
            Some(Self { paper, figure, result, claims, plots })
        };
        paper.figures.iter().filter_map(view).collect()
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

/// How often each verdict was given.
pub(crate) fn count<'v, 'r: 'v>(views: impl IntoIterator<Item = &'v View<'r>>, all: &Reproduction) -> [usize; 5] {
    let mut counts = [0; 5];
    for claim in views.into_iter().flat_map(|view| &view.claims) {
        counts[claim.verdict(all.scale) as usize] += 1;
    }
    counts
}

/// The verdicts in the order of [`count`].
pub(crate) const VERDICTS: [Verdict; 5] =
    [Verdict::Holds, Verdict::InPart, Verdict::DoesNotHold, Verdict::NotShown, Verdict::Missing];

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

/// All files of a reproduction, by their names below one directory; `scenarios` leads from there to the papers' scenario files.
pub fn files(papers: &[Paper], all: &Reproduction, scenarios: &str) -> Vec<(String, String)> {
    let mut files = vec![
        (RECORD.to_owned(), all.to_json(papers)),
        (TEXT.to_owned(), markdown::page(papers, all, scenarios)),
        (PAGE.to_owned(), html::page(papers, all, scenarios)),
    ];
    for view in papers.iter().flat_map(|paper| View::of_paper(paper, all)) {
        if view.plots.iter().any(|plot| !plot.series.is_empty()) {
            files.push((format!("{PICTURES}/{}.svg", view.slug()), svg::picture(&view.plots)));
        }
    }
    files
}
