//! Figure 6: how full the buffer and how busy its memory is when DT drops packets.

use super::measure_drops;
use crate::{Figure, Measured, Panel, Table, Unit, Work};

pub(super) fn figures() -> Vec<Figure> {
    let panel = |letter, title, curve| {
        Panel::curves(letter, title)
            .x("", "utilization", Unit::Share)
            .y("", "part of the drops that find no more", Unit::Share)
            .curve(curve, "")
    };
    vec![Figure {
        id: "fig6",
        number: "6",
        title: "Use of buffer and memory bandwidth at drops",
        setting: "128 hosts at 8 leaves and 8 spines, 100 Gb/s, 80 us, 4 MB for every 8 ports, DT; DCTCP with marks from 720 KB; web search, and \
                  no queries, as in the authors' scripts for this figure. The use of a memory's bandwidth is here the part of the ports that \
                  are sending at the instant of a drop, over eight ports that share a buffer; the authors' scripts count what was sent over \
                  some time.",
        text: include_str!("../../../../../scenarios/occamy/fig6.toml"),
        files: &[],
        work: Work::Simulate(measure_drops::use_at_drops),
        panels: vec![
            panel("a", "Use of the buffer at drops, load 40%", "drops.buffer")
                .variants(&["load 40%"])
                .series_by("policy.alpha", "alpha ")
                .paper("alpha 0.5, 99th percentile", &[(0.66, 0.99)]),
            panel("b", "Use of memory bandwidth at drops, alpha 0.5", "drops.memory")
                .only("policy.alpha", "0.5")
                .paper("load 90%, median", &[(0.62, 0.5)]),
        ],
        claims,
    }]
}

fn claims(t: &Table) -> Vec<Measured> {
    let at = |variant: &str| t.at(variant).and("policy.alpha", 0.5);
    let free = |variant: &str| at(variant).get("drops.memory.p50").map(|used| 1.0 - used);
    vec![
        Measured::stat("alpha-0.5-load-40-99th-percentile", &at("load 40%").get("drops.buffer.p99")),
        Measured::stat("load-90-median-memory-bandwidth-free", &free("load 90%")),
    ]
}
