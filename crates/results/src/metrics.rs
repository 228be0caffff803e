//! The main measures of a run, by name: what comparisons and sweeps are made of.

use crate::buckets::{ALL, LONG, SHORT};
use crate::stats::Interval;
use crate::summary::{FlowGroup, QueryGroup, Summary};
use crate::text::{ABSENT, Scale, count, number, percent, time};

/// What a measure is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Microseconds.
    Time,
    /// A factor.
    Factor,
    /// A share of a whole.
    Share,
    /// A number of things.
    Count,
}

impl Unit {
    /// Its name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Time => "us",
            Self::Factor => "factor",
            Self::Share => "share",
            Self::Count => "count",
        }
    }

    /// A value for people.
    pub fn print(self, value: f64) -> String {
        match self {
            Self::Time => time(value),
            Self::Factor => number(value),
            Self::Share => percent(value),
            Self::Count => count(value),
        }
    }

    fn scale(self, value: f64) -> Scale {
        match self {
            Self::Time => Scale::time(value),
            Self::Factor => Scale::plain(),
            Self::Share => Scale::percent(),
            Self::Count => Scale::count(value),
        }
    }

    /// A mean and its confidence for people, both in one unit: "1.00±0.12ms".
    pub fn print_interval(self, interval: Option<&Interval>) -> String {
        match interval {
            None => ABSENT.to_owned(),
            Some(Interval { mean, half: None }) => self.print(*mean),
            Some(Interval { mean, half: Some(half) }) => {
                let scale = self.scale(*mean);
                format!("{}±{}{}", scale.number(*mean), scale.number(*half), scale.suffix)
            }
        }
    }

    /// A difference and its confidence for people, with its sign: "+1.00±0.12ms". Shares differ by percentage points.
    pub fn print_difference(self, difference: &Interval) -> String {
        let Interval { mean, half } = *difference;
        let sign = if mean > 0.0 { "+" } else { "" };
        if half.is_none() && self != Self::Share {
            return format!("{sign}{}", self.print(mean));
        }
        let scale = self.scale(mean.abs().max(half.unwrap_or(0.0)));
        let suffix = if self == Self::Share { "pp" } else { scale.suffix };
        let half = half.map_or_else(String::new, |half| format!("±{}", scale.number(half)));
        format!("{sign}{}{half}{suffix}", scale.number(mean))
    }
}

/// A measure of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Its name for people.
    pub name: String,
    /// What it is in.
    pub unit: Unit,
    /// Its value, if there is one.
    pub value: Option<f64>,
}

/// The mean of a measure over runs that have it, and its confidence.
pub fn over_seeds(values: impl IntoIterator<Item = Option<f64>>) -> Option<Interval> {
    Interval::of(&values.into_iter().flatten().collect::<Vec<_>>())
}

/// All measures that a comparison shows: of each workload's flows and queries, and of the network.
pub fn metrics(summary: &Summary) -> Vec<Metric> {
    let mut list = List(Vec::new());
    let workloads: Vec<&FlowGroup> =
        summary.flows.iter().filter(|group| group.by == "workload" && group.size == ALL).collect();
    for group in workloads {
        flow_metrics(summary, group, &mut list);
    }
    for group in &summary.queries {
        query_metrics(group, &mut list);
    }
    network_metrics(summary, &mut list);
    list.0
}

struct List(Vec<Metric>);

impl List {
    fn add(&mut self, group: &str, name: &str, unit: Unit, value: Option<f64>) {
        let name = if group.is_empty() { name.to_owned() } else { format!("{group}: {name}") };
        self.0.push(Metric { name, unit, value });
    }
}

fn flow_metrics(summary: &Summary, all: &FlowGroup, list: &mut List) {
    let name = &all.group;
    let share = (all.flows > 0).then(|| all.complete as f64 / all.flows as f64);
    list.add(name, "flows complete", Unit::Share, share);
    list.add(name, "FCT mean", Unit::Time, all.fct_us.map(|fct| fct.mean));
    list.add(name, "FCT p99", Unit::Time, all.fct_us.map(|fct| fct.p99));
    list.add(name, "slowdown p50", Unit::Factor, all.slowdown.map(|slowdown| slowdown.p50));
    list.add(name, "slowdown p99", Unit::Factor, all.slowdown.map(|slowdown| slowdown.p99));
    if let Some(short) = summary.flows_of(&all.by, name, SHORT) {
        list.add(name, "short (<100KB) FCT p99", Unit::Time, short.fct_us.map(|fct| fct.p99));
        list.add(name, "short (<100KB) slowdown p99", Unit::Factor, short.slowdown.map(|slowdown| slowdown.p99));
    }
    if let Some(long) = summary.flows_of(&all.by, name, LONG) {
        list.add(name, "long (>=1MB) FCT p50", Unit::Time, long.fct_us.map(|fct| fct.p50));
        list.add(name, "long (>=1MB) slowdown p50", Unit::Factor, long.slowdown.map(|slowdown| slowdown.p50));
    }
    list.add(name, "timeouts", Unit::Count, Some(all.timeouts as f64));
}

