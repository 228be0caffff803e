//! The sets of flows that one can choose between: by size and by workload or class.

use crate::{FlowPoint, Report, RunView};
use std::collections::BTreeSet;

/// Flows below this size are short, as the papers on shared buffers have it.
pub(crate) const SHORT_BELOW: u64 = 100_000;
/// Flows of at least this size are long.
pub(crate) const LONG_FROM: u64 = 1_000_000;

/// A range of sizes.
pub(crate) struct Bucket {
    pub(crate) name: &'static str,
    pub(crate) from: u64,
    /// Excluded.
    pub(crate) to: u64,
}

/// The ranges of sizes, the first of which is all.
pub(crate) const BUCKETS: [Bucket; 4] = [
    Bucket { name: "All sizes", from: 0, to: u64::MAX },
    Bucket { name: "Below 100 KB", from: 0, to: SHORT_BELOW },
    Bucket { name: "100 KB to 1 MB", from: SHORT_BELOW, to: LONG_FROM },
    Bucket { name: "From 1 MB", from: LONG_FROM, to: u64::MAX },
];

impl Bucket {
    /// Whether a flow of this size belongs to it.
    pub(crate) fn has(&self, bytes: u64) -> bool {
        bytes >= self.from && (bytes < self.to || self.to == u64::MAX)
    }
}

/// Flows or queries that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    /// All of them.
    All,
    /// Those of the workloads of this name.
    Workload(String),
    /// Those of a class.
    Class(u8),
}

impl Group {
    /// What the page calls it.
    pub(crate) fn name(&self, all: &str) -> String {
        match self {
            Self::All => all.to_owned(),
            Self::Workload(name) => name.clone(),
            Self::Class(class) => format!("Class {class}"),
        }
    }

    /// Which of a run's workloads belong to it, by index; `None`: it does not depend on the workload.
    fn members(&self, run: &RunView) -> Option<Vec<bool>> {
        match self {
            Self::Workload(name) => {
                let indices = 0..=u16::MAX;
                Some(indices.take(highest(run) + 1).map(|index| workload_name(run, index) == *name).collect())
            }
            _ => None,
        }
    }

    /// A test for flows of a run by workload and class.
    pub(crate) fn filter(&self, run: &RunView) -> impl Fn(u16, u8) -> bool + use<> {
        let members = self.members(run);
        let class = if let Self::Class(class) = self { Some(*class) } else { None };
        move |of_workload, of_class| {
            members.as_ref().is_none_or(|members| members[usize::from(of_workload)])
                && class.is_none_or(|class| class == of_class)
        }
    }
}

/// The highest index of a workload that a run uses.
fn highest(run: &RunView) -> usize {
    let used = run.flows.iter().map(|flow| flow.workload).chain(run.queries.iter().map(|query| query.workload));
    usize::from(used.max().unwrap_or(0))
}

/// The name of a workload, also of one that the run does not name.
fn workload_name(run: &RunView, index: u16) -> String {
    run.workloads.get(usize::from(index)).cloned().unwrap_or_else(|| format!("Workload {index}"))
}

