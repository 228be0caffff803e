//! Figures 3, 10 and 11: one full queue, and a burst to another.

use super::measure_micro;
use crate::{Figure, Measured, Panel, Stat, Table, Unit, Work};

pub(super) fn figures() -> Vec<Figure> {
    vec![healthy_or_not(), evolution(), absorption()]
}

/// A panel of queue lengths over time.
fn lengths(letter: &'static str, title: &'static str) -> Panel {
    Panel::curves(letter, title)
        .x("", "time since the burst began", Unit::Microseconds)
        .y("", "length", Unit::Kilobytes)
        .curve("threshold", "threshold")
        .curve("lasting", "long-lived traffic")
        .curve("burst", "burst")
}

/// What is missing to the whole.
fn rest(of: &Stat) -> Stat {
    of.map(|part| 1.0 - part)
}

fn healthy_or_not() -> Figure {
    Figure {
        id: "fig3",
        number: "3",
        title: "DT, healthy and anomalous",
        setting: "In the paper a sketch of two queues without numbers. Here: two ports of 10 Gb/s that share 2 MB, alpha 1. Queue 1 has \
                  been at its threshold for long when packets come to queue 2: at 20 Gb/s; at 100 Gb/s; and at 20 Gb/s to the port \
                  of queue 1, which has to wait while queue 2 sends.",
        text: include_str!("../../../../../scenarios/occamy/fig3.toml"),
        files: &[],
        work: Work::Compute(measure_micro::healthy_or_not),
        panels: vec![
            lengths("a", "Healthy: a burst at twice the port's rate").variants(&["healthy"]),
            lengths("b", "Anomalous: a burst at ten times the port's rate").variants(&["fast burst"]),
            lengths("b", "Anomalous: the full queue drains too slowly").variants(&["slow drain"]),
        ],
        claims: |t| {
            let healthy = t.at("healthy");
            let mut claims = vec![
                Measured::stat("healthy-queue-2-gets-fair-share", &healthy.get("first_loss.of_fair_share")),
                Measured::stat("healthy-end-queue-2-long-queue", &healthy.get("end.burst_of_lasting")),
            ];
            for (variant, why) in [("fast burst", "high arrival rate"), ("slow drain", "shared port")] {
                let at = t.at(variant);
                claims.push(
                    Measured::stat("anomalous-part-fair-share-queue-2", &rest(&at.get("first_loss.of_fair_share")))
                        .at([why.to_string()]),
                );
                claims.push(
                    Measured::stat("anomalous-part-buffer-queue-1-above", &at.get("first_loss.excess_of_buffer"))
                        .at([why.to_string()]),
                );
            }
            claims
        },
    }
}

/// What holds for figures 10 and 11.
const TESTBED: &str = "A sender with two links of 100 Gb/s and two receivers with one of 10 Gb/s each at a Tofino switch, whose program counts \
                       16,384 cells of 80 bytes. Long-lived traffic fills the queue to one receiver, then a burst comes to the other. \
                       Here the algorithms themselves run, without the prototype's delays (its queue lengths travel by recirculating packets: see the same figures on the P4 form); \
                       packets have 1500 bytes. How fast the sender's program sent is not said: once at the rate of its link, and once \
                       at 28 Gb/s, which fits the paper's own numbers (57% and the formula of DT's transient give 28.4 Gb/s).";

/// The rates of bursts, and how the first is called.
const RATES: [(f64, &str); 2] = [(100.0, "100 Gb/s"), (28.0, "28 Gb/s")];

fn evolution() -> Figure {
    let panel = |letter, title, variant, alpha, rate| {
        lengths(letter, title).variants(variant).only("alpha", alpha).only("burst", rate)
    };
    Figure {
        id: "fig10",
        number: "10",
        title: "Queue lengths while a burst comes",
        setting: TESTBED,
        text: include_str!("../../../../../scenarios/occamy/fig10.toml"),
        files: &[],
        work: Work::Compute(measure_micro::evolution),
        panels: vec![
            panel("a", "Occamy, alpha 1, burst at 100 Gb/s", &["Occamy"], "1", "100Gbps"),
            panel("b", "Occamy, alpha 4, burst at 100 Gb/s", &["Occamy"], "4", "100Gbps"),
            panel("c", "DT, alpha 1, burst at 100 Gb/s", &["DT"], "1", "100Gbps"),
            panel("d", "DT, alpha 4, burst at 100 Gb/s", &["DT"], "4", "100Gbps"),
            panel("c", "DT, alpha 1, burst at 28 Gb/s", &["DT"], "1", "28Gbps"),
            panel("d", "DT, alpha 4, burst at 28 Gb/s", &["DT"], "4", "28Gbps"),
        ],
        claims: evolution_claims,
    }
}

