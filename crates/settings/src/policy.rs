//! The `[policy]` table.

use crate::diagnostic::Diagnostic;
use crate::table::{Document, Table, Value};
use forebay_tm::PerQueue;
use forebay_tm::admit::{
    AbmConfig, AbmOnDtConfig, Accounting, Classes, DynamicThresholdsConfig, FbaConfig, FlexibleBufferConfig,
    FlowAwareConfig, IntelligentBufferConfig, OccamyConfig, PolicyConfig,
};

/// What a policy is, in one line.
pub(crate) fn about(kind: &str) -> &'static str {
    match kind {
        "cs" => "complete sharing: a packet is admitted while the buffer has room",
        "cp" => "complete partitioning: each queue has an equal part of its own",
        "dt" => "dynamic thresholds: a queue may hold alpha times the free buffer",
        "fb" => "flexible buffer: thresholds that know priorities and how many queues are active",
        "fba" => "FB approximated by setting DT's alphas anew at every interval",
        "abm" => "active buffer management: thresholds by congested queues and by drain rates",
        "abm-dt" => "ABM approximated by setting DT's alphas anew at every interval",
        "fab" => "flow-aware buffer: a larger alpha for the first packets of a flow",
        "ib" => "intelligent buffer: DT, fair dropping of long flows and a queue for short ones",
        "pushout" => "the longest queue gives way to whoever comes",
        "occamy" => "DT that expels packets of over-allocated queues with spare memory bandwidth",
        _ => "",
    }
}

/// The keys of a policy, with `kind`.
pub(crate) fn keys_of(kind: &str) -> &'static [&'static str] {
    match kind {
        "dt" => &["kind", "alpha", "reserved"],
        "fb" => &["kind", "alpha", "groups", "classes"],
        "fba" => &["kind", "alpha", "groups", "interval"],
        "abm" => &["kind", "alpha", "alpha_unscheduled", "interval", "congested_at"],
        "abm-dt" => &["kind", "alpha", "interval"],
        "fab" => &["kind", "alpha", "alpha_short", "threshold", "window"],
        "occamy" => &["kind", "alpha", "token_cell", "bucket"],
        "ib" => &[
            "kind",
            "alpha",
            "interval",
            "reference",
            "initial_fair",
            "gain_now",
            "gain_before",
            "scale",
            "afd_from",
            "accounting",
            "short_packets",
            "short_window",
            "short_queue",
        ],
        _ => &["kind"],
    }
}

/// Whether some policy knows this key.
fn is_key(key: &str) -> bool {
    PolicyConfig::NAMES.iter().any(|kind| keys_of(kind).contains(&key))
}

/// Where the settings of a policy are looked up.
struct Lookup<'d> {
    /// In order of precedence.
    tables: Vec<Table<'d>>,
    /// The paper's settings are used for what is not given.
    lenient: bool,
}

