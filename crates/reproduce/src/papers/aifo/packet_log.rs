//! Figures 12 and 13: which packets of three flows into one port arrive, and in which order.

use super::measure_log;
use crate::figure::{Figure, Work};
use crate::measured::Measured;
use crate::panel::Panel;
use crate::table::Table;
use crate::unit::Unit;

const FLOWS: [(&str, &str); 3] = [("ranks.small", "small"), ("ranks.medium", "medium"), ("ranks.large", "large")];

pub(super) fn figures() -> Vec<Figure> {
    vec![Figure {
        id: "fig12",
        number: "12, 13",
        title: "The packets of three flows at their receiver: which ones, and in which order",
        setting: "Three servers send 100, 50 and 10 MB to a fourth at the same time over 1 Gb/s links, with pFabric as the paper's simulator has it; packets are \
                  ranked by what is left of their flow. The first 60,000 packets of the receiver's log are figure 12, the first 300 of the small flow figure 13. Queues \
                  as in the authors' code, at the switch and in front of the hosts' links: AIFO 20 packets, PIFO 80, SP-PIFO eight of 10; a FIFO has 100.",
        text: include_str!("../../../../../scenarios/aifo/fig12.toml"),
        files: &[],
        work: Work::Simulate(measure_log::packet_log),
        panels: panels(),
        claims,
    }]
}

fn panels() -> Vec<Panel> {
    let log = |letter, title, variant: &'static [&'static str]| {
        let panel = Panel::curves(letter, title)
            .variants(variant)
            .x("", "order of arrival", Unit::Packets)
            .y("", "rank: bytes left of the flow", Unit::Megabytes)
            .y_times(1e-6);
        FLOWS.into_iter().fold(panel, |panel, (curve, name)| panel.curve(curve, name))
    };
    let order = |letter, title, variant: &'static [&'static str]| {
        Panel::curves(letter, title)
            .variants(variant)
            .x("", "order of arrival", Unit::Packets)
            .y("", "rank: bytes left of the flow", Unit::Megabytes)
            .y_times(1e-6)
            .curve("first_of_small", "")
    };
    vec![
        log("12a", "FIFO", &["FIFO"]),
        log("12b", "PIFO", &["PIFO"]),
        log("12c", "SP-PIFO", &["SP-PIFO"]),
        log("12d", "AIFO", &["AIFO"]),
        order("13a", "FIFO: the first 300 packets of the small flow", &["FIFO"]),
        order("13b", "PIFO: the first 300 packets of the small flow", &["PIFO"]),
        order("13c", "SP-PIFO: the first 300 packets of the small flow", &["SP-PIFO"]),
        order("13d", "AIFO: the first 300 packets of the small flow", &["AIFO"]),
        Panel::bars("", "The gap to PIFO in the first 60,000 packets").variants(&["FIFO", "SP-PIFO", "AIFO"]).y(
            "gap_to_pifo",
            "gap to PIFO",
            Unit::Share,
        ),
        Panel::bars("", "Overtaken packets of the small flow, first 300").y("overtaken", "packets", Unit::Packets),
    ]
}

fn claims(table: &Table) -> Vec<Measured> {
    let of = |variant: &str, metric: &str| table.at(variant).get(metric);
    let mut claims = Vec::new();
    for scheme in ["PIFO", "SP-PIFO", "AIFO"] {
        claims.push(
            Measured::stat(
                "small-flow-ends-much-earlier-fifo",
                &of(scheme, "end.small").less_than_percent(&of("FIFO", "end.small")),
            )
            .at([scheme.to_string()]),
        );
    }
    for scheme in ["SP-PIFO", "AIFO"] {
        claims.push(
            Measured::stat("small-flow-ends-about-time-pifo", &of(scheme, "end.small").ratio(&of("PIFO", "end.small")))
                .at([scheme.to_string()]),
        );
    }
    for (flows, metric) in [("small and medium", "overlap.small_medium"), ("medium and large", "overlap.medium_large")]
    {
        for scheme in ["AIFO", "PIFO"] {
            claims.push(
                Measured::stat("flows-overlap-sp-pifo", &of("SP-PIFO", metric).minus(&of(scheme, metric)))
                    .at([flows.to_string(), scheme.to_string()]),
            );
        }
    }
    for (flows, metric) in
        [("small and medium", "overlap_to_last.small_medium"), ("medium and large", "overlap_to_last.medium_large")]
    {
        claims.push(
            Measured::stat("flows-overlap-aifo-sp-pifo", &of("SP-PIFO", metric).minus(&of("AIFO", metric)))
                .at([flows.to_string()]),
        );
    }
    let again = |scheme: &str| of(scheme, "duplicates").mean();
    claims.push(
        Measured::stat(
            "aifo-lets-through-set-packets-closer",
            &of("SP-PIFO", "gap_to_pifo").minus(&of("AIFO", "gap_to_pifo")),
        )
        .telling([
            format!("{:.1}%", 100.0 * of("AIFO", "gap_to_pifo").mean()),
            format!("{:.1}%", 100.0 * of("SP-PIFO", "gap_to_pifo").mean()),
            format!("{:.0}", again("AIFO")),
            format!("{:.0}", again("SP-PIFO")),
        ]),
    );
    for scheme in ["FIFO", "AIFO"] {
        claims.push(
            Measured::stat("reorders-no-packet-small-flow-first", &of(scheme, "overtaken")).at([scheme.to_string()]),
        );
    }
    for scheme in ["PIFO", "SP-PIFO"] {
        claims.push(
            Measured::stat("reorders-packets-small-flow-first-300", &of(scheme, "overtaken")).at([scheme.to_string()]),
        );
    }
    claims.push(Measured::order(
        "sp-pifo-reorders-fewer-packets-pifo",
        &["SP-PIFO", "PIFO"].map(|scheme| (scheme, of(scheme, "overtaken"))),
    ));
    claims
}
