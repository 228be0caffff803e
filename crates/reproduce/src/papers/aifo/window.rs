//! Figure 9: the length of AIFO's window, and how many packets it samples.

use super::measure::completion_times;
use super::published::{FIG9, LOADS};
use super::table::{METRICS, against_load, at, below, ends, loads, near_the_authors_data, percent, words};
use crate::{Figure, Measured, Table, Work};

const SHORT: &str = "20, all";
const LONG: &str = "1000, all";
/// Windows that sample, and span as many packets as [`LONG`].
const SAMPLED: [&str; 2] = ["20, 1 in 50", "100, 1 in 10"];

/// The figure of this file.
pub(super) fn figures() -> Vec<Figure> {
    vec![Figure {
        id: "fig9",
        number: "9",
        title: "The length of the window, and sampling",
        setting: "As figure 7: AIFO with windows of 20, 100 and 1000 ranks that sample every packet, one in 10 or one \
            in 50. The marks are the authors' data.",
        text: include_str!("../../../../../scenarios/aifo/fig9.toml"),
        files: &[],
        work: Work::Simulate(completion_times),
        panels: vec![
            against_load("a", METRICS[0], FIG9),
            against_load("b", METRICS[1], FIG9),
            against_load("c", METRICS[2], FIG9),
        ],
        claims,
    }]
}

fn claims(table: &Table) -> Vec<Measured> {
    let (low, high) = ends(table);
    let mut claims = Vec::new();
    for (metric, better, worse) in [(METRICS[0], SHORT, LONG), (METRICS[1], SHORT, LONG), (METRICS[2], LONG, SHORT)] {
        let better_length = better.split(',').next().unwrap_or_default();
        claims.push(
            Measured::points("window-better-every-load", below(table, better, worse, metric))
                .at([better_length.to_string(), words(metric).to_string()]),
        );
    }
    claims.push(Measured::stat(
        "window-1000-99th-percentile-small-flows",
        &at(table, LONG, low, METRICS[1]).minus(&at(table, LONG, high, METRICS[1])),
    ));
    for sampled in SAMPLED {
        let lines = METRICS.into_iter().flat_map(|metric| {
            loads(table).into_iter().map(move |load| {
                let ratio = at(table, sampled, load, metric).ratio(&at(table, LONG, load, metric));
                let off = (ratio.mean() - 1.0) * 100.0;
                (format!("{}, {}: {off:+.0}%", words(metric), percent(load)), ratio.between(0.9, 1.1))
            })
        });
        claims.push(Measured::points("window-like-one", lines.collect()).at([sampled.to_string(), LONG.to_string()]));
    }
    claims.push(near_the_authors_data(table, FIG9, LOADS[0], &METRICS));
    claims
}
