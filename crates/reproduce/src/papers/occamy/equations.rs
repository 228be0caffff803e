//! Equations 2 to 4, tried on a switch.

use super::measure_micro;
use crate::table::Row;
use crate::{Figure, Measured, Panel, Table, Unit, Work};
use forebay_analysis::occamy;

const ALPHAS: [f64; 6] = [0.5, 1.0, 2.0, 4.0, 8.0, 16.0];

pub(super) fn figures() -> Vec<Figure> {
    // Equation 3 with V = 1 (DT), and with eight ports' worth of expulsion divided among the full queues (Occamy).
    let fair = |expulsion: f64, full: u32| ALPHAS.map(|alpha| (alpha, occamy::fair_rate(expulsion, alpha, 1, full)));
    let free = |full: u32| ALPHAS.map(|alpha| (alpha, occamy::free(1.0, alpha, full)));
    let panel = |letter, title, full, bursts| {
        Panel::lines(letter, title)
            .x("alpha", "alpha", Unit::None)
            .log_x()
            .y("fair_rate", "largest fair rate, in port rates", Unit::None)
            .only("full", full)
            .only("bursts", bursts)
    };
    vec![Figure {
        id: "equations",
        number: "equations 2 to 4",
        title: "What stays free, and which bursts get their fair share",
        setting: "The paper gives formulas and examples. Here N queues have been full for long, each at a port of its own, when bursts come to M other \
                  ports; the largest rate is searched at which a burst has its fair share before it loses a packet. The switch has \
                  10 MB; with Occamy there are eight idle ports whose memory bandwidth is spare. V, the rate at which a full queue \
                  gets shorter, is then that of its port and its part of the expulsions: 1 + 8/N ports; with DT it is one port.",
        text: include_str!("../../../../../scenarios/occamy/equations.toml"),
        files: &[],
        work: Work::Compute(measure_micro::equations),
        panels: vec![
            Panel::lines("", "Equation 2: what stays free with N full queues")
                .x("alpha", "alpha", Unit::None)
                .log_x()
                .y("free", "free buffer", Unit::Share)
                .variants(&["DT"])
                .series_by("full", "N = ")
                .paper("equation 2, N = 1", &free(1))
                .paper("equation 2, N = 4", &free(4)),
            panel("", "Equation 3: fair bursts, N = 1, M = 1", "1", "1")
                .paper("equation 3, DT", &fair(1.0, 1))
                .paper("equation 3, Occamy", &fair(9.0, 1)),
            panel("", "Equation 3: fair bursts, N = 4, M = 1", "4", "1")
                .paper("equation 3, DT", &fair(1.0, 4))
                .paper("equation 3, Occamy", &fair(3.0, 4)),
        ],
        claims,
    }]
}

/// Whether two numbers of each point of a variant are equal to within a part.
fn agree(t: &Table, variant: &str, measured: &str, formula: &str, within: f64) -> Vec<(String, bool)> {
    let of = |row: &&Row| {
        let (a, b) = (row.metrics.get(measured), row.metrics.get(formula));
        let name = ["alpha", "full", "bursts"].map(|key| row.point.number(key));
        (format!("alpha {} N {} M {}", name[0], name[1], name[2]), (a / b - 1.0).abs() <= within)
    };
    t.at(variant).rows().iter().map(of).collect()
}

fn claims(t: &Table) -> Vec<Measured> {
    let free = |alpha: f64| t.at("DT").and("alpha", alpha).and("full", 1.0).get("free");
    let spare = "Occamy without spare bandwidth";
    let at_half = |row: &&Row| {
        (format!("alpha {}", row.point.number("alpha")), row.metrics.get("half.part_of_fair_share") >= 0.98)
    };
    let one = t.at("Occamy").and("full", 1.0).and("bursts", 1.0);
    let occamy = t.at("Occamy");
    let faster = occamy.rows().iter().map(|row| {
        let key = |name: &str| row.point.number(name);
        let dt = t.at("DT").and("alpha", key("alpha")).and("full", key("full")).and("bursts", key("bursts"));
        let name = format!("alpha {} N {} M {}", key("alpha"), key("full"), key("bursts"));
        (name, row.metrics.get("fair_rate") > dt.get("fair_rate").mean())
    });
    let faster = faster.collect();
    vec![
        Measured::points("equation-2-stays-free-b", agree(t, "DT", "free", "free.equation", 0.02)),
        Measured::points("equation-2-occamy-admits-dt-does", agree(t, "Occamy", "free", "free.equation", 0.02)),
        Measured::stat("alpha-8-queue-much-buffer", &free(8.0).map(|f| 1.0 - f)),
        Measured::stat("alpha-16-instead-8-uses-many", &free(8.0).minus(&free(16.0)).times(100.0)),
        Measured::points("equation-3-dt-largest-fair-rate", agree(t, "DT", "fair_rate", "fair_rate.equation", 0.05)),
        Measured::points(
            "equation-3-occamy-largest-fair-rate",
            agree(t, "Occamy", "fair_rate", "fair_rate.equation", 0.05),
        ),
        Measured::points("c-place-first-v", agree(t, "Occamy", "fair_rate", "fair_rate.port", 0.05)),
        Measured::points("equation-4-n-m-1-v", one.rows().iter().map(at_half).collect()),
        Measured::points("higher-expulsion-rate-lets-faster-bursts", faster),
        Measured::points(
            "without-spare-memory-bandwidth-occamy-like",
            agree(t, spare, "fair_rate", "fair_rate.equation", 0.05),
        ),
    ]
}
