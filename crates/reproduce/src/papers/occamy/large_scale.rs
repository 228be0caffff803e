//! Figures 16 to 19: 128 hosts at 100 Gb/s, where every 8 ports share 4 MB.

use super::{below, measure, most_below};
use crate::figure::{Figure, Work};
use crate::measured::Measured;
use crate::panel::Panel;
use crate::stat::Stat;
use crate::table::Table;
use crate::unit::Unit;

const QCT: &str = "slowdown.query.mean";
const QCT_P99: &str = "slowdown.query.p99";
const FCT: &str = "slowdown.background.mean";
const FCT_P99: &str = "slowdown.background.p99";
const SMALL_P99: &str = "slowdown.small.p99";

const SHARE: &str = "workload.1.request_share";
const FLOW: &str = "workload.0.sizes";
const REDUCED: &str = "workload.0.bytes";
const RATE: &str = "workload.1.rate_per_host";

/// "Little influence": the schemes are within a tenth of each other.
const LITTLE: f64 = 1.1;

pub(super) fn figures() -> Vec<Figure> {
    vec![web_search(), all_to_all(), all_reduce(), query_load()]
}

fn slowdown(letter: &'static str, title: &'static str, metric: &'static str) -> Panel {
    Panel::lines(letter, title).y(metric, "slowdown", Unit::None)
}

fn web_search() -> Figure {
    let panel = |letter, title, metric| slowdown(letter, title, metric).x(SHARE, "query size over buffer", Unit::Share);
    Figure {
        id: "fig16",
        number: "16",
        title: "Queries and web search on a leaf-spine network",
        setting: "8 leaves, 8 spines and 128 hosts at 100 Gb/s, 4 MB for every 8 ports, base round trip 80 us, DCTCP \
                  marking at 720 KB, minimum timeout 5 ms, 200 queries a second of each host to 16 hosts in other \
                  racks, web search at 90% of the uplinks as the authors count. Flows start within 30 ms in the \
                  authors' scripts. Slowdowns are over the authors' ideal: two round trips and the bytes at 100 Gb/s.",
        text: include_str!("../../../../../scenarios/occamy/fig16.toml"),
        files: &[],
        work: Work::Simulate(measure::slowdowns),
        panels: vec![
            panel("a", "Queries, mean", QCT),
            panel("a", "Background, mean", FCT),
            panel("b", "Queries, 99th percentile", QCT_P99),
            panel("b", "Background up to 100 KB, 99th percentile", SMALL_P99),
        ],
        claims: web_search_claims,
    }
}

fn web_search_claims(t: &Table) -> Vec<Measured> {
    let against = |metric, other| most_below(t, SHARE, metric, "Occamy", other);
    vec![
        Measured::stat("mean-qct-slowdown-occamy-below-dt", &against(QCT, "DT")),
        Measured::stat("mean-qct-slowdown-occamy-below-abm", &against(QCT, "ABM")),
        Measured::stat("99th-percentile-qct-slowdown-occamy-below", &against(QCT_P99, "DT")),
        Measured::stat("99th-percentile-qct-slowdown-occamy-below-2", &against(QCT_P99, "ABM")),
        Measured::stat("mean-fct-slowdown-occamy-below-dt", &against(FCT, "DT")),
        Measured::stat("mean-fct-slowdown-occamy-below-abm", &against(FCT, "ABM")),
        Measured::stat("small-flows-99th-percentile-fct-slowdown", &against(SMALL_P99, "DT")),
        Measured::stat("small-flows-99th-percentile-fct-slowdown-2", &against(SMALL_P99, "ABM")),
    ]
}

