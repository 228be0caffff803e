//! Figures 7 and 8: pFabric's ranks over AIFO, PIFO, PIEO and SP-PIFO, and the headroom k.

use super::measure::completion_times;
use super::published::{FIG7, FIG8, LABEL_05, LOADS, Published, SHORT, find};
use super::table::{
    LOAD, METRICS, against, against_load, at, below, ends, loads, near_the_authors_data, panel, percent, words,
};
use crate::{Figure, Measured, Panel, Scale, Stat, Table, Unit, Work};

/// The schemes that sort or admit by rank.
const RANKED: [&str; 4] = ["PIFO", "PIEO", "SP-PIFO", "AIFO"];

/// The figures of this file.
pub(super) fn figures() -> Vec<Figure> {
    vec![figure_7(), figure_7_handshake(), figure_7_true_load(), figure_8()]
}

/// A fourth panel, of large flows that all are waited for.
fn large_waited_for() -> Panel {
    Panel::lines("d", "Large flows, mean, all waited for (not in the paper)")
        .x(LOAD, "offered load", Unit::Share)
        .y("all.large.mean_ms", "completion time", Unit::Milliseconds)
        .log_y()
}

fn figure_7() -> Figure {
    Figure {
        id: "fig7",
        number: "7",
        title: "Web search, completion times with pFabric's ranks",
        setting: "9 leaves, 4 spines, 144 servers, 10 and 40 Gb/s; web search sizes as 11 steps, Poisson arrivals \
            between all servers. AIFO: 20 packets, k = 0.1, a window of 20 that samples one packet in 15; PIFO and \
            PIEO 79 packets; SP-PIFO 8 queues of 10; TCP 100 packets; DCTCP 146 KB, marking at 14.6 KB; the same in \
            front of the servers' links. Loads, transports and buffers as in the authors' code: what the paper calls \
            a load of 20 to 80% is an offered load of 20 to 104%. A completion time ends with the last ACK; flows \
            that have not ended when the run does are left out. The marks are the authors' data (1 s, one seed; none \
            for PIEO).",
        text: include_str!("../../../../../scenarios/aifo/fig7.toml"),
        files: &[],
        work: Work::Simulate(completion_times),
        panels: vec![
            against_load("a", METRICS[0], FIG7),
            against_load("b", METRICS[1], FIG7),
            against_load("c", METRICS[2], FIG7),
            large_waited_for(),
        ],
        claims: claims_7,
    }
}

fn figure_7_handshake() -> Figure {
    let own = |published: &Published| ["AIFO", "PIFO", "SP-PIFO"].contains(&published.name);
    let panel = |letter, metric| against(letter, metric, FIG7.iter().filter(|published| own(published)));
    Figure {
        id: "fig7-handshake",
        number: "7 with the handshake of the authors' simulator",
        title: "Web search, completion times where data that overtakes the handshake is discarded",
        setting: "As figure 7, with the handshake of the authors' simulator: a receiver discards data until a packet \
            of its own has acknowledged the SYN-ACK. That packet has the rank of the whole flow, so that the flow's \
            data, of lower rank, overtakes it where packets are sorted by rank, and waits for a timeout. The marks are \
            the authors' data (1 s, one seed).",
        text: include_str!("../../../../../scenarios/aifo/fig7-handshake.toml"),
        files: &[],
        work: Work::Simulate(completion_times),
        panels: vec![panel("a", METRICS[0]), panel("b", METRICS[1]), panel("c", METRICS[2]), large_waited_for()],
        claims: claims_of_the_handshake,
    }
}

fn figure_7_true_load() -> Figure {
    let panel = |letter, metric| panel(letter, metric, "offered load");
    Figure {
        id: "fig7-true-load",
        number: "7 at true loads",
        title: "Web search, completion times with pFabric's ranks, at the loads that the labels name",
        setting: "As figure 7, with offered loads of 20 to 80%: payload over the servers' links.",
        text: include_str!("../../../../../scenarios/aifo/fig7-true-load.toml"),
        files: &[],
        work: Work::Simulate(completion_times),
        panels: vec![panel("a", METRICS[0]), panel("b", METRICS[1]), panel("c", METRICS[2]), large_waited_for()],
        claims: claims_of_the_prose,
    }
}

