//! What a figure plots, as a description; made into numbers with a table.

use crate::stat::Stat;
use crate::table::{Selection, Table};
use crate::unit::Unit;

/// The form of a panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A line for each series, with marks at the points.
    Lines,
    /// Groups of bars.
    Bars,
    /// Curves that each run has measured, such as a queue's length over time.
    Curves,
}

/// An axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What it shows.
    pub label: String,
    /// In which unit.
    pub unit: Unit,
    /// By powers of ten.
    pub log: bool,
    /// Numbers are shown times this.
    factor: f64,
}

impl Axis {
    fn new() -> Self {
        Self { label: String::new(), unit: Unit::None, log: false, factor: 1.0 }
    }

    /// The label with its unit.
    pub fn title(&self) -> String {
        match self.unit.symbol() {
            "" => self.label.clone(),
            symbol => format!("{} ({symbol})", self.label),
        }
    }
}

/// One plot of a figure.
#[derive(Clone, Debug)]
pub struct Panel {
    letter: &'static str,
    title: &'static str,
    form: Form,
    key: &'static str,
    metric: &'static str,
    x: Axis,
    y: Axis,
    only: Vec<(&'static str, &'static str)>,
    variants: Option<&'static [&'static str]>,
    series_by: Option<(&'static str, &'static str)>,
    curves: Vec<(&'static str, &'static str)>,
    paper: Vec<(&'static str, Vec<(f64, f64)>)>,
    joined: bool,
}

/// A point of a plot.
#[derive(Clone, Debug, PartialEq)]
pub struct PlotPoint {
    /// The number on the x axis; for bars, the place of the category.
    pub x: f64,
    /// The mean over seeds.
    pub y: f64,
    /// Half its 95% interval.
    pub half: Option<f64>,
}

/// A line, a colour of bars, or a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// What it is called.
    pub name: String,
    /// Its points.
    pub points: Vec<PlotPoint>,
    /// Whether these are the paper's own numbers.
    pub is_paper: bool,
}

/// A panel in numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// The letter of the panel; may be empty.
    pub letter: String,
    /// What it shows.
    pub title: String,
    /// How.
    pub form: Form,
    /// The x axis.
    pub x: Axis,
    /// The y axis.
    pub y: Axis,
    /// What the places of bars are called.
    pub categories: Vec<String>,
    /// Lines, bars or curves.
    pub series: Vec<Series>,
    /// Whether the points of a curve follow each other; else each stands for itself.
    pub joined: bool,
}

impl Panel {
    fn new(form: Form, letter: &'static str, title: &'static str) -> Self {
        Self {
            letter,
            title,
            form,
            key: "",
            metric: "",
            x: Axis::new(),
            y: Axis::new(),
            only: Vec::new(),
            variants: None,
            series_by: None,
            curves: Vec::new(),
            paper: Vec::new(),
            joined: true,
        }
    }

    /// Lines over a key of the grid whose values are numbers.
    pub fn lines(letter: &'static str, title: &'static str) -> Self {
        Self::new(Form::Lines, letter, title)
    }

    /// Bars over a key of the grid, or over the variants if [`Panel::x`] is not given.
    pub fn bars(letter: &'static str, title: &'static str) -> Self {
        Self::new(Form::Bars, letter, title)
    }

    /// Curves of the first seed; see [`Panel::curve`].
    pub fn curves(letter: &'static str, title: &'static str) -> Self {
        Self::new(Form::Curves, letter, title)
    }

    /// The x axis: a key of the grid (of curves: only the label counts).
    #[must_use]
    pub fn x(mut self, key: &'static str, label: &str, unit: Unit) -> Self {
        self.key = key;
        self.x = Axis { label: label.to_owned(), unit, ..self.x };
        self
    }

    /// The y axis: the name of a number (of curves: only the label counts).
    #[must_use]
    pub fn y(mut self, metric: &'static str, label: &str, unit: Unit) -> Self {
        self.metric = metric;
        self.y = Axis { label: label.to_owned(), unit, ..self.y };
        self
    }

    /// The x axis by powers of ten.
    #[must_use]
    pub fn log_x(mut self) -> Self {
        self.x.log = true;
        self
    }

