//! A whole switch file.

use crate::described::{Lookup, allow, words};
use crate::diagnostic::Diagnostic;
use crate::ingress::{self, IngressFile};
use crate::registered::Registered;
use crate::table::{Document, Table, Value};
use crate::{policy, scheduler};
use forebay_tm::admit::PolicyConfig;
use forebay_tm::mark::MarkConfig;
use forebay_tm::rank::RankConfig;
use forebay_tm::schedule::SchedulerConfig;
use forebay_tm::trim::TrimConfig;
use forebay_tm::{Bytes, MmuConfig, Rate, TmConfig, ValidConfig};

/// The keys of a switch file that describes the egress side alone.
fn top_keys() -> Vec<&'static str> {
    ["ports", "rate"].into_iter().chain(config_keys()).collect()
}

/// A switch file that has been read.
pub struct SwitchFile<'a> {
    document: Document<'a>,
}

impl<'a> SwitchFile<'a> {
    /// Parses the text of a file; `file` is what errors call it.
    pub fn parse(file: &'a str, text: &'a str) -> Result<Self, Diagnostic> {
        if text.trim().is_empty() {
            return Err(Diagnostic {
                line: Some(1),
                ..Diagnostic::of_file(
                    file,
                    "the file is empty",
                    "describe a switch: ports, rate, buffer and a [policy] table",
                )
            });
        }
        Ok(Self { document: Document::parse(file, text)? })
    }

    /// The switch it describes, for those who know the egress side alone.
    pub fn switch(&self) -> Result<ValidConfig, Diagnostic> {
        let root = self.document.root();
        if root.has("ingress") {
            let remedy = "remove the tables [ingress...], or use forebay replay";
            return Err(root.key_error("ingress", "only replays and scenarios have an ingress side yet", remedy));
        }
        root.allow(&top_keys(), |_| false, "")?;
        self.validate(read_config(&root, rates(&root)?)?)
    }

    /// The switch it describes, and the ingress side if there is one.
    pub fn sides(&self) -> Result<(ValidConfig, Option<IngressFile>), Diagnostic> {
        let root = self.document.root();
        let keys: Vec<&str> = top_keys().into_iter().chain(["ingress"]).collect();
        root.allow(&keys, |_| false, "")?;
        let switch = self.validate(read_config(&root, rates(&root)?)?)?;
        let ingress = root.table("ingress")?.map(|table| ingress::read(&table, &switch)).transpose()?;
        if let Some(file) = &ingress {
            let config = MmuConfig { switch: (*switch).clone(), ingress: file.config.clone() };
            config.validate().map_err(|error| self.document.locate(&error))?;
        }
        Ok((switch, ingress))
    }

    /// Checks a configuration made from this file; errors point into it.
    pub fn validate(&self, config: TmConfig) -> Result<ValidConfig, Diagnostic> {
        config.validate().map_err(|error| self.document.locate(&error))
    }

    /// Its `[policy]` table.
    pub fn policy(&self) -> Result<Option<Table<'_>>, Diagnostic> {
        self.document.root().table("policy")
    }
}

/// Reads a switch file.
pub fn read_switch(file: &str, text: &str) -> Result<ValidConfig, Diagnostic> {
    SwitchFile::parse(file, text)?.switch()
}

/// The keys of a switch file that stand for what [`read_config`] reads.
pub fn config_keys() -> impl Iterator<Item = &'static str> {
    TmConfig::FIELDS.iter().map(|field| field.key).chain(["policy", "scheduler", "ecn", "trim"])
}

/// Reads the switch that a table describes, but for the rates of its ports, which are given.
pub fn read_config(root: &Table<'_>, rates: Vec<Rate>) -> Result<TmConfig, Diagnostic> {
    let mut config = TmConfig::new(rates, Bytes::ZERO);
    Lookup::of(root).read(&mut config)?;
    let tables = read_switch_tables(root)?;
    config.policy = tables.policy.ok_or_else(|| Diagnostic {
        problem: "this table is missing".into(),
        remedy: "add the lines [policy], kind = \"dt\" and alpha = 1.0 below the keys that stand in no table".into(),
        ..root.missing("policy", "")
    })?;
    if let Some((scheduler, rank)) = tables.scheduler {
        (config.scheduler, config.rank) = (scheduler, rank);
    }
    config.mark = tables.mark.flatten();
    config.trim = tables.trim.flatten();
    Ok(config)
}

/// The tables that a switch file and a scenario share, as far as they are there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SwitchTables {
    /// `[policy]`.
    pub policy: Option<PolicyConfig>,
    /// `[scheduler]`.
    pub scheduler: Option<(SchedulerConfig, RankConfig)>,
    /// `[ecn]`; `Some(None)`: `kind = "none"`.
    pub mark: Option<Option<MarkConfig>>,
    /// `[trim]`; `Some(None)`: `kind = "none"`.
    pub trim: Option<Option<TrimConfig>>,
}

/// Reads the tables `[policy]`, `[scheduler]`, `[ecn]` and `[trim]` of a table.
pub fn read_switch_tables(table: &Table<'_>) -> Result<SwitchTables, Diagnostic> {
    Ok(SwitchTables {
        policy: table.table("policy")?.map(|table| policy::read(&table)).transpose()?,
        scheduler: table.table("scheduler")?.map(|table| scheduler::read(&table)).transpose()?,
        mark: table.table("ecn")?.map(|table| ecn(&table)).transpose()?,
        trim: table.table("trim")?.map(|table| trim(&table)).transpose()?,
    })
}

/// `ports` is a number, with `rate` for all, or a list of rates.
fn rates(root: &Table<'_>) -> Result<Vec<Rate>, Diagnostic> {
    const MOST: u64 = 1 << 20;
    let ports = root.need("ports", "ports = 8")?;
    if let Some(rates) = ports.list() {
        if let Some(rate) = root.get("rate") {
            return Err(
                rate.error("the rates stand in the list of ports already", "remove rate, or give ports as a number")
            );
        }
        return rates.iter().map(Value::rate).collect();
    }
    let count = ports.integer()?;
    if count > MOST {
        return Err(ports.error(format!("{count} ports are too many"), format!("give 1 to {MOST}")));
    }
    let rate = root.need("rate", "rate = \"100Gbps\"")?.rate()?;
    Ok(vec![rate; count as usize])
}

/// A table whose kind may also be "none".
fn optional<C: Registered>(table: &Table<'_>, kind: &str) -> Result<Option<C>, Diagnostic> {
    allow::<C>(table, kind, &[], &[])?;
    if kind == NONE { Ok(None) } else { Lookup::of(table).choice(kind).map(Some) }
}

/// The kind that is none.
pub(crate) const NONE: &str = "none";

fn ecn(table: &Table<'_>) -> Result<Option<MarkConfig>, Diagnostic> {
    optional(table, table.need("kind", "kind = \"step\"")?.word(&words::<MarkConfig>(&[NONE]))?)
}

fn trim(table: &Table<'_>) -> Result<Option<TrimConfig>, Diagnostic> {
    optional(table, table.get("kind").map_or(Ok("ndp"), |value| value.word(&words::<TrimConfig>(&[NONE])))?)
}
