//! Figure 5: a high-priority incast beside low-priority queues, with DT.

use crate::{Figure, Measured, Panel, Stat, Table, Unit, Work};

const SIZE: &str = "workload.0.request";
const WINDOW: &str = "transport.dctcp.initial_window";
const QCT: &str = "queries.incast.qct_us.mean";

pub(super) fn figures() -> Vec<Figure> {
    let panel = |letter, title, variants, window| {
        Panel::lines(letter, title)
            .x(SIZE, "query size", Unit::Megabytes)
            .x_times(1e-6)
            .y(QCT, "mean QCT", Unit::Milliseconds)
            .y_times(1e-3)
            .variants(variants)
            .only(WINDOW, window)
    };
    const SAME: &[&str] = &["no background", "same port"];
    const OTHER: &[&str] = &["no background", "another port"];
    vec![Figure {
        id: "fig5",
        number: "5",
        title: "Buffer choking, and fast bursts, with DT",
        setting: "Eight hosts at 40 Gb/s at a switch with 2 MB under DT, DCTCP with marks from 300 KB. Five hosts answer a sixth with 40 flows of high \
                  priority (alpha 8); two others send 14 endless flows through seven low-priority queues (alpha 1) of the same port, or of \
                  another. Without these the incast has alpha 1, so that it deserves 1 MB in all cases. In the paper a Huawei switch \
                  and Linux hosts. The first window is not in the paper: 699 packets are the authors' scripts', which makes a query one burst; 10 \
                  packets are the usual. A round trip takes 80 us, the shortest timeout is 10 ms (the paper gives neither).",
        text: include_str!("../../../../../scenarios/occamy/fig5.toml"),
        files: &[],
        work: Work::STANDARD,
        panels: vec![
            panel("a", "At the same port, first windows of 699 packets", SAME, "699"),
            panel("b", "At another port, first windows of 699 packets", OTHER, "699"),
            panel("a", "At the same port, first windows of 10 packets", SAME, "10"),
            panel("b", "At another port, first windows of 10 packets", OTHER, "10"),
        ],
        claims,
    }]
}

fn claims(t: &Table) -> Vec<Measured> {
    let mut claims = Vec::new();
    for window in [699.0, 10.0] {
        let at = |variant: &str, size: f64| t.at(variant).and(WINDOW, window).and(SIZE, size);
        let worse = |variant: &'static str| {
            let of_size = |size: f64| at(variant, size).get(QCT).more_than_percent(&at("no background", size).get(QCT));
            Stat::largest(t.values(SIZE).into_iter().map(of_size))
        };
        let (same, other) = (worse("same port"), worse("another port"));
        let called = format!("first windows of {window} packets");
        claims.push(Measured::stat("low-priority-traffic-port-prolongs-mean", &same).at([called.to_string()]));
        claims.push(Measured::stat("another-port", &other).at([called.to_string()]));
        let mean = |variant: &str| t.at(variant).and(WINDOW, window).get(QCT);
        let longer = Measured::stat(
            "queries-take-longer-port-another",
            &mean("same port").more_than_percent(&mean("another port")),
        )
        .at([called.to_string()]);
        claims.push(longer);
        let spared = |variant: &str| t.at(variant).and(WINDOW, window).get("queries.incast.without_drops");
        claims.push(
            Measured::stat(
                "loses-packets-would-lose-alone-queries",
                &spared("no background").minus(&spared("same port")),
            )
            .at([called.to_string()]),
        );
    }
    claims
}
