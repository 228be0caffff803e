//! The run of the authors' code that is known number by number.

use super::compare::{INCAST, OCCUPANCY, SHORT, THROUGHPUT};
use super::measure;
use crate::figure::{Figure, Work};
use crate::measured::Measured;
use crate::panel::Panel;
use crate::table::Table;
use crate::unit::Unit;

const LONG: &str = "slowdown.web-search.long.p50";
const UP: &str = "drops.up";
const DOWN: &str = "drops.down";

/// What is compared.
const COLUMNS: [(&str, &str); 7] = [
    ("answers-p99", INCAST),
    ("short-flows-p99", SHORT),
    ("long-flows-p50", LONG),
    ("buffer-p99", OCCUPANCY),
    ("uplinks", THROUGHPUT),
    ("drops-up", UP),
    ("drops-down", DOWN),
];

/// Our variant, and what it is called.
const SCHEMES: [(&str, &str); 6] = [
    ("DT", "DT"),
    ("CS", "CS"),
    ("FAB", "FAB"),
    ("ABM (28 KB)", "ABM"),
    ("ABM", "ABM, ours with the paper's rule"),
    ("IB", "IB, theirs with the FIFO"),
];

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

fn claims(table: &Table) -> Vec<Measured> {
    let mut claims = Vec::new();
    for (variant, scheme) in SCHEMES {
        for (id, metric) in COLUMNS {
            claims.push(Measured::stat(id, &table.at(variant).get(metric)).at([scheme]));
        }
    }
    claims
}
