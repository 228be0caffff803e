//! Figures 6 to 9: the control loop of the Tofino beside the ideal switch, and what the paper has rejected.

use super::measure_chip;
use crate::figure::{Figure, Work};
use crate::found::Found;
use crate::measured::Measured;
use crate::panel::Panel;
use crate::stat::Stat;
use crate::table::Table;
use crate::unit::Unit;

const SENDERS: &str = "workload.0.limit";
const DURATION: &str = "chip.options.pessimistic";
const FLOWS: (&str, &str) = ("senders.csv", include_str!("../../../../../scenarios/trimming/senders.csv"));
/// Which senders share a receiver, and when they start: what the paper does not say.
const OTHER_FLOWS: [(&str, &str); 4] = [
    ("senders-drawn.csv", include_str!("../../../../../scenarios/trimming/senders-drawn.csv")),
    ("senders-neighbours.csv", include_str!("../../../../../scenarios/trimming/senders-neighbours.csv")),
    ("senders-100ns.csv", include_str!("../../../../../scenarios/trimming/senders-100ns.csv")),
    ("senders-10us.csv", include_str!("../../../../../scenarios/trimming/senders-10us.csv")),
];

/// A deflection queue that stays below this is under control: unstable ones reach thousands of packets.
const UNDER_CONTROL: f64 = 500.0;

const SETTING: &str = "The switch of figure 5. Sender i of up to 64 is at port i and sends to receiver i mod 16, so that with 64 senders each receiver has one in each pipeline. NDP with a first window of \
                       1,000 packets, 500 us. Meters let through the port's rate, half or a quarter of it. A notification takes two passes (the header of a deflected packet goes around, then the \
                       notification to all pipelines), together 1 us unless it says otherwise: the paper's simulator has \"1 us\", and in its figure 12 the hardware takes 1.3 us. \
                       Rates are those of payload.";

/// Figures 6 and 7.
pub(super) fn senders() -> Figure {
    let modes = |letter, title, senders| {
        let panel = Panel::curves(letter, title).only(SENDERS, senders).variants(&["Tofino"]);
        let panel = panel.x("", "time", Unit::Microseconds).y("", "port, raised while pessimistic", Unit::None);
        panel
            .curve("mode.port0", "port 0")
            .curve("mode.port1", "port 1")
            .curve("mode.port7", "port 7")
            .curve("mode.port15", "port 15")
    };
    Figure {
        id: "fig6",
        number: "6, 7",
        title: "Throughput, excess trims and modes with 1 to 64 senders",
        setting: SETTING,
        text: include_str!("../../../../../scenarios/trimming/fig6.toml"),
        files: &[FLOWS],
        work: Work::Simulate(measure_chip::control_loop),
        panels: vec![
            Panel::lines("6a", "Average throughput")
                .x(SENDERS, "senders", Unit::None)
                .y("rate.mean", "per flow", Unit::Gbps)
                .paper("Tofino", &[(32.0, 45.5), (64.0, 22.8)]),
            Panel::lines("6b", "Trimmed packets").x(SENDERS, "senders", Unit::None).y(
                "trims",
                "trimmed",
                Unit::Packets,
            ),
            Panel::lines("", "The longest deflection queue")
                .x(SENDERS, "senders", Unit::None)
                .y("deflection.peak", "at most", Unit::Packets)
                .variants(&[
                    "Tofino",
                    "Tofino, 1 us a pass",
                    "Production form",
                    "Tofino 2",
                    "Tofino 2, limit 15 KB",
                    "Trim N",
                ])
                .log_y(),
            modes("7a", "Modes with 18 senders (half-pessimistic is half as high)", "18"),
            modes("7b", "with 32 senders", "32"),
            modes("7c", "with 64 senders", "64"),
        ],
        claims: sender_claims,
    }
}

/// By how many percent more packets are trimmed than by the ideal switch, for every number of senders that are too
/// many.
fn excess(table: &Table, variant: &str) -> Vec<Stat> {
    let trims = |variant: &str, senders: f64| table.at(variant).and(SENDERS, senders).get("trims");
    let many = table.values(SENDERS).into_iter().filter(|senders| *senders > 16.0);
    many.map(|senders| trims(variant, senders).more_than_percent(&trims("NDP", senders))).collect()
}

/// Whether something is so, for every number of senders.
fn for_all(table: &Table, is: impl Fn(f64) -> Found) -> Vec<(String, Found)> {
    table.values(SENDERS).into_iter().map(|senders| (format!("{senders}"), is(senders))).collect()
}

