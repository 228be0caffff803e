//! The `[topology]` table.

use crate::network::NetworkPlan;
use crate::topology::{TopologyKind, TopologySettings, kinds, planned};
use forebay_settings::{Diagnostic, Table, read_settings, setting_keys, setting_lines};

/// The keys of a topology, with `kind`.
pub(super) fn keys_of(kind: TopologyKind) -> Vec<&'static str> {
    let settings = kind.settings();
    let keys = setting_keys(settings.fields());
    ["kind"].into_iter().chain(keys).chain(settings.tables().iter().copied()).collect()
}

/// A topology as it was read.
pub(super) struct Topology {
    kind: TopologyKind,
    settings: Box<dyn TopologySettings>,
}

impl Topology {
    /// As TOML that reads back to the same.
    pub(super) fn to_toml(&self) -> String {
        let (lines, tables) = (setting_lines(&*self.settings), self.settings.write_tables());
        format!("kind = \"{}\"\n{lines}{tables}", self.kind.name)
    }
}

/// Reads the table, and makes the network.
pub(super) fn read(root: &Table<'_>) -> Result<(Topology, NetworkPlan), Diagnostic> {
    let Some(table) = root.table("topology")? else {
        return Err(Diagnostic {
            problem: "this table is missing".into(),
            remedy: "add the line [topology], and below it kind = \"leaf-spine\" and its keys".into(),
            ..root.missing("topology", "")
        });
    };
    let kinds = kinds();
    let words: Vec<(&str, TopologyKind)> = kinds.iter().map(|kind| (kind.name, *kind)).collect();
    let kind = table.need("kind", "kind = \"leaf-spine\"")?.word(&words)?;
    let elsewhere = |key: &str| kinds.iter().any(|kind| keys_of(*kind).contains(&key));
    table.allow(&keys_of(kind), elsewhere, kind.name)?;
    let mut settings = kind.settings();
    read_settings(&table, &mut *settings)?;
    settings.read_tables(&table)?;
    let plan = planned(&*settings).map_err(|error| match error.key.as_str() {
        "" => table.error(error.problem, error.remedy),
        key => table.locate(key, error.problem, error.remedy),
    })?;
    Ok((Topology { kind, settings }, plan))
}
