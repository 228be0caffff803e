//! Occamy: a preemptive buffer manager.

mod choking;
mod equations;
mod large_scale;
mod measure;
mod measure_bench;
mod measure_drops;
mod measure_micro;
mod measure_prototype;
mod microbenchmarks;
mod prototype;
mod testbed;
mod utilization;

use crate::figure::Paper;
use crate::found::Found;
use crate::stat::Stat;
use crate::table::Table;

/// The paper and its figures.
pub(super) fn paper() -> Paper {
    let parts = [
        microbenchmarks::figures(),
        prototype::figures(),
        choking::figures(),
        utilization::figures(),
        equations::figures(),
        testbed::figures(),
        large_scale::figures(),
    ];
    Paper {
        id: "occamy",
        system: "Occamy",
        title: "Occamy: A Preemptive Buffer Management for On-chip Shared-memory Switches (EuroSys 2025)",
        about: "A Tofino between three hosts, a testbed of eight hosts at a software switch, and a simulated network of 128 hosts. Alpha is 1 for \
                DT, 2 for ABM and 8 for Occamy unless a figure says otherwise. What the paper leaves open is set as \
                in the authors' public programs and scripts.",
        figures: parts.into_iter().flatten().collect(),
    }
}

/// By how many percent less a scheme has of a number than another, where that is most over the values of a key: what
/// the paper calls "by up to".
fn most_below(t: &Table, key: &str, metric: &str, scheme: &str, other: &str) -> Stat {
    Stat::largest(t.values(key).into_iter().map(|x| below(t, key, x, metric, scheme, other)))
}

/// By how many percent less a scheme has of a number than another, at one value of a key.
fn below(t: &Table, key: &str, x: f64, metric: &str, scheme: &str, other: &str) -> Stat {
    let of = |name: &str| t.at(name).and(key, x).get(metric);
    of(scheme).less_than_percent(&of(other))
}

/// For each value of a key, whether a scheme's number is at most so many times another's.
fn at_most(
    t: &Table,
    key: &str,
    metric: &str,
    scheme: &str,
    others: &[&str],
    factor: f64,
    name: impl Fn(f64) -> String,
) -> Vec<(String, Found)> {
    let points = t.values(key).into_iter().flat_map(|x| others.iter().map(move |other| (x, *other)));
    points
        .map(|(x, other)| {
            let of = |name: &str| t.at(name).and(key, x).get(metric);
            (format!("{} against {other}", name(x)), of(scheme).at_most_times(factor, &of(other)))
        })
        .collect()
}
