//! What PISA FB needs of a chip (sections 5.1 and 6.3).

use super::measure_pisa_resources;
use crate::{Figure, Measured, Panel, Table, Unit, Work};

const TESTBED: &str = "the testbed: 3 ports, 8 queues";
const USUAL: &str = "32 ports, 8 queues";
const LARGEST: &str = "64 ports, 32 queues";

/// The figure.
pub(super) fn figures() -> Vec<Figure> {
    let bars = |title, metric, label: &str, unit| Panel::bars("", title).y(metric, label, unit);
    vec![Figure {
        id: "resources",
        number: "resources",
        title: "Stages, memory and recirculation of PISA FB",
        setting: "Counted from the program of this project, for the paper's testbed and for larger chips. Control packets have 64 bytes, the least that Ethernet has; one of each kind starts in every interval, and \
                  goes around once for each queue that it reads.",
        text: include_str!("../../../../../scenarios/fb/resources.toml"),
        files: &[],
        work: Work::Compute(measure_pisa_resources::pisa_fb),
        panels: vec![
            bars("Register arrays", "stateful-bytes", "memory", Unit::Bytes)
                .log_y()
                .paper("", &[(0.0, 8e3), (3.0, 27e3)]),
            bars("Recirculated with an interval of 1 us", "gbps", "rate", Unit::Gbps).log_y(),
            bars("The interval at which 30 Mb/s are recirculated", "interval_ms", "interval", Unit::Milliseconds)
                .log_y(),
            bars(
                "The least interval that the recirculation port can carry",
                "least_us",
                "interval",
                Unit::Microseconds,
            )
            .log_y(),
        ],
        claims,
    }]
}

fn claims(t: &Table) -> Vec<Measured> {
    let of = |variant: &str, metric: &str| t.at(variant).get(metric);
    // Passes of control packets an interval, the interval at which they take 30 Mb/s, and the least that the port can
    // carry.
    let told = |variant: &str| {
        [
            Unit::None.text(of(variant, "passes").mean()),
            Unit::Milliseconds.text(of(variant, "interval_ms").mean()),
            Unit::Microseconds.text(of(variant, "least_us").mean()),
        ]
    };
    vec![
        Measured::stat("stages-ingress", &of(USUAL, "ingress-stages")),
        Measured::stat("stages-egress", &of(USUAL, "egress-stages")),
        Measured::stat("stateful-memory-testbed", &of(TESTBED, "stateful-bytes")),
        Measured::stat("stateful-memory-most-ports-queues", &of(LARGEST, "stateful-bytes")),
        Measured::stat("control-packets-every-1-us-take", &of(TESTBED, "gbps").times(1e3)).telling(told(TESTBED)),
        Measured::stat("control-packets-every-1-us-take-2", &of(LARGEST, "gbps").times(1e3)).telling(told(LARGEST)),
    ]
}