    /// The y axis by powers of ten.
    #[must_use]
    pub fn log_y(mut self) -> Self {
        self.y.log = true;
        self
    }

    /// Numbers of the x axis are shown times this.
    #[must_use]
    pub fn x_times(mut self, factor: f64) -> Self {
        self.x.factor = factor;
        self
    }

    /// Numbers of the y axis are shown times this.
    #[must_use]
    pub fn y_times(mut self, factor: f64) -> Self {
        self.y.factor = factor;
        self
    }

    /// Only points whose key has this value, as it is written in the file.
    #[must_use]
    pub fn only(mut self, key: &'static str, value: &'static str) -> Self {
        self.only.push((key, value));
        self
    }

    /// Only these variants, in this order.
    #[must_use]
    pub fn variants(mut self, names: &'static [&'static str]) -> Self {
        self.variants = Some(names);
        self
    }

    /// A series for each variant and each value of a key; the value stands behind `prefix` in its name.
    #[must_use]
    pub fn series_by(mut self, key: &'static str, prefix: &'static str) -> Self {
        self.series_by = Some((key, prefix));
        self
    }

    /// A curve by its name, and what it is called beside the variant's name; can be given several times.
    #[must_use]
    pub fn curve(mut self, name: &'static str, label: &'static str) -> Self {
        self.curves.push((name, label));
        self
    }

    /// Points of curves are packets or the like, which no line joins.
    #[must_use]
    pub fn unjoined(mut self) -> Self {
        self.joined = false;
        self
    }

    /// The paper's own numbers for a series, in the units of the axes.
    #[must_use]
    pub fn paper(mut self, series: &'static str, points: &[(f64, f64)]) -> Self {
        self.paper.push((series, points.to_vec()));
        self
    }

    /// The panel with the numbers of a table.
    pub fn plot(&self, table: &Table) -> Plot {
        let variants = match self.variants {
            Some(names) => names.to_vec(),
            None => table.variants(),
        };
        let mut plot = Plot {
            letter: self.letter.to_owned(),
            title: self.title.to_owned(),
            form: self.form,
            x: self.x.clone(),
            y: self.y.clone(),
            categories: Vec::new(),
            series: Vec::new(),
            joined: self.joined,
        };
        let by_variant = self.form == Form::Bars && self.key.is_empty();
        if self.form == Form::Bars {
            let names = if by_variant { variants.clone() } else { table.texts(self.key) };
            plot.categories = names.into_iter().map(str::to_owned).collect();
        }
        let values = self.series_by.map_or(vec![None], |(key, _)| table.texts(key).into_iter().map(Some).collect());
        if by_variant {
            for value in values {
                let at = |variant: &&str| self.get(&self.select(table, variant, value));
                let stats: Vec<Stat> = variants.iter().map(at).collect();
                plot.add(self.series_name("", value), (0..).map(f64::from).zip(stats));
            }
        } else {
            for variant in &variants {
                for value in &values {
                    let chosen = self.select(table, variant, *value);
                    let name = self.series_name(variant, *value);
                    match self.form {
                        // Several curves of one run need not name it.
                        Form::Curves if variants.len() == 1 && self.curves.len() > 1 && value.is_none() => {
                            self.add_curves(&mut plot, &chosen, "");
                        }
                        Form::Curves => self.add_curves(&mut plot, &chosen, &name),
                        Form::Lines => {
                            let at = |x: f64| (x * self.x.factor, self.get(&chosen.clone().and(self.key, x)));
                            plot.add(name, table.values(self.key).into_iter().map(at));
                        }
                        Form::Bars => {
                            let at = |text: &&str| self.get(&chosen.clone().with(self.key, text));
                            let texts = table.texts(self.key);
                            plot.add(name, (0..).map(f64::from).zip(texts.iter().map(at)));
                        }
                    }
                }
            }
        }
        for (name, points) in &self.paper {
            let points = points.iter().map(|(x, y)| PlotPoint { x: *x, y: *y, half: None }).collect();
            plot.series.push(Series { name: (*name).to_owned(), points, is_paper: true });
        }
        plot
    }

    fn series_name(&self, variant: &str, value: Option<&str>) -> String {
        match (self.series_by, value) {
            (Some((_, prefix)), Some(value)) => format!("{variant} {prefix}{value}").trim().to_owned(),
            _ => variant.to_owned(),
        }
    }

    fn select<'t>(&self, table: &'t Table, variant: &str, value: Option<&str>) -> Selection<'t> {
        let chosen = self.only.iter().fold(table.at(variant), |chosen, (key, value)| chosen.with(key, value));
        match (self.series_by, value) {
            (Some((key, _)), Some(value)) => chosen.with(key, value),
            _ => chosen,
        }
    }

    fn get(&self, chosen: &Selection<'_>) -> Stat {
        chosen.get(self.metric).times(self.y.factor)
    }

    fn add_curves(&self, plot: &mut Plot, chosen: &Selection<'_>, name: &str) {
        for (curve, label) in &self.curves {
            let points = chosen.curve(curve).unwrap_or_default();
            if !points.is_empty() {
                let (fx, fy) = (self.x.factor, self.y.factor);
                let points = points.iter().map(|(x, y)| PlotPoint { x: x * fx, y: y * fy, half: None }).collect();
                plot.series.push(Series { name: format!("{name} {label}").trim().to_owned(), points, is_paper: false });
            }
        }
    }
}

