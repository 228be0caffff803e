//! The numbers of one run, by name.

use forebay_results::Summary;
use forebay_results::summary::Distribution;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};

/// Numbers and curves by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metrics {
    numbers: BTreeMap<String, f64>,
    curves: BTreeMap<String, Vec<(f64, f64)>>,
}

/// A number, or a curve as x and y by turns.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Metric {
    Number(f64),
    Curve(Vec<f64>),
}

impl Serialize for Metrics {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let numbers = self.numbers.iter().map(|(name, value)| (name, Metric::Number(*value)));
        let flat = |points: &[(f64, f64)]| points.iter().flat_map(|(x, y)| [*x, *y]).collect();
        to.collect_map(numbers.chain(self.curves.iter().map(|(name, points)| (name, Metric::Curve(flat(points))))))
    }
}

impl<'de> Deserialize<'de> for Metrics {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut metrics = Self::default();
        for (name, metric) in BTreeMap::<String, Metric>::deserialize(from)? {
            match metric {
                Metric::Number(value) => metrics.set(name, value),
                Metric::Curve(flat) => {
                    metrics.curve(name, &flat.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect::<Vec<_>>());
                }
            }
        }
        Ok(metrics)
    }
}

/// Points that a curve keeps.
pub const MOST_POINTS: usize = 300;

impl Metrics {
    /// Sets a number. One that is not finite is no value and is left out.
    pub fn set(&mut self, name: impl Into<String>, value: f64) {
        let name = name.into();
        assert!(!self.curves.contains_key(&name), "{name} is a curve already");
        if value.is_finite() {
            self.numbers.insert(name, rounded(value));
        }
    }

    /// Sets a number, if there is one.
    pub fn set_some(&mut self, name: impl Into<String>, value: Option<f64>) {
        self.set(name, value.unwrap_or(f64::NAN));
    }

    /// Sets a curve, in the order of its points; of more than [`MOST_POINTS`] points it keeps evenly spaced ones, the
    /// first and the last among them.
    pub fn curve(&mut self, name: impl Into<String>, points: &[(f64, f64)]) {
        let name = name.into();
        assert!(!self.numbers.contains_key(&name), "{name} is a number already");
        let n = points.len();
        let kept = n.min(MOST_POINTS);
        let at = |index: usize| if kept < 2 { index } else { index * (n - 1) / (kept - 1) };
        let points = (0..kept).map(|index| points[at(index)]).map(|(x, y)| (rounded(x), rounded(y)));
        self.curves.insert(name, points.filter(|(x, y)| x.is_finite() && y.is_finite()).collect());
    }

    /// A number; NaN if there is none.
    pub fn get(&self, name: &str) -> f64 {
        self.numbers.get(name).copied().unwrap_or(f64::NAN)
    }

    /// A curve.
    pub fn get_curve(&self, name: &str) -> Option<&[(f64, f64)]> {
        self.curves.get(name).map(Vec::as_slice)
    }

    /// All numbers, by name.
    pub fn numbers(&self) -> impl Iterator<Item = (&str, f64)> {
        self.numbers.iter().map(|(name, value)| (name.as_str(), *value))
    }

