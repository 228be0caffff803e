//! Changes of a CONFIG_DB as a JSON patch (RFC 6902), as `config apply-patch` takes it.

use forebay_sonic::SonicError;
use serde::Serialize;
use serde_json::Value;

/// One operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Operation {
    /// `add`, `replace` or `remove`.
    pub op: &'static str,
    /// A JSON pointer.
    pub path: String,
    /// The new value: text, or an entry of texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
}

impl Operation {
    /// Sets a field of an entry, which may be there already.
    pub(super) fn set(config: &Value, table: &str, key: &str, field: &str, value: &impl ToString) -> Self {
        let has = config.get(table).and_then(|table| table.get(key)).and_then(|entry| entry.get(field)).is_some();
        let op = if has { "replace" } else { "add" };
        Self { op, path: pointer(&[table, key, field]), value: Some(Value::String(value.to_string())) }
    }

    /// Adds an entry of fields.
    pub(super) fn add(table: &str, key: &str, entry: Value) -> Self {
        Self { op: "add", path: pointer(&[table, key]), value: Some(entry) }
    }

    /// Removes an entry.
    pub(super) fn remove_entry(table: &str, key: &str) -> Self {
        Self { op: "remove", path: pointer(&[table, key]), value: None }
    }

    /// Removes a field of an entry.
    pub(super) fn remove(table: &str, key: &str, field: &str) -> Self {
        Self { op: "remove", path: pointer(&[table, key, field]), value: None }
    }
}

fn pointer(parts: &[&str]) -> String {
    parts.iter().map(|part| format!("/{}", part.replace('~', "~0").replace('/', "~1"))).collect()
}

/// Applies operations. The value is that of a CONFIG_DB.
///
/// # Errors
/// If a path is not there.
pub fn apply(config: &Value, patch: &[Operation]) -> Result<Value, SonicError> {
    let mut config = config.clone();
    for operation in patch {
        let missing = || SonicError::new(&operation.path, "there is no such entry", "make the patch anew");
        let (entry, field) = operation.path.rsplit_once('/').ok_or_else(missing)?;
        let entry = config.pointer_mut(entry).and_then(Value::as_object_mut).ok_or_else(missing)?;
        let field = field.replace("~1", "/").replace("~0", "~");
        match &operation.value {
            Some(value) => entry.insert(field, value.clone()),
            None => entry.remove(&field),
        };
    }
    Ok(config)
}
