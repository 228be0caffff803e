//! Settings of scenarios that are described once: what a file calls them, what they are for, what they may be and what they are by default.
//!
//! [`settings!`](crate::settings) makes a config type from its description. Whoever reads, writes, lists or documents settings goes through
//! the [`Field`]s. The core has the same for its own (`forebay_tm::described`), without files; here a setting reads itself from a value of a
//! file, so that there can be rates, words beside numbers and limits, each with its message.

use forebay_settings::quoted;
pub use forebay_settings::{Diagnostic, Table, Value};
use forebay_tm::{Bytes, Duration, Rate};
use std::fmt::Display;
use std::sync::{PoisonError, RwLock};

/// What it means that a file does not have a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absent {
    /// Its default holds.
    Default,
    /// The file must have it: the default is an example.
    Needed,
    /// The value of this key holds, which the file must have then.
    Else(&'static str),
}

/// One setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its key in files.
    pub key: &'static str,
    /// What it is for, in one sentence.
    pub about: &'static str,
    /// What it may be, in a few words.
    pub values: &'static str,
    /// If a file does not have it.
    pub absent: Absent,
}

impl Field {
    /// A key that a file must have.
    pub const fn needed(key: &'static str, values: &'static str, about: &'static str) -> Self {
        Self { key, about, values, absent: Absent::Needed }
    }

    /// A key that may be left out.
    pub const fn optional(key: &'static str, values: &'static str, about: &'static str) -> Self {
        Self { key, about, values, absent: Absent::Default }
    }
}

/// Why a value is refused: what is wrong with it, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// Without a full stop.
    pub problem: String,
    /// What to do.
    pub remedy: String,
}

impl Wrong {
    /// From any two texts.
    pub fn new(problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { problem: problem.into(), remedy: remedy.into() }
    }

    /// As an error about a value.
    pub fn at(self, value: &Value<'_>) -> Diagnostic {
        value.error(self.problem, self.remedy)
    }
}

