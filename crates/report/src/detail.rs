//! What happened inside a run: queues over time with their drops, who held the buffer, where the time of the slowest
//! flows went, traced flows and collectives.

use crate::{
    Detail, DropPoint, FlowPart, Holder, HurtFlow, LossPoint, Point, QueueSeries, Report, RunView, TracedFlow, seeds,
};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::Arc;

/// Queues in a map.
const MOST_QUEUES: usize = 32;
/// Drops of a stretch of time of which a page has how long queue and threshold were, for queues that were not sampled.
const MOST_DROPS: usize = 4;
/// Flows of the packets that were lost in a stretch of time; the others are told by workload.
const MOST_LOSERS: usize = 8;

/// How finely runs are drawn: the more of them a page has, the coarser, so that the page stays small.
#[derive(Clone, Copy)]
struct Fineness {
    /// Stretches of time in a map of queues.
    bins: usize,
    /// Points of a traced flow.
    responses: usize,
}

impl Fineness {
    fn of(runs: usize) -> Self {
        let shared = |all: usize, by: usize, least: usize, most: usize| (all / by.max(1)).clamp(least, most);
        Self { bins: shared(700, runs, 40, 160), responses: shared(6_000, runs, 150, 1_500) }
    }
}

/// How many seeds of a point are shown from inside: one of many points, more of a few, so that the page stays small.
pub fn seeds_inside(points: usize) -> usize {
    (16 / points.max(1)).clamp(1, 5)
}

/// Seconds as the microseconds of the page, to the nanosecond.
fn us(seconds: f64) -> f64 {
    (seconds * 1e9).round() / 1e3
}

/// One stretch of time of one queue.
#[derive(Clone, Default)]
struct Cell {
    /// The longest that the queue was known to be; `None` if nothing is known.
    longest: Option<u64>,
    threshold: Option<f64>,
    drops: Vec<(Arc<str>, u64)>,
    /// The drop that is told of: of those with holders, if there are any, that with the fullest buffer.
    told: Option<usize>,
    /// All drops, or losses.
    all: Vec<usize>,
}

impl Cell {
    fn sample(&mut self, bytes: u64, threshold: Option<f64>) {
        self.longest = self.longest.max(Some(bytes));
        let threshold = threshold.filter(|value| value.is_finite());
        self.threshold =
            threshold.map_or(self.threshold, |found| Some(self.threshold.map_or(found, |known| known.min(found))));
    }

    fn count(&mut self, reason: &Arc<str>) {
        match self.drops.iter_mut().find(|(known, _)| known == reason) {
            Some((_, count)) => *count += 1,
            None => self.drops.push((Arc::clone(reason), 1)),
        }
    }

    fn drop(&mut self, number: usize, drops: &[DropPoint]) {
        let drop = &drops[number];
        self.sample(drop.queue_bytes, drop.threshold);
        self.count(&drop.reason);
        self.all.push(number);
        let weight = |drop: &DropPoint| (drop.holders.is_some(), drop.used_bytes);
        if self.told.is_none_or(|told| weight(drop) > weight(&drops[told])) {
            self.told = Some(number);
        }
    }
}

/// A queue over time, or what was lost outside all queues.
struct Row {
    name: Arc<str>,
    /// Whether it was sampled. If it was not, it is known at its drops only.
    sampled: bool,
    cells: Vec<Cell>,
}

impl Row {
    fn new(name: &Arc<str>, bins: usize) -> Self {
        Self { name: Arc::clone(name), sampled: false, cells: vec![Cell::default(); bins] }
    }

    /// Between two samples a queue is as long as at the first of them, and before its first packet it is empty.
    fn hold(&mut self) {
        let mut known = (Some(0), None);
        for cell in self.cells.iter_mut().filter(|_| self.sampled) {
            if cell.longest.is_none() {
                (cell.longest, cell.threshold) = known;
            }
            known = (cell.longest, cell.threshold);
        }
    }

