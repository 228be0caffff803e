//! FB's figures 3, 4 and 5: what equations say of DT and FB, and what a switch does.

use super::measure_analysis;
use crate::claim::Claim;
use crate::figure::{Figure, Work};
use crate::panel::Panel;
use crate::stat::Stat;
use crate::table::Table;
use crate::unit::Unit;
use forebay_analysis::fb::occupancy_bound;

/// The figures.
pub(super) fn figures() -> Vec<Figure> {
    vec![many_queues(), examples_of_dt(), examples_of_fb()]
}

fn many_queues() -> Figure {
    let panel = |letter, title, metric| {
        Panel::lines(letter, title).x("low_queues", "congested queues of the low priority", Unit::None).log_x().y(
            metric,
            "share of the buffer",
            Unit::Share,
        )
    };
    Figure {
        id: "fig3",
        number: "3",
        title: "What a high-priority queue has of the buffer",
        setting: "One queue of the high priority and more and more of the low one, each with a port to itself, all \
                  overloaded. The paper does not say which alphas the figure has; these are 2 and 1, as in its \
                  examples. It shows DT; FB is added here. Measured on one switch with packets of a thousandth of \
                  the buffer or less, and compared with equations 2 to 4.",
        text: include_str!("../../../../../scenarios/fb/fig3.toml"),
        files: &[],
        work: Work::Compute(measure_analysis::against_many),
        panels: vec![
            panel("", "The high-priority queue", "high"),
            panel("", "All queues of the low priority", "low"),
            panel("", "Free", "free"),
        ],
        claims: claims_of_many_queues,
    }
}

/// How far a measured number may be from the equation's.
const EXACT: f64 = 0.02;

/// Whether a switch does what an equation says.
fn agrees(seen: &Stat, equation: &Stat) -> bool {
    (seen.mean() / equation.mean() - 1.0).abs() <= EXACT
}

fn claims_of_many_queues(t: &Table) -> Vec<Claim> {
    let counts = t.values("low_queues");
    let high = |scheme: &str, queues: f64| t.at(scheme).and("low_queues", queues).get("high");
    let falls = counts.windows(2).map(|pair| {
        let falls = high("DT", pair[1]).mean() < high("DT", pair[0]).mean();
        (format!("{} to {} queues", pair[0], pair[1]), falls)
    });
    let most = counts.last().copied().unwrap_or(f64::NAN);
    let first = counts.first().map_or(Stat::default(), |queues| high("FB", *queues));
    let same = counts.iter().map(|queues| (format!("{queues} queues"), agrees(&high("FB", *queues), &first)));
    let equations = t.variants().into_iter().flat_map(|scheme| {
        counts.iter().map(move |queues| {
            let at = t.at(scheme).and("low_queues", *queues);
            let right =
                agrees(&at.get("high"), &at.get("high_equation")) && agrees(&at.get("low"), &at.get("low_equation"));
            (format!("{scheme}, {queues} queues"), right)
        })
    });
    let fb = t.at("FB");
    let bounded = fb.rows().iter().map(|row| {
        let alphas = row.point.number("alpha_high") + row.point.number("alpha_low");
        let least = 1.0 - occupancy_bound(1.0, &[alphas]);
        (format!("{} queues", row.point.number("low_queues")), row.metrics.get("free") >= (1.0 - EXACT) * least)
    });
    let bounded = bounded.collect();
    vec![
        Claim::every(
            "DT: a high-priority queue has less the more queues of the low priority there are",
            "less with every further queue",
            falls.collect(),
        ),
        Claim::value(
            format!("DT: what a high-priority queue has can approach nothing; here beside {most} queues"),
            0.0,
            Unit::Share,
            &high("DT", most),
        ),
        Claim::every(
            "FB: what a high-priority queue has does not depend on the number of queues of the low priority",
            format!("the same within {}", Unit::Share.text(EXACT)),
            same.collect(),
        ),
        Claim::every(
            "FB: the buffer that is used is bounded whatever the number of queues (equation 5)",
            "at most (alpha_L + alpha_H) / (1 + alpha_L + alpha_H)",
            bounded,
        ),
        Claim::every(
            "Equations 2 to 4 give the lengths",
            format!("within {}", Unit::Share.text(EXACT)),
            equations.collect(),
        ),
    ]
}

const EXAMPLE: &str = "A buffer of 60 packets (here of 1500 bytes), alpha 2 for the high priority and 1 for the low \
                       one. (a) One queue of the high priority and three of the low, each with a port to itself; (b) \
                       five queues of the low priority at one port with round robin; (c) then a 5:1 incast to a \
                       queue of the high priority at another port. A packet of the paper is 100 to 500 of the \
                       switch's, so that it is almost the fluid of the equations. The curves of (a) begin when the \
                       high priority does, those of (c) with the incast.";

