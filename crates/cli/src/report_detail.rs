//! What a page shows of the inside of a run: queues over time, drops and who held the buffer, the flows that were hurt
//! most, traced flows, collectives.

use crate::report_scenario::{changes, network};
use crate::{Failure, report_reasons};
use forebay_report::{Detail, DropPoint, Holder, HurtFlow, QueueSeries, ResponsePoint, TracedFlow};
use forebay_results::{RunDirectory, Table};
use forebay_sim::measure::breakdown::Wait;
use forebay_sim::scenario::Scenario;
use std::collections::HashMap;
use std::sync::Arc;

/// Flows that are shown as hurt most.
const HURT: usize = 10;
/// Rows of samples, of drops and of responses that a page is made from; of more, evenly many.
const MOST_ROWS: usize = 400_000;

/// A table whose cells are asked for by name.
pub(crate) struct Rows(pub(crate) Table);

impl Rows {
    /// Of a run; without rows if the run has no such table, as older ones.
    fn of(run: &RunDirectory, name: &str) -> Result<Self, Failure> {
        let is_there = run.path.join(format!("{name}.parquet")).exists();
        Ok(Self(if is_there { run.table(name)? } else { Table::new() }))
    }

    fn count(&self) -> usize {
        self.0.rows()
    }

    fn number(&self, name: &str, row: usize) -> Option<f64> {
        self.0.column(name).and_then(|column| column.number(row))
    }

    fn int(&self, name: &str, row: usize) -> u64 {
        self.number(name, row).unwrap_or_default() as u64
    }

    fn text(&self, name: &str, row: usize) -> &str {
        self.0.column(name).and_then(|column| column.text(row)).unwrap_or_default()
    }

    fn seconds(&self, name: &str, row: usize) -> Option<f64> {
        self.number(name, row).map(|ps| ps / 1e12)
    }
}

/// What flows are called.
struct Flows(Rows);

impl Flows {
    fn name(&self, flow: usize) -> String {
        if flow >= self.0.count() {
            return format!("flow {flow}");
        }
        let (src, dst) = (self.0.text("src_host", flow), self.0.text("dst_host", flow));
        let size = match self.0.number("bytes", flow) {
            None => "infinite".to_owned(),
            Some(bytes) if bytes >= 1e6 => format!("{:.1} MB", bytes / 1e6),
            Some(bytes) if bytes >= 1e3 => format!("{:.1} KB", bytes / 1e3),
            Some(bytes) => format!("{bytes} B"),
        };
        format!("flow {flow} ({}, {src}\u{2192}{dst}, {size})", self.0.text("workload", flow))
    }
}

/// What queues are called: by their switch, port and peer, and by their number where ports have several.
struct QueueNames {
    peers: HashMap<(String, u64), String>,
    several: bool,
}

impl QueueNames {
    fn of(topology: &Rows, queues: &Rows) -> Self {
        let peer = |row| {
            ((topology.text("node", row).to_owned(), topology.int("port", row)), topology.text("peer", row).to_owned())
        };
        let peers = (0..topology.count()).map(peer).collect();
        Self { peers, several: (0..queues.count()).any(|row| queues.int("queue", row) > 0) }
    }

    fn name(&self, rows: &Rows, row: usize) -> String {
        let (switch, port) = (rows.text("switch", row).to_owned(), rows.int("port", row));
        let queue = if self.several { format!(" q{}", rows.int("queue", row)) } else { String::new() };
        let key = (switch, port);
        let peer = self.peers.get(&key).map(|peer| format!("\u{2192}{peer}")).unwrap_or_default();
        format!("{} p{port}{peer}{queue}", key.0)
    }

    /// A link that lost a packet; without one, there was no route.
    fn link(&self, rows: &Rows, row: usize) -> String {
        let (node, port) = (rows.text("node", row).to_owned(), rows.int("port", row));
        if node.is_empty() {
            return "without a route".to_owned();
        }
        let key = (node, port);
        match self.peers.get(&key) {
            Some(peer) => format!("on {}\u{2192}{peer}", key.0),
            None => format!("on {} p{port}", key.0),
        }
    }
}

