//! Figure 10: more and more queues of each port.

use super::compare::{Along, INCAST, OCCUPANCY};
use super::measure;
use crate::figure::{Figure, Work};
use crate::measured::Measured;
use crate::panel::Panel;
use crate::stat::Stat;
use crate::table::Table;
use crate::unit::Unit;

const QUEUES: &str = "switch.queues";

pub(super) fn figure() -> Figure {
    let panel = |letter, title| Panel::lines(letter, title).x(QUEUES, "queues of a port", Unit::None);
    Figure {
        id: "fig10",
        number: "10",
        title: "The same traffic over more and more queues of each port",
        setting: "Web search loads the uplinks to 40%, each flow in one of the data queues; queries of 25% of a leaf's buffer, all in one of them. One queue is for \
                  ACKs, and counts, as in the authors' script.",
        text: include_str!("../../../../../scenarios/abm/fig10.toml"),
        files: &[],
        work: Work::Simulate(measure::evaluation),
        panels: vec![
            panel("a", "Answers to queries").y(INCAST, "99th percentile of slowdown", Unit::None),
            panel("b", "Buffer in use").y(OCCUPANCY, "99th percentile of a leaf's buffer", Unit::Share),
        ],
        claims,
    }
}

fn claims(table: &Table) -> Vec<Measured> {
    let along = Along { table, key: QUEUES };
    let less = |protocol: &str, queues| {
        along.less(&format!("{protocol} with ABM"), &format!("{protocol} with DT"), queues, INCAST)
    };
    let both = |queues| Stat::average(&["Cubic", "DCTCP"].map(|protocol| less(protocol, queues)));
    let in_use = |variant: &str, queues| along.get(variant, queues, OCCUPANCY);
    let mut claims = vec![
        Measured::stat("dctcp-2-queues-slowdown-dt-good", &less("DCTCP", 2.0)),
        Measured::stat("dctcp-4-queues-slowdown-dt-only", &less("DCTCP", 4.0)),
        Measured::stat("cubic-dctcp-5-queues-slowdown-dt", &both(5.0)),
        Measured::stat("cubic-dctcp-8-queues-slowdown-dt", &both(8.0)),
        Measured::stat("gain-grows-2-queues-8", &both(8.0).minus(&both(2.0))),
        Measured::stat(
            "dctcp-dt-buffer-use-8-queues",
            &in_use("DCTCP with DT", 8.0).minus(&in_use("DCTCP with DT", 2.0)),
        ),
    ];
    for protocol in ["Cubic", "DCTCP"] {
        let abm = format!("{protocol} with ABM");
        let ratio = in_use(&abm, 8.0).ratio(&in_use(&abm, 2.0));
        claims.push(Measured::stat("buffer-use-8-queues-2", &ratio).at([abm.to_string()]));
        let less = in_use(&abm, 8.0).less_than_percent(&in_use(&format!("{protocol} with DT"), 8.0));
        claims.push(Measured::stat("8-queues-buffer-use-dt", &less).at([abm.to_string()]));
    }
    claims
}