fn figure_8() -> Figure {
    Figure {
        id: "fig8",
        number: "8",
        title: "The headroom k",
        setting: "As figure 7: AIFO with four values of k, FIFO (TCP over 100 packets) and PIFO. The marks are the \
            authors' data.",
        text: include_str!("../../../../../scenarios/aifo/fig8.toml"),
        files: &[],
        work: Work::Simulate(completion_times),
        panels: vec![
            against_load("a", METRICS[0], FIG8),
            against_load("b", METRICS[1], FIG8),
            against_load("c", METRICS[2], FIG8),
            large_waited_for(),
        ],
        claims: claims_8,
    }
}

/// The ratio of two schemes at a load.
fn ratio(table: &Table, a: &str, b: &str, load: f64, metric: &str) -> Stat {
    at(table, a, load, metric).ratio(&at(table, b, load, metric))
}

/// The schemes among these that this run has.
fn present<'a>(table: &Table, schemes: &[&'a str]) -> Vec<&'a str> {
    let variants = table.variants();
    schemes.iter().copied().filter(|scheme| variants.iter().any(|variant| variant == scheme)).collect()
}

/// What the prose says about figure 7.
fn claims_of_the_prose(table: &Table) -> Vec<Measured> {
    let (low, high) = ends(table);
    let ranked = present(table, &RANKED);
    let mut claims = Vec::new();
    for rival in ["TCP", "DCTCP"] {
        let metrics = &METRICS[..2];
        let lines =
            metrics.iter().flat_map(|metric| ranked.iter().flat_map(move |scheme| below(table, scheme, rival, metric)));
        let claim = Measured::points("small-vs", lines.collect()).at([rival.to_string()]);
        claims.push(claim);
    }
    let at_high = |metric: &str| -> Vec<(&str, Stat)> {
        ranked.iter().copied().chain(["DCTCP", "TCP"]).map(|scheme| (scheme, at(table, scheme, high, metric))).collect()
    };
    for rival in ["TCP", "DCTCP"] {
        let advantage = |load| ratio(table, rival, "AIFO", load, "small.mean_ms");
        claims.push(
            Measured::stat("aifo-advantage-over-grows-load", &advantage(high).minus(&advantage(low)))
                .at([rival.to_string()]),
        );
    }
    let lines = ranked.iter().flat_map(|scheme| {
        ["TCP", "DCTCP"].into_iter().map(move |rival| {
            let faster = at(table, scheme, high, METRICS[2]).less_than(&at(table, rival, high, METRICS[2]));
            (format!("{scheme} below {rival}"), faster)
        })
    });
    let lines: Vec<_> = lines.collect();
    claims.push(Measured::points("large-flows-too-faster-tcp-dctcp", lines).telling([percent(high)]));
    for metric in &METRICS[..2] {
        claims.push(
            Measured::order("pifo-pieo-best-then-sp-pifo", &at_high(metric))
                .at([words(metric).to_string()])
                .telling([percent(high)]),
        );
    }
    for rival in ["TCP", "DCTCP"] {
        let growth = |scheme| at(table, scheme, high, METRICS[0]).ratio(&at(table, scheme, low, METRICS[0]));
        claims.push(
            Measured::stat("lowest-highest-load-aifo-mean-grows", &growth(rival).minus(&growth("AIFO")))
                .at([rival.to_string()]),
        );
    }
    for metric in &METRICS[..2] {
        for ideal in ["PIFO", "SP-PIFO"] {
            let gap = |load| ratio(table, "AIFO", ideal, load, metric);
            claims.push(
                Measured::stat("gap-between-aifo-gets-smaller-load", &gap(low).minus(&gap(high)))
                    .at([ideal.to_string(), words(metric).to_string()]),
            );
        }
    }
    claims
}

fn claims_7(table: &Table) -> Vec<Measured> {
    let mut claims = claims_of_the_prose(table);
    let (_, high) = ends(table);
    claims.push(Measured::stat("pieo-like-pifo", &ratio(table, "PIEO", "PIFO", high, METRICS[0])));
    claims.extend(close(table, high));
    claims.extend(against_the_authors_runs(table, SHORT.map(|(scheme, _)| scheme)));
    claims.push(near_the_authors_data(table, FIG7, LOADS[6], &METRICS));
    claims
}

/// How close AIFO, PIFO and SP-PIFO are to each other at the highest load.
fn close(table: &Table, high: f64) -> impl Iterator<Item = Measured> {
    let pairs = [("SP-PIFO", "PIFO"), ("AIFO", "PIFO"), ("AIFO", "SP-PIFO")];
    pairs.into_iter().flat_map(|pair| METRICS.map(|metric| (pair, metric))).map(move |((a, b), metric)| {
        let theirs = find(FIG7, a).at_08(metric) / find(FIG7, b).at_08(metric);
        Measured::stat("close", &ratio(table, a, b, high, metric)).at([a, b, words(metric)]).theirs(theirs)
    })
}

