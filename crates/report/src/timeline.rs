//! Buffers over time, thinned out so that no extreme is lost.

use crate::{Report, RunView, TimelinePoint, TimelineSeries, detail};
use serde_json::{Value, json};

/// The most points of a series.
const MOST_POINTS: usize = 2_000;
/// The fewest: with less, a timeline says little.
const FEWEST_POINTS: usize = 300;
/// About how many points all series of a page may have together.
const POINTS_OF_PAGE: usize = 40_000;
/// What a stretch of samples can keep: the smallest and the largest of three values.
const KEPT_PER_STRETCH: usize = 6;

/// At most `most` of the samples, in order: the first, the last, and of each of equally many samples those with the
/// smallest and the largest use, longest queue and threshold. `most` is at least 8.
pub(crate) fn thinned(points: &[TimelinePoint], most: usize) -> Vec<TimelinePoint> {
    if points.len() <= most {
        return points.to_vec();
    }
    let stretches = (most - 2) / KEPT_PER_STRETCH;
    let mut kept = vec![0, points.len() - 1];
    for stretch in 0..stretches {
        let from = stretch * points.len() / stretches;
        let to = (stretch + 1) * points.len() / stretches;
        extremes(points, from..to, |point| Some(point.1 as f64), &mut kept);
        extremes(points, from..to, |point| Some(point.2 as f64), &mut kept);
        extremes(points, from..to, |point| point.3.filter(|value| value.is_finite()), &mut kept);
    }
    kept.sort_unstable();
    kept.dedup();
    kept.into_iter().map(|index| points[index]).collect()
}

/// Adds the indices of the smallest and the largest value.
fn extremes(
    points: &[TimelinePoint],
    range: std::ops::Range<usize>,
    value: impl Fn(&TimelinePoint) -> Option<f64>,
    kept: &mut Vec<usize>,
) {
    let with_value = || range.clone().filter_map(|index| value(&points[index]).map(|value| (index, value)));
    kept.extend(with_value().min_by(|a, b| a.1.total_cmp(&b.1)).map(|(index, _)| index));
    kept.extend(with_value().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(index, _)| index));
}

/// The largest share of the buffer that was ever in use.
pub(crate) fn peak(series: &TimelineSeries) -> Option<f64> {
    let used = series.points.iter().map(|point| point.1).max()?;
    (series.size > 0).then(|| used as f64 / series.size as f64)
}

/// The names of the buffers to show, the busiest first: all, or those that were fullest in any run if there are
/// too many to give each enough points.
fn chosen<'a>(shown: &Shown<'a>) -> (Vec<&'a str>, usize) {
    let mut names: Vec<(&str, f64)> = Vec::new();
    for series in shown.iter().flatten().flat_map(|run| &run.timeline) {
        let peak = peak(series).unwrap_or(0.0);
        match names.iter_mut().find(|(name, _)| *name == series.name) {
            Some((_, highest)) => *highest = highest.max(peak),
            None => names.push((&series.name, peak)),
        }
    }
    let all = names.len();
    let most = (POINTS_OF_PAGE / FEWEST_POINTS / shown.iter().flatten().count().max(1)).max(1);
    if all > most {
        let mut peaks: Vec<f64> = names.iter().map(|(_, peak)| *peak).collect();
        peaks.sort_unstable_by(|a, b| b.total_cmp(a));
        let limit = peaks[most - 1];
        names.retain(|(_, peak)| *peak >= limit);
        names.truncate(most);
    }
    // The busiest buffer first.
    names.sort_by(|a, b| b.1.total_cmp(&a.1));
    (names.into_iter().map(|(name, _)| name).collect(), all)
}

/// The runs whose timelines are shown, by point: one by one, as buffers over time cannot be averaged over seeds.
type Shown<'a> = Vec<Vec<&'a RunView>>;

/// The timelines of the first runs of each point for the page's script, each with its seed.
pub(crate) fn of_report(report: &Report, singles: &[u64]) -> Value {
    let shown: Shown<'_> = report.points.iter().map(|point| detail::inside(report, point, singles)).collect();
    let runs = || shown.iter().flatten();
    let (names, all) = chosen(&shown);
    let is_chosen = |series: &&TimelineSeries| names.contains(&series.name.as_str());
    let count = runs().flat_map(|run| &run.timeline).filter(is_chosen).count();
    let most = (POINTS_OF_PAGE / count.max(1)).clamp(FEWEST_POINTS, MOST_POINTS);
    let end = runs().flat_map(|run| &run.timeline).filter(is_chosen).map(idle_from).fold(0.0, f64::max);
    let of_run = |run: &RunView| {
        let series = run.timeline.iter().filter(is_chosen).map(|series| columns(series, end, most));
        json!({ "seed": run.seed, "series": series.collect::<Value>() })
    };
    let of_point = |runs: &Vec<&RunView>| runs.iter().map(|run| of_run(run)).collect::<Value>();
    json!({ "names": names, "all": all, "runs": shown.iter().map(of_point).collect::<Value>() })
}

/// When a buffer has become empty for good; if it never held a packet, when it was last looked at.
fn idle_from(series: &TimelineSeries) -> f64 {
    let last = series.points.iter().rposition(|point| point.1 > 0).unwrap_or(series.points.len());
    series.points.get(last + 1).or(series.points.last()).map_or(0.0, |point| point.0)
}

