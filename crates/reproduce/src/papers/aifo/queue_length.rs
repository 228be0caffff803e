//! Figures 10 and 11: AIFO's target queue length at 1 and 4 Gb/s, and at 10 and 40 Gb/s.

use super::measure::completion_times;
use super::published::{FIG10, FIG11, LOADS, Published, find};
use super::table::{METRICS, against_load, at, ends, near_the_authors_data, percent, words};
use crate::{Figure, Measured, Stat, Table, Work};

const LENGTHS: [&str; 5] = ["10 packets", "20 packets", "50 packets", "100 packets", "500 packets"];
/// Variants of figure 11 at the rates of figure 10.
const SLOW: [&str; 2] = ["20 packets, 1 and 4 Gb/s", "100 packets, 1 and 4 Gb/s"];

/// The figures of this file.
pub(super) fn figures() -> Vec<Figure> {
    vec![
        Figure {
            id: "fig10",
            number: "10",
            title: "The length of the queue at 1 and 4 Gb/s",
            setting: "As figure 7 with a tenth of its rates: AIFO with target lengths of 10 to 500 packets. The marks \
                are the authors' data; those of 500 packets at the labels 0.6 and 0.7 are equal there.",
            text: include_str!("../../../../../scenarios/aifo/fig10.toml"),
            files: &[],
            work: Work::Simulate(completion_times),
            panels: vec![against_load("a", METRICS[0], FIG10), against_load("b", METRICS[2], FIG10)],
            claims: claims_10,
        },
        Figure {
            id: "fig11",
            number: "11",
            title: "The length of the queue at 10 and 40 Gb/s",
            setting: "As figure 7: AIFO with target lengths of 10 to 500 packets. The marks are the authors' data. \
                Two variants more have the rates of figure 10, for the claim that compares both.",
            text: include_str!("../../../../../scenarios/aifo/fig11.toml"),
            files: &[],
            work: Work::Simulate(completion_times),
            panels: vec![
                against_load("a", METRICS[0], FIG11).variants(&LENGTHS),
                against_load("b", METRICS[2], FIG11).variants(&LENGTHS),
            ],
            claims: claims_11,
        },
    ]
}

/// The mean of small flows with 500 packets over that with 20: how much the length matters at a load.
fn sensitivity(table: &Table, load: f64) -> Stat {
    at(table, "500 packets", load, METRICS[0]).ratio(&at(table, "20 packets", load, METRICS[0]))
}

fn more_sensitive_at_high_load(table: &Table) -> Measured {
    let (low, high) = ends(table);
    Measured::stat("length-queue-matters-when-load-high", &sensitivity(table, high).minus(&sensitivity(table, low)))
}

/// 20 packets over 100 at the highest load, beside the authors' ratio at the label 0.8.
fn ratio_20_to_100(table: &Table, figure: &'static [Published], metric: &str) -> (f64, Stat) {
    let (_, high) = ends(table);
    let theirs = find(figure, "20 packets").at_08(metric) / find(figure, "100 packets").at_08(metric);
    (theirs, at(table, "20 packets", high, metric).ratio(&at(table, "100 packets", high, metric)))
}

fn claims_10(table: &Table) -> Vec<Measured> {
    let (low, high) = ends(table);
    let mut claims = Vec::new();
    for metric in [METRICS[0], METRICS[2]] {
        let (theirs, ours) = ratio_20_to_100(table, FIG10, metric);
        claims.push(
            Measured::stat("queue-20-packets-much-faster-one", &ours.map(|ratio| 100.0 * (1.0 - ratio)))
                .at([words(metric).to_string()])
                .theirs(100.0 * (1.0 - theirs))
                .telling([percent(high)]),
        );
    }
    for load in [low, high] {
        let values: Vec<(&str, Stat)> =
            LENGTHS.into_iter().map(|length| (length, at(table, length, load, METRICS[0]))).collect();
        claims.push(Measured::order("shorter-queue-better-small-flows", &values).at([percent(load)]));
    }
    claims.push(more_sensitive_at_high_load(table));
    for load in [LOADS[0], LOADS[6]] {
        claims.push(near_the_authors_data(table, FIG10, load, &[METRICS[0], METRICS[2]]));
    }
    claims
}

fn claims_11(table: &Table) -> Vec<Measured> {
    let (_, high) = ends(table);
    let mut claims = Vec::new();
    for metric in [METRICS[0], METRICS[2]] {
        let (theirs, ours) = ratio_20_to_100(table, FIG11, metric);
        claims.push(
            Measured::stat("queue-20-packets-close-one-100", &ours).at([words(metric).to_string()]).theirs(theirs),
        );
    }
    claims.push(more_sensitive_at_high_load(table));
    let ratio = |long: &str, short: &str| at(table, long, high, METRICS[0]).ratio(&at(table, short, high, METRICS[0]));
    claims.push(
        Measured::stat(
            "length-queue-matters-1-4-gb",
            &ratio(SLOW[1], SLOW[0]).minus(&ratio("100 packets", "20 packets")),
        )
        .telling([percent(high)]),
    );
    for load in [LOADS[0], LOADS[6]] {
        claims.push(near_the_authors_data(table, FIG11, load, &[METRICS[0], METRICS[2]]));
    }
    claims
}
