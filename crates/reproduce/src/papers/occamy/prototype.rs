//! Figures 10 and 11 on the P4 form (section 5.2).

use super::measure_prototype;
use crate::table::Selection;
use crate::{Figure, Measured, Panel, Stat, Table, Unit, Work};

const RATE: &str = "transport.burst.rate";
const ALPHA: &str = "chip.options.alpha";
const LATENCY: &str = "chip.latency";
const SYNCS: &str = "chip.options.syncs";
const SIZE: &str = "workload.1.request";

/// What the claims of the paper are checked with: a round of control packets as fast as the chip is said to be.
const USUAL: f64 = 1.0;

const SETTING: &str = "As figures 10 and 11, on a chip: control packets go over the four queues, one queue a time around, and bring lengths and \
                       threshold to ingress and egress. Ingress admits with these; egress drops packets of queues above the threshold, and the port \
                       reads the next one at 100 Gb/s. Every run is set against the exact algorithm on the same arrivals. The paper does not say how \
                       long a control packet takes to come around.";

pub(super) fn figures() -> Vec<Figure> {
    vec![evolution(), absorption()]
}

fn evolution() -> Figure {
    let panel = |letter, title, variant, alpha| {
        Panel::curves(letter, title)
            .x("", "time since the burst began", Unit::Microseconds)
            .y("", "length", Unit::Kilobytes)
            .variants(variant)
            .only(RATE, "100Gbps")
            .only(ALPHA, alpha)
            .only(LATENCY, "1us")
            .only(SYNCS, "1")
            .curve("threshold", "threshold")
            .curve("lasting", "long-lived traffic")
            .curve("burst", "burst")
            .curve("ideal.lasting", "long-lived traffic, ideal")
            .curve("ideal.burst", "burst, ideal")
    };
    let apart = |title, metric| {
        Panel::lines("", title)
            .x(LATENCY, "a control packet's way around", Unit::Microseconds)
            .log_x()
            .y(metric, "difference from the ideal, of the buffer", Unit::Share)
            .only(RATE, "100Gbps")
            .only(ALPHA, "4")
            .series_by(SYNCS, "control packets: ")
    };
    Figure {
        id: "fig10-p4",
        number: "10 on P4",
        title: "Queue lengths while a burst comes, on the P4 form",
        setting: SETTING,
        text: include_str!("../../../../../scenarios/occamy/fig10-p4.toml"),
        files: &[],
        work: Work::Simulate(measure_prototype::evolution),
        panels: vec![
            panel("a", "Occamy, alpha 1, burst at 100 Gb/s", &["Occamy"], "1"),
            panel("b", "Occamy, alpha 4, burst at 100 Gb/s", &["Occamy"], "4"),
            panel("c", "DT, alpha 1, burst at 100 Gb/s", &["DT"], "1"),
            panel("d", "DT, alpha 4, burst at 100 Gb/s", &["DT"], "4"),
            apart("The burst's queue, mean over time", "apart.burst.mean"),
            apart("The burst's queue, at most", "apart.burst.most"),
            apart("The long-lived queue, at most", "apart.lasting.most"),
        ],
        claims: evolution_claims,
    }
}

/// One run of the usual chip.
fn usual<'t>(t: &'t Table, variant: &str, rate: f64, alpha: f64) -> Selection<'t> {
    t.at(variant).and(RATE, rate).and(ALPHA, alpha).and(LATENCY, USUAL)
}

fn rest(of: &Stat) -> Stat {
    of.map(|part| 1.0 - part)
}

fn evolution_claims(t: &Table) -> Vec<Measured> {
    let mut claims = Vec::new();
    for rate in [100.0, 28.0] {
        let one = |variant: &str, alpha: f64| usual(t, variant, rate, alpha).and(SYNCS, 1.0);
        let gets =
            |variant: &str, alpha: f64| {
                Measured::stat("alpha-gb-burst-fair-share-when", &one(variant, alpha).get("first_loss.of_fair_share"))
                    .at([variant.to_string(), alpha.to_string(), rate.to_string()])
            };
        claims.extend([gets("Occamy", 1.0), gets("Occamy", 4.0), gets("DT", 1.0)]);
        claims.push(
            Measured::stat("dt-alpha-4-gb-part-fair", &rest(&one("DT", 4.0).get("first_loss.of_fair_share")))
                .at([rate.to_string()]),
        );
    }
    claims.extend(distance_claims(t));
    claims
}

