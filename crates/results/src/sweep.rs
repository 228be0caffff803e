//! One table of many runs: a row for each point of a grid.

use crate::buckets::{ALL, LONG, SHORT};
use crate::metrics::{Unit, over_seeds};
use crate::paired::{Difference, Sample, Verdict};
use crate::stats::Interval;
use crate::summary::Summary;
use crate::table::Table;
use crate::text::{ABSENT, TextTable};

/// A point of the grid.
#[derive(Clone, Debug)]
pub struct SweepRow {
    /// What was set, in order: the key and its value.
    pub settings: Vec<(String, String)>,
    /// The parameters that make the point what it is: keys of the scenario, and their values as in a file.
    pub parameters: Vec<(String, String)>,
    /// The runs, one for each seed.
    pub seeds: Vec<Summary>,
}

/// Whether the text of a sweep has a measure; its file has all.
#[derive(Clone, Copy)]
enum Told {
    Always,
    /// If it is below 1 somewhere: it goes without saying that all flows are complete.
    BelowOne,
    /// If there is any.
    AboveZero,
    Never,
}

/// A measure of a sweep.
pub(crate) struct Measure {
    /// The name of its column.
    pub(crate) column: &'static str,
    /// Its name for people.
    name: &'static str,
    /// What its name stands for, unless another measure has said it.
    meaning: &'static str,
    unit: Unit,
    pub(crate) value: fn(&Summary) -> Option<f64>,
    /// Whether a text tells it, too.
    told: Told,
    /// If the points are compared by it, for less of it is better: flows or queries that it is about and that have not
    /// finished.
    compared: Option<fn(&Summary) -> u64>,
}

fn unfinished_queries(run: &Summary) -> u64 {
    run.all_queries().map_or(0, |all| all.queries - all.complete)
}

fn unfinished_flows(run: &Summary, size: &str) -> u64 {
    run.flows_of(ALL, ALL, size).map_or(0, |all| all.flows - all.complete)
}

impl Measure {
    /// The measure in each run of a point.
    fn samples(&self, row: &SweepRow) -> Vec<Sample> {
        let sample = |run: &Summary| Sample {
            seed: run.run.seed,
            value: (self.value)(run),
            unfinished: self.compared.map_or(0, |unfinished| unfinished(run)),
        };
        row.seeds.iter().map(sample).collect()
    }
}

/// The column with the number of seeds.
const SEEDS: &str = "seeds";
/// What follows the name of a measure in the column with half its confidence interval.
const CI_SUFFIX: &str = "_ci95";

