//! What PISA FB needs of a chip (sections 5.1 and 6.3).

use super::measure_pisa_resources;
use crate::{Claim, Figure, Panel, Table, Unit, Work};

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
            bars("Register arrays", "stateful-bytes", "memory", Unit::Bytes).log_y(),
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

fn claims(t: &Table) -> Vec<Claim> {
    let of = |variant: &str, metric: &str| t.at(variant).get(metric);
    let why = |variant: &str| {
        format!(
            "A control packet goes around once for each queue that it reads: {} times an interval for all of them together. They take 30 Mb/s with an interval of {}, and the recirculation port of 100 Gb/s can carry \
             {} at least. The paper's appendix has 30 KB/s for the same, which is a 125th of 30 Mb/s.",
            Unit::None.text(of(variant, "passes").mean()),
            Unit::Milliseconds.text(of(variant, "interval_ms").mean()),
            Unit::Microseconds.text(of(variant, "least_us").mean()),
        )
    };
    vec![
        Claim::value("Stages at ingress", 6.0, Unit::None, &of(USUAL, "ingress-stages")),
        Claim::value("Stages at egress", 3.0, Unit::None, &of(USUAL, "egress-stages")),
        Claim::value("Stateful memory of the testbed", 8e3, Unit::Bytes, &of(TESTBED, "stateful-bytes"))
            .because(MEMORY),
        Claim::value(
            "Stateful memory with the most ports and queues",
            27e3,
            Unit::Bytes,
            &of(LARGEST, "stateful-bytes"),
        )
        .because(MEMORY),
        Claim::value(
            "Control packets every 1 us take at most 30 Mb/s: the testbed",
            30.0,
            Unit::Mbps,
            &of(TESTBED, "gbps").times(1e3),
        )
        .because(why(TESTBED)),
        Claim::value(
            "Control packets every 1 us take at most 30 Mb/s: the most ports and queues",
            30.0,
            Unit::Mbps,
            &of(LARGEST, "gbps").times(1e3),
        )
        .because(why(LARGEST)),
    ]
}

const MEMORY: &str = "Ours counts the bytes of arrays that are as long as they need to be: a length of 4 bytes for each queue, twice, and a count for each port and priority. 8 KB is what 1,024 queues would need; the \
                      paper does not say how long its arrays are.";
