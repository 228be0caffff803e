//! Figure 10: more and more queues of each port.

use super::compare::{Along, INCAST, OCCUPANCY};
use super::measure;
use crate::claim::Claim;
use crate::figure::{Figure, Work};
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

fn claims(table: &Table) -> Vec<Claim> {
    let along = Along { table, key: QUEUES };
    let less = |protocol: &str, queues| {
        along.less(&format!("{protocol} with ABM"), &format!("{protocol} with DT"), queues, INCAST)
    };
    let both = |queues| Stat::average(&["Cubic", "DCTCP"].map(|protocol| less(protocol, queues)));
    let in_use = |variant: &str, queues| along.get(variant, queues, OCCUPANCY);
    let mut claims = vec![
        Claim::value(
            "DCTCP with 2 queues, less slowdown than with DT: as good as none",
            0.0,
            Unit::Percent,
            &less("DCTCP", 2.0),
        )
        .because(FEW),
        Claim::value("DCTCP with 4 queues, less slowdown than with DT: only", 10.0, Unit::Percent, &less("DCTCP", 4.0))
            .because(FEW),
        Claim::gain("Cubic and DCTCP with 5 queues, less slowdown than with DT", 88.9, &both(5.0)).because(MANY),
        Claim::gain("Cubic and DCTCP with 8 queues, less slowdown than with DT", 92.6, &both(8.0)).because(MANY),
        Claim::direction(
            "the gain grows from 2 queues to 8",
            "higher benefits",
            &both(8.0).minus(&both(2.0)),
            Unit::Percent,
        )
        .because(MANY),
        Claim::direction(
            "DCTCP with DT: more buffer in use with 8 queues than with 2",
            "uses more buffer",
            &in_use("DCTCP with DT", 8.0).minus(&in_use("DCTCP with DT", 2.0)),
            Unit::Share,
        )
        .because(IN_USE),
    ];
    for protocol in ["Cubic", "DCTCP"] {
        let abm = format!("{protocol} with ABM");
        let words = format!("{abm}: buffer in use with 8 queues, of that with 2");
        let ratio = in_use(&abm, 8.0).ratio(&in_use(&abm, 2.0));
        claims.push(Claim::value(words, 1.0, Unit::None, &ratio).because(IN_USE));
        let words = format!("{abm} and 8 queues: less buffer in use than with DT");
        let less = in_use(&abm, 8.0).less_than_percent(&in_use(&format!("{protocol} with DT"), 8.0));
        claims.push(Claim::direction(words, "remains low", &less, Unit::Percent).because(IN_USE));
    }
    claims
}

const FEW: &str = "What DT drops with few queues it drops in the spines, whose 8 ports have 768 KB, and where queries meet the web search of another leaf. With the 64 servers of \
                   the authors' script nothing waits at a spine, and DT drops nothing with 2 queues (tail 13, 120 ms, one seed).";
const MANY: &str = "More queues leave less of the buffer for a query, but at the spines, where DT drops most with 2 queues, they keep web search out of its queue. With 64 servers \
                    and 8 queues DT has 62% of the buffer in use in the tail (41% with 2), which leaves 0.73 MB for a query of 0.96 MB; but few queries meet that tail.";
const IN_USE: &str = "Marking is by queue, so that DCTCP may keep as many packets in each of several queues; ABM's thresholds bind only where a queue comes near them.";
