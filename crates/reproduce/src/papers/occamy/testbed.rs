//! Figures 12 to 15: eight hosts at a software switch with 410 KB of buffer.

use super::{at_most, measure, most_below};
use crate::figure::{Figure, Variant, Work};
use crate::found::Found;
use crate::measured::Measured;
use crate::panel::Panel;
use crate::stat::Stat;
use crate::table::Table;
use crate::unit::Unit;

const SIZE: &str = "workload.1.request_share";
const LOAD: &str = "workload.0.load";
const MEAN: &str = "queries.query.qct_us.mean";
const P99: &str = "queries.query.qct_us.p99";
const TIMEOUTS: &str = "queries.with_timeouts";
const FCT: &str = "flows.background.all.fct_us.mean";
const SMALL: &str = "flows.background.short.fct_us.p99";

/// "Comparable": not more than a tenth longer.
const COMPARABLE: f64 = 1.1;
/// "Does not affect much", "similar": not more than a quarter longer.
const SIMILAR: f64 = 1.25;

pub(super) fn figures() -> Vec<Figure> {
    let answers = absorption().variant(&Variant {
        id: "fig12-answers",
        number: "12, how answers come",
        title: "16 answers a query, jitter, Linux's own timeout, and connections that are kept",
        setting: "As figure 12, with 16 answers a query from servers on seven hosts. Variants: answers that start within 100 us; a shortest timeout of 200 ms, \
                  Linux's own, with tail loss probes; connections that are kept.",
        text: include_str!("../../../../../scenarios/occamy/fig12-answers.toml"),
    });
    vec![absorption(), answers, isolation(), choking(), alpha()]
}

fn size_name(size: f64) -> String {
    format!("{:.0}%", 100.0 * size)
}

/// A panel over the size of queries, with a time in milliseconds.
fn over_size(letter: &'static str, title: &'static str, metric: &'static str, label: &str) -> Panel {
    let panel = Panel::lines(letter, title).x(SIZE, "query size over buffer", Unit::Share);
    panel.y(metric, label, Unit::Milliseconds).y_times(1e-3)
}

fn absorption() -> Figure {
    Figure {
        id: "fig12",
        number: "12",
        title: "Queries and background flows against the size of queries",
        setting: "Eight hosts at 10 Gb/s, 410 KB of buffer, DCTCP marking at 65 packets, web search at 50% load, \
                  queries answered by all other hosts, 180 s a point. The initial window of 83 packets, and from it a \
                  base round trip of 100 us, are from the authors' scripts. Here each other host sends one answer \
                  where the paper has 16 answers of 7 hosts; all start at the same instant; every flow is a new connection; a \
                  timeout is at least 10 ms, about which the paper says nothing.",
        text: include_str!("../../../../../scenarios/occamy/fig12.toml"),
        files: &[],
        work: Work::Simulate(measure::timeouts),
        panels: vec![
            over_size("a", "Queries, mean", MEAN, "QCT"),
            over_size("b", "Queries, 99th percentile", P99, "QCT"),
            over_size("c", "Background, mean", FCT, "FCT"),
            over_size("d", "Background below 100 KB, 99th percentile", SMALL, "FCT"),
            Panel::lines("", "Queries with a timeout (not in the paper)")
                .x(SIZE, "query size over buffer", Unit::Share)
                .y(TIMEOUTS, "share of queries", Unit::Share),
        ],
        claims: absorption_claims,
    }
}

/// The size of queries of which one in a hundred meets a timeout, which is when the 99th percentile shows it: between
/// the points of the sweep on straight lines, and from 0 to its first. The largest size if none has so many.
fn largest_without_timeouts(t: &Table, scheme: &str) -> Stat {
    const SHARE: f64 = 0.01;
    let all: Vec<(f64, Stat)> =
        t.values(SIZE).into_iter().map(|size| (size, t.at(scheme).and(SIZE, size).get(TIMEOUTS))).collect();
    let crossing = |seed: u64| {
        let share = |stat: &Stat| stat.values().iter().find(|(own, _)| *own == seed).map(|(_, share)| *share);
        // A seed that was not run of all sizes would count only if it crosses early.
        let shares: Option<Vec<(f64, f64)>> = all.iter().map(|(size, stat)| Some((*size, share(stat)?))).collect();
        let mut before = (0.0, 0.0);
        for (size, share) in shares? {
            if share > SHARE {
                let way = (SHARE - before.1) / (share - before.1);
                return Some(before.0 + way * (size - before.0));
            }
            before = (size, share);
        }
        Some(before.0)
    };
    Stat::new(t.seeds().into_iter().filter_map(|seed| crossing(seed).map(|size| (seed, size))))
}

