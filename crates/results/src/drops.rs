//! Drops one by one, who held the buffers then, and what was lost outside the buffers.

use crate::table::Table;
use crate::topology;
use forebay_sim::flow::NONE;
use forebay_sim::measure::RunResult;
use forebay_sim::scenario::Scenario;

fn switch_name(scenario: &Scenario, switch: u32) -> &str {
    scenario.network.switches.get(switch as usize).map_or("", |switch| &switch.name)
}

/// A number of each record; there are many records, so that no number is asked for through a pointer.
fn counts<R>(records: &[R], count: impl Fn(&R) -> u64) -> impl Iterator<Item = u64> {
    records.iter().map(count)
}

/// A row for each packet that a switch of `measure.drops` dropped, in order of time.
pub fn table(scenario: &Scenario, result: &RunResult) -> Table {
    let drops = &result.drops;
    let mut table = Table::new();
    table.count("at_ps", counts(drops, |drop| drop.at.ps()));
    table.numbered_text("switch", drops.iter().map(|drop| drop.switch), |switch| switch_name(scenario, switch));
    table.count("buffer", counts(drops, |drop| u64::from(drop.buffer)));
    table.count("port", counts(drops, |drop| u64::from(drop.port)));
    table.count("queue", counts(drops, |drop| u64::from(drop.queue)));
    table.count("flow", counts(drops, |drop| u64::from(drop.flow)));
    table.count("class", counts(drops, |drop| u64::from(drop.class)));
    table.count("bytes", counts(drops, |drop| u64::from(drop.bytes)));
    table.text("reason", drops.iter().map(|drop| drop.reason.as_str()));
    table.optional_float("threshold_bytes", drops.iter().map(|drop| drop.threshold));
    table.count("queue_bytes", counts(drops, |drop| drop.queue_bytes.get()));
    table.count("used_bytes", counts(drops, |drop| drop.used.get()));
    let holders = drops.iter().map(|drop| (drop.holders != NONE).then_some(u64::from(drop.holders)));
    table.optional_count("holders", holders);
    table
}

/// A row for each part of a buffer that somebody held when packets were dropped. The parts of one number are disjoint,
/// and together they are all packets that waited.
pub fn holders(scenario: &Scenario, result: &RunResult) -> Table {
    let parts = &result.holders;
    let mut table = Table::new();
    table.count("holders", counts(parts, |part| u64::from(part.walk)));
    table.count("at_ps", counts(parts, |part| part.at.ps()));
    table.numbered_text("switch", parts.iter().map(|part| part.switch), |switch| switch_name(scenario, switch));
    table.count("buffer", counts(parts, |part| u64::from(part.buffer)));
    table.count("class", counts(parts, |part| u64::from(part.class)));
    table.optional_count("flow", parts.iter().map(|part| part.flow.map(u64::from)));
    table.count("bytes", counts(parts, |part| part.bytes));
    table
}

/// A row for each packet that was lost outside the buffers, in order of time.
pub fn losses(scenario: &Scenario, result: &RunResult) -> Table {
    let losses = &result.losses;
    let mut table = Table::new();
    table.count("at_ps", counts(losses, |loss| loss.at.ps()));
    let node = |node: u32| topology::name(&scenario.network, node);
    table.optional_text("node", losses.iter().map(|loss| loss.node.map(node)));
    table.optional_count("port", losses.iter().map(|loss| loss.node.map(|_| u64::from(loss.port))));
    table.optional_count("flow", losses.iter().map(|loss| (loss.flow != NONE).then_some(u64::from(loss.flow))));
    table.count("class", counts(losses, |loss| u64::from(loss.class)));
    table.count("bytes", counts(losses, |loss| u64::from(loss.bytes)));
    table
}
