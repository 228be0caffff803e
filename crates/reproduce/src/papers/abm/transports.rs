//! Figure 9: transport protocols with DT and with ABM, against the size of queries.

use super::compare::{Along, INCAST};
use super::measure;
use crate::claim::Claim;
use crate::figure::{Figure, Scale, Work};
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

fn claims(table: &Table) -> Vec<Claim> {
    let along = Along { table, key: REQUEST };
    let less = |protocol: &str, request| {
        along.less(&format!("{protocol} with ABM"), &format!("{protocol} with DT"), request, INCAST)
    };
    let words = |protocol: &str, request: f64| {
        format!("{protocol}, queries of {}%: less slowdown than with DT", request * 100.0)
    };
    let gain = |protocol: &str, request, paper| Claim::gain(words(protocol, request), paper, &less(protocol, request));
    let none = |protocol: &str, request, paper| {
        let words = format!("{}, as good as none", words(protocol, request));
        Claim::value(words, paper, Unit::Percent, &less(protocol, request))
    };
    vec![
        gain("Cubic", 0.125, 39.1).because(SMALL).needs(Scale::Default, FEW),
        gain("DCTCP", 0.125, 10.3).because(SMALL).needs(Scale::Default, FEW),
        none("TIMELY", 0.125, 0.0).because(TIMELY),
        none("PowerTCP", 0.125, 0.0),
        gain("Cubic", 0.375, 88.0),
        gain("DCTCP", 0.375, 88.0),
        gain("TIMELY", 0.375, 33.3),
        none("PowerTCP", 0.375, 2.13).because(POWERTCP).needs(Scale::Default, FEW),
        gain("PowerTCP", 0.5, 76.0),
    ]
}

const FEW: &str =
    "Some 15 queries a seed are too few: the tail is that of a single query, which loses packets or does not.";
const SMALL: &str = "Queries of 12.5% lose packets with few choices of paths only: in one seed the tail is below 20, in another above 100.";
const TIMELY: &str = "It is so with two seeds of three (a slowdown of 6 with both); with the third one query lost packets with DT, and the tails are 10.4 and 7.6.";
const POWERTCP: &str = "DT is at its limit there: with one seed 2 of 26 queries lost packets, with another none, and none with queries of 33.7%. The authors' ports have a FIFO of \
                                100 packets behind the buffer, which is that difference.";
