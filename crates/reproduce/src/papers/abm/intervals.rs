//! Figure 12: statistics that are brought up to date less and less often.

use super::measure;
use crate::claim::{Better, Claim};
use crate::figure::{Figure, Scale, Work};
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

fn claims(table: &Table) -> Vec<Claim> {
    let get = |variant: &str, metric| table.at(variant).get(metric);
    let mut claims = Vec::new();
    for (variants, how, reason) in [(ABM, "", UNSCHEDULED), (SET, "; DT with alphas set", NO_PREFERENCE)] {
        let all: Vec<(&str, Stat)> = variants.iter().map(|variant| (*variant, get(variant, SHORT))).collect();
        let words = format!("short flows, 99.9th percentile: the slower the updates, the worse{how}");
        claims.push(Claim::ranking(words, &variants, &all, Better::Less).because(reason).needs(Scale::Default, FEW));
        for (variant, paper) in [(variants[1], 84.05), (variants[2], 44.78)] {
            let less = get(variant, SHORT).less_than_percent(&get("DT", SHORT));
            let words = format!("short flows, less slowdown than DT: {variant}");
            claims.push(Claim::gain(words, paper, &less).because(reason).needs(Scale::Default, FEW));
        }
        let ratio = get(variants[3], SHORT).ratio(&get("DT", SHORT));
        let words = format!("short flows, slowdown of that with DT: {}", variants[3]);
        claims.push(Claim::value(words, 1.0, Unit::None, &ratio).because(reason).needs(Scale::Default, FEW));
        let long = |variant: &&str| {
            let ratio = get(variant, LONG).ratio(&get("DT", LONG));
            (!ratio.is_empty()).then(|| ((*variant).to_owned(), (ratio.mean() - 1.0).abs() <= 0.1))
        };
        let words = format!("long flows, median within 10% of DT's, at every interval{how}");
        claims.push(Claim::every(words, "not affected", variants.iter().filter_map(long).collect()));
    }
    claims
}

const FEW: &str = "Some 500 short flows a seed have no 99.9th percentile.";
const UNSCHEDULED: &str = "What saves short flows is the alpha of unscheduled packets, which does not depend on the interval: 11.5 with 1, 10 and 100 round trips, 89 with DT (100 ms, \
                           one seed).";
const NO_PREFERENCE: &str = "DT with ABM's alphas divides them by the congested queues and the drain rate, and gives short flows nothing for it: unscheduled packets meet smaller thresholds \
                             than DT's own.";
