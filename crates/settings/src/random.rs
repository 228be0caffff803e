//! Random settings, drawn from their descriptions, so that a new setting is drawn, too; and what holds of all settings
//! that describe themselves. For tests.

use crate::described::{read_settings, setting_lines, text};
use crate::diagnostic::Diagnostic;
use crate::table::Document;
use forebay_tm::described::{Described, Field, Kind, Value, Wrong};
use forebay_tm::random::Random;
use forebay_tm::{Bytes, Duration, Rate};

/// Where randomness comes from: numbers below a given one.
pub struct Draw<'a>(pub &'a mut dyn FnMut(u64) -> u64);

impl Draw<'_> {
    /// A number below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        (self.0)(n)
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == n - 1
    }

    /// One of these.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }

    /// One of the usual numbers, or, once in 32 times, an extreme one.
    pub fn number(&mut self, usual: &[u64]) -> u64 {
        if self.one_in(32) {
            let most = (1 << 32) - 1;
            self.pick(&[1, 0, u64::MAX, 1 << 63, (1 << 63) - 1, most + 1, most, 1 << 31, (1 << 31) - 1, 1 << 21])
        } else {
            self.pick(usual)
        }
    }

    fn real(&mut self) -> f64 {
        if self.one_in(32) {
            self.pick(&[1e300, 1e-300, f64::MAX, 0.0, -1.0, f64::NAN])
        } else {
            self.pick(&[1.0, 0.5, 0.1, 8.0, 2.0, 0.0, 64.0, 0.9, 1.0 / 3.0])
        }
    }

    /// A rate of a port.
    pub fn rate(&mut self) -> Rate {
        match self.below(4) {
            0 | 1 => Rate::from_gbps(10),
            2 => Rate::from_gbps(1 + self.below(40)),
            _ => Rate::from_bps(self.number(&[999_999_937, 1, 400_000_000_000, 1 << 58])),
        }
    }

    /// Groups that cover each queue number once; rarely not.
    fn groups(&mut self, queues: usize) -> Value {
        let mut groups = vec![Vec::new(); queues];
        for k in 0..queues + usize::from(self.one_in(64)) {
            groups[self.below(queues as u64) as usize].push(Value::Integer(k as u64));
        }
        Value::List(groups.into_iter().filter(|group| !group.is_empty()).map(Value::List).collect())
    }

    /// A value of a kind, or the default again, for ports with so many queues. What is allocated for stays small.
    pub fn value(&mut self, kind: Kind, default: &Value, queues: usize) -> Value {
        if self.one_in(4) && !matches!(default, Value::Duration(_) | Value::List(_)) {
            return default.clone();
        }
        let none = Value::List(Vec::new());
        match kind {
            Kind::Real => Value::Real(self.real()),
            Kind::Integer(most) => Value::Integer(self.number(&[2, 1, 4, 8, 0, 15, 64, 1_000]).min(most)),
            Kind::Count => Value::Integer(self.pick(&[4, 1, 2, 8, 0, 3, 16, 64, 65, 100])),
            Kind::Bytes => Value::Bytes(Bytes::new(self.number(&[1_500, 1, 64, 500, 3_000, 0, 200, 6_000, 12_000]))),
            Kind::Duration => {
                Value::Duration(Duration::from_ps(self.number(&[1_000_000, 100_000, 500_000, 5_000_000, 1, 51_200])))
            }
            Kind::Nanoseconds => Value::Duration(Duration::from_ps(1_000 * self.below(1 << 20))),
            Kind::Size(least, most) => Value::Integer(u64::from(self.pick(&[least, most, least + (most - least) / 2]))),
            Kind::Rate => Value::Rate(self.rate()),
            Kind::Flag => Value::Flag(self.one_in(2)),
            Kind::Text | Kind::Special(_) => default.clone(),
            Kind::Word(words) => Value::Word(self.pick(words)),
            Kind::Or(other, words) => match self.one_in(2) {
                true => Value::Word(self.pick(words)),
                false => self.value(*other, &none, queues),
            },
            Kind::List(one) => {
                let count = self.below(4);
                Value::List((0..count).map(|_| self.value(*one, &none, queues)).collect())
            }
            Kind::PerQueue(one) => {
                if self.one_in(2) {
                    // Rarely a wrong number of them.
                    let n = queues + usize::from(self.one_in(64));
                    Value::List((0..n).map(|_| self.value(*one, &none, queues)).collect())
                } else {
                    self.value(*one, &none, queues)
                }
            }
            Kind::Groups => self.groups(queues),
        }
    }

    /// Draws all settings, each until its check takes it. What the checks refused comes back: the number of the field,
    /// and the value.
    pub fn fill(&mut self, settings: &mut dyn Described, queues: usize) -> Vec<(usize, Value)> {
        let mut refused = Vec::new();
        for (number, field) in settings.fields().iter().enumerate() {
            let Field { kind, optional, .. } = *field;
            for _ in 0..100 {
                let drawn = match optional && self.one_in(2) {
                    true => Value::Nothing,
                    false => self.value(kind, &settings.get(number), queues),
                };
                match settings.set(number, drawn.clone()) {
                    Ok(()) => break,
                    Err(_) => refused.push((number, drawn)),
                }
            }
        }
        refused
    }
}

