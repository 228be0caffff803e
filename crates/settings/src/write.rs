//! Settings as TOML that reads back to the same settings.

use crate::described::lines;
use crate::scheduler;
use crate::switch::{NONE, SwitchTables};
use toml::de::DeValue;

/// A text in quotes, as TOML has it.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// A key, in quotes if it needs them.
fn key(key: &str) -> String {
    let is_bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if is_bare { key.to_owned() } else { quoted(key) }
}

/// A value on one line.
pub(crate) fn value(found: &DeValue<'_>) -> String {
    match found {
        DeValue::String(text) => quoted(text),
        // With the prefix of its base.
        DeValue::Integer(integer) => integer.to_string(),
        DeValue::Float(float) => float.to_string(),
        DeValue::Boolean(boolean) => boolean.to_string(),
        DeValue::Datetime(time) => time.to_string(),
        DeValue::Array(list) => {
            let values: Vec<String> = list.iter().map(|element| value(element.get_ref())).collect();
            format!("[{}]", values.join(", "))
        }
        DeValue::Table(table) => {
            let pair = |(name, inner): (&toml::Spanned<_>, &toml::Spanned<_>)| {
                let name: &std::borrow::Cow<'_, str> = name.get_ref();
                format!("{} = {}", key(name), value(inner.get_ref()))
            };
            let pairs: Vec<String> = table.iter().map(pair).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
    }
}

/// A key and its value.
pub(crate) fn line(name: &str, found: &DeValue<'_>) -> String {
    format!("{} = {}\n", key(name), value(found))
}

/// Writes the tables `[policy]`, `[scheduler]`, `[ecn]` and `[trim]`, as far as they are there. Their names follow
/// `prefix`, such as "tier.leaf.".
pub fn write_switch_tables(prefix: &str, tables: &SwitchTables, out: &mut String) {
    let none = || format!("kind = \"{NONE}\"\n");
    if let Some(policy) = &tables.policy {
        out.push_str(&format!("\n[{prefix}policy]\n"));
        out.push_str(&lines(policy));
    }
    if let Some((kind, rank)) = &tables.scheduler {
        out.push_str(&format!("\n[{prefix}scheduler]\n"));
        out.push_str(&scheduler::lines(kind, rank));
    }
    if let Some(mark) = &tables.mark {
        out.push_str(&format!("\n[{prefix}ecn]\n"));
        out.push_str(&mark.as_ref().map_or_else(none, lines));
    }
    if let Some(trim) = &tables.trim {
        out.push_str(&format!("\n[{prefix}trim]\n"));
        out.push_str(&trim.as_ref().map_or_else(none, lines));
    }
}
