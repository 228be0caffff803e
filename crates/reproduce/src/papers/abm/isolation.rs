//! Figure 8: Cubic, DCTCP and theta-PowerTCP in queues of their own.

use super::compare::{Along, INCAST, Rule};
use super::measure;
use crate::figure::{Figure, Work};
use crate::measured::Measured;
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

fn claims(table: &Table) -> Vec<Measured> {
    let along = Along { table, key: LOAD };
    let (low, high) = (0.1, 0.6);
    let mut claims = Vec::new();
    for (name, metric) in [("DCTCP", DCTCP), ("theta-PowerTCP", INCAST)] {
        let grown = along.get("DT", high, metric).more_than_percent(&along.get("DT", low, metric));
        claims.push(Measured::stat("dt-slowdown-grows-cubic-load-10", &grown).at([name.to_string()]));
    }
    for rule in Rule::BOTH {
        let abm = rule.variant();
        let gains = [DCTCP, INCAST]
            .map(|metric| Stat::largest(along.values().into_iter().map(|load| along.less(abm, "DT", load, metric))));
        claims.push(
            Measured::stat("dctcp-theta-powertcp-slowdown-dt", &Stat::largest(gains)).at([rule.variant().to_string()]),
        );
        for (name, metric) in [("Cubic", CUBIC), ("DCTCP", DCTCP), ("theta-PowerTCP", INCAST)] {
            claims.push(
                Measured::stat("slowdown-60-load", &along.get(abm, high, metric))
                    .at([rule.variant().to_string(), name.to_string()]),
            );
            let grown = along.get(abm, high, metric).ratio(&along.get(abm, low, metric));
            claims
                .push(Measured::stat("slowdown-60-load-10", &grown).at([rule.variant().to_string(), name.to_string()]));
        }
    }
    claims
}
