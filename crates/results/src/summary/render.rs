//! A summary as text of at most 120 columns.

use super::{DeadlockInfo, Distribution, DropCount, FlowGroup, PauseSummary, Summary};
use crate::buckets::{ALL, SHORT, SHORT_PARTS};
use crate::text::{ABSENT, TextTable, bytes, count, number, percent, short_name, time};
use std::fmt::Write;

/// Longest name of a workload or tier in a table.
const NAME_WIDTH: usize = 19;

impl Summary {
    /// The summary for a terminal: flows, queries, buffers, links and cost, in at most 120 columns.
    pub fn render(&self) -> String {
        let mut text = self.heading();
        for table in [self.flow_table(), self.query_table(), self.buffer_table()] {
            if table.has_rows() {
                text.push('\n');
                text.push_str(&table.render());
            }
        }
        text.push('\n');
        let deadlocks = self.pauses.iter().flat_map(|pauses| &pauses.deadlocks).map(DeadlockInfo::line);
        let pauses = self.pauses.as_ref().map(PauseSummary::line);
        let first = [self.nothing_line(), self.drop_line(), pauses].into_iter().flatten().chain(deadlocks);
        let last = [self.link_line(), self.load_line(), self.cost_line()].into_iter().flatten();
        for line in first.chain(last) {
            text.push_str(&line);
            text.push('\n');
        }
        text
    }

    fn heading(&self) -> String {
        let run = &self.run;
        let how = if run.interrupted { "interrupted after" } else { "ended after" };
        let end = time(run.end_ps as f64 / 1e6);
        format!("{}, seed {}, forebay {}, {how} {end}\n", short_name(&run.name, 60), run.seed, run.version)
    }

    /// By workload and size. All flows together are one line, if there are several workloads; their sizes and the
    /// classes are in the file only.
    fn flow_table(&self) -> TextTable {
        let header =
            ["flows", "size", "count", "done", "FCT mean", "p50", "p99", "slowdown mean", "p50", "p95", "p99", "p99.9"];
        let mut table = TextTable::new(2, header);
        let workloads = self.flows.iter().filter(|group| group.by == "workload" && group.size == ALL).count();
        for group in &self.flows {
            let shown = match group.by.as_str() {
                ALL => group.size == ALL && workloads > 1,
                by => by == "workload",
            };
            if !shown || group.flows == 0 || self.repeats_another(group) {
                continue;
            }
            let mut cells = vec![
                short_name(&group.group, NAME_WIDTH),
                group.size.clone(),
                count(group.flows as f64),
                count(group.complete as f64),
            ];
            cells.extend(cells_of(group.fct_us.as_ref(), time, &[MEAN, P50, P99]));
            cells.extend(cells_of(group.slowdown.as_ref(), number, &[MEAN, P50, P95, P99, P999]));
            table.row(cells);
        }
        table
    }

    /// Whether a size has the same flows as another of its group: all of them, or for short ones, one of their parts.
    fn repeats_another(&self, group: &FlowGroup) -> bool {
        let same =
            |size: &str| self.flows_of(&group.by, &group.group, size).is_some_and(|other| other.flows == group.flows);
        match group.size.as_str() {
            ALL => false,
            SHORT => same(ALL) || SHORT_PARTS.into_iter().any(same),
            _ => same(ALL),
        }
    }

    fn query_table(&self) -> TextTable {
        let header =
            ["queries", "count", "done", "QCT mean", "p50", "p95", "p99", "slowdown mean", "p50", "p99", "no drops"];
        let mut table = TextTable::new(1, header);
        for group in &self.queries {
            let mut cells = vec![
                short_name(&group.workload, NAME_WIDTH),
                count(group.queries as f64),
                count(group.complete as f64),
            ];
            cells.extend(cells_of(group.qct_us.as_ref(), time, &[MEAN, P50, P95, P99]));
            cells.extend(cells_of(group.slowdown.as_ref(), number, &[MEAN, P50, P99]));
            cells.push(percent(group.without_drops));
            table.row(cells);
        }
        table
    }