/// The settings of something that may have some, as settings.
#[derive(Clone, Debug)]
pub struct Of<T>(pub T, pub fn(&mut T) -> Option<&mut dyn Described>);

impl<T: Clone> Described for Of<T> {
    fn fields(&self) -> &'static [Field] {
        (self.1)(&mut self.0.clone()).map_or(&[], |settings| settings.fields())
    }

    fn get(&self, field: usize) -> Value {
        (self.1)(&mut self.0.clone()).map_or(Value::Nothing, |settings| settings.get(field))
    }

    fn set(&mut self, field: usize, value: Value) -> Result<(), Wrong> {
        (self.1)(&mut self.0).map_or(Ok(()), |settings| settings.set(field, value))
    }
}

/// Reads settings from a text.
fn read(text: &str, into: &mut dyn Described) -> Result<(), Diagnostic> {
    let document = Document::parse("random.toml", text)?;
    read_settings(&document.root(), into)
}

/// Values that no setting of a kind can have, as files could have them.
fn out_of_kind(kind: Kind) -> Vec<String> {
    // Nothing is a date.
    let mut wrong = vec!["2026-11-18".to_owned()];
    match kind {
        Kind::Integer(most) => wrong.extend([format!("{}", u128::from(most) + 1), "-1".to_owned(), "1.5".to_owned()]),
        Kind::Size(least, most) => {
            wrong.extend(least.checked_sub(1).map(|less| less.to_string()));
            wrong.push((u64::from(most) + 1).to_string());
        }
        Kind::Count => wrong.extend(["-1".to_owned(), format!("{}", u128::from(u64::MAX) + 1)]),
        Kind::Bytes | Kind::Duration | Kind::Rate => wrong.extend(["-1".to_owned(), "\"1 parsec\"".to_owned()]),
        Kind::Nanoseconds => wrong.push("\"1ps\"".to_owned()),
        Kind::Word(_) => wrong.push("\"no such word\"".to_owned()),
        Kind::Flag => wrong.push("\"true\"".to_owned()),
        _ => {}
    }
    wrong
}

/// Holds settings to what must be true of all: what is written reads back as the same; every key is read; what the
/// checks take is accepted; what they refuse, and what is of another kind, is refused by the reader at its line, with
/// its key.
///
/// # Panics
///
/// If one of these is not so.
pub fn check_settings(what: &str, make: &dyn Fn() -> Box<dyn Described>) {
    let fields = make().fields();
    let mut has_moved = vec![false; fields.len()];
    for seed in 0..200 {
        let mut random = Random::stream(seed, what, 0);
        let mut below = |n| random.below(n);
        let mut settings = make();
        let refused = Draw(&mut below).fill(&mut *settings, 3);
        let written = setting_lines(&*settings);
        let mut again = make();
        read(&written, &mut *again).unwrap_or_else(|error| panic!("{what}: {error}\n{written}"));
        for (number, field) in fields.iter().enumerate() {
            let (drawn, read) = (text(&settings.get(number)), text(&again.get(number)));
            // What is not written has the value that holds in files without it.
            if drawn.is_some() {
                assert_eq!(drawn, read, "{what}: {} of\n{written}", field.key);
                has_moved[number] |= drawn != text(&make().get(number));
            }
        }
        for (number, value) in refused {
            let Some(value) = text(&value) else { continue };
            assert_refused(what, make, &written, fields[number].key, &value);
        }
        for field in fields {
            for value in out_of_kind(field.kind) {
                assert_refused(what, make, &written, field.key, &value);
            }
        }
    }
    for (field, has_moved) in fields.iter().zip(has_moved) {
        let is_drawn = !matches!(field.kind, Kind::Text | Kind::Special(_));
        assert!(has_moved || !is_drawn, "{what}: {} was never read as anything but its default", field.key);
    }
}

/// A file whose key has this value instead is refused there.
fn assert_refused(what: &str, make: &dyn Fn() -> Box<dyn Described>, file: &str, key: &str, value: &str) {
    let own = format!("{key} = ");
    let others = file.lines().filter(|line| !line.starts_with(&own));
    let lines: Vec<String> = others.map(str::to_owned).chain([format!("{own}{value}")]).collect();
    let text = lines.join("\n");
    let error = read(&text, &mut *make()).expect_err(&format!("{what}: {key} = {value} was taken in\n{text}"));
    assert_eq!(error.field, key, "{what}: {error}\n{text}");
    assert_eq!(error.line, Some(lines.len()), "{what}: {error}\n{text}");
    assert!(!error.remedy.is_empty(), "{what}: {error}");
}