/// Reads what there is.
pub(crate) fn detail(run: &RunDirectory) -> Result<Detail, Failure> {
    let topology = Rows::of(run, "topology")?;
    let path = run.path.join("scenario.toml");
    let scenario =
        run.scenario_text().ok().and_then(|text| Scenario::read(&path.display().to_string(), &text, &[]).ok());
    let names = QueueNames::of(&topology, &Rows::of(run, "queues")?);
    let flows = Flows(Rows(run.flows()?));
    let lost = Rows::of(run, "losses")?;
    Ok(Detail {
        network: network(&topology.0, scenario.as_ref()),
        changes: scenario.as_ref().map(changes).unwrap_or_default(),
        queues: queues(&Rows::of(run, "queue_timeline")?, &names),
        drops: drops(&Rows::of(run, "drops")?, &names, &flows),
        losses: losses(&lost, &names),
        holders: holders(&Rows::of(run, "holders")?, &flows),
        hurt: hurt(&flows, &Rows::of(run, "breakdown")?, &Rows::of(run, "hops")?, &lost),
        traced: traced(&Rows::of(run, "responses")?, &flows, scenario.as_ref()),
        collectives: collectives(&Rows::of(run, "collectives")?),
    })
}

/// Every so many-th row, so that no more than [`MOST_ROWS`] are taken.
fn thinned(rows: &Rows) -> impl Iterator<Item = usize> {
    (0..rows.count()).step_by(rows.count().div_ceil(MOST_ROWS).max(1))
}

fn queues(rows: &Rows, names: &QueueNames) -> Vec<QueueSeries> {
    let mut series: Vec<QueueSeries> = Vec::new();
    let mut places: HashMap<(String, u64, u64), usize> = HashMap::new();
    for row in 0..rows.count() {
        let key = (rows.text("switch", row).to_owned(), rows.int("port", row), rows.int("queue", row));
        let place = *places.entry(key).or_insert_with(|| {
            series.push(QueueSeries { name: names.name(rows, row), points: Vec::new() });
            series.len() - 1
        });
        let at = rows.seconds("at_ps", row).unwrap_or_default();
        series[place].points.push((at, rows.int("bytes", row), rows.number("threshold_bytes", row)));
    }
    series
}

/// Texts that many rows have, each kept once.
struct Once<K>(HashMap<K, Arc<str>>);

impl<K: std::hash::Hash + Eq> Once<K> {
    fn new() -> Self {
        Self(HashMap::new())
    }

    fn text(&mut self, key: K, make: impl FnOnce() -> String) -> Arc<str> {
        Arc::clone(self.0.entry(key).or_insert_with(|| make().into()))
    }
}

fn drops(rows: &Rows, names: &QueueNames, flows: &Flows) -> Vec<DropPoint> {
    let (mut queues, mut reasons, mut of_flows) = (Once::new(), Once::new(), Once::new());
    let mut drop = |row| {
        let queue = (rows.text("switch", row).to_owned(), rows.int("port", row), rows.int("queue", row));
        let (reason, flow) = (rows.text("reason", row), rows.int("flow", row));
        DropPoint {
            at_s: rows.seconds("at_ps", row).unwrap_or_default(),
            queue: queues.text(queue, || names.name(rows, row)),
            reason: reasons.text(reason.to_owned(), || report_reasons::in_words(reason).to_owned()),
            flow: of_flows.text(flow, || flows.name(flow as usize)),
            bytes: rows.int("bytes", row),
            queue_bytes: rows.int("queue_bytes", row),
            threshold: rows.number("threshold_bytes", row),
            used_bytes: rows.int("used_bytes", row),
            holders: rows.number("holders", row).map(|number| number as usize),
        }
    };
    (0..rows.count()).map(&mut drop).collect()
}

fn losses(rows: &Rows, names: &QueueNames) -> Vec<(f64, Arc<str>)> {
    let mut links = Once::new();
    let mut loss = |row| {
        let link = (rows.text("node", row).to_owned(), rows.int("port", row));
        (rows.seconds("at_ps", row).unwrap_or_default(), links.text(link, || names.link(rows, row)))
    };
    (0..rows.count()).map(&mut loss).collect()
}

fn holders(rows: &Rows, flows: &Flows) -> Vec<Vec<Holder>> {
    let mut lists: Vec<Vec<Holder>> = Vec::new();
    for row in 0..rows.count() {
        let (number, class) = (rows.int("holders", row) as usize, rows.int("class", row) as u8);
        let name = match rows.number("flow", row) {
            Some(flow) => flows.name(flow as usize),
            None => format!("other flows of class {class}"),
        };
        if lists.len() <= number {
            lists.resize(number + 1, Vec::new());
        }
        lists[number].push(Holder { name, class, bytes: rows.int("bytes", row) });
    }
    lists
}

/// What a part of a flow's time is called on the page.
fn part_name(column: &str) -> String {
    match column.trim_end_matches("_ps") {
        "sending" => "own packets before it".to_owned(),
        "host" => "host link busy with others".to_owned(),
        "window" => "waiting for ACKs (window)".to_owned(),
        "application" => "waiting for the application".to_owned(),
        "retransmission" => "fast retransmission".to_owned(),
        "reordering" => "reordering timer (RACK)".to_owned(),
        "probe" => "tail loss probe".to_owned(),
        "timeout" => "retransmission timeout".to_owned(),
        other => other.to_owned(),
    }
}

