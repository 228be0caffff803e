//! Figure 8: what the background gets.

use super::bursts::{fba, fba_dctcp};
use super::measure;
use crate::figure::{Figure, Work};
use crate::found::Found;
use crate::measured::Measured;
use crate::panel::Panel;
use crate::stat::Stat;
use crate::table::Table;
use crate::unit::Unit;

const LOAD: &str = "workload.0.load";
const UTILIZATION: &str = "links.up.utilization_mean";
const TAIL: &str = "short.fct_us.p95";
const WITH_DROPS: &str = "short.with_drops";

/// Both halves of the figure.
pub(super) fn figures() -> Vec<Figure> {
    vec![
        Figure {
            id: "fig8-multi-queue",
            number: "8a, c",
            title: "Utilization of the uplinks and tail completion time of short flows against the load, five queues a port",
            setting: "Web search at 20 to 90% of the uplinks, bursts of 30% of the buffer (the paper does not say of which size). Short flows are \
                      the background's below 100 KB. Everything else as in figures 7a and 7c.",
            text: include_str!("../../../../../scenarios/fb/fig8-multi-queue.toml"),
            files: &[],
            work: Work::Simulate(measure::evaluation),
            panels: panels(["a", "c"]),
            claims: multi_queue,
        },
        Figure {
            id: "fig8-single-queue",
            number: "8b, d",
            title: "Utilization of the uplinks and tail completion time of short flows against the load, one queue a port",
            setting: "As figures 8a and 8c with one queue a port; schemes as in figures 7b and 7d.",
            text: include_str!("../../../../../scenarios/fb/fig8-single-queue.toml"),
            files: &[],
            work: Work::Simulate(measure::evaluation),
            panels: panels(["b", "d"]),
            claims: single_queue,
        },
    ]
}

fn panels([utilization, tail]: [&'static str; 2]) -> Vec<Panel> {
    vec![
        Panel::lines(utilization, "Utilization of the uplinks").x(LOAD, "background load", Unit::Share).y(
            UTILIZATION,
            "utilization",
            Unit::Share,
        ),
        Panel::lines(tail, "95th percentile of the completion times of short flows")
            .x(LOAD, "background load", Unit::Share)
            .y(TAIL, "completion time", Unit::Milliseconds)
            .y_times(1e-3)
            .log_y(),
    ]
}

fn multi_queue(table: &Table) -> Vec<Measured> {
    let (fba, fba_dctcp) = (fba(table), fba_dctcp(table));
    let mut claims = vec![
        on_par(table, &["DT, DCTCP", "IB", "FB", fba, fba_dctcp]),
        with_tcp(table, "DT", "DT, DCTCP"),
        with_tcp(table, fba, fba_dctcp),
        lowest_tail(table, &["DT, DCTCP", fba_dctcp], &["DT", "IB", "FB", fba]),
    ];
    claims.extend(about_tails(table));
    claims
}

fn single_queue(table: &Table) -> Vec<Measured> {
    let mut claims = vec![
        on_par(table, &["DT, DCTCP", "FAB", "FB"]),
        with_tcp(table, "DT", "DT, DCTCP"),
        lowest_tail(table, &["DT, DCTCP"], &["DT", "FAB", "FB"]),
    ];
    claims.extend(about_tails(table));
    claims
}

fn get(table: &Table, scheme: &str, load: f64, metric: &str) -> Stat {
    table.at(scheme).and(LOAD, load).get(metric)
}

/// Whether something is so, for some schemes at the chosen loads.
fn check(
    table: &Table,
    schemes: &[&str],
    loads: impl Fn(f64) -> bool,
    is_so: impl Fn(&str, f64) -> Found,
) -> Vec<(String, Found)> {
    let mut points = Vec::new();
    for load in table.values(LOAD).into_iter().filter(|load| loads(*load)) {
        let has_run = |scheme: &&&str| !table.at(scheme).and(LOAD, load).is_empty();
        for scheme in schemes.iter().filter(has_run) {
            points.push((format!("{scheme} at {:.0}%", 100.0 * load), is_so(scheme, load)));
        }
    }
    points
}

/// "On par": at most so many percent less.
const ON_PAR: f64 = 5.0;

fn on_par(table: &Table, schemes: &[&str]) -> Measured {
    let is_so = |scheme: &str, load: f64| {
        let of = |scheme| get(table, scheme, load, UTILIZATION);
        of(scheme).less_than_percent(&of("DT")).at_most(ON_PAR)
    };
    Measured::points("use-uplinks-much-dt", check(table, schemes, |_| true, is_so))
}

fn with_tcp(table: &Table, tcp: &str, dctcp: &str) -> Measured {
    Measured::stat(
        "tcp-uplinks-used-slightly-dctcp",
        &table.at(tcp).get(UTILIZATION).minus(&table.at(dctcp).get(UTILIZATION)),
    )
    .at([tcp.to_string(), dctcp.to_string()])
}

fn lowest_tail(table: &Table, best: &[&str], others: &[&str]) -> Measured {
    let is_so = |scheme: &str, load: f64| {
        let own = get(table, scheme, load, TAIL);
        Found::all(others.iter().map(|other| own.at_most_times(1.0, &get(table, other, load, TAIL))))
    };
    Measured::points("dctcp-tail-short-flows-lowest", check(table, best, |_| true, is_so))
}

/// What the paper says about both halves.
fn about_tails(table: &Table) -> Vec<Measured> {
    let loads = table.values(LOAD);
    let gain = |load: &f64| get(table, "FB", *load, TAIL).less_than_percent(&get(table, "DT", *load, TAIL));
    let mean_gain = Stat::average(&loads.iter().map(gain).collect::<Vec<_>>());
    let mut claims = vec![Measured::stat("fb-tail-short-flows-average-34.1", &mean_gain)];
    claims.extend(["DT", "FB"].map(|scheme| falls_again(table, scheme, &loads)));
    let none = |scheme: &str, load: f64| get(table, scheme, load, WITH_DROPS).at_most(0.0);
    let low = check(table, &table.variants(), |load| load < 0.4, none);
    claims.push(Measured::points("below-load-40-no-short-flow", low));
    claims
}

/// As the load grows the tail grows, and then falls: how far its largest value is above that of the largest load.
fn falls_again(table: &Table, scheme: &str, loads: &[f64]) -> Measured {
    let last = loads.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let before = loads.iter().filter(|load| **load < last).map(|load| get(table, scheme, *load, TAIL));
    Measured::stat(
        "tail-short-flows-grows-load-then",
        &Stat::largest(before).minus(&get(table, scheme, last, TAIL)).times(1e-3),
    )
    .at([scheme.to_string()])
}
