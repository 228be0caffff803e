//! The tables of `docs/switch.md` are made from the settings' own descriptions. With `FOREBAY_WRITE_DOCS=1` this test
//! writes them.

use forebay_settings::setting_text;
use forebay_tm::admit::PolicyConfig;
use forebay_tm::described::{Absent, Choice, Kind, Value};
use forebay_tm::mark::MarkConfig;
use forebay_tm::rank::RankConfig;
use forebay_tm::schedule::SchedulerConfig;
use forebay_tm::trim::TrimConfig;
use std::fmt::Write;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/switch.md");

/// What a setting may be, in a few words.
fn values(kind: Kind) -> String {
    match kind {
        Kind::Real => "number".into(),
        Kind::Integer(_) | Kind::Count => "whole number".into(),
        Kind::Bytes => "size".into(),
        Kind::Duration => "time".into(),
        Kind::Flag => "true, false".into(),
        Kind::Word(words) => words.iter().map(|word| format!("`\"{word}\"`")).collect::<Vec<_>>().join(", "),
        Kind::PerQueue(one) => format!("{}, or a list", values(*one)),
        Kind::Groups => "list of lists".into(),
    }
}

fn shown(value: &Value) -> String {
    if *value == Value::List(Vec::new()) {
        return "needed".into();
    }
    setting_text(value).map_or("none".into(), |text| format!("`{text}`"))
}

/// The kinds of a table of a switch file, then all their settings.
fn tables<C: Choice>() -> String {
    let mut text = "\n| kind | rule |\n|---|---|\n".to_owned();
    let kinds: Vec<C> = C::NAMES.iter().filter_map(|name| C::by_name(name)).collect();
    for kind in &kinds {
        let _ = writeln!(text, "| `{}` | {} |", kind.name(), format!("{} {}", kind.about(), kind.rule()).trim());
    }
    text.push_str("\n| kind | key | values | in a file | by name | meaning |\n|---|---|---|---|---|---|\n");
    for mut kind in kinds {
        let name = kind.name();
        let Some(settings) = kind.settings() else { continue };
        for (number, field) in settings.fields().iter().enumerate() {
            let default = shown(&settings.get(number));
            let needed = || "needed".to_owned();
            let (in_file, default) = match &field.absent {
                Absent::Default => (default.clone(), default),
                Absent::Refused(_) => (needed(), default),
                Absent::NeverRight(_) => (needed(), needed()),
                Absent::Means(value) => (shown(value), default),
            };
            let values = values(field.kind);
            let _ =
                writeln!(text, "| `{name}` | `{}` | {values} | {in_file} | {default} | {} |", field.key, field.about);
        }
    }
    text.push('\n');
    text
}

/// The page with what stands between the marks of a table replaced.
fn with(page: &str, table: &str, text: &str) -> String {
    let mark = format!("<!-- {table}: made by crates/settings/tests/documentation.rs -->\n");
    let (before, after) = page.split_once(&mark).expect("the page has the mark");
    let (_, after) = after.split_once("<!-- end -->").expect("the table ends");
    format!("{before}{mark}{text}<!-- end -->{after}")
}

#[test]
fn the_tables_of_the_page_are_those_of_the_settings() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let mut made = page.clone();
    made = with(&made, "policy", &tables::<PolicyConfig>());
    made = with(&made, "scheduler", &tables::<SchedulerConfig>());
    made = with(&made, "rank", &tables::<RankConfig>());
    made = with(&made, "ecn", &tables::<MarkConfig>());
    made = with(&made, "trim", &tables::<TrimConfig>());
    if std::env::var_os("FOREBAY_WRITE_DOCS").is_some() {
        std::fs::write(PAGE, &made).unwrap();
        return;
    }
    for (is, should) in page.lines().zip(made.lines()) {
        assert_eq!(is, should, "run FOREBAY_WRITE_DOCS=1 cargo test -p forebay-settings --test documentation");
    }
    assert_eq!(page, made);
}
