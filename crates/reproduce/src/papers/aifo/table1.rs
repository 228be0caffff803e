//! Table 1: what AIFO and SP-PIFO need of a Tofino.

use super::measure_table1;
use crate::{Figure, Measured, Panel, Table, Unit, Work};

/// Resources: the paper's name, ours, and the paper's percentages for AIFO and SP-PIFO.
const ROWS: [(&str, &str, [f64; 2]); 7] = [
    ("match crossbar", "crossbar-bytes.share", [0.1094, 0.0827]),
    ("gateways", "gateways.share", [0.2292, 0.1771]),
    ("hash bits", "hash-bits.share", [0.0391, 0.0266]),
    ("SRAM", "SRAM-blocks.share", [0.0698, 0.1531]),
    ("TCAM", "TCAM-blocks.share", [0.0, 0.0035]),
    ("stateful ALUs", "stateful-ALUs.share", [0.396, 0.1667]),
    ("logical tables", "logical-tables.share", [0.25, 0.1875]),
];

/// The figure of this file.
pub(super) fn figures() -> Vec<Figure> {
    let bars = |title, metric, label: &str, unit| Panel::bars("", title).y(metric, label, unit);
    vec![Figure {
        id: "table1",
        number: "table 1",
        title: "Resources of AIFO and SP-PIFO on a Tofino",
        setting: "The paper's table has shares of the chip that its prototypes use, whole programs with parsing and forwarding. Here the programs of this project are counted, which schedule and do nothing else, for 32 \
                  ports. What the chip has of each resource is not published; it is taken from public descriptions and from the paper's own shares (19 of 48 stateful ALUs are 39.6%). \
                  Logical tables, crossbar and hash bits are what a plain compiler would need.",
        text: include_str!("../../../../../scenarios/aifo/table1.toml"),
        files: &[],
        work: Work::Compute(measure_table1::shares),
        panels: vec![
            bars("Stateful ALUs", "stateful-ALUs.share", "of the chip", Unit::Share),
            bars("Gateways", "gateways.share", "of the chip", Unit::Share),
            bars("SRAM", "SRAM-blocks.share", "of the chip", Unit::Share),
            bars("Stages at ingress", "ingress-stages", "stages", Unit::None),
            bars("Register arrays", "stateful-bytes", "memory", Unit::Bytes),
        ],
        claims,
    }]
}

fn claims(t: &Table) -> Vec<Measured> {
    let mut claims = Vec::new();
    for scheme in ["AIFO", "SP-PIFO"] {
        for (words, metric, _) in ROWS {
            let ours = t.at(scheme).get(metric);
            claims.push(Measured::stat("number", &ours).at([scheme.to_string(), words.to_string()]));
        }
    }
    for (words, metric, _) in ROWS.into_iter().filter(|(.., paper)| paper[0] > paper[1]) {
        claims.push(
            Measured::stat("aifo-needs-sp-pifo", &t.at("AIFO").get(metric).minus(&t.at("SP-PIFO").get(metric)))
                .at([words.to_string()]),
        );
    }
    for (words, metric, _) in ROWS.into_iter().filter(|(.., paper)| paper[0] < paper[1]) {
        claims.push(
            Measured::stat("sp-pifo-needs-aifo", &t.at("SP-PIFO").get(metric).minus(&t.at("AIFO").get(metric)))
                .at([words.to_string()]),
        );
    }
    claims
}
