//! Figure 9: the length of AIFO's window, and how many packets it samples.

use super::measure::completion_times;
use super::published::{FIG9, LOADS};
use super::table::{METRICS, against_load, at, below, ends, loads, near_the_authors_data, percent, words};
use crate::{Claim, Figure, Scale, Table, Unit, Work};

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

fn claims(table: &Table) -> Vec<Claim> {
    let (low, high) = ends(table);
    let mut claims = Vec::new();
    for (metric, better, worse) in [(METRICS[0], SHORT, LONG), (METRICS[1], SHORT, LONG), (METRICS[2], LONG, SHORT)] {
        let better_length = better.split(',').next().unwrap_or_default();
        claims.push(
            Claim::every(
                format!("a window of {better_length} is better at every load ({})", words(metric)),
                if better == SHORT {
                    "20 better than 1000 for small flows"
                } else {
                    "20 worse than 1000 for large flows"
                },
                below(table, better, worse, metric),
            )
            .because(
                "Flows that have not ended are left out, and with the window of 20 these are more, at a load that the \
                    network cannot carry.",
            ),
        );
    }
    claims.push(
        Claim::direction(
            "with a window of 1000 the 99th percentile of small flows falls as the load grows",
            "decreasing: 0.65 ms at the label 0.2, 0.49 at 0.8",
            &at(table, LONG, low, METRICS[1]).minus(&at(table, LONG, high, METRICS[1])),
            Unit::Milliseconds,
        )
        .because("On average it falls, but by less than seeds differ."),
    );
    for sampled in SAMPLED {
        let lines = METRICS.into_iter().flat_map(|metric| {
            loads(table).into_iter().map(move |load| {
                let off = at(table, sampled, load, metric).ratio(&at(table, LONG, load, metric)).mean() - 1.0;
                (format!("{}, {}: {:+.0}%", words(metric), percent(load), off * 100.0), off.abs() <= 0.1)
            })
        });
        claims.push(
            Claim::every(
                format!("a window of {sampled}, is like one of {LONG} (within 10%)"),
                "can approximate",
                lines.collect(),
            )
            .because(
                "At the lowest load a run of 40 ms has 860 small flows, and their 99th percentile is that of the \
                    slowest 9; in the authors' runs of 1 s the largest difference is 7.6%.",
            ),
        );
    }
    claims.push(near_the_authors_data(table, FIG9, LOADS[0], &METRICS).needs(Scale::Full, "needs runs of 1 s"));
    claims
}