/// What a sweep shows. Flows are those of all workloads; short and long are those of [`crate::buckets`].
pub(crate) const MEASURES: [Measure; 11] = [
    Measure {
        column: "qct_mean_us",
        name: "QCT mean",
        meaning: "QCT: query completion time",
        unit: Unit::Time,
        value: |run| run.all_queries()?.qct_us.map(|qct| qct.mean),
        told: Told::Always,
        compared: Some(unfinished_queries),
    },
    Measure {
        column: "qct_p99_us",
        name: "QCT p99",
        meaning: "",
        unit: Unit::Time,
        value: |run| run.all_queries()?.qct_us.map(|qct| qct.p99),
        told: Told::Always,
        compared: Some(unfinished_queries),
    },
    Measure {
        column: "short_slowdown_p99",
        name: "short p99",
        meaning: "short p99: slowdown of flows below 100KB",
        unit: Unit::Factor,
        value: |run| run.flows_of(ALL, ALL, SHORT)?.slowdown.map(|slowdown| slowdown.p99),
        told: Told::Always,
        compared: Some(|run| unfinished_flows(run, SHORT)),
    },
    Measure {
        column: "long_fct_p50_us",
        name: "long p50",
        meaning: "long p50: completion time of flows of 1MB and more",
        unit: Unit::Time,
        value: |run| run.flows_of(ALL, ALL, LONG)?.fct_us.map(|fct| fct.p50),
        told: Told::Always,
        compared: Some(|run| unfinished_flows(run, LONG)),
    },
    Measure {
        column: "dropped_packets",
        name: "drops",
        meaning: "drops: packets dropped in the buffers",
        unit: Unit::Count,
        value: |run| Some(run.dropped() as f64),
        told: Told::Always,
        compared: None,
    },
    Measure {
        column: "lost_packets",
        name: "lost",
        meaning: "lost: packets lost outside of the buffers: at hosts, and on failed links and switches",
        unit: Unit::Count,
        value: |run| Some((run.run.dropped_at_hosts + run.run.lost_to_failures) as f64),
        told: Told::AboveZero,
        compared: None,
    },
    Measure {
        column: "occupancy_p99",
        name: "used p99",
        meaning: "used p99: share of the buffer, in the tier where it is largest",
        unit: Unit::Share,
        value: Summary::occupancy_p99,
        told: Told::Always,
        compared: None,
    },
    Measure {
        column: "utilization",
        name: "util",
        meaning: "util: utilization of uplinks (of links across, or to hosts, where there are no uplinks)",
        unit: Unit::Share,
        value: Summary::utilization,
        told: Told::Always,
        compared: None,
    },
    Measure {
        column: "uplink_utilization",
        name: "up",
        meaning: "",
        unit: Unit::Share,
        value: |run| run.links_to("up").map(|links| links.utilization_mean),
        told: Told::Never,
        compared: None,
    },
    Measure {
        column: "host_link_utilization",
        name: "to hosts",
        meaning: "",
        unit: Unit::Share,
        value: |run| run.links_to("host").map(|links| links.utilization_mean),
        told: Told::Never,
        compared: None,
    },
    Measure {
        column: "flows_complete",
        name: "done",
        meaning: "done: share of the flows that are complete",
        unit: Unit::Share,
        value: |run| {
            let all = run.flows_of(ALL, ALL, ALL).filter(|all| all.flows > 0)?;
            Some(all.complete as f64 / all.flows as f64)
        },
        told: Told::BelowOne,
        compared: None,
    },
];

/// The table of a sweep, for files and for people. The file has a column for each setting (absent where a point does
/// not set it), the number of seeds, and for each measure its mean over the seeds and half its 95% confidence interval,
/// `..._ci95`. The text leaves out measures that no run has, and explains the others below the table; the differences
/// to the first point follow, seed by seed.
pub fn sweep_table(rows: &[SweepRow]) -> (Table, String) {
    let names = setting_names(rows);
    let intervals: Vec<Vec<Option<Interval>>> = MEASURES
        .iter()
        .map(|measure| rows.iter().map(|row| over_seeds(row.seeds.iter().map(measure.value))).collect())
        .collect();
    (file_table(rows, &names, &intervals), text_table(rows, &names, &intervals))
}

/// The columns of a sweep's table that are numbers.
pub fn columns() -> impl Iterator<Item = String> {
    let measured = MEASURES.iter().flat_map(|measure| ["", CI_SUFFIX].map(|end| format!("{}{end}", measure.column)));
    [SEEDS.to_owned()].into_iter().chain(measured)
}

/// All settings of all points, in order of first use.
fn setting_names(rows: &[SweepRow]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in rows.iter().flat_map(|row| &row.settings) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names
}

fn setting<'a>(row: &'a SweepRow, name: &str) -> Option<&'a str> {
    row.settings.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

fn file_table(rows: &[SweepRow], names: &[&str], intervals: &[Vec<Option<Interval>>]) -> Table {
    let mut table = Table::new();
    // A setting may be called like a measure.
    let is_taken = |name: &str| {
        let measured = |measure: &Measure| name.strip_suffix(CI_SUFFIX).unwrap_or(name) == measure.column;
        name == SEEDS || MEASURES.iter().any(measured)
    };
    for name in names {
        let column = if is_taken(name) { format!("setting.{name}") } else { (*name).to_owned() };
        table.optional_text(&column, rows.iter().map(|row| setting(row, name)));
    }
    table.count(SEEDS, rows.iter().map(|row| row.seeds.len() as u64));
    for (measure, intervals) in MEASURES.iter().zip(intervals) {
        let half = |interval: &Option<Interval>| interval.and_then(|interval| interval.half);
        table.optional_float(measure.column, intervals.iter().map(|interval| interval.map(|interval| interval.mean)));
        table.optional_float(&format!("{}{CI_SUFFIX}", measure.column), intervals.iter().map(half));
    }
    table
}

