//! The `[scheduler]` table.

use crate::described::{Lookup, allow, words};
use crate::diagnostic::Diagnostic;
use crate::table::{Table, Value};
use forebay_tm::PerQueue;
use forebay_tm::described::Choice;
use forebay_tm::rank::{RankConfig, StfqConfig};
use forebay_tm::schedule::SchedulerConfig;

/// The keys that schedulers by rank have beside their own.
const RANK_KEYS: [&str; 2] = ["rank", "flow_weights"];

/// The keys of a scheduler beside its settings.
pub(crate) fn rank_keys(scheduler: &SchedulerConfig) -> &'static [&'static str] {
    if scheduler.uses_ranks() { &RANK_KEYS } else { &[] }
}

fn rank(table: &Table<'_>) -> Result<RankConfig, Diagnostic> {
    let choices = [RankConfig::Given, RankConfig::Srpt, RankConfig::Stfq(StfqConfig::default()), RankConfig::Lstf];
    let words: Vec<(&str, usize)> = choices.iter().map(RankConfig::name).zip(0..).collect();
    let mut rank = match table.get("rank") {
        None => RankConfig::Given,
        Some(value) => choices[value.word(&words)?].clone(),
    };
    match (table.get("flow_weights"), &mut rank) {
        (None, _) => {}
        (Some(value), RankConfig::Stfq(config)) => config.weights = value.per_queue(Value::number)?,
        (Some(value), _) => {
            return Err(
                value.error("flow weights do nothing without rank = \"stfq\"", "remove it, or add rank = \"stfq\"")
            );
        }
    }
    Ok(rank)
}

/// Reads the `[scheduler]` table of a switch file.
pub(crate) fn read(table: &Table<'_>) -> Result<(SchedulerConfig, RankConfig), Diagnostic> {
    let kind = table.need("kind", "kind = \"fifo\"")?.word(&words::<SchedulerConfig>(&[]))?;
    let own = SchedulerConfig::by_name(kind).as_ref().map_or(&[][..], rank_keys);
    allow::<SchedulerConfig>(table, kind, own, &RANK_KEYS)?;
    Ok((Lookup::of(table).choice(kind)?, rank(table)?))
}

/// A scheduler and where ranks come from, as lines of TOML.
pub(crate) fn lines(scheduler: &SchedulerConfig, rank: &RankConfig) -> String {
    let mut out = crate::described::lines(scheduler);
    if *rank != RankConfig::Given {
        out.push_str(&format!("rank = \"{}\"\n", rank.name()));
    }
    if let RankConfig::Stfq(config) = rank {
        match &config.weights {
            PerQueue::All(weight) => out.push_str(&format!("flow_weights = {weight}\n")),
            PerQueue::Each(weights) => out.push_str(&format!("flow_weights = {weights:?}\n")),
        }
    }
    out
}
