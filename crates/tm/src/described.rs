//! Settings that are described once: what a file calls them, what they are for, what they may be and what they are by
//! default.
//!
//! [`settings!`](crate::described) makes a config type from its description, and [`kinds!`](crate::described) the
//! choice between several. Whoever reads, writes, lists or draws settings goes through the [`Field`]s, so that a new
//! setting is one line in the file of its scheme.

mod in_files;

pub use in_files::{Nanoseconds, OrOff, Size};

use crate::config::PerQueue;
use crate::units::{Bytes, Duration, Rate};
use alloc::string::String;
use alloc::vec::Vec;

/// What the value of a setting may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A real number.
    Real,
    /// A whole number up to this one.
    Integer(u64),
    /// How many of something there are, or which of them.
    Count,
    /// A size.
    Bytes,
    /// A size of a packet or of a part of one, from the least to the most bytes.
    Size(u32, u32),
    /// A time.
    Duration,
    /// A time in whole nanoseconds, in which the clocks of chips count.
    Nanoseconds,
    /// A rate.
    Rate,
    /// True or false.
    Flag,
    /// Any text.
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A value of this kind, or one of these words.
    Or(&'static Kind, &'static [&'static str]),
    /// A list.
    List(&'static Kind),
    /// One for all queue numbers, or a list with one for each.
    PerQueue(&'static Kind),
    /// A list of lists of queue numbers.
    Groups,
    /// What only its owner can read, since it depends on the rest of the file: what it may be, in a few words.
    Special(&'static str),
}

/// The value of a setting.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// It is not set.
    Nothing,
    /// A real number.
    Real(f64),
    /// A whole number.
    Integer(u64),
    /// A size.
    Bytes(Bytes),
    /// A time.
    Duration(Duration),
    /// A rate.
    Rate(Rate),
    /// True or false.
    Flag(bool),
    /// A word.
    Word(&'static str),
    /// Any text.
    Text(String),
    /// Several.
    List(Vec<Value>),
}

/// What it means that a file does not have a setting.
#[derive(Clone, Debug, PartialEq)]
pub enum Absent {
    /// Its default holds.
    Default,
    /// The file must have it, unless its kind is named alone; this is how its value may look, if not like the default.
    Refused(Option<&'static str>),
    /// It must be given in any case: no default is right for all; this is how its value may look, if not like the
    /// default.
    NeverRight(Option<&'static str>),
    /// This, although the default, which stands for the paper's evaluation, is another.
    Means(Value),
    /// The value of this key holds, which the file must have then.
    Like(&'static str),
}

/// One setting.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its key in files.
    pub key: &'static str,
    /// What it is for, in one sentence.
    pub about: &'static str,
    /// What it may be.
    pub kind: Kind,
    /// Whether it may be nothing at all.
    pub optional: bool,
    /// If a file does not have it.
    pub absent: Absent,
}

impl Field {
    /// A key that a file must have.
    pub const fn needed(key: &'static str, kind: Kind, about: &'static str) -> Self {
        Self { key, about, kind, optional: false, absent: Absent::NeverRight(None) }
    }

    /// A key that may be left out.
    pub const fn optional(key: &'static str, kind: Kind, about: &'static str) -> Self {
        Self { key, about, kind, optional: true, absent: Absent::Default }
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

    /// A value that is not of the field's kind. Readers of files see to that before.
    pub fn kind(kind: Kind) -> Self {
        Self::new("this value is of another kind", alloc::format!("give {kind:?}"))
    }
}

/// A type that a setting can have.
pub trait Setting: Sized {
    /// What its values may be.
    const KIND: Kind;
    /// Whether it may be nothing at all.
    const OPTIONAL: bool = false;
    /// The value.
    fn value(&self) -> Value;
    /// From a value of its kind; `None` if it is of another.
    fn from_value(value: Value) -> Option<Self>;
}

/// Settings whose fields can be read and written by their number.
pub trait Described {
    /// What there is, in the order of files.
    fn fields(&self) -> &'static [Field];
    /// The value of a field.
    fn get(&self, field: usize) -> Value;
    /// Changes a field. No change if the value is not of the field's kind, or is refused by its check.
    fn set(&mut self, field: usize, value: Value) -> Result<(), Wrong>;
}

/// One of several kinds of something, each with settings of its own.
pub trait Choice: Clone {
    /// The names in files.
    const NAMES: &'static [&'static str];
    /// One by its name in files, with the defaults of its config type.
    fn by_name(name: &str) -> Option<Self>;
    /// Its name in files.
    fn name(&self) -> &'static str;
    /// What it is, in one sentence.
    fn about(&self) -> &'static str;
    /// How it decides, where a sentence does not say it.
    fn rule(&self) -> &'static str;
    /// Its settings, if it has any.
    fn settings(&mut self) -> Option<&mut dyn Described>;
}

macro_rules! scalar_settings {
    ($($type:ty, $variant:ident;)*) => {
        $(impl Setting for $type {
            const KIND: Kind = Kind::$variant;

            fn value(&self) -> Value {
                Value::$variant(*self)
            }

            fn from_value(value: Value) -> Option<Self> {
                if let Value::$variant(value) = value { Some(value) } else { None }
            }
        })*
    };
}

scalar_settings! {
    f64, Real;
    Bytes, Bytes;
    Duration, Duration;
    Rate, Rate;
    bool, Flag;
}

macro_rules! integer_settings {
    ($($type:ty, $kind:expr;)*) => {
        $(impl Setting for $type {
            const KIND: Kind = $kind;

            #[allow(clippy::cast_lossless, reason = "usize cannot be converted in any other way")]
            fn value(&self) -> Value {
                Value::Integer(*self as u64)
            }

            fn from_value(value: Value) -> Option<Self> {
                if let Value::Integer(value) = value { Self::try_from(value).ok() } else { None }
            }
        })*
    };
}

integer_settings! {
    u8, Kind::Integer(255);
    u16, Kind::Integer((1 << 16) - 1);
    u32, Kind::Integer((1 << 32) - 1);
    u64, Kind::Integer(u64::MAX);
    usize, Kind::Count;
}

impl<T: Setting> Setting for Option<T> {
    const KIND: Kind = T::KIND;
    const OPTIONAL: bool = true;

    fn value(&self) -> Value {
        self.as_ref().map_or(Value::Nothing, Setting::value)
    }

    fn from_value(value: Value) -> Option<Self> {
        if value == Value::Nothing { Some(None) } else { T::from_value(value).map(Some) }
    }
}

impl<T: Setting> Setting for PerQueue<T> {
    const KIND: Kind = Kind::PerQueue(&T::KIND);

    fn value(&self) -> Value {
        match self {
            Self::All(value) => value.value(),
            Self::Each(values) => Value::List(values.iter().map(Setting::value).collect()),
        }
    }

    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::List(values) => values.into_iter().map(T::from_value).collect::<Option<_>>().map(Self::Each),
            value => T::from_value(value).map(Self::All),
        }
    }
}

impl Setting for String {
    const KIND: Kind = Kind::Text;

    fn value(&self) -> Value {
        Value::Text(self.clone())
    }

    fn from_value(value: Value) -> Option<Self> {
        if let Value::Text(text) = value { Some(text) } else { None }
    }
}

macro_rules! list_settings {
    ($($type:ty),*) => {
        $(impl Setting for Vec<$type> {
            const KIND: Kind = Kind::List(&<$type>::KIND);

            fn value(&self) -> Value {
                Value::List(self.iter().map(Setting::value).collect())
            }

            fn from_value(value: Value) -> Option<Self> {
                let Value::List(values) = value else { return None };
                values.into_iter().map(<$type>::from_value).collect()
            }
        })*
    };
}

list_settings!(u8, u32, usize, String);

impl Setting for Vec<Vec<usize>> {
    const KIND: Kind = Kind::Groups;

    fn value(&self) -> Value {
        let group = |group: &Vec<usize>| Value::List(group.iter().map(Setting::value).collect());
        Value::List(self.iter().map(group).collect())
    }

    fn from_value(value: Value) -> Option<Self> {
        let members = |value| match value {
            Value::List(members) => members.into_iter().map(usize::from_value).collect(),
            _ => None,
        };
        if let Value::List(groups) = value { groups.into_iter().map(members).collect() } else { None }
    }
}

/// Makes an enum whose variants are words in files a [`Setting`].
#[macro_export]
macro_rules! words {
    ($type:ident { $($variant:ident = $word:literal),* $(,)? }) => {
        impl $type {
            /// The words in files.
            pub const WORDS: &'static [(&'static str, Self)] = &[$(($word, Self::$variant)),*];

            /// Its word in files.
            pub const fn word(&self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }

        impl $crate::described::Setting for $type {
            const KIND: $crate::described::Kind = $crate::described::Kind::Word(&[$($word),*]);

            fn value(&self) -> $crate::described::Value {
                $crate::described::Value::Word(self.word())
            }

            fn from_value(value: $crate::described::Value) -> Option<Self> {
                match value {
                    $($crate::described::Value::Word($word) => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}
pub use words;

/// What a field says of a file without it.
#[doc(hidden)]
#[macro_export]
macro_rules! absent {
    () => {
        $crate::described::Absent::Default
    };
    (needed) => {
        $crate::described::Absent::Refused(None)
    };
    (needed $example:literal) => {
        $crate::described::Absent::Refused(Some($example))
    };
    (given) => {
        $crate::described::Absent::NeverRight(None)
    };
    (given $example:literal) => {
        $crate::described::Absent::NeverRight(Some($example))
    };
    (otherwise $value:expr) => {
        $crate::described::Absent::Means($value)
    };
    (like $key:expr) => {
        $crate::described::Absent::Like(stringify!($key))
    };
}

/// Makes a config type: each field with its sentence, its type, perhaps another type that it is in files (`u32 as
/// Size<1, 9_000>`), and its default; behind a semicolon a check of its value; and behind an arrow what it means that a
/// file does not have it, if that is not the default: `needed` (the file is refused), `given` (anything is), both with
/// an example if the default is none, `otherwise VALUE` or `like KEY`.
#[macro_export]
macro_rules! settings {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $(
                $(#[doc = $about:literal])+
                pub $field:ident: $type:ty $(as $via:ty)? = $default:expr
                    $(; $check:expr)? $(=> $absent:ident $($what:expr)?)?,
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

        $crate::describe! { $name { $(
            $(#[doc = $about])+ $field: $type $(as $via)? $(; $check)? $(=> $absent $($what)?)?,
        )* } }
    };
}
pub use settings;

/// Describes fields of a config type that is made elsewhere.
#[doc(hidden)]
#[macro_export]
macro_rules! describe {
    (
        $name:ident {
            $(
                $(#[doc = $about:literal])+
                $field:ident: $type:ty $(as $via:ty)? $(; $check:expr)? $(=> $absent:ident $($what:expr)?)?,
            )*
        }
    ) => {
        impl $name {
            /// What there is to set.
            pub const FIELDS: &'static [$crate::described::Field] = &[$($crate::described::Field {
                key: stringify!($field),
                about: concat!($($about),+).trim_ascii(),
                kind: <$crate::describe!(@in_files $type $(, $via)?) as $crate::described::Setting>::KIND,
                optional: <$crate::describe!(@in_files $type $(, $via)?) as $crate::described::Setting>::OPTIONAL,
                absent: $crate::absent!($($absent $($what)?)?),
            }),*];
        }

        impl $crate::described::Described for $name {
            fn fields(&self) -> &'static [$crate::described::Field] {
                Self::FIELDS
            }

            fn get(&self, field: usize) -> $crate::described::Value {
                let values = [$($crate::describe!(@value self.$field $(, $via)?)),*];
                values.into_iter().nth(field).unwrap_or($crate::described::Value::Nothing)
            }

            fn set(
                &mut self,
                field: usize,
                value: $crate::described::Value,
            ) -> Result<(), $crate::described::Wrong> {
                match (Self::FIELDS[field].key, value) {
                    $((stringify!($field), value) => {
                        let read: Option<$crate::describe!(@in_files $type $(, $via)?)> =
                            $crate::described::Setting::from_value(value);
                        let wrong = || $crate::described::Wrong::kind(Self::FIELDS[field].kind);
                        let read: $type = $crate::describe!(@read read.ok_or_else(wrong)? $(, $via)?);
                        $(($check)(&read)?;)?
                        self.$field = read;
                        Ok(())
                    })*
                    _ => Ok(()),
                }
            }
        }
    };
    (@in_files $type:ty) => { $type };
    (@in_files $type:ty, $via:ty) => { $via };
    (@value $place:expr) => { $crate::described::Setting::value(&$place) };
    (@value $place:expr, $via:ty) => { $crate::described::Setting::value(&<$via>::from($place.clone())) };
    (@read $read:expr) => { $read };
    (@read $read:expr, $via:ty) => { $read.into() };
}
pub use describe;

/// Makes the choice between kinds of something: each with its sentence, then its rule where one is needed, its name in
/// files, its variant and its config type; and the type of those that other crates bring, if they may.
#[macro_export]
macro_rules! kinds {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $(#[doc = $about:literal] $(#[doc = $rule:literal])* $word:literal => $variant:ident $(($config:ty))?,)*
        }
        $(custom $custom:ident)?
    ) => {
        $(#[$meta])*
        pub enum $name {
            $(#[doc = $about] $(#[doc = $rule])* $variant $(($config))?,)*
            $(/// One that another crate brings.
            Custom($custom),)?
        }

        impl $name {
            /// The names in files.
            pub const NAMES: &'static [&'static str] = &[$($word),*];

            /// Its name in files.
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $word,)*
                    $(Self::Custom(custom) => $custom::name(custom),)?
                }
            }
        }

        impl $crate::described::Choice for $name {
            const NAMES: &'static [&'static str] = Self::NAMES;

            fn by_name(name: &str) -> Option<Self> {
                match name {
                    $($word => Some(Self::$variant $((<$config>::default()))?),)*
                    _ => None,
                }
            }

            fn name(&self) -> &'static str {
                self.name()
            }

            fn about(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $about.trim_ascii(),)*
                    $(Self::Custom(custom) => $custom::about(custom),)?
                }
            }

            fn rule(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => concat!($($rule),*).trim_ascii(),)*
                    $(Self::Custom(custom) => $custom::rule(custom),)?
                }
            }

            fn settings(&mut self) -> Option<&mut dyn $crate::described::Described> {
                match self {
                    $($crate::kinds!(@pattern $variant config $($config)?) => {
                        $crate::kinds!(@settings config $($config)?)
                    })*
                    $(Self::Custom(custom) => Some($custom::settings_mut(custom)),)?
                }
            }
        }
    };
    (@pattern $variant:ident $config:ident) => { Self::$variant };
    (@pattern $variant:ident $config:ident $type:ty) => { Self::$variant($config) };
    (@settings $config:ident) => { None };
    (@settings $config:ident $type:ty) => { Some($config) };
}
pub use kinds;
