//! Figure 7: which bursts are absorbed, and how full the buffer is.

use super::measure;
use crate::counts::Count;
use crate::figure::{Figure, Work};
use crate::found::Found;
use crate::measured::Measured;
use crate::panel::Panel;
use crate::stat::Stat;
use crate::table::Table;
use crate::unit::Unit;

const SIZE: &str = "workload.1.request_share";
const ABSORBED: &str = "bursts.absorbed";
const OCCUPANCY: &str = "leaf.occupancy_p99";

/// Both halves of the figure.
pub(super) fn figures() -> Vec<Figure> {
    vec![
        Figure {
            id: "fig7-multi-queue",
            number: "7a, c",
            title: "Bursts absorbed and tail occupancy against the size of bursts, five queues a port",
            setting: "90% background load, bursts of 20 to 90% of the buffer that 40 servers send at once. Bursts have a class of their \
                      own (alpha 20), the background is spread over four (alpha 0.5); round robin. DT has 18.8% of the buffer reserved. \
                      Where the paper is silent (first windows, which TCP, IB's fair dropping) the scenario file says what was chosen.",
            text: include_str!("../../../../../scenarios/fb/fig7-multi-queue.toml"),
            files: &[],
            work: Work::Simulate(measure::evaluation),
            panels: panels(["a", "c"]),
            claims: multi_queue,
        },
        Figure {
            id: "fig7-single-queue",
            number: "7b, d",
            title: "Bursts absorbed and tail occupancy against the size of bursts, one queue a port",
            setting: "As figures 7a and 7c with one queue a port: DT has alpha 0.5 for all packets, FB 0.5 for the background's and 20 for \
                      those of bursts, FAB 20 for the first 250 KB of a flow, which is more than a burst's flow has (and, as another \
                      variant, for the first 21 KB, as in the ABM authors' module).",
            text: include_str!("../../../../../scenarios/fb/fig7-single-queue.toml"),
            files: &[],
            work: Work::Simulate(measure::evaluation),
            panels: panels(["b", "d"]),
            claims: single_queue,
        },
        windows(
            "windows-multi-queue",
            "7 and 8 with socket buffers, five queues a port",
            include_str!("../../../../../scenarios/fb/windows-multi-queue.toml"),
        ),
        windows(
            "windows-single-queue",
            "7 and 8 with socket buffers, one queue a port",
            include_str!("../../../../../scenarios/fb/windows-single-queue.toml"),
        ),
    ]
}

/// What figures 7 and 8 depend on that the paper does not give.
fn windows(id: &'static str, number: &'static str, text: &'static str) -> Figure {
    let utilization = Panel::lines("", "Utilization of the uplinks").x(SIZE, "burst, share of the buffer", Unit::Share);
    let mut panels = panels(["", ""]);
    panels.push(utilization.y("links.up.utilization_mean", "utilization", Unit::Share));
    Figure {
        id,
        number,
        title: "Windows of at most 128 KB, and connections that are kept",
        setting: "90% background load. Windows end at ns-3's socket buffers of 128 KB, 87 packets. Where connections are kept, queries start with \
                  the windows that earlier ones have left instead of with whole answers.",
        text,
        files: &[],
        work: Work::Simulate(measure::evaluation),
        panels,
        claims: |_| Vec::new(),
    }
}

fn panels([absorbed, occupancy]: [&'static str; 2]) -> Vec<Panel> {
    let of_buffer = "burst, share of the buffer";
    vec![
        Panel::lines(absorbed, "Burst absorption").x(SIZE, of_buffer, Unit::Share).y(
            ABSORBED,
            "bursts without a drop",
            Unit::Share,
        ),
        Panel::lines(occupancy, "99th percentile of the occupancy of the leaves' buffers")
            .x(SIZE, of_buffer, Unit::Share)
            .y(OCCUPANCY, "occupancy", Unit::Share),
    ]
}

/// FBA's name in a table: with the paper's interval of 1 s, or with the shorter one of the smaller scales.
pub(super) fn fba(table: &Table) -> &'static str {
    if table.variants().contains(&"FBA") { "FBA" } else { "FBA 50 ms" }
}

/// FBA's name with DCTCP.
pub(super) fn fba_dctcp(table: &Table) -> &'static str {
    if table.variants().contains(&"FBA, DCTCP") { "FBA, DCTCP" } else { "FBA 50 ms, DCTCP" }
}

/// A figure's table by the size of bursts.
struct BySize<'t> {
    table: &'t Table,
    sizes: Vec<f64>,
}

impl<'t> BySize<'t> {
    fn new(table: &'t Table) -> Self {
        Self { table, sizes: table.values(SIZE) }
    }

    fn smallest(&self) -> f64 {
        self.sizes.iter().copied().fold(f64::INFINITY, f64::min)
    }