/// The workloads that occur, in order of first appearance, of all runs.
fn workloads(report: &Report, used: impl Fn(&RunView) -> BTreeSet<u16>) -> Vec<String> {
    let mut names = Vec::new();
    for run in report.runs() {
        for index in used(run) {
            let name = workload_name(run, index);
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

/// All, followed by the parts if there are at least two.
fn all_and(parts: Vec<Group>) -> Vec<Group> {
    let parts = if parts.len() > 1 { parts } else { Vec::new() };
    [Group::All].into_iter().chain(parts).collect()
}

/// The groups of flows: all, then the workloads, then the classes unless these are the workloads again.
pub(crate) fn of_flows(report: &Report) -> Vec<Group> {
    let names = workloads(report, |run| run.flows.iter().map(|flow| flow.workload).collect());
    let mut pairs = BTreeSet::new();
    for run in report.runs() {
        let of_run: BTreeSet<(u16, u8)> = run.flows.iter().map(|flow| (flow.workload, flow.class)).collect();
        pairs.extend(of_run.into_iter().map(|(workload, class)| (workload_name(run, workload), class)));
    }
    let classes: BTreeSet<u8> = pairs.iter().map(|(_, class)| *class).collect();
    let mut groups = all_and(names.iter().cloned().map(Group::Workload).collect());
    // As many pairs as workloads and as classes: each workload has a class of its own.
    let same = pairs.len() == names.len() && pairs.len() == classes.len();
    if classes.len() > 1 && !same {
        groups.extend(classes.into_iter().map(Group::Class));
    }
    groups
}

/// The groups of queries: all, then the workloads.
pub(crate) fn of_queries(report: &Report) -> Vec<Group> {
    let names = workloads(report, |run| run.queries.iter().map(|query| query.workload).collect());
    all_and(names.into_iter().map(Group::Workload).collect())
}

/// The flows of some runs that belong to a group.
pub(crate) fn flows<'a>(runs: &'a [RunView], group: &'a Group) -> impl Iterator<Item = &'a FlowPoint> {
    runs.iter().flat_map(move |run| {
        let filter = group.filter(run);
        run.flows.iter().filter(move |flow| filter(flow.workload, flow.class))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Point;

    fn run(names: &[&str], flows: &[(u16, u8)]) -> RunView {
        RunView {
            workloads: names.iter().map(ToString::to_string).collect(),
            flows: flows
                .iter()
                .map(|&(workload, class)| FlowPoint { workload, class, ..FlowPoint::default() })
                .collect(),
            ..RunView::default()
        }
    }

    fn one_each(runs: Vec<RunView>) -> Report {
        let points = runs.into_iter().map(|run| Point { seeds: vec![run], ..Point::default() }).collect();
        Report { points, ..Report::default() }
    }

    #[test]
    fn sizes_fall_into_exactly_one_part() {
        for bytes in [0, 1, 99_999, 100_000, 999_999, 1_000_000, u64::MAX] {
            assert!(BUCKETS[0].has(bytes));
            assert_eq!(BUCKETS[1..].iter().filter(|bucket| bucket.has(bytes)).count(), 1, "{bytes}");
        }
        assert!(BUCKETS[1].has(99_999) && BUCKETS[2].has(100_000) && BUCKETS[3].has(1_000_000));
    }

    #[test]
    fn workloads_are_matched_by_name() {
        let runs = vec![
            run(&["web", "incast"], &[(0, 0), (1, 0), (1, 0)]),
            run(&["incast", "web"], &[(0, 0), (1, 0), (7, 0)]),
        ];
        let report = one_each(runs);
        let groups = of_flows(&report);
        let names: Vec<String> = groups.iter().map(|group| group.name("All")).collect();
        assert_eq!(names, ["All", "web", "incast", "Workload 7"]);
        let count = |run: usize, group: usize| flows(&report.points[run].seeds, &groups[group]).count();
        assert_eq!([count(0, 0), count(0, 1), count(0, 2), count(0, 3)], [3, 1, 2, 0]);
        assert_eq!([count(1, 0), count(1, 1), count(1, 2), count(1, 3)], [3, 1, 1, 1]);
    }

    #[test]
    fn classes_are_groups_unless_they_are_the_workloads() {
        let names = |runs| of_flows(&one_each(runs)).iter().map(|group| group.name("All")).collect::<Vec<_>>();
        assert_eq!(names(vec![run(&["a", "b"], &[(0, 3), (1, 5)])]), ["All", "a", "b"]);
        assert_eq!(names(vec![run(&["a"], &[(0, 3), (0, 5)])]), ["All", "Class 3", "Class 5"]);
        assert_eq!(names(vec![run(&["a"], &[(0, 3)])]), ["All"]);
        assert_eq!(names(vec![run(&[], &[])]), ["All"]);
    }
}
