//! Figures 11 and 12 and the table of section 6.4: what the paper measured on hardware.

use super::measure_chip;
use crate::figure::{Figure, Work};
use crate::measured::Measured;
use crate::panel::Panel;
use crate::stat::Stat;
use crate::table::Table;
use crate::unit::Unit;

const SETTING: &str = "The paper's generator sends at 100 Gb/s whatever happens: UDP at line rate. One flow from each of four pipelines to a receiver. The queue for data holds 58.5 KB: in the paper's figure 12 \
                       it overflows 4.7 us after the second flow has started. Notifications take two passes of 500 ns, or of 1 us.";

/// Figures 11 and 12.
pub(super) fn startup() -> Figure {
    let rates = |letter, title, variant: &'static [&'static str]| {
        let panel = Panel::curves(letter, title).variants(variant);
        let panel = panel.x("", "time", Unit::Microseconds).y("", "data packets", Unit::Gbps);
        panel
            .curve("rate.flow1", "flow 1")
            .curve("rate.flow2", "flow 2")
            .curve("rate.flow3", "flow 3")
            .curve("rate.flow4", "flow 4")
    };
    Figure {
        id: "fig11",
        number: "11, 12",
        title: "Flows that start one after the other",
        setting: SETTING,
        text: include_str!("../../../../../scenarios/trimming/fig11.toml"),
        files: &[("startup.csv", include_str!("../../../../../scenarios/trimming/startup.csv"))],
        work: Work::Simulate(measure_chip::arrivals),
        panels: vec![
            rates("11", "Throughput of four flows to a receiver, Tofino", &["Tofino"]),
            rates("", "The same on the ideal switch", &["NDP"]),
            Panel::curves("12", "Packets of the first flow when the second starts, Tofino")
                .variants(&["Tofino"])
                .x("", "leaves the switch after the second flow's start", Unit::Microseconds)
                .y("", "sequence number", Unit::None)
                .curve("sequence.data", "data")
                .curve("sequence.headers", "headers"),
        ],
        claims: startup_claims,
    }
}

/// What a flow gets from one time to another, on average.
fn average(table: &Table, variant: &str, flow: u32, from: f64, to: f64) -> f64 {
    let curve = table.curve(variant, &[], &format!("rate.flow{flow}")).unwrap_or_default();
    let inside: Vec<f64> = curve.iter().filter(|(at, _)| (from..to).contains(at)).map(|(_, rate)| *rate).collect();
    inside.iter().sum::<f64>() / inside.len() as f64
}

fn startup_claims(table: &Table) -> Vec<Measured> {
    // Flow k starts after k * 100 us; the first 20 us are for the start itself.
    let shares = |variant: &'static str| {
        (1..=4u32).flat_map(move |flows| (1..=flows).map(move |flow| (flows, flow))).filter_map(move |(flows, flow)| {
            let start = 100.0 * f64::from(flows);
            let rate = average(table, variant, flow, start + 20.0, start + 100.0);
            let fair = 100.0 / f64::from(flows);
            (!rate.is_nan()).then(|| (format!("flow {flow} of {flows}"), (0.8 * fair..=1.1 * fair).contains(&rate)))
        })
    };
    let tofino = table.at("Tofino");
    vec![
        Measured::points("shares-fair-20-us-after-each", shares("Tofino").collect()),
        Measured::stat("queue-overflows-after-first-header-ideal", &table.at("NDP").get("first_header")),
        Measured::stat("first-packet-trimmed-ingress", &tofino.get("first_header")),
        Measured::stat("if-each-pass-takes-1-us", &table.at("Tofino, 1 us a pass").get("first_header")),
        Measured::stat("headers-arrive-before-data-packets-were", &tofino.get("lead")),
        Measured::stat("queue-drained-headers-jump-most-0.5", &tofino.get("drained")),
        Measured::points(
            "no-packet-lost",
            table
                .variants()
                .into_iter()
                .map(|variant| (variant.to_owned(), table.at(variant).get("headers.lost").mean() == 0.0))
                .collect(),
        ),
    ]
}

/// The table of section 6.4.
pub(super) fn trims() -> Figure {
    Figure {
        id: "trims",
        number: "section 6.4",
        title: "Where packets are trimmed in a 4:1 incast",
        setting: "As in figures 11 and 12, with 5,000 packets from each of four senders at once, 20,000 in all, to one receiver. The paper has recorded 20,000 packets; it does not say when its flows started.",
        text: include_str!("../../../../../scenarios/trimming/trims.toml"),
        files: &[("four-to-one.csv", include_str!("../../../../../scenarios/trimming/four-to-one.csv"))],
        work: Work::Simulate(measure_chip::control_loop),
        panels: vec![
            Panel::bars("", "Trimmed at ingress").y("trims.ingress", "packets", Unit::Packets),
            Panel::bars("", "Trimmed after deflection").y("trims.deflected", "packets", Unit::Packets),
        ],
        claims: trim_claims,
    }
}

fn trim_claims(table: &Table) -> Vec<Measured> {
    let get = |name: &str| table.at("Tofino").get(name);
    let share = |part: &Stat, all: &Stat| part.ratio(all);
    vec![
        Measured::stat("packets-trimmed-ingress", &get("trims.ingress")),
        Measured::stat("packets-trimmed-after-deflection", &get("trims.deflected")),
        Measured::stat("packets-trimmed-after-deflection-2", &get("trims.deflected")),
        Measured::stat("share-trims-happen-ingress", &share(&get("trims.ingress"), &get("trims"))),
        Measured::stat("each-pass-taking-1-us", &table.at("Tofino, 1 us a pass").get("trims.deflected")),
    ]
}
