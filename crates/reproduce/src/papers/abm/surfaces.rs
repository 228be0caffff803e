//! ABM's figures 4 and 5: the steady states and burst tolerances that its equations give, and what a switch does.

use super::measure_surfaces;
use crate::figure::{Figure, Work, number_of};
use crate::measured::Measured;
use crate::panel::Panel;
use crate::stat::Stat;
use crate::table::Table;
use crate::unit::Unit;
use forebay_analysis::transient::{Burst, Transient};
use forebay_analysis::{abm, dt};
use forebay_settings::Document;

/// The figures.
pub(super) fn figures() -> Vec<Figure> {
    vec![steady_states(), burst_tolerance()]
}

/// How far a measured number may be from the equation's.
const EXACT: f64 = 0.02;

fn steady_states() -> Figure {
    let panel = |title, metric, what| {
        Panel::lines("", title)
            .x("be", "congested queues of best effort (BE)", Unit::None)
            .log_x()
            .y(metric, what, Unit::Share)
            .series_by("af", "AF queues: ")
    };
    Figure {
        id: "fig4",
        number: "4",
        title: "What DT leaves free, and what it leaves to a loss-sensitive priority",
        setting: "Congested queues of a loss-sensitive priority (AF) and of best effort (BE), each with a port to \
                  itself. The paper gives neither the buffer nor the alphas, but AF's is the higher one: here 1 and \
                  0.5. The numbers are shares of the buffer, which depend on nothing else. It shows DT; ABM is added \
                  here. Measured on one switch with packets of some thousandths of the buffer or less, and compared \
                  with equation 6.",
        text: include_str!("../../../../../scenarios/abm/fig4.toml"),
        files: &[],
        work: Work::Compute(measure_surfaces::steady_state),
        panels: vec![
            panel("DT: free buffer", "free", "share of the buffer").variants(&["DT"]),
            panel("DT: threshold of an AF queue", "af_threshold", "share of the buffer").variants(&["DT"]),
            panel("ABM: free buffer", "free", "share of the buffer").variants(&["ABM"]),
            panel("ABM: threshold of an AF queue", "af_threshold", "share of the buffer").variants(&["ABM"]),
        ],
        claims: claims_of_steady_states,
    }
}

/// Whether a number falls from each value of a key to the next, for all values of another.
fn falls(t: &Table, variant: &str, metric: &str, along: &str, other: &str) -> Vec<(String, bool)> {
    let at = |value: f64, fixed: f64| t.at(variant).and(along, value).and(other, fixed).get(metric).mean();
    let pairs: Vec<f64> = t.values(along);
    let steps = pairs.windows(2);
    steps
        .flat_map(|pair| {
            t.values(other).into_iter().map(move |fixed| {
                (
                    format!("{along} {} to {}, {other} {fixed}", pair[0], pair[1]),
                    at(pair[1], fixed) < at(pair[0], fixed),
                )
            })
        })
        .collect()
}

/// For every value of `along` after the first, and all values of `other`: how the number compares with that at the
/// first.
fn against_first(
    t: &Table,
    variant: &str,
    metric: &str,
    (along, other): (&str, &str),
    is_right: fn(f64) -> bool,
) -> Vec<(String, bool)> {
    let at = |value: f64, fixed: f64| t.at(variant).and(along, value).and(other, fixed).get(metric).mean();
    let Some(first) = t.values(along).first().copied() else { return Vec::new() };
    let mut points = Vec::new();
    for value in t.values(along).into_iter().skip(1) {
        for fixed in t.values(other) {
            points.push((format!("{along} {value}, {other} {fixed}"), is_right(at(value, fixed) / at(first, fixed))));
        }
    }
    points
}

fn last(t: &Table, key: &str) -> f64 {
    t.values(key).last().copied().unwrap_or(f64::NAN)
}

fn claims_of_steady_states(t: &Table) -> Vec<Measured> {
    let (af, be) = (last(t, "af"), last(t, "be"));
    let most = t.at("DT").and("af", af).and("be", be);
    let equation = t.rows().iter().map(|row| {
        let right = ["free", "af_threshold"].iter().all(|name| {
            let (seen, equation) = (row.metrics.get(name), row.metrics.get(&format!("{name}_equation")));
            (seen / equation - 1.0).abs() <= EXACT
        });
        let (af, be) = (row.point.number("af"), row.point.number("be"));
        (format!("{}, AF {af}, BE {be}", row.point.variant), right)
    });
    let same: fn(f64) -> bool = |ratio| (ratio - 1.0).abs() <= EXACT;
    vec![
        Measured::stat("dt-free-buffer-tends-zero-number", &most.get("free")).telling([af.to_string(), be.to_string()]),
        Measured::points("dt-af-threshold-drops-queues-congested", falls(t, "DT", "af_threshold", "be", "af")),
        Measured::points("dt-free-buffer-falls-queues", falls(t, "DT", "free", "be", "af")),
        Measured::points("isolation", against_first(t, "ABM", "af_threshold", ("be", "af"), same)),
        Measured::points("equation-6-lemma-2-give-free", equation.collect()),
    ]
}

const TOLERANCE: &str = include_str!("../../../../../scenarios/abm/fig5.toml");

