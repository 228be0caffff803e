//! The `[scheduler]` table.

use crate::diagnostic::Diagnostic;
use crate::table::{Table, Value};
use forebay_tm::PerQueue;
use forebay_tm::rank::{RankConfig, StfqConfig};
use forebay_tm::schedule::{
    AfqConfig, AifoConfig, DrrConfig, PieoConfig, PifoConfig, SchedulerConfig, SpPifoConfig, StrictOverDrrConfig,
    WrrConfig,
};

/// What a scheduler is, in one line.
pub(crate) fn about(kind: &str) -> &'static str {
    match kind {
        "fifo" => "one queue, first come first served",
        "rr" => "packets of the queues in turn",
        "wrr" => "packets of the queues in turn, by weight",
        "drr" => "bytes of the queues in turn, by weight (deficit round robin)",
        "strict" => "the lowest queue number first",
        "strict-drr" => "groups of queues in strict order, deficit round robin within each",
        "pifo" => "sorted by rank",
        "sp-pifo" => "strict-priority queues whose bounds follow the ranks",
        "pieo" => "sorted by rank among those that are eligible",
        "aifo" => "one queue that admits by rank",
        "afq" => "a calendar of queues: approximate fair queueing",
        _ => "",
    }
}

/// The keys of a scheduler, with `kind`.
pub(crate) fn keys_of(kind: &str) -> &'static [&'static str] {
    match kind {
        "wrr" => &["kind", "weights"],
        "drr" => &["kind", "weights", "quantum"],
        "strict-drr" => &["kind", "groups", "weights", "quantum"],
        "pifo" | "pieo" => &["kind", "capacity", "rank", "flow_weights"],
        "sp-pifo" => &["kind", "queues", "capacity", "rank", "flow_weights"],
        "aifo" => &["kind", "capacity", "headroom", "window", "sample", "rank", "flow_weights"],
        "afq" => &["kind", "queues", "bytes_per_round", "rows", "columns"],
        _ => &["kind"],
    }
}

/// Reads a key that must be there, unless the kind was changed by an argument: then the default stays.
fn need<'d, T>(
    table: &Table<'d>,
    key: &str,
    example: &str,
    place: &mut T,
    read: impl FnOnce(&Value<'d>) -> Result<T, Diagnostic>,
) -> Result<(), Diagnostic> {
    match table.get(key) {
        Some(value) => *place = read(&value)?,
        None if table.is_lenient() => {}
        None => return Err(table.missing(key, example)),
    }
    Ok(())
}

fn weights(table: &Table<'_>, key: &str) -> Result<PerQueue<u32>, Diagnostic> {
    table.get(key).map_or(Ok(PerQueue::All(1)), |value| value.per_queue(Value::number))
}

fn drr(table: &Table<'_>) -> Result<DrrConfig, Diagnostic> {
    let mut config = DrrConfig { weights: weights(table, "weights")?, ..DrrConfig::default() };
    if let Some(value) = table.get("quantum") {
        config.quantum = value.bytes()?;
    }
    Ok(config)
}

fn rank(table: &Table<'_>) -> Result<RankConfig, Diagnostic> {
    let rank = match table.get("rank").map(|value| value.word(&[("given", 0), ("srpt", 1), ("stfq", 2), ("lstf", 3)])) {
        None => RankConfig::Given,
        Some(choice) => match choice? {
            0 => RankConfig::Given,
            1 => RankConfig::Srpt,
            2 => RankConfig::Stfq(StfqConfig { weights: weights(table, "flow_weights")? }),
            _ => RankConfig::Lstf,
        },
    };
    match table.get("flow_weights") {
        Some(value) if !matches!(rank, RankConfig::Stfq(_)) => {
            Err(value.error("flow weights do nothing without rank = \"stfq\"", "remove it, or add rank = \"stfq\""))
        }
        _ => Ok(rank),
    }
}

/// Reads the `[scheduler]` table of a switch file.
pub(crate) fn read(table: &Table<'_>) -> Result<(SchedulerConfig, RankConfig), Diagnostic> {
    let words: Vec<(&str, &str)> = SchedulerConfig::NAMES.iter().map(|name| (*name, *name)).collect();
    let kind = table.need("kind", "kind = \"fifo\"")?.word(&words)?;
    let elsewhere = |key: &str| SchedulerConfig::NAMES.iter().any(|kind| keys_of(kind).contains(&key));
    table.allow(keys_of(kind), elsewhere, kind)?;
    let capacity = |example| table.need("capacity", example)?.number();
    let scheduler = match kind {
        "fifo" => SchedulerConfig::Fifo,
        "rr" => SchedulerConfig::RoundRobin,
        "strict" => SchedulerConfig::Strict,
        "wrr" => SchedulerConfig::WeightedRoundRobin(WrrConfig { weights: weights(table, "weights")? }),
        "drr" => SchedulerConfig::DeficitRoundRobin(drr(table)?),
        "strict-drr" => SchedulerConfig::StrictOverDrr(StrictOverDrrConfig {
            groups: table.need("groups", "groups = [[0], [1, 2]]")?.groups()?,
            drr: drr(table)?,
        }),
        "pifo" => SchedulerConfig::Pifo(PifoConfig { capacity: capacity("capacity = 64")? }),
        "pieo" => SchedulerConfig::Pieo(PieoConfig { capacity: capacity("capacity = 64")? }),
        "sp-pifo" => {
            let mut config = SpPifoConfig::default();
            need(table, "queues", "queues = 8", &mut config.queues, Value::number)?;
            need(table, "capacity", "capacity = 10", &mut config.capacity, Value::number)?;
            SchedulerConfig::SpPifo(config)
        }
        "aifo" => {
            let mut config = AifoConfig::default();
            need(table, "capacity", "capacity = 20", &mut config.capacity, Value::number)?;
            need(table, "headroom", "headroom = 0.1", &mut config.headroom, Value::real)?;
            need(table, "window", "window = 20", &mut config.window, Value::number)?;
            config.sample = table.get("sample").map_or(Ok(1), |value| value.integer())?;
            SchedulerConfig::Aifo(config)
        }
        _ => {
            let mut config = AfqConfig::default();
            need(table, "queues", "queues = 32", &mut config.queues, Value::number)?;
            need(table, "bytes_per_round", "bytes_per_round = 1500", &mut config.bytes_per_round, Value::bytes)?;
            if let Some(value) = table.get("rows") {
                config.rows = value.number()?;
            }
            if let Some(value) = table.get("columns") {
                config.columns = value.number()?;
            }
            SchedulerConfig::Afq(config)
        }
    };
    Ok((scheduler, rank(table)?))
}
