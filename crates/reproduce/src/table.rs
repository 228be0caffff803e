//! All numbers of a figure.

use crate::figure::{Point, Scale, number_of};
use crate::metrics::Metrics;
use crate::stat::Stat;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

/// A finished point.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Row {
    /// Which.
    #[serde(flatten)]
    pub point: Point,
    /// Its numbers.
    pub metrics: Metrics,
}

/// The finished points of a figure at a scale, and which of their numbers were asked for.
#[derive(Debug)]
pub struct Table {
    scale: Scale,
    rows: Vec<Row>,
    asked: RefCell<BTreeSet<String>>,
    /// Whether someone has had whole rows, and may have asked for anything.
    asked_all: Cell<bool>,
    /// Whether nothing is left to chance, so that one seed is exact.
    deterministic: Cell<bool>,
}

impl Table {
    /// In the order of the sweep.
    pub fn new(scale: Scale, rows: Vec<Row>) -> Self {
        Self { scale, rows, asked: RefCell::default(), asked_all: Cell::new(false), deterministic: Cell::new(false) }
    }

    /// Says whether one seed is exact, since nothing is left to chance.
    pub fn set_deterministic(&self, deterministic: bool) {
        self.deterministic.set(deterministic);
    }

    /// How much was run.
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// All points, with all their numbers.
    pub fn rows(&self) -> &[Row] {
        self.asked_all.set(true);
        &self.rows
    }

    /// All points, for someone who asks for nothing.
    pub(crate) fn stored(&self) -> &[Row] {
        &self.rows
    }

    /// The variants, in the order of the file.
    pub fn variants(&self) -> Vec<&str> {
        distinct(self.rows.iter().map(|row| row.point.variant.as_str()))
    }

    /// The values of a key of the grid as they are written, in the order of the file.
    pub fn texts(&self, key: &str) -> Vec<&str> {
        distinct(self.rows.iter().filter_map(|row| row.point.text(key)))
    }

    /// The values of a key of the grid as numbers.
    pub fn values(&self, key: &str) -> Vec<f64> {
        self.texts(key).into_iter().map(number_of).collect()
    }

    /// The seeds that were run.
    pub fn seeds(&self) -> Vec<u64> {
        distinct(self.rows.iter().map(|row| row.point.seed))
    }

    /// The points without their seeds, each with the seeds that were run of it.
    pub(crate) fn points(&self) -> Vec<(Point, Vec<u64>)> {
        let mut points: Vec<(Point, Vec<u64>)> = Vec::new();
        for row in &self.rows {
            let point = row.point.without_seed();
            match points.iter_mut().find(|(own, _)| *own == point) {
                Some((_, seeds)) => seeds.push(row.point.seed),
                None => points.push((point, vec![row.point.seed])),
            }
        }
        points
    }

    /// The same table in which a point has no numbers.
    pub(crate) fn without(&self, point: &Point) -> Self {
        let blank = |row: &Row| {
            let is_it = row.point.without_seed() == *point;
            Row { point: row.point.clone(), metrics: if is_it { Metrics::default() } else { row.metrics.clone() } }
        };
        Self::new(self.scale, self.rows.iter().map(blank).collect())
    }

    /// The points of a variant.
    pub fn at(&self, variant: &str) -> Selection<'_> {
        self.all().keep(|point| point.variant == variant)
    }

    /// All points.
    pub fn all(&self) -> Selection<'_> {
        Selection { table: self, rows: self.rows.iter().collect() }
    }

    /// A curve of the first seed of a point.
    pub fn curve(&self, variant: &str, at: &[(&str, f64)], name: &str) -> Option<&[(f64, f64)]> {
        at.iter().fold(self.at(variant), |points, (key, value)| points.and(key, *value)).curve(name)
    }

    /// The names of the numbers and curves that were asked for so far.
    pub fn asked(&self) -> BTreeSet<String> {
        if !self.asked_all.get() {
            return self.asked.borrow().clone();
        }
        let names = |row: &'_ Row| row.metrics.names().map(str::to_owned).collect::<Vec<_>>();
        self.rows.iter().flat_map(names).collect()
    }
}

/// Some points of a table.
#[derive(Clone, Debug)]
pub struct Selection<'t> {
    table: &'t Table,
    rows: Vec<&'t Row>,
}

impl<'t> Selection<'t> {
    fn keep(mut self, keep: impl Fn(&Point) -> bool) -> Self {
        self.rows.retain(|row| keep(&row.point));
        self
    }

