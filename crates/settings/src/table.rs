//! TOML tables with a memory of where everything stands.

use crate::depth;
use crate::diagnostic::{Diagnostic, nearest};
use crate::setting::{Settings, is_plain_text};
use crate::write::{line, value};
use forebay_tm::described::Wrong;
use forebay_tm::{Bytes, ConfigError, Duration, PerQueue, Rate};
use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;
use std::str::FromStr;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Where a document's text comes from.
#[derive(Debug)]
pub(crate) struct Source<'a> {
    file: &'a str,
    text: &'a str,
    /// The arguments that change the document: where the spans of each begin (all lie behind the text), and what errors
    /// call it.
    arguments: Vec<(usize, String)>,
}

impl Source<'_> {
    /// The argument that a span belongs to, if it does not belong to the file.
    fn argument(&self, span: &Range<usize>) -> Option<&str> {
        self.arguments.iter().rev().find(|(start, _)| *start <= span.start).map(|(_, name)| name.as_str())
    }

    /// An error of a span: of a line of the file, or of an argument.
    fn error(
        &self,
        span: Range<usize>,
        field: &str,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Diagnostic {
        match self.argument(&span) {
            Some(name) => Diagnostic { field: field.to_owned(), ..Diagnostic::of_file(name, problem, remedy) },
            None => Diagnostic::of_span(self.file, self.text, span, field, problem, remedy),
        }
    }
}

/// A parsed file.
pub struct Document<'a> {
    source: Source<'a>,
    root: Spanned<DeTable<'a>>,
}

impl<'a> Document<'a> {
    /// Parses a text; `file` is what errors call it.
    pub fn parse(file: &'a str, text: &'a str) -> Result<Self, Diagnostic> {
        depth::check(text).map_err(|deep| Diagnostic::of_span(file, text, deep.span, "", deep.problem, deep.remedy))?;
        let root = DeTable::parse(text).map_err(|error| {
            let span = error.span().unwrap_or(text.len()..text.len());
            let problem = error.message().lines().collect::<Vec<_>>().join("; ");
            if problem == "duplicate key" {
                let key = text.get(span.clone()).unwrap_or_default();
                return Diagnostic::of_span(file, text, span, key, "this key is there twice", "remove one of them");
            }
            if problem.contains("string values must be quoted") || problem.contains("invalid boolean") {
                let word = text.get(span.clone()).unwrap_or_default().trim();
                let remedy = format!("write \"{word}\"");
                return Diagnostic::of_span(file, text, span, "", "text must be in quotes", remedy);
            }
            let remedy = "write key = value, one a line, with text in quotes and lists in [ ]";
            Diagnostic::of_span(file, text, span, "", format!("this is not TOML: {problem}"), remedy)
        })?;
        Ok(Self { source: Source { file, text, arguments: Vec::new() }, root })
    }

    /// Parses a text and changes it as arguments say.
    pub fn parse_with(file: &'a str, text: &'a str, settings: &'a Settings) -> Result<Self, Diagnostic> {
        let mut document = Self::parse(file, text)?;
        for setting in &settings.settings {
            document.source.arguments.push((setting.start, setting.name.clone()));
            setting.apply(&mut document.root)?;
        }
        Ok(document)
    }

    /// The outermost table.
    pub fn root(&self) -> Table<'_> {
        let entries = self.root.get_ref();
        Table { source: &self.source, path: String::new(), head: String::new(), entries, span: 0..0 }
    }

    /// Finds the place that a configuration error speaks of.
    pub fn locate(&self, error: &ConfigError) -> Diagnostic {
        // Rates may stand in the list of ports.
        let field = if error.field == "rate" && !self.root().has("rate") { "ports" } else { error.field };
        self.root().locate(field, format!("{}: {}", error.value, error.problem), &error.remedy)
    }
}

/// A table of a document.
#[derive(Clone)]
pub struct Table<'d> {
    source: &'d Source<'d>,
    /// "policy", or empty for the outermost table.
    path: String,
    /// How its head is written: "[policy]".
    head: String,
    entries: &'d DeTable<'d>,
    span: Range<usize>,
}

impl<'d> Table<'d> {
    /// A key with the tables it is in.
    fn field(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// Whether there is such a key.
    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// The keys, in the order of the file; those of arguments follow.
    pub fn keys(&self) -> Vec<&'d str> {
        let mut keys: Vec<_> =
            self.entries.iter().map(|(name, _)| (name.span().start, name.get_ref().as_ref())).collect();
        keys.sort_unstable();
        keys.into_iter().map(|(_, key)| key).collect()
    }

