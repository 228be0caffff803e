//! The tables of priority flow control: who asked for pause, who was paused, and storms.

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