    /// Those whose key has this number as its value.
    #[must_use]
    pub fn and(self, key: &str, value: f64) -> Self {
        let same = |own: f64| own == value || (own - value).abs() <= 1e-9 * value.abs();
        self.keep(|point| same(point.number(key)))
    }

    /// Those whose key has this text as its value.
    #[must_use]
    pub fn with(self, key: &str, value: &str) -> Self {
        self.keep(|point| point.text(key) == Some(value))
    }

    /// A number of these points, by seed. If several points of one seed are left, their mean, of those seeds that were
    /// run of all of them.
    pub fn get(&self, name: &str) -> Stat {
        self.table.asked.borrow_mut().insert(name.to_owned());
        let of_seed = |seed: u64| self.rows.iter().filter(move |row| row.point.seed == seed);
        let mut seeds = distinct(self.rows.iter().map(|row| row.point.seed));
        let all = seeds.iter().map(|seed| of_seed(*seed).count()).max();
        seeds.retain(|seed| Some(of_seed(*seed).count()) == all);
        let stat = Stat::new(seeds.into_iter().map(|seed| {
            let values = of_seed(seed).map(|row| row.metrics.get(name));
            let values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
            (seed, forebay_results::stats::mean(&values).unwrap_or(f64::NAN))
        }));
        if self.table.deterministic.get() { stat.without_chance() } else { stat }
    }

    /// A curve of the first of these points.
    pub fn curve(&self, name: &str) -> Option<&'t [(f64, f64)]> {
        self.table.asked.borrow_mut().insert(name.to_owned());
        self.rows.iter().find_map(|row| row.metrics.get_curve(name))
    }

    /// The points, with all their numbers.
    pub fn rows(&self) -> &[&'t Row] {
        self.table.asked_all.set(true);
        &self.rows
    }

    /// Whether none of these points has run.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

/// Each once, in the order of first appearance.
fn distinct<T: PartialEq>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut once: Vec<T> = Vec::new();
    for one in all {
        if !once.contains(&one) {
            once.push(one);
        }
    }
    once
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Two variants at two loads with two seeds; `y` is 100 a + 10 load + seed.
    pub(crate) fn example() -> Table {
        let mut rows = Vec::new();
        for (number, variant) in ["DT", "ABM"].into_iter().enumerate() {
            for load in ["0.2", "0.4"] {
                for seed in [1, 2] {
                    let grid = vec![("workload.0.load".to_owned(), load.to_owned())];
                    let point = Point { variant: variant.to_owned(), grid, seed, ..Point::default() };
                    let mut metrics = Metrics::default();
                    metrics.set("y", 100.0 * number as f64 + 10.0 * point.number("workload.0.load") + seed as f64);
                    metrics.curve("line", &[(0.0, 1.0), (1.0, 2.0)]);
                    rows.push(Row { point, metrics });
                }
            }
        }
        Table::new(Scale::Quick, rows)
    }

    #[test]
    fn numbers_are_found_by_variant_and_value() {
        let table = example();
        assert_eq!(table.variants(), ["DT", "ABM"]);
        assert_eq!(table.values("workload.0.load"), [0.2, 0.4]);
        assert_eq!(table.at("ABM").and("workload.0.load", 0.4).get("y").values(), [(1, 105.0), (2, 106.0)]);
        assert_eq!(table.at("DT").with("workload.0.load", "0.2").get("y").mean(), 3.5);
        assert_eq!(table.at("DT").get("y").values(), [(1, 4.0), (2, 5.0)]);
        assert!(table.at("FB").get("y").is_empty());
        let mut rows = table.stored().to_vec();
        rows.pop();
        let fewer = Table::new(Scale::Quick, rows);
        assert_eq!(fewer.at("ABM").get("y").values(), [(1, 104.0)], "a mean over points is of seeds that all have");
        let seeds: Vec<Vec<u64>> = fewer.points().into_iter().map(|(_, seeds)| seeds).collect();
        assert_eq!(seeds, [vec![1, 2], vec![1, 2], vec![1, 2], vec![1]]);
        let blank = table.without(&table.points()[0].0);
        assert_eq!((blank.at("DT").get("y").values(), blank.rows().len()), ([(1, 5.0), (2, 6.0)].as_slice(), 8));
        assert_eq!(table.curve("DT", &[("workload.0.load", 0.2)], "line").unwrap().len(), 2);
        assert_eq!(table.asked().into_iter().collect::<Vec<_>>(), ["line", "y"]);
        let other = example();
        other.at("DT").rows();
        assert_eq!(other.asked().len(), 2, "whoever has rows may look at everything");
    }
}