fn absorption_claims(t: &Table) -> Vec<Measured> {
    let against = |other| most_below(t, SIZE, MEAN, "Occamy", other);
    let [dt, abm, occamy] = ["DT", "ABM", "Occamy"].map(|scheme| largest_without_timeouts(t, scheme));
    vec![
        Measured::stat("qct-vs-dt", &against("DT")),
        Measured::stat("qct-vs-abm", &against("ABM")),
        Measured::stat("without-timeouts", &occamy),
        Measured::stat("without-timeouts-vs-dt", &occamy.more_than_percent(&dt)),
        Measured::stat("without-timeouts-vs-abm", &occamy.more_than_percent(&abm)),
        Measured::points(
            "mean-fct-occamy-comparable-dt-abm",
            at_most(t, SIZE, FCT, "Occamy", &["DT", "ABM"], COMPARABLE, size_name),
        ),
        Measured::stat("99th-percentile-fct-small-flows-occamy", &most_below(t, SIZE, SMALL, "Occamy", "DT")),
        Measured::points(
            "99th-percentile-fct-small-flows-occamy-2",
            at_most(t, SIZE, SMALL, "Occamy", &["ABM"], COMPARABLE, size_name),
        ),
    ]
}

fn isolation() -> Figure {
    let panel = |letter, title, metric, size| {
        let panel = Panel::lines(letter, title).x(LOAD, "load of the background", Unit::Share);
        panel.y(metric, "QCT", Unit::Milliseconds).y_times(1e-3).only(SIZE, size)
    };
    Figure {
        id: "fig13",
        number: "13",
        title: "Queries beside background traffic in another queue",
        setting: "As figure 12, with two queues a port served by DRR: queries (DCTCP) in one, web search (CUBIC) in \
                  the other, at loads of 10% to 60%. The authors' script has queries of 1.7 buffers. Where all \
                  answers start at the same instant no scheme can hold these, so queries of half a buffer are run as \
                  well, which all can hold if it is empty.",
        text: include_str!("../../../../../scenarios/occamy/fig13.toml"),
        files: &[],
        work: Work::Simulate(measure::timeouts),
        panels: vec![
            panel("a", "Queries of 1.7 buffers, mean", MEAN, "1.7"),
            panel("b", "Queries of 1.7 buffers, 99th percentile", P99, "1.7"),
            panel("a'", "Queries of 0.5 buffers, mean", MEAN, "0.5"),
            panel("b'", "Queries of 0.5 buffers, 99th percentile", P99, "0.5"),
        ],
        claims: isolation_claims,
    }
}

fn isolation_claims(t: &Table) -> Vec<Measured> {
    let loads = t.values(LOAD);
    let [Some(low), Some(high)] = [loads.first().copied(), loads.last().copied()] else { return Vec::new() };
    let mut claims = Vec::new();
    for (size, which) in [(1.7, "1.7 buffers"), (0.5, "0.5 buffers")] {
        let at = |scheme: &str, load: f64, metric: &str| t.at(scheme).and(SIZE, size).and(LOAD, load).get(metric);
        for scheme in ["DT", "ABM"] {
            let more = at(scheme, high, TIMEOUTS).minus(&at(scheme, low, TIMEOUTS));
            claims.push(
                Measured::stat("queries-meet-timeouts-load-grows-lowest", &more)
                    .at([scheme.to_string(), which.to_string()]),
            );
        }
        for other in ["DT", "ABM"] {
            let gains = loads.iter().map(|load| at("Occamy", *load, P99).less_than_percent(&at(other, *load, P99)));
            let mean: Vec<Stat> = gains.collect();
            claims.push(
                Measured::stat("isolation-p99-vs", &Stat::average(&mean)).at([other.to_string(), which.to_string()]),
            );
        }
    }
    claims
}

fn choking() -> Figure {
    Figure {
        id: "fig14",
        number: "14",
        title: "High-priority queries with and without low-priority background traffic",
        setting: "One host receives queries with strict priority and web search (CUBIC, 11 Gb/s as in the authors' \
                  script) without; alpha is 8 for queries and 1 for the rest. The authors' queries have 1.5 to 2.5 \
                  buffers. Where all answers start at the same instant only 1.05 buffers fit even without any \
                  background, so smaller queries are run as well.",
        text: include_str!("../../../../../scenarios/occamy/fig14.toml"),
        files: &[],
        work: Work::Simulate(measure::timeouts),
        panels: vec![
            over_size("a", "Queries, mean", MEAN, "QCT").log_y(),
            over_size("b", "Queries, 99th percentile", P99, "QCT").log_y(),
        ],
        claims: choking_claims,
    }
}

