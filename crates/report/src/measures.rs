//! What points are compared by: a value of every run, means over seeds, and differences to a baseline seed by seed.

use crate::groups::{LONG_FROM, SHORT_BELOW};
use crate::stats::{mean, percentile, significant, sorted};
use crate::{FlowPoint, Report, RunView, number, seeds, timeline};
use forebay_results::paired::{self, Difference, Sample, Verdict};
use forebay_results::stats::Interval;
use serde_json::{Value, json};
use std::cmp::Ordering;

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Seconds.
    Time,
    /// A factor.
    Plain,
    /// A number of things.
    Count,
    /// A share of a whole.
    Share,
}

impl Kind {
    /// Its name for the page's script.
    const fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Plain => "plain",
            Self::Count => "count",
            Self::Share => "share",
        }
    }

    /// What the script counts in: times are in microseconds there.
    const fn factor(self) -> f64 {
        if matches!(self, Self::Time) { 1e6 } else { 1.0 }
    }
}

/// A measure.
pub(crate) struct Measure {
    pub(crate) name: &'static str,
    /// What the column's heading says when asked.
    pub(crate) meaning: &'static str,
    pub(crate) kind: Kind,
    of: fn(&RunView) -> Option<f64>,
    /// Flows or queries that it is about and that have not finished.
    unfinished: fn(&RunView) -> u64,
    /// Whether less is better; otherwise neither is, and a difference is higher or lower.
    pub(crate) less_is_better: bool,
    /// Whether it is left out when every run has 0.
    only_if_any: bool,
}

const MEASURES: [Measure; 9] = [
    Measure {
        unfinished: unfinished_queries,
        ..Measure::of("Mean query completion time", "Of finished queries", Kind::Time, qct_mean)
    },
    Measure {
        unfinished: unfinished_queries,
        ..Measure::of("p99 query completion time", "99th percentile, of finished queries", Kind::Time, qct_p99)
    },
    Measure {
        unfinished: unfinished_short,
        ..Measure::of("Short p50 slowdown", "Median slowdown of finished flows below 100 KB", Kind::Plain, short_p50)
    },
    Measure {
        unfinished: unfinished_short,
        ..Measure::of(
            "Short p99 slowdown",
            "99th percentile of the slowdown of finished flows below 100 KB",
            Kind::Plain,
            short_p99,
        )
    },
    Measure {
        unfinished: unfinished_long,
        ..Measure::of("Long p50 slowdown", "Median slowdown of finished flows from 1 MB", Kind::Plain, long_p50)
    },
    Measure::of(
        "Drops and losses",
        "Packets dropped in switches and at hosts, and lost on failed links",
        Kind::Count,
        drops,
    ),
    Measure {
        less_is_better: false,
        ..Measure::of("Max occupancy", "Most that any buffer was filled", Kind::Share, occupancy)
    },
    Measure {
        only_if_any: true,
        ..Measure::of("Unfinished flows", "Flows that had not finished at the end", Kind::Count, |run| {
            Some(unfinished_of(run, |_| true) as f64)
        })
    },
    Measure {
        only_if_any: true,
        ..Measure::of("Unfinished queries", "Queries that had not finished at the end", Kind::Count, |run| {
            Some(unfinished_queries(run) as f64)
        })
    },
];

impl Measure {
    const fn of(name: &'static str, meaning: &'static str, kind: Kind, of: fn(&RunView) -> Option<f64>) -> Self {
        Self { name, meaning, kind, of, unfinished: |_| 0, less_is_better: true, only_if_any: false }
    }
}

fn qct(run: &RunView) -> Vec<f64> {
    sorted(run.queries.iter().map(|query| query.qct_s))
}

fn qct_mean(run: &RunView) -> Option<f64> {
    mean(&qct(run))
}

fn qct_p99(run: &RunView) -> Option<f64> {
    percentile(&qct(run), 0.99)
}

fn slowdowns(run: &RunView, which: impl Fn(&&FlowPoint) -> bool) -> Vec<f64> {
    sorted(run.flows.iter().filter(which).map(|flow| flow.slowdown))
}

fn short_p50(run: &RunView) -> Option<f64> {
    percentile(&slowdowns(run, |flow| flow.bytes < SHORT_BELOW), 0.5)
}

fn short_p99(run: &RunView) -> Option<f64> {
    percentile(&slowdowns(run, |flow| flow.bytes < SHORT_BELOW), 0.99)
}

fn long_p50(run: &RunView) -> Option<f64> {
    percentile(&slowdowns(run, |flow| flow.bytes >= LONG_FROM), 0.5)
}

fn drops(run: &RunView) -> Option<f64> {
    Some(run.drops.iter().map(|(_, count)| *count).sum::<u64>() as f64)
}

/// From the occupancies, or from the timeline where there are none.
fn occupancy(run: &RunView) -> Option<f64> {
    let known =
        run.occupancy.iter().map(|(_, _, _, max)| *max).filter(|share| share.is_finite()).max_by(f64::total_cmp);
    known.or_else(|| run.timeline.iter().filter_map(timeline::peak).max_by(f64::total_cmp))
}

