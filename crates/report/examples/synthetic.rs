//! A page of made-up runs, to look at: `cargo run -p forebay-report --example synthetic -- FILE [RUNS [FLOWS
//! [SEEDS]]]`.

use forebay_report::{
    Amount, Detail, DropPoint, FlowPart, FlowPoint, Held, Holder, HurtFlow, LinkView, NamedTable, NetworkView,
    NodeView, Point, QueryPoint, QueueSeries, Report, ResponsePoint, RunView, TimelinePoint, TimelineSeries,
    TracedFlow, page,
};

/// A policy as the made-up runs know it.
struct Policy {
    name: &'static str,
    /// How much worse than the best it treats bursts.
    harm: f64,
    /// Of dynamic thresholds.
    alpha: f64,
}

const POLICIES: [Policy; 10] = [
    Policy { name: "dt alpha=1", harm: 2.6, alpha: 1.0 },
    Policy { name: "fb", harm: 1.9, alpha: 0.8 },
    Policy { name: "abm alpha=0.5", harm: 1.5, alpha: 0.5 },
    Policy { name: "occamy alpha=8", harm: 1.15, alpha: 8.0 },
    Policy { name: "pushout", harm: 1.0, alpha: 16.0 },
    Policy { name: "dt alpha=0.5", harm: 3.0, alpha: 0.5 },
    Policy { name: "dt alpha=2", harm: 2.2, alpha: 2.0 },
    Policy { name: "static", harm: 3.8, alpha: 0.25 },
    Policy { name: "complete sharing", harm: 2.9, alpha: 32.0 },
    Policy { name: "ib", harm: 1.4, alpha: 1.5 },
];

/// Sizes of web searches' flows, roughly: share of flows and bytes.
const WEB_SEARCH: [(f64, f64); 10] = [
    (0.0, 1e3),
    (0.15, 1e4),
    (0.3, 2e4),
    (0.5, 5e4),
    (0.6, 2e5),
    (0.7, 6e5),
    (0.8, 1.3e6),
    (0.9, 4e6),
    (0.97, 1e7),
    (1.0, 3e7),
];

const BUFFER: u64 = 4_000_000;

/// splitmix64, so that the page is the same each time.
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn exponential(&mut self) -> f64 {
        -(1.0 - self.unit()).ln()
    }

    /// About normal: mean 0, deviation 1.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }

    fn web_search_bytes(&mut self) -> u64 {
        let u = self.unit();
        let after = WEB_SEARCH.iter().position(|(share, _)| *share >= u).unwrap_or(1).max(1);
        let ((s0, b0), (s1, b1)) = (WEB_SEARCH[after - 1], WEB_SEARCH[after]);
        (b0.ln() + (u - s0) / (s1 - s0) * (b1.ln() - b0.ln())).exp() as u64
    }
}

fn flows(random: &mut Random, count: usize, harm: f64) -> Vec<FlowPoint> {
    let mut flow = |index: usize| {
        let incast = index % 5 == 0;
        let bytes = if incast { 40_000 } else { random.web_search_bytes() };
        let ideal_s = 12e-6 + bytes as f64 * 8.0 / 25e9;
        let mut slowdown =
            1.0 + 0.4 * random.exponential() + 0.5 * (0.6 * random.normal()).exp() * if incast { harm } else { 1.0 };
        // A few lose packets and wait for a timeout.
        if random.unit() < 0.012 * harm * if incast { 3.0 } else { 1.0 } {
            slowdown += (1.0 + random.exponential()) * 2e-3 / ideal_s;
        }
        let slowdown = (random.unit() > 0.0005 * harm).then_some(slowdown);
        let fct_s = slowdown.map(|slowdown| slowdown * ideal_s);
        FlowPoint { bytes, fct_s, ideal_s, slowdown, workload: u16::from(incast), class: 0 }
    };
    (0..count).map(&mut flow).collect()
}

fn queries(random: &mut Random, count: usize, harm: f64) -> Vec<QueryPoint> {
    let mut query = |_| {
        let ideal = 0.65e-3;
        let drops = if random.unit() < 0.12 * harm { 1 + (random.exponential() * 20.0) as u32 } else { 0 };
        let late = if drops > 0 { 5e-3 * f64::from(1 + drops / 25) + 0.3e-3 * random.exponential() } else { 0.0 };
        let qct = ideal * (1.05 + 0.25 * harm * random.exponential()) + late;
        let done = random.unit() > 0.002 * harm;
        QueryPoint { qct_s: done.then_some(qct), slowdown: done.then_some(qct / ideal), drops, workload: 1 }
    };
    (0..count).map(&mut query).collect()
}

