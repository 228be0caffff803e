//! The `[scale.NAME]` tables: a sweep made smaller.
//!
//! The file itself has the whole experiment; a scale says what it leaves out to be done sooner: fewer seeds, values or
//! variants, or other settings, such as a shorter duration.

use super::sweep::{Given, refuse_given, settings_of};
use forebay_settings::{Diagnostic, Table, Value};

/// What a scale changes.
#[derive(Default)]
pub(super) struct Scale<'d> {
    pub(super) seeds: Option<Value<'d>>,
    pub(super) most_seeds: Option<Value<'d>>,
    /// For all points.
    pub(super) sets: Vec<(String, String)>,
    /// Other values of keys of the sweep's grid.
    pub(super) grid: Vec<(String, Value<'d>)>,
    /// The variants that stay.
    pub(super) variants: Option<Vec<Value<'d>>>,
    /// What someone who reads the results should know.
    pub(super) says: Option<String>,
}

/// Reads one scale. What it sets must not be set by `sets`, too.
pub(super) fn read<'d>(root: &Table<'d>, name: &str, sets: &[(String, String)]) -> Result<Scale<'d>, Diagnostic> {
    let scales = root.table("scale")?;
    let table = scales.as_ref().map(|scales| scales.table(name)).transpose()?.flatten();
    let Some(table) = table else {
        return Err(Diagnostic {
            problem: format!("there is no [scale.{name}]"),
            remedy: format!("add a table [scale.{name}] with seeds, set, grid or variants, or leave the scale out"),
            ..root.missing("scale", "")
        });
    };
    table.allow(&["seeds", "most_seeds", "set", "grid", "variants", "says"], |_| false, "")?;
    let given = |key: &str| -> Result<Vec<Given<'d>>, Diagnostic> {
        let mut given = Vec::new();
        if let Some(inner) = table.table(key)? {
            settings_of(&inner, "", "", &mut given)?;
        }
        for own in &given {
            refuse_given(&own.key, &own.value, sets)?;
        }
        Ok(given)
    };
    let variants = match table.get("variants") {
        Some(value) => Some(value.list().filter(|names| !names.is_empty()).ok_or_else(|| {
            value.error("this is not a list of variants", "name those that stay, such as [\"DT\", \"ABM\"]")
        })?),
        None => None,
    };
    Ok(Scale {
        seeds: table.get("seeds"),
        most_seeds: table.get("most_seeds"),
        sets: given("set")?.iter().map(|own| (own.key.clone(), own.value.to_argument())).collect(),
        grid: given("grid")?.into_iter().map(|own| (own.key, own.value)).collect(),
        variants,
        says: table.get("says").map(|value| value.text().map(str::to_owned)).transpose()?,
    })
}