/// The chip against the algorithm, which the paper does not tell.
fn distance_claims(t: &Table) -> Vec<Measured> {
    const MOST: f64 = 0.05;
    let mut claims = Vec::new();
    for latency in [0.2, 1.0, 5.0] {
        let points = t.variants().into_iter().flat_map(|variant| {
            let at = move |rate: f64, alpha: f64, syncs: f64| {
                let chosen = t.at(variant).and(RATE, rate).and(ALPHA, alpha).and(LATENCY, latency).and(SYNCS, syncs);
                let apart = ["apart.burst.mean", "apart.lasting.mean"].map(|name| chosen.get(name).mean());
                let name = format!("{variant}, alpha {alpha}, {rate} Gb/s, {syncs} control packets");
                (name, apart[0].max(apart[1]))
            };
            let rates = t.values(RATE).into_iter();
            rates.flat_map(move |rate| {
                let alphas = t.values(ALPHA).into_iter();
                alphas.flat_map(move |alpha| t.values(SYNCS).into_iter().map(move |syncs| at(rate, alpha, syncs)))
            })
        });
        let points = points.filter(|(_, apart)| apart.is_finite());
        let points = points.map(|(name, apart)| (format!("{name} ({})", Unit::Share.text(apart)), apart <= MOST));
        claims.push(Measured::points("us-around-over-time-both-queues", points.collect()).at([latency.to_string()]));
    }
    let apart = |latency: f64, syncs: f64| {
        let chosen = t.at("Occamy").and(RATE, 100.0).and(ALPHA, 4.0).and(LATENCY, latency).and(SYNCS, syncs);
        chosen.get("apart.lasting.most")
    };
    claims.push(Measured::stat("slower-control-packets-come-around-farther", &apart(5.0, 1.0).minus(&apart(1.0, 1.0))));
    if t.values(SYNCS).contains(&4.0) {
        claims.push(Measured::stat("four-control-packets-instead-one-bring", &apart(5.0, 1.0).minus(&apart(5.0, 4.0))));
    }
    let more = |variant: &str| {
        let at = usual(t, variant, 100.0, 4.0).and(SYNCS, 1.0);
        at.get("loss").minus(&at.get("ideal.loss")).map(f64::abs)
    };
    for variant in ["Occamy", "DT"] {
        claims.push(Measured::stat("alpha-4-100-gb-1-us", &more(variant)).at([variant.to_string()]));
    }
    claims
}

fn absorption() -> Figure {
    let panel = |letter, title, alpha| {
        Panel::lines(letter, title)
            .x(SIZE, "burst size", Unit::Kilobytes)
            .x_times(1e-3)
            .y("loss", "loss of the burst", Unit::Share)
            .only(ALPHA, alpha)
            .only(LATENCY, "1us")
            .series_by(RATE, "at ")
    };
    Figure {
        id: "fig11-p4",
        number: "11 on P4",
        title: "Loss of bursts against their size, on the P4 form",
        setting: SETTING,
        text: include_str!("../../../../../scenarios/occamy/fig11-p4.toml"),
        files: &[],
        work: Work::Simulate(measure_prototype::absorption),
        panels: vec![
            panel("b", "Alpha 1", "1"),
            panel("c", "Alpha 2", "2"),
            panel("d", "Alpha 4", "4"),
            Panel::lines("", "Loss less the algorithm's, alpha 4, bursts at 100 Gb/s")
                .x(SIZE, "burst size", Unit::Kilobytes)
                .x_times(1e-3)
                .y("loss.more", "loss less the algorithm's", Unit::Share)
                .only(ALPHA, "4")
                .only(RATE, "100Gbps")
                .series_by(LATENCY, "around in "),
        ],
        claims: absorption_claims,
    }
}

fn absorption_claims(t: &Table) -> Vec<Measured> {
    let mut claims = Vec::new();
    for rate in [100.0, 28.0] {
        let absorbed = |variant: &str, alpha: f64| usual(t, variant, rate, alpha).get("absorbed_kb");
        claims.push(
            Measured::stat(
                "gb-occamy-absorbs-larger-bursts-dt",
                &absorbed("Occamy", 4.0).more_than_percent(&absorbed("DT", 4.0)),
            )
            .at([rate.to_string()]),
        );
        claims.push(
            Measured::stat(
                "gb-occamy-absorbs-larger-bursts-alpha",
                &absorbed("Occamy", 4.0).more_than_percent(&absorbed("Occamy", 1.0)),
            )
            .at([rate.to_string()]),
        );
        claims.push(
            Measured::stat(
                "gb-dt-absorbs-smaller-bursts-alpha",
                &absorbed("DT", 4.0).less_than_percent(&absorbed("DT", 1.0)),
            )
            .at([rate.to_string()]),
        );
        for alpha in t.values(ALPHA) {
            for variant in ["Occamy", "DT"] {
                let of = |name: &str| usual(t, variant, rate, alpha).get(name);
                claims.push(
                    Measured::stat(
                        "alpha-gb-absorbs-much-algorithm",
                        &of("absorbed_kb").ratio(&of("ideal.absorbed_kb")),
                    )
                    .at([variant.to_string(), alpha.to_string(), rate.to_string()]),
                );
            }
        }
    }
    for latency in t.values(LATENCY) {
        let at =
            |variant: &str, alpha: f64, name: &str| t.at(variant).and(ALPHA, alpha).and(LATENCY, latency).get(name);
        let points = t.values(ALPHA).into_iter().flat_map(|alpha| {
            ["Occamy", "DT"].map(|variant| {
                let more = at(variant, alpha, "loss").minus(&at(variant, alpha, "ideal.loss")).mean();
                (format!("{variant}, alpha {alpha} ({})", Unit::Share.text(more)), more.abs() <= 0.05)
            })
        });
        claims.push(Measured::points("us-around-over-sizes-both-rates", points.collect()).at([latency.to_string()]));
    }
    claims
}
