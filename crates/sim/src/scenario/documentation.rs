//! The tables of `docs/scenario.md` are made from the settings' own descriptions. With `FOREBAY_WRITE_DOCS=1` this test writes them.

use crate::described::{Absent, Described, Field};
use crate::topology;
use crate::transport::linux::LinuxConfig;
use crate::transport::{Common, Stack, TransportConfig, TransportKind};
use crate::workload;
use std::fmt::Write;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scenario.md");

/// What holds if a file does not have a setting.
fn default_of(field: &Field, settings: &dyn Described, number: usize) -> String {
    match field.absent {
        Absent::Needed => "needed".to_owned(),
        Absent::Else(key) => format!("that of `{key}`"),
        Absent::Default => settings.text(number).map_or("none".to_owned(), |text| format!("`{text}`")),
    }
}

fn row(out: &mut String, cells: &[&str]) {
    let _ = writeln!(out, "| {} |", cells.join(" | "));
}

fn head(out: &mut String, cells: &[&str]) {
    out.push('\n');
    row(out, cells);
    let _ = writeln!(out, "|{}", "---|".repeat(cells.len()));
}

/// A row for each setting; `more` stands in front of each.
fn settings(out: &mut String, more: &[&str], settings: &dyn Described) {
    for (number, field) in settings.fields().iter().enumerate() {
        let (key, default) = (format!("`{}`", field.key), default_of(field, settings, number));
        row(out, &[more, &[&key, field.values, &default, field.about]].concat());
    }
}

fn topologies() -> String {
    let mut out = String::new();
    head(&mut out, &["kind", "what it is"]);
    for kind in topology::kinds() {
        row(&mut out, &[&format!("`{}`", kind.name), kind.about]);
    }
    head(&mut out, &["kind", "key", "values", "default", "meaning"]);
    for kind in topology::kinds() {
        settings(&mut out, &[&format!("`{}`", kind.name)], &*kind.settings());
    }
    out
}

/// The common settings, each with the kinds that look at it.
fn common_settings() -> String {
    let kinds: Vec<TransportKind> = TransportKind::NAMES.iter().filter_map(|name| TransportKind::named(name)).collect();
    let mut out = String::new();
    head(&mut out, &["key", "values", "default", "of", "meaning"]);
    for (number, field) in Common::FIELDS.iter().enumerate() {
        let looks =
            |kind: &&TransportKind| Stack::NAMES.iter().any(|(_, stack)| kind.common_keys(*stack).contains(&field.key));
        let of: Vec<String> = kinds.iter().filter(looks).map(|kind| format!("`{}`", kind.name())).collect();
        let of = if of.len() == kinds.len() { "all".to_owned() } else { of.join(", ") };
        // The stack is that of the scenario.
        let default = if field.key == "stack" { "that of the scenario".to_owned() } else { defaults(number, &kinds) };
        row(&mut out, &[&format!("`{}`", field.key), field.values, &default, &of, field.about]);
    }
    out
}

/// The default of a common setting, and of those kinds and stacks that have another.
fn defaults(field: usize, kinds: &[TransportKind]) -> String {
    let key = Common::FIELDS[field].key;
    let shown = |common: &Common| common.text(field).map_or("none".to_owned(), |text| format!("`{text}`"));
    let mut groups: Vec<(String, Vec<String>)> = vec![(shown(&Common::default()), Vec::new())];
    for kind in kinds {
        for (name, stack) in Stack::NAMES {
            let has_stack = kind.settings().has_stack();
            if !kind.common_keys(*stack).contains(&key) || (!has_stack && *stack != Stack::Rfc) {
                continue;
            }
            let default = shown(&TransportConfig::of(kind.clone(), *stack).common);
            let whose = if has_stack { format!("stack `{name}`") } else { format!("`{}`", kind.name()) };
            let whose = if key == "ecn" { format!("`{}`", kind.name()) } else { whose };
            match groups.iter_mut().find(|(known, _)| *known == default) {
                Some((_, those)) if !those.contains(&whose) => those.push(whose),
                Some(_) => {}
                None => groups.push((default, vec![whose])),
            }
        }
    }
    let mut text = groups[0].0.clone();
    for (default, whose) in &groups[1..] {
        let _ = write!(text, "; {}: {default}", whose.join(", "));
    }
    text
}

fn own_settings() -> String {
    let mut out = String::new();
    head(&mut out, &["kind", "what it is"]);
    let kinds: Vec<TransportKind> = TransportKind::NAMES.iter().filter_map(|name| TransportKind::named(name)).collect();
    for kind in &kinds {
        row(&mut out, &[&format!("`{}`", kind.name()), kind.about()]);
    }
    head(&mut out, &["kind", "key", "values", "default", "meaning"]);
    for kind in &kinds {
        settings(&mut out, &[&format!("`{}`", kind.name())], kind.settings());
    }
    out
}

fn linux_settings() -> String {
    let mut out = String::new();
    head(&mut out, &["key", "values", "default", "meaning"]);
    settings(&mut out, &[], &LinuxConfig::default());
    out
}

fn workloads() -> String {
    let mut out = String::new();
    let needs = |field: &Field| if field.absent == Absent::Needed { "needed" } else { "" };
    head(&mut out, &["key of all", "values", "", "meaning"]);
    for field in workload::COMMON {
        row(&mut out, &[&format!("`{}`", field.key), field.values, needs(&field), field.about]);
    }
    head(&mut out, &["kind", "what it is"]);
    for entry in workload::entries() {
        row(&mut out, &[&format!("`{}`", entry.name), entry.about]);
    }
    head(&mut out, &["kind", "key", "values", "", "meaning"]);
    for entry in workload::entries() {
        for field in entry.fields {
            let (name, key) = (format!("`{}`", entry.name), format!("`{}`", field.key));
            row(&mut out, &[&name, &key, field.values, needs(field), field.about]);
        }
    }
    out
}

/// The page with what stands between the marks of a table replaced.
fn with(page: &str, table: &str, text: &str) -> String {
    let mark = format!("<!-- {table}: made by crates/sim/src/scenario/documentation.rs -->\n");
    let (before, after) = page.split_once(&mark).unwrap_or_else(|| panic!("the page has no {mark}"));
    let (_, after) = after.split_once("<!-- end -->").expect("the table ends");
    format!("{before}{mark}{text}\n<!-- end -->{after}")
}

#[test]
fn the_tables_of_the_page_are_those_of_the_settings() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let tables = [
        ("topology", topologies()),
        ("transport", common_settings()),
        ("linux", linux_settings()),
        ("own", own_settings()),
        ("workload", workloads()),
    ];
    let made = tables.iter().fold(page.clone(), |page, (table, text)| with(&page, table, text));
    if std::env::var_os("FOREBAY_WRITE_DOCS").is_some() {
        std::fs::write(PAGE, &made).unwrap();
        return;
    }
    for (is, should) in page.lines().zip(made.lines()) {
        assert_eq!(is, should, "run FOREBAY_WRITE_DOCS=1 cargo test -p forebay-sim --lib documentation");
    }
    assert_eq!(page, made);
}