fn query_metrics(group: &QueryGroup, list: &mut List) {
    let name = &group.workload;
    list.add(name, "queries complete", Unit::Share, Some(group.complete as f64 / group.queries.max(1) as f64));
    list.add(name, "QCT mean", Unit::Time, group.qct_us.map(|qct| qct.mean));
    list.add(name, "QCT p50", Unit::Time, group.qct_us.map(|qct| qct.p50));
    list.add(name, "QCT p99", Unit::Time, group.qct_us.map(|qct| qct.p99));
    list.add(name, "query slowdown p99", Unit::Factor, group.slowdown.map(|slowdown| slowdown.p99));
    list.add(name, "queries without drops", Unit::Share, Some(group.without_drops));
}

fn network_metrics(summary: &Summary, list: &mut List) {
    let offered = summary.offered();
    list.add("", "packets dropped in buffers", Unit::Count, Some(summary.dropped() as f64));
    let loss = (offered > 0).then(|| summary.dropped() as f64 / offered as f64);
    list.add("", "packets dropped, of those offered", Unit::Share, loss);
    let some = |packets: u64| (packets > 0).then_some(packets as f64);
    list.add("", "packets dropped at hosts", Unit::Count, some(summary.run.dropped_at_hosts));
    list.add("", "packets lost on failed links and switches", Unit::Count, some(summary.run.lost_to_failures));
    let sum = |packets: fn(&crate::summary::BufferGroup) -> u64| {
        let sum: u64 = summary.buffers.iter().map(packets).sum();
        (sum > 0).then_some(sum as f64)
    };
    list.add("", "packets expelled", Unit::Count, sum(|tier| tier.expelled));
    list.add("", "packets marked", Unit::Count, sum(|tier| tier.marked));
    list.add("", "packets trimmed", Unit::Count, sum(|tier| tier.trimmed));
    for tier in &summary.buffers {
        list.add(&tier.tier, "buffer used, p50", Unit::Share, Some(tier.occupancy_p50));
        list.add(&tier.tier, "buffer used, p99", Unit::Share, Some(tier.occupancy_p99));
    }
    for links in &summary.links {
        let name = format!("utilization: links {}", crate::summary::link_name(&links.to));
        list.add("", &name, Unit::Share, Some(links.utilization_mean));
    }
    list.add("", "simulated time", Unit::Time, Some(summary.run.end_ps as f64 / 1e6));
    list.add("", "packet hops", Unit::Count, Some(summary.engine.hops as f64));
    list.add("", "CPU time", Unit::Time, Some(1e6 * summary.cost.cpu_seconds));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_and_its_confidence_share_a_unit() {
        let print = |unit: Unit, mean, half| unit.print_interval(Some(&Interval { mean, half }));
        assert_eq!(print(Unit::Time, 1_500.0, Some(120.0)), "1.50±0.120ms");
        assert_eq!(print(Unit::Share, 0.5, Some(0.1)), "50.0±10.0%");
        assert_eq!(print(Unit::Count, 250_000.0, Some(1_000.0)), "250±1.00k");
        assert_eq!(print(Unit::Factor, 2.0, None), "2.00");
        assert_eq!(Unit::Time.print_interval(None), "-");
    }

    #[test]
    fn differences_have_a_sign() {
        let print = |unit: Unit, mean, half| unit.print_difference(&Interval { mean, half });
        assert_eq!(print(Unit::Time, 1_500.0, Some(120.0)), "+1.50±0.120ms");
        assert_eq!(print(Unit::Time, -15.0, Some(1_200.0)), "-0.015±1.20ms");
        assert_eq!(print(Unit::Share, -0.05, Some(0.1)), "-5.00±10.0pp");
        assert_eq!(print(Unit::Factor, 2.0, None), "+2.00");
        assert_eq!(print(Unit::Count, 0.0, Some(0.0)), "0.00±0.00");
    }
}
