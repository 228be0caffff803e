//! Seeds: which there are, and which are shown one by one.

use crate::curves;
use crate::groups::{self, BUCKETS};
use crate::{Report, RunView};
use forebay_results::stats::Interval;
use serde_json::{Value, json};

/// About how many points all curves of single seeds may have together.
const POINTS_OF_SEEDS: usize = 240_000;

/// All seeds, in order of first appearance.
pub(crate) fn all(report: &Report) -> Vec<u64> {
    let mut seeds = Vec::new();
    for run in report.runs() {
        if !seeds.contains(&run.seed) {
            seeds.push(run.seed);
        }
    }
    seeds
}

/// Whether some point has several.
pub(crate) fn are_several(report: &Report) -> bool {
    report.points.iter().any(|point| point.seeds.len() > 1)
}

/// The seeds that can be chosen one by one: the first, as many as there is room for. None if no point has several.
pub(crate) fn single(report: &Report) -> Vec<u64> {
    if !are_several(report) {
        return Vec::new();
    }
    let sets = groups::of_flows(report).len() * BUCKETS.len() + groups::of_queries(report).len();
    let of_seed = 2 * sets * report.points.len().max(1) * curves::FEWEST_POINTS;
    all(report).into_iter().take(POINTS_OF_SEEDS / of_seed).collect()
}

/// The run of a point with a seed.
pub(crate) fn run_of(runs: &[RunView], seed: u64) -> Option<&RunView> {
    runs.iter().find(|run| run.seed == seed)
}

/// The mean of a value over runs and half its 95% confidence interval, for the page's script: null if no run has it.
pub(crate) fn interval(values: impl Iterator<Item = Option<f64>>) -> Value {
    let known: Vec<f64> = values.flatten().filter(|value| value.is_finite()).collect();
    Interval::of(&known).map_or(Value::Null, |interval| pair(&interval))
}

/// An interval for the page's script.
pub(crate) fn pair(interval: &Interval) -> Value {
    use crate::stats::significant;
    // Four digits are enough, unless they would be rounded to other three than all of them.
    let short = |half: f64| {
        let few = significant(half, 4);
        if significant(few, 3) == significant(half, 3) { few } else { significant(half, 7) }
    };
    json!([significant(interval.mean, 7), interval.half.map(short)])
}

/// Seeds for people: 1 to 5, or 1, 7, 9.
pub(crate) fn names(seeds: &[u64]) -> String {
    /// More are told by the first and the last.
    const MOST: usize = 12;
    match seeds {
        [first, .., last] if seeds.windows(2).all(|pair| pair[1] == pair[0] + 1) => format!("{first} to {last}"),
        [first, .., last] if seeds.len() > MOST => format!("{first} to {last} ({} seeds)", seeds.len()),
        _ => seeds.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Point;

    fn report(points: usize, seeds: u64) -> Report {
        let point = |_| Point {
            seeds: (1..=seeds).map(|seed| RunView { seed, ..RunView::default() }).collect(),
            ..Point::default()
        };
        Report { points: (0..points).map(point).collect(), ..Report::default() }
    }

    #[test]
    fn as_many_single_seeds_as_there_is_room_for() {
        // Five sets of flows and queries, two curves of 60 points each: 600 points for a seed of a point.
        assert_eq!(single(&report(5, 10)), (1..=10).collect::<Vec<_>>());
        assert_eq!(single(&report(20, 100)).len(), 20);
        assert_eq!(single(&report(400, 3)), [1]);
        assert!(single(&report(401, 3)).is_empty());
        assert!(single(&report(5, 1)).is_empty());
    }

    #[test]
    fn halves_are_not_rounded_twice() {
        let half = |half| pair(&Interval { mean: 1.0, half: Some(half) })[1].as_f64();
        assert_eq!([half(183.4567), half(183.62), half(6.353_103)], [Some(183.4567), Some(183.6), Some(6.353)]);
    }

    #[test]
    fn seeds_are_named() {
        assert_eq!(names(&[7]), "7");
        assert_eq!(names(&[1, 2, 3]), "1 to 3");
        assert_eq!(names(&[1, 7, 9]), "1, 7, 9");
        assert_eq!(names(&(1..40).map(|seed| seed * 2).collect::<Vec<_>>()), "2 to 78 (39 seeds)");
    }
}