    fn largest(&self) -> f64 {
        self.sizes.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    fn get(&self, scheme: &str, size: f64, metric: &str) -> Stat {
        self.table.at(scheme).and(SIZE, size).get(metric)
    }

    fn absorbed(&self, scheme: &str, size: f64) -> Stat {
        self.get(scheme, size, ABSORBED)
    }

    /// The mean over all sizes, by seed.
    fn mean(&self, scheme: &str, metric: &str) -> Stat {
        self.table.at(scheme).get(metric)
    }

    /// How many bursts of a size a scheme absorbs, of how many: of all seeds together.
    fn count(&self, scheme: &str, size: f64) -> Count {
        let (shares, numbers) = (self.absorbed(scheme, size), self.get(scheme, size, "bursts.number"));
        let of = |seed: u64| numbers.values().iter().find(|(own, _)| *own == seed).map_or(0.0, |(_, number)| *number);
        let add = |all: Count, (seed, share): &(u64, f64)| Count {
            hits: all.hits + (share * of(*seed)).round() as u64,
            of: all.of + of(*seed) as u64,
        };
        shares.values().iter().fold(Count::default(), add)
    }

    /// How many bursts one scheme and another absorb, at the size where the first is surely most ahead (`most`), or
    /// least by what was counted.
    fn gain(&self, scheme: &str, over: &str, most: bool) -> (Count, Count) {
        let all = self.at_sizes(|size| (self.count(scheme, size), self.count(over, size)));
        let by = |(ours, theirs): &(Count, Count)| {
            let (low, best, _) = ours.ratio(*theirs);
            if most { -low } else { best }
        };
        all.into_iter().min_by(|a, b| by(a).total_cmp(&by(b))).unwrap_or_default()
    }

    /// What one scheme absorbs beyond another, from the smallest to the largest burst.
    fn growth(&self, scheme: &str, over: &str) -> Stat {
        let more = |size| self.absorbed(scheme, size).minus(&self.absorbed(over, size));
        more(self.largest()).minus(&more(self.smallest()))
    }

    fn at_sizes<T>(&self, f: impl Fn(f64) -> T) -> Vec<T> {
        self.sizes.iter().map(|size| f(*size)).collect()
    }

    /// At which of the chosen sizes something is so.
    fn check(&self, sizes: impl Fn(f64) -> bool, is_so: impl Fn(f64) -> Found) -> Vec<(String, Found)> {
        let chosen = self.sizes.iter().copied().filter(|size| sizes(*size));
        chosen.map(|size| (format!("{:.0}%", 100.0 * size), is_so(size))).collect()
    }

    /// Whether a scheme absorbs more than each of others.
    fn beats(&self, scheme: &str, others: &[&str], size: f64) -> Found {
        Found::all(others.iter().map(|other| self.absorbed(other, size).less_than(&self.absorbed(scheme, size))))
    }

    /// From one size to the next: whether a metric grows.
    fn grows(&self, scheme: &str, metric: &str) -> Vec<(String, Found)> {
        let pairs = self.sizes.windows(2);
        pairs
            .map(|pair| {
                let name = format!("{:.0} to {:.0}%", 100.0 * pair[0], 100.0 * pair[1]);
                (name, self.get(scheme, pair[0], metric).less_than(&self.get(scheme, pair[1], metric)))
            })
            .collect()
    }

    /// What a metric gains from the smallest to the largest burst.
    fn rise(&self, scheme: &str, metric: &str) -> Stat {
        self.get(scheme, self.largest(), metric).minus(&self.get(scheme, self.smallest(), metric))
    }
}

// Reasons, with what was tried to find them.

/// "On par": at most so much less, in shares.
const ON_PAR: f64 = 0.1;

fn multi_queue(table: &Table) -> Vec<Measured> {
    let all = BySize::new(table);
    let (fba, fba_dctcp) = (fba(table), fba_dctcp(table));
    let alternatives = ["DT", "DT, DCTCP", "IB"];
    let gain = |id: &str, scheme: &str, most: bool| {
        let (ours, theirs) = all.gain(scheme, "DT", most);
        Measured::ratio(id, ours, theirs)
    };
    let above_60 = |scheme: &str| all.check(|size| size > 0.6, |size| all.beats(scheme, &alternatives, size));
    let mut claims = vec![
        gain("fb-vs-dt-most", "FB", true),
        gain("fb-vs-dt-least", "FB", false),
        gain("fba-vs-dt-most", fba, true),
        gain("fba-vs-dt-least", fba, false),
        Measured::stat("fb-absorbs-about-90-bursts", &all.mean("FB", ABSORBED)),
        Measured::stat("dt-absorbs-about-40-bursts", &all.mean("DT", ABSORBED)),
        Measured::stat("dt-dctcp-absorbs-about-50", &all.mean("DT, DCTCP", ABSORBED)),
        Measured::points("fb-best-above-60", above_60("FB")),
        Measured::points("fba-best-above-60", above_60(fba)),
        Measured::stat("fb-gain-over-dt-grows-burst", &all.growth("FB", "DT")),
        Measured::points(
            "fba-as-fb",
            all.check(|_| true, |size| all.absorbed(fba, size).minus(&all.absorbed("FB", size)).at_least(-ON_PAR)),
        ),
        Measured::stat(
            "fba-absorbs-slightly-fewer-bursts-fb",
            &all.mean("FB", ABSORBED).minus(&all.mean(fba, ABSORBED)),
        ),
        Measured::points(
            "bursts-40-dt-dctcp-absorbs-many",
            all.check(
                |size| size < 0.4,
                |size| all.absorbed("DT, DCTCP", size).minus(&all.absorbed("FB", size)).at_least(-ON_PAR),
            ),
        ),
        Measured::points(
            "larger-bursts-dt-dctcp-absorbs-fewer",
            all.check(|size| size > 0.4, |size| all.beats("FB", &["DT, DCTCP"], size)),
        ),
        Measured::stat("dctcp-improves-dt", &all.mean("DT, DCTCP", ABSORBED).minus(&all.mean("DT", ABSORBED))),
        Measured::stat("dctcp-fewer-as-bursts-grow", &all.rise("DT, DCTCP", ABSORBED).times(-1.0)),
        Measured::stat(
            "fba-absorbs-6.15-dctcp-tcp",
            &all.mean(fba_dctcp, ABSORBED).more_than_percent(&all.mean(fba, ABSORBED)),
        ),
    ];
    claims.extend([
        Measured::points("fb-tail-occupancy-grows-burst", all.grows("FB", OCCUPANCY)),
        Measured::points("dctcp-occupancy-grows", all.grows("DT, DCTCP", OCCUPANCY)),
        Measured::stat("fba-uses-slightly-buffer-fb", &all.mean(fba, OCCUPANCY).minus(&all.mean("FB", OCCUPANCY))),
        Measured::stat("fba-occupancy-without-dctcp", &all.mean(fba, OCCUPANCY).minus(&all.mean(fba_dctcp, OCCUPANCY))),
        Measured::stat("dt-tail-occupancy-limited-80", &all.mean("DT", OCCUPANCY)),
        Measured::stat("ib-tail-occupancy-almost-100", &all.mean("IB", OCCUPANCY)),
        flat("DT", &all),
        flat("IB", &all),
    ]);
    claims
}

/// The tail occupancy hardly depends on the size of the burst: it rises less than FB's.
fn flat(scheme: &str, all: &BySize<'_>) -> Measured {
    Measured::stat("tail-occupancy-depends-burst-fb", &all.rise("FB", OCCUPANCY).minus(&all.rise(scheme, OCCUPANCY)))
        .at([scheme.to_string(), scheme.to_string()])
}

fn single_queue(table: &Table) -> Vec<Measured> {
    let all = BySize::new(table);
    let gain = |id: &str, scheme: &str, over: &str, most: bool| {
        let (ours, theirs) = all.gain(scheme, over, most);
        Measured::ratio(id, ours, theirs)
    };
    let alternatives = ["DT", "DT, DCTCP", "FAB"];
    let mut claims = vec![
        gain("fb-vs-dt-most", "FB", "DT", true),
        gain("fb-vs-dt-least", "FB", "DT", false),
        gain("fab-vs-dt-most", "FAB", "DT", true),
        gain("fb-vs-fab-most", "FB", "FAB", true),
        Measured::stat("fb-gain-over-dt-grows-burst", &all.growth("FB", "DT")),
        Measured::points("fb-best-above-60", all.check(|size| size > 0.6, |size| all.beats("FB", &alternatives, size))),
        Measured::stat(
            "dt-dctcp-absorbs-few-bursts-here",
            &all.mean("FB", ABSORBED).minus(&all.mean("DT, DCTCP", ABSORBED)),
        ),
        Measured::stat(
            "fab-absorbs-bursts-dt-dctcp",
            &all.mean("FAB", ABSORBED).minus(&all.mean("DT, DCTCP", ABSORBED)),
        ),
    ];
    claims.extend([
        Measured::points("fb-tail-occupancy-grows-burst", all.grows("FB", OCCUPANCY)),
        Measured::points("dctcp-occupancy-grows", all.grows("DT, DCTCP", OCCUPANCY)),
        Measured::stat("dt-tail-occupancy-limited-80", &all.mean("DT", OCCUPANCY)),
        Measured::stat("fab-tail-occupancy-almost-100", &all.mean("FAB", OCCUPANCY)),
        flat("DT", &all),
        flat("FAB", &all),
    ]);
    claims
}