/// What the handshake of the authors' simulator is said to explain.
fn claims_of_the_handshake(table: &Table) -> Vec<Measured> {
    let (low, high) = ends(table);
    let gap = |load| ratio(table, "AIFO", "PIFO", load, METRICS[0]);
    let mut claims = vec![Measured::stat("gap-between-aifo-gets-smaller-load", &gap(low).minus(&gap(high)))];
    claims.extend(close(table, high));
    claims.extend(against_the_authors_runs(table, ["AIFO", "PIFO", "SP-PIFO"]));
    claims
}

/// The authors' runs at the label 0.5, of 40 ms at the default scale and of 1 s at the full one.
fn against_the_authors_runs<const N: usize>(table: &Table, schemes: [&str; N]) -> Vec<Measured> {
    let full = table.scale() == Scale::Full;
    let mut claims = Vec::new();
    // A quick run is shorter than these.
    let shown = |(scheme, _): &(&str, _)| table.scale() != Scale::Quick && schemes.contains(scheme);
    for (scheme, short) in SHORT.into_iter().filter(shown) {
        for (metric, short) in METRICS.into_iter().zip(short) {
            let (length, theirs) = if full { ("1 s", find(FIG7, scheme).of(metric)[3]) } else { ("40 ms", short) };
            claims.push(
                Measured::stat("authors-run", &at(table, scheme, LABEL_05, metric))
                    .at([scheme, words(metric)])
                    .telling([length])
                    .theirs(theirs),
            );
        }
    }
    claims
}

/// The values of k, the smallest first.
const KS: [&str; 4] = ["k = 0.1", "k = 0.3", "k = 0.7", "k = 0.9"];

fn claims_8(table: &Table) -> Vec<Measured> {
    let (_, high) = ends(table);
    let mut claims = Vec::new();
    for metric in &METRICS[..2] {
        let lines: Vec<_> = KS.windows(2).flat_map(|pair| below(table, pair[0], pair[1], metric)).collect();
        claims.push(Measured::points("smaller-k-always-better", lines).at([words(metric).to_string()]));
    }
    for load in loads(table).into_iter().filter(|&load| load > 0.7) {
        let values: Vec<(&str, Stat)> = KS.into_iter().map(|k| (k, at(table, k, load, METRICS[2]))).collect();
        claims.push(Measured::order("smaller-k-better-large-flows-too", &values).at([percent(load)]));
    }
    for metric in METRICS {
        let theirs = find(FIG8, "k = 0.1").at_08(metric) / find(FIG8, "PIFO").at_08(metric);
        claims.push(
            Measured::stat("k-0.1-aifo-close-pifo-their", &ratio(table, "k = 0.1", "PIFO", high, metric))
                .at([words(metric)])
                .theirs(theirs),
        );
    }
    let order: Vec<&str> = KS.into_iter().chain(["FIFO"]).collect();
    for metric in METRICS {
        let values: Vec<(&str, Stat)> = order.iter().map(|&name| (name, at(table, name, high, metric))).collect();
        claims.push(
            Measured::order("larger-k-closer-fifo-worst", &values)
                .at([words(metric).to_string()])
                .telling([percent(high)]),
        );
    }
    for metric in &METRICS[..2] {
        claims.push(
            Measured::stat("k-0.1-about-9-times-faster", &ratio(table, "k = 0.9", "k = 0.1", high, metric))
                .at([words(metric).to_string()])
                .telling([percent(high)]),
        );
    }
    let (low, _) = ends(table);
    claims.push(
        Measured::stat(
            "small-k-harms-large-flows-while",
            &at(table, "k = 0.1", low, "all.large.mean_ms").minus(&at(table, "k = 0.7", low, "all.large.mean_ms")),
        )
        .telling([percent(low)]),
    );
    let slight = loads(table).into_iter().map(|load| {
        let best = Stat::smallest(KS.map(|k| at(table, k, load, "all.large.mean_ms")));
        let ours = at(table, KS[0], load, "all.large.mean_ms").ratio(&best);
        (format!("at {}: {:.0}% above the best k", percent(load), (ours.mean() - 1.0) * 100.0), ours.at_most(1.25))
    });
    claims.push(Measured::points("k-0.1-large-flows-only-slightly", slight.collect()));
    claims
}
