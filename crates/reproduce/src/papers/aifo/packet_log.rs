//! Figures 12 and 13: which packets of three flows into one port arrive, and in which order.

use super::measure_log;
use crate::claim::{Better, Claim};
use crate::figure::{Figure, Work};
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

fn claims(table: &Table) -> Vec<Claim> {
    let of = |variant: &str, metric: &str| table.at(variant).get(metric);
    let mut claims = Vec::new();
    for scheme in ["PIFO", "SP-PIFO", "AIFO"] {
        claims.push(Claim::direction(
            format!("The small flow ends much earlier with {scheme} than with FIFO (percent less)"),
            "much earlier",
            &of(scheme, "end.small").less_than_percent(&of("FIFO", "end.small")),
            Unit::Percent,
        ));
    }
    for scheme in ["SP-PIFO", "AIFO"] {
        claims.push(Claim::value(
            format!("The small flow ends at about the same time with {scheme} as with PIFO (over PIFO's)"),
            1.0,
            Unit::None,
            &of(scheme, "end.small").ratio(&of("PIFO", "end.small")),
        ));
    }
    for (flows, metric) in [("small and medium", "overlap.small_medium"), ("medium and large", "overlap.medium_large")]
    {
        for scheme in ["AIFO", "PIFO"] {
            claims.push(
                Claim::direction(
                    format!("The {flows} flows overlap less with {scheme} than with SP-PIFO (until 99% of the first are there)"),
                    "less",
                    &of("SP-PIFO", metric).minus(&of(scheme, metric)),
                    Unit::Packets,
                )
                .because(
                    "SP-PIFO separates the flows as PIFO does, but for a few packets. With AIFO a flow whose packets were dropped tries again whenever a timer runs out, \
                     and gets in while the flow before it waits for a timer of its own.",
                ),
            );
        }
    }
    for (flows, metric) in
        [("small and medium", "overlap_to_last.small_medium"), ("medium and large", "overlap_to_last.medium_large")]
    {
        claims.push(
            Claim::direction(
                format!("The {flows} flows overlap less with AIFO than with SP-PIFO (until the very last packet of the first)"),
                "less",
                &of("SP-PIFO", metric).minus(&of("AIFO", metric)),
                Unit::Packets,
            )
            .because(
                "A flow's last packet may be one that was lost and waits for a long timer: that happens to the medium flow with SP-PIFO, which then overlaps all of the large \
                 one, and hardly ever to the small one.",
            ),
        );
    }
    let again = |scheme: &str| of(scheme, "duplicates").mean();
    claims.push(
        Claim::direction(
            "AIFO lets through a set of packets closer to PIFO's than SP-PIFO does (difference of gaps)",
            "closer",
            &of("SP-PIFO", "gap_to_pifo").minus(&of("AIFO", "gap_to_pifo")),
            Unit::Share,
        )
        .because(format!(
            "Both are close: {:.1}% with AIFO and {:.1}% with SP-PIFO. AIFO's gap is the room that packets take which had arrived before, {:.0} of 60,000 instead of {:.0}: timers, which \
             have no shortest time here, run out more often. With plain FIFOs in front of the hosts' links the two gaps differ by 0.03 points.",
            100.0 * of("AIFO", "gap_to_pifo").mean(),
            100.0 * of("SP-PIFO", "gap_to_pifo").mean(),
            again("AIFO"),
            again("SP-PIFO"),
        )),
    );
    for scheme in ["FIFO", "AIFO"] {
        claims.push(Claim::value(
            format!("{scheme} reorders no packet of the small flow's first 300"),
            0.0,
            Unit::Packets,
            &of(scheme, "overtaken"),
        ));
    }
    for scheme in ["PIFO", "SP-PIFO"] {
        claims.push(Claim::direction(
            format!("{scheme} reorders packets of the small flow's first 300"),
            "some",
            &of(scheme, "overtaken"),
            Unit::Packets,
        ));
    }
    claims.push(Claim::ranking(
        "SP-PIFO reorders fewer packets than PIFO",
        &["SP-PIFO", "PIFO"],
        &["SP-PIFO", "PIFO"].map(|scheme| (scheme, of(scheme, "overtaken"))),
        Better::Less,
    ));
    claims
}