impl<'d> Lookup<'d> {
    fn get(&self, key: &str) -> Option<Value<'d>> {
        self.tables.iter().find_map(|table| table.get(key))
    }

    /// Reads a key that may be left out.
    fn read<T>(
        &self,
        key: &str,
        place: &mut T,
        read: impl FnOnce(&Value<'d>) -> Result<T, Diagnostic>,
    ) -> Result<(), Diagnostic> {
        if let Some(value) = self.get(key) {
            *place = read(&value)?;
        }
        Ok(())
    }

    /// Reads a key that a file must have.
    fn need<T>(
        &self,
        key: &str,
        example: &str,
        place: &mut T,
        read: impl FnOnce(&Value<'d>) -> Result<T, Diagnostic>,
    ) -> Result<(), Diagnostic> {
        match (self.get(key), self.tables.first()) {
            (None, Some(table)) if !self.lenient => Err(table.missing(key, example)),
            _ => self.read(key, place, read),
        }
    }

    fn alpha(&self, example: &str, place: &mut PerQueue<f64>) -> Result<(), Diagnostic> {
        self.need("alpha", example, place, |value| value.per_queue(Value::real))
    }

    fn policy(&self, kind: &str) -> Result<PolicyConfig, Diagnostic> {
        Ok(match kind {
            "cs" => PolicyConfig::CompleteSharing,
            "cp" => PolicyConfig::CompletePartitioning,
            "pushout" => PolicyConfig::Pushout,
            "dt" => {
                let mut config = DynamicThresholdsConfig::default();
                self.alpha("alpha = 1.0", &mut config.alpha)?;
                self.read("reserved", &mut config.reserved, Value::real)?;
                PolicyConfig::DynamicThresholds(config)
            }
            "fb" => {
                let mut config = FlexibleBufferConfig::default();
                self.alpha("alpha = 1.0", &mut config.alpha)?;
                self.read("groups", &mut config.groups, |value| value.groups().map(Some))?;
                self.read("classes", &mut config.classes, |value| {
                    value.word(&[("queue", Classes::Queue), ("packet", Classes::Packet)])
                })?;
                PolicyConfig::FlexibleBuffer(config)
            }
            "fba" => {
                let mut config = FbaConfig::default();
                self.alpha("alpha = 1.0", &mut config.alpha)?;
                self.read("groups", &mut config.groups, |value| value.groups().map(Some))?;
                self.need("interval", "interval = \"1s\"", &mut config.interval, Value::duration)?;
                PolicyConfig::Fba(config)
            }
            "abm" => {
                let mut config = AbmConfig::default();
                self.alpha("alpha = 0.5", &mut config.alpha)?;
                if !self.lenient {
                    config.alpha_unscheduled = None;
                }
                self.read("alpha_unscheduled", &mut config.alpha_unscheduled, |value| value.real().map(Some))?;
                self.need("interval", "interval = \"80us\"", &mut config.interval, Value::duration)?;
                self.read("congested_at", &mut config.congested_at, |value| value.bytes().map(Some))?;
                PolicyConfig::Abm(config)
            }
            "abm-dt" => {
                let mut config = AbmOnDtConfig::default();
                self.alpha("alpha = 0.5", &mut config.alpha)?;
                self.need("interval", "interval = \"8ms\"", &mut config.interval, Value::duration)?;
                PolicyConfig::AbmOnDt(config)
            }
            "fab" => {
                let mut config = FlowAwareConfig::default();
                self.alpha("alpha = 0.5", &mut config.alpha)?;
                self.need("alpha_short", "alpha_short = 1024.0", &mut config.alpha_short, Value::real)?;
                self.need("threshold", "threshold = \"21KB\"", &mut config.threshold, Value::bytes)?;
                self.need("window", "window = \"5ms\"", &mut config.window, Value::duration)?;
                PolicyConfig::FlowAware(config)
            }
            "occamy" => {
                let mut config = OccamyConfig::default();
                self.alpha("alpha = 8.0", &mut config.alpha)?;
                self.read("token_cell", &mut config.token_cell, Value::bytes)?;
                self.read("bucket", &mut config.bucket, Value::integer)?;
                PolicyConfig::Occamy(config)
            }
            _ => {
                let mut config = IntelligentBufferConfig::default();
                self.alpha("alpha = 0.5", &mut config.alpha)?;
                self.read("interval", &mut config.interval, Value::duration)?;
                self.read("reference", &mut config.reference, Value::bytes)?;
                self.read("initial_fair", &mut config.initial_fair, Value::bytes)?;
                self.read("gain_now", &mut config.gain_now, Value::real)?;
                self.read("gain_before", &mut config.gain_before, Value::real)?;
                self.read("scale", &mut config.scale, Value::real)?;
                self.read("afd_from", &mut config.afd_from, Value::bytes)?;
                self.read("accounting", &mut config.accounting, |value| {
                    value.word(&[("flow", Accounting::Flow), ("queue", Accounting::Queue)])
                })?;
                self.read("short_packets", &mut config.short_packets, Value::integer)?;
                self.read("short_window", &mut config.short_window, Value::duration)?;
                self.read("short_queue", &mut config.short_queue, |value| value.number().map(Some))?;
                PolicyConfig::IntelligentBuffer(config)
            }
        })
    }
}

fn kind_words() -> Vec<(&'static str, &'static str)> {
    PolicyConfig::NAMES.iter().map(|name| (*name, *name)).collect()
}

/// Reads the `[policy]` table of a switch file.
pub(crate) fn read(table: &Table<'_>) -> Result<PolicyConfig, Diagnostic> {
    let kind = table.need("kind", "kind = \"dt\"")?.word(&kind_words())?;
    table.allow(keys_of(kind), is_key, kind)?;
    Lookup { tables: vec![table.clone()], lenient: table.is_lenient() }.policy(kind)
}

/// Reads a policy from an argument, `KIND[:KEY=VALUE]...`, such as `dt:alpha=0.5` or `fb:alpha=[2,1]`. What it does not give is
/// taken from the `[policy]` table of a switch file, as far as the policy knows the key, and else from the policy's
/// defaults.
pub fn read_policy(argument: &str, file: Option<&Table<'_>>) -> Result<PolicyConfig, Diagnostic> {
    from_argument(argument, file).map_err(|error| {
        // An argument has no lines.
        let remedy = match error.field.as_str() {
            "" => {
                "write KIND:KEY=VALUE, such as dt:alpha=1, with text in quotes, such as 'abm:interval=\"80us\"'".into()
            }
            _ => error.remedy,
        };
        Diagnostic { line: None, excerpt: None, remedy, ..error }
    })
}

fn from_argument(argument: &str, file: Option<&Table<'_>>) -> Result<PolicyConfig, Diagnostic> {
    let name = format!("policy \"{argument}\"");
    let mut parts = argument.split(':');
    let kind = parts.next().unwrap_or_default();
    let text: String = parts.map(|part| format!("{}\n", part.replacen('=', " = ", 1))).collect();
    let kind_line = format!("kind = \"{}\"", kind.escape_default());
    let kind_document = Document::parse(&name, &kind_line)?;
    let kind = kind_document.root().need("kind", "kind")?.word(&kind_words())?;
    let given = Document::parse(&name, &text)?;
    let root = given.root();
    root.allow(&keys_of(kind)[1..], is_key, kind)?;
    let tables = core::iter::once(root.clone()).chain(file.cloned()).collect();
    Lookup { tables, lenient: true }.policy(kind)
}
