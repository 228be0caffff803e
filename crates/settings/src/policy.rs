//! The `[policy]` table.

use crate::described::{Lookup, allow, is_key, keys, words};
use crate::diagnostic::Diagnostic;
use crate::table::{Document, Table};
use forebay_tm::admit::PolicyConfig;

/// Reads the `[policy]` table of a switch file.
pub(crate) fn read(table: &Table<'_>) -> Result<PolicyConfig, Diagnostic> {
    let kind = table.need("kind", "kind = \"dt\"")?.word(&words::<PolicyConfig>(&[]))?;
    allow::<PolicyConfig>(table, kind, &[], &[])?;
    Lookup::of(table).choice(kind)
}

/// Reads a policy from an argument, `KIND[:KEY=VALUE]...`, such as `dt:alpha=0.5` or `fb:alpha=[2,1]`. What it does not
/// give is taken from the `[policy]` table of a switch file, as far as the policy knows the key, and else from the
/// policy's defaults.
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
    let kind = kind_document.root().need("kind", "kind")?.word(&words::<PolicyConfig>(&[]))?;
    let given = Document::parse(&name, &text)?;
    let root = given.root();
    root.allow(&keys::<PolicyConfig>(kind), is_key::<PolicyConfig>, kind)?;
    let tables = core::iter::once(root.clone()).chain(file.cloned()).collect();
    Lookup { tables, lenient: true }.choice(kind)
}
