//! AIFO and SP-PIFO on a pipeline (section 4.4).

use super::measure_hardware;
use crate::{Figure, Measured, Panel, Table, Unit, Work};

const LATENCY: &str = "chip.latency";
const PORTS: &str = "topology.hosts";
const WORKERS: &str = "chip.options.workers";

/// The figures of this file.
pub(super) fn figures() -> Vec<Figure> {
    vec![aifo(), sp_pifo()]
}

fn over(title: &'static str, metric: &'static str, label: &str, unit: Unit) -> Panel {
    Panel::lines("", title)
        .x(LATENCY, "a control packet's way around", Unit::Microseconds)
        .log_x()
        .y(metric, label, unit)
}

fn aifo() -> Figure {
    let over = |title, metric, label: &str, unit| {
        over(title, metric, label, unit).only(WORKERS, "1").series_by(PORTS, "ports: ")
    };
    let ranks = |title, latency| {
        Panel::curves("", title)
            .x("", "rank", Unit::None)
            .y("", "sent", Unit::Packets)
            .variants(&["20 packets"])
            .only(PORTS, "5")
            .only(WORKERS, "1")
            .only(LATENCY, latency)
            .curve("ranks", "on the chip")
            .curve("ideal.ranks", "the algorithm")
            .curve("window100.ranks", "the algorithm, 100 ranks")
    };
    Figure {
        id: "hardware",
        number: "AIFO on a pipeline",
        title: "AIFO on a pipeline against AIFO and PIFO",
        setting: "Not in the paper, which estimates that 200 ns of recirculation are a bias of 2 packets at 10 million packets a second. Packets of 16 ranks at random, 1.6 times what a port of 40 Gb/s can carry in \
                  packets of 500 bytes, which is that rate. The chip's window has 16 ranks, and one worker packet goes over all ports. \
                  Gaps are shares of packets that only one of two schedulers sends (equation 1).",
        text: include_str!("../../../../../scenarios/aifo/hardware.toml"),
        files: &[],
        work: Work::Simulate(measure_hardware::aifo),
        panels: vec![
            over("How far the known length is off, on average", "bias.mean", "packets", Unit::Packets).log_y(),
            over("Arrivals that only one of chip and algorithm admits", "differ", "arrivals", Unit::Share),
            over("Gap to the algorithm, by rank", "gap.by_rank", "gap", Unit::Share),
            over("Gap to PIFO, by rank", "gap_to_pifo.by_rank", "gap", Unit::Share),
            over("The longest queue", "queue.most", "queue", Unit::Packets).log_y(),
            ranks("What is sent by rank, 200 ns around, 5 ports", "200ns"),
            ranks("What is sent by rank, 20 us around, 5 ports", "20us"),
        ],
        claims: aifo_claims,
    }
}

fn sp_pifo() -> Figure {
    Figure {
        id: "hardware-sp-pifo",
        number: "SP-PIFO on a pipeline",
        title: "SP-PIFO on a pipeline against SP-PIFO and PIFO",
        setting: "Not in the paper. The packets of AIFO on a pipeline; eight queues of 10 packets. On the pipeline the bounds of other queues fall when a control packet has come around. \
                  A packet passes over those that wait with a smaller rank when it is sent; of PIFO there are none.",
        text: include_str!("../../../../../scenarios/aifo/hardware-sp-pifo.toml"),
        files: &[],
        work: Work::Simulate(measure_hardware::sp_pifo),
        panels: vec![
            over("Gap to the algorithm, by packets", "gap", "gap", Unit::Share),
            over("Gap to PIFO, by rank", "gap_to_pifo.by_rank", "gap", Unit::Share),
            over("Packets of smaller ranks that a packet passes over", "passed_over", "packets", Unit::Packets),
            over("The same, the algorithm", "ideal.passed_over", "packets", Unit::Packets),
        ],
        claims: sp_pifo_claims,
    }
}

