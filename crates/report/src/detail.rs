//! What happened inside a run: queues over time with their drops, who held the buffer, where the time of the slowest
//! flows went, traced flows and collectives.

use crate::{Detail, DropPoint, Holder, HurtFlow, Point, QueueSeries, Report, RunView, TracedFlow, seeds};
use serde_json::{Map, Value, json};

/// Queues in a map.
const MOST_QUEUES: usize = 32;

/// How finely runs are drawn: the more of them a page has, the coarser, so that the page stays small.
#[derive(Clone, Copy)]
struct Fineness {
    /// Stretches of time in a map of queues.
    bins: usize,
    /// Points of a traced flow.
    responses: usize,
}

impl Fineness {
    fn of(points: usize, runs: usize) -> Self {
        let shared = |all: usize, by: usize, least: usize, most: usize| (all / by.max(1)).clamp(least, most);
        Self { bins: shared(800, points, 40, 160), responses: shared(6_000, runs, 150, 1_500) }
    }
}

/// How many seeds of a point are shown from inside: one of many points, more of a few, so that the page stays small.
pub fn seeds_inside(points: usize) -> usize {
    (10 / points.max(1)).clamp(1, 5)
}

/// Seconds as the microseconds of the page, to the nanosecond.
fn us(seconds: f64) -> f64 {
    (seconds * 1e9).round() / 1e3
}

/// One stretch of time of one queue.
#[derive(Clone, Default)]
struct Cell {
    longest: u64,
    threshold: Option<f64>,
    drops: Vec<(String, u64)>,
    /// The drop with the fullest buffer: who held it then.
    holders: Option<(u64, usize)>,
}

impl Cell {
    fn drop(&mut self, drop: &DropPoint) {
        match self.drops.iter_mut().find(|(reason, _)| *reason == drop.reason) {
            Some((_, count)) => *count += 1,
            None => self.drops.push((drop.reason.clone(), 1)),
        }
        if let Some(holders) = drop.holders {
            let fullest = self.holders.is_none_or(|(used, _)| drop.used_bytes > used);
            if fullest {
                self.holders = Some((drop.used_bytes, holders));
            }
        }
    }
}

/// A whole number as short as it can be.
fn rounded(value: f64) -> Value {
    json!(value.round() as i64)
}

/// When the last packet that was seen to wait did so, or the last one was dropped, in seconds. What comes then, such as
/// a timeout, would take the room of what there is to see.
fn end_of(detail: &Detail) -> f64 {
    let last = |queue: &QueueSeries| queue.points.iter().rfind(|point| point.1 > 0).map(|point| point.0);
    let samples = detail.queues.iter().filter_map(last);
    samples.chain(detail.drops.iter().map(|drop| drop.at_s)).fold(0.0, f64::max)
}

/// The queues that are shown, those with most drops and the longest ones first.
fn chosen(detail: &Detail, bins: usize) -> Vec<(String, Vec<Cell>)> {
    let end = end_of(detail).max(1e-12);
    let bin = |at: f64| ((at / end * bins as f64) as usize).min(bins - 1);
    let mut rows: Vec<(String, Vec<Cell>)> = Vec::new();
    let mut places = std::collections::HashMap::new();
    let mut place = |name: &str, rows: &mut Vec<(String, Vec<Cell>)>| -> usize {
        *places.entry(name.to_owned()).or_insert_with(|| {
            rows.push((name.to_owned(), vec![Cell::default(); bins]));
            rows.len() - 1
        })
    };
    for QueueSeries { name, points } in &detail.queues {
        let row = place(name, &mut rows);
        for (at, bytes, threshold) in points.iter().filter(|point| point.0 <= end) {
            let cell = &mut rows[row].1[bin(*at)];
            cell.longest = cell.longest.max(*bytes);
            let lowest = |known: Option<f64>, found: f64| Some(known.map_or(found, |known| known.min(found)));
            cell.threshold = threshold
                .filter(|value| value.is_finite())
                .map_or(cell.threshold, |found| lowest(cell.threshold, found));
        }
    }
    for drop in &detail.drops {
        let row = place(&drop.queue, &mut rows);
        let cell = &mut rows[row].1[bin(drop.at_s)];
        cell.longest = cell.longest.max(drop.queue_bytes);
        cell.drop(drop);
    }
    let weight = |cells: &[Cell]| {
        let drops: u64 = cells.iter().flat_map(|cell| &cell.drops).map(|(_, count)| count).sum();
        (drops, cells.iter().map(|cell| cell.longest).max().unwrap_or(0))
    };
    rows.sort_by_cached_key(|(_, cells)| std::cmp::Reverse(weight(cells)));
    rows.truncate(MOST_QUEUES);
    rows
}

/// The map of queues over time, and who held the buffers in the stretches with drops.
fn map(detail: &Detail, bins: usize) -> Value {
    let rows = chosen(detail, bins);
    let mut holders = Map::new();
    for (_, number) in rows.iter().flat_map(|(_, cells)| cells).filter_map(|cell| cell.holders) {
        if let Some(parts) = detail.holders.get(number) {
            holders.entry(number.to_string()).or_insert_with(|| parts.iter().map(part).collect());
        }
    }
    let row = |(name, cells): &(String, Vec<Cell>)| {
        let drops = cells.iter().enumerate().filter(|(_, cell)| !cell.drops.is_empty());
        json!({
            "name": name,
            "longest": cells.iter().map(|cell| cell.longest).collect::<Vec<_>>(),
            "threshold": cells.iter().map(|cell| cell.threshold.map(rounded)).collect::<Vec<_>>(),
            "drops": drops.map(|(bin, cell)| json!([bin, cell.drops, cell.holders.map(|(_, number)| number)])).collect::<Value>(),
        })
    };
    json!({
        "end": us(end_of(detail)),
        "queues": rows.iter().map(row).collect::<Value>(),
        "all": detail.queues.len().max(rows.len()),
        "holders": holders,
    })
}