    /// The value of a key, if it is there.
    pub fn get(&self, key: &str) -> Option<Value<'d>> {
        let (_, value) = self.entries.iter().find(|(name, _)| name.get_ref() == key)?;
        Some(Value { source: self.source, field: self.field(key), value })
    }

    /// The values of two keys that exclude each other: where an argument gives one of them, the file's other one does
    /// not matter.
    pub fn alternatives(&self, one: &str, other: &str) -> (Option<Value<'d>>, Option<Value<'d>>) {
        let is_argument = |value: &Value<'d>| self.source.argument(&value.value.span()).is_some();
        match (self.get(one), self.get(other)) {
            (Some(one), Some(other)) if is_argument(&one) && !is_argument(&other) => (Some(one), None),
            (Some(one), Some(other)) if is_argument(&other) && !is_argument(&one) => (None, Some(other)),
            both => both,
        }
    }

    /// The value of a key that must be there.
    pub fn need(&self, key: &str, example: &str) -> Result<Value<'d>, Diagnostic> {
        self.get(key).ok_or_else(|| self.missing(key, example))
    }

    /// Whether the table's `kind` was given by an argument: then keys of the kind that the file has do not matter, and
    /// what the new kind needs may come from its defaults.
    pub fn is_lenient(&self) -> bool {
        self.get("kind").is_some_and(|kind| self.source.argument(&kind.value.span()).is_some())
    }

    /// The error of a missing key, at the head of the table.
    pub fn missing(&self, key: &str, example: &str) -> Diagnostic {
        let field = self.field(key);
        let remedy = if self.path.is_empty() {
            format!("add {example} at the top of the file")
        } else {
            format!("add {example} to {}", self.head)
        };
        if self.path.is_empty() {
            let problem = "this key is missing";
            Diagnostic { field, line: Some(1), ..Diagnostic::of_file(self.source.file, problem, remedy) }
        } else {
            self.source.error(self.span.clone(), &field, "this key is missing", remedy)
        }
    }

    /// An error of the whole table, at its head.
    pub fn error(&self, problem: impl Into<String>, remedy: impl Into<String>) -> Diagnostic {
        self.source.error(self.span.clone(), &self.path, problem, remedy)
    }

    /// An error of a key, at its name; of the whole table if the key is not there.
    pub fn key_error(&self, key: &str, problem: impl Into<String>, remedy: impl Into<String>) -> Diagnostic {
        match self.entries.iter().find(|(name, _)| name.get_ref() == key) {
            Some((name, _)) => self.source.error(name.span(), &self.field(key), problem, remedy),
            None => self.error(problem, remedy),
        }
    }

    /// An error of what a path such as "policy.alpha" or "link.3" leads to, or of as much of it as there is.
    pub fn locate(&self, path: &str, problem: impl Into<String>, remedy: impl Into<String>) -> Diagnostic {
        let field = self.field(path);
        let mut span = None;
        let mut tables = Some(self.entries);
        let mut list: Option<&[Spanned<DeValue<'d>>]> = None;
        for key in path.split('.') {
            let found = match (tables, list) {
                (Some(entries), _) => {
                    entries.iter().find(|(name, _)| name.get_ref() == key).map(|(name, value)| (name.span(), value))
                }
                (_, Some(list)) => {
                    key.parse().ok().and_then(|index: usize| list.get(index)).map(|value| (value.span(), value))
                }
                _ => None,
            };
            let Some((name, value)) = found else { break };
            (tables, list) = (value.get_ref().as_table(), value.get_ref().as_array().map(|array| &**array));
            span = Some(if tables.is_some() { name } else { value.span() });
        }
        match span {
            Some(span) => self.source.error(span, &field, problem, remedy),
            None if self.path.is_empty() => {
                Diagnostic { field, ..Diagnostic::of_file(self.source.file, problem, remedy) }
            }
            None => self.source.error(self.span.clone(), &field, problem, remedy),
        }
    }

    /// A table inside this one.
    pub fn table(&self, key: &str) -> Result<Option<Table<'d>>, Diagnostic> {
        let Some((name, value)) = self.entries.iter().find(|(name, _)| name.get_ref() == key) else { return Ok(None) };
        let path = self.field(key);
        let head = format!("[{path}]");
        match value.get_ref() {
            DeValue::Table(entries) => Ok(Some(Table { source: self.source, path, head, entries, span: name.span() })),
            _ => Err(self
                .get(key)
                .expect("just found")
                .error("this must be a table", format!("write {head} on a line of its own, and its keys below"))),
        }
    }

    /// The tables of a list of tables, `[[key]]`; none if there is no such key.
    pub fn tables(&self, key: &str) -> Result<Vec<Table<'d>>, Diagnostic> {
        let Some(value) = self.get(key) else { return Ok(Vec::new()) };
        let head = format!("[[{}]]", value.field);
        let wrong = |value: &Value<'d>| {
            value.error(
                "this must be a list of tables",
                format!("write {head} on a line of its own, and its keys below"),
            )
        };
        let elements = value.list().ok_or_else(|| match self.table(key) {
            Ok(Some(table)) => {
                table.error("this must be a list of tables", format!("write {head}, with double brackets, for each"))
            }
            _ => wrong(&value),
        })?;
        let table = |(index, element): (usize, &Value<'d>)| match element.value.get_ref() {
            DeValue::Table(entries) => {
                let (path, span) = (format!("{}.{index}", value.field), element.value.span());
                Ok(Table { source: self.source, path, head: head.clone(), entries, span })
            }
            _ => Err(wrong(element)),
        };
        elements.iter().enumerate().map(table).collect()
    }

    /// The table's keys and values as lines of TOML, in the order of [`Table::keys`]; tables inside it are written
    /// inline.
    pub fn to_toml(&self) -> String {
        self.to_toml_without("", "")
    }

    /// [`Table::to_toml`] without a key of a table inside it: for secrets.
    pub fn to_toml_without(&self, table: &str, secret: &str) -> String {
        let keys = self.keys();
        let find = |key: &&str| self.entries.iter().find(|(name, _)| name.get_ref() == key);
        let written = |(name, value): (&Spanned<Cow<'_, str>>, &Spanned<DeValue<'_>>)| match value.get_ref() {
            DeValue::Table(entries) if name.get_ref() == table => {
                let mut rest = entries.clone();
                rest.remove(secret);
                line(name.get_ref(), &DeValue::Table(rest))
            }
            value => line(name.get_ref(), value),
        };
        keys.iter().filter_map(find).map(written).collect()
    }

    /// Refuses keys that are not `known`. `elsewhere` tells keys that mean something with another `kind`; they are
    /// passed over if the kind was changed by an argument and they were not.
    pub fn allow(&self, known: &[&str], elsewhere: impl Fn(&str) -> bool, kind: &str) -> Result<(), Diagnostic> {
        let lenient = self.is_lenient();
        let mut wrong: Vec<_> = self
            .entries
            .iter()
            .map(|(name, _)| name)
            .filter(|name| !known.contains(&name.get_ref().as_ref()))
            .filter(|name| !(lenient && self.source.argument(&name.span()).is_none() && elsewhere(name.get_ref())))
            .collect();
        wrong.sort_by_key(|name| name.span().start);
        let Some(name) = wrong.first() else { return Ok(()) };
        let key: &str = name.get_ref();
        let (problem, remedy) = if elsewhere(key) {
            (format!("this key does nothing with kind = \"{kind}\""), format!("remove it; {}", known_keys(known)))
        } else {
            let remedy = match nearest(key, known) {
                Some(meant) => format!("did you mean {meant}?"),
                None => known_keys(known),
            };
            ("there is no such key".to_owned(), remedy)
        };
        Err(self.source.error(name.span(), &self.field(key), problem, remedy))
    }
}

