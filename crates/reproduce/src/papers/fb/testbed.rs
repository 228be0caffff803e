//! Figure 9: PISA FB on a testbed (section 6.3).

use super::measure_testbed;
use crate::{Figure, Measured, Panel, Table, Unit, Work};

const SPREAD: &str = "workload.7.jitter";

/// The figure at the rate of the text, and a thousand times as fast.
pub(super) fn figures() -> Vec<Figure> {
    let panels = |spreads: [&'static str; 3]| {
        let cdf = |title, spread| {
            Panel::curves("b", title)
                .x("", "completion time", Unit::Milliseconds)
                .log_x()
                .y("", "share of flows", Unit::Share)
                .only(SPREAD, spread)
                .curve("fct", "")
        };
        let bars = |title, metric, label: &str, unit| {
            Panel::bars("", title).x(SPREAD, "flows start within", Unit::None).y(metric, label, unit)
        };
        vec![
            cdf("Flows start at once", spreads[0]),
            cdf("Flows start while half of them can be sent", spreads[1]),
            cdf("Flows start while all of them can be sent", spreads[2]),
            bars("Mean completion time", "fct_ms.mean", "completion time", Unit::Milliseconds),
            bars("Flows that lost a packet", "with_drops", "flows", Unit::Share),
            bars("Buffer that UDP holds when TCP starts", "udp.occupancy", "of the buffer", Unit::Share),
        ]
    };
    let figure = |id, number, title, setting, text, panels| Figure {
        id,
        number,
        title,
        setting,
        text,
        files: &[],
        work: Work::Simulate(measure_testbed::flows),
        panels,
        claims,
    };
    vec![
        figure(
            "fig9",
            "9",
            "Short TCP flows beside UDP: PISA FB and DT",
            "A Tofino with ports of 80 kb/s, 9,000 cells and 8 queues a port; seven hold UDP to one port (alpha 0.6), one holds 100 TCP flows of 8 KB to another (alpha 0.8). \
             DT is the traffic manager's own; PISA FB is the program on the chip, with control packets every 10 ms; FB is the exact algorithm. The paper does not say how fast \
             UDP is (here 3.5 times the port), which TCP (Cubic, Linux's timers) and when flows start: here within 0 to 320 s.",
            include_str!("../../../../../scenarios/fb/fig9.toml"),
            panels(["0s", "40s", "80s"]),
        ),
        figure(
            "fig9-faster",
            "9, a thousand times faster",
            "The same with ports of 80 Mb/s",
            "At 80 kb/s a flow of 8 KB alone takes 0.82 s, and 100 KB of queue are 10 s, longer than TCP's timers. This is the same with rates a thousand times higher, \
             where a flow alone takes less than a millisecond and a timeout is what costs time; control packets start every 100 us.",
            include_str!("../../../../../scenarios/fb/fig9-faster.toml"),
            panels(["0s", "40ms", "80ms"]),
        ),
    ]
}

fn claims(t: &Table) -> Vec<Measured> {
    let mut claims = vec![Measured::stat(
        "pisa-fb-limits-buffer-udp-holds",
        &t.at("DT").get("udp.occupancy").minus(&t.at("PISA FB").get("udp.occupancy")),
    )];
    let less = |spread: &str, metric: &str| {
        let of = |variant: &str| t.at(variant).with(SPREAD, spread).get(metric);
        of("DT").minus(&of("PISA FB"))
    };
    let meet: Vec<&str> = t.texts(SPREAD).into_iter().filter(|spread| flows_meet(t, spread)).collect();
    for spread in t.texts(SPREAD) {
        let of = |variant: &str, metric: &str| t.at(variant).with(SPREAD, spread).get(metric);
        claims.push(
            Measured::stat(
                "pisa-fb-reduces-mean-completion-time",
                &less(spread, "fct_ms.mean").map(|gain| gain - 50.0),
            )
            .at([spread]),
        );
        claims.push(
            Measured::stat(
                "pisa-fb-mean-completion-time-fb",
                &of("PISA FB", "fct_ms.mean").ratio(&of("FB", "fct_ms.mean")),
            )
            .at([spread]),
        );
    }
    for spread in &meet {
        let deciles = (1..10).map(|decile| {
            let gain = less(spread, &format!("fct_ms.p{decile}0"));
            (format!("{decile}0% ({})", Unit::Milliseconds.text(gain.mean())), gain.at_least(50.0))
        });
        claims.push(Measured::points("flows-start-within-does-every-decile", deciles.collect()).at([spread]));
    }
    let drops = meet.iter().map(|spread| {
        let fewer = less(spread, "with_drops");
        (format!("within {spread} ({})", Unit::Share.text(fewer.mean())), fewer.above(0.0))
    });
    claims.push(Measured::points("fewer-flows-lose-packet-pisa-fb", drops.collect()));
    claims
}

/// Whether flows start so close to each other that DT drops some of their packets.
fn flows_meet(t: &Table, spread: &str) -> bool {
    t.at("DT").with(SPREAD, spread).get("with_drops").mean() >= 0.02
}
