//! Figures 6 and 7: DT, FAB, CS, IB and ABM against the load of web search and against the size of queries.

use super::compare::{Along, INCAST, OCCUPANCY, OTHERS, Rule, SHORT, THROUGHPUT};
use super::measure;
use crate::figure::{Figure, Work};
use crate::measured::Measured;
use crate::panel::Panel;
use crate::stat::Stat;
use crate::table::Table;
use crate::unit::Unit;

const LOAD: &str = "workload.0.load";
const REQUEST: &str = "workload.1.request_share";

pub(super) fn figures() -> Vec<Figure> {
    vec![
        Figure {
            id: "fig6",
            number: "6",
            title: "Buffer management against the load of web search",
            setting: "All flows use Cubic; queries ask for 30% of a leaf's buffer. ABM runs twice: with the paper's rule (a queue is congested at 0.9 of its \
                      threshold) and with that of the authors' code (it counts by its share of 28 KB).",
            text: include_str!("../../../../../scenarios/abm/fig6.toml"),
            files: &[],
            work: Work::Simulate(measure::evaluation),
            panels: panels(LOAD, "load of the uplinks by web search"),
            claims: against_load,
        },
        Figure {
            id: "authors-setting",
            number: "6, in the authors' setting",
            title: "Buffer management against load, with the network of the authors' script",
            setting: "64 servers under two leaves, alpha 1 for ACKs and 1,024 for unscheduled packets, and a Cubic that behaves as ns-3's: what the authors' \
                      script sets, where the paper has 256 servers. The claims are those about figure 6.",
            text: include_str!("../../../../../scenarios/abm/authors-setting.toml"),
            files: &[],
            work: Work::Simulate(measure::evaluation),
            panels: panels(LOAD, "load of the uplinks by web search"),
            claims: against_load,
        },
        Figure {
            id: "fig7",
            number: "7",
            title: "Buffer management against the size of queries",
            setting: "All flows use Cubic; web search loads the uplinks to 40%. ABM runs twice, as in figure 6.",
            text: include_str!("../../../../../scenarios/abm/fig7.toml"),
            files: &[],
            work: Work::Simulate(measure::evaluation),
            panels: panels(REQUEST, "request, of a leaf's buffer"),
            claims: against_request,
        },
    ]
}

fn panels(key: &'static str, label: &str) -> Vec<Panel> {
    let panel = |letter, title| Panel::lines(letter, title).x(key, label, Unit::Share);
    vec![
        panel("a", "Answers to queries").y(INCAST, "99th percentile of slowdown", Unit::None).log_y(),
        panel("b", "Short flows of web search").y(SHORT, "99th percentile of slowdown", Unit::None).log_y(),
        panel("c", "Buffer in use").y(OCCUPANCY, "99th percentile of a leaf's buffer", Unit::Share),
        panel("d", "Throughput").y(THROUGHPUT, "use of the uplinks", Unit::Share),
    ]
}

fn against_load(table: &Table) -> Vec<Measured> {
    let along = Along { table, key: LOAD };
    let mut claims = Vec::new();
    for rule in Rule::BOTH {
        let abm = rule.variant();
        let incast = |load| along.less_on_average(abm, &OTHERS, load, INCAST);
        claims
            .push(Measured::stat("queries-20-load-slowdown-mean-four", &incast(0.2)).at([rule.variant().to_string()]));
        for load in [0.4, 0.8] {
            claims.push(
                Measured::stat("queries-load-slowdown-mean-four", &incast(load))
                    .at([rule.variant().to_string(), (load * 100.0).to_string()]),
            );
        }
        let best = Stat::largest(along.values().into_iter().map(incast));
        claims.push(Measured::stat("queries-slowdown-four", &best).at([rule.variant().to_string()]));
        for other in OTHERS {
            let less = along.less(abm, other, 0.2, SHORT);
            claims.push(
                Measured::stat("short-flows-20-load-slowdown", &less)
                    .at([rule.variant().to_string(), other.to_string()]),
            );
        }
        let short = |load| along.less_on_average(abm, &OTHERS, load, SHORT);
        claims.push(Measured::stat("short-flows-20-load-slowdown-mean", &short(0.2)).at([rule.variant().to_string()]));
        claims.push(Measured::stat("short-flows-80-load-slowdown-mean", &short(0.8)).at([rule.variant().to_string()]));
        let less_buffer = |others: &[&str]| along.less_everywhere(abm, others, OCCUPANCY);
        claims.push(
            Measured::stat("buffer-use-dt-fab-ib-over", &less_buffer(&["DT", "FAB", "IB"]))
                .at([rule.variant().to_string()]),
        );
        claims.push(Measured::stat("buffer-use-cs-over-loads", &less_buffer(&["CS"])).at([rule.variant().to_string()]));
        claims.push(
            Measured::points("throughput-least-95-others-every-load", along.on_par(abm, &OTHERS))
                .at([rule.variant().to_string()]),
        );
    }
    claims
}

fn against_request(table: &Table) -> Vec<Measured> {
    let along = Along { table, key: REQUEST };
    let mut claims = Vec::new();
    for rule in Rule::BOTH {
        let abm = rule.variant();
        for (others, names) in [(&["DT", "IB"][..], "DT and IB"), (&["FAB"], "FAB"), (&["CS"], "CS")] {
            let less = along.less_on_average(abm, others, 0.125, INCAST);
            claims.push(
                Measured::stat("queries-12.5-slowdown", &less).at([rule.variant().to_string(), names.to_string()]),
            );
        }
        let least = Stat::smallest(OTHERS.map(|other| along.less(abm, other, 0.5, INCAST)));
        claims.push(Measured::stat("queries-50-slowdown-each-four-least", &least).at([rule.variant().to_string()]));
        let gain = |request| along.less_on_average(abm, &OTHERS, request, INCAST);
        let grown = gain(0.5).minus(&gain(0.125));
        claims.push(Measured::stat("gain-grows-queries-12.5-50", &grown).at([rule.variant().to_string()]));
        let less = along.less_everywhere(abm, &OTHERS, SHORT);
        claims.push(Measured::stat("short-flows-slowdown-four-over-sizes", &less).at([rule.variant().to_string()]));
        let grown = along.get(abm, 0.75, OCCUPANCY).minus(&along.get(abm, 0.125, OCCUPANCY));
        claims.push(Measured::stat("buffer-use-grows-request", &grown).at([rule.variant().to_string()]));
        let more = |other: &&str| along.less(abm, other, 0.75, OCCUPANCY).times(-1.0);
        let more = Stat::average(&["DT", "FAB", "IB"].iter().map(more).collect::<Vec<_>>());
        claims.push(Measured::stat("buffer-use-dt-fab-ib-queries", &more).at([rule.variant().to_string()]));
        claims.push(
            Measured::points("throughput-least-95-others-every-size", along.on_par(abm, &OTHERS))
                .at([rule.variant().to_string()]),
        );
    }
    claims
}
