//! TOML tables with a memory of where everything stands.

use crate::diagnostic::{Diagnostic, nearest};
use forebay_tm::{Bytes, ConfigError, Duration, PerQueue, Rate};
use std::ops::Range;
use std::str::FromStr;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A parsed file.
pub struct Document<'a> {
    file: &'a str,
    text: &'a str,
    root: Spanned<DeTable<'a>>,
}

impl<'a> Document<'a> {
    /// Parses a text; `file` is what errors call it.
    pub fn parse(file: &'a str, text: &'a str) -> Result<Self, Diagnostic> {
        let root = DeTable::parse(text).map_err(|error| {
            let span = error.span().unwrap_or(text.len()..text.len());
            let problem = error.message().lines().collect::<Vec<_>>().join("; ");
            if problem == "duplicate key" {
                let key = text.get(span.clone()).unwrap_or_default();
                return Diagnostic::of_span(file, text, span, key, "this key is there twice", "remove one of them");
            }
            let remedy = "write key = value, one a line, with text in quotes and lists in [ ]";
            Diagnostic::of_span(file, text, span, "", format!("this is not TOML: {problem}"), remedy)
        })?;
        Ok(Self { file, text, root })
    }

    /// The outermost table.
    pub fn root(&self) -> Table<'_> {
        Table { file: self.file, text: self.text, path: String::new(), entries: self.root.get_ref(), span: 0..0 }
    }

    /// Finds the place that a configuration error speaks of.
    pub fn locate(&self, error: &ConfigError) -> Diagnostic {
        let mut table = self.root.get_ref();
        let mut span = None;
        // Rates may stand in the list of ports.
        let field = if error.field == "rate" && !self.root().has("rate") { "ports" } else { error.field };
        for key in field.split('.') {
            let Some((name, value)) = table.iter().find(|(name, _)| name.get_ref() == key) else { break };
            match value.get_ref() {
                DeValue::Table(inner) => {
                    table = inner;
                    span = Some(name.span());
                }
                _ => span = Some(value.span()),
            }
        }
        let problem = format!("{}: {}", error.value, error.problem);
        match span {
            Some(span) => Diagnostic::of_span(self.file, self.text, span, field, problem, &error.remedy),
            None => Diagnostic { field: field.to_owned(), ..Diagnostic::of_file(self.file, problem, &error.remedy) },
        }
    }
}

/// A table of a document.
#[derive(Clone)]
pub struct Table<'d> {
    file: &'d str,
    text: &'d str,
    /// "policy", or empty for the outermost table.
    path: String,
    entries: &'d DeTable<'d>,
    span: Range<usize>,
}

impl<'d> Table<'d> {
    fn field(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// Whether there is such a key.
    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// The value of a key, if it is there.
    pub fn get(&self, key: &str) -> Option<Value<'d>> {
        let (_, value) = self.entries.iter().find(|(name, _)| name.get_ref() == key)?;
        Some(Value { file: self.file, text: self.text, field: self.field(key), value })
    }

    /// The value of a key that must be there.
    pub fn need(&self, key: &str, example: &str) -> Result<Value<'d>, Diagnostic> {
        self.get(key).ok_or_else(|| self.missing(key, example))
    }

    /// The error of a missing key, at the head of the table.
    pub fn missing(&self, key: &str, example: &str) -> Diagnostic {
        let field = self.field(key);
        let remedy = if self.path.is_empty() {
            format!("add {example} at the top of the file")
        } else {
            format!("add {example} to [{}]", self.path)
        };
        if self.path.is_empty() {
            let problem = "this key is missing";
            Diagnostic { field, line: Some(1), ..Diagnostic::of_file(self.file, problem, remedy) }
        } else {
            Diagnostic::of_span(self.file, self.text, self.span.clone(), &field, "this key is missing", remedy)
        }
    }

    /// A table inside this one.
    pub fn table(&self, key: &str) -> Result<Option<Table<'d>>, Diagnostic> {
        let Some((name, value)) = self.entries.iter().find(|(name, _)| name.get_ref() == key) else { return Ok(None) };
        match value.get_ref() {
            DeValue::Table(entries) => {
                Ok(Some(Table { file: self.file, text: self.text, path: self.field(key), entries, span: name.span() }))
            }
            _ => Err(self.get(key).expect("just found").error(
                "this must be a table",
                format!("write [{}] on a line of its own, and its keys below", self.field(key)),
            )),
        }
    }

    /// Refuses keys that are not `known`. `elsewhere` tells keys that mean something with another `kind`.
    pub fn allow(&self, known: &[&str], elsewhere: impl Fn(&str) -> bool, kind: &str) -> Result<(), Diagnostic> {
        let mut wrong: Vec<_> =
            self.entries.iter().filter(|(name, _)| !known.contains(&name.get_ref().as_ref())).collect();
        wrong.sort_by_key(|(name, _)| name.span().start);
        let Some((name, _)) = wrong.first() else { return Ok(()) };
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
        Err(Diagnostic::of_span(self.file, self.text, name.span(), &self.field(key), problem, remedy))
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
    file: &'d str,
    text: &'d str,
    field: String,
    value: &'d Spanned<DeValue<'d>>,
}

impl<'d> Value<'d> {
    /// An error about this value.
    pub fn error(&self, problem: impl Into<String>, remedy: impl Into<String>) -> Diagnostic {
        Diagnostic::of_span(self.file, self.text, self.value.span(), &self.field, problem, remedy)
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

    /// The elements of a list.
    pub fn list(&self) -> Option<Vec<Value<'d>>> {
        match self.value.get_ref() {
            DeValue::Array(elements) => Some(elements.iter().map(|value| Value { value, ..self.clone() }).collect()),
            _ => None,
        }
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