    /// What is most important comes first: drops, then length.
    fn weight(&self) -> (u64, Option<u64>) {
        let drops = self.cells.iter().flat_map(|cell| &cell.drops).map(|(_, count)| count).sum();
        (drops, self.cells.iter().map(|cell| cell.longest).max().flatten())
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
    let drops = detail.drops.iter().map(|drop| drop.at_s);
    samples.chain(drops).chain(detail.losses.iter().map(|loss| loss.at_s)).fold(0.0, f64::max)
}

/// The time of a map in stretches.
#[derive(Clone, Copy)]
struct Bins {
    end: f64,
    count: usize,
}

impl Bins {
    fn of(self, at: f64) -> usize {
        ((at / self.end * self.count as f64) as usize).min(self.count - 1)
    }
}

/// The queues that are shown, those with most drops and the longest ones first.
fn chosen(detail: &Detail, bins: Bins) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut places = HashMap::new();
    let mut place = |name: &Arc<str>, rows: &mut Vec<Row>| -> usize {
        *places.entry(Arc::clone(name)).or_insert_with(|| {
            rows.push(Row::new(name, bins.count));
            rows.len() - 1
        })
    };
    for QueueSeries { name, points } in &detail.queues {
        let row = place(&name.as_str().into(), &mut rows);
        rows[row].sampled = true;
        for (at, bytes, threshold) in points.iter().filter(|point| point.0 <= bins.end) {
            rows[row].cells[bins.of(*at)].sample(*bytes, *threshold);
        }
    }
    for (number, drop) in detail.drops.iter().enumerate() {
        let row = place(&drop.queue, &mut rows);
        rows[row].cells[bins.of(drop.at_s)].drop(number, &detail.drops);
    }
    rows.iter_mut().for_each(Row::hold);
    rows.sort_by_cached_key(|row| std::cmp::Reverse(row.weight()));
    rows.truncate(MOST_QUEUES);
    rows
}

/// What was lost on failed links as a row of its own, by link.
fn lost(detail: &Detail, bins: Bins) -> Option<Row> {
    let switches = detail.network.nodes.iter().any(|node| !node.changes.is_empty());
    let name = if switches { "failed links and switches" } else { "failed links" };
    let mut row = Row::new(&name.into(), bins.count);
    for (number, loss) in detail.losses.iter().enumerate() {
        let cell = &mut row.cells[bins.of(loss.at_s)];
        cell.count(&loss.place);
        cell.all.push(number);
    }
    (!detail.losses.is_empty()).then_some(row)
}

/// Whose packets were lost: of each workload how many, and the flows with most.
fn losers(losses: &[usize], detail: &Detail) -> Value {
    let mut workloads: Vec<(&str, u64)> = Vec::new();
    let mut flows: HashMap<&str, (&LossPoint, u64)> = HashMap::new();
    for loss in losses.iter().map(|number| &detail.losses[*number]) {
        match workloads.iter_mut().find(|(name, _)| *name == &*loss.workload) {
            Some((_, count)) => *count += 1,
            None => workloads.push((&loss.workload, 1)),
        }
        flows.entry(&loss.flow).or_insert((loss, 0)).1 += 1;
    }
    let mut flows: Vec<(&LossPoint, u64)> = flows.into_values().collect();
    flows.sort_by(|(a, more), (b, less)| less.cmp(more).then_with(|| a.flow.cmp(&b.flow)));
    flows.truncate(MOST_LOSERS);
    workloads.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let of_workload = |(name, count): &(&str, u64)| {
        let own = flows.iter().filter(|(loss, _)| *name == &*loss.workload);
        json!([name, count, own.map(|(loss, count)| json!([&*loss.flow, count])).collect::<Value>()])
    };
    workloads.iter().map(of_workload).collect()
}

/// How long queue and threshold were at some of the drops of a stretch of time, from its first to its last.
fn lengths(drops: &[usize], detail: &Detail) -> Value {
    let last = drops.len().saturating_sub(1);
    let kept = drops.len().min(MOST_DROPS);
    let of = |place: usize| {
        let drop = &detail.drops[drops[place * last / (kept - 1).max(1)]];
        json!([us(drop.at_s), drop.queue_bytes, drop.threshold.filter(|value| value.is_finite()).map(rounded)])
    };
    (0..kept).map(of).collect()
}

/// A drop that is told of.
fn told(drop: &DropPoint) -> Value {
    let threshold = drop.threshold.filter(|value| value.is_finite()).map(rounded);
    let (flow, reason) = (&*drop.flow, &*drop.reason);
    let mut told = json!([us(drop.at_s), flow, drop.bytes, reason, drop.queue_bytes, threshold, drop.used_bytes]);
    if let (true, Value::Array(told)) = (drop.is_reply, &mut told) {
        // Few are, and pages with many drops are to stay small.
        told.push(true.into());
    }
    told
}

