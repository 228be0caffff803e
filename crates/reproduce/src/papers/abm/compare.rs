//! Comparisons that several figures' claims are made of.

use crate::found::Found;
use crate::stat::Stat;
use crate::table::Table;

/// The schemes that ABM is compared with.
pub(super) const OTHERS: [&str; 4] = ["DT", "FAB", "CS", "IB"];

/// A way to count congested queues.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// From 0.9 of their thresholds on.
    Paper,
    /// By their share of 28 KB.
    Code,
}

impl Rule {
    /// ABM as the paper defines it, and as the authors' code has it.
    pub(super) const BOTH: [Self; 2] = [Self::Paper, Self::Code];

    /// The variant that has it.
    pub(super) fn variant(self) -> &'static str {
        match self {
            Self::Paper => "ABM",
            Self::Code => "ABM (28 KB)",
        }
    }
}

/// Slowdown of the answers to queries.
pub(super) const INCAST: &str = "slowdown.incast.all.p99";
/// Slowdown of the short flows of web search.
pub(super) const SHORT: &str = "slowdown.web-search.short.p99";
/// Share of a leaf's buffer in use.
pub(super) const OCCUPANCY: &str = "occupancy.p99";
/// Share of the leaves' uplinks in use.
pub(super) const THROUGHPUT: &str = "links.up.utilization_mean";

/// One axis of a figure: the key of the grid, and its table.
#[derive(Clone, Copy)]
pub(super) struct Along<'t> {
    pub(super) table: &'t Table,
    pub(super) key: &'static str,
}

impl Along<'_> {
    /// A number of a variant at a value of the key.
    pub(super) fn get(&self, variant: &str, x: f64, metric: &str) -> Stat {
        self.table.at(variant).and(self.key, x).get(metric)
    }

    /// The values of the key.
    pub(super) fn values(&self) -> Vec<f64> {
        self.table.values(self.key)
    }

    /// By how many percent `ours` is below `other`.
    pub(super) fn less(&self, ours: &str, other: &str, x: f64, metric: &str) -> Stat {
        self.get(ours, x, metric).less_than_percent(&self.get(other, x, metric))
    }

    /// The mean of that over several others.
    pub(super) fn less_on_average(&self, ours: &str, others: &[&str], x: f64, metric: &str) -> Stat {
        Stat::average(&others.iter().map(|other| self.less(ours, other, x, metric)).collect::<Vec<_>>())
    }

    /// The mean of that over all values of the key.
    pub(super) fn less_everywhere(&self, ours: &str, others: &[&str], metric: &str) -> Stat {
        let at = |x: f64| self.less_on_average(ours, others, x, metric);
        Stat::average(&self.values().into_iter().map(at).collect::<Vec<_>>())
    }

    /// At every value of the key and against each of the others: throughput is at least 95% of theirs.
    pub(super) fn on_par(&self, ours: &str, others: &[&str]) -> Vec<(String, Found)> {
        let mut points = Vec::new();
        for x in self.values() {
            for other in others {
                let ratio = self.get(ours, x, THROUGHPUT).ratio(&self.get(other, x, THROUGHPUT));
                points.push((format!("{x} against {other}"), ratio.at_least(0.95)));
            }
        }
        points
    }
}
