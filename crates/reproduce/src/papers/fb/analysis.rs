//! FB's figures 3, 4 and 5: what equations say of DT and FB, and what a switch does.

use super::measure_analysis;
use crate::figure::{Figure, Work};
use crate::measured::Measured;
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

fn claims_of_many_queues(t: &Table) -> Vec<Measured> {
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
        Measured::points("dt-high-priority-queue-queues-low", falls.collect()),
        Measured::stat("dt-high-priority-queue-can-approach", &high("DT", most)).telling([most.to_string()]),
        Measured::points("fb-high-priority-queue-does-depend", same.collect()),
        Measured::points("fb-buffer-used-bounded-whatever-number", bounded),
        Measured::points("equations-2-4-give-lengths", equations.collect()),
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
fn length(t: &Table, id: &str, part: &str, name: &str) -> Measured {
    Measured::stat(id, &of(t, part, name))
}

/// Whether all lengths that the equations give are those of the switch.
fn equations(t: &Table) -> Measured {
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
    Measured::points("equations-give-lengths-parts", points.collect())
}

fn claims_of_dt(t: &Table) -> Vec<Measured> {
    vec![
        length(t, "high-alone", "a", "high_alone"),
        length(t, "high-beside-three", "a", "high"),
        length(t, "low-together", "a", "low"),
        length(t, "four-ports-free", "a", "free"),
        length(t, "each-of-five", "b", "low_each"),
        length(t, "one-port-free", "b", "free"),
        length(t, "incast-at-loss", "c", "high_at_loss"),
        // The paper says about 17: 2*60/7. Equation 3 gives 2*60/8 = 15.
        length(t, "incast-share", "c", "high_steady"),
        Measured::stat(
            "incast-loses-packets-before-share",
            &of(t, "c", "high_steady").minus(&of(t, "c", "high_at_loss")),
        ),
        equations(t),
    ]
}

fn claims_of_fb(t: &Table) -> Vec<Measured> {
    let apart = Unit::Packets.text(of(t, "b", "low_each_at_five_ports").mean());
    vec![
        length(t, "high-beside-three", "a", "high"),
        length(t, "low-together", "a", "low"),
        length(t, "each-of-five", "b", "low_each").telling([apart]),
        Measured::stat(
            "buffer-follows-fast-enough-incast-queue",
            &of(t, "c", "high_at_loss").ratio(&of(t, "c", "high_steady")),
        ),
        equations(t),
    ]
}
