//! Figures 3, 10 and 11: one full queue, and a burst to another.

use super::measure_micro;
use crate::{Claim, Figure, Panel, Stat, Table, Unit, Work};

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
                Claim::value(
                    "Healthy: queue 2 gets its fair share before it loses a packet",
                    1.0,
                    Unit::Share,
                    &healthy.get("first_loss.of_fair_share"),
                ),
                Claim::value(
                    "Healthy: in the end queue 2 is as long as queue 1",
                    1.0,
                    Unit::Share,
                    &healthy.get("end.burst_of_lasting"),
                ),
            ];
            for (variant, why) in [("fast burst", "high arrival rate"), ("slow drain", "shared port")] {
                let at = t.at(variant);
                claims.push(Claim::direction(
                    format!("Anomalous ({why}): part of its fair share that queue 2 lacks when it loses a packet"),
                    "more than 0",
                    &rest(&at.get("first_loss.of_fair_share")),
                    Unit::Share,
                ));
                claims.push(Claim::direction(
                    format!("Anomalous ({why}): part of the buffer that queue 1 has above its threshold then"),
                    "more than 0",
                    &at.get("first_loss.excess_of_buffer"),
                    Unit::Share,
                ));
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

fn evolution_claims(t: &Table) -> Vec<Claim> {
    let mut claims = Vec::new();
    for (rate, called) in RATES {
        let at = |variant: &str, alpha: f64| t.at(variant).and("burst", rate).and("alpha", alpha);
        let gets = |variant: &str, alpha: f64| {
            let words = format!(
                "{variant}, alpha {alpha}, {called}: the burst has its fair share when it first loses a packet"
            );
            Claim::value(words, 1.0, Unit::Share, &at(variant, alpha).get("first_loss.of_fair_share"))
        };
        let shrunk = |alpha: f64| {
            let words = format!("Occamy, alpha {alpha}, {called}: the full queue has shrunk to its fair share by then");
            Claim::value(words, 1.0, Unit::Share, &at("Occamy", alpha).get("first_loss.lasting_of_fair_share"))
        };
        claims.extend([gets("Occamy", 1.0), shrunk(1.0), gets("Occamy", 4.0), shrunk(4.0)]);
        claims.push(gets("DT", 1.0).because(
            "With alpha 1 a queue that drains at 10 Gb/s follows its threshold only for bursts up to 30 Gb/s (equation 3). At 28 Gb/s the claim \
             holds; the paper does not say how fast its program sent.",
        ));
        claims.push(Claim::direction(
            format!("DT, alpha 4, {called}: part of its fair share that the burst lacks when it first loses a packet"),
            "more than 0",
            &rest(&at("DT", 4.0).get("first_loss.of_fair_share")),
            Unit::Share,
        ));
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

fn absorption_claims(t: &Table) -> Vec<Claim> {
    let mut claims = Vec::new();
    for (rate, called) in RATES {
        let at = |variant: &str, alpha: f64| t.at(variant).and("burst", rate).and("alpha", alpha);
        let absorbed = |variant: &str, alpha: f64| at(variant, alpha).get("absorbed_kb");
        claims.push(Claim::gain(
            format!("{called}: Occamy absorbs larger bursts than DT, alpha 4"),
            57.0,
            &absorbed("Occamy", 4.0).more_than_percent(&absorbed("DT", 4.0)),
        ));
        claims.push(Claim::gain(
            format!("{called}: Occamy absorbs larger bursts with alpha 4 than with alpha 1"),
            29.0,
            &absorbed("Occamy", 4.0).more_than_percent(&absorbed("Occamy", 1.0)),
        ));
        claims.push(Claim::gain(
            format!("{called}: DT absorbs smaller bursts with alpha 4 than with alpha 1"),
            12.0,
            &absorbed("DT", 4.0).less_than_percent(&absorbed("DT", 1.0)),
        ));
        let alphas = t.values("alpha");
        let more = alphas.iter().map(|alpha| {
            (format!("alpha {alpha}"), absorbed("Occamy", *alpha).minus(&absorbed("DT", *alpha)).low() > 0.0)
        });
        claims.push(
            Claim::every(
                format!("{called}: with the same alpha Occamy absorbs larger bursts than DT"),
                "with every alpha",
                more.collect(),
            )
            .because(
                "With alpha 1 bursts below 30 Gb/s leave DT healthy (equation 3): it gives them their fair share, which is all that Occamy has to give.",
            ),
        );
        let loses_less = alphas.iter().flat_map(|alpha| {
            t.values("size").into_iter().map(move |size| (*alpha, size)).map(|(alpha, size)| {
                let loss = |variant: &str| at(variant, alpha).and("size", size).get("loss").mean();
                (format!("alpha {alpha}, {} KB", size / 1e3), loss("Occamy") <= loss("DT") + 0.01)
            })
        });
        claims.push(Claim::every(
            format!("{called}: a burst loses no larger part with Occamy than with DT"),
            "every size",
            loses_less.collect(),
        ));
    }
    claims
}
