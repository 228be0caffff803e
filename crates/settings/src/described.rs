//! Reading and writing of settings that describe themselves.

use crate::diagnostic::Diagnostic;
use crate::registered::{Registered, by_name, choices, fields};
use crate::table::{Table, Value};
use forebay_tm::described::{Absent, Choice, Described, Kind, Value as Setting};

/// Where settings are looked up.
pub(crate) struct Lookup<'d> {
    /// In order of precedence.
    pub(crate) tables: Vec<Table<'d>>,
    /// The kind was chosen by an argument: the defaults, which are the papers' settings, hold for what is not given.
    pub(crate) lenient: bool,
}

impl<'d> Lookup<'d> {
    /// In one table.
    pub(crate) fn of(table: &Table<'d>) -> Self {
        Self { tables: vec![table.clone()], lenient: table.is_lenient() }
    }

    /// Reads all settings that there are.
    pub(crate) fn read(&self, settings: &mut dyn Described) -> Result<(), Diagnostic> {
        for (number, field) in settings.fields().iter().enumerate() {
            let value = match self.tables.iter().find_map(|table| table.get(field.key)) {
                Some(value) => read_value(&value, field.kind)?,
                None => match (&field.absent, self.tables.first()) {
                    (Absent::NeverRight(example), Some(table)) => return Err(missing(table, field.key, example)),
                    _ if self.lenient => continue,
                    (Absent::Refused(example), Some(table)) => return Err(missing(table, field.key, example)),
                    (Absent::Means(value), _) => value.clone(),
                    _ => continue,
                },
            };
            assert!(settings.set(number, value), "{} takes what was read for it", field.key);
        }
        Ok(())
    }

    /// A kind by its name, with all its settings.
    pub(crate) fn choice<C: Registered>(&self, kind: &str) -> Result<C, Diagnostic> {
        let mut choice: C = by_name(kind).expect("one of the names");
        if let Some(settings) = choice.settings() {
            self.read(settings)?;
        }
        Ok(choice)
    }
}

/// Reads settings that describe themselves from a table; it may have other keys, too.
pub fn read_settings(table: &Table<'_>, settings: &mut dyn Described) -> Result<(), Diagnostic> {
    Lookup::of(table).read(settings)
}

fn missing(table: &Table<'_>, key: &str, example: &str) -> Diagnostic {
    table.missing(key, &format!("{key} = {example}"))
}

/// The keys of a kind's table, beside `kind`.
pub(crate) fn keys<C: Registered>(kind: &str) -> Vec<&'static str> {
    by_name::<C>(kind).iter().flat_map(fields).map(|field| field.key).collect()
}

/// Whether any kind has this key.
pub(crate) fn is_key<C: Registered>(key: &str) -> bool {
    choices::<C>().iter().flat_map(fields).any(|field| field.key == key)
}

/// The names of all kinds, each with itself, and those of `more`.
pub(crate) fn words<C: Registered>(more: &[&'static str]) -> Vec<(&'static str, &'static str)> {
    choices::<C>().iter().map(Choice::name).chain(more.iter().copied()).map(|name| (name, name)).collect()
}

/// Refuses keys that a kind does not have. `own` are those that it has beside its settings, `others` those that any
/// kind has beside its own.
pub(crate) fn allow<C: Registered>(
    table: &Table<'_>,
    kind: &str,
    own: &[&str],
    others: &[&str],
) -> Result<(), Diagnostic> {
    let known: Vec<&str> = ["kind"].into_iter().chain(keys::<C>(kind)).chain(own.iter().copied()).collect();
    table.allow(&known, |key| is_key::<C>(key) || others.contains(&key), kind)
}

/// Reads the value of a setting.
pub fn read_value(value: &Value<'_>, kind: Kind) -> Result<Setting, Diagnostic> {
    Ok(match kind {
        Kind::Real => Setting::Real(value.real()?),
        Kind::Integer(most) => {
            let integer = value.integer()?;
            if integer > most {
                return Err(value.error(format!("{integer} is too large"), "give a smaller number"));
            }
            Setting::Integer(integer)
        }
        Kind::Count => Setting::Integer(value.number::<usize>()? as u64),
        Kind::Bytes => Setting::Bytes(value.bytes()?),
        Kind::Duration => Setting::Duration(value.duration()?),
        Kind::Flag => Setting::Flag(value.boolean()?),
        Kind::Word(words) => {
            let words: Vec<(&str, &'static str)> = words.iter().map(|word| (*word, *word)).collect();
            Setting::Word(value.word(&words)?)
        }
        Kind::PerQueue(one) => match value.list() {
            None => read_value(value, *one)?,
            Some(values) => {
                Setting::List(values.iter().map(|value| read_value(value, *one)).collect::<Result<_, _>>()?)
            }
        },
        Kind::Groups => {
            let group = |group: Vec<usize>| {
                Setting::List(group.into_iter().map(|queue| Setting::Integer(queue as u64)).collect())
            };
            Setting::List(value.groups()?.into_iter().map(group).collect())
        }
    })
}

/// A choice as lines of TOML, with all its settings.
pub(crate) fn lines<C: Choice>(choice: &C) -> String {
    lines_of("kind", choice)
}

/// [`lines`] of a choice that another key names.
pub(crate) fn lines_of<C: Choice>(key: &str, choice: &C) -> String {
    let mut choice = choice.clone();
    let mut out = format!("{key} = \"{}\"\n", choice.name());
    if let Some(settings) = choice.settings() {
        for (number, field) in settings.fields().iter().enumerate() {
            if let Some(text) = text(&settings.get(number)) {
                out.push_str(&format!("{} = {text}\n", field.key));
            }
        }
    }
    out
}

/// A value as TOML; `None` if it is not set.
pub fn text(value: &Setting) -> Option<String> {
    Some(match value {
        Setting::Nothing => return None,
        Setting::Real(value) => format!("{value:?}"),
        Setting::Integer(value) => value.to_string(),
        Setting::Flag(value) => value.to_string(),
        Setting::Bytes(value) => format!("\"{value}\""),
        Setting::Duration(value) => format!("\"{value}\""),
        Setting::Word(word) => format!("\"{word}\""),
        Setting::List(values) => format!("[{}]", values.iter().filter_map(text).collect::<Vec<_>>().join(", ")),
    })
}
