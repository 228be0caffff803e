//! The tables of `docs/switch.md` are made from the settings' own descriptions. With `FOREBAY_WRITE_DOCS=1` this test
//! writes them.

use forebay_settings::documentation::{check_page, head, row, rows, shown};
use forebay_settings::{GroupKeys, IngressKeys, PoolKeys, PortKeys, setting_values};
use forebay_tm::admit::PolicyConfig;
use forebay_tm::described::{Absent, Choice, Described, Value};
use forebay_tm::mark::MarkConfig;
use forebay_tm::rank::RankConfig;
use forebay_tm::schedule::SchedulerConfig;
use forebay_tm::trim::TrimConfig;
use std::path::Path;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/switch.md");

/// The kinds of a table of a switch file, then all their settings.
fn tables<C: Choice>() -> String {
    let mut text = String::new();
    head(&mut text, &["kind", "rule"]);
    let kinds: Vec<C> = C::NAMES.iter().filter_map(|name| C::by_name(name)).collect();
    for kind in &kinds {
        row(&mut text, &[&format!("`{}`", kind.name()), format!("{} {}", kind.about(), kind.rule()).trim()]);
    }
    head(&mut text, &["kind", "key", "values", "in a file", "by name", "meaning"]);
    for mut kind in kinds {
        let name = format!("`{}`", kind.name());
        let Some(settings) = kind.settings() else { continue };
        for (number, field) in settings.fields().iter().enumerate() {
            let needed = || "needed".to_owned();
            let default = settings.get(number);
            // There is no list of nothing.
            let default = if default == Value::List(Vec::new()) { needed() } else { shown(&default) };
            let (in_file, default) = match &field.absent {
                Absent::Default => (default.clone(), default),
                Absent::Refused(_) => (needed(), default),
                Absent::NeverRight(_) => (needed(), needed()),
                Absent::Means(value) => (shown(value), default),
                Absent::Like(key) => (format!("that of `{key}`"), default),
            };
            let (key, values) = (format!("`{}`", field.key), setting_values(field.kind));
            row(&mut text, &[&name, &key, &values, &in_file, &default, field.about]);
        }
    }
    text
}

/// The settings of the tables of the ingress side.
fn ingress() -> String {
    let tables: [(&str, &dyn Described); 4] = [
        ("`[ingress]`", &IngressKeys::default()),
        ("`[[ingress.pool]]`", &PoolKeys::default()),
        ("`[[ingress.port]]`", &PortKeys::default()),
        ("`[[ingress.group]]`", &GroupKeys::default()),
    ];
    let mut text = String::new();
    head(&mut text, &["table", "key", "values", "default", "meaning"]);
    for (name, settings) in tables {
        rows(&mut text, &[name], settings);
    }
    text
}

#[test]
fn the_tables_of_the_page_are_those_of_the_settings() {
    let tables = [
        ("policy", tables::<PolicyConfig>()),
        ("scheduler", tables::<SchedulerConfig>()),
        ("rank", tables::<RankConfig>()),
        ("ecn", tables::<MarkConfig>()),
        ("trim", tables::<TrimConfig>()),
        ("ingress", ingress()),
    ];
    let command = "cargo test -p forebay-settings --test documentation";
    check_page(Path::new(PAGE), "crates/settings/tests/documentation.rs", command, &tables);
}
