//! What settings are in files, where that is not their type: for `as` in [`settings!`](crate::settings).

use super::{Kind, Setting, Value};
use crate::units::Duration;

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
    const KIND: Kind = Kind::Size(LEAST, MOST);

    fn value(&self) -> Value {
        self.0.value()
    }

    fn from_value(value: Value) -> Option<Self> {
        u32::from_value(value).filter(|bytes| (LEAST..=MOST).contains(bytes)).map(Self)
    }
}

/// A time in whole nanoseconds, in which the clocks of chips count.
#[derive(Clone, Copy, Debug)]
pub struct Nanoseconds(Duration);

impl From<Duration> for Nanoseconds {
    fn from(time: Duration) -> Self {
        Self(time)
    }
}

impl From<Nanoseconds> for Duration {
    fn from(time: Nanoseconds) -> Self {
        time.0
    }
}

impl Setting for Nanoseconds {
    const KIND: Kind = Kind::Nanoseconds;

    fn value(&self) -> Value {
        self.0.value()
    }

    fn from_value(value: Value) -> Option<Self> {
        Duration::from_value(value).filter(|time| time.ps() % 1_000 == 0).map(Self)
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

impl<T: Setting> Setting for OrOff<T> {
    const KIND: Kind = Kind::Or(&T::KIND, &["off"]);

    fn value(&self) -> Value {
        self.0.as_ref().map_or(Value::Word("off"), Setting::value)
    }

    fn from_value(value: Value) -> Option<Self> {
        if value == Value::Word("off") { Some(Self(None)) } else { T::from_value(value).map(|value| Self(Some(value))) }
    }
}