    fn buffer_table(&self) -> TextTable {
        let optional = [
            ("expelled", self.buffers.iter().any(|tier| tier.expelled > 0)),
            ("marked", self.buffers.iter().any(|tier| tier.marked > 0)),
            ("trimmed", self.buffers.iter().any(|tier| tier.trimmed > 0)),
            ("returned", self.buffers.iter().any(|tier| tier.returned > 0)),
        ];
        let mut header = vec!["buffers", "count", "size", "used p50", "p99", "max", "offered", "dropped", "loss"];
        header.extend(optional.iter().filter(|(_, shown)| *shown).map(|(name, _)| name));
        let mut table = TextTable::new(1, header);
        for tier in &self.buffers {
            let loss =
                if tier.offered > 0 { percent(tier.dropped as f64 / tier.offered as f64) } else { ABSENT.into() };
            let mut cells = vec![
                short_name(&tier.tier, NAME_WIDTH),
                count(tier.buffers as f64),
                bytes(tier.size as f64 / tier.buffers.max(1) as f64),
                percent(tier.occupancy_p50),
                percent(tier.occupancy_p99),
                percent(tier.occupancy_max),
                count(tier.offered as f64),
                count(tier.dropped as f64),
                loss,
            ];
            let counts = [tier.expelled, tier.marked, tier.trimmed, tier.returned];
            let shown = counts.iter().zip(optional).filter(|(_, (_, shown))| *shown);
            cells.extend(shown.map(|(packets, _)| count(*packets as f64)));
            table.row(cells);
        }
        table
    }

    /// If there were flows with an end and none of them came to it: why.
    fn nothing_line(&self) -> Option<String> {
        let all = self.flows_of(ALL, ALL, ALL).filter(|all| all.flows > 0 && all.complete == 0)?;
        let lost: u64 = self.losses_by_reason().iter().map(|losses| losses.packets).sum();
        let most = self.losses_by_reason().into_iter().max_by_key(|losses| losses.packets);
        let why = match most {
            Some(most) if lost > 0 => format!(
                "{} packets were lost, {} of them for the reason \"{}\"",
                count(lost as f64),
                percent(most.packets as f64 / lost as f64),
                most.reason
            ),
            _ => "no packet was lost, so that there was too little time: give a longer duration or drain".to_owned(),
        };
        let flows = if all.flows == 1 {
            "the flow did not complete".to_owned()
        } else {
            format!("none of {} flows completed", count(all.flows as f64))
        };
        Some(format!("{flows}: {why}"))
    }

    fn drop_line(&self) -> Option<String> {
        let part = |drops: &DropCount| format!("{} {}", drops.reason, count(drops.packets as f64));
        let parts: Vec<String> = self.losses_by_reason().iter().map(part).collect();
        (!parts.is_empty()).then(|| wrapped("drops by reason: ", &parts))
    }

    fn link_line(&self) -> Option<String> {
        let parts: Vec<String> = self
            .links
            .iter()
            .map(|links| {
                let (mean, max) = (percent(links.utilization_mean), percent(links.utilization_max));
                format!("{} {mean} (max {max})", link_name(&links.to))
            })
            .collect();
        (!parts.is_empty()).then(|| wrapped("link utilization: ", &parts))
    }

    fn load_line(&self) -> Option<String> {
        let told = |what: &str, payload: Option<f64>, wire: Option<f64>| {
            let wire = wire.map(|wire| format!(" ({} with headers)", percent(wire)));
            Some(format!("{what} {}{}", percent(payload?), wire.unwrap_or_default()))
        };
        let mut lines = String::new();
        for load in &self.loads {
            let offered = told("configured", load.offered_payload, load.offered_wire);
            // Flows of closed loops are not known beforehand: then there is nothing to tell.
            let achieved = load.achieved_payload.filter(|share| *share > 0.0);
            let achieved = told("this seed", achieved, load.achieved_wire);
            let parts: Vec<String> = [offered, achieved].into_iter().flatten().collect();
            if !parts.is_empty() {
                let name = short_name(&load.workload, NAME_WIDTH);
                let _ = writeln!(lines, "load of {} by {name}: {}", load.of, parts.join(", "));
            }
        }
        (!lines.is_empty()).then(|| lines.trim_end().to_owned())
    }

    fn cost_line(&self) -> Option<String> {
        let speed = match self.cost.hops_per_cpu_second {
            Some(speed) => {
                format!("{} of CPU time, {} hops per CPU second", time(1e6 * self.cost.cpu_seconds), count(speed))
            }
            None => "too little CPU time to be measured".to_owned(),
        };
        Some(format!(
            "cost: {} events, {} packet-hops, {speed}, {} of memory",
            count(self.engine.events as f64),
            count(self.engine.hops as f64),
            bytes(self.cost.peak_memory as f64)
        ))
    }
}

