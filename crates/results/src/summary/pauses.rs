//! Priority flow control in few numbers.

use crate::text::{count, time};
use forebay_sim::measure::RunResult;
use forebay_sim::measure::pauses::DeadlockRecord;
use forebay_sim::scenario::{NicSetup, Scenario};
use forebay_tm::Instant;
use serde::{Deserialize, Serialize};

/// What priority flow control did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PauseSummary {
    /// Times that a priority group asked for pause.
    pub requests: u64,
    /// Frames sent.
    pub frames: u64,
    /// Storms that watchdogs saw.
    pub storms: u64,
    /// Flows that waited for a pause that was for a queue that they did not go to.
    pub victims: u64,
    /// Cycles of paused queues.
    pub deadlocks: Vec<DeadlockInfo>,
}

/// A deadlock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadlockInfo {
    /// When it was found.
    pub found_ps: u64,
    /// When it was seen to be gone, if it was.
    pub until_ps: Option<u64>,
    /// The egress queues, each of which waits for the next, and the last for the first.
    pub cycle: Vec<String>,
}

impl PauseSummary {
    /// Of a run in which switches pause.
    pub(super) fn of(scenario: &Scenario, result: &RunResult) -> Option<Self> {
        if !matches!(scenario.nic, NicSetup::Lossless { .. }) {
            return None;
        }
        let pauses = &result.pauses;
        // They are in the order of flows.
        let mut victims: Vec<u32> = pauses.victims.iter().map(|victim| victim.flow).collect();
        victims.dedup();
        Some(Self {
            requests: pauses.requests.len() as u64,
            frames: pauses.frames,
            storms: pauses.storms.len() as u64,
            victims: victims.len() as u64,
            deadlocks: pauses.deadlocks.iter().map(|deadlock| DeadlockInfo::of(scenario, deadlock)).collect(),
        })
    }

    /// For a terminal.
    pub(super) fn line(&self) -> String {
        let mut parts = vec![format!("{} requests", count(self.requests as f64))];
        parts.push(format!("{} frames", count(self.frames as f64)));
        for (number, what) in [(self.storms, "storms"), (self.victims, "victim flows")] {
            if number > 0 {
                parts.push(format!("{} {what}", count(number as f64)));
            }
        }
        super::render::wrapped("pauses: ", &parts)
    }
}

impl DeadlockInfo {
    fn of(scenario: &Scenario, deadlock: &DeadlockRecord) -> Self {
        let name = |index: u32| scenario.network.switches.get(index as usize).map_or("", |switch| &switch.name);
        let queues = deadlock.cycle.iter();
        Self {
            found_ps: deadlock.found.ps(),
            until_ps: (deadlock.until < Instant::NEVER).then(|| deadlock.until.ps()),
            cycle: queues.map(|at| format!("{} port {} queue {}", name(at.switch), at.port, at.queue)).collect(),
        }
    }

    /// For a terminal.
    pub(super) fn line(&self) -> String {
        let found = time(self.found_ps as f64 / 1e6);
        let until = self.until_ps.map(|until| format!(", gone at {}", time(until as f64 / 1e6)));
        let heading = format!("deadlock found at {found}{}: ", until.unwrap_or_default());
        let mut parts: Vec<String> = self.cycle.iter().map(|queue| format!("{queue} waits for")).collect();
        parts.extend(self.cycle.first().cloned());
        super::render::wrapped(&heading, &parts).replace("waits for,", "waits for")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pauses;
    use crate::summary::{Summary, summarize};
    use crate::table::Table;
    use crate::testing;
    use forebay_sim::measure::pauses::{QueuePlace, VictimRecord};
    use forebay_sim::scenario::PfcSetup;
    use forebay_tm::Duration;

    /// Two victims of one flow, one of another, and a deadlock of the leaves and the spine.
    fn paused() -> (Scenario, RunResult) {
        let (mut scenario, mut result) = testing::busy(8, 1);
        scenario.nic = NicSetup::Lossless { pfc: PfcSetup::default(), classes: 2 };
        let at = Instant::from_ps;
        let victim = |flow, switch| VictimRecord {
            flow,
            switch,
            port: 1,
            group: 3,
            first: at(7),
            packets: 2,
            longest: Duration::from_ps(9),
        };
        result.pauses.victims = vec![victim(1, 0), victim(1, 2), victim(4, 0)];
        let place = |switch| QueuePlace { switch, port: switch + 1, queue: 3 };
        result.pauses.deadlocks = vec![DeadlockRecord {
            cycle: vec![place(0), place(1), place(2)],
            paused: vec![at(1), at(2), at(3)],
            found: at(100_000_000),
            until: Instant::NEVER,
        }];
        (scenario, result)
    }

    #[test]
    fn victims_are_flows_and_deadlocks_have_names() {
        let (scenario, result) = paused();
        let summary = summarize(&scenario, &result);
        let pauses = summary.pauses.as_ref().expect("its switches pause");
        assert_eq!((pauses.victims, pauses.storms), (2, 0));
        let text = summary.render();
        assert!(text.contains("pauses: 0 requests, 0 frames, 2 victim flows\n"), "{text}");
        let cycle = "leaf0 port 1 queue 3 waits for spine0 port 2 queue 3 waits for";
        assert!(text.contains(&format!("deadlock found at 100us: {cycle}")), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
        assert_eq!(Summary::from_json(&summary.to_json()).as_ref(), Ok(&summary));
    }

    #[test]
    fn nothing_is_told_where_no_switch_pauses() {
        let (scenario, result) = testing::busy(8, 1);
        let summary = summarize(&scenario, &result);
        assert_eq!(summary.pauses, None);
        assert!(!summary.render().contains("pauses"));
    }

    #[test]
    fn tables_have_a_row_for_each_queue_of_a_cycle() {
        let (scenario, result) = paused();
        let csv = |table: Table| {
            let mut text = Vec::new();
            table.write_csv_header(&mut text).and_then(|()| table.write_csv_rows(&mut text)).expect("memory takes it");
            String::from_utf8(text).expect("tables are text")
        };
        insta::assert_snapshot!("deadlocks", csv(pauses::deadlocks(&scenario, &result)));
        insta::assert_snapshot!("victims", csv(pauses::victims(&scenario, &result)));
    }
}