fn text_table(rows: &[SweepRow], names: &[&str], intervals: &[Vec<Option<Interval>>]) -> String {
    let is_shown = |(measure, all): &(&Measure, &Vec<Option<Interval>>)| match measure.told {
        Told::Always => all.iter().any(Option::is_some),
        Told::BelowOne => all.iter().flatten().any(|interval| interval.mean < 1.0),
        Told::AboveZero => all.iter().flatten().any(|interval| interval.mean > 0.0),
        Told::Never => false,
    };
    let shown: Vec<(&Measure, &Vec<Option<Interval>>)> = MEASURES.iter().zip(intervals).filter(is_shown).collect();
    let header = names.iter().copied().chain([SEEDS]).chain(shown.iter().map(|(measure, _)| measure.name));
    let mut table = TextTable::new(names.len(), header);
    for (index, row) in rows.iter().enumerate() {
        let mut cells: Vec<String> = names.iter().map(|name| setting(row, name).unwrap_or(ABSENT).to_owned()).collect();
        cells.push(row.seeds.len().to_string());
        cells.extend(shown.iter().map(|(measure, all)| measure.unit.print_interval(all[index].as_ref())));
        table.row(cells);
    }
    let mut notes: Vec<String> = shown
        .iter()
        .filter(|(measure, _)| !measure.meaning.is_empty())
        .map(|(measure, _)| measure.meaning.to_owned())
        .collect();
    if shown.iter().any(|(_, all)| all.iter().flatten().any(|interval| interval.half.is_some())) {
        notes.push("±: 95% confidence of the mean over seeds".to_owned());
    }
    format!("{}\n{}\n{}", table.render(), notes.join("\n"), text_of_differences(rows, names))
}