fn all_to_all() -> Figure {
    let panel = |letter, title, metric| {
        slowdown(letter, title, metric).x(FLOW, "size of a flow", Unit::Kilobytes).x_times(1e-3).log_x()
    };
    Figure {
        id: "fig17",
        number: "17",
        title: "Queries and all-to-all traffic",
        setting: "As figure 16, with queries of 0.3 buffers and all-to-all traffic of equal flows instead of web \
                  search. As in the authors' scripts a host has eight flows under way with others in random order; \
                  here it asks for them, there it sends them.",
        text: include_str!("../../../../../scenarios/occamy/fig17.toml"),
        files: &[],
        work: Work::Simulate(measure::slowdowns),
        panels: vec![panel("a", "Queries, mean", QCT), panel("b", "Background, 99th percentile", FCT_P99)],
        claims: |t| {
            vec![
                Measured::stat("mean-qct-occamy-below-dt", &most_below(t, FLOW, QCT, "Occamy", "DT")),
                Measured::stat("99th-percentile-fct-occamy-below-dt", &most_below(t, FLOW, FCT_P99, "Occamy", "DT")),
            ]
        },
    }
}

fn all_reduce() -> Figure {
    let panel = |letter, title, metric| {
        // A flow is half of what is reduced.
        slowdown(letter, title, metric).x(REDUCED, "size of a flow", Unit::Kilobytes).x_times(0.5e-3).log_x()
    };
    Figure {
        id: "fig18",
        number: "18",
        title: "Queries and all-reduce traffic",
        setting: "As figure 17, with all-reduces over double binary trees, all flows of a size. Here one starts every \
                  millisecond, and a flow waits for those below it in the tree; in the authors' scripts two are \
                  always under way, and all flows of a phase start at once.",
        text: include_str!("../../../../../scenarios/occamy/fig18.toml"),
        files: &[],
        work: Work::Simulate(measure::slowdowns),
        panels: vec![panel("a", "Queries, mean", QCT), panel("b", "Background, 99th percentile", FCT_P99)],
        claims: |t| {
            vec![
                Measured::stat("mean-qct-occamy-below-dt", &most_below(t, REDUCED, QCT, "Occamy", "DT")),
                Measured::stat("99th-percentile-fct-occamy-below-dt", &most_below(t, REDUCED, FCT_P99, "Occamy", "DT")),
            ]
        },
    }
}

fn query_load() -> Figure {
    // 186.26 queries of 0.8 buffers a second are 10% of a host's share of the uplinks.
    let panel = |letter, title, metric| {
        slowdown(letter, title, metric).x(RATE, "load of queries on the uplinks", Unit::Percent).x_times(10.0 / 186.26)
    };
    Figure {
        id: "fig19",
        number: "19",
        title: "More queries",
        setting: "As figure 16, with web search at 10% and queries of 0.8 buffers at 10% to 80% of the uplinks.",
        text: include_str!("../../../../../scenarios/occamy/fig19.toml"),
        files: &[],
        work: Work::Simulate(measure::slowdowns),
        panels: vec![panel("a", "Queries, mean", QCT), panel("b", "Background, mean", FCT)],
        claims: query_load_claims,
    }
}

fn query_load_claims(t: &Table) -> Vec<Measured> {
    let rates = t.values(RATE);
    let [Some(low), Some(high)] = [rates.first().copied(), rates.last().copied()] else { return Vec::new() };
    let fades = |scheme: &str| below(t, RATE, low, QCT, scheme, "DT").minus(&below(t, RATE, high, QCT, scheme, "DT"));
    let alike = |rate: f64| {
        let all = || t.variants().into_iter().map(|name| t.at(name).and(RATE, rate).get(FCT));
        Stat::largest(all()).at_most_times(LITTLE, &Stat::smallest(all()))
    };
    let loads = rates.iter().map(|rate| (format!("{:.0}%", rate / 18.626), alike(*rate))).collect();
    vec![
        Measured::stat("mean-qct-occamy-below-dt", &most_below(t, RATE, QCT, "Occamy", "DT")),
        Measured::stat("mean-qct-occamy-below-abm", &most_below(t, RATE, QCT, "Occamy", "ABM")),
        Measured::stat("occamy-gains-over-dt-lowest-load", &fades("Occamy")),
        Measured::stat("pushout-gains-over-dt-lowest-load", &fades("Pushout")),
        Measured::points("mean-fct-slowdowns-background-within-10", loads),
    ]
}
