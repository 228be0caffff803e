//! The run of the authors' code that is known number by number.

use super::compare::{INCAST, OCCUPANCY, SHORT, THROUGHPUT};
use super::measure;
use crate::claim::Claim;
use crate::figure::{Figure, Work};
use crate::panel::Panel;
use crate::table::Table;
use crate::unit::Unit;

const LONG: &str = "slowdown.web-search.long.p50";
const UP: &str = "drops.up";
const DOWN: &str = "drops.down";

/// What is compared: its name, the metric, its unit.
const COLUMNS: [(&str, &str, Unit); 7] = [
    ("answers, p99 of slowdown", INCAST, Unit::None),
    ("short flows, p99 of slowdown", SHORT, Unit::None),
    ("flows of 1 MB and more, p50 of slowdown", LONG, Unit::None),
    ("buffer in use, p99", OCCUPANCY, Unit::Share),
    ("use of the uplinks", THROUGHPUT, Unit::Share),
    ("drops on the way up", UP, Unit::Packets),
    ("drops on the way down", DOWN, Unit::Packets),
];

/// Our variant, what it is called, and their numbers in the order of [`COLUMNS`].
const THEIRS: [(&str, &str, [f64; 7]); 6] = [
    ("DT", "DT", [116.8, 12.9, 1.68, 0.558, 0.395, 1561.0, 46.0]),
    ("CS", "CS", [114.9, 16.0, 1.68, 0.82, 0.393, 474.0, 31.0]),
    ("FAB", "FAB", [122.8, 12.1, 1.63, 0.551, 0.395, 1666.0, 50.0]),
    ("ABM (28 KB)", "ABM", ABM),
    ("ABM", "ABM, ours with the paper's rule", ABM),
    ("IB", "IB, theirs with the FIFO", [107.0, 13.0, 1.78, 0.45, 0.392, 4642.0, 0.0]),
];

/// Their numbers of ABM.
const ABM: [f64; 7] = [9.7, 6.7, 1.74, 0.248, 0.399, 3199.0, 398.0];

pub(super) fn figure() -> Figure {
    let panel = |letter, title, metric, unit| Panel::bars(letter, title).y(metric, title, unit);
    Figure {
        id: "reference",
        number: "a reference run",
        title: "The authors' code, number by number",
        setting: "The very list of flows of a run of the authors' ns-3 code: 453 flows of web search (40% load) and 10 queries of 30% of the buffer, Cubic. Their one run stands \
                  beside ours over the paths that flows may take. Their ABM counts congested queues by their share of 28 KB; ours runs with that rule and with the paper's.",
        text: include_str!("../../../../../scenarios/abm/reference.toml"),
        files: &[
            ("reference-websearch.csv", include_str!("../../../../../scenarios/abm/reference-websearch.csv")),
            ("reference-incast.csv", include_str!("../../../../../scenarios/abm/reference-incast.csv")),
        ],
        work: Work::Simulate(measure::reference),
        panels: vec![
            panel("a", "Answers, p99 of slowdown", INCAST, Unit::None).log_y(),
            panel("b", "Short flows, p99 of slowdown", SHORT, Unit::None),
            panel("c", "Buffer in use, p99", OCCUPANCY, Unit::Share),
            panel("d", "Drops on the way up", UP, Unit::Packets),
        ],
        claims,
    }
}

fn claims(table: &Table) -> Vec<Claim> {
    let mut claims = Vec::new();
    for (variant, scheme, theirs) in THEIRS {
        for ((name, metric, unit), value) in COLUMNS.into_iter().zip(theirs) {
            let claim = Claim::value(format!("{scheme}: {name}"), value, unit, &table.at(variant).get(metric));
            claims.push(claim.because(reason(variant, metric)));
        }
    }
    claims
}

/// Why a number differs.
fn reason(variant: &str, metric: &str) -> &'static str {
    match (variant, metric) {
        ("IB", _) => {
            "Of IB there is only a run with a FIFO of 100 packets behind every port, outside the buffer; and their code drops all or nothing of a queue, where \
                      ours drops by the flows' shares."
        }
        ("ABM", _) => {
            "Theirs counts every queue by its share of 28 KB, the paper from 0.9 of the threshold on: with their rule the rows above."
        }
        ("CS", _) => {
            "With some paths the buffer fills, with others it does not: of 40 seeds, 14 have a tail of answers above 50. Theirs is one choice of paths."
        }
        (_, SHORT) => {
            "The fourth largest of 257 flows, which depends on the paths; theirs is one choice of them. In 40 seeds of ours it was at most 11.8 with DT."
        }
        (_, DOWN) => "Drops come in one or two bursts; which flows meet depends on the paths.",
        _ => "Drops depend on which large flows share an uplink; theirs is one choice of paths.",
    }
}