/// Two leaves with four hosts each under two spines, one of which fails.
fn network() -> NetworkView {
    let changes = |fails| if fails { vec![(0.012, false), (0.0122, true), (0.0199, false)] } else { Vec::new() };
    let node = |name: String, level, fails| NodeView { name, level, is_host: level == 0, changes: changes(fails) };
    let mut nodes: Vec<NodeView> = (0..8).map(|host| node(format!("host{host}"), 0, false)).collect();
    nodes.extend((0..2).map(|leaf| node(format!("leaf{leaf}"), 1, false)));
    nodes.extend((0..2).map(|spine| node(format!("spine{spine}"), 2, spine == 1)));
    let link = |a, b, rate_bps| LinkView { a, b, rate_bps, changes: changes(b == 11) };
    let mut links: Vec<LinkView> = (0..8).map(|host| link(host, 8 + host / 4, 25e9)).collect();
    links.extend([(8, 10), (8, 11), (9, 10), (9, 11)].map(|(a, b)| link(a, b, 100e9)));
    NetworkView { summary: "Nodes: 8 hosts, 2 leaves, 2 spines".to_owned(), nodes, links }
}

/// What happened inside: queues that bursts fill, drops when they are long, flows that waited.
fn detail(random: &mut Random, policy: &Policy) -> Detail {
    const END: f64 = 0.02;
    // The names of two would cover each other, and the last one would end beyond the plot.
    let changes = [(0.012, "spine1 fails"), (0.0122, "spine1 is back"), (0.0199, "spine1 fails")];
    let changes = changes.map(|(at, what)| (at, what.to_owned()));
    let mut detail = Detail { network: network(), changes: changes.into(), ..Detail::default() };
    for port in 0..6 {
        let name = format!("leaf0 p{port}\u{2192}host{port}");
        let (mut bytes, mut points) = (0.0f64, Vec::new());
        for sample in 0..400 {
            let at_s = END * f64::from(sample) / 400.0;
            bytes =
                (bytes + 4e5 * random.unit() * if random.unit() < 0.05 { 4.0 } else { 0.2 } - 6e4).clamp(0.0, 1.4e6);
            if bytes > 1.1e6 {
                let parts = (0..4).map(|flow| Holder {
                    name: format!("flow {flow} (incast, host{flow}\u{2192}host{port}, 40.0 KB)"),
                    class: flow % 2,
                    bytes: 100_000 * u64::from(1 + flow),
                });
                detail.holders.push(Held { at_s: at_s - 1e-5, parts: parts.collect() });
                detail.drops.push(DropPoint {
                    at_s,
                    queue: name.as_str().into(),
                    reason: if random.unit() < 0.8 { "above the threshold" } else { "buffer full" }.into(),
                    flow: format!("flow 9 (incast, host{port}\u{2192}host{port}, 40.0 KB)").into(),
                    is_reply: false,
                    bytes: 1_500,
                    queue_bytes: bytes as u64,
                    threshold: Some((policy.alpha * (4e6 - bytes)).min(bytes)),
                    used_bytes: 2 * bytes as u64,
                    holders: Some(detail.holders.len() - 1),
                });
            }
            points.push((at_s, bytes as u64, Some(policy.alpha * (4e6 - bytes).max(0.0))));
        }
        detail.queues.push(QueueSeries { name, points });
    }
    detail.hurt = (0..10)
        .map(|number| {
            let parts = ["waiting for ACKs (window)", "timeout", "queueing", "serialization", "propagation"];
            let part = |name| FlowPart {
                name,
                long: name,
                meaning: "A part of the completion time.",
                seconds: 4e-4 * random.unit() * policy.harm,
            };
            let parts = parts.map(part).to_vec();
            HurtFlow {
                name: format!("flow {number} (incast, host{number}\u{2192}host7, 40.0 KB)"),
                start_s: 1e-3 * f64::from(number),
                fct_s: parts.iter().map(|part| part.seconds).sum(),
                ideal_s: 2.5e-5,
                hops: vec![("host1".to_owned(), 0.0), ("leaf0".to_owned(), parts[2].seconds)],
                parts,
                drop: (number == 0 && !detail.drops.is_empty()).then_some(0),
                note: "3 dropped, 3 sent again, 1 timeouts".to_owned(),
            }
        })
        .collect();
    let response = |number: u32| ResponsePoint {
        at_s: 1e-5 * f64::from(number),
        rtt_s: Some(2e-5 + 1e-6 * f64::from(number % 40)),
        window: Some(u64::from(10 + number % 60)),
        acked_bytes: Some(1_460 * u64::from(number)),
        retransmitted: u64::from(number / 100),
    };
    detail.traced =
        vec![TracedFlow { name: "flow 7 (web search)".to_owned(), responses: (0..900).map(response).collect() }];
    detail.collectives = (0..6)
        .map(|round| ("ring".to_owned(), round, (round != 4).then_some(1e-3 * (1.0 + random.unit()) * policy.harm)))
        .collect();
    detail
}

