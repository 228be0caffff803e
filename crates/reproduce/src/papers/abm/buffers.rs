//! Figure 11: smaller buffers.

use super::compare::{Along, INCAST};
use super::measure;
use crate::figure::{Figure, Work};
use crate::measured::Measured;
use crate::panel::Panel;
use crate::stat::Stat;
use crate::table::Table;
use crate::unit::Unit;

const SIZE: &str = "switch.buffer_per_port_per_gbps";

pub(super) fn figure() -> Figure {
    let panel = |letter, title, variants| {
        Panel::bars(letter, title)
            .x(SIZE, "buffer for each port and Gb/s", Unit::None)
            .y(INCAST, "99th percentile of slowdown", Unit::None)
            .variants(variants)
            .log_y()
    };
    Figure {
        id: "fig11",
        number: "11",
        title: "Buffers of 9.6 KB for each port and Gb/s, and less",
        setting: "Web search loads the uplinks to 40%; queries of 25% of a leaf's largest buffer (960 KB), with buffers from Trident 2 (9.6 KB) over Tomahawk (5.12 KB) to \
                  Tofino (3.44 KB).",
        text: include_str!("../../../../../scenarios/abm/fig11.toml"),
        files: &[],
        work: Work::Simulate(measure::evaluation),
        panels: vec![
            panel("a", "DCTCP", &["DCTCP with ABM", "DCTCP with DT", "DCTCP with IB"]),
            panel("b", "PowerTCP", &["PowerTCP with ABM", "PowerTCP with DT", "PowerTCP with IB"]),
        ],
        claims,
    }
}

fn claims(table: &Table) -> Vec<Measured> {
    let along = Along { table, key: SIZE };
    let get = |protocol: &str, policy: &str, size| along.get(&format!("{protocol} with {policy}"), size, INCAST);
    let mut claims = Vec::new();
    for protocol in ["DCTCP", "PowerTCP"] {
        let points = along.values().into_iter().map(|size| {
            let ratio = get(protocol, "ABM", size).ratio(&get(protocol, "ABM", 9600.0));
            (format!("{} KB", size / 1e3), ratio.between(0.5, 1.5))
        });
        claims.push(Measured::points("abm-slowdown-within-half-9.6-kb", points.collect()).at([protocol.to_string()]));
    }
    for policy in ["DT", "IB"] {
        let ratio = get("DCTCP", policy, 7000.0).ratio(&get("DCTCP", "ABM", 7000.0));
        claims.push(Measured::stat("dctcp-7-kb-slowdown-abm", &ratio).at([policy.to_string()]));
    }
    let mut hidden = Vec::new();
    for policy in ["DT", "IB"] {
        for size in along.values().into_iter().filter(|size| *size >= 6000.0) {
            let ratio = get("PowerTCP", policy, size).ratio(&get("PowerTCP", "ABM", size));
            hidden.push((format!("{policy} with {} KB", size / 1e3), ratio.at_most(1.5)));
        }
    }
    claims.push(Measured::points("powertcp-down-6-kb-slowdown-dt", hidden));
    for policy in ["DT", "IB"] {
        let less = get("PowerTCP", "ABM", 5120.0).less_than_percent(&get("PowerTCP", policy, 5120.0));
        claims.push(Measured::stat("powertcp-5.12-kb-slowdown", &less).at([policy.to_string()]));
    }
    for protocol in ["DCTCP", "PowerTCP"] {
        let less =
            ["DT", "IB"].map(|policy| get(protocol, "ABM", 3440.0).less_than_percent(&get(protocol, policy, 3440.0)));
        claims.push(Measured::stat("3.44-kb-slowdown-dt-ib", &Stat::average(&less)).at([protocol.to_string()]));
    }
    claims
}
