//! The `[scheduler]` table: a scheduler, and the rank function of one that goes by rank.

use crate::described::{Lookup, allow, keys, lines_of, words};
use crate::diagnostic::Diagnostic;
use crate::registered::{by_name, choices, fields};
use crate::table::Table;
use forebay_tm::rank::RankConfig;
use forebay_tm::schedule::SchedulerConfig;

/// The key that names a rank function.
const RANK: &str = "rank";

/// The keys that schedulers by rank have beside their own: the rank function, and the settings of all of them.
fn all_rank_keys() -> Vec<&'static str> {
    let ranks = choices::<RankConfig>();
    [RANK].into_iter().chain(ranks.iter().flat_map(fields).map(|field| field.key)).collect()
}

/// The keys of a scheduler beside its settings.
pub(crate) fn rank_keys(scheduler: &SchedulerConfig) -> Vec<&'static str> {
    if scheduler.uses_ranks() { all_rank_keys() } else { Vec::new() }
}

fn rank(table: &Table<'_>) -> Result<RankConfig, Diagnostic> {
    let kind = table.get(RANK).map_or(Ok(RankConfig::Given.name()), |value| value.word(&words::<RankConfig>(&[])))?;
    let own = keys::<RankConfig>(kind);
    for other in choices::<RankConfig>() {
        for field in fields(&other).iter().filter(|field| !own.contains(&field.key)) {
            if let Some(value) = table.get(field.key) {
                let owner = other.name();
                return Err(value.error(
                    format!("{} does nothing without rank = \"{owner}\"", field.key),
                    format!("remove it, or add rank = \"{owner}\""),
                ));
            }
        }
    }
    Lookup::of(table).choice(kind)
}

/// Reads the `[scheduler]` table of a switch file.
pub(crate) fn read(table: &Table<'_>) -> Result<(SchedulerConfig, RankConfig), Diagnostic> {
    let kind = table.need("kind", "kind = \"fifo\"")?.word(&words::<SchedulerConfig>(&[]))?;
    let own = by_name(kind).as_ref().map_or_else(Vec::new, rank_keys);
    allow::<SchedulerConfig>(table, kind, &own, &all_rank_keys())?;
    Ok((Lookup::of(table).choice(kind)?, rank(table)?))
}

/// A scheduler and where ranks come from, as lines of TOML.
pub(crate) fn lines(scheduler: &SchedulerConfig, rank: &RankConfig) -> String {
    let mut out = lines_of("kind", scheduler);
    if *rank != RankConfig::Given {
        out.push_str(&lines_of(RANK, rank));
    }
    out
}