fn evolution_claims(t: &Table) -> Vec<Measured> {
    let mut claims = Vec::new();
    for (rate, called) in RATES {
        let at = |variant: &str, alpha: f64| t.at(variant).and("burst", rate).and("alpha", alpha);
        let gets = |variant: &str, alpha: f64| {
            Measured::stat("alpha-burst-fair-share-when-first", &at(variant, alpha).get("first_loss.of_fair_share"))
                .at([variant.to_string(), alpha.to_string(), called.to_string()])
        };
        let shrunk = |alpha: f64| {
            Measured::stat(
                "occamy-alpha-full-queue-shrunk-fair",
                &at("Occamy", alpha).get("first_loss.lasting_of_fair_share"),
            )
            .at([alpha.to_string(), called.to_string()])
        };
        claims.extend([gets("Occamy", 1.0), shrunk(1.0), gets("Occamy", 4.0), shrunk(4.0)]);
        claims.push(gets("DT", 1.0));
        claims.push(
            Measured::stat("dt-alpha-4-part-fair-share", &rest(&at("DT", 4.0).get("first_loss.of_fair_share")))
                .at([called.to_string()]),
        );
    }
    claims
}

fn absorption() -> Figure {
    let panel = |letter, title, alpha| {
        Panel::lines(letter, title)
            .x("size", "burst size", Unit::Kilobytes)
            .x_times(1e-3)
            .y("loss", "loss of the burst", Unit::Share)
            .only("alpha", alpha)
            .series_by("burst", "at ")
    };
    Figure {
        id: "fig11",
        number: "11",
        title: "Loss of bursts against their size",
        setting: TESTBED,
        text: include_str!("../../../../../scenarios/occamy/fig11.toml"),
        files: &[],
        work: Work::Compute(measure_micro::absorption),
        panels: vec![panel("b", "Alpha 1", "1"), panel("c", "Alpha 2", "2"), panel("d", "Alpha 4", "4")],
        claims: absorption_claims,
    }
}

fn absorption_claims(t: &Table) -> Vec<Measured> {
    let mut claims = Vec::new();
    for (rate, called) in RATES {
        let at = |variant: &str, alpha: f64| t.at(variant).and("burst", rate).and("alpha", alpha);
        let absorbed = |variant: &str, alpha: f64| at(variant, alpha).get("absorbed_kb");
        claims.push(
            Measured::stat(
                "occamy-absorbs-larger-bursts-dt-alpha",
                &absorbed("Occamy", 4.0).more_than_percent(&absorbed("DT", 4.0)),
            )
            .at([called.to_string()]),
        );
        claims.push(
            Measured::stat(
                "occamy-absorbs-larger-bursts-alpha-4",
                &absorbed("Occamy", 4.0).more_than_percent(&absorbed("Occamy", 1.0)),
            )
            .at([called.to_string()]),
        );
        claims.push(
            Measured::stat(
                "dt-absorbs-smaller-bursts-alpha-4",
                &absorbed("DT", 4.0).less_than_percent(&absorbed("DT", 1.0)),
            )
            .at([called.to_string()]),
        );
        let alphas = t.values("alpha");
        let more = alphas.iter().map(|alpha| {
            (format!("alpha {alpha}"), absorbed("Occamy", *alpha).minus(&absorbed("DT", *alpha)).above(0.0))
        });
        claims.push(Measured::points("alpha-occamy-absorbs-larger-bursts-dt", more.collect()).at([called.to_string()]));
        let loses_less = alphas.iter().flat_map(|alpha| {
            t.values("size").into_iter().map(move |size| (*alpha, size)).map(|(alpha, size)| {
                let loss = |variant: &str| at(variant, alpha).and("size", size).get("loss");
                (format!("alpha {alpha}, {} KB", size / 1e3), loss("Occamy").minus(&loss("DT")).at_most(0.01))
            })
        });
        claims
            .push(Measured::points("burst-loses-no-larger-part-occamy", loses_less.collect()).at([called.to_string()]));
    }
    claims
}
