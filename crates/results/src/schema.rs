//! What there is in the tables of a run: the one description that `docs/results.md` is made from and that tests hold
//! the tables to.

mod tables;

pub use tables::TABLES;

use crate::table::{Column, Data, Table};
use std::fmt::Write as _;

/// Changes when a column is renamed, is gone or means something else. Every Parquet file has it among its metadata, as
/// [`KEY`]. 1: until November 2026, without a number. 2: a table for each level of buffers, units in the names of
/// columns. 3: `timeout_ps` of `breakdown` is without tail loss probes.
pub const VERSION: u64 = 3;
/// The key of the version in the metadata of Parquet files.
pub const KEY: &str = "forebay.schema";

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// 64-bit whole numbers.
    Int,
    /// Doubles.
    Float,
    /// UTF-8 texts.
    Text,
    /// Yes or no.
    Bool,
}

impl Kind {
    fn of(column: &Column) -> Self {
        match column.data() {
            Data::Int64(_) => Self::Int,
            Data::Float64(_) => Self::Float,
            Data::Text(_) => Self::Text,
            Data::Bool(_) => Self::Bool,
        }
    }
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub struct ColumnSchema {
    /// Its name. It ends in the unit, if it has one that is not clear.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// Whether values may be absent.
    pub optional: bool,
    /// What it means.
    pub meaning: &'static str,
}

/// A table.
#[derive(Clone, Copy, Debug)]
pub struct TableSchema {
    /// The name of its file, without the ending.
    pub name: &'static str,
    /// What has a row.
    pub rows: &'static str,
    /// Its columns, in order.
    pub columns: &'static [ColumnSchema],
}

/// A column whose every row has a value.
const fn column(name: &'static str, kind: Kind, meaning: &'static str) -> ColumnSchema {
    ColumnSchema { name, kind, optional: false, meaning }
}

/// A column whose values may be absent.
const fn optional(name: &'static str, kind: Kind, meaning: &'static str) -> ColumnSchema {
    ColumnSchema { name, kind, optional: true, meaning }
}

impl ColumnSchema {
    /// How a column of a table differs from this, if it does.
    fn difference(&self, found: &Column) -> Option<String> {
        let kind = Kind::of(found);
        let same = found.name() == self.name && kind == self.kind && found.is_optional() == self.optional;
        (!same).then(|| {
            let (name, optional) = (found.name(), found.is_optional());
            format!("{name} ({kind:?}, optional: {optional}) instead of {self:?}")
        })
    }
}

impl TableSchema {
    /// A column that a table does not have, or has with values of another kind.
    pub fn missing(&self, table: &Table) -> Option<&'static str> {
        let has = |known: &ColumnSchema| table.column(known.name).is_some_and(|found| Kind::of(found) == known.kind);
        self.columns.iter().find(|known| !has(known)).map(|known| known.name)
    }

    /// How a table differs from its description, if it does.
    pub fn difference(&self, table: &Table) -> Option<String> {
        let found = table.columns();
        let differences = self.columns.iter().zip(found).find_map(|(known, found)| known.difference(found));
        differences.or_else(|| {
            let counts = (found.len(), self.columns.len());
            (counts.0 != counts.1).then(|| format!("{} columns instead of {}", counts.0, counts.1))
        })
    }
}

/// The tables as Markdown, one section for each.
pub fn markdown() -> String {
    let mut text = String::new();
    for table in TABLES {
        let _ = write!(text, "### `{}`\n\n{}\n\n| column | type | meaning |\n|---|---|---|\n", table.name, table.rows);
        for ColumnSchema { name, kind, optional, meaning } in table.columns {
            let kind = match kind {
                Kind::Int => "int64",
                Kind::Float => "double",
                Kind::Text => "text",
                Kind::Bool => "bool",
            };
            let kind = if *optional { format!("{kind} or null") } else { kind.to_owned() };
            let _ = writeln!(text, "| `{name}` | {kind} | {meaning} |");
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{directory, testing};

    #[test]
    fn every_table_is_as_described() {
        let (scenario, result) = testing::busy(8, 1);
        for schema in TABLES {
            let table = directory::table(schema.name, &scenario, &result).unwrap();
            assert_eq!(schema.difference(&table), None, "{}", schema.name);
        }
        let described = TABLES.iter().flat_map(|table| ["parquet", "csv"].map(|end| format!("{}.{end}", table.name)));
        let written: Vec<String> = directory::file_names().collect();
        for name in described {
            assert!(written.contains(&name), "{name}");
        }
        assert_eq!(written.len(), 2 * TABLES.len() + 2, "and nothing else but the scenario and the summary");
    }

    /// With `FOREBAY_WRITE_DOCS=1` this test writes the page.
    #[test]
    fn the_page_says_what_the_description_says() {
        const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/results.md");
        const MARKS: [&str; 2] = ["<!-- made from crates/results/src/schema -->\n", "<!-- end -->\n"];
        let page = std::fs::read_to_string(PAGE).unwrap();
        let (before, rest) = page.split_once(MARKS[0]).expect("the page has a place for the tables");
        let (_, after) = rest.split_once(MARKS[1]).expect("which ends");
        let made = format!("{before}{}\nSchema version {VERSION}.\n\n{}{}{after}", MARKS[0], markdown(), MARKS[1]);
        if std::env::var_os("FOREBAY_WRITE_DOCS").is_some() {
            std::fs::write(PAGE, &made).unwrap();
        }
        assert!(made == std::fs::read_to_string(PAGE).unwrap(), "run this test with FOREBAY_WRITE_DOCS=1");
    }
}
