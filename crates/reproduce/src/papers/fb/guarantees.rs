//! FB's guarantees (equations 6, 7 and 8), inside and outside.

use super::measure_guarantees;
use crate::figure::{Figure, Work};
use crate::measured::Measured;
use crate::panel::Panel;
use crate::stat::Stat;
use crate::table::Table;
use crate::unit::Unit;
use forebay_analysis::fb::{Absorb, alpha_low_limit};

/// The figure.
pub(super) fn figures() -> Vec<Figure> {
    let panel = |title, bounded: &str, what: &str, variants| {
        Panel::lines("", title)
            .x("margin", &format!("{bounded} over the equation's bound"), Unit::None)
            .y("got", what, Unit::None)
            .variants(variants)
    };
    vec![Figure {
        id: "guarantees",
        number: "equations 6, 7, 8",
        title: "FB's guarantees, tried inside and outside",
        setting: "Section 4.2, with its examples: a minimum of 10% beside alpha_H = 10; a burst at ten times the \
                  rate of a port; the same burst for 500 us into 9 MB with ports of 10 Gb/s. The alpha that an \
                  equation bounds is set a little above and below the bound. Equation 6: three overloaded queues of \
                  the high priority and two of the low, each with a port to itself. Equations 7 and 8: one \
                  overloaded queue of the low priority holds the buffer, the worst that a burst to another port can \
                  find. Formulas are damaged in the text that was at hand and were derived again: see the library's \
                  documentation of forebay_analysis::fb.",
        text: include_str!("../../../../../scenarios/fb/guarantees.toml"),
        files: &[],
        work: Work::Compute(measure_guarantees::guarantee),
        panels: vec![
            panel("Equation 6: a minimum", "alpha_L", "length of the low priority over the minimum", &MINIMA),
            panel("Equation 7: the burst's share", "alpha_L", "length at first loss over fair share", &SHARES),
            panel("Equation 8: a burst of some duration", "alpha_H", "time to first loss over duration", &BURSTS),
        ],
        claims,
    }]
}

const MINIMA: [&str; 2] = ["eq. 6, 10% beside alpha_H 10", "eq. 6, 30% beside alpha_H 2"];
const SHARES: [&str; 2] = ["eq. 7, r = 10 BW", "eq. 7, r = 4 BW"];
const EXAMPLE: &str = "eq. 8, r = 10 BW, 500 us, alpha_L 0.5";
const SLOW: &str = "eq. 8, r = 3 BW, 2160 us, alpha_L 0.5";
const CORRECTED: &str = "eq. 8 corrected, r = 3 BW, 2160 us, alpha_L 0.5";
const BURSTS: [&str; 4] = [EXAMPLE, "eq. 8, r = 20 BW, 200 us, alpha_L 0.3", SLOW, CORRECTED];

/// How far what the switch does may be from what the equations say: packets are not quite a fluid.
const EXACT: f64 = 0.005;

fn bound(t: &Table, variant: &str) -> Stat {
    Stat::exact(t.at(variant).get("bound").mean())
}

/// The margins of a run, as points of a claim: `kept` is asked whether the promise was kept there, `inside` whether it
/// should be.
fn tried(t: &Table, variant: &str, inside: fn(f64) -> bool, kept: impl Fn(f64) -> Option<bool>) -> Vec<(String, bool)> {
    let name = |margin: f64| format!("{margin} of {}", Unit::None.text(t.at(variant).get("bound").mean()));
    let point = |margin: f64| (name(margin), kept(margin).is_some_and(|kept| kept == inside(margin)));
    t.values("margin").into_iter().map(point).collect()
}

/// Whether the burst lost nothing.
fn lossless(t: &Table, variant: &str, margin: f64) -> Option<bool> {
    let lost = t.at(variant).and("margin", margin).get("lost");
    (!lost.is_empty()).then(|| lost.mean() == 0.0)
}

fn claims(t: &Table) -> Vec<Measured> {
    let above: fn(f64) -> bool = |margin| margin > 1.0;
    let below: fn(f64) -> bool = |margin| margin < 1.0;
    let mut claims = vec![Measured::stat("eq-6-alpha-l-minimum-10", &bound(t, MINIMA[0]))];
    for variant in MINIMA {
        let kept = |margin: f64| {
            let got = t.at(variant).and("margin", margin).get("got");
            (!got.is_empty()).then(|| got.mean() >= 1.0 - EXACT)
        };
        claims.push(
            Measured::points("low-priority-alpha-l-above-bound", tried(t, variant, above, kept))
                .at([variant.to_string()]),
        );
    }
    claims.push(Measured::stat("eq-7-largest-alpha-l-r", &bound(t, SHARES[0])));
    for variant in SHARES {
        let points = tried(t, variant, below, |margin| lossless(t, variant, margin));
        claims.push(Measured::points("burst-share-without-loss-alpha-l", points).at([variant.to_string()]));
    }
    let limit = alpha_low_limit(9e6, 10e9, Absorb { rate: 100e9, duration: 500e-6 });
    claims.push(Measured::stat("eq-8-alpha-l-must-below", &bound(t, BURSTS[0]).map(|_| limit)));
    for variant in BURSTS {
        let points = tried(t, variant, above, |margin| lossless(t, variant, margin));
        // The reason tells what would be enough, and what equation 8 asks for.
        let bounds = [CORRECTED, SLOW].map(|variant| Unit::None.text(bound(t, variant).mean()));
        claims.push(Measured::points("burst-loses-nothing-alpha-h-above", points).at([variant]).telling(bounds));
    }
    let exact = t.rows().iter().map(|row| {
        let (got, equation) = (row.metrics.get("got"), row.metrics.get("got_equation"));
        (
            format!("{} at {}", row.point.variant, row.point.number("margin")),
            (got / equation - 1.0).abs() <= 2.0 * EXACT,
        )
    });
    claims.push(Measured::points("fluid-closed-form-gives-switch-does", exact.collect()));
    claims
}
