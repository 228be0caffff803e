//! Drops one by one, and who held the buffers then.

use crate::table::Table;
use forebay_sim::flow::NONE;
use forebay_sim::measure::RunResult;
use forebay_sim::measure::drops::{DropRecord, HolderRecord};
use forebay_sim::scenario::Scenario;

fn switch_name(scenario: &Scenario, switch: u32) -> &str {
    scenario.network.switches.get(switch as usize).map_or("", |switch| &switch.name)
}

/// A row for each packet that a switch of `measure.drops` dropped, in order of time.
pub fn table(scenario: &Scenario, result: &RunResult) -> Table {
    let drops = &result.drops;
    let counts = |count: fn(&DropRecord) -> u64| drops.iter().map(count);
    let mut table = Table::new();
    table.count("at_ps", counts(|drop| drop.at.ps()));
    table.text("switch", drops.iter().map(|drop| switch_name(scenario, drop.switch)));
    table.count("buffer", counts(|drop| u64::from(drop.buffer)));
    table.count("port", counts(|drop| u64::from(drop.port)));
    table.count("queue", counts(|drop| u64::from(drop.queue)));
    table.count("flow", counts(|drop| u64::from(drop.flow)));
    table.count("class", counts(|drop| u64::from(drop.class)));
    table.count("bytes", counts(|drop| u64::from(drop.bytes)));
    table.text("reason", drops.iter().map(|drop| drop.reason.as_str()));
    table.optional_float("threshold_bytes", drops.iter().map(|drop| drop.threshold));
    table.count("queue_bytes", counts(|drop| drop.queue_bytes.get()));
    table.count("used_bytes", counts(|drop| drop.used.get()));
    let holders = drops.iter().map(|drop| (drop.holders != NONE).then_some(u64::from(drop.holders)));
    table.optional_count("holders", holders);
    table
}

/// A row for each part of a buffer that somebody held when packets were dropped. The parts of one number are disjoint, and together they
/// are all packets that waited.
pub fn holders(scenario: &Scenario, result: &RunResult) -> Table {
    let parts = &result.holders;
    let counts = |count: fn(&HolderRecord) -> u64| parts.iter().map(count);
    let mut table = Table::new();
    table.count("holders", counts(|part| u64::from(part.walk)));
    table.count("at_ps", counts(|part| part.at.ps()));
    table.text("switch", parts.iter().map(|part| switch_name(scenario, part.switch)));
    table.count("buffer", counts(|part| u64::from(part.buffer)));
    table.count("class", counts(|part| u64::from(part.class)));
    table.optional_count("flow", parts.iter().map(|part| part.flow.map(u64::from)));
    table.count("bytes", counts(|part| part.bytes));
    table
}
