//! Reading and writing of settings that describe themselves.

use crate::diagnostic::Diagnostic;
use crate::registered::{Registered, by_name, choices, fields};
use crate::table::{Table, Value};
use crate::write::quoted;
use forebay_tm::described::{Absent, Choice, Described, Field, Kind, Value as Setting};

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

    /// The value of a key, if it is there.
    fn get(&self, key: &str) -> Option<Value<'d>> {
        self.tables.iter().find_map(|table| table.get(key))
    }

    /// Reads all settings that there are.
    pub(crate) fn read(&self, settings: &mut dyn Described) -> Result<(), Diagnostic> {
        self.read_some(settings, |_| true)
    }

    /// Reads the settings with some of the keys; all others stay as they are.
    fn read_some(&self, settings: &mut dyn Described, of: impl Fn(&str) -> bool) -> Result<(), Diagnostic> {
        for (number, field) in settings.fields().iter().enumerate().filter(|(_, field)| of(field.key)) {
            let general = if let Absent::Like(key) = field.absent { self.get(key) } else { None };
            if let Some(value) = self.get(field.key).or(general) {
                let read = read_value(&value, field.kind)?;
                if let Err(wrong) = settings.set(number, read.clone()) {
                    return Err(refused_element(settings, number, &value, read).unwrap_or_else(|| value.refuse(wrong)));
                }
                continue;
            }
            let is_missing = match &field.absent {
                Absent::NeverRight(_) | Absent::Like(_) => true,
                Absent::Refused(_) => !self.lenient,
                Absent::Means(value) if !self.lenient => {
                    settings.set(number, value.clone()).expect("the description has a value of its kind");
                    false
                }
                Absent::Means(_) | Absent::Default => false,
            };
            if let (true, Some(table)) = (is_missing, self.tables.first()) {
                return Err(table.missing(field.key, &example(settings, number)));
            }
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

/// The error of the element because of which a list is refused, if there is one that is refused alone.
fn refused_element(
    settings: &mut dyn Described,
    number: usize,
    value: &Value<'_>,
    read: Setting,
) -> Option<Diagnostic> {
    let (Setting::List(elements), Some(places)) = (read, value.list()) else { return None };
    places.iter().zip(elements).find_map(|(place, element)| {
        settings.set(number, Setting::List(vec![element])).err().map(|wrong| place.refuse(wrong))
    })
}

/// Reads settings that describe themselves from a table; it may have other keys, too.
pub fn read_settings(table: &Table<'_>, settings: &mut dyn Described) -> Result<(), Diagnostic> {
    Lookup::of(table).read(settings)?;
    refuse_idle(table, settings.fields())
}

/// Reads settings from a table, as far as they have one of these keys; all others stay as they are.
pub fn read_known(table: &Table<'_>, known: &[&str], settings: &mut dyn Described) -> Result<(), Diagnostic> {
    Lookup::of(table).read_some(settings, |key| known.contains(&key))
}

/// Refuses a key that stands for others, all of which are there.
fn refuse_idle(table: &Table<'_>, fields: &[Field]) -> Result<(), Diagnostic> {
    for general in setting_keys(fields).into_iter().filter(|key| fields.iter().all(|field| field.key != *key)) {
        let mut like = fields.iter().filter(|field| field.absent == Absent::Like(general));
        if let (Some(value), true) = (table.get(general), like.all(|field| table.has(field.key))) {
            return Err(value.error("every tier has its own, so this does nothing", "remove it"));
        }
    }
    Ok(())
}

/// The keys of some settings: their own, then those that stand for several of them.
pub fn setting_keys(fields: &[Field]) -> Vec<&'static str> {
    let mut keys: Vec<&'static str> = fields.iter().map(|field| field.key).collect();
    for field in fields {
        if let Absent::Like(general) = field.absent
            && !keys.contains(&general)
        {
            keys.push(general);
        }
    }
    keys
}

/// A line that a file could have for a setting.
pub(crate) fn example(settings: &dyn Described, number: usize) -> String {
    let field = &settings.fields()[number];
    let value = match field.absent {
        Absent::Refused(Some(example)) | Absent::NeverRight(Some(example)) => example.to_owned(),
        _ => text(&settings.get(number)).unwrap_or_default(),
    };
    format!("{} = {value}", field.key)
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
        Kind::Size(least, most) => {
            let bytes = value.bytes()?;
            if !(u64::from(least)..=u64::from(most)).contains(&bytes.get()) {
                let problem = format!("{bytes} is out of range");
                return Err(value.error(problem, format!("give {least} to {most} bytes")));
            }
            Setting::Integer(bytes.get())
        }
        Kind::Duration => Setting::Duration(value.duration()?),
        Kind::Nanoseconds => {
            let time = value.duration()?;
            if time.ps() % 1_000 != 0 {
                return Err(value.error("the chip's clock counts nanoseconds", "give whole nanoseconds"));
            }
            Setting::Duration(time)
        }
        Kind::Rate => Setting::Rate(value.rate()?),
        Kind::Flag => Setting::Flag(value.boolean()?),
        Kind::Text | Kind::Special(_) => Setting::Text(value.text()?.to_owned()),
        Kind::Word(words) => {
            let words: Vec<(&str, &'static str)> = words.iter().map(|word| (*word, *word)).collect();
            Setting::Word(value.word(&words)?)
        }
        Kind::Or(other, words) => read_or(value, *other, words)?,
        Kind::List(one) => {
            let values = value.list().ok_or_else(|| value.error("this is not a list", format!("give {}", a(kind))))?;
            list(&values, *one)?
        }
        Kind::PerQueue(one) => match value.list() {
            None => read_value(value, *one)?,
            Some(values) => list(&values, *one)?,
        },
        Kind::Groups => {
            let group = |group: Vec<usize>| {
                Setting::List(group.into_iter().map(|queue| Setting::Integer(queue as u64)).collect())
            };
            Setting::List(value.groups()?.into_iter().map(group).collect())
        }
    })
}