    /// The names of all numbers and curves, except for what the run cost, which differs from run to run.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let all = self.numbers.keys().chain(self.curves.keys());
        all.map(String::as_str).filter(|name| !name.starts_with("cost."))
    }

    /// Whether all numbers are among those of another run; the error names the first that is not.
    pub(crate) fn is_part_of(&self, whole: &Self) -> Result<(), String> {
        match self.numbers().find(|(name, value)| whole.get(name) != *value) {
            Some((name, value)) => Err(format!("{name} is {value} here and {} there", whole.get(name))),
            None => Ok(()),
        }
    }

    /// Numbers, and curves if they are wanted, with these names.
    pub(crate) fn only(&self, asked: &BTreeSet<String>, curves: bool) -> Self {
        let mut kept = self.clone();
        kept.numbers.retain(|name, _| asked.contains(name));
        kept.curves.retain(|name, _| curves && asked.contains(name));
        kept
    }

    /// The numbers of a summary: `flows.<group>.<size>.<measure>`, `queries.<workload>.<measure>`,
    /// `buffers.<tier>.<measure>`, `links.<way>.<measure>`, `loads.<workload>.<measure>`; spaces in names become `-`,
    /// the sizes "short <100KB" `short`, the classes `class0` and so on.
    pub fn standard(summary: &Summary) -> Self {
        let mut all = Self::default();
        for group in &summary.flows {
            let name = if group.by == "class" { format!("class{}", group.group) } else { plain(&group.group) };
            let size = if group.size.starts_with("short") { "short".to_owned() } else { plain(&group.size) };
            let at = format!("flows.{name}.{size}");
            all.set(format!("{at}.flows"), group.flows as f64);
            all.set(format!("{at}.complete"), group.complete as f64);
            all.set(format!("{at}.retransmissions"), group.retransmissions as f64);
            all.set(format!("{at}.timeouts"), group.timeouts as f64);
            all.distribution(&format!("{at}.fct_us"), group.fct_us.as_ref());
            all.distribution(&format!("{at}.slowdown"), group.slowdown.as_ref());
        }
        for group in &summary.queries {
            let at = format!("queries.{}", plain(&group.workload));
            all.set(format!("{at}.queries"), group.queries as f64);
            all.set(format!("{at}.complete"), group.complete as f64);
            all.set(format!("{at}.without_drops"), group.without_drops);
            all.set(format!("{at}.drops"), group.drops as f64);
            all.set(format!("{at}.trims"), group.trims as f64);
            all.set(format!("{at}.timeouts"), group.timeouts as f64);
            all.distribution(&format!("{at}.qct_us"), group.qct_us.as_ref());
            all.distribution(&format!("{at}.slowdown"), group.slowdown.as_ref());
        }
        for tier in &summary.buffers {
            let at = format!("buffers.{}", plain(&tier.tier));
            for (name, value) in [
                ("occupancy_mean", tier.occupancy_mean),
                ("occupancy_p50", tier.occupancy_p50),
                ("occupancy_p99", tier.occupancy_p99),
                ("occupancy_p99_worst", tier.occupancy_p99_worst),
                ("occupancy_max", tier.occupancy_max),
                ("offered", tier.offered as f64),
                ("sent", tier.sent as f64),
                ("dropped", tier.dropped as f64),
                ("expelled", tier.expelled as f64),
                ("marked", tier.marked as f64),
                ("trimmed", tier.trimmed as f64),
                ("returned", tier.returned as f64),
            ] {
                all.set(format!("{at}.{name}"), value);
            }
            for drops in &tier.drops {
                all.set(format!("{at}.drops.{}", drops.reason), drops.packets as f64);
            }
        }
        for links in &summary.links {
            all.set(format!("links.{}.utilization_mean", links.to), links.utilization_mean);
            all.set(format!("links.{}.utilization_max", links.to), links.utilization_max);
        }
        for load in &summary.loads {
            let at = format!("loads.{}", plain(&load.workload));
            all.set_some(format!("{at}.offered_payload"), load.offered_payload);
            all.set_some(format!("{at}.offered_wire"), load.offered_wire);
            all.set_some(format!("{at}.achieved_payload"), load.achieved_payload);
            all.set_some(format!("{at}.achieved_wire"), load.achieved_wire);
        }
        all.set("engine.hops", summary.engine.hops as f64);
        all
    }

    fn distribution(&mut self, at: &str, of: Option<&Distribution>) {
        let Some(of) = of else { return };
        for (name, value) in [("mean", of.mean), ("p50", of.p50), ("p95", of.p95), ("p99", of.p99), ("p999", of.p999)] {
            self.set(format!("{at}.{name}"), value);
        }
    }
}

fn plain(name: &str) -> String {
    name.replace(' ', "-")
}

/// To nine significant digits, so that stored numbers are short and the same when read again.
fn rounded(value: f64) -> f64 {
    format!("{value:.8e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_are_thinned_and_numbers_rounded() {
        let mut metrics = Metrics::default();
        metrics.curve("line", &(0..=9_000).map(|x| (f64::from(x), 1.0 / 3.0)).collect::<Vec<_>>());
        let line = metrics.get_curve("line").unwrap();
        assert_eq!((line.len(), line[0].0, line[299].0), (MOST_POINTS, 0.0, 9_000.0));
        assert_eq!(line[7].1, 0.333_333_333);
        metrics.curve("short", &[(1.0, 2.0)]);
        assert_eq!(metrics.get_curve("short"), Some(&[(1.0, 2.0)][..]));
        metrics.set("nothing", f64::NAN);
        assert!(metrics.get("nothing").is_nan());
    }
}
