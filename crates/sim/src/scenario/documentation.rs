//! The tables of `docs/scenario.md`, and that of options in `docs/pipelines.md`, are made from the settings' own
//! descriptions. With `FOREBAY_WRITE_DOCS=1` this test writes them.

use super::measure::MeasureKeys;
use super::nic::FifoKeys;
use super::pfc::PfcKeys;
use super::read::{RoutingKeys, TopKeys};
use super::read_program;
use super::switches::SwitchKeys;
use super::{ChipKind, ChipSetup, FqSetup, Handoff, MirrorSetup};
use crate::topology;
use crate::transport::linux::LinuxConfig;
use crate::transport::{Common, Stack, TransportConfig, TransportKind};
use crate::workload;
use forebay_pisa::programs::{ProgramConfig, SpPifoProgram};
use forebay_settings::documentation::{check_page, head, row, rows, shown};
use forebay_settings::setting_values;
use forebay_tm::described::{Absent, Choice, Described, Field};
use std::fmt::Write;
use std::path::Path;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scenario.md");

const PROGRAMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/pipelines.md");

fn check(page: &str, tables: &[(&str, String)]) {
    let command = "cargo test -p forebay-sim --lib documentation";
    check_page(Path::new(page), "crates/sim/src/scenario/documentation.rs", command, tables);
}

fn topologies() -> String {
    let mut out = String::new();
    head(&mut out, &["kind", "what it is"]);
    for kind in topology::kinds() {
        row(&mut out, &[&format!("`{}`", kind.name), kind.about]);
    }
    head(&mut out, &["kind", "key", "values", "default", "meaning"]);
    for kind in topology::kinds() {
        rows(&mut out, &[&format!("`{}`", kind.name)], &*kind.settings());
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
            |kind: &&TransportKind| Stack::WORDS.iter().any(|(_, stack)| kind.common_keys(*stack).contains(&field.key));
        let of: Vec<String> = kinds.iter().filter(looks).map(|kind| format!("`{}`", kind.name())).collect();
        let of = if of.len() == kinds.len() { "all".to_owned() } else { of.join(", ") };
        // The stack is that of the scenario.
        let default = if field.key == "stack" { "that of the scenario".to_owned() } else { defaults(number, &kinds) };
        row(&mut out, &[&format!("`{}`", field.key), &setting_values(field.kind), &default, &of, field.about]);
    }
    out
}

/// The default of a common setting, and of those kinds and stacks that have another.
fn defaults(field: usize, kinds: &[TransportKind]) -> String {
    let key = Common::FIELDS[field].key;
    let shown = |common: &Common| shown(&common.get(field));
    let mut groups: Vec<(String, Vec<String>)> = vec![(shown(&Common::default()), Vec::new())];
    for kind in kinds {
        for (name, stack) in Stack::WORDS {
            let has_stack = kind.has_stack();
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
        rows(&mut out, &[&format!("`{}`", kind.name())], kind.settings());
    }
    out
}

/// The settings of one table.
fn table(settings: &dyn Described) -> String {
    let mut out = String::new();
    head(&mut out, &["key", "values", "default", "meaning"]);
    rows(&mut out, &[], settings);
    out
}

fn nic() -> String {
    let mut out = String::new();
    head(&mut out, &["kind", "key", "values", "default", "meaning"]);
    let handoff = Handoff::of(1_500);
    for (kind, own) in [("`fq`", &FqSetup::default() as &dyn Described), ("`fifo`", &FifoKeys::default())] {
        rows(&mut out, &[kind], own);
        rows(&mut out, &[kind], &handoff);
    }
    out
}

fn chip() -> String {
    table(&ChipSetup::new(ChipKind::Tofino2, ProgramConfig::SpPifo(SpPifoProgram)))
}

/// The options of the programs of chips.
fn options() -> String {
    let mut out = String::new();
    head(&mut out, &["program", "key", "values", "default", "meaning"]);
    for mut program in read_program::programs() {
        let name = format!("`{}`", program.name());
        if let Some(settings) = program.settings() {
            rows(&mut out, &[&name], settings);
        }
    }
    out
}

fn workloads() -> String {
    let mut out = String::new();
    let needs = |field: &Field| if matches!(field.absent, Absent::NeverRight(_)) { "needed" } else { "" };
    head(&mut out, &["key of all", "values", "", "meaning"]);
    for field in workload::COMMON {
        row(&mut out, &[&format!("`{}`", field.key), &setting_values(field.kind), needs(field), field.about]);
    }
    head(&mut out, &["kind", "what it is"]);
    for entry in workload::entries() {
        row(&mut out, &[&format!("`{}`", entry.name), entry.about]);
    }
    head(&mut out, &["kind", "key", "values", "", "meaning"]);
    for entry in workload::entries() {
        for field in entry.fields() {
            let (name, key) = (format!("`{}`", entry.name), format!("`{}`", field.key));
            row(&mut out, &[&name, &key, &setting_values(field.kind), needs(field), field.about]);
        }
    }
    out
}

#[test]
fn the_tables_of_the_page_are_those_of_the_settings() {
    let tables = [
        ("topology", topologies()),
        ("transport", common_settings()),
        ("linux", table(&LinuxConfig::default())),
        ("top", table(&TopKeys::default())),
        ("routing", table(&RoutingKeys::default())),
        ("switch", table(&SwitchKeys::default())),
        ("mirror", table(&MirrorSetup::default())),
        ("chip", chip()),
        ("pfc", table(&PfcKeys::default())),
        ("nic", nic()),
        ("measure", table(&MeasureKeys::default())),
        ("own", own_settings()),
        ("workload", workloads()),
    ];
    check(PAGE, &tables);
    check(PROGRAMS, &[("options", options())]);
}