fn list(values: &[Value<'_>], kind: Kind) -> Result<Setting, Diagnostic> {
    values.iter().map(|value| read_value(value, kind)).collect::<Result<_, _>>().map(Setting::List)
}

/// A value of a kind, or one of some words.
fn read_or(value: &Value<'_>, kind: Kind, words: &[&'static str]) -> Result<Setting, Diagnostic> {
    let text = if value.is_text() { value.text()? } else { "" };
    if let Some(word) = words.iter().find(|word| value.is_text() && **word == text) {
        return Ok(Setting::Word(word));
    }
    let or_words = words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" or ");
    // A text that may be a size has an error of its own.
    let is_unit =
        matches!(kind, Kind::Bytes | Kind::Size(..) | Kind::Duration | Kind::Nanoseconds | Kind::Rate | Kind::Text);
    if value.is_text() && !is_unit {
        let separator = if words.len() == 1 { " or" } else { "," };
        return Err(value.error(format!("\"{text}\" is unknown"), format!("give {}{separator} {or_words}", a(kind))));
    }
    let remedy = |error: &Diagnostic| format!("{}, or {or_words}", error.remedy);
    read_value(value, kind).map_err(|error| Diagnostic { remedy: remedy(&error), ..error })
}

/// What a value may be, as a remedy has it.
fn a(kind: Kind) -> String {
    match kind {
        Kind::Flag => "true, false".to_owned(),
        Kind::List(Kind::Text) => "a list of names such as [\"a\", \"b\"]".to_owned(),
        Kind::List(one) => format!("a list such as [0, 7], each a {}", values(*one)),
        Kind::Text => "text in quotes".to_owned(),
        kind => format!("a {}", values(kind)),
    }
}

/// What a setting may be, in a few words.
pub fn values(kind: Kind) -> String {
    let quoted = |words: &[&str]| words.iter().map(|word| format!("`\"{word}\"`")).collect::<Vec<_>>().join(", ");
    match kind {
        Kind::Real => "number".into(),
        Kind::Integer(_) | Kind::Count => "whole number".into(),
        Kind::Bytes | Kind::Size(..) => "size".into(),
        Kind::Duration | Kind::Nanoseconds => "time".into(),
        Kind::Rate => "rate".into(),
        Kind::Flag => "true, false".into(),
        Kind::Text => "text".into(),
        Kind::Word(words) => quoted(words),
        Kind::Or(other, words) => format!("{}, {}", values(*other), quoted(words)),
        Kind::List(one) => format!("list: {}", values(*one)),
        Kind::PerQueue(one) => format!("{}, or a list", values(*one)),
        Kind::Groups => "list of lists".into(),
        Kind::Special(words) => words.into(),
    }
}

/// A choice as lines of TOML, with all its settings.
pub(crate) fn lines<C: Choice>(choice: &C) -> String {
    lines_of("kind", choice)
}

/// [`lines`] of a choice that another key names.
pub(crate) fn lines_of<C: Choice>(key: &str, choice: &C) -> String {
    let mut choice = choice.clone();
    let name = format!("{key} = \"{}\"\n", choice.name());
    let settings = choice.settings().map_or_else(String::new, |settings| setting_lines(settings));
    name + &settings
}

/// Settings as lines of TOML.
pub fn setting_lines(settings: &dyn Described) -> String {
    known_lines(settings, |_| true)
}

/// The settings with some of the keys as lines of TOML.
pub fn known_lines(settings: &dyn Described, is_known: impl Fn(&str) -> bool) -> String {
    let line = |(number, field): (usize, &Field)| {
        text(&settings.get(number)).map(|text| format!("{} = {text}\n", field.key)).unwrap_or_default()
    };
    settings.fields().iter().enumerate().filter(|(_, field)| is_known(field.key)).map(line).collect()
}

/// A value as TOML; `None` if it is not set.
pub fn text(value: &Setting) -> Option<String> {
    Some(match value {
        Setting::Nothing => return None,
        // TOML has `nan` and `inf` in small letters.
        Setting::Real(value) => format!("{value:?}").to_lowercase(),
        Setting::Integer(value) => value.to_string(),
        Setting::Flag(value) => value.to_string(),
        Setting::Bytes(value) => format!("\"{value}\""),
        Setting::Duration(value) => format!("\"{value}\""),
        Setting::Rate(value) => format!("\"{value}\""),
        Setting::Word(word) => quoted(word),
        Setting::Text(text) => quoted(text),
        Setting::List(values) => format!("[{}]", values.iter().filter_map(text).collect::<Vec<_>>().join(", ")),
    })
}