fn choking_claims(t: &Table) -> Vec<Measured> {
    let sizes = t.values(SIZE);
    let at = |variant: &str, size: f64, metric: &str| t.at(variant).and(SIZE, size).get(metric);
    let longer = |scheme: &str, metric: &str| {
        let alone = format!("{scheme} alone");
        Stat::largest(sizes.iter().map(|size| at(scheme, *size, metric).more_than_percent(&at(&alone, *size, metric))))
    };
    let unaffected = |scheme: &str| {
        let alone = format!("{scheme} alone");
        let fine = |size: &f64| at(scheme, *size, MEAN).at_most_times(SIMILAR, &at(&alone, *size, MEAN));
        sizes.iter().map(|size| (size_name(*size), fine(size))).collect::<Vec<_>>()
    };
    let better: Vec<Stat> =
        sizes.iter().map(|size| at("ABM", *size, MEAN).less_than_percent(&at("DT", *size, MEAN))).collect();
    vec![
        Measured::points("occamy-unaffected", unaffected("Occamy")),
        Measured::points("mean-qct-pushout-background-about-without", unaffected("Pushout")),
        Measured::points(
            "mean-qct-occamy-background-similar-pushout",
            at_most(t, SIZE, MEAN, "Occamy", &["Pushout"], SIMILAR, size_name),
        ),
        Measured::stat("dt-choked", &longer("DT", MEAN)),
        Measured::stat("dt-background-makes-99th-percentile-qct", &longer("DT", P99)),
        Measured::stat("abm-background-makes-mean-qct-longer", &longer("ABM", MEAN)),
        Measured::stat("mean-qct-abm-below-dt-background", &Stat::average(&better)),
    ]
}

fn alpha() -> Figure {
    let panel = |letter, title, variants, metric| {
        over_size(letter, title, metric, "QCT").variants(variants).series_by("policy.alpha", "alpha ")
    };
    Figure {
        id: "fig15",
        number: "15",
        title: "Alpha of DT and of Occamy",
        setting: "As figure 13 with a background of 40% (the authors' script); 99th percentile QCT against the size \
                  of queries for alphas of 0.5 to 8. Smaller queries are run as well, for the reason given there.",
        text: include_str!("../../../../../scenarios/occamy/fig15.toml"),
        files: &[],
        work: Work::Simulate(measure::timeouts),
        panels: vec![
            panel("a", "DT, 99th percentile", &["DT"], P99),
            panel("b", "Occamy, 99th percentile", &["Occamy"], P99),
            panel("", "DT, mean (not in the paper)", &["DT"], MEAN),
            panel("", "Occamy, mean (not in the paper)", &["Occamy"], MEAN),
        ],
        claims: alpha_claims,
    }
}

fn alpha_claims(t: &Table) -> Vec<Measured> {
    const ALPHA: &str = "policy.alpha";
    let (sizes, alphas) = (t.values(SIZE), t.values(ALPHA));
    let at =
        |scheme: &str, size: f64, alpha: f64, metric: &str| t.at(scheme).and(SIZE, size).and(ALPHA, alpha).get(metric);
    let best = |size: f64, metric: &str| {
        alphas
            .iter()
            .copied()
            .min_by(|a, b| at("DT", size, *a, metric).mean().total_cmp(&at("DT", size, *b, metric).mean()))
            .unwrap_or(f64::NAN)
    };
    let is_moderate = |metric| {
        let named = sizes.iter().map(|size| (*size, best(*size, metric)));
        // The best is 1 or 2 if it is surely better than all others, and is not if another surely is.
        let is = |size: f64, best: f64| {
            let others =
                alphas.iter().copied().filter(|alpha| (*alpha == 1.0 || *alpha == 2.0) != (best == 1.0 || best == 2.0));
            let ahead = others.map(|other| at("DT", size, best, metric).less_than(&at("DT", size, other, metric)));
            Found::all(ahead).is(best == 1.0 || best == 2.0)
        };
        named.map(|(size, best)| (format!("{} (best {best})", size_name(size)), is(size, best))).collect::<Vec<_>>()
    };
    let grows = |metric| {
        let pairs = sizes.iter().flat_map(|size| alphas.windows(2).map(|pair| (*size, pair[0], pair[1])));
        pairs
            .map(|(size, less, more)| {
                let fine = at("Occamy", size, more, metric).at_most_times(1.05, &at("Occamy", size, less, metric));
                (format!("{}, {less} to {more}", size_name(size)), fine)
            })
            .collect::<Vec<_>>()
    };
    let close = |metric| {
        let near =
            |size: f64| at("Occamy", size, 8.0, metric).ratio(&at("Occamy", size, 4.0, metric)).between(0.9, 1.1);
        sizes.iter().map(|size| (size_name(*size), near(*size))).collect::<Vec<_>>()
    };
    vec![
        Measured::points("dt-alpha-1-2-best", is_moderate(P99)),
        Measured::points("dt-alpha-1-2-best-2", is_moderate(MEAN)),
        Measured::points("occamy-larger-alpha-better", grows(P99)),
        Measured::points("occamy-larger-alpha-better-2", grows(MEAN)),
        Measured::points("occamy-alpha-8-close-alpha-4", close(P99)),
    ]
}
