//! How FBA depends on the time between its updates.

use super::measure;
use crate::figure::{Figure, Work};
use crate::measured::Measured;
use crate::panel::Panel;
use crate::table::Table;
use crate::unit::Unit;

const ABSORBED: &str = "bursts.absorbed";
const OCCUPANCY: &str = "leaf.occupancy_p99";

/// One figure that the paper has only in words.
pub(super) fn figures() -> Vec<Figure> {
    vec![Figure {
        id: "fba-interval",
        number: "FBA's interval",
        title: "FBA between DT and FB as its updates become more frequent",
        setting: "Five queues a port, 90% background load, bursts of 70% of the buffer. The paper has an interval of 1 s only, and says that FBA comes \
                  nearer to FB as updates become more frequent. Figures 7 and 8 run FBA with 50 ms at the smaller scales, since 1 s is longer than \
                  their runs; this shows what that changes.",
        text: include_str!("../../../../../scenarios/fb/fba-interval.toml"),
        files: &[],
        work: Work::Simulate(measure::evaluation),
        panels: vec![
            Panel::bars("", "Burst absorption").y(ABSORBED, "bursts without a drop", Unit::Share),
            Panel::bars("", "99th percentile of the occupancy of the leaves' buffers").y(
                OCCUPANCY,
                "occupancy",
                Unit::Share,
            ),
        ],
        claims,
    }]
}

fn claims(table: &Table) -> Vec<Measured> {
    let absorbed = |scheme: &str| table.at(scheme).get(ABSORBED);
    let distance = |scheme: &str| absorbed(scheme).minus(&absorbed("FB")).map(f64::abs);
    let occupancy = |scheme: &str| table.at(scheme).get(OCCUPANCY);
    let slow = if table.variants().contains(&"FBA 1 s") { "FBA 1 s" } else { "FBA 100 ms" };
    vec![
        Measured::stat("fba-rare-updates-absorbs-bursts-dt", &absorbed(slow).minus(&absorbed("DT")))
            .telling([slow.to_string()]),
        Measured::stat("fba-comes-nearer-fb-frequent-updates", &distance(slow).minus(&distance("FBA 10 ms")))
            .telling([slow.to_string()]),
        Measured::stat("tail-occupancy", &occupancy(slow).minus(&occupancy("FBA 10 ms"))).telling([slow.to_string()]),
    ]
}
