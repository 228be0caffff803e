//! Theorems 1 and 2: AIFO against PIFO under constant overload.

use super::measure_theorems;
use crate::figure::{Figure, Work};
use crate::measured::Measured;
use crate::panel::Panel;
use crate::stat::Stat;
use crate::table::Table;
use crate::unit::Unit;

/// The cases: the rates of each rank, and what they are called.
const CASES: [(&str, &str); 4] = [
    ("0.3 0.3 0.3 0.3 0.3 0.3", "six equal ranks"),
    ("0.05 0.2 0.4 0.61 0.5 0.3", "six unequal ranks"),
    ("0.25 0.25 0.25 0.25 0.25 0.25 0.25 0.25", "ranks that fill the link exactly"),
    ("0.13 0.13 0.13 0.13 0.13 0.13 0.13 0.13 0.13 0.13 0.13 0.13 0.13 0.13 0.13 0.13", "sixteen equal ranks"),
];

pub(super) fn figures() -> Vec<Figure> {
    vec![theorem_1(), theorem_2()]
}

fn theorem_1() -> Figure {
    let rates = |letter, title, (case, _): (&'static str, &str)| {
        Panel::curves(letter, title)
            .only("rates", case)
            .only("arrivals", "even")
            .x("", "rank, the lowest first", Unit::None)
            .y("", "rate of departures over the link's", Unit::Share)
            .curve("rates", "")
            .curve("theorem", "by theorem 1")
    };
    Figure {
        id: "theorem1",
        number: "theorem 1",
        title: "Departure rates of each rank, and lengths of queues, at constant rates",
        setting: "Packets of each rank arrive at a constant rate, together at 1.8 to 2.06 times the link's. The theorem thinks of fluids; here they are packets of one size, \
                  evenly spaced or (beyond what the theorem assumes) at random instants, a queue of 40 packets with a headroom of 0.1, and a \
                  window of 200 packets.",
        text: include_str!("../../../../../scenarios/aifo/theorem1.toml"),
        files: &[],
        work: Work::Compute(measure_theorems::departures),
        panels: vec![
            rates("a", "Six equal ranks, evenly spaced packets", CASES[0]),
            rates("b", "Six unequal ranks, evenly spaced packets", CASES[1]),
            Panel::bars("c", "Largest distance of any rank from theorem 1").series_by("arrivals", "arrivals: ").y(
                "off",
                "distance over the link's rate",
                Unit::Share,
            ),
            Panel::bars("d", "Mean length of the queue, evenly spaced packets, six equal ranks")
                .only("rates", CASES[0].0)
                .only("arrivals", "even")
                .y("queue", "length", Unit::Packets),
        ],
        claims: claims_1,
    }
}

/// The cases that were run.
fn cases(table: &Table) -> impl Iterator<Item = (&'static str, &'static str)> {
    let run = table.texts("rates").into_iter().map(str::to_owned).collect::<Vec<_>>();
    CASES.into_iter().filter(move |(rates, _)| run.iter().any(|own| own == rates))
}

fn at(table: &Table, variant: &str, rates: &str, arrivals: &str, metric: &str) -> Stat {
    table.at(variant).with("rates", rates).with("arrivals", arrivals).get(metric)
}

/// Rates within this of the theorem's, as a share of the link, count as the same.
const SAME: f64 = 0.01;

