//! Figure 12: statistics that are brought up to date less and less often.

use super::measure;
use crate::figure::{Figure, Work};
use crate::measured::Measured;
use crate::panel::Panel;
use crate::stat::Stat;
use crate::table::Table;
use crate::unit::Unit;

const SHORT: &str = "slowdown.web-search.short.p999";
const LONG: &str = "slowdown.web-search.long.p50";
const ABM: [&str; 4] = ["ABM every 1 RTT", "ABM every 10 RTT", "ABM every 100 RTT", "ABM every 1000 RTT"];
const SET: [&str; 4] = ["DT set every 1 RTT", "DT set every 10 RTT", "DT set every 100 RTT", "DT set every 1000 RTT"];

pub(super) fn figure() -> Figure {
    Figure {
        id: "fig12",
        number: "12",
        title: "Statistics that are brought up to date every 1 to 1,000 round trips",
        setting: "Cubic; web search loads the uplinks to 40%, queries of 75% of a leaf's buffer, each flow in one of seven data queues. Twice: ABM with longer intervals, as \
                  in the authors' code, and DT whose alphas are set to ABM's, as the text has it, which cannot prefer unscheduled packets.",
        text: include_str!("../../../../../scenarios/abm/fig12.toml"),
        files: &[],
        work: Work::Simulate(measure::evaluation),
        panels: vec![
            Panel::bars("a", "Short flows of web search").y(SHORT, "99.9th percentile of slowdown", Unit::None).log_y(),
            Panel::bars("b", "Long flows of web search").y(LONG, "median of slowdown", Unit::None),
        ],
        claims,
    }
}

fn claims(table: &Table) -> Vec<Measured> {
    let get = |variant: &str, metric| table.at(variant).get(metric);
    let mut claims = Vec::new();
    for (variants, how) in [(ABM, ""), (SET, "; DT with alphas set")] {
        let all: Vec<(&str, Stat)> = variants.iter().map(|variant| (*variant, get(variant, SHORT))).collect();
        claims.push(Measured::order("short-flows-99.9th-percentile-slower-updates", &all).at([how.to_string()]));
        for variant in [variants[1], variants[2]] {
            let less = get(variant, SHORT).less_than_percent(&get("DT", SHORT));
            claims.push(Measured::stat("short-flows-slowdown-dt", &less).at([variant.to_string()]));
        }
        let ratio = get(variants[3], SHORT).ratio(&get("DT", SHORT));
        claims.push(Measured::stat("short-flows-slowdown-dt-2", &ratio).at([(variants[3]).to_string()]));
        let long = |variant: &&str| {
            let ratio = get(variant, LONG).ratio(&get("DT", LONG));
            ((*variant).to_owned(), ratio.between(0.9, 1.1))
        };
        claims.push(
            Measured::points("long-flows-median-within-10-dt", variants.iter().map(long).collect())
                .at([how.to_string()]),
        );
    }
    claims
}
