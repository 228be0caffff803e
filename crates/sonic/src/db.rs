//! A CONFIG_DB file as tables of entries of fields. Its depth is fixed, and no key may be there twice.

use crate::SonicError;
use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::collections::HashSet;
use std::fmt;
use std::marker::PhantomData;

/// The longest file that is read.
pub const MAX_BYTES: u64 = 64 << 20;

/// Names with values, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named<T>(pub Vec<(String, T)>);

impl<T> Named<T> {
    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }
}

/// A value: text. Numbers and truth values are taken as their text, a list as its members with commas between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text(pub String);

/// The fields of an entry.
pub type Entry = Named<Text>;

/// The entries of a table.
pub type Table = Named<Entry>;

/// A CONFIG_DB file.
pub type Db = Named<Table>;

/// Reads a file.
///
/// # Errors
/// If it is too long, not JSON, or not tables of entries of fields.
pub fn parse(file: &str, text: &str) -> Result<Db, SonicError> {
    if text.len() as u64 > MAX_BYTES {
        let problem = format!("it has {} bytes, more than {MAX_BYTES}", text.len());
        return Err(SonicError::new(file, problem, "give the CONFIG_DB of one switch"));
    }
    serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(|error| {
        let place = format!("{file}:{}:{}", error.line(), error.column());
        let text = error.to_string();
        let problem = text.split(" at line ").next().unwrap_or(&text).to_owned();
        SonicError::new(
            place,
            problem,
            "write {\"TABLE\": {\"key\": {\"field\": \"value\"}}}, as `sonic-cfggen -d --print-data` does",
        )
    })
}

/// The line of what a finding is about, `TABLE|key.field`, `TABLE|key` or `TABLE`, counted from 1: as much of it as is
/// there.
pub fn line_of(text: &str, place: &str) -> Option<usize> {
    let (table, rest) = place.split_once('|').unwrap_or((place, ""));
    let quoted = |name: &str| format!("\"{name}\"");
    let mut at = text.find(&quoted(table))?;
    let key = text[at..].find(&quoted(rest)).map(|from| (from, ""));
    let with_field = || {
        let (key, field) = rest.rsplit_once('.')?;
        Some((text[at..].find(&quoted(key))?, field))
    };
    if let Some((from, field)) = key.or_else(with_field).filter(|_| !rest.is_empty()) {
        at += from;
        let end = text[at..].find('}').map_or(text.len(), |end| at + end);
        at += text[at..end].find(&quoted(field)).unwrap_or(0);
    }
    Some(text[..at].matches('\n').count() + 1)
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(NamedVisitor(PhantomData))
    }
}

struct NamedVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for NamedVisitor<T> {
    type Value = Named<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Named<T>, A::Error> {
        let mut seen = HashSet::new();
        let mut list = vec![];
        while let Some(name) = map.next_key::<String>()? {
            if !seen.insert(name.clone()) {
                return Err(A::Error::custom(format!("\"{name}\" is there twice")));
            }
            list.push((name, map.next_value()?));
        }
        Ok(Named(list))
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor { in_list: false })
    }
}

/// A member of a list: no list again.
struct Member(String);

impl<'de> Deserialize<'de> for Member {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor { in_list: true }).map(|text| Self(text.0))
    }
}

struct TextVisitor {
    in_list: bool,
}

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, a number or a list of these")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Text, E> {
        Ok(Text(text.to_owned()))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Text, E> {
        Ok(Text(number.to_string()))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Text, E> {
        Ok(Text(number.to_string()))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Text, E> {
        Ok(Text(number.to_string()))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Text, E> {
        Ok(Text(value.to_string()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Text, A::Error> {
        if self.in_list {
            return Err(A::Error::custom("a list in a list"));
        }
        let mut members = vec![];
        while let Some(Member(text)) = list.next_element()? {
            members.push(text);
        }
        Ok(Text(members.join(",")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_have_lines() {
        let text = "{\n\"PORT\": {\n\"a\": {\n\"speed\": \"1\"},\n\"b|3-4\": {\n\"speed\": \"x\"}\n}\n}";
        let lines = ["PORT", "PORT|a", "PORT|a.speed", "PORT|b|3-4.speed", "PORT|b|3-4.mtu", "PORT|c", "QUEUE"];
        assert_eq!(
            lines.map(|place| line_of(text, place)),
            [Some(2), Some(3), Some(4), Some(6), Some(5), Some(2), None]
        );
    }
}
