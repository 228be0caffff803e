//! Figure 8: what the background gets.

use super::bursts::{fba, fba_dctcp};
use super::measure;
use crate::claim::Claim;
use crate::figure::{Figure, Scale, Work};
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

fn multi_queue(table: &Table) -> Vec<Claim> {
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

fn single_queue(table: &Table) -> Vec<Claim> {
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

/// Some schemes at the chosen loads, as [`Claim::every`] wants it.
fn check(
    table: &Table,
    schemes: &[&str],
    loads: impl Fn(f64) -> bool,
    is_so: impl Fn(&str, f64) -> bool,
) -> Vec<(String, bool)> {
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

fn on_par(table: &Table, schemes: &[&str]) -> Claim {
    let is_so = |scheme: &str, load: f64| {
        let of = |scheme| get(table, scheme, load, UTILIZATION);
        of(scheme).less_than_percent(&of("DT")).mean() <= ON_PAR
    };
    Claim::every(
        "All use the uplinks as much as DT (at most 5% less)",
        "on par",
        check(table, schemes, |_| true, is_so),
    )
    .because(
        "with one queue a port FB drops every packet of the background that arrives behind a burst, whose queue is above alpha 0.5 over N; the flows then wait for \
         timeouts of 100 ms. It grows with the burst: at 90% load and bursts of 90% FB used 61% of the uplinks, DT 76%.",
    )
}

fn with_tcp(table: &Table, tcp: &str, dctcp: &str) -> Claim {
    Claim::direction(
        format!("With TCP the uplinks are used slightly more than with DCTCP ({tcp} less {dctcp}, mean over loads)"),
        "slightly more",
        &table.at(tcp).get(UTILIZATION).minus(&table.at(dctcp).get(UTILIZATION)),
        Unit::Share,
    )
    .because(
        "the difference is about 1% of the uplinks at most, either way: flows end, so that what is sent is what was asked for.",
    )
}

fn lowest_tail(table: &Table, best: &[&str], others: &[&str]) -> Claim {
    let is_so = |scheme: &str, load: f64| {
        let own = get(table, scheme, load, TAIL).mean();
        others.iter().all(|other| own <= get(table, other, load, TAIL).mean())
    };
    Claim::every("With DCTCP the tail of short flows is lowest", "lowest", check(table, best, |_| true, is_so)).because(
        "IB has a queue for flows of fewer than 72 packets that is served first: its tail, 0.6 to 1.3 ms, is lower still at most loads. DCTCP is next, but FBA's thresholds \
         of some 40 KB a queue at high load are below the marking threshold of 97.5 KB, so that DCTCP flows lose packets.",
    )
}

/// What the paper says about both halves.
fn about_tails(table: &Table) -> Vec<Claim> {
    let loads = table.values(LOAD);
    let gain = |load: &f64| get(table, "FB", *load, TAIL).less_than_percent(&get(table, "DT", *load, TAIL));
    let mean_gain = Stat::average(&loads.iter().map(gain).collect::<Vec<_>>());
    let mut claims =
        vec![Claim::gain("FB's tail of short flows is on average 34.1% below DT's, with TCP", 34.1, &mean_gain).because(
            "at loads of 80 to 90% more than 5% of the short flows wait for a timeout of 100 ms under both, so that both tails come to 100 ms; at lower loads FB's \
             shorter queues make the difference.",
        )];
    claims.extend(["DT", "FB"].map(|scheme| falls_again(table, scheme, &loads)));
    let none = |scheme: &str, load: f64| get(table, scheme, load, WITH_DROPS).mean() == 0.0;
    let low = check(table, &table.variants(), |load| load < 0.4, none);
    claims.push(Claim::every("Below a load of 40% no short flow loses a packet", "no drops", low).because(
        "the slow start of long flows, which nothing bounds but loss, fills the queue of its port at any load; at a load of 20% with TCP and five queues 1% of the short flows under DT and 3% under FB meet one.",
    ));
    claims
}

/// As the load grows the tail grows, and then falls: how far its largest value is above that of the largest load.
fn falls_again(table: &Table, scheme: &str, loads: &[f64]) -> Claim {
    let last = loads.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let before = loads.iter().filter(|load| **load < last).map(|load| get(table, scheme, *load, TAIL));
    Claim::direction(
        format!(
            "{scheme}'s tail of short flows grows with the load, then falls (largest less that of the largest load)"
        ),
        "increases, then decreases",
        &Stat::largest(before).minus(&get(table, scheme, last, TAIL)).times(1e-3),
        Unit::Milliseconds,
    )
    .because("the share of short flows that lose a packet grows all the way (DT with five queues: 1% at a load of 20%, 13% at 90%), and at 80 to 90% the tail arrives at the minimum timeout of 100 ms.")
    .needs(Scale::Default, "a quick run has two loads only")
}
