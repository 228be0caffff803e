//! Figure 8: Cubic, DCTCP and theta-PowerTCP in queues of their own.

use super::compare::{Along, INCAST, Rule};
use super::measure;
use crate::claim::Claim;
use crate::figure::{Figure, Work};
use crate::panel::Panel;
use crate::stat::Stat;
use crate::table::Table;
use crate::unit::Unit;

const LOAD: &str = "workload.0.load";
const CUBIC: &str = "slowdown.cubic.short.p99";
const DCTCP: &str = "slowdown.dctcp.short.p99";

pub(super) fn figure() -> Figure {
    let panel = |letter, title, metric| {
        Panel::lines(letter, title)
            .x(LOAD, "load of the uplinks by Cubic", Unit::Share)
            .y(metric, "99th percentile of slowdown", Unit::None)
            .log_y()
    };
    Figure {
        id: "fig8",
        number: "8",
        title: "Three transport protocols in queues of their own, against the load of Cubic",
        setting: "Short flows of web search with Cubic and with DCTCP (10% load), answers to queries with theta-PowerTCP. The paper gives neither DCTCP's load nor the \
                  request: they are those of the authors' script. All servers use all three protocols and send their flows in turn.",
        text: include_str!("../../../../../scenarios/abm/fig8.toml"),
        files: &[],
        work: Work::Simulate(measure::evaluation),
        panels: vec![panel("a", "Cubic", CUBIC), panel("b", "DCTCP", DCTCP), panel("c", "theta-PowerTCP", INCAST)],
        claims,
    }
}

fn claims(table: &Table) -> Vec<Claim> {
    let along = Along { table, key: LOAD };
    let (low, high) = (0.1, 0.6);
    let mut claims = Vec::new();
    for (name, metric, reason) in [("DCTCP", DCTCP, DCTCP_WITH_DT), ("theta-PowerTCP", INCAST, "")] {
        let grown = along.get("DT", high, metric).more_than_percent(&along.get("DT", low, metric));
        let words = format!("DT: slowdown of {name} grows with Cubic's load, from 10% to 60%");
        claims.push(Claim::direction(words, "significantly increases", &grown, Unit::Percent).because(reason));
    }
    for rule in Rule::BOTH {
        let abm = rule.variant();
        let gains = [DCTCP, INCAST]
            .map(|metric| Stat::largest(along.values().into_iter().map(|load| along.less(abm, "DT", load, metric))));
        let words = rule.words("DCTCP or theta-PowerTCP, less slowdown than with DT: up to");
        claims.push(Claim::gain(words, 90.92, &Stat::largest(gains)));
        for (name, metric, paper) in [("Cubic", CUBIC, 20.0), ("DCTCP", DCTCP, 20.0), ("theta-PowerTCP", INCAST, 10.0)]
        {
            let words = rule.words(format!("slowdown of {name} at 60% load"));
            claims.push(Claim::value(words, paper, Unit::None, &along.get(abm, high, metric)).because(LEVELS));
            let grown = along.get(abm, high, metric).ratio(&along.get(abm, low, metric));
            let words = rule.words(format!("slowdown of {name} at 60% load, of that at 10%"));
            claims.push(Claim::value(words, 1.0, Unit::None, &grown).because(STABLE));
        }
    }
    claims
}

const DCTCP_WITH_DT: &str = "DCTCP keeps its queues near 65 packets and needs little of the buffer that Cubic takes, so that few of its short flows lose packets: at the 99.9th \
                             percentile (100 ms, one seed) DT has 126 and ABM 12.";
const LEVELS: &str = "Levels depend on what the paper does not give. In the authors' script each protocol has servers of its own, and 8 of them answer with 147 KB each, of which only \
                      100 KB are unscheduled; here, answers then lost packets with ABM, too (58 with DT, 66 with ABM at 60% load). With 32 answers of 36 KB, and three queues \
                      served in turn, theta-PowerTCP stands at 16 without any loss.";
const STABLE: &str =
    "Short flows of Cubic wait behind its long ones, in queues that grow with the load up to their thresholds.";