fn sender_claims(table: &Table) -> Vec<Measured> {
    let get = |variant: &str, senders: f64, name: &str| table.at(variant).and(SENDERS, senders).get(name);
    let near = |variant: &'static str| {
        move |senders: f64| get(variant, senders, "rate.mean").ratio(&get("NDP", senders, "rate.mean")).at_least(0.95)
    };
    let short = |variant: &'static str| move |senders: f64| get(variant, senders, "deflection.peak").at_most(250.0);
    let none_lost = |senders: f64| get("Tofino", senders, "drops").at_most(0.0);
    let first_queue =
        table.values(SENDERS).into_iter().find(|senders| get("Tofino", *senders, "deflection.peak").mean() > 0.0);
    let first_queue = first_queue.map_or(Stat::new([]), Stat::exact);
    let in_pessimistic = |senders| get("Tofino", senders, "pessimistic.mean");
    vec![
        Measured::points("goodput", for_all(table, near("Tofino"))),
        Measured::stat("trims-most", &Stat::largest(excess(table, "Tofino"))),
        Measured::stat("trims-average", &Stat::average(&excess(table, "Tofino"))),
        Measured::points("deflection-queue", for_all(table, short("Tofino"))),
        Measured::points("nothing-lost", for_all(table, none_lost)),
        Measured::stat("fewest-senders-deflection-queue-builds", &first_queue),
        Measured::stat("18-senders-flows-share-receiver-get", &get("Tofino", 18.0, "rate.shared")),
        Measured::stat("18-senders-flows-alone-get", &get("Tofino", 18.0, "rate.most")),
        Measured::stat("18-senders-pessimistic-share-incast", &in_pessimistic(18.0)),
        Measured::stat("32-senders-pessimistic-about-share-incast", &in_pessimistic(32.0)),
        Measured::stat("32-senders-flows-get", &get("Tofino", 32.0, "rate.mean")),
        Measured::stat("64-senders-pessimistic-entire-incast", &in_pessimistic(64.0)),
        Measured::stat("64-senders-slowest-flow", &get("Tofino", 64.0, "rate.least")),
        Measured::stat("64-senders-fastest-flow", &get("Tofino", 64.0, "rate.most")),
        Measured::points("queue-stays-short-if-each-two", for_all(table, short("Tofino, 1 us a pass"))),
        Measured::points("production-form", for_all(table, near("Production form"))),
        Measured::points("tofino-2-whose-ingress-sees-queue", for_all(table, short("Tofino 2"))),
        Measured::points("tofino2-limit-15-kb", for_all(table, short("Tofino 2, limit 15 KB"))),
    ]
}

// ---- How long the response lasts -----------------------------------------------------------------------------------

/// Figure 8.
pub(super) fn durations() -> Figure {
    let over = |letter, title, metric, label, unit| {
        Panel::lines(letter, title).x(DURATION, "pessimistic time", Unit::Microseconds).y(metric, label, unit)
    };
    Figure {
        id: "fig8",
        number: "8",
        title: "The duration of the response to congestion",
        setting: SETTING,
        text: include_str!("../../../../../scenarios/trimming/fig8.toml"),
        files: &[FLOWS],
        work: Work::Simulate(measure_chip::control_loop),
        panels: vec![
            over("8a", "Average throughput", "rate.mean", "per flow", Unit::Gbps),
            over("8b", "Trimmed packets", "trims", "trimmed", Unit::Packets),
            over("8c", "The longest deflection queue", "deflection.peak", "at most", Unit::Packets)
                .log_y()
                .paper("64 senders", &[(0.0, 14_000.0)]),
        ],
        claims: duration_claims,
    }
}

/// A time of the grid in microseconds.
fn microseconds(time: &str) -> f64 {
    time.trim_end_matches("us").parse().unwrap_or(f64::NAN)
}

/// The shortest response from which on the deflection queues stay under control, in microseconds; infinite if there is
/// none.
fn stable_from(table: &Table, variant: &str) -> Stat {
    let mut stable = f64::INFINITY;
    let mut texts = table.texts(DURATION);
    texts.sort_by(|a, b| microseconds(b).total_cmp(&microseconds(a)));
    for time in texts {
        let peak = table.at(variant).with(DURATION, time).get("deflection.peak");
        if peak.is_empty() {
            return Stat::new([]);
        }
        if peak.values().iter().any(|(_, peak)| *peak > UNDER_CONTROL) {
            break;
        }
        stable = microseconds(time);
    }
    Stat::exact(stable)
}

/// Whether the deflection queues are under control with each response of at least so many microseconds.
fn controlled(table: &Table, variant: &str, least: f64) -> Vec<(String, Found)> {
    let times = table.texts(DURATION).into_iter().filter(|time| microseconds(time) >= least);
    let peaks = times.map(|time| (time, table.at(variant).with(DURATION, time).get("deflection.peak")));
    peaks.map(|(time, peak)| (time.to_owned(), peak.at_most(UNDER_CONTROL))).collect()
}

fn duration_claims(table: &Table) -> Vec<Measured> {
    let get = |variant: &str, time: &str, name: &str| table.at(variant).with(DURATION, time).get(name);
    let [worst, half] = ["64 senders", "32 senders"];
    vec![
        Measured::stat("64-senders-deflection-queue-without-any", &get(worst, "0us", "deflection.peak")),
        Measured::stat("32-senders-queues-under-control-duration", &stable_from(table, half)),
        Measured::stat("64-senders-queues-under-control-duration", &stable_from(table, worst)),
        Measured::stat(
            "32-senders-below-3-us-too",
            &get(half, "2us", "trims").more_than_percent(&get(half, "6us", "trims")),
        ),
        Measured::stat(
            "32-senders-without-response-throughput-best",
            &get(half, "0us", "rate.mean").more_than_percent(&get(half, "6us", "rate.mean")),
        ),
        Measured::stat(
            "32-senders-longer-response-costs-throughput",
            &get(half, "30us", "rate.mean").less_than_percent(&get(half, "6us", "rate.mean")),
        ),
        Measured::stat(
            "32-senders-6-us-packets-trimmed",
            &get(half, "6us", "trims").more_than_percent(&get(half, "0us", "trims")),
        ),
    ]
}