fn unfinished_of(run: &RunView, which: impl Fn(&FlowPoint) -> bool) -> u64 {
    run.flows.iter().filter(|flow| flow.fct_s.is_none() && which(flow)).count() as u64
}

fn unfinished_short(run: &RunView) -> u64 {
    unfinished_of(run, |flow| flow.bytes < SHORT_BELOW)
}

fn unfinished_long(run: &RunView) -> u64 {
    unfinished_of(run, |flow| flow.bytes >= LONG_FROM)
}

fn unfinished_queries(run: &RunView) -> u64 {
    run.queries.iter().filter(|query| query.qct_s.is_none()).count() as u64
}

/// A measure of all points.
pub(crate) struct Column {
    pub(crate) measure: &'static Measure,
    /// By point, then by seed.
    samples: Vec<Vec<Sample>>,
    /// By point; `None` if none of its runs has a value.
    pub(crate) means: Vec<Option<Interval>>,
    /// The point that is better than each of the others, if there is one.
    pub(crate) best: Option<usize>,
}

impl Column {
    /// How far a point is from another; `None` if no seed has a value of both.
    pub(crate) fn difference(&self, baseline: usize, point: usize) -> Option<Difference> {
        let difference = Difference::between(&self.samples[baseline], &self.samples[point])?;
        let verdict = if self.measure.less_is_better { difference.verdict } else { Verdict::Undecided };
        Some(Difference { verdict, ..difference })
    }

    /// What a difference says, and the number of that in the page's script: below 0 is good, above 0 is bad, except for
    /// what is neither. Nothing where the interval does not exclude zero.
    pub(crate) fn said(&self, difference: &Difference) -> (&'static str, i8) {
        let neutral = if self.measure.less_is_better { None } else { difference.interval.sign() };
        match (neutral, difference.verdict) {
            (Some(Ordering::Less), _) => ("lower", -3),
            (Some(Ordering::Greater), _) => ("higher", 3),
            (_, Verdict::Better) => (Verdict::Better.word(), -1),
            (_, Verdict::Worse) => (Verdict::Worse.word(), 1),
            (_, Verdict::FinishesMore) => (Verdict::FinishesMore.word(), -2),
            (_, Verdict::FinishesLess) => (Verdict::FinishesLess.word(), 2),
            _ => ("", 0),
        }
    }

    /// Whether differences are told as shares of the baseline: for all baselines or for none, so that another one makes
    /// no counts of shares. Of 0 nothing is a share.
    pub(crate) fn has_shares(&self) -> bool {
        self.samples.iter().flatten().filter_map(|sample| sample.value).all(|value| value > 0.0)
    }

    /// A difference as people read it.
    pub(crate) fn text_of(&self, difference: &Difference, baseline: usize) -> String {
        number::difference(self.measure.kind, difference, self.means[baseline].filter(|_| self.has_shares()))
    }
}

/// All measures that are shown.
pub(crate) fn columns(report: &Report) -> Vec<Column> {
    MEASURES.iter().filter_map(|measure| column(report, measure)).collect()
}

fn column(report: &Report, measure: &'static Measure) -> Option<Column> {
    let sample = |run: &RunView| Sample {
        seed: run.seed,
        value: (measure.of)(run).filter(|value| value.is_finite()),
        unfinished: (measure.unfinished)(run),
    };
    let samples: Vec<Vec<Sample>> =
        report.points.iter().map(|point| point.seeds.iter().map(sample).collect()).collect();
    let has_any = samples.iter().flatten().any(|sample| sample.value.is_some_and(|value| value > 0.0));
    if measure.only_if_any && !has_any {
        return None;
    }
    let mean = |of: &Vec<Sample>| Interval::of(&of.iter().filter_map(|sample| sample.value).collect::<Vec<_>>());
    let means = samples.iter().map(mean).collect();
    let best = if measure.less_is_better { paired::best(&samples) } else { None };
    Some(Column { measure, samples, means, best })
}

/// About how many differences a page holds.
const MOST_DIFFERENCES: usize = 20_000;

/// How many points can be chosen to be the baseline: all, unless there are too many.
pub(crate) fn baselines(points: usize, columns: usize) -> usize {
    (MOST_DIFFERENCES / (points * columns).max(1)).clamp(1, points.max(1)).min(points)
}

