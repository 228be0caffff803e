//! Records as JSON objects, both ways, with errors that say where.

use serde_json::{Map, Value};

/// Something that has a form in JSON.
pub(crate) trait Json: Sized {
    fn to_json(&self) -> Value;
    /// The error names what was expected and where, such as `flows[3].fct_us.p99: not a number`.
    fn from_json(value: &Value) -> Result<Self, String>;
    /// What an absent key stands for, if it may be absent.
    fn absent() -> Option<Self> {
        None
    }
}

impl Json for String {
    fn to_json(&self) -> Value {
        Value::from(self.as_str())
    }
    fn from_json(value: &Value) -> Result<Self, String> {
        value.as_str().map(str::to_owned).ok_or_else(|| ": not a text".to_owned())
    }
}

impl Json for bool {
    fn to_json(&self) -> Value {
        Value::from(*self)
    }
    fn from_json(value: &Value) -> Result<Self, String> {
        value.as_bool().ok_or_else(|| ": neither true nor false".to_owned())
    }
}

impl Json for u64 {
    fn to_json(&self) -> Value {
        Value::from(*self)
    }
    fn from_json(value: &Value) -> Result<Self, String> {
        value.as_u64().ok_or_else(|| ": not a whole number".to_owned())
    }
}

impl Json for f64 {
    /// JSON has no infinities: they are the largest numbers there are, and NaN, which no record has, is null.
    fn to_json(&self) -> Value {
        Value::from(self.clamp(Self::MIN, Self::MAX))
    }
    fn from_json(value: &Value) -> Result<Self, String> {
        value.as_f64().ok_or_else(|| ": not a number".to_owned())
    }
}

impl<T: Json> Json for Option<T> {
    fn to_json(&self) -> Value {
        self.as_ref().map_or(Value::Null, T::to_json)
    }
    fn from_json(value: &Value) -> Result<Self, String> {
        if value.is_null() { Ok(None) } else { T::from_json(value).map(Some) }
    }
    fn absent() -> Option<Self> {
        Some(None)
    }
}

impl<T: Json> Json for Vec<T> {
    fn to_json(&self) -> Value {
        self.iter().map(T::to_json).collect()
    }
    fn from_json(value: &Value) -> Result<Self, String> {
        let items = value.as_array().ok_or_else(|| ": not a list".to_owned())?;
        let item = |(index, item)| T::from_json(item).map_err(|problem| format!("[{index}]{problem}"));
        items.iter().enumerate().map(item).collect()
    }
}

/// One value of an object.
pub(crate) fn get<T: Json>(object: &Map<String, Value>, key: &str) -> Result<T, String> {
    match object.get(key) {
        Some(value) => T::from_json(value).map_err(|problem| format!(".{key}{problem}")),
        None => T::absent().ok_or_else(|| format!(".{key}: is missing")),
    }
}

/// The object that a value must be.
pub(crate) fn object(value: &Value) -> Result<&Map<String, Value>, String> {
    value.as_object().ok_or_else(|| ": not an object".to_owned())
}

/// Declares a struct whose JSON form is an object with the fields as keys, in the order of the fields.
macro_rules! record {
    ($(#[$outer:meta])* pub struct $name:ident { $($(#[$inner:meta])* pub $field:ident: $type:ty,)* }) => {
        $(#[$outer])*
        pub struct $name { $($(#[$inner])* pub $field: $type,)* }

        impl $crate::json::Json for $name {
            fn to_json(&self) -> serde_json::Value {
                let mut object = serde_json::Map::new();
                $(object.insert(stringify!($field).to_owned(), $crate::json::Json::to_json(&self.$field));)*
                serde_json::Value::Object(object)
            }

            fn from_json(value: &serde_json::Value) -> Result<Self, String> {
                let object = $crate::json::object(value)?;
                Ok(Self { $($field: $crate::json::get(object, stringify!($field))?,)* })
            }
        }
    };
}
pub(crate) use record;

#[cfg(test)]
mod tests {
    use super::*;

    record! {
        /// Any.
        #[expect(unreachable_pub, reason = "the macro makes public structs")]
        #[derive(Debug, PartialEq)]
        pub struct Outer {
            /// Any.
            pub number: f64,
            /// Any.
            pub list: Vec<Option<u64>>,
            /// Any.
            pub text: Option<String>,
        }
    }

    fn read(text: &str) -> Result<Outer, String> {
        Outer::from_json(&serde_json::from_str(text).unwrap())
    }

    #[test]
    fn there_and_back() {
        for number in [0.1 + 0.2, 1.0, 1e-310, 123_456_789.123_456_79] {
            let outer = Outer { number, list: vec![Some(u64::MAX), None], text: Some("\"ü\n".to_owned()) };
            let text = outer.to_json().to_string();
            assert!(text.starts_with("{\"number\":"), "{text}");
            assert_eq!(read(&text).unwrap(), outer);
        }
    }

    #[test]
    fn errors_say_where() {
        assert_eq!(read(r#"{"number": 1, "list": [1, "x"]}"#).unwrap_err(), ".list[1]: not a whole number");
        assert_eq!(read(r#"{"list": []}"#).unwrap_err(), ".number: is missing");
        assert_eq!(read(r#"{"number": 1, "list": []}"#).unwrap(), Outer { number: 1.0, list: vec![], text: None });
        assert_eq!(read("[]").unwrap_err(), ": not an object");
    }
}
