//! Figure 5, when headers of trimmed packets arrive, and what section 6.1 concludes from it for buffers.

use super::measure;
use crate::figure::{Figure, Work};
use crate::found::Found;
use crate::measured::Measured;
use crate::panel::Panel;
use crate::stat::Stat;
use crate::table::Table;
use crate::unit::Unit;

/// The key of the incast, and its values.
const INCAST: &str = "workload.0.path";
const INCASTS: [(&str, &str); 4] = [
    ("64:1", "incast-64to1.csv"),
    ("16:1 x 4", "incast-16to1.csv"),
    ("8:1 x 8", "incast-8to1.csv"),
    ("4:1 x 16", "incast-4to1.csv"),
];
const QUANTILES: [&str; 7] = ["p1", "p10", "p25", "p50", "p75", "p90", "p99"];

/// Packets of 1,500 bytes that a port of 100 Gb/s sends in a microsecond.
const PACKETS_IN_A_US: f64 = 1e-6 * 100e9 / 8.0 / 1_500.0;

/// Figure 5.
pub(super) fn arrival_times() -> Figure {
    let panel = |letter, title, file| {
        let panel = Panel::curves(letter, title).curve("headers", "").only(INCAST, file);
        panel.x("", "arrival of headers", Unit::Microseconds).y("", "share of headers", Unit::Share)
    };
    Figure {
        id: "fig5",
        number: "5",
        title: "When the headers of trimmed packets arrive in an incast",
        setting: "A switch with 64 ports of 100 Gb/s, all of which send at once to one, four, eight or sixteen receivers (hosts of their own), each 30 packets of 1,500 bytes at line \
                  rate, NDP's first window (the paper does not give its own). 10 packets of queue for data, headers before data in the ratio 10:1. Mirror on drop \
                  has a port of 100 Gb/s for each pipeline of 16 ports and 1 us of recirculation, as in the paper. Headers of source flow control go back to \
                  the sender; the time is that of their arrival there. Links are 100 ns long. Tofino's two passes for a notification take 500 ns each, so its recirculated headers are 500 ns late, not 1 us.",
        text: include_str!("../../../../../scenarios/trimming/fig5.toml"),
        files: &[
            ("incast-64to1.csv", include_str!("../../../../../scenarios/trimming/incast-64to1.csv")),
            ("incast-16to1.csv", include_str!("../../../../../scenarios/trimming/incast-16to1.csv")),
            ("incast-8to1.csv", include_str!("../../../../../scenarios/trimming/incast-8to1.csv")),
            ("incast-4to1.csv", include_str!("../../../../../scenarios/trimming/incast-4to1.csv")),
        ],
        work: Work::Simulate(measure::headers),
        panels: vec![
            panel("a", "64:1", "incast-64to1.csv"),
            panel("b", "16:1, four in parallel", "incast-16to1.csv"),
            panel("c", "4:1, sixteen in parallel", "incast-4to1.csv"),
            panel("", "8:1, eight in parallel", "incast-8to1.csv"),
        ],
        claims: arrival_claims,
    }
}

/// By how much a header of mirror on drop arrives later than one of the ideal switch, at a quantile.
fn added(table: &Table, file: &str, quantile: &str) -> Stat {
    let at = |variant| table.at(variant).with(INCAST, file).get(&format!("headers.{quantile}"));
    at("Mirror on drop").minus(&at("NDP"))
}

/// Whether the delay is about 1 us, at every quantile of some incasts.
fn about_a_microsecond(table: &Table, incasts: &[(&str, &str)]) -> Vec<(String, Found)> {
    let points = incasts.iter().flat_map(|(name, file)| QUANTILES.map(|quantile| (name, file, quantile)));
    let points = points.map(|(name, file, quantile)| (format!("{name} {quantile}"), added(table, file, quantile)));
    points.map(|(name, added)| (name, added.between(0.8, 1.25))).collect()
}

