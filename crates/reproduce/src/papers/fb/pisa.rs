//! PISA FB against FB on the same arrivals (section 5.1).

use super::measure_error;
use crate::{Claim, Figure, Panel, Table, Unit, Work};

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

/// Intervals up to this are short beside how fast queues change here: 10 us bring 87 KB at most to one port, a twelfth of the buffer.
const SHORT: f64 = 10.0;

const STALE: &str = "Rounding is never off by more than sqrt 2, and only the other two parts grow with the interval: lengths, counts and the remaining buffer that ingress works with are as old as the last \
                     control packet. 64 queues take a control packet 64 us, and at 10 Gb/s a port's queue changes by 80 KB in that time, a millisecond changes it by more than the buffer.";

/// For every variant and interval: a name with the number, and whether it is so. Empty where nothing has run.
fn points(
    t: &Table,
    intervals: &[f64],
    number: impl Fn(&str, f64) -> f64,
    is: impl Fn(f64) -> bool,
) -> Vec<(String, bool)> {
    let all = t.variants().into_iter().flat_map(|variant| intervals.iter().map(move |interval| (variant, *interval)));
    let named = all.map(|(variant, interval)| (variant, interval, number(variant, interval)));
    let run = named.filter(|(.., number)| number.is_finite());
    run.map(|(variant, interval, number)| {
        (format!("{variant}, every {interval} us ({})", Unit::Share.text(number)), is(number))
    })
    .collect()
}

fn claims(t: &Table) -> Vec<Claim> {
    let at = |variant: &str, interval: f64, name: &str| t.at(variant).and(INTERVAL, interval).get(name);
    let intervals = t.values(INTERVAL);
    let (short, long): (Vec<f64>, Vec<f64>) = intervals.iter().partition(|interval| **interval <= SHORT);
    let longest = intervals.iter().copied().fold(f64::NAN, f64::max);
    let within = |variant: &str, interval: f64| at(variant, interval, "threshold.within_2").mean();
    let rounding = |variant: &str, interval: f64| at(variant, interval, "rounding.within_sqrt2").mean();
    let more = |variant: &str, interval: f64| {
        at(variant, interval, "loss.queries").minus(&at(variant, interval, "ideal.loss.queries")).mean()
    };
    let mut claims = vec![
        Claim::every(
            "Rounding to a power of two moves 99% of thresholds and more by no more than sqrt 2, up to every 10 us",
            "not in the paper",
            points(t, &short, rounding, |part| part >= 0.99),
        ),
        Claim::every(
            "Nine of ten thresholds are within a factor of 2 of the exact ones, up to every 10 us",
            "not in the paper",
            points(t, &short, within, |part| part >= 0.9),
        )
        .because(
            "Every 1 us is more than the recirculation port can carry (see below): control packets wait for each other, and what they bring is older than every 10 us.",
        ),
        Claim::every(
            "The same with longer intervals",
            "not in the paper",
            points(t, &long, within, |part| part >= 0.9),
        )
        .because(STALE),
        Claim::every(
            "Queries lose within a point of what they lose with FB, up to every 10 us",
            "lag will not significantly affect performance",
            points(t, &short, more, |more| more.abs() <= 0.01),
        ),
        Claim::every(
            "The same with longer intervals",
            "lag will not significantly affect performance",
            points(t, &long, more, |more| more.abs() <= 0.01),
        )
        .because(format!(
            "The paper shows long intervals with FBA, which only sets alphas late: the traffic manager knows its queues. PISA FB compares old lengths with an old threshold. Every {longest} us, \
             queries lose {} with PISA FB, {} with FBA, {} with FB and {} with DT.",
            Unit::Share.text(at(SEVERAL, longest, "loss.queries").mean()),
            Unit::Share.text(at(SEVERAL, longest, "fba.loss.queries").mean()),
            Unit::Share.text(at(SEVERAL, longest, "ideal.loss.queries").mean()),
            Unit::Share.text(at(SEVERAL, longest, "dt.loss.queries").mean()),
        )),
        Claim::direction(
            format!("Every {longest} us, queries lose less with PISA FB than with FBA of the same interval"),
            "PISA FB is more accurate than FBA",
            &at(SEVERAL, longest, "fba.loss.queries").minus(&at(SEVERAL, longest, "loss.queries")),
            Unit::Share,
        )
        .because("As above: the other way around, with long intervals."),
    ];
    claims.extend(recirculation_claims(t));
    claims
}

/// What control packets take of the recirculation port.
fn recirculation_claims(t: &Table) -> Vec<Claim> {
    let rate = |variant: &str, interval: f64| t.at(variant).and(INTERVAL, interval).get("recirculated_gbps");
    // In proportion, from an interval at which the port has no trouble.
    let interval = 10.0 * rate(SEVERAL, 10.0).mean() / 0.03;
    vec![
        Claim::value(
            "Control packets every 1 us take at most 30 Mb/s",
            30.0,
            Unit::Mbps,
            &rate(SEVERAL, 1.0).times(1e3),
        )
        .because(format!(
            "A control packet goes around once for each queue: 8 ports of 8 queues, each read by three kinds of control packets of 64 bytes, are 200 packets every interval, and at 1 us fill the port of \
             100 Gb/s. 30 Mb/s is what they take every {} ms.",
            Unit::None.text(interval / 1e3),
        )),
        Claim::value(
            "The same with a single queue a port",
            30.0,
            Unit::Mbps,
            &rate(SINGLE, 1.0).times(1e3),
        )
        .because("Also with one queue a port: 24 packets every interval are 12 Gb/s."),
    ]
}
