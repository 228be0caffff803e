//! Figure 9: transport protocols with DT and with ABM, against the size of queries.

use super::compare::{Along, INCAST};
use super::measure;
use crate::figure::{Figure, Work};
use crate::measured::Measured;
use crate::panel::Panel;
use crate::table::Table;
use crate::unit::Unit;

const REQUEST: &str = "workload.1.request_share";

pub(super) fn figure() -> Figure {
    let panel = |letter, title, variants| {
        Panel::lines(letter, title)
            .x(REQUEST, "request, of a leaf's buffer", Unit::Share)
            .y(INCAST, "99th percentile of slowdown", Unit::None)
            .variants(variants)
            .log_y()
    };
    Figure {
        id: "fig9",
        number: "9",
        title: "Cubic, DCTCP, TIMELY and PowerTCP with DT and with ABM, against the size of queries",
        setting: "Web search loads the uplinks to 40%. Answers to queries, 99th percentile; the first packets of an answer are as many as it has, whatever the protocol.",
        text: include_str!("../../../../../scenarios/abm/fig9.toml"),
        files: &[],
        work: Work::Simulate(measure::evaluation),
        panels: vec![
            panel("a", "Cubic", &["Cubic with DT", "Cubic with ABM"]),
            panel("b", "DCTCP", &["DCTCP with DT", "DCTCP with ABM"]),
            panel("c", "TIMELY", &["TIMELY with DT", "TIMELY with ABM"]),
            panel("d", "PowerTCP", &["PowerTCP with DT", "PowerTCP with ABM"]),
        ],
        claims,
    }
}

fn claims(table: &Table) -> Vec<Measured> {
    let along = Along { table, key: REQUEST };
    let less = |protocol: &str, request| {
        along.less(&format!("{protocol} with ABM"), &format!("{protocol} with DT"), request, INCAST)
    };
    let gain = |protocol: &str, request: f64| {
        Measured::stat("queries-slowdown-dt", &less(protocol, request))
            .at([protocol.to_string(), (request * 100.0).to_string()])
    };
    let none = |protocol: &str, request: f64| {
        Measured::stat("queries-slowdown-dt-good-none", &less(protocol, request))
            .at([protocol.to_string(), (request * 100.0).to_string()])
    };
    vec![
        gain("Cubic", 0.125),
        gain("DCTCP", 0.125),
        none("TIMELY", 0.125),
        none("PowerTCP", 0.125),
        gain("Cubic", 0.375),
        gain("DCTCP", 0.375),
        gain("TIMELY", 0.375),
        none("PowerTCP", 0.375),
        gain("PowerTCP", 0.5),
    ]
}
