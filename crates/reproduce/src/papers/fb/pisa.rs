//! PISA FB against FB on the same arrivals (section 5.1).

use super::measure_error;
use crate::{Figure, Found, Measured, Panel, Stat, Table, Unit, Work};

const INTERVAL: &str = "chip.options.interval";
const SEVERAL: &str = "several queues";
const INSTANT: &str = "several queues, instant";
const SINGLE: &str = "single queue";

/// The figure.
pub(super) fn figures() -> Vec<Figure> {
    let over = |title, metric, label: &str, unit| {
        Panel::lines("", title)
            .x(INTERVAL, "time between starts of control packets", Unit::Microseconds)
            .log_x()
            .y(metric, label, unit)
    };
    let parts = |title, variant, interval| {
        Panel::curves("", title)
            .x("", "base-2 logarithm of the program's over the exact", Unit::None)
            .y("", "packets", Unit::Share)
            .variants(variant)
            .only(INTERVAL, interval)
            .curve("threshold.share", "threshold")
            .curve("rounding.share", "rounding")
            .curve("counts.share", "counts of queues")
            .curve("remaining.share", "remaining buffer")
    };
    vec![Figure {
        id: "pisa-error",
        number: "PISA FB's error",
        title: "PISA FB's thresholds, admissions and losses against FB's",
        setting: "Not in the paper. 8 ports of 10 Gb/s with 8 queues each, or with one; 12,500 cells; web search flows and queries over UDP, so that all schemes see the same arrivals. \
                  For every packet the threshold that the program works out is set against the exact one of the same buffer, and the exact switch gets the same packet. \
                  The error is the product of rounding to a power of two, of the counts of congested queues and of the remaining buffer that control packets have brought.",
        text: include_str!("../../../../../scenarios/fb/pisa-error.toml"),
        files: &[],
        work: Work::Simulate(measure_error::errors),
        panels: vec![
            parts("Several queues, every 10 us", &[SEVERAL], "10us"),
            parts("Several queues, every 1 ms", &[SEVERAL], "1ms"),
            parts("Several queues, every 1 us, control packets that take no time", &[INSTANT], "1us"),
            over("Packets whose threshold is within a factor of 2", "threshold.within_2", "packets", Unit::Share),
            over("Packets that only one of chip and algorithm admits", "differ", "packets", Unit::Share),
            over("Loss of queries on the chip", "loss.queries", "packets", Unit::Share),
            over("Loss of queries with FBA", "fba.loss.queries", "packets", Unit::Share),
            over("Recirculated", "recirculated_gbps", "rate", Unit::Gbps).log_y(),
        ],
        claims,
    }]
}

/// Intervals up to this are short beside how fast queues change here: 10 us bring 87 KB at most to one port, a twelfth
/// of the buffer.
const SHORT: f64 = 10.0;

/// For every variant and interval: a name with the number, and whether it is so. Empty where nothing has run.
fn points(
    t: &Table,
    intervals: &[f64],
    number: impl Fn(&str, f64) -> Stat,
    is: impl Fn(&Stat) -> Found,
) -> Vec<(String, Found)> {
    let all = t.variants().into_iter().flat_map(|variant| intervals.iter().map(move |interval| (variant, *interval)));
    let named = all.map(|(variant, interval)| (variant, interval, number(variant, interval)));
    named
        .map(|(variant, interval, number)| {
            (format!("{variant}, every {interval} us ({})", Unit::Share.text(number.mean())), is(&number))
        })
        .collect()
}

fn claims(t: &Table) -> Vec<Measured> {
    let at = |variant: &str, interval: f64, name: &str| t.at(variant).and(INTERVAL, interval).get(name);
    let intervals = t.values(INTERVAL);
    let (short, long): (Vec<f64>, Vec<f64>) = intervals.iter().partition(|interval| **interval <= SHORT);
    let longest = intervals.iter().copied().fold(f64::NAN, f64::max);
    let within = |variant: &str, interval: f64| at(variant, interval, "threshold.within_2");
    let rounding = |variant: &str, interval: f64| at(variant, interval, "rounding.within_sqrt2");
    let more = |variant: &str, interval: f64| {
        at(variant, interval, "loss.queries").minus(&at(variant, interval, "ideal.loss.queries"))
    };
    let mut claims = vec![
        Measured::points(
            "rounding-power-two-moves-99-thresholds",
            points(t, &short, rounding, |part| part.at_least(0.99)),
        ),
        Measured::points("nine-ten-thresholds-within-factor-2", points(t, &short, within, |part| part.at_least(0.9))),
        Measured::points("thresholds-within-2-longer", points(t, &long, within, |part| part.at_least(0.9))),
        Measured::points(
            "queries-lose-within-point-they-lose",
            points(t, &short, more, |more| more.between(-0.01, 0.01)),
        ),
        Measured::points("queries-lose-within-point-longer", points(t, &long, more, |more| more.between(-0.01, 0.01)))
            .telling(
                std::iter::once(Unit::Microseconds.text(longest)).chain(
                    ["loss.queries", "fba.loss.queries", "ideal.loss.queries", "dt.loss.queries"]
                        .map(|name| Unit::Share.text(at(SEVERAL, longest, name).mean())),
                ),
            ),
        Measured::stat(
            "every-us-queries-lose-pisa-fb",
            &at(SEVERAL, longest, "fba.loss.queries").minus(&at(SEVERAL, longest, "loss.queries")),
        )
        .telling([longest.to_string()]),
    ];
    claims.extend(recirculation_claims(t));
    claims
}

/// What control packets take of the recirculation port.
fn recirculation_claims(t: &Table) -> Vec<Measured> {
    let rate = |variant: &str, interval: f64| t.at(variant).and(INTERVAL, interval).get("recirculated_gbps");
    // In proportion, from an interval at which the port has no trouble.
    let interval = 10.0 * rate(SEVERAL, 10.0).mean() / 0.03;
    vec![
        Measured::stat("control-packets-every-1-us-take", &rate(SEVERAL, 1.0).times(1e3))
            .telling([Unit::None.text(interval / 1e3)]),
        Measured::stat("control-packets-single-queue", &rate(SINGLE, 1.0).times(1e3)),
    ]
}
