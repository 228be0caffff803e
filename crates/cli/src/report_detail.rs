//! What a page shows of the inside of a run: queues over time, drops and who held the buffer, the flows that were hurt
//! most, traced flows, collectives.

use crate::report_scenario::{changes, network};
use crate::{Failure, report_reasons};
use forebay_report::{
    Detail, DropPoint, FlowPart, Held, Holder, HurtFlow, LossPoint, QueueSeries, ResponsePoint, TracedFlow,
};
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
    /// The hosts that send and receive.
    fn ends(&self, flow: usize) -> [&str; 2] {
        ["src_host", "dst_host"].map(|name| if flow < self.0.count() { self.0.text(name, flow) } else { "" })
    }

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

/// How far nodes are from each other, in cables.
struct Distances {
    numbers: HashMap<String, usize>,
    peers: Vec<Vec<usize>>,
    /// By the host that they are from.
    found: HashMap<usize, Vec<u32>>,
}

impl Distances {
    fn of(topology: &Rows) -> Self {
        let mut numbers = HashMap::new();
        for row in 0..topology.count() {
            let next = numbers.len();
            numbers.entry(topology.text("node", row).to_owned()).or_insert(next);
        }
        let mut peers = vec![Vec::new(); numbers.len()];
        for row in 0..topology.count() {
            if let Some(peer) = numbers.get(topology.text("peer", row)) {
                peers[numbers[topology.text("node", row)]].push(*peer);
            }
        }
        Self { numbers, peers, found: HashMap::new() }
    }

    /// How far two nodes are from a third.
    fn to(&mut self, target: &str, nodes: [&str; 2]) -> Option<[u32; 2]> {
        let place = |name: &str| self.numbers.get(name).copied();
        let (target, nodes) = (place(target)?, [place(nodes[0])?, place(nodes[1])?]);
        let peers = &self.peers;
        let far = self.found.entry(target).or_insert_with(|| {
            let mut far = vec![u32::MAX; peers.len()];
            far[target] = 0;
            let mut reached = vec![target];
            let mut next = 0;
            while let Some(&node) = reached.get(next) {
                for &peer in &peers[node] {
                    if far[peer] == u32::MAX {
                        far[peer] = far[node] + 1;
                        reached.push(peer);
                    }
                }
                next += 1;
            }
            far
        });
        Some(nodes.map(|node| far[node]))
    }