fn part(holder: &Holder) -> Value {
    json!([holder.name, holder.class, holder.bytes])
}

fn hurt(flow: &HurtFlow) -> Value {
    json!({
        "name": flow.name,
        "fct": us(flow.fct_s),
        "ideal": us(flow.ideal_s),
        "parts": flow.parts.iter().map(|(name, seconds)| json!([name, us(*seconds)])).collect::<Value>(),
        "hops": flow.hops.iter().map(|(name, seconds)| json!([name, us(*seconds)])).collect::<Value>(),
        "note": flow.note,
    })
}

/// A traced flow: time, round trip, window, packets acknowledged and retransmitted, thinned out evenly.
fn traced(flow: &TracedFlow, most: usize) -> Value {
    let every = flow.responses.len().div_ceil(most).max(1);
    let kept: Vec<_> = flow.responses.iter().step_by(every).collect();
    json!({
        "name": flow.name,
        "t": kept.iter().map(|response| us(response.at_s)).collect::<Vec<_>>(),
        "rtt": kept.iter().map(|response| response.rtt_s.map(us)).collect::<Vec<_>>(),
        "window": kept.iter().map(|response| response.window).collect::<Vec<_>>(),
        "acked": kept.iter().map(|response| response.acked_bytes).collect::<Vec<_>>(),
        "retransmitted": kept.iter().map(|response| response.retransmitted).collect::<Vec<_>>(),
    })
}

fn of_detail(detail: &Detail, fineness: Fineness) -> Value {
    json!({
        "map": map(detail, fineness.bins),
        "hurt": detail.hurt.iter().map(hurt).collect::<Value>(),
        "traced": detail.traced.iter().map(|flow| traced(flow, fineness.responses)).collect::<Value>(),
        "collectives": detail.collectives.iter()
            .map(|(workload, round, seconds)| json!([workload, round, seconds.map(us)]))
            .collect::<Value>(),
        "changes": detail.changes.iter().map(|(at, what)| json!([us(*at), what])).collect::<Value>(),
    })
}

/// What the script draws of the first runs of each point, in the order of `singles`, the seeds that can be chosen.
pub(crate) fn of_report(report: &Report, singles: &[u64]) -> Value {
    let points = report.points.len();
    let inside = &singles[..singles.len().min(seeds_inside(points))];
    let fineness = Fineness::of(points, points * inside.len());
    let of_run = |run: Option<&RunView>| run.map_or(Value::Null, |run| of_detail(&run.detail, fineness));
    let of_point = |point: &Point| match inside {
        [] => json!([of_run(point.seeds.first())]),
        seeds => seeds.iter().map(|seed| of_run(seeds::run_of(&point.seeds, *seed))).collect(),
    };
    report.points.iter().map(of_point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_seeds_are_shown_from_inside() {
        let run = |seed| RunView {
            seed,
            detail: Detail { collectives: vec![("ring".to_owned(), seed as u32, None)], ..Detail::default() },
            ..RunView::default()
        };
        let report = |points: usize, seeds: u64| Report {
            points: vec![Point { seeds: (1..=seeds).map(run).collect(), ..Point::default() }; points],
            ..Report::default()
        };
        let rounds = |points, seeds| {
            let report = report(points, seeds);
            let all = of_report(&report, &seeds::single(&report));
            assert_eq!(all.as_array().unwrap().len(), points);
            let seeds = all[points - 1].as_array().unwrap().iter();
            seeds.map(|detail| detail["collectives"][0][1].as_u64().unwrap()).collect::<Vec<_>>()
        };
        assert_eq!([rounds(1, 1), rounds(1, 3), rounds(1, 9)], [vec![1], vec![1, 2, 3], vec![1, 2, 3, 4, 5]]);
        assert_eq!([rounds(5, 9), rounds(6, 9)], [vec![1, 2], vec![1]]);
    }

    #[test]
    fn a_map_has_the_queues_with_drops_first_and_who_held_the_buffer_when_it_was_fullest() {
        let series = |name: &str, bytes| QueueSeries {
            name: name.to_owned(),
            // Nothing waits at the end.
            points: vec![(0.0, bytes, Some(10.0)), (1.0, bytes / 2, Some(f64::INFINITY)), (9.0, 0, Some(3.0))],
        };
        let drop = |at_s, used_bytes, holders| DropPoint {
            at_s,
            queue: "b".to_owned(),
            reason: "full".to_owned(),
            queue_bytes: 7,
            used_bytes,
            holders: Some(holders),
        };
        let held = |name: &str| vec![Holder { name: name.to_owned(), class: 1, bytes: 5 }];
        let detail = Detail {
            queues: vec![series("a", 900), series("b", 30)],
            drops: vec![drop(0.5, 100, 0), drop(0.5001, 200, 1)],
            holders: vec![held("flow 1"), held("flow 2")],
            ..Detail::default()
        };
        let map = map(&detail, 160);
        assert_eq!((&map["queues"][0]["name"], &map["queues"][1]["name"]), (&json!("b"), &json!("a")));
        assert_eq!(map["queues"][0]["drops"], json!([[80, [["full", 2]], 1]]));
        assert_eq!(map["holders"], json!({ "1": [["flow 2", 1, 5]] }), "others are not in the page");
        assert_eq!(map["queues"][1]["longest"][0], 900);
        assert_eq!(map["queues"][1]["threshold"], json!([vec![json!(10)], vec![Value::Null; 160 - 1]].concat()));
    }
}
