//! Tables of documents that are made from the settings' own descriptions.

use crate::described::{text, values};
use forebay_tm::described::{Absent, Described, Field, Value};
use std::path::Path;

/// A row of a table.
pub fn row(out: &mut String, cells: &[&str]) {
    out.push_str(&format!("| {} |\n", cells.join(" | ")));
}

/// The head of a table.
pub fn head(out: &mut String, cells: &[&str]) {
    out.push('\n');
    row(out, cells);
    out.push_str(&format!("|{}\n", "---|".repeat(cells.len())));
}

/// A value as tables show it.
pub fn shown(value: &Value) -> String {
    text(value).map_or("none".to_owned(), |text| format!("`{text}`"))
}

/// What holds if a file does not have a setting.
fn otherwise(field: &Field, settings: &dyn Described, number: usize) -> String {
    match &field.absent {
        Absent::Refused(_) | Absent::NeverRight(_) => "needed".to_owned(),
        Absent::Like(key) => format!("that of `{key}`"),
        Absent::Means(value) => shown(value),
        Absent::Default => shown(&settings.get(number)),
    }
}

/// A row for each setting, with its key, values, default and sentence; `more` stands in front of each.
pub fn rows(out: &mut String, more: &[&str], settings: &dyn Described) {
    for (number, field) in settings.fields().iter().enumerate() {
        let (key, values, otherwise) =
            (format!("`{}`", field.key), values(field.kind), otherwise(field, settings, number));
        row(out, &[more, &[&key, &values, &otherwise, field.about]].concat());
    }
}

/// The page with what stands between the marks of a table replaced.
fn with(page: &str, table: &str, by: &str, text: &str) -> String {
    let mark = format!("<!-- {table}: made by {by} -->\n");
    let (before, after) = page.split_once(&mark).unwrap_or_else(|| panic!("the page has no {mark}"));
    let (_, after) = after.split_once("<!-- end -->").expect("the table ends");
    format!("{before}{mark}{text}\n<!-- end -->{after}")
}

/// Checks that a page has these tables between its marks. With `FOREBAY_WRITE_DOCS=1` it writes them. `by` is the file
/// that makes them, `command` what writes them.
///
/// # Panics
///
/// If the page has others, or cannot be read.
pub fn check_page(page: &Path, by: &str, command: &str, tables: &[(&str, String)]) {
    let is = std::fs::read_to_string(page).expect("the page can be read");
    let made = tables.iter().fold(is.clone(), |page, (table, text)| with(&page, table, by, text));
    if std::env::var_os("FOREBAY_WRITE_DOCS").is_some() {
        std::fs::write(page, &made).expect("the page can be written");
        return;
    }
    for (is, should) in is.lines().zip(made.lines()) {
        assert_eq!(is, should, "run FOREBAY_WRITE_DOCS=1 {command}");
    }
    assert_eq!(is, made);
}