fn panels() -> Vec<Panel> {
    let panel = |letter, title| {
        Panel::curves(letter, title)
            .x("", "time", Unit::Microseconds)
            .y("", "length", Unit::Packets)
            .only("part", letter)
    };
    vec![
        panel("a", "Four queues, four ports")
            .curve("high.curve", "high priority")
            .curve("low.curve", "low priority together")
            .curve("free.curve", "free"),
        panel("b", "Five queues of one port")
            .curve("low_each.curve", "each queue")
            .curve("low.curve", "together")
            .curve("free.curve", "free"),
        panel("c", "An incast, until its first loss")
            .curve("high.curve", "high priority")
            .curve("high_threshold.curve", "its threshold")
            .curve("low.curve", "low priority together"),
    ]
}

fn examples_of_dt() -> Figure {
    Figure {
        id: "fig4",
        number: "4",
        title: "DT in three examples",
        setting: EXAMPLE,
        text: include_str!("../../../../../scenarios/fb/fig4.toml"),
        files: &[],
        work: Work::Compute(measure_analysis::example),
        panels: panels(),
        claims: claims_of_dt,
    }
}

fn examples_of_fb() -> Figure {
    Figure {
        id: "fig5",
        number: "5",
        title: "FB in the same three examples",
        setting: EXAMPLE,
        text: include_str!("../../../../../scenarios/fb/fig5.toml"),
        files: &[],
        work: Work::Compute(measure_analysis::example),
        panels: panels(),
        claims: claims_of_fb,
    }
}

/// A number of one part of an example.
fn of(t: &Table, part: &str, name: &str) -> Stat {
    t.all().with("part", part).get(name)
}

/// A length in packets.
fn length(t: &Table, part: &str, name: &str, words: &str, paper: f64) -> Claim {
    Claim::value(format!("({part}) {words}"), paper, Unit::Packets, &of(t, part, name))
}

/// Whether all lengths that the equations give are those of the switch.
fn equations(t: &Table) -> Claim {
    let names = [
        ("a", "high"),
        ("a", "low"),
        ("a", "high_alone"),
        ("b", "low_each"),
        ("c", "high_at_loss"),
        ("c", "high_steady"),
    ];
    let there = names.into_iter().filter(|(part, name)| !of(t, part, name).is_empty());
    let points = there.map(|(part, name)| {
        (format!("({part}) {name}"), agrees(&of(t, part, name), &of(t, part, &format!("{name}_equation"))))
    });
    let paper = format!("within {}", Unit::Share.text(EXACT));
    Claim::every("The equations give the lengths in all parts", paper, points.collect())
}

fn claims_of_dt(t: &Table) -> Vec<Claim> {
    vec![
        length(t, "a", "high_alone", "The high-priority queue alone could have", 40.0),
        length(t, "a", "high", "Beside three queues it has", 20.0),
        length(t, "a", "low", "These three have together", 30.0),
        length(t, "a", "free", "Free", 10.0),
        length(t, "b", "low_each", "Each of five queues of one port has", 10.0),
        length(t, "b", "free", "Free", 10.0),
        length(t, "c", "high_at_loss", "The incast loses packets when its queue has", 8.0),
        // The paper says about 17: 2*60/7. Equation 3 gives 2*60/8 = 15.
        length(t, "c", "high_steady", "Its share of the steady state is about", 17.0),
        Claim::direction(
            "(c) The incast loses packets before it has its share",
            "8 of about 17 packets",
            &of(t, "c", "high_steady").minus(&of(t, "c", "high_at_loss")),
            Unit::Packets,
        ),
        equations(t),
    ]
}

fn claims_of_fb(t: &Table) -> Vec<Claim> {
    let apart = Unit::Packets.text(of(t, "b", "low_each_at_five_ports").mean());
    vec![
        length(t, "a", "high", "Beside three queues the high-priority queue has", 30.0),
        length(t, "a", "low", "These three have together", 15.0),
        length(t, "b", "low_each", "Each of five queues of one port has", 6.0).because(format!(
            "By equation 4 it is 2 packets: the threshold is alpha/5 for five queues, times 1/5 for a fifth of the \
             port. The paper's 6 is equation 4 without the share of the port: five queues at five ports have {apart} \
             each."
        )),
        Claim::value(
            "(c) The buffer follows fast enough: the incast's queue at the first loss, of its share of the steady \
             state",
            1.0,
            Unit::Share,
            &of(t, "c", "high_at_loss").ratio(&of(t, "c", "high_steady")),
        ),
        equations(t),
    ]
}