fn known_keys(known: &[&str]) -> String {
    match known {
        [] => "there are no keys here".to_owned(),
        [key] => format!("the only key here is {key}"),
        _ => format!("the keys here are {}", known.join(", ")),
    }
}

/// A value and where it stands.
#[derive(Clone)]
pub struct Value<'d> {
    source: &'d Source<'d>,
    field: String,
    value: &'d Spanned<DeValue<'d>>,
}

impl<'d> Value<'d> {
    /// An error about this value.
    pub fn error(&self, problem: impl Into<String>, remedy: impl Into<String>) -> Diagnostic {
        self.source.error(self.value.span(), &self.field, problem, remedy)
    }

    /// As an error, why this value is refused.
    pub fn refuse(&self, wrong: Wrong) -> Diagnostic {
        self.error(wrong.problem, wrong.remedy)
    }

    /// The directory of the file that it stands in: what paths are seen from.
    pub fn directory(&self) -> &'d Path {
        Path::new(self.source.file).parent().unwrap_or(Path::new(""))
    }

    fn wrong_type(&self, wanted: &str) -> Diagnostic {
        let found = match self.value.get_ref() {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) => "an integer",
            DeValue::Float(_) => "a number with a decimal point",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        self.error(format!("this is {found}"), format!("give {wanted}"))
    }

    /// The value as an argument takes it (see [`Settings`]): TOML, but text without quotes where it would be taken for
    /// the same text.
    pub fn to_argument(&self) -> String {
        match self.value.get_ref() {
            DeValue::String(text) if is_plain_text(text) => text.to_string(),
            other => value(other),
        }
    }

    /// The elements of a list.
    pub fn list(&self) -> Option<Vec<Value<'d>>> {
        match self.value.get_ref() {
            DeValue::Array(elements) => Some(elements.iter().map(|value| Value { value, ..self.clone() }).collect()),
            _ => None,
        }
    }

    /// Text.
    pub fn text(&self) -> Result<&'d str, Diagnostic> {
        match self.value.get_ref() {
            DeValue::String(text) => Ok(text),
            _ => Err(self.wrong_type("text in quotes")),
        }
    }

    /// Whether this is text, not a number or a list.
    pub fn is_text(&self) -> bool {
        matches!(self.value.get_ref(), DeValue::String(_))
    }

    /// One of a few words.
    pub fn word<T: Copy>(&self, words: &[(&str, T)]) -> Result<T, Diagnostic> {
        let names: Vec<&str> = words.iter().map(|(name, _)| *name).collect();
        let choices = format!("one of \"{}\"", names.join("\", \""));
        let DeValue::String(text) = self.value.get_ref() else { return Err(self.wrong_type(&choices)) };
        words.iter().find(|(name, _)| name == text).map(|(_, value)| *value).ok_or_else(|| {
            let remedy = match nearest(text, &names) {
                Some(meant) => format!("did you mean \"{meant}\"?"),
                None => format!("give {choices}"),
            };
            self.error(format!("\"{text}\" is unknown"), remedy)
        })
    }

    /// True or false.
    pub fn boolean(&self) -> Result<bool, Diagnostic> {
        match self.value.get_ref() {
            DeValue::Boolean(value) => Ok(*value),
            _ => Err(self.wrong_type("true or false")),
        }
    }

    /// A whole number, zero or more.
    pub fn integer(&self) -> Result<u64, Diagnostic> {
        let DeValue::Integer(integer) = self.value.get_ref() else {
            return Err(self.wrong_type("a whole number"));
        };
        let text = integer.as_str();
        if text.starts_with('-') {
            return Err(self.error(format!("{text} is below zero"), "give a whole number, 0 or more"));
        }
        u64::from_str_radix(text.trim_start_matches('+'), integer.radix())
            .map_err(|_| self.error(format!("{text} is too large"), format!("give a whole number up to {}", u64::MAX)))
    }

    /// A whole number that fits a smaller type.
    pub fn number<T: TryFrom<u64>>(&self) -> Result<T, Diagnostic> {
        let integer = self.integer()?;
        T::try_from(integer).map_err(|_| self.error(format!("{integer} is too large"), "give a smaller number"))
    }

    /// A real number.
    pub fn real(&self) -> Result<f64, Diagnostic> {
        let text = match self.value.get_ref() {
            DeValue::Integer(integer) if integer.radix() == 10 => integer.as_str(),
            DeValue::Float(float) => float.as_str(),
            _ => return Err(self.wrong_type("a number")),
        };
        text.parse().map_err(|_| self.error(format!("{text} is not a number"), "give a number such as 1.0"))
    }

    fn unit<T: FromStr<Err = forebay_tm::units::UnitError>>(
        &self,
        forms: &str,
        from: fn(u64) -> T,
    ) -> Result<T, Diagnostic> {
        match self.value.get_ref() {
            DeValue::Integer(_) => self.integer().map(from),
            DeValue::String(text) => {
                text.parse().map_err(|e: forebay_tm::units::UnitError| self.error(e.problem, e.remedy))
            }
            _ => {
                let mut error = self.wrong_type("");
                error.remedy = forms.to_owned();
                Err(error)
            }
        }
    }

    /// A size.
    pub fn bytes(&self) -> Result<Bytes, Diagnostic> {
        self.unit(Bytes::FORMS, Bytes::new)
    }

    /// A time.
    pub fn duration(&self) -> Result<Duration, Diagnostic> {
        self.unit(Duration::FORMS, Duration::from_ps)
    }

    /// A rate.
    pub fn rate(&self) -> Result<Rate, Diagnostic> {
        self.unit(Rate::FORMS, Rate::from_bps)
    }

    /// One value for all queue numbers, or a list with one for each.
    pub fn per_queue<T>(&self, read: impl Fn(&Self) -> Result<T, Diagnostic>) -> Result<PerQueue<T>, Diagnostic> {
        match self.list() {
            None => read(self).map(PerQueue::All),
            Some(values) => values.iter().map(read).collect::<Result<_, _>>().map(PerQueue::Each),
        }
    }

    /// A list of lists of queue numbers.
    pub fn groups(&self) -> Result<Vec<Vec<usize>>, Diagnostic> {
        let wanted = "a list of lists of queue numbers, such as [[0], [1, 2]]";
        let groups = self.list().ok_or_else(|| self.wrong_type(wanted))?;
        groups
            .iter()
            .map(|group| {
                let members = group.list().ok_or_else(|| group.wrong_type(wanted))?;
                members.iter().map(Value::number).collect()
            })
            .collect()
    }
}