/// Links for people.
pub(crate) fn link_name(to: &str) -> &str {
    match to {
        "host" => "to hosts",
        other => other,
    }
}

/// A part of a distribution.
type Part = fn(&Distribution) -> f64;
const MEAN: Part = |distribution| distribution.mean;
const P50: Part = |distribution| distribution.p50;
const P95: Part = |distribution| distribution.p95;
const P99: Part = |distribution| distribution.p99;
const P999: Part = |distribution| distribution.p999;

fn cells_of(distribution: Option<&Distribution>, print: fn(f64) -> String, parts: &[Part]) -> Vec<String> {
    parts.iter().map(|part| distribution.map_or_else(|| ABSENT.to_owned(), |all| print(part(all)))).collect()
}

/// Parts with commas between them, on as many lines as 120 columns need.
pub(super) fn wrapped(heading: &str, parts: &[String]) -> String {
    let mut text = heading.to_owned();
    let mut column = text.chars().count();
    for (index, part) in parts.iter().enumerate() {
        let comma = if index + 1 < parts.len() { ", " } else { "" };
        let width = part.chars().count() + comma.len();
        if column + width > 120 {
            text.truncate(text.trim_end().len());
            text.push_str("\n  ");
            column = 2;
        }
        text.push_str(part);
        text.push_str(comma);
        column += width;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::{DropCount, Load, summarize};
    use super::*;
    use crate::testing;
    use forebay_sim::measure::RunResult;
    use forebay_tm::Reason;

    fn busy() -> Summary {
        let (scenario, result) = testing::busy(8, 1);
        let mut summary = summarize(&scenario, &result);
        summary.run.version = "1.2.3".to_owned();
        summary.loads = vec![Load {
            workload: "websearch".to_owned(),
            of: "uplinks".to_owned(),
            offered_payload: Some(0.4),
            offered_wire: Some(0.4182),
            achieved_payload: Some(0.3871),
            achieved_wire: None,
        }];
        summary
    }

    #[test]
    fn the_terminal_table() {
        insta::assert_snapshot!(busy().render());
    }

    #[test]
    fn an_empty_run_is_told_in_two_lines() {
        let mut summary = summarize(&testing::scenario(), &RunResult { interrupted: true, ..RunResult::default() });
        summary.links.clear();
        assert_eq!(
            summary.render(),
            "small, seed 8, forebay 0.1.0, interrupted after 0us\n\ncost: 0 events, 0 packet-hops, too little CPU time to be measured, 0B of memory\n"
                .replace("0.1.0", env!("CARGO_PKG_VERSION"))
        );
    }

    #[test]
    fn the_widest_numbers_fit_120_columns() {
        let mut summary = busy();
        summary.run.name = "x".repeat(200);
        let wide = Distribution { mean: 123.4e3, p50: 123.4e3, p95: 123.4e3, p99: 123.4e3, p999: 123.4e3 };
        for group in &mut summary.flows {
            group.group = "a workload with quite a long name".to_owned();
            (group.flows, group.complete) = (99_999, 99_999);
            group.fct_us = Some(wide);
            group.slowdown = Some(wide);
        }
        for group in &mut summary.queries {
            group.workload = "a workload with quite a long name".to_owned();
            (group.qct_us, group.slowdown) = (Some(wide), Some(wide));
        }
        for tier in &mut summary.buffers {
            tier.tier = "a tier with quite a long name".to_owned();
            (tier.expelled, tier.marked, tier.trimmed, tier.returned) = (99_999, 99_999, 99_999, 99_999);
            let drops = |reason: Reason| DropCount { reason: reason.as_str().to_owned(), packets: 99_999 };
            tier.drops = Reason::ALL.into_iter().map(drops).collect();
        }
        for load in &mut summary.loads {
            (load.workload, load.of) = ("a workload with quite a long name".to_owned(), "host links".to_owned());
            load.achieved_wire = Some(0.3871);
        }
        let text = summary.render();
        for line in text.lines() {
            assert!(line.chars().count() <= 120, "{} columns: {line}", line.chars().count());
        }
        assert!(text.contains("header-full 200k"), "{text}");
    }
}