impl Plot {
    /// The least and the largest number that can be, in the unit that is shown: what is never negative is not, and no
    /// more than all is possible.
    pub fn bounds(&self) -> (f64, f64) {
        let ours = self.series.iter().filter(|series| !series.is_paper).flat_map(|series| &series.points);
        let shown: Vec<f64> = ours.map(|point| self.y.unit.shown(point.y)).collect();
        let low = if shown.iter().all(|y| *y >= 0.0) { 0.0 } else { f64::NEG_INFINITY };
        let is_share = self.y.unit == Unit::Share && shown.iter().all(|y| *y <= 100.0);
        (low, if is_share { 100.0 } else { f64::INFINITY })
    }

    /// Adds a series, unless it has no value at all.
    fn add(&mut self, name: String, points: impl Iterator<Item = (f64, Stat)>) {
        let points = points.filter(|(x, y)| x.is_finite() && !y.is_empty());
        let points: Vec<PlotPoint> = points.map(|(x, y)| PlotPoint { x, y: y.mean(), half: y.half() }).collect();
        if !points.is_empty() {
            self.series.push(Series { name, points, is_paper: false });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::tests::example;

    #[test]
    fn lines_bars_and_curves() {
        let table = example();
        let lines =
            Panel::lines("a", "").x("workload.0.load", "load", Unit::Share).y("y", "y", Unit::None).y_times(2.0);
        let plot = lines.plot(&table);
        let names: Vec<&str> = plot.series.iter().map(|series| series.name.as_str()).collect();
        assert_eq!(names, ["DT", "ABM"]);
        assert_eq!((plot.series[1].points[1].x, plot.series[1].points[1].y), (0.4, 211.0));
        let bars = Panel::bars("", "").y("y", "y", Unit::None).only("workload.0.load", "0.4").plot(&table);
        assert_eq!(bars.categories, ["DT", "ABM"]);
        assert_eq!(bars.series[0].points.iter().map(|point| point.y).collect::<Vec<_>>(), [5.5, 105.5]);
        let groups = Panel::bars("", "").x("workload.0.load", "load", Unit::None).y("y", "y", Unit::None).plot(&table);
        assert_eq!((groups.categories.len(), groups.series.len()), (2, 2));
        let split = Panel::bars("", "").y("y", "y", Unit::None).series_by("workload.0.load", "at ").plot(&table);
        assert_eq!(split.series[0].name, "at 0.2");
        assert_eq!(plot.bounds(), (0.0, f64::INFINITY));
        let share =
            Panel::lines("", "").x("workload.0.load", "load", Unit::Share).y("y", "y", Unit::Share).y_times(1e-3);
        assert_eq!(share.plot(&table).bounds(), (0.0, 100.0));
        assert_eq!(lines.clone().y_times(-1.0).plot(&table).bounds().0, f64::NEG_INFINITY);
        let curves = Panel::curves("", "").curve("line", "queue").variants(&["ABM"]).plot(&table);
        assert_eq!(curves.series[0].name, "ABM queue");
        assert_eq!(curves.series[0].points.len(), 2);
    }
}
