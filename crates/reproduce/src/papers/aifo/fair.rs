//! Figure 14: start-time fair queueing.

use super::measure::completion_times_by_size;
use super::published::{FIG14, FIG14C, LOADS, SIZES_14C, find};
use super::table::{LOAD, METRICS, against_load, at, below, ends, loads, near_the_authors_data, percent, words};
use crate::{Figure, Measured, Panel, Stat, Table, Unit, Work};

/// The load of figure 14c, which is labelled 0.7.
const LABEL_07: f64 = LOADS[5];

/// The figure of this file.
pub(super) fn figures() -> Vec<Figure> {
    vec![Figure {
        id: "fig14",
        number: "14",
        title: "Web search with fair queueing",
        setting: "9 leaves, 4 spines, 144 servers, 1 and 4 Gb/s as in the authors' code (the paper names no rates); \
            DCTCP over all schemes but TCP, marking at 48 KB. AIFO: 100 packets, k = 0.1, a window of 20 that samples \
            every packet; PIFO and PIEO 319 packets; SP-PIFO 32 queues of 10; AFQ 32 queues and rounds of 80 bytes; \
            TCP 146 KB, DCTCP 120 KB. The loads are those of the authors' runs, as in figure 7. The marks are the \
            authors' data (1 s, one seed; none for PIEO).",
        text: include_str!("../../../../../scenarios/aifo/fig14.toml"),
        files: &[],
        work: Work::Simulate(completion_times_by_size),
        panels: vec![against_load("a", METRICS[0], FIG14), against_load("b", METRICS[1], FIG14), by_size()],
        claims,
    }]
}

/// Figure 14c.
fn by_size() -> Panel {
    let panel = Panel::curves("c", "Mean by size, at the load labelled 70%")
        .only(LOAD, "0.7764")
        .x("mean_by_size", "size of the flow, the least of its class", Unit::Kilobytes)
        .y("mean_by_size", "completion time", Unit::Milliseconds)
        .curve("mean_by_size", "")
        .log_x()
        .log_y();
    FIG14C.into_iter().fold(panel, |panel, (name, values)| {
        let marks: Vec<(f64, f64)> = SIZES_14C.into_iter().zip(values).collect();
        panel.paper(name, &marks)
    })
}

fn claims(table: &Table) -> Vec<Measured> {
    let (_, high) = ends(table);
    let mut claims = Vec::new();
    for metric in &METRICS[..2] {
        for rival in ["TCP", "DCTCP"] {
            claims.push(
                Measured::points("aifo-faster-every-load", below(table, "AIFO", rival, metric))
                    .at([rival.to_string(), words(metric).to_string()]),
            );
        }
    }
    let higher =
        |rival: &str, metric: &str| at(table, "AIFO", high, metric).more_than_percent(&at(table, rival, high, metric));
    for rival in ["AFQ", "SP-PIFO"] {
        claims.push(
            Measured::stat("aifo-only-little-slower", &higher(rival, METRICS[0]))
                .at([rival.to_string()])
                .telling([percent(high)]),
        );
    }
    for metric in &METRICS[..2] {
        for rival in ["AFQ", "SP-PIFO", "PIFO"] {
            let theirs = find(FIG14, "AIFO").at_08(metric) / find(FIG14, rival).at_08(metric);
            claims.push(
                Measured::stat(
                    "aifo-similar-their-ratio-label-0.8",
                    &at(table, "AIFO", high, metric).ratio(&at(table, rival, high, metric)),
                )
                .at([rival.to_string(), words(metric).to_string()])
                .theirs(theirs),
            );
        }
    }
    claims.push(Measured::stat(
        "pieo-like-pifo",
        &at(table, "PIEO", high, METRICS[0]).ratio(&at(table, "PIFO", high, METRICS[0])),
    ));
    let order = ["PIFO", "AFQ", "SP-PIFO", "AIFO", "DCTCP", "TCP"];
    let values: Vec<(&str, Stat)> =
        order.into_iter().map(|scheme| (scheme, at(table, scheme, high, METRICS[0]))).collect();
    claims.push(Measured::order("authors-order-label-0.8", &values).telling([percent(high)]));
    for size in ["10KB", "20KB", "30KB", "50KB", "80KB"] {
        let metric = format!("size.{size}.mean_ms");
        let time = |scheme: &str| at(table, scheme, LABEL_07, &metric);
        let faster = |rival: &str| (format!("than with {rival}"), time("AIFO").less_than(&time(rival)));
        claims.push(
            Measured::points("flows-faster-aifo-label-0.7", ["TCP", "DCTCP"].map(faster).to_vec())
                .at([size.to_string()]),
        );
    }
    for load in loads(table).into_iter().filter(|load| [LOADS[0], LABEL_07, LOADS[6]].contains(load)) {
        claims.push(near_the_authors_data(table, FIG14, load, &METRICS));
    }
    claims
}