/// A buffer that bursts fill under a dynamic threshold and a link drains.
fn timeline(random: &mut Random, name: &str, policy: &Policy, samples: usize) -> TimelineSeries {
    let (mut longest, mut others, mut drops, mut burst) = (0.0f64, 0.0f64, 0u64, 0.0f64);
    let mut points: Vec<TimelinePoint> = Vec::with_capacity(samples);
    for sample in 0..samples {
        if random.unit() < 0.004 {
            burst += 1.4e6 * (0.6 + random.unit());
        }
        let threshold = policy.alpha * (BUFFER as f64 - longest - others).max(0.0);
        let arriving = burst.min(90_000.0) + 30_000.0 * random.exponential();
        burst -= burst.min(90_000.0);
        let room = threshold.min(BUFFER as f64 - others).max(longest) - longest;
        if arriving > room {
            drops += ((arriving - room) / 1500.0).ceil() as u64;
        }
        longest = (longest + arriving.min(room) - 38_000.0).max(0.0);
        others =
            (others + 60_000.0 * random.exponential() - 62_000.0 - others * 0.004).clamp(0.0, BUFFER as f64 - longest);
        points.push((sample as f64 * 10e-6, (longest + others) as u64, longest as u64, Some(threshold), drops));
    }
    TimelineSeries { name: name.into(), size: BUFFER, points }
}

fn run(index: usize, seed: u64, count: usize) -> RunView {
    let policy = &POLICIES[index % POLICIES.len()];
    let mut random = Random(index as u64 + 1_000 * (seed - 1) + 1);
    let text =
        |pairs: &[(&str, String)]| pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let dropped = (9_000.0 * (policy.harm - 0.9)) as u64 + 40 * (seed - 1);
    RunView {
        detail: detail(&mut Random(index as u64 + 77 * seed), policy),
        seed,
        facts: text(&[
            ("scenario", "leaf-spine-incast".into()),
            ("policy", policy.name.into()),
            ("seed", seed.to_string()),
            ("alpha", format!("{}", policy.alpha)),
            ("version", "0.1.0".into()),
            ("duration", "100ms".into()),
            ("hosts", "128".into()),
            ("links", "25Gbps to hosts, 100Gbps between switches".into()),
            ("transport", "dctcp".into()),
            ("load", "40% web search, incast of 32 responses".into()),
            ("buffer", "4MB".into()),
        ]),
        flows: flows(&mut random, count, policy.harm),
        workloads: vec!["web search".into(), "incast".into()],
        queries: queries(&mut random, count / 40, policy.harm),
        timeline: ["leaf 0", "leaf 1", "spine 0"]
            .iter()
            .map(|name| timeline(&mut random, name, policy, 10_000))
            .collect(),
        drops: vec![
            ("above the threshold".into(), dropped * 4 / 5),
            ("buffer full".into(), dropped / 6),
            ("expelled".into(), if policy.alpha > 4.0 { 5_200 } else { 0 }),
            ("link failed".into(), 140),
        ],
        tables: vec![NamedTable {
            title: "Busiest ports".into(),
            header: ["switch", "port", "utilization", "p99 queue", "drops"].map(Into::into).to_vec(),
            rows: (0..4)
                .map(|port| {
                    let use_of = 0.9 - 0.1 * f64::from(port) * random.unit();
                    vec![
                        format!("leaf {}", port / 2),
                        port.to_string(),
                        format!("{use_of:.3}"),
                        format!("{}KB", 800 - 37 * port),
                        (dropped / 9).to_string(),
                    ]
                })
                .collect(),
        }],
        occupancy: [("leaf", 0.11), ("spine", 0.05), ("core", 0.02)]
            .map(|(tier, median)| {
                (
                    tier.to_owned(),
                    median * policy.harm / 2.0,
                    0.25 + median * 2.0 + policy.alpha / 60.0,
                    (0.62 + median + policy.alpha / 60.0).min(1.0),
                )
            })
            .to_vec(),
        cost: vec![
            ("events".into(), Amount::Count(41e6 + index as f64 * 310e3)),
            ("packet hops".into(), Amount::Count(22e6 + index as f64 * 170e3)),
            ("CPU seconds".into(), Amount::Seconds(6.1 + 0.3 * policy.harm)),
            ("peak memory".into(), Amount::Bytes(48e6)),
        ],
    }
}

/// A report of made-up policies, with so many seeds each and so many flows in a run.
pub(crate) fn seeded(points: usize, flows: usize, seeds: u64) -> Report {
    let point = |index: usize| Point {
        label: POLICIES[index % POLICIES.len()].name.into(),
        seeds: (1..=seeds).map(|seed| run(index, seed, flows)).collect(),
    };
    Report {
        title: if points == 1 {
            "leaf-spine-incast: dt alpha=1".into()
        } else {
            format!("leaf-spine-incast: {points} policies")
        },
        subtitle:
            "Made-up data that looks like web search traffic at 40% load with incast queries on 8 leaves and 4 spines."
                .into(),
        points: (0..points).map(point).collect(),
        ..Report::default()
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(file) = arguments.first() else {
        eprintln!("usage: synthetic FILE [RUNS [FLOWS [SEEDS]]]");
        std::process::exit(2);
    };
    let number = |index: usize, usual: usize| arguments.get(index).and_then(|text| text.parse().ok()).unwrap_or(usual);
    let html = page(&seeded(number(1, 5), number(2, 20_000), number(3, 1) as u64));
    if let Err(error) = std::fs::write(file, &html) {
        eprintln!("{file}: {error}");
        std::process::exit(1);
    }
    println!("{file}: {} bytes", html.len());
}