    /// Whether a packet from a node to the next goes back to a flow's sender: nearer to it, and farther from its receiver.
    fn is_back(&mut self, [node, next]: [&str; 2], [src, dst]: [&str; 2]) -> Option<bool> {
        let [from, to] = self.to(src, [node, next])?;
        let [before, after] = self.to(dst, [node, next])?;
        Some(to < from && after > before)
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
    let dropped = Rows::of(run, "drops")?;
    Ok(Detail {
        network: network(&topology.0, scenario.as_ref()),
        changes: scenario.as_ref().map(changes).unwrap_or_default(),
        queues: queues(&Rows::of(run, "queue_timeline")?, &names),
        drops: drops(&dropped, &names, &flows, &mut Distances::of(&topology)),
        losses: losses(&lost, &names, &flows),
        holders: holders(&Rows::of(run, "holders")?, &flows),
        hurt: hurt(&flows, &Rows::of(run, "breakdown")?, &Rows::of(run, "hops")?, &lost, &dropped),
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

fn drops(rows: &Rows, names: &QueueNames, flows: &Flows, distances: &mut Distances) -> Vec<DropPoint> {
    let (mut queues, mut reasons, mut of_flows) = (Once::new(), Once::new(), Once::new());
    let mut replies = HashMap::new();
    let mut drop = |row| {
        let queue = (rows.text("switch", row).to_owned(), rows.int("port", row), rows.int("queue", row));
        let (reason, flow) = (rows.text("reason", row), rows.int("flow", row));
        let is_reply = *replies.entry((queue.0.clone(), queue.1, flow)).or_insert_with(|| {
            let next = names.peers.get(&(queue.0.clone(), queue.1));
            next.is_some_and(|next| distances.is_back([&queue.0, next], flows.ends(flow as usize)).unwrap_or(false))
        });
        DropPoint {
            at_s: rows.seconds("at_ps", row).unwrap_or_default(),
            queue: queues.text(queue, || names.name(rows, row)),
            reason: reasons.text(reason.to_owned(), || report_reasons::in_words(reason, true).to_owned()),
            flow: of_flows.text(flow, || flows.name(flow as usize)),
            is_reply,
            bytes: rows.int("bytes", row),
            queue_bytes: rows.int("queue_bytes", row),
            threshold: rows.number("threshold_bytes", row),
            used_bytes: rows.int("used_bytes", row),
            holders: rows.number("holders", row).map(|number| number as usize),
        }
    };
    (0..rows.count()).map(&mut drop).collect()
}

fn losses(rows: &Rows, names: &QueueNames, flows: &Flows) -> Vec<LossPoint> {
    let (mut links, mut of_flows, mut workloads) = (Once::new(), Once::new(), Once::new());
    let mut loss = |row| {
        let link = (rows.text("node", row).to_owned(), rows.int("port", row));
        let flow = rows.number("flow", row).map(|flow| flow as usize);
        let workload = flow.filter(|flow| *flow < flows.0.count()).map(|flow| flows.0.text("workload", flow));
        LossPoint {
            at_s: rows.seconds("at_ps", row).unwrap_or_default(),
            place: links.text(link, || names.link(rows, row)),
            flow: of_flows.text(flow, || flow.map_or("packets of no flow".to_owned(), |flow| flows.name(flow))),
            workload: workloads.text(workload, || workload.unwrap_or("no workload").to_owned()),
        }
    };
    (0..rows.count()).map(&mut loss).collect()
}

fn holders(rows: &Rows, flows: &Flows) -> Vec<Held> {
    let mut lists: Vec<Held> = Vec::new();
    for row in 0..rows.count() {
        let (number, class) = (rows.int("holders", row) as usize, rows.int("class", row) as u8);
        let name = match rows.number("flow", row) {
            Some(flow) => flows.name(flow as usize),
            None => format!("other flows of class {class}"),
        };
        if lists.len() <= number {
            lists.resize(number + 1, Held::default());
        }
        lists[number].at_s = rows.seconds("at_ps", row).unwrap_or_default();
        lists[number].parts.push(Holder { name, class, bytes: rows.int("bytes", row) });
    }
    lists
}

/// A part of a flow's time: its name in the legend, that in a sentence, and what it is.
fn part(wait: Wait, seconds: f64) -> FlowPart {
    let (name, long, meaning) = match wait {
        Wait::Sending => (
            "own packets before it",
            "waiting for its own packets to leave the host",
            "The host's link was busy with earlier packets of the flow.",
        ),
        Wait::Host => (
            "host link busy with others",
            "waiting for the host's link, busy with other flows",
            "The host's link was busy with packets of other flows.",
        ),
        Wait::Window => (
            "ACKs (window)",
            "waiting for ACKs (window)",
            "The sender waited for ACKs: its window was full, or it had no credit, or the connection was being made.",
        ),
        Wait::Pacing => ("pacing", "waiting because of pacing", "The sender spread its packets over time."),
        Wait::Application => {
            ("application", "waiting for the application", "The sender waited for the application to write more.")
        }
        Wait::Retransmission => (
            "fast retransmission",
            "waiting for the ACKs that told of a loss",
            "The wait ended with a retransmission because of an ACK.",
        ),
        Wait::Reordering => (
            "reordering timer",
            "waiting for RACK's reordering timer",
            "The wait ended with a retransmission when RACK's timer, which tells lost packets from reordered ones, ran out.",
        ),
        Wait::Probe => (
            "probe timer",
            "waiting for the timer of a tail loss probe",
            "When no ACK comes, Linux repeats the last packet as a probe: after two round trips, and with only one packet \
             outstanding after the shortest retransmission timeout more.",
        ),
        Wait::Timeout => (
            "retransmission timeout",
            "waiting for a retransmission timeout",
            "The wait ended with a retransmission timeout.",
        ),
    };
    FlowPart { name, long, meaning, seconds }
}

/// What the packet that completed a flow met in the network: the column, and as in [`part`].
const IN_THE_NETWORK: [(&str, FlowPart); 3] = [
    (
        "queueing_ps",
        FlowPart {
            name: "queueing",
            long: "queueing of its last packet",
            meaning: "The packet that completed the flow, in the queues of its host and of switches.",
            seconds: 0.0,
        },
    ),
    (
        "serialization_ps",
        FlowPart {
            name: "serialization",
            long: "serialization of its last packet",
            meaning: "The packet that completed the flow, being put on links.",
            seconds: 0.0,
        },
    ),
    (
        "propagation_ps",
        FlowPart {
            name: "propagation",
            long: "propagation of its last packet",
            meaning: "The packet that completed the flow, on its way along links.",
            seconds: 0.0,
        },
    ),
];

/// Packets of a flow that were lost outside the buffers.
fn lost_of(lost: &Rows, flow: u64) -> u64 {
    (0..lost.count()).filter(|row| lost.number("flow", *row) == Some(flow as f64)).count() as u64
}

/// What happened to the packets of a flow, and how often: with one, and with several.
fn counted(counts: &[(u64, &str, &str)]) -> String {
    let told = counts.iter().filter(|(count, ..)| *count > 0);
    let told: Vec<String> =
        told.map(|(count, one, several)| format!("{count} {}", if *count == 1 { one } else { several })).collect();
    if told.is_empty() { "no packet lost, no timeout".to_owned() } else { told.join("; ") }
}

/// The flows with the largest slowdown among those that count.
fn hurt(flows: &Flows, breakdown: &Rows, hops: &Rows, lost: &Rows, dropped: &Rows) -> Vec<HurtFlow> {
    let rows = &flows.0;
    let measured = |row: &usize| rows.0.column("measured").and_then(|column| column.bool(*row)).unwrap_or(true);
    let slowdown = |row: usize| rows.number("slowdown", row);
    let mut worst: Vec<(usize, f64)> =
        (0..rows.count()).filter(measured).filter_map(|row| Some((row, slowdown(row)?))).collect();
    worst.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    worst.truncate(HURT);
    let row_of: HashMap<u64, usize> = (0..breakdown.count()).map(|row| (breakdown.int("flow", row), row)).collect();
    // The first drop of each flow.
    let mut drop_of: HashMap<u64, usize> = HashMap::new();
    for row in 0..dropped.count() {
        drop_of.entry(dropped.int("flow", row)).or_insert(row);
    }
    let flow = |(row, _): &(usize, f64)| {
        let parts = row_of.get(&(*row as u64)).map(|place| {
            let seconds = |column: &str| breakdown.seconds(column, *place).unwrap_or_default();
            let waits = Wait::ALL.iter().map(|wait| part(*wait, seconds(&format!("{}_ps", wait.name()))));
            let network = IN_THE_NETWORK.map(|(column, part)| FlowPart { seconds: seconds(column), ..part });
            waits.chain(network).collect()
        });
        let own = (0..hops.count()).filter(|hop| hops.int("flow", *hop) == *row as u64);
        let by_hop =
            own.map(|hop| (hops.text("node", hop).to_owned(), hops.seconds("queueing_ps", hop).unwrap_or_default()));
        let count = |name: &str| rows.int(name, *row);
        HurtFlow {
            name: flows.name(*row),
            start_s: rows.seconds("start_ps", *row).unwrap_or_default(),
            fct_s: rows.seconds("fct_ps", *row).unwrap_or_default(),
            ideal_s: rows.seconds("ideal_ps", *row).unwrap_or_default(),
            parts: parts.unwrap_or_default(),
            hops: by_hop.collect(),
            drop: drop_of.get(&(*row as u64)).copied(),
            note: counted(&[
                (count("dropped_packets"), "packet or ACK was dropped", "packets or ACKs were dropped"),
                (
                    lost_of(lost, *row as u64),
                    "packet or ACK was lost on a failed link",
                    "packets or ACKs were lost on failed links",
                ),
                (count("retransmitted_packets"), "packet was sent again", "packets were sent again"),
                (count("timeouts"), "retransmission timeout", "retransmission timeouts"),
                (
                    count("loss_probes"),
                    "tail loss probe (a packet sent again, or a new one)",
                    "tail loss probes (packets sent again, or new ones)",
                ),
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
