//! Settings as TOML that reads back to the same settings.

use crate::switch::SwitchTables;
use forebay_tm::admit::{Accounting, Classes, PolicyConfig};
use forebay_tm::mark::{MarkAction, MarkConfig};
use forebay_tm::rank::RankConfig;
use forebay_tm::schedule::{DrrConfig, SchedulerConfig};
use forebay_tm::trim::{HeaderPriority, TrimConfig};
use forebay_tm::{Bytes, PerQueue};
use std::fmt::{Debug, Display};
use toml::de::DeValue;

/// A text in quotes, as TOML has it.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// A key, in quotes if it needs them.
fn key(key: &str) -> String {
    let is_bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if is_bare { key.to_owned() } else { quoted(key) }
}

/// A value on one line.
pub(crate) fn value(found: &DeValue<'_>) -> String {
    match found {
        DeValue::String(text) => quoted(text),
        DeValue::Integer(integer) => match integer.radix() {
            16 => format!("0x{integer}"),
            8 => format!("0o{integer}"),
            2 => format!("0b{integer}"),
            _ => integer.to_string(),
        },
        DeValue::Float(float) => float.to_string(),
        DeValue::Boolean(boolean) => boolean.to_string(),
        DeValue::Datetime(time) => time.to_string(),
        DeValue::Array(list) => {
            let values: Vec<String> = list.iter().map(|element| value(element.get_ref())).collect();
            format!("[{}]", values.join(", "))
        }
        DeValue::Table(table) => {
            let pair = |(name, inner): (&toml::Spanned<_>, &toml::Spanned<_>)| {
                let name: &std::borrow::Cow<'_, str> = name.get_ref();
                format!("{} = {}", key(name), value(inner.get_ref()))
            };
            let pairs: Vec<String> = table.iter().map(pair).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
    }
}

/// A key and its value.
pub(crate) fn line(name: &str, found: &DeValue<'_>) -> String {
    format!("{} = {}\n", key(name), value(found))
}

/// A table in the making.
struct Lines<'a>(&'a mut String);