/// Packets of a flow that were lost outside the buffers.
fn lost_of(lost: &Rows, flow: u64) -> u64 {
    (0..lost.count()).filter(|row| lost.number("flow", *row) == Some(flow as f64)).count() as u64
}

/// What happened to a flow, and how often.
fn counted(counts: &[(u64, &str)]) -> String {
    let told =
        counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| match (count, what.strip_suffix('s')) {
            (1, Some(one)) if what.contains("timeout") || what.contains("probe") => format!("1 {one}"),
            _ => format!("{count} {what}"),
        });
    let told: Vec<String> = told.collect();
    if told.is_empty() { "no packet lost, no timeout".to_owned() } else { told.join(", ") }
}

/// The flows with the largest slowdown among those that count.
fn hurt(flows: &Flows, breakdown: &Rows, hops: &Rows, lost: &Rows) -> Vec<HurtFlow> {
    let rows = &flows.0;
    let measured = |row: &usize| rows.0.column("measured").and_then(|column| column.bool(*row)).unwrap_or(true);
    let slowdown = |row: usize| rows.number("slowdown", row);
    let mut worst: Vec<(usize, f64)> =
        (0..rows.count()).filter(measured).filter_map(|row| Some((row, slowdown(row)?))).collect();
    worst.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    worst.truncate(HURT);
    let row_of: HashMap<u64, usize> = (0..breakdown.count()).map(|row| (breakdown.int("flow", row), row)).collect();
    let columns: Vec<String> = Wait::ALL
        .iter()
        .map(|wait| format!("{}_ps", wait.name()))
        .chain(["queueing_ps", "serialization_ps", "propagation_ps"].map(str::to_owned))
        .collect();
    let flow = |(row, _): &(usize, f64)| {
        let parts = row_of.get(&(*row as u64)).map(|place| {
            let part = |column: &String| (part_name(column), breakdown.seconds(column, *place).unwrap_or_default());
            columns.iter().map(part).collect()
        });
        let own = (0..hops.count()).filter(|hop| hops.int("flow", *hop) == *row as u64);
        let by_hop =
            own.map(|hop| (hops.text("node", hop).to_owned(), hops.seconds("queueing_ps", hop).unwrap_or_default()));
        let count = |name: &str| rows.int(name, *row);
        HurtFlow {
            name: flows.name(*row),
            fct_s: rows.seconds("fct_ps", *row).unwrap_or_default(),
            ideal_s: rows.seconds("ideal_ps", *row).unwrap_or_default(),
            parts: parts.unwrap_or_default(),
            hops: by_hop.collect(),
            note: counted(&[
                (count("dropped_packets"), "dropped in switches"),
                (lost_of(lost, *row as u64), "lost on failed links"),
                (count("retransmitted_packets"), "retransmitted"),
                (count("timeouts"), "timeouts"),
                (count("loss_probes"), "tail loss probes"),
            ]),
        }
    };
    worst.iter().map(flow).collect()
}

fn traced(rows: &Rows, flows: &Flows, scenario: Option<&Scenario>) -> Vec<TracedFlow> {
    let mut traced: Vec<(u64, TracedFlow)> = Vec::new();
    for row in thinned(rows) {
        let flow = rows.int("flow", row);
        let place = traced.iter().position(|(known, _)| *known == flow).unwrap_or_else(|| {
            traced.push((flow, TracedFlow { name: flows.name(flow as usize), responses: Vec::new() }));
            traced.len() - 1
        });
        let transport = flows.0.text("transport", flow as usize);
        let mss = scenario.and_then(|scenario| scenario.transports.iter().find(|(name, _)| name == transport));
        let mss = mss.map_or(1_460, |(_, config)| u64::from(config.common.mss));
        traced[place].1.responses.push(ResponsePoint {
            at_s: rows.seconds("at_ps", row).unwrap_or_default(),
            rtt_s: rows.seconds("rtt_ps", row),
            window: rows.number("window_packets", row).map(|window| window as u64),
            acked_bytes: rows.number("acked_packets", row).map(|packets| packets as u64 * mss),
            retransmitted: rows.int("retransmitted_packets", row),
        });
    }
    traced.sort_by_key(|(flow, _)| *flow);
    traced.into_iter().map(|(_, flow)| flow).collect()
}

fn collectives(rows: &Rows) -> Vec<(String, u32, Option<f64>)> {
    let round = |row| {
        (rows.text("workload", row).to_owned(), rows.int("round", row) as u32, rows.seconds("completion_ps", row))
    };
    (0..rows.count()).map(round).collect()
}