/// How far the other points are from the first, seed by seed; nothing if no two seeds are common to any of them.
fn text_of_differences(rows: &[SweepRow], names: &[&str]) -> String {
    let Some((baseline, others)) = rows.split_first() else { return String::new() };
    let measured: Vec<(&Measure, Vec<Option<Difference>>)> = MEASURES
        .iter()
        .filter(|measure| measure.compared.is_some())
        .map(|measure| {
            let base = measure.samples(baseline);
            let of = |row: &SweepRow| Difference::between(&base, &measure.samples(row));
            (measure, others.iter().map(of).collect())
        })
        .collect();
    let is_known = |difference: &Difference| difference.interval.half.is_some();
    let is_shown = |all: &[Option<Difference>]| all.iter().flatten().any(is_known);
    let shown: Vec<_> = measured.iter().filter(|(_, all)| is_shown(all)).collect();
    if shown.is_empty() {
        return String::new();
    }
    let header = names.iter().copied().chain(shown.iter().flat_map(|(measure, _)| [measure.name, ""]));
    let mut table = TextTable::new(names.len(), header);
    for (index, row) in others.iter().enumerate() {
        let mut cells: Vec<String> = names.iter().map(|name| setting(row, name).unwrap_or(ABSENT).to_owned()).collect();
        for (measure, all) in &shown {
            let known = all[index].filter(is_known);
            cells.push(known.map_or_else(|| ABSENT.to_owned(), |of| measure.unit.print_difference(&of.interval)));
            cells.push(known.map_or("", |of| of.verdict.word()).to_owned());
        }
        table.row(cells);
    }
    let first: Vec<&str> = names.iter().filter_map(|name| setting(baseline, name)).collect();
    let is_finishing = |of: &Difference| matches!(of.verdict, Verdict::FinishesMore | Verdict::FinishesLess);
    let finishes = if shown.iter().flat_map(|(_, all)| all).flatten().any(is_finishing) {
        "\nfinishes more, finishes less: so does that of the flows or queries left unfinished, which goes before their times"
    } else {
        ""
    };
    format!(
        "\ndifference from {}, paired by seed\n{}\nbetter, worse: the 95% interval of the difference excludes zero{finishes}\n",
        first.join(" "),
        table.render()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::summarize;
    use crate::testing;

    fn row(settings: &[(&str, &str)], factors: &[u64]) -> SweepRow {
        let run = |(seed, factor): (usize, &u64)| {
            let (scenario, result) = testing::busy(seed as u64, *factor);
            summarize(&scenario, &result)
        };
        SweepRow {
            settings: settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
            parameters: Vec::new(),
            seeds: factors.iter().enumerate().map(run).collect(),
        }
    }

    fn rows() -> Vec<SweepRow> {
        vec![
            row(&[("policy.kind", "dt"), ("policy.alpha", "0.5")], &[1, 2, 3]),
            row(&[("policy.kind", "pushout")], &[4]),
            row(&[("policy.kind", "abm"), ("policy.alpha", "0.5")], &[]),
        ]
    }

    #[test]
    fn means_and_intervals_by_point() {
        let (table, _) = sweep_table(&rows());
        assert_eq!(table.rows(), 3);
        assert_eq!(table.column("policy.alpha").unwrap().text(0), Some("0.5"));
        assert_eq!(table.column("policy.alpha").unwrap().text(1), None);
        assert_eq!(table.column("seeds").unwrap().int(0), Some(3));
        let number = |name: &str, row| table.column(name).unwrap().number(row);
        // Drops of 2, 4, 6: mean 4, s = 2.
        assert_eq!(number("dropped_packets", 0), Some(4.0));
        assert!((number("dropped_packets_ci95", 0).unwrap() - 4.302_653 * 2.0 / 3f64.sqrt()).abs() < 1e-9);
        assert_eq!((number("dropped_packets", 1), number("dropped_packets_ci95", 1)), (Some(8.0), None));
        // Medians of 500, 1000, 1500 us.
        assert_eq!(number("long_fct_p50_us", 0), Some(1_000.0));
        // QCTs of 100 to 400 us times the factor: mean 250, times 2.
        assert_eq!((number("qct_mean_us", 0), number("qct_p99_us", 0)), (Some(500.0), Some(800.0)));
        assert_eq!((number("dropped_packets", 2), number("qct_mean_us", 2)), (None, None));
    }

    #[test]
    fn a_setting_may_be_called_like_a_measure() {
        let (table, _) = sweep_table(&[row(&[("seeds", "7"), ("dropped_packets_ci95", "x")], &[1])]);
        assert_eq!(table.column("setting.seeds").unwrap().text(0), Some("7"));
        assert_eq!(table.column("setting.dropped_packets_ci95").unwrap().text(0), Some("x"));
        assert_eq!(table.column("seeds").unwrap().int(0), Some(1));
    }

    #[test]
    fn points_are_compared_with_the_first_seed_by_seed() {
        let rows = [
            row(&[("point", "dt")], &[2, 3, 4]),
            // A factor less for every seed; more or less; one seed, which decides nothing.
            row(&[("point", "abm")], &[1, 2, 3]),
            row(&[("point", "occamy")], &[1, 5, 4]),
            row(&[("point", "pushout")], &[1]),
        ];
        let (_, text) = sweep_table(&rows);
        let (_, differences) = text.split_once("\n\n").and_then(|(_, notes)| notes.split_once("\n\n")).unwrap();
        insta::assert_snapshot!(differences);
    }

    #[test]
    fn the_text_of_a_sweep() {
        let (_, text) = sweep_table(&rows());
        insta::assert_snapshot!(text);
    }
}