fn arrival_claims(table: &Table) -> Vec<Measured> {
    let [all_to_one, _, _, worst] = INCASTS;
    let median = |variant: &str, file: &str| table.at(variant).with(INCAST, file).get("headers.p50");
    let none_lost = |(name, file): (&str, &str)| {
        let lost = table.at("Mirror on drop").with(INCAST, file).get("headers.lost");
        (name.to_owned(), lost.at_most(0.0))
    };
    let jump = |(name, file): (&str, &str)| {
        let early = |variant: &str| table.at(variant).with(INCAST, file).get("headers.p1");
        let later = early("Cut payload").minus(&early("NDP"));
        (name.to_owned(), later.above(0.0))
    };
    let sooner = |(name, file): (&str, &str)| {
        let later = median("Cut payload", file).minus(&median("NDP", file));
        (name.to_owned(), later.above(0.0))
    };
    let at = |variant: &str, file: &str, quantile: &str| {
        table.at(variant).with(INCAST, file).get(&format!("headers.{quantile}"))
    };
    let [_, (_, between), ..] = INCASTS;
    let [full, meters] = ["Tofino", "Tofino, meters and deflection"];
    let similar = QUANTILES.map(|quantile| {
        let (with, without) = (at(full, all_to_one.1, quantile), at(meters, all_to_one.1, quantile));
        (quantile.to_owned(), with.ratio(&without).between(0.9, 1.1))
    });
    let tracks = QUANTILES.map(|quantile| {
        let (own, ideal) = (at(full, between, quantile), at("NDP", between, quantile));
        let near = (0.1 * ideal.mean()).max(0.5);
        (quantile.to_owned(), own.minus(&ideal).between(-near, near))
    });
    let names = ["NDP", "Mirror on drop"];
    let medians = names.map(|name| (name, median(name, all_to_one.1)));
    vec![
        Measured::stat("64-1-mirror-drop-adds-median", &added(table, all_to_one.1, "p50")),
        Measured::points("64-1-adds-much-headers", about_a_microsecond(table, &[all_to_one])),
        Measured::order("64-1-worse-ideal-switch", &medians),
        Measured::stat("4-1-x-16-mirror-drop", &added(table, worst.1, "p50")),
        Measured::points("adds-fixed-latency-whatever-incast", about_a_microsecond(table, &INCASTS)),
        Measured::stat("64-1-latency-packets-buffer", &added(table, all_to_one.1, "p50").times(PACKETS_IN_A_US)),
        Measured::points("64-1-tofino-meters-deflection-alone", similar.to_vec()),
        Measured::stat(
            "64-1-both-trim-ingress-their",
            &at("Mirror on drop", all_to_one.1, "p50").minus(&at(full, all_to_one.1, "p50")),
        ),
        Measured::points("16-1-x-4-complete-tofino", tracks.to_vec()),
        Measured::stat(
            "16-1-x-4-median-header",
            &at("Mirror on drop", between, "p50").minus(&at(full, between, "p50")),
        ),
        Measured::stat("16-1-x-4-without-notifications", &at(meters, between, "p99").minus(&at(full, between, "p99"))),
        Measured::stat(
            "4-1-x-16-without-notifications",
            &at(meters, worst.1, "p50").minus(&at("Mirror on drop", worst.1, "p50")),
        ),
        Measured::stat(
            "4-1-x-16-notifications-median",
            &at(full, worst.1, "p50").ratio(&at("Mirror on drop", worst.1, "p50")),
        ),
        Measured::stat(
            "4-1-x-16-deflected-headers",
            &at(full, worst.1, "p90").minus(&at("Mirror on drop", worst.1, "p90")),
        ),
        Measured::points("mirror-drop-copes-every-incast-no", INCASTS.map(none_lost).to_vec()),
        Measured::points("ndp-early-headers-jump-queue-data", INCASTS.map(jump).to_vec()),
        Measured::points("median-header-arrives-before-cut-payload", INCASTS.map(sooner).to_vec()),
    ]
}

/// What the conclusion about buffers is measured by.
const REQUEST: &str = "workload.0.request";
const TIME: &str = "queries.incast.qct_us.mean";

/// Section 6.1: the buffer that makes up for recirculation.
pub(super) fn extra_buffer() -> Figure {
    Figure {
        id: "buffering",
        number: "section 6.1",
        title: "The buffer that makes up for the latency of recirculation",
        setting: "The switch of figure 5. Eight ports send a burst of 16 to 64 packets to a ninth at once; what is trimmed has to be there again before the \
                  queue is empty. Links are 100 ns long, so that the 10 packets that the paper advises for an ideal switch, 1.2 us, are enough for a round trip. The \
                  paper states this without a figure.",
        text: include_str!("../../../../../scenarios/trimming/buffering.toml"),
        files: &[],
        work: Work::STANDARD,
        panels: vec![
            Panel::lines("", "Completion of the incast")
                .x(REQUEST, "incast, all senders", Unit::Kilobytes)
                .x_times(1e-3)
                .y("queries.incast.slowdown.mean", "time over that of a link that is never idle", Unit::None),
        ],
        claims: buffer_claims,
    }
}

fn buffer_claims(table: &Table) -> Vec<Measured> {
    let time = |variant: &str, request: f64| table.at(variant).and(REQUEST, request).get(TIME);
    let requests = table.values(REQUEST);
    let late = requests.iter().map(|request| {
        time("Mirror on drop, 10 packets", *request).more_than_percent(&time("NDP, 10 packets", *request))
    });
    let made_up = requests.iter().map(|request| {
        let (mirror, ideal) = (time("Mirror on drop, 20 packets", *request), time("NDP, 10 packets", *request));
        (format!("{:.0} KB", request / 1e3), mirror.at_most_times(1.01, &ideal))
    });
    vec![
        Measured::stat("10-packets-buffer-short-incast-takes", &Stat::largest(late)),
        Measured::points("20-packets-takes-no-longer-ideal", made_up.collect()),
    ]
}
