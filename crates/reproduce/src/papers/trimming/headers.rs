//! Figure 5, when headers of trimmed packets arrive, and what section 6.1 concludes from it for buffers.

use super::measure;
use crate::claim::{Better, Claim};
use crate::figure::{Figure, Work};
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
fn about_a_microsecond(table: &Table, incasts: &[(&str, &str)]) -> Vec<(String, bool)> {
    let points = incasts.iter().flat_map(|(name, file)| QUANTILES.map(|quantile| (name, file, quantile)));
    let points = points.map(|(name, file, quantile)| (format!("{name} {quantile}"), added(table, file, quantile)));
    let found = points.filter(|(_, added)| !added.is_empty());
    found.map(|(name, added)| (name, (0.8..=1.25).contains(&added.mean()))).collect()
}

fn arrival_claims(table: &Table) -> Vec<Claim> {
    let [all_to_one, _, _, worst] = INCASTS;
    let median = |variant: &str, file: &str| table.at(variant).with(INCAST, file).get("headers.p50");
    let none_lost = |(name, file): (&str, &str)| {
        let lost = table.at("Mirror on drop").with(INCAST, file).get("headers.lost");
        (!lost.is_empty()).then(|| (name.to_owned(), lost.mean() == 0.0))
    };
    let jump = |(name, file): (&str, &str)| {
        let early = |variant: &str| table.at(variant).with(INCAST, file).get("headers.p1");
        let later = early("Cut payload").minus(&early("NDP"));
        (!later.is_empty()).then(|| (name.to_owned(), later.low() > 0.0))
    };
    let sooner = |(name, file): (&str, &str)| {
        let later = median("Cut payload", file).minus(&median("NDP", file));
        (!later.is_empty()).then(|| (name.to_owned(), later.low() > 0.0))
    };
    let at = |variant: &str, file: &str, quantile: &str| {
        table.at(variant).with(INCAST, file).get(&format!("headers.{quantile}"))
    };
    let [_, (_, between), ..] = INCASTS;
    let [full, meters] = ["Tofino", "Tofino, meters and deflection"];
    let similar = QUANTILES.map(|quantile| {
        let (with, without) = (at(full, all_to_one.1, quantile), at(meters, all_to_one.1, quantile));
        (!with.is_empty()).then(|| (quantile.to_owned(), (with.mean() - without.mean()).abs() <= 0.1 * without.mean()))
    });
    let tracks = QUANTILES.map(|quantile| {
        let (own, ideal) = (at(full, between, quantile), at("NDP", between, quantile));
        (!own.is_empty())
            .then(|| (quantile.to_owned(), (own.mean() - ideal.mean()).abs() <= (0.1 * ideal.mean()).max(0.5)))
    });
    let names = ["NDP", "Mirror on drop"];
    let medians = names.map(|name| (name, median(name, all_to_one.1)));
    vec![
        Claim::value(
            "64:1: mirror on drop adds to the median header",
            1.0,
            Unit::Microseconds,
            &added(table, all_to_one.1, "p50"),
        ),
        Claim::every(
            "64:1: it adds as much to all headers",
            "always around 1 us",
            about_a_microsecond(table, &[all_to_one]),
        ),
        Claim::ranking("64:1: it is worse than the ideal switch (median header, us)", &names, &medians, Better::Less),
        Claim::value(
            "4:1 x 16: mirror on drop adds to the median header",
            1.0,
            Unit::Microseconds,
            &added(table, worst.1, "p50"),
        ),
        Claim::every(
            "it adds a fixed latency, whatever the incast",
            "about 1 us at every quantile",
            about_a_microsecond(table, &INCASTS),
        ),
        Claim::value(
            "64:1: that latency in packets of buffer",
            9.0,
            Unit::Packets,
            &added(table, all_to_one.1, "p50").times(PACKETS_IN_A_US),
        ),
        Claim::every(
            "64:1: Tofino with meters and deflection alone works like the complete mechanism (within 10%)",
            "similarly",
            similar.into_iter().flatten().collect(),
        )
        .because("Notifications make the pipelines trim to a quarter of the rate, so fewer packets are deflected, and the last headers come sooner."),
        Claim::direction(
            "64:1: both trim at ingress, so their median header comes sooner than mirror on drop's",
            "mirror on drop performs worst",
            &at("Mirror on drop", all_to_one.1, "p50").minus(&at(full, all_to_one.1, "p50")),
            Unit::Microseconds,
        ),
        Claim::every("16:1 x 4: the complete Tofino closely tracks the ideal switch (within 10%, or 0.5 us)", "closely", tracks.into_iter().flatten().collect())
        .because("The last headers are of packets that were deflected before the first notification had come around: they waited in front of the deflection port."),
        Claim::direction(
            "16:1 x 4: its median header comes slightly sooner than mirror on drop's",
            "slightly faster",
            &at("Mirror on drop", between, "p50").minus(&at(full, between, "p50")),
            Unit::Microseconds,
        ),
        Claim::direction(
            "16:1 x 4: without notifications deflected headers are late (last percentile)",
            "a second, lower slope",
            &at(meters, between, "p99").minus(&at(full, between, "p99")),
            Unit::Microseconds,
        ),
        Claim::direction(
            "4:1 x 16: without notifications the deflection ports are overloaded: the median header is later than mirror on drop's",
            "a huge latency",
            &at(meters, worst.1, "p50").minus(&at("Mirror on drop", worst.1, "p50")),
            Unit::Microseconds,
        ),
        Claim::value(
            "4:1 x 16: with notifications the median header comes when mirror on drop's does",
            1.0,
            Unit::None,
            &at(full, worst.1, "p50").ratio(&at("Mirror on drop", worst.1, "p50")),
        ),
        Claim::direction(
            "4:1 x 16: deflected headers are late: the 90th percentile is later than mirror on drop's",
            "higher latency from the 90th percentile on",
            &at(full, worst.1, "p90").minus(&at("Mirror on drop", worst.1, "p90")),
            Unit::Microseconds,
        ),
        Claim::every(
            "mirror on drop copes with every incast: no header is lost",
            "works well",
            INCASTS.into_iter().filter_map(none_lost).collect(),
        ),
        Claim::every(
            "NDP's early headers jump the queue of data, in which cut payload's wait (first percentile)",
            "all early headers do",
            INCASTS.into_iter().filter_map(jump).collect(),
        ),
        Claim::every(
            "and its median header arrives before cut payload's",
            "headers have priority",
            INCASTS.into_iter().filter_map(sooner).collect(),
        )
        .because(
            "In the large incasts nearly all packets are cut. After every ten headers NDP sends a packet of data, which takes more of the wire than the ten; the one queue of cut payload \
             is full of headers by then, which follow each other.",
        ),
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

fn buffer_claims(table: &Table) -> Vec<Claim> {
    let time = |variant: &str, request: f64| table.at(variant).and(REQUEST, request).get(TIME);
    let requests = table.values(REQUEST);
    let late = requests.iter().map(|request| {
        time("Mirror on drop, 10 packets", *request).more_than_percent(&time("NDP, 10 packets", *request))
    });
    let made_up = requests.iter().map(|request| {
        let (mirror, ideal) = (time("Mirror on drop, 20 packets", *request), time("NDP, 10 packets", *request));
        (format!("{:.0} KB", request / 1e3), mirror.mean() <= 1.01 * ideal.mean())
    });
    vec![
        Claim::direction(
            "with 10 packets of buffer a short incast takes longer with mirror on drop, by up to",
            "can lead to under-utilization",
            &Stat::largest(late),
            Unit::Percent,
        ),
        Claim::every(
            "with 20 packets it takes no longer than on the ideal switch with 10",
            "avoids that",
            made_up.collect(),
        ),
    ]
}
