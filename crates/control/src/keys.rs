//! The settings that can be changed while a switch runs, and changes as they are written in JSON.

use forebay_settings::{Document, Table, Value};
use forebay_tm::admit::PolicyConfig;
use serde_json::json;

/// Tables of which every key can be changed.
const TABLES: [&str; 4] = ["policy", "scheduler", "ecn", "trim"];

/// A setting that can be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Its path, such as `policy.alpha` or `interface.0.rate`.
    pub key: String,
    /// Its value as after `--set`.
    pub value: String,
    /// What kind of value it is.
    pub form: Form,
    /// The interface that it is about, if it is about one.
    pub interface: Option<String>,
}

/// What kind of value a setting has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One of a few words.
    Choice(&'static [&'static str]),
    /// A number.
    Number,
    /// A list, such as a number for each queue number.
    List,
    /// Bits per second with a unit.
    Rate,
    /// Anything else: a word, a time, a size.
    Text,
}

impl Form {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Choice(_) => "choice",
            Self::Number => "number",
            Self::List => "list",
            Self::Rate => "rate",
            Self::Text => "text",
        }
    }

    fn of(path: &str, value: &Value<'_>) -> Self {
        if path == "policy.kind" {
            Self::Choice(PolicyConfig::NAMES)
        } else if value.list().is_some() {
            Self::List
        } else if !value.is_text() && value.real().is_ok() {
            Self::Number
        } else {
            Self::Text
        }
    }
}

/// The keys that can be changed of settings in force. Text that is not TOML has none.
pub fn changeable(toml: &str) -> Vec<Key> {
    let Ok(document) = Document::parse("settings", toml) else { return Vec::new() };
    let root = document.root();
    let mut keys: Vec<Key> = TABLES.iter().flat_map(|name| keys_of(&root, name)).collect();
    keys.extend(root.get("queue_capacity").map(|value| key("queue_capacity".into(), &value)));
    keys.extend(rates(&root));
    keys
}

fn key(path: String, value: &Value<'_>) -> Key {
    Key { form: Form::of(&path, value), key: path, value: value.to_argument(), interface: None }
}

fn keys_of(root: &Table<'_>, name: &str) -> Vec<Key> {
    let Ok(Some(table)) = root.table(name) else { return Vec::new() };
    let keys = table.keys().into_iter();
    keys.filter_map(|inner| table.get(inner).map(|value| key(format!("{name}.{inner}"), &value))).collect()
}

/// The rate of every interface: its own, or that of all.
fn rates(root: &Table<'_>) -> Vec<Key> {
    let interfaces = root.tables("interface").unwrap_or_default();
    let all = root.get("rate");
    let rate = |(index, table): (usize, &Table<'_>)| {
        let name = ["name", "read", "write"].into_iter().find_map(|key| table.get(key)?.text().ok());
        Some(Key {
            key: format!("interface.{index}.rate"),
            value: table.get("rate").or_else(|| all.clone())?.to_argument(),
            form: Form::Rate,
            interface: Some(name.unwrap_or_default().to_owned()),
        })
    };
    interfaces.iter().enumerate().filter_map(rate).collect()
}

/// Settings in force and what can be changed of them, as JSON.
pub fn to_json(toml: &str) -> serde_json::Value {
    let keys: Vec<serde_json::Value> = changeable(toml)
        .into_iter()
        .map(|key| {
            let mut entry = json!({"key": key.key, "value": key.value, "form": key.form.name()});
            if let Form::Choice(words) = key.form {
                entry["choices"] = json!(words);
            }
            if let Some(interface) = key.interface {
                entry["interface"] = json!(interface);
            }
            entry
        })
        .collect();
    json!({"toml": toml, "keys": keys})
}

/// Most keys that are changed at once.
const MOST: usize = 200;

/// Changes from a JSON object of keys with values: text as after `--set`, numbers, booleans, or lists of these.
pub fn changes(object: &serde_json::Value) -> Result<Vec<(String, String)>, String> {
    let Some(object) = object.as_object() else {
        return Err("this is not an object; give keys with their values, such as {\"policy.alpha\": \"2\"}".into());
    };
    if object.is_empty() || object.len() > MOST {
        return Err(format!("there are {} keys; give 1 to {MOST}", object.len()));
    }
    object.iter().map(|(key, value)| Ok((key.clone(), argument(key, value)?))).collect()
}

fn argument(key: &str, value: &serde_json::Value) -> Result<String, String> {
    use serde_json::Value::{Array, Bool, Number, String};
    match value {
        String(text) => Ok(text.clone()),
        Number(_) | Bool(_) => Ok(value.to_string()),
        // Lists of numbers, of text and of lists are written alike in JSON and TOML.
        Array(list) if !list.iter().any(|inner| inner.is_null() || inner.is_object()) => Ok(value.to_string()),
        _ => Err(format!("the value of \"{key}\" is not a setting; give text, a number, true, false or a list")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOML: &str = "rate = \"100Mbps\"\nqueues = 2\nbuffer = \"410KB\"\n[policy]\nkind = \"abm\"\nalpha = [0.5, 1]\n\
        interval = \"80us\"\n[ecn]\nkind = \"step\"\nthreshold = \"30KB\"\n[[interface]]\nname = \"fb-h1\"\n\
        [[interface]]\nname = \"fb-h2\"\nrate = \"1Gbps\"\n";

    #[test]
    fn keys_have_their_values() {
        let keys = changeable(TOML);
        let brief: Vec<_> = keys.iter().map(|key| (key.key.as_str(), key.value.as_str(), key.form.name())).collect();
        assert_eq!(
            brief,
            [
                ("policy.kind", "abm", "choice"),
                ("policy.alpha", "[0.5, 1]", "list"),
                ("policy.interval", "80us", "text"),
                ("ecn.kind", "step", "text"),
                ("ecn.threshold", "30KB", "text"),
                ("interface.0.rate", "100Mbps", "rate"),
                ("interface.1.rate", "1Gbps", "rate"),
            ]
        );
        assert_eq!(keys[6].interface.as_deref(), Some("fb-h2"));
        assert_eq!(changeable("no = = toml"), []);
        assert_eq!(to_json(TOML)["keys"][0]["choices"][2], "dt");
    }

    #[test]
    fn changes_are_read_from_json() {
        let read = |text: &str| changes(&serde_json::from_str(text).unwrap());
        let both = [("a".into(), "2".into()), ("b.c".into(), "[1,0.5]".into())];
        assert_eq!(read("{\"a\": \"2\", \"b.c\": [1, 0.5]}").unwrap(), both);
        assert_eq!(read("{\"a\": 0.25}").unwrap(), [("a".into(), "0.25".into())]);
        assert!(read("{\"a\": null}").unwrap_err().contains("\"a\" is not a setting"));
        assert!(read("{\"a\": {}}").is_err() && read("{\"a\": [{}]}").is_err());
        assert!(read("{}").unwrap_err().contains("give 1 to 200"));
        assert!(read("[]").unwrap_err().contains("not an object"));
    }
}