/// The map of queues over time, and who held the buffers in the stretches with drops.
fn map(detail: &Detail, bins: usize) -> Value {
    let bins = Bins { end: end_of(detail).max(1e-12), count: bins };
    let rows = chosen(detail, bins);
    let of_told = |cell: &Cell| cell.told.map(|number| &detail.drops[number]);
    let holders_of = |cell: &Cell| of_told(cell).and_then(|drop| drop.holders);
    let mut holders = Map::new();
    for number in rows.iter().flat_map(|row| &row.cells).filter_map(holders_of) {
        if let Some(held) = detail.holders.get(number) {
            let parts = || json!([us(held.at_s), held.parts.iter().map(part).collect::<Value>()]);
            holders.entry(number.to_string()).or_insert_with(parts);
        }
    }
    let row = |row: &Row, is_lost: bool| {
        let drops = row.cells.iter().enumerate().filter(|(_, cell)| !cell.drops.is_empty());
        let drop = |(bin, cell): (usize, &Cell)| {
            let reasons: Value = cell.drops.iter().map(|(reason, count)| json!([&**reason, count])).collect();
            let more = match (is_lost, row.sampled) {
                (true, _) => losers(&cell.all, detail),
                (false, true) => Value::Null,
                (false, false) => lengths(&cell.all, detail),
            };
            json!([bin, reasons, holders_of(cell), of_told(cell).map(told), more])
        };
        json!({
            "name": &*row.name,
            "sampled": row.sampled,
            "lost": is_lost,
            "longest": row.cells.iter().map(|cell| cell.longest).collect::<Vec<_>>(),
            "threshold": row.cells.iter().map(|cell| cell.threshold.map(rounded)).collect::<Vec<_>>(),
            "drops": drops.map(drop).collect::<Value>(),
        })
    };
    let lost = lost(detail, bins);
    json!({
        "end": us(end_of(detail)),
        "queues": rows.iter().map(|of| row(of, false)).chain(lost.iter().map(|of| row(of, true))).collect::<Value>(),
        "all": detail.queues.len().max(rows.len()),
        "holders": holders,
    })
}

fn part(holder: &Holder) -> Value {
    json!([holder.name, holder.class, holder.bytes])
}

fn hurt(flow: &HurtFlow, detail: &Detail) -> Value {
    let drop = flow.drop.and_then(|number| detail.drops.get(number));
    json!({
        "name": flow.name,
        "start": us(flow.start_s),
        "drop": drop.map(|drop| json!([&*drop.queue, told(drop)])),
        "fct": us(flow.fct_s),
        "ideal": us(flow.ideal_s),
        "parts": flow.parts.iter().map(|part| json!([part.name, us(part.seconds)])).collect::<Value>(),
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
        "hurt": detail.hurt.iter().map(|flow| hurt(flow, detail)).collect::<Value>(),
        "traced": detail.traced.iter().map(|flow| traced(flow, fineness.responses)).collect::<Value>(),
        "collectives": detail.collectives.iter()
            .map(|(workload, round, seconds)| json!([workload, round, seconds.map(us)]))
            .collect::<Value>(),
        "changes": detail.changes.iter().map(|(at, what)| json!([us(*at), what])).collect::<Value>(),
    })
}

/// The runs of a point that are shown from inside: those with the first of `singles`, the seeds that can be chosen, as
/// far as it has them; its first where none can be chosen.
pub(crate) fn inside<'a>(report: &Report, point: &'a Point, singles: &[u64]) -> Vec<&'a RunView> {
    match &singles[..singles.len().min(seeds_inside(report.points.len()))] {
        [] => point.seeds.first().into_iter().collect(),
        seeds => seeds.iter().filter_map(|seed| seeds::run_of(&point.seeds, *seed)).collect(),
    }
}

/// What the script draws of the first runs of each point, each with its seed.
pub(crate) fn of_report(report: &Report, singles: &[u64]) -> Value {
    let points: Vec<Vec<&RunView>> = report.points.iter().map(|point| inside(report, point, singles)).collect();
    let fineness = Fineness::of(points.iter().map(Vec::len).sum());
    let of_run = |run: &&RunView| {
        let mut drawn = of_detail(&run.detail, fineness);
        drawn["seed"] = json!(run.seed);
        drawn
    };
    points.iter().map(|runs| runs.iter().map(of_run).collect::<Value>()).collect()
}