/// A type that a setting can have.
pub trait Setting: Sized {
    /// What its values may be, in a few words.
    const VALUES: &'static str;
    /// From a value of a file.
    fn read(value: &Value<'_>) -> Result<Self, Diagnostic>;
    /// As TOML; `None` if it is not set.
    fn text(&self) -> Option<String>;
}

/// Settings whose fields can be read and written by their number.
pub trait Described {
    /// What there is, in the order of files.
    fn fields(&self) -> Vec<Field>;
    /// Changes a field to what a file says.
    fn read(&mut self, field: usize, value: &Value<'_>) -> Result<(), Diagnostic>;
    /// The value of a field as TOML; `None` if it is not set.
    fn text(&self, field: usize) -> Option<String>;
}

/// Makes a config type: each field with its sentence, its type, perhaps another type that it is in files (`u32 as Size<1, 9_000>`), and its
/// default; then, behind a semicolon, a check of its value, and, behind an arrow, what it means that a file does not have it, if that is not the default: `needed` or `like KEY`.
#[macro_export]
macro_rules! settings {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $(
                $(#[doc = $about:literal])+
                pub $field:ident: $type:ty $(as $via:ty)? = $default:expr
                    $(; $check:expr)? $(=> $absent:ident $($like:ident)?)?,
            )*
        }
    ) => {
        $(#[$meta])*
        pub struct $name {
            $($(#[doc = $about])+ pub $field: $type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        impl $name {
            /// What there is to set.
            pub const FIELDS: &'static [$crate::described::Field] = &[$($crate::described::Field {
                key: stringify!($field),
                about: concat!($($about),+).trim_ascii(),
                values: $crate::settings!(@values $type $(, $via)?),
                absent: $crate::settings!(@absent $($absent $($like)?)?),
            }),*];
        }

        impl $crate::described::Described for $name {
            fn fields(&self) -> Vec<$crate::described::Field> {
                Self::FIELDS.to_vec()
            }

            fn read(
                &mut self,
                field: usize,
                value: &$crate::described::Value<'_>,
            ) -> Result<(), $crate::described::Diagnostic> {
                match (Self::FIELDS[field].key, value) {
                    $((stringify!($field), value) => {
                        let read: $type = $crate::settings!(@read value, $type $(, $via)?);
                        $(($check)(&read).map_err(|wrong: $crate::described::Wrong| wrong.at(value))?;)?
                        self.$field = read;
                    })*
                    _ => {}
                }
                Ok(())
            }

            fn text(&self, field: usize) -> Option<String> {
                match Self::FIELDS[field].key {
                    $(stringify!($field) => $crate::settings!(@text self.$field $(, $via)?),)*
                    _ => None,
                }
            }
        }
    };
    (@values $type:ty) => { <$type as $crate::described::Setting>::VALUES };
    (@values $type:ty, $via:ty) => { <$via as $crate::described::Setting>::VALUES };
    (@read $value:ident, $type:ty) => { <$type as $crate::described::Setting>::read($value)? };
    (@read $value:ident, $type:ty, $via:ty) => { <$via as $crate::described::Setting>::read($value)?.into() };
    (@text $place:expr) => { $crate::described::Setting::text(&$place) };
    (@text $place:expr, $via:ty) => { $crate::described::Setting::text(&<$via>::from($place)) };
    (@absent) => { $crate::described::Absent::Default };
    (@absent needed) => { $crate::described::Absent::Needed };
    (@absent like $key:ident) => { $crate::described::Absent::Else(stringify!($key)) };
}

/// Makes an enum whose variants are words in files a [`Setting`].
#[macro_export]
macro_rules! setting_words {
    ($type:ident { $first:ident = $first_word:literal $(, $variant:ident = $word:literal)* $(,)? }) => {
        impl $type {
            /// The names in files.
            pub const NAMES: &'static [(&'static str, Self)] =
                &[($first_word, Self::$first) $(, ($word, Self::$variant))*];

            /// Its name in files.
            pub fn name(self) -> &'static str {
                match self {
                    Self::$first => $first_word,
                    $(Self::$variant => $word,)*
                }
            }
        }

        impl $crate::described::Setting for $type {
            const VALUES: &'static str = concat!("`\"", $first_word, "\"`" $(, ", `\"", $word, "\"`")*);

            fn read(value: &$crate::described::Value<'_>) -> Result<Self, $crate::described::Diagnostic> {
                value.word(Self::NAMES)
            }

            fn text(&self) -> Option<String> {
                Some(format!("\"{}\"", self.name()))
            }
        }
    };
}

macro_rules! setting_types {
    ($($type:ty, $values:literal, $read:ident, $text:ident;)*) => {
        $(impl Setting for $type {
            const VALUES: &'static str = $values;

            fn read(value: &Value<'_>) -> Result<Self, Diagnostic> {
                value.$read()
            }

            fn text(&self) -> Option<String> {
                Some($text(self))
            }
        })*
    };
}

fn bare(value: &impl Display) -> String {
    value.to_string()
}

fn in_quotes(value: &impl Display) -> String {
    quoted(&value.to_string())
}

fn real(value: &f64) -> String {
    format!("{value:?}")
}

setting_types! {
    f64, "number", real, real;
    u8, "whole number", number, bare;
    u32, "whole number", number, bare;
    usize, "whole number", number, bare;
    bool, "true, false", boolean, bare;
    Bytes, "size", bytes, in_quotes;
    Duration, "time", duration, in_quotes;
    Rate, "rate", rate, in_quotes;
}

impl<T: Setting> Setting for Option<T> {
    const VALUES: &'static str = T::VALUES;

    fn read(value: &Value<'_>) -> Result<Self, Diagnostic> {
        T::read(value).map(Some)
    }

    fn text(&self) -> Option<String> {
        self.as_ref().and_then(Setting::text)
    }
}