impl Lines<'_> {
    /// A number, a list of numbers or a boolean, as the language writes it.
    fn bare(&mut self, key: &str, value: impl Debug) -> &mut Self {
        self.0.push_str(&format!("{key} = {value:?}\n"));
        self
    }

    /// A word, or a value with a unit.
    fn text(&mut self, key: &str, value: impl Display) -> &mut Self {
        self.0.push_str(&format!("{key} = \"{value}\"\n"));
        self
    }

    fn per_queue<T: Debug>(&mut self, key: &str, values: &PerQueue<T>) -> &mut Self {
        match values {
            PerQueue::All(value) => self.bare(key, value),
            PerQueue::Each(values) => self.bare(key, values),
        }
    }

    fn optional<T: Debug>(&mut self, key: &str, value: Option<T>) -> &mut Self {
        match value {
            Some(value) => self.bare(key, value),
            None => &mut *self,
        }
    }

    fn policy(&mut self, policy: &PolicyConfig) {
        self.text("kind", policy.name());
        match policy {
            PolicyConfig::CompleteSharing | PolicyConfig::CompletePartitioning | PolicyConfig::Pushout => &mut *self,
            PolicyConfig::DynamicThresholds(config) => {
                self.per_queue("alpha", &config.alpha).bare("reserved", config.reserved)
            }
            PolicyConfig::FlexibleBuffer(config) => {
                let classes = match config.classes {
                    Classes::Queue => "queue",
                    Classes::Packet => "packet",
                };
                self.per_queue("alpha", &config.alpha)
                    .optional("groups", config.groups.as_ref())
                    .text("classes", classes)
            }
            PolicyConfig::Fba(config) => self
                .per_queue("alpha", &config.alpha)
                .optional("groups", config.groups.as_ref())
                .text("interval", config.interval),
            PolicyConfig::Abm(config) => self
                .per_queue("alpha", &config.alpha)
                .optional("alpha_unscheduled", config.alpha_unscheduled)
                .text("interval", config.interval)
                .optional("congested_at", config.congested_at.map(Bytes::get)),
            PolicyConfig::AbmOnDt(config) => self.per_queue("alpha", &config.alpha).text("interval", config.interval),
            PolicyConfig::FlowAware(config) => self
                .per_queue("alpha", &config.alpha)
                .bare("alpha_short", config.alpha_short)
                .text("threshold", config.threshold)
                .text("window", config.window),
            PolicyConfig::Occamy(config) => self
                .per_queue("alpha", &config.alpha)
                .text("token_cell", config.token_cell)
                .bare("bucket", config.bucket),
            PolicyConfig::IntelligentBuffer(config) => {
                let accounting = match config.accounting {
                    Accounting::Flow => "flow",
                    Accounting::Queue => "queue",
                };
                self.per_queue("alpha", &config.alpha)
                    .text("interval", config.interval)
                    .text("reference", config.reference)
                    .text("initial_fair", config.initial_fair)
                    .bare("gain_now", config.gain_now)
                    .bare("gain_before", config.gain_before)
                    .bare("scale", config.scale)
                    .text("afd_from", config.afd_from)
                    .text("accounting", accounting)
                    .bare("short_packets", config.short_packets)
                    .text("short_window", config.short_window)
                    .optional("short_queue", config.short_queue)
            }
        };
    }

    fn drr(&mut self, config: &DrrConfig) -> &mut Self {
        self.per_queue("weights", &config.weights).text("quantum", config.quantum)
    }

    fn scheduler(&mut self, scheduler: &SchedulerConfig, rank: &RankConfig) {
        self.text("kind", scheduler.name());
        match scheduler {
            SchedulerConfig::Fifo | SchedulerConfig::RoundRobin | SchedulerConfig::Strict => &mut *self,
            SchedulerConfig::WeightedRoundRobin(config) => self.per_queue("weights", &config.weights),
            SchedulerConfig::DeficitRoundRobin(config) => self.drr(config),
            SchedulerConfig::StrictOverDrr(config) => self.bare("groups", &config.groups).drr(&config.drr),
            SchedulerConfig::Pifo(config) => self.bare("capacity", config.capacity),
            SchedulerConfig::Pieo(config) => self.bare("capacity", config.capacity),
            SchedulerConfig::SpPifo(config) => self.bare("queues", config.queues).bare("capacity", config.capacity),
            SchedulerConfig::Aifo(config) => self
                .bare("capacity", config.capacity)
                .bare("headroom", config.headroom)
                .bare("window", config.window)
                .bare("sample", config.sample),
            SchedulerConfig::Afq(config) => self
                .bare("queues", config.queues)
                .text("bytes_per_round", config.bytes_per_round)
                .bare("rows", config.rows)
                .bare("columns", config.columns),
        };
        if *rank != RankConfig::Given {
            self.text("rank", rank.name());
        }
        if let RankConfig::Stfq(config) = rank {
            self.per_queue("flow_weights", &config.weights);
        }
    }

    fn mark(&mut self, mark: Option<&MarkConfig>) {
        let (kind, action) = match mark {
            None => ("none", None),
            Some(MarkConfig::Step(config)) => ("step", Some(config.action)),
            Some(MarkConfig::Red(config)) => ("red", Some(config.action)),
        };
        self.text("kind", kind);
        match mark {
            None => &mut *self,
            Some(MarkConfig::Step(config)) => self.text("threshold", config.threshold),
            Some(MarkConfig::Red(config)) => self
                .text("min", config.min)
                .text("max", config.max)
                .bare("probability", config.probability)
                .optional("weight", config.weight)
                .text("mean_packet", config.mean_packet),
        };
        match action {
            None => &mut *self,
            Some(MarkAction::Mark) => self.text("action", "mark"),
            Some(MarkAction::Drop) => self.text("action", "drop"),
            Some(MarkAction::MarkOrDrop) => self.text("action", "mark-or-drop"),
        };
    }

    fn trim(&mut self, trim: Option<&TrimConfig>) {
        match trim {
            None => self.text("kind", "none"),
            Some(TrimConfig::Ndp(config)) => {
                let priority = match config.header_priority {
                    HeaderPriority::Ratio => "ratio",
                    HeaderPriority::Strict => "strict",
                };
                self.text("kind", "ndp")
                    .text("size", config.size)
                    .bare("header_capacity", config.header_capacity)
                    .bare("header_ratio", config.header_ratio)
                    .text("header_priority", priority)
                    .bare("return_to_sender", config.return_to_sender)
            }
            Some(TrimConfig::CutPayload(config)) => {
                self.text("kind", "cut-payload").text("size", config.size);
                match config.watermark {
                    Some(watermark) => self.text("watermark", watermark),
                    None => &mut *self,
                }
            }
            Some(TrimConfig::SourceFlowControl(config)) => {
                self.text("kind", "source-flow-control").text("watermark", config.watermark)
            }
        };
    }
}

/// Writes the tables `[policy]`, `[scheduler]`, `[ecn]` and `[trim]`, as far as they are there. Their names follow `prefix`, such as
/// "tier.leaf.".
pub fn write_switch_tables(prefix: &str, tables: &SwitchTables, out: &mut String) {
    if let Some(policy) = &tables.policy {
        out.push_str(&format!("\n[{prefix}policy]\n"));
        Lines(out).policy(policy);
    }
    if let Some((scheduler, rank)) = &tables.scheduler {
        out.push_str(&format!("\n[{prefix}scheduler]\n"));
        Lines(out).scheduler(scheduler, rank);
    }
    if let Some(mark) = &tables.mark {
        out.push_str(&format!("\n[{prefix}ecn]\n"));
        Lines(out).mark(mark.as_ref());
    }
    if let Some(trim) = &tables.trim {
        out.push_str(&format!("\n[{prefix}trim]\n"));
        Lines(out).trim(trim.as_ref());
    }
}
