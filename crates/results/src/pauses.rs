//! The tables of priority flow control: who asked for pause, who was paused, storms, victims and deadlocks.

use crate::table::Table;
use forebay_sim::measure::RunResult;
use forebay_sim::scenario::Scenario;
use forebay_tm::Instant;

fn switch_name(scenario: &Scenario, index: u32) -> &str {
    scenario.network.switches.get(index as usize).map_or("", |switch| &switch.name)
}

/// An instant, if it has come.
fn come(at: Instant) -> Option<u64> {
    (at < Instant::NEVER).then(|| at.ps())
}

/// One row for each time that a group asked for pause.
pub fn requests(scenario: &Scenario, result: &RunResult) -> Table {
    let rows = &result.pauses.requests;
    let mut table = Table::new();
    table.text("switch", rows.iter().map(|row| switch_name(scenario, row.switch)));
    table.count("port", rows.iter().map(|row| u64::from(row.port)));
    table.count("group", rows.iter().map(|row| u64::from(row.group)));
    table.optional_count("congested_port", rows.iter().map(|row| Some(u64::from(row.congested?.0))));
    table.optional_count("congested_queue", rows.iter().map(|row| Some(u64::from(row.congested?.1))));
    table.count("from_ps", rows.iter().map(|row| row.from.ps()));
    table.optional_count("until_ps", rows.iter().map(|row| come(row.until)));
    table
}

/// One row for each class of a port or of a host that was paused.
pub fn paused(scenario: &Scenario, result: &RunResult) -> Table {
    let rows = &result.pauses.paused;
    let host = |index: u32| scenario.network.hosts.get(index as usize).map_or("", String::as_str);
    let mut table = Table::new();
    let node = |switch: Option<u32>, port| switch.map_or_else(|| host(port), |switch| switch_name(scenario, switch));
    table.text("node", rows.iter().map(|row| node(row.switch, row.port)));
    table.count("port", rows.iter().map(|row| row.switch.map_or(0, |_| u64::from(row.port))));
    table.count("class", rows.iter().map(|row| u64::from(row.class)));
    table.count("pauses", rows.iter().map(|row| row.pauses));
    table.count("paused_ps", rows.iter().map(|row| row.paused.ps()));
    table
}

/// One row for each storm that a watchdog saw.
pub fn storms(scenario: &Scenario, result: &RunResult) -> Table {
    let rows = &result.pauses.storms;
    let mut table = Table::new();
    table.text("switch", rows.iter().map(|row| switch_name(scenario, row.switch)));
    table.count("port", rows.iter().map(|row| u64::from(row.port)));
    table.count("class", rows.iter().map(|row| u64::from(row.class)));
    table.count("from_ps", rows.iter().map(|row| row.from.ps()));
    table.optional_count("until_ps", rows.iter().map(|row| come(row.until)));
    table.count("dropped_packets", rows.iter().map(|row| row.dropped));
    table
}

/// One row for each flow and group that paused it without being full of packets for the same queue.
pub fn victims(scenario: &Scenario, result: &RunResult) -> Table {
    let rows = &result.pauses.victims;
    let mut table = Table::new();
    table.count("flow", rows.iter().map(|row| u64::from(row.flow)));
    table.text("switch", rows.iter().map(|row| switch_name(scenario, row.switch)));
    table.count("port", rows.iter().map(|row| u64::from(row.port)));
    table.count("group", rows.iter().map(|row| u64::from(row.group)));
    table.count("first_ps", rows.iter().map(|row| row.first.ps()));
    table.count("packets", rows.iter().map(|row| row.packets));
    table.count("longest_ps", rows.iter().map(|row| row.longest.ps()));
    table
}

/// One row for each egress queue of each deadlock, in the order in which they wait for each other.
pub fn deadlocks(scenario: &Scenario, result: &RunResult) -> Table {
    let mut rows = Vec::new();
    for (number, deadlock) in (0u64..).zip(&result.pauses.deadlocks) {
        for (place, (queue, paused)) in (0u64..).zip(deadlock.cycle.iter().zip(&deadlock.paused)) {
            rows.push((number, place, queue, paused, deadlock));
        }
    }
    let mut table = Table::new();
    table.count("deadlock", rows.iter().map(|row| row.0));
    table.count("place", rows.iter().map(|row| row.1));
    table.text("switch", rows.iter().map(|row| switch_name(scenario, row.2.switch)));
    table.count("port", rows.iter().map(|row| u64::from(row.2.port)));
    table.count("queue", rows.iter().map(|row| u64::from(row.2.queue)));
    table.count("paused_ps", rows.iter().map(|row| row.3.ps()));
    table.count("found_ps", rows.iter().map(|row| row.4.found.ps()));
    table.optional_count("until_ps", rows.iter().map(|row| come(row.4.until)));
    table
}