fn sp_pifo_claims(t: &Table) -> Vec<Measured> {
    let of = |latency: f64, name: &str| t.all().and(LATENCY, latency).get(name);
    let passed = |latency: f64| {
        Measured::stat(
            "ns-around-packets-smaller-ranks-packet",
            &of(latency, "passed_over").ratio(&of(latency, "ideal.passed_over")),
        )
        .at([(latency * 1e3).to_string()])
    };
    let mut claims: Vec<Measured> = [0.001, 0.2, 1.0, 5.0].into_iter().map(passed).collect();
    let gaps = t.values(LATENCY).into_iter().map(|latency| {
        let gap = of(latency, "gap.by_rank");
        (format!("{} ns ({})", latency * 1e3, Unit::Share.text(gap.mean())), gap.at_most(0.05))
    });
    claims.push(Measured::points("rank-chip-sends-algorithm-sends-but", gaps.collect()));
    claims
}

fn aifo_claims(t: &Table) -> Vec<Measured> {
    let of = |variant: &str, latency: f64, ports: f64, name: &str| {
        t.at(variant).and(LATENCY, latency).and(PORTS, ports).and(WORKERS, 1.0).get(name)
    };
    let bias = |ports: f64| {
        Measured::stat("200-ns-around-one-worker-packet", &of("20 packets", 0.2, ports, "bias.mean"))
            .at([ports.to_string()])
    };
    let mut claims: Vec<Measured> = t.values(PORTS).into_iter().map(bias).collect();
    for ports in t.values(PORTS) {
        let gaps = t.variants().into_iter().map(|variant| {
            let gap = of(variant, 0.2, ports, "gap.by_rank");
            (format!("queues of {variant} ({})", Unit::Share.text(gap.mean())), gap.at_most(0.05))
        });
        claims.push(Measured::points("200-ns-around-ports-rank-chip", gaps.collect()).at([ports.to_string()]));
    }
    let busy = t.values(PORTS).into_iter().map(|ports| {
        let sent = of("20 packets", 0.2, ports, "sent").ratio(&of("20 packets", 0.2, ports, "ideal.sent"));
        (format!("{ports} ports ({})", Unit::Share.text(sent.mean())), sent.at_least(0.95))
    });
    claims.push(Measured::points("200-ns-around-20-packets-port", busy.collect()));
    claims.extend(longer_ways(t));
    if t.values(WORKERS).contains(&4.0) {
        let with =
            |workers: f64| t.at("20 packets").and(LATENCY, 0.2).and(PORTS, 64.0).and(WORKERS, workers).get("bias.mean");
        claims.push(Measured::stat(
            "four-worker-packets-64-ports-good",
            &with(4.0).ratio(&of("20 packets", 0.2, 16.0, "bias.mean")),
        ));
    }
    claims.extend(windows(t));
    claims
}

/// What slower recirculation does where a worker packet has few ports.
fn longer_ways(t: &Table) -> Vec<Measured> {
    let few = t.values(PORTS).into_iter().fold(f64::INFINITY, f64::min);
    let gaps = |variant: &str| {
        let of =
            |latency: f64| t.at(variant).and(LATENCY, latency).and(PORTS, few).and(WORKERS, 1.0).get("gap.by_rank");
        let all = t.values(LATENCY).into_iter().map(|latency| (latency, of(latency)));
        all.map(|(latency, gap)| (format!("{latency} us ({})", Unit::Share.text(gap.mean())), gap.at_most(0.05)))
            .collect()
    };
    let claim = |variant: &&str| {
        Measured::points("ports-queues-rank-algorithm-sends-but", gaps(variant))
            .at([variant.to_string()])
            .telling([few.to_string()])
    };
    t.variants().iter().map(claim).collect()
}

/// How the window of 16 compares with larger ones, in the algorithm itself.
fn windows(t: &Table) -> Vec<Measured> {
    let ratio = |variant: &str, window: u32| {
        let of = |name: &str| t.at(variant).get(name);
        of("ideal.gap_to_pifo.by_rank").ratio(&of(&format!("window{window}.gap_to_pifo.by_rank")))
    };
    let claim = |variant: &&str| {
        Measured::stat("queues-algorithm-gap-pifo-chip-window", &ratio(variant, 20)).at([variant.to_string()])
    };
    let mut claims: Vec<Measured> = t.variants().iter().map(claim).collect();
    claims.push(Measured::stat("queues-100-packets-1000", &ratio("100 packets", 1_000)));
    claims
}