/// The parts of flows' completion times, in the order in which they are drawn: their names, those in sentences, and what
/// they are.
pub(crate) fn parts(report: &Report) -> Value {
    let mut parts: Vec<&FlowPart> = Vec::new();
    for part in report.runs().flat_map(|run| &run.detail.hurt).flat_map(|flow| &flow.parts) {
        if !parts.iter().any(|known| known.name == part.name) {
            parts.push(part);
        }
    }
    parts.iter().map(|part| json!([part.name, part.long, part.meaning])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Held;

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
        assert_eq!([rounds(3, 4), rounds(5, 9), rounds(9, 9)], [vec![1, 2, 3, 4], vec![1, 2, 3], vec![1]]);
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
            queue: "b".into(),
            reason: "full".into(),
            flow: "flow 1".into(),
            is_reply: true,
            bytes: 3,
            queue_bytes: 7,
            threshold: Some(8.4),
            used_bytes,
            holders: Some(holders),
        };
        let held = |name: &str| Held { at_s: 0.25, parts: vec![Holder { name: name.to_owned(), class: 1, bytes: 5 }] };
        let detail = Detail {
            queues: vec![series("a", 900), series("b", 30)],
            drops: vec![drop(0.5, 100, 0), drop(0.5001, 200, 1)],
            holders: vec![held("flow 1"), held("flow 2")],
            ..Detail::default()
        };
        let map = map(&detail, 160);
        assert_eq!((&map["queues"][0]["name"], &map["queues"][1]["name"]), (&json!("b"), &json!("a")));
        let told = json!([500_100.0, "flow 1", 3, "full", 7, 8, 200, true]);
        assert_eq!(map["queues"][0]["drops"], json!([[80, [["full", 2]], 1, told, null]]));
        assert_eq!(map["holders"], json!({ "1": [250_000.0, [["flow 2", 1, 5]]] }), "others are not in the page");
        let threshold = |bin: usize| map["queues"][0]["threshold"][bin].clone();
        assert_eq!([threshold(79), threshold(80), threshold(81)], [10, 8, 8].map(|bytes| json!(bytes)));
        // Between two samples the queue is as long as at the first.
        let longest = |bin: usize| map["queues"][1]["longest"][bin].clone();
        assert_eq!([longest(0), longest(158), longest(159)], [900, 900, 450].map(|bytes| json!(bytes)));
    }

    #[test]
    fn lengths_between_the_drops_of_a_queue_that_was_not_sampled_are_unknown() {
        let drop = |at_s, queue_bytes| DropPoint { at_s, queue: "q".into(), queue_bytes, ..DropPoint::default() };
        let loss = |at_s, place: &str, flow: &str| LossPoint {
            at_s,
            place: place.into(),
            flow: flow.into(),
            workload: "web".into(),
        };
        let losses = vec![
            loss(0.25, "on a\u{2192}b", "flow 1"),
            loss(0.25, "on b\u{2192}a", "flow 2"),
            loss(0.25, "on b\u{2192}a", "flow 2"),
            loss(0.75, "on a\u{2192}b", "flow 1"),
        ];
        let detail = Detail { drops: vec![drop(0.5, 70), drop(1.0, 50)], losses, ..Detail::default() };
        let map = map(&detail, 4);
        assert_eq!(map["queues"][0]["drops"][0][4], json!([[500_000.0, 70, null]]));
        assert_eq!(map["queues"][0]["longest"], json!([null, null, 70, 50]));
        assert_eq!((&map["queues"][0]["sampled"], &map["queues"][0]["lost"]), (&json!(false), &json!(false)));
        // What links lost is a row of its own, behind the queues.
        let lost = &map["queues"][1];
        assert_eq!((&lost["name"], &lost["lost"]), (&json!("failed links"), &json!(true)));
        let by_link = json!([["on a\u{2192}b", 1], ["on b\u{2192}a", 2]]);
        assert_eq!(lost["drops"][0], json!([1, by_link, null, null, [["web", 3, [["flow 2", 2], ["flow 1", 1]]]]]));
        assert_eq!(lost["drops"][1], json!([3, [["on a\u{2192}b", 1]], null, null, [["web", 1, [["flow 1", 1]]]]]));
        // Of many drops of one cell some are drawn, the first and the last among them.
        let many = |count: usize| lengths(&vec![0; count], &detail).as_array().unwrap().len();
        assert_eq!([many(1), many(2), many(4), many(900)], [1, 2, 4, 4]);
    }
}