fn claims_1(table: &Table) -> Vec<Measured> {
    let as_said = |variant: &str, arrivals: &str| {
        let near = |(rates, name): (&'static str, &str)| {
            let off = at(table, variant, rates, arrivals, "off");
            (format!("{name} ({:.3} off)", off.mean()), off.at_most(SAME))
        };
        cases(table).map(near).collect::<Vec<_>>()
    };
    let mut claims = vec![
        Measured::points("aifo-sends-each-rank-pifo-rate", as_said("AIFO", "even")),
        Measured::points("pifo-sends-each-rank-rate", as_said("PIFO", "even")),
        Measured::points("fifo-sends-each-rank-proportion-arrivals", as_said("FIFO", "random")),
        Measured::points("fifo-sends-each-rank-proportion-arrivals-2", as_said("FIFO", "even")),
    ];
    let (rates, _) = CASES[0];
    for scheme in ["PIFO", "FIFO"] {
        let queue = at(table, scheme, rates, "even", "queue");
        claims.push(Measured::stat("queue-full-c-here-40", &queue).at([scheme.to_string()]));
    }
    for (rates, name) in cases(table).filter(|(rates, _)| *rates != CASES[2].0) {
        let (queue, said) =
            (at(table, "AIFO", rates, "even", "queue"), at(table, "AIFO", rates, "even", "queue.theorem"));
        let own = at(table, "AIFO", rates, "even", "queue.quantile").mean();
        claims.push(
            Measured::stat("queue-aifo-n-n-c-long", &queue)
                .at([name.to_string()])
                .theirs(said.mean())
                .telling([format!("{own:.1}")]),
        );
    }
    let (rates, _) = CASES[2];
    if table.texts("rates").contains(&rates) {
        // Four of eight ranks fill the link: between n* + 1 and n* ranks.
        let queue = at(table, "AIFO", rates, "even", "queue");
        let (low, high) = ((1.0 - 5.0 / 8.0 * 0.9) * 40.0, (1.0 - 4.0 / 8.0 * 0.9) * 40.0);
        let mean = queue.mean();
        claims.push(Measured::points(
            "where-ranks-fill-link-exactly-queue",
            vec![(format!("{mean:.1} packets"), mean >= low && mean <= high)],
        ));
    }
    claims.push(Measured::stat(
        "aifo-queue-shorter-pifo",
        &at(table, "PIFO", CASES[0].0, "even", "queue").minus(&at(table, "AIFO", CASES[0].0, "even", "queue")),
    ));
    claims
}

fn theorem_2() -> Figure {
    let gaps = |letter, title, case: &'static str, arrivals: &'static str| {
        Panel::curves(letter, title)
            .only("rates", case)
            .only("arrivals", arrivals)
            .x("", "time", Unit::Milliseconds)
            .y("", "gap to PIFO", Unit::Share)
            .log_x()
            .curve("gap", "packets")
            .curve("gap_by_rank", "packets of each rank")
    };
    Figure {
        id: "theorem2",
        number: "theorem 2",
        title: "The gap between the packets that AIFO and PIFO send, over time",
        setting: "As for theorem 1; FIFO stands beside AIFO. The gap is equation 1: the share of packets that only one of the two sends. The proof counts how many packets of \
                  each rank are sent instead of which; that is shown, too.",
        text: include_str!("../../../../../scenarios/aifo/theorem2.toml"),
        files: &[],
        work: Work::Compute(measure_theorems::gaps),
        panels: vec![
            gaps("a", "Six equal ranks, evenly spaced packets", CASES[0].0, "even"),
            gaps("b", "Ranks that fill the link exactly, evenly spaced packets", CASES[2].0, "even"),
            gaps("c", "Six equal ranks, packets at random instants", CASES[0].0, "random"),
        ],
        claims: claims_2,
    }
}

/// Gaps below this count as vanished.
const VANISHED: f64 = 0.01;

fn claims_2(table: &Table) -> Vec<Measured> {
    let vanished = |metric: &str| {
        let at_the_end = |(rates, name): (&'static str, &str)| {
            let gap = at(table, "AIFO", rates, "even", metric);
            (format!("{name} ({:.1}%)", 100.0 * gap.mean()), gap.at_most(VANISHED))
        };
        cases(table).map(at_the_end).collect::<Vec<_>>()
    };
    let part = |(rates, name): (&'static str, &str)| {
        format!("{:.0}% with {name}", 100.0 * at(table, "AIFO", rates, "even", "margin.part").mean())
    };
    let parts: Vec<String> = cases(table).filter(|(rates, _)| *rates != CASES[2].0).map(part).collect();
    vec![
        Measured::points("gap-between-packets-aifo-pifo-send", vanished("gap.end")).telling([parts.join(", ")]),
        Measured::points("gap-proof-counts-how-many-packets", vanished("gap_by_rank.end")),
    ]
}