/// The measures for the page's script.
pub(crate) fn of_report(report: &Report, single: &[u64]) -> Value {
    let columns = columns(report);
    let points = report.points.len();
    let baselines = baselines(points, columns.len());
    let of_column = |column: &Column| {
        let factor = column.measure.kind.factor();
        let scaled = |interval: &Interval| Interval {
            mean: interval.mean * factor,
            half: interval.half.map(|half| half * factor),
        };
        let exact =
            |interval: Interval| json!([significant(interval.mean, 7), interval.half.map(|half| significant(half, 7))]);
        let value_of = |samples: &Vec<Sample>, seed: &u64| {
            let value = samples.iter().find(|sample| sample.seed == *seed).and_then(|sample| sample.value);
            value.map(|value| significant(value * factor, 7))
        };
        let difference = |baseline: usize, point: usize| {
            let Some(difference) = column.difference(baseline, point) else { return Value::Null };
            let Interval { mean, half } = scaled(&difference.interval);
            let (_, verdict) = column.said(&difference);
            let text = unescaped(&column.text_of(&difference, baseline));
            json!([significant(mean, 7), half.map(|half| significant(half, 7)), verdict, text])
        };
        json!({
            "name": column.measure.name,
            "kind": column.measure.kind.name(),
            "best": column.best,
            "share": column.has_shares(),
            "texts": column.means.iter().map(|mean| mean.as_ref().map(|mean| unescaped(&number::interval(column.measure.kind, mean)))).collect::<Value>(),
            "means": column.means.iter().map(|mean| mean.as_ref().map_or(Value::Null, |mean| exact(scaled(mean)))).collect::<Value>(),
            "singles": column.samples.iter().map(|samples| single.iter().map(|seed| value_of(samples, seed)).collect::<Value>()).collect::<Value>(),
            "differences": (0..baselines)
                .map(|baseline| (0..points).map(|point| difference(baseline, point)).collect::<Value>())
                .collect::<Value>(),
        })
    };
    columns.iter().map(of_column).collect()
}

/// A number as text instead of HTML.
fn unescaped(html: &str) -> String {
    html.replace("&plusmn;", "\u{b1}").replace("&minus;", "\u{2212}")
}

/// Whether differences have confidence intervals: two points share at least two seeds.
pub(crate) fn are_paired(report: &Report) -> bool {
    let Some((first, others)) = report.points.split_first() else { return false };
    let shared = |seeds: &[RunView]| seeds.iter().filter(|run| seeds::run_of(&first.seeds, run.seed).is_some()).count();
    others.iter().any(|point| shared(&point.seeds) > 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Point, QueryPoint};

    fn run(seed: u64, qct: &[Option<f64>]) -> RunView {
        RunView {
            seed,
            queries: qct.iter().map(|&qct_s| QueryPoint { qct_s, ..QueryPoint::default() }).collect(),
            ..RunView::default()
        }
    }

    fn report(points: &[&[&[Option<f64>]]]) -> Report {
        let point = |seeds: &&[&[Option<f64>]]| Point {
            seeds: (1..).zip(*seeds).map(|(seed, qct)| run(seed, qct)).collect(),
            ..Point::default()
        };
        Report { points: points.iter().map(point).collect(), ..Report::default() }
    }

    fn column_of(report: &Report, name: &str) -> Column {
        columns(report).into_iter().find(|column| column.measure.name == name).unwrap()
    }

    #[test]
    fn a_queries_mean_over_seeds() {
        let report = report(&[&[&[Some(1.0), Some(3.0)], &[Some(4.0)]], &[&[Some(1.0)], &[Some(3.0)]]]);
        let column = column_of(&report, "Mean query completion time");
        assert_eq!(column.means[0].map(|mean| mean.mean), Some(3.0));
        // Seed 1: 1 - 2, seed 2: 3 - 4: both less by 1.
        let difference = column.difference(0, 1).unwrap();
        assert_eq!((difference.interval.mean, difference.interval.half), (-1.0, Some(0.0)));
        assert_eq!((difference.verdict, column.best), (Verdict::Better, Some(1)));
        assert!(are_paired(&report));
    }

    #[test]
    fn the_faster_one_that_lost_queries_is_not_best() {
        let report = report(&[&[&[Some(2.0)], &[Some(2.0)]], &[&[Some(1.0), None], &[Some(1.0), None]]]);
        let column = column_of(&report, "Mean query completion time");
        assert_eq!((column.difference(0, 1).unwrap().verdict, column.best), (Verdict::FinishesLess, Some(0)));
        assert_eq!(column_of(&report, "Unfinished queries").best, Some(0));
    }

    #[test]
    fn occupancy_is_neither_good_nor_bad() {
        let mut report = report(&[&[&[], &[]], &[&[], &[]]]);
        for (point, share) in report.points.iter_mut().zip([0.2, 0.9]) {
            point.seeds.iter_mut().for_each(|run| run.occupancy = vec![("leaf".into(), 0.0, 0.1, share)]);
        }
        let column = column_of(&report, "Max occupancy");
        assert_eq!((column.difference(0, 1).unwrap().verdict, column.best), (Verdict::Undecided, None));
        assert!((column.difference(0, 1).unwrap().interval.mean - 0.7).abs() < 1e-12);
        // It is significant nevertheless.
        let said = |from, to| column.said(&column.difference(from, to).unwrap());
        assert_eq!([said(0, 1), said(1, 0), said(0, 0)], [("higher", 3), ("lower", -3), ("", 0)]);
    }

    #[test]
    fn baselines_are_bounded() {
        assert_eq!([baselines(0, 9), baselines(1, 9), baselines(47, 9), baselines(100, 9)], [0, 1, 47, 22]);
        assert_eq!(baselines(100_000, 9), 1);
    }
}