/// A size of a packet or of a part of one, from the least to the most bytes.
#[derive(Clone, Copy, Debug)]
pub struct Size<const LEAST: u32, const MOST: u32>(u32);

impl<const LEAST: u32, const MOST: u32> From<u32> for Size<LEAST, MOST> {
    fn from(bytes: u32) -> Self {
        Self(bytes)
    }
}

impl<const LEAST: u32, const MOST: u32> From<Size<LEAST, MOST>> for u32 {
    fn from(size: Size<LEAST, MOST>) -> Self {
        size.0
    }
}

impl<const LEAST: u32, const MOST: u32> Setting for Size<LEAST, MOST> {
    const VALUES: &'static str = "size";

    fn read(value: &Value<'_>) -> Result<Self, Diagnostic> {
        let bytes = value.bytes()?;
        match u32::try_from(bytes.get()) {
            Ok(size) if (LEAST..=MOST).contains(&size) => Ok(Self(size)),
            _ => Err(value.error(format!("{bytes} is out of range"), format!("give {LEAST} to {MOST} bytes"))),
        }
    }

    fn text(&self) -> Option<String> {
        Some(self.0.to_string())
    }
}

/// A value, or `"off"`.
#[derive(Clone, Copy, Debug)]
pub struct OrOff<T>(Option<T>);

impl<T> From<Option<T>> for OrOff<T> {
    fn from(value: Option<T>) -> Self {
        Self(value)
    }
}

impl<T> From<OrOff<T>> for Option<T> {
    fn from(value: OrOff<T>) -> Self {
        value.0
    }
}

impl Setting for OrOff<Bytes> {
    const VALUES: &'static str = "size, `\"off\"`";

    fn read(value: &Value<'_>) -> Result<Self, Diagnostic> {
        let is_off = value.is_text() && value.text()? == "off";
        Ok(Self(if is_off { None } else { Some(value.bytes()?) }))
    }

    fn text(&self) -> Option<String> {
        Some(self.0.map_or_else(|| quoted("off"), |bytes| in_quotes(&bytes)))
    }
}

/// The keys of some settings: their own, then those that stand for several of them.
pub fn keys(fields: &[Field]) -> Vec<&'static str> {
    let mut keys: Vec<&'static str> = fields.iter().map(|field| field.key).collect();
    for field in fields {
        if let Absent::Else(general) = field.absent {
            if !keys.contains(&general) {
                keys.push(general);
            }
        }
    }
    keys
}

/// Reads settings from a table, as far as they have one of these keys; all others stay as they are.
pub fn read_known(table: &Table<'_>, known: &[&str], settings: &mut dyn Described) -> Result<(), Diagnostic> {
    for (number, field) in settings.fields().iter().enumerate().filter(|(_, field)| known.contains(&field.key)) {
        if let Some(value) = table.get(field.key) {
            settings.read(number, &value)?;
        }
    }
    Ok(())
}

/// Reads settings from a table; it may have other keys, too.
pub fn read(table: &Table<'_>, settings: &mut dyn Described) -> Result<(), Diagnostic> {
    let fields = settings.fields();
    for (number, field) in fields.iter().enumerate() {
        let general = if let Absent::Else(key) = field.absent { table.get(key) } else { None };
        match table.get(field.key).or(general) {
            Some(value) => settings.read(number, &value)?,
            None if field.absent == Absent::Default => {}
            None => {
                let example = settings.text(number).unwrap_or_default();
                return Err(table.missing(field.key, &format!("{} = {example}", field.key)));
            }
        }
    }
    refuse_idle(table, &fields)
}

/// Refuses a key that stands for others, all of which are there.
fn refuse_idle(table: &Table<'_>, fields: &[Field]) -> Result<(), Diagnostic> {
    for general in keys(fields).into_iter().filter(|key| fields.iter().all(|field| field.key != *key)) {
        let mut like = fields.iter().filter(|field| field.absent == Absent::Else(general));
        if let (Some(value), true) = (table.get(general), like.all(|field| table.has(field.key))) {
            return Err(value.error("every tier has its own, so this does nothing", "remove it"));
        }
    }
    Ok(())
}