/// A series up to a time in columns: times in microseconds to the nanosecond, everything else as whole numbers.
fn columns(series: &TimelineSeries, end: f64, most: usize) -> Value {
    let samples = series.points.partition_point(|point| point.0 <= end);
    let points = thinned(&series.points[..samples], most);
    let column = |value: &dyn Fn(&TimelinePoint) -> Value| points.iter().map(value).collect::<Value>();
    let threshold = |point: &TimelinePoint| match point.3 {
        Some(value) if value.is_finite() => json!(value.clamp(0.0, 1e18).round() as u64),
        _ => Value::Null,
    };
    json!({
        "name": series.name,
        "size": series.size,
        "samples": series.points.len(),
        "t": column(&|point| json!((point.0 * 1e9).round() / 1e3)),
        "used": column(&|point| json!(point.1)),
        "longest": column(&|point| json!(point.2)),
        "threshold": column(&threshold),
        "drops": column(&|point| json!(point.4)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Point;

    /// A sawtooth with a lone spike, a lone dip and a lone low threshold.
    fn samples() -> Vec<TimelinePoint> {
        let mut points: Vec<TimelinePoint> = (0..50_000u64)
            .map(|k| (k as f64 * 1e-6, 1_000 + k % 97, 500 + k % 89, Some(10_000.0 + (k % 83) as f64), k / 100))
            .collect();
        points[12_345].1 = 99_999;
        points[23_456].1 = 1;
        points[34_567].2 = 88_888;
        points[45_678].3 = Some(7.0);
        points
    }

    #[test]
    fn extremes_and_ends_survive() {
        let points = samples();
        for most in [8, 300, 2_000] {
            let thin = thinned(&points, most);
            assert!(thin.len() <= most, "{} of {most}", thin.len());
            assert_eq!((thin[0], thin[thin.len() - 1]), (points[0], points[points.len() - 1]));
            assert!(thin.windows(2).all(|pair| pair[0].0 < pair[1].0));
            for index in [12_345, 23_456, 34_567, 45_678] {
                assert!(thin.contains(&points[index]), "sample {index} of {most}");
            }
        }
    }

    #[test]
    fn every_stretch_keeps_its_own_extremes() {
        let points = samples();
        let thin = thinned(&points, 2_000);
        // 333 stretches of 150 samples: any 400 samples hold a whole stretch, and with it a whole tooth of 97.
        for part in points.chunks(400) {
            let inside = |point: &&TimelinePoint| (part[0].0..=part[part.len() - 1].0).contains(&point.0);
            let used = || thin.iter().filter(inside).map(|point| point.1);
            assert!(used().max().unwrap() >= 1_096 && used().min().unwrap() <= 1_000);
        }
    }

    #[test]
    fn few_samples_are_kept_whole() {
        let points = samples()[..2_000].to_vec();
        assert_eq!(thinned(&points, 2_000), points);
        assert_eq!(thinned(&[], 2_000), []);
    }

    #[test]
    fn what_comes_after_the_last_packet_is_left_out() {
        let series = |name: &str, used: [u64; 5]| TimelineSeries {
            name: name.into(),
            size: 10,
            points: (0u32..).zip(used).map(|(at, used)| (f64::from(at), used, 0, None, 0)).collect(),
        };
        let ends = |all: Vec<TimelineSeries>| {
            let seeds = vec![RunView { timeline: all, ..RunView::default() }];
            let value =
                of_report(&Report { points: vec![Point { seeds, ..Point::default() }], ..Report::default() }, &[]);
            let length = |series: &Value| series["t"].as_array().unwrap().len();
            value["runs"][0][0]["series"].as_array().unwrap().iter().map(length).collect::<Vec<_>>()
        };
        assert_eq!(ends(vec![series("a", [1, 0, 0, 0, 0])]), [2]);
        assert_eq!(ends(vec![series("a", [1, 0, 0, 0, 0]), series("b", [0, 1, 1, 0, 0])]), [4, 4], "all to one time");
        assert_eq!(ends(vec![series("a", [1, 1, 1, 1, 1])]), [5]);
        assert_eq!(ends(vec![series("a", [0; 5])]), [5], "a buffer that was never used");
    }

    #[test]
    fn of_too_many_switches_the_fullest_are_kept() {
        let series = |index: u64| TimelineSeries {
            name: format!("switch {index}"),
            size: 1_000,
            points: vec![(0.0, index, 0, None, 0)],
        };
        let report = Report {
            points: vec![Point {
                seeds: vec![RunView { timeline: (0..500).map(series).collect(), ..RunView::default() }],
                ..Point::default()
            }],
            ..Report::default()
        };
        let value = of_report(&report, &[]);
        let names = value["names"].as_array().unwrap();
        assert_eq!(names.len(), 133);
        assert_eq!((&names[0], &names[132]), (&json!("switch 499"), &json!("switch 367")), "the busiest first");
        assert_eq!(value["all"], json!(500));
        assert_eq!(value["runs"][0][0]["series"].as_array().unwrap().len(), 133);
    }
}