/// A parameter of the figure's file; NaN if it is not there.
fn parameter(key: &str) -> f64 {
    let read = || {
        let document = Document::parse("scenarios/abm/fig5.toml", TOLERANCE).ok()?;
        Some(number_of(&document.root().table("parameters").ok()??.get(key)?.to_argument()))
    };
    read().unwrap_or(f64::NAN)
}

/// Rates at which the closed form is shown beside what was measured, in rates of a port.
const SHOWN: [f64; 4] = [2.0, 5.0, 12.0, 24.0];
const PORT: f64 = 10e9;

/// The volume of a burst at its first loss over its rate, in MB.
fn curve(scheme: fn(f64, f64, u32, u32, f64, Burst) -> Transient, ports: u32, per_port: u32) -> Vec<(f64, f64)> {
    let (buffer, alpha) = (parameter("buffer"), parameter("alpha"));
    let volume = |rate: f64| {
        let burst = Burst { queues: 1, omega: alpha, rate: rate * PORT, drain: PORT };
        scheme(buffer, alpha, ports, per_port, PORT, burst).volume() / 1e6
    };
    SHOWN.iter().map(|rate| (*rate, volume(*rate))).collect()
}

fn burst_tolerance() -> Figure {
    let panel = |letter, title, variants| {
        Panel::lines(letter, title)
            .x("rate", "arrival rate of the burst (x 10 Gb/s)", Unit::None)
            .y("volume", "burst tolerance", Unit::Megabytes)
            .variants(variants)
            .series_by("congested", "= ")
    };
    Figure {
        id: "fig5",
        number: "5",
        title: "How much of a burst is taken in before the first loss",
        setting: "A burst at a constant rate comes to an empty queue of an idle port, while other ports (a, c) or \
                  several queues of one port (b, d) have been overloaded for long. The tolerance is what has come \
                  until the first loss (equation 42). The paper gives neither the buffer nor the alphas: 9 MB and 1 \
                  for all fit what is left of its axes. Measured on one switch with packets of a thousandth of the \
                  tolerance or less; hollow marks: theorems 4 and 5.",
        text: TOLERANCE,
        files: &[],
        work: Work::Compute(measure_surfaces::burst_tolerance),
        panels: vec![
            panel("a", "DT, congested ports", &["DT, ports"])
                .paper("DT, ports = 1", &curve(dt::burst, 1, 1))
                .paper("DT, ports = 8", &curve(dt::burst, 8, 1)),
            panel("b", "DT, congested queues of a port", &["DT, queues"])
                .paper("DT, queues = 1", &curve(dt::burst, 1, 1))
                .paper("DT, queues = 8", &curve(dt::burst, 1, 8)),
            panel("c", "ABM, congested ports", &["ABM, ports"])
                .paper("ABM, ports = 1", &curve(abm::burst, 1, 1))
                .paper("ABM, ports = 8", &curve(abm::burst, 8, 1)),
            panel("d", "ABM, congested queues of a port", &["ABM, queues"])
                .paper("ABM, queues = 1", &curve(abm::burst, 1, 1))
                .paper("ABM, queues = 8", &curve(abm::burst, 1, 8)),
        ],
        claims: claims_of_tolerance,
    }
}

/// All points whose variant starts so: whether two of their numbers agree.
fn equal(t: &Table, variants: &str, seen: &str, expected: &str) -> Vec<(String, bool)> {
    let rows = t.rows().iter().filter(|row| row.point.variant.starts_with(variants));
    rows.map(|row| {
        let right = (row.metrics.get(seen) / row.metrics.get(expected) - 1.0).abs() <= EXACT;
        let (rate, congested) = (row.point.number("rate"), row.point.number("congested"));
        (format!("{} {congested} at {rate}", row.point.variant), right)
    })
    .collect()
}

fn claims_of_tolerance(t: &Table) -> Vec<Measured> {
    let no_less: fn(f64) -> bool = |ratio| ratio >= 1.0 - EXACT;
    let same: fn(f64) -> bool = |ratio| (ratio - 1.0).abs() <= EXACT;
    let many = last(t, "congested");
    let smallest = |variant: &str| {
        let volumes = t.values("rate").into_iter();
        Stat::smallest(volumes.map(|rate| t.at(variant).and("rate", rate).and("congested", many).get("volume")))
    };
    let keys = ("congested", "rate");
    vec![
        Measured::points(
            "dt-burst-tolerance-falls-number-congested",
            falls(t, "DT, ports", "volume", "congested", "rate"),
        ),
        Measured::points(
            "dt-burst-tolerance-falls-number-congested-2",
            falls(t, "DT, queues", "volume", "congested", "rate"),
        ),
        Measured::points("tolerance-ports", against_first(t, "ABM, ports", "volume", keys, no_less)),
        Measured::points("tolerance-queues", against_first(t, "ABM, queues", "volume", keys, same)),
        Measured::stat("abm-above-dt-ports", &smallest("ABM, ports").minus(&smallest("DT, ports")))
            .telling([many.to_string()]),
        Measured::stat("abm-above-dt-queues", &smallest("ABM, queues").minus(&smallest("DT, queues")))
            .telling([many.to_string()]),
        Measured::points("equations-6-8-give-dt-queue", equal(t, "DT", "length", "length_equation")),
        Measured::points("equations-10-11-give-abm-queue", equal(t, "ABM", "length", "length_equation")),
        Measured::points("theorems-4-5-give-both", equal(t, "", "length", "length_exact")),
    ]
}