/// Settings as lines of TOML.
pub fn lines(settings: &dyn Described) -> String {
    let line = |(number, field): (usize, &Field)| {
        settings.text(number).map(|text| format!("{} = {text}\n", field.key)).unwrap_or_default()
    };
    settings.fields().iter().enumerate().map(line).collect()
}

/// Kinds that other crates have registered, each by its name in files.
pub(crate) struct Registry<T>(RwLock<Vec<(&'static str, T)>>);

impl<T: Clone> Registry<T> {
    pub(crate) const fn new() -> Self {
        Self(RwLock::new(Vec::new()))
    }

    /// Adds a kind. False, and nothing changes, if its name is taken.
    pub(crate) fn add(&self, name: &'static str, kind: T, built_in: &[&str]) -> bool {
        let mut kinds = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let is_new = !built_in.contains(&name) && kinds.iter().all(|(known, _)| *known != name);
        if is_new {
            kinds.push((name, kind));
        }
        is_new
    }

    /// All kinds, in the order in which they were registered.
    pub(crate) fn all(&self) -> Vec<(&'static str, T)> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Checks of values.
pub mod check {
    use super::Wrong;
    use forebay_tm::{Bytes, Duration, Rate};

    /// A number from 0 to 1.
    pub fn share(number: &f64) -> Result<(), Wrong> {
        if (0.0..=1.0).contains(number) {
            return Ok(());
        }
        Err(Wrong::new(format!("{number} is out of range"), "give a number from 0 to 1"))
    }

    /// A number above zero.
    pub fn above_zero(number: &f64) -> Result<(), Wrong> {
        if *number > 0.0 && number.is_finite() {
            return Ok(());
        }
        Err(Wrong::new(format!("{number} is out of range"), "give a number above 0"))
    }

    /// One or more.
    pub fn at_least_one(number: &u32) -> Result<(), Wrong> {
        if *number > 0 { Ok(()) } else { Err(Wrong::new("there must be at least one", "give 1 or more")) }
    }

    /// A rate at which something is sent.
    pub fn sends(rate: &Rate) -> Result<(), Wrong> {
        if rate.bps() > 0 { Ok(()) } else { Err(Wrong::new("nothing would ever be sent at this rate", Rate::FORMS)) }
    }

    /// A rate at which something arrives.
    pub fn carries(rate: &Rate) -> Result<(), Wrong> {
        if rate.bps() > 0 { Ok(()) } else { Err(Wrong::new("nothing would ever arrive at this rate", Rate::FORMS)) }
    }

    /// A delay that light could need on earth, not a slip of the unit.
    pub fn delay(delay: &Duration) -> Result<(), Wrong> {
        if *delay <= Duration::from_us(1_000_000) {
            return Ok(());
        }
        Err(Wrong::new(format!("a delay of {delay} is too long"), "give 1s at most, such as \"1us\""))
    }

    /// A time above zero.
    pub fn lasts(span: &Duration) -> Result<(), Wrong> {
        if span.ps() > 0 {
            return Ok(());
        }
        Err(Wrong::new("it must be longer than nothing", "give a time such as \"10us\""))
    }

    /// A size of a flow: not nothing.
    pub fn flow_size(bytes: &Bytes) -> Result<(), Wrong> {
        // Payload is counted in bits and in doubles; nobody needs more.
        if (1..=1 << 53).contains(&bytes.get()) {
            return Ok(());
        }
        Err(Wrong::new(format!("{bytes} is not the size of a flow"), "give 1 byte to 2^53 bytes"))
    }

    /// The same of a value that may be left out.
    pub fn if_set<T>(check: impl Fn(&T) -> Result<(), Wrong>) -> impl Fn(&Option<T>) -> Result<(), Wrong> {
        move |value| value.as_ref().map_or(Ok(()), &check)
    }
}