// ---- What the paper has rejected -----------------------------------------------------------------------------------

/// Figure 9.
pub(super) fn alternatives() -> Figure {
    const AT_32: [&str; 4] = ["final design, 32", "25% only, 32", "trim all, 32", "one pipeline told, 32"];
    const AT_64: [&str; 4] = ["final design, 64", "25% only, 64", "trim all, 64", "one pipeline told, 64"];
    const OTHERS: [&str; 6] = [
        "trim all, 64, ports drawn",
        "trim all, 32, neighbours",
        "25% only, 32, starts within 100 ns",
        "trim all, 32, starts within 100 ns",
        "one pipeline told, 32, starts within 10 us",
        "one pipeline told, 64, starts within 10 us",
    ];
    let over = |letter, title, metric, label, unit| {
        Panel::lines(letter, title).x(DURATION, "pessimistic time", Unit::Microseconds).y(metric, label, unit)
    };
    Figure {
        id: "fig9",
        number: "9",
        title: "Other responses to congestion, with 32 and 64 senders",
        setting: SETTING,
        text: include_str!("../../../../../scenarios/trimming/fig9.toml"),
        files: &[FLOWS, OTHER_FLOWS[0], OTHER_FLOWS[1], OTHER_FLOWS[2], OTHER_FLOWS[3]],
        work: Work::Simulate(measure_chip::control_loop),
        panels: vec![
            over("9a, b", "The longest deflection queue, 32 senders", "deflection.peak", "at most", Unit::Packets)
                .variants(&AT_32)
                .log_y(),
            over("", "The longest deflection queue, 64 senders", "deflection.peak", "at most", Unit::Packets)
                .variants(&AT_64)
                .log_y(),
            over("9c", "Average throughput, 32 senders", "rate.mean", "per flow", Unit::Gbps)
                .variants(&AT_32)
                .paper("final design, 32", &[(6.0, 46.0)])
                .paper("25% only, 32", &[(16.0, 42.0)])
                .paper("trim all, 32", &[(16.0, 38.0)]),
            over("", "Average throughput, 64 senders", "rate.mean", "per flow", Unit::Gbps)
                .variants(&AT_64)
                .paper("trim all, 64", &[(10.0, 19.0)]),
            over("", "Other ports, and starts that are apart", "deflection.peak", "at most", Unit::Packets)
                .variants(&OTHERS)
                .log_y(),
        ],
        claims: alternative_claims,
    }
}

fn alternative_claims(table: &Table) -> Vec<Measured> {
    let get = |variant: &str, time: &str, name: &str| table.at(variant).with(DURATION, time).get(name);
    let from = |variant: &str| stable_from(table, variant);
    // Without a response nothing is trimmed that the port could have sent.
    let more = |variant: &str, time: &str, than: &str, at: &str| {
        get(variant, time, "trims").more_than_percent(&get(than, at, "trims"))
    };
    vec![
        Measured::stat("32-senders-no-half-pessimistic-mode", &from("25% only, 32")),
        Measured::stat("64-senders-no-half-pessimistic-mode", &from("25% only, 64")),
        Measured::stat("32-senders-throughput-final-design", &get("final design, 32", "6us", "rate.mean")),
        Measured::stat("32-senders-no-half-pessimistic-mode-2", &get("25% only, 32", "16us", "rate.mean")),
        Measured::stat("32-senders-packets-trimmed-under-control", &from("trim all, 32")),
        Measured::stat(
            "32-senders-packets-trimmed-trims-without",
            &more("trim all, 32", "16us", "final design, 32", "0us"),
        ),
        Measured::stat(
            "32-senders-final-design-trims-without",
            &more("final design, 32", "6us", "final design, 32", "0us"),
        ),
        Measured::stat("32-senders-packets-trimmed-throughput", &get("trim all, 32", "16us", "rate.mean")),
        Measured::points("64-senders-packets-trimmed-under-control", controlled(table, "trim all, 64", 10.0)),
        Measured::stat("64-senders-packets-trimmed-throughput", &get("trim all, 64", "10us", "rate.mean")),
        Measured::stat("32-senders-one-pipeline-told-under", &from("one pipeline told, 32")),
        Measured::stat("64-senders-one-pipeline-told-under", &from("one pipeline told, 64")),
        Measured::stat(
            "32-senders-one-pipeline-told-trims",
            &more("one pipeline told, 32", "12us", "final design, 32", "6us"),
        ),
        Measured::stat(
            "32-senders-one-pipeline-told-trims-2",
            &more("one pipeline told, 32", "12us", "final design, 32", "0us"),
        ),
    ]
}
