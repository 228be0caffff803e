//! Which packets a rule is about.

use forebay_settings::{Diagnostic, Value};

/// The largest number of a segment, an ACK or a transmission that a script can name.
pub const MOST: u32 = 1_000_000;

/// A set of numbers, as ranges: `5`, `[5, 7]`, `"5-9"`, `"5-"`, `["1-3", 7]`, `"all"`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// From, to (inclusive).
    ranges: Vec<(u32, u32)>,
    /// Every so many of each range, counted from its first.
    every: u32,
}

impl Numbers {
    /// One number.
    pub fn one(number: u32) -> Self {
        Self { ranges: vec![(number, number)], every: 1 }
    }

    /// Reads a set; `every` thins out its ranges.
    pub(crate) fn read(value: &Value<'_>, every: u32) -> Result<Self, Diagnostic> {
        let ranges = match value.list() {
            Some(list) if list.is_empty() => return Err(value.error("the list is empty", "name a number")),
            Some(list) => list.iter().map(range).collect::<Result<_, _>>()?,
            None => vec![range(value)?],
        };
        Ok(Self { ranges, every })
    }

    /// Whether a number is in the set.
    pub fn contains(&self, number: u32) -> bool {
        let inside = |(from, to): &(u32, u32)| *from <= number && number <= *to && (number - from) % self.every == 0;
        self.ranges.iter().any(inside)
    }

    /// The smallest number.
    pub fn first(&self) -> u32 {
        self.ranges.iter().map(|(from, _)| *from).min().unwrap_or(0)
    }

    /// The largest number; none if there is no end.
    pub fn last(&self) -> Option<u32> {
        let ends = self.ranges.iter().map(|(_, to)| *to).max()?;
        (ends != u32::MAX).then_some(ends)
    }
}

fn bounded(value: &Value<'_>, number: u64) -> Result<u32, Diagnostic> {
    match u32::try_from(number) {
        Ok(number) if number <= MOST => Ok(number),
        _ => Err(value.error(format!("{number} is too large"), format!("give a number up to {MOST}"))),
    }
}

fn range(value: &Value<'_>) -> Result<(u32, u32), Diagnostic> {
    if !value.is_text() {
        let number = bounded(value, value.integer()?)?;
        return Ok((number, number));
    }
    let text = value.text()?;
    if text == "all" {
        return Ok((0, u32::MAX));
    }
    let wrong = || value.error(format!("\"{text}\" is no range"), "write a number, \"5-9\", \"5-\" or \"all\"");
    let (from, to) = text.split_once('-').ok_or_else(wrong)?;
    let number = |text: &str| {
        let number: u64 = text.trim().parse().map_err(|_| wrong())?;
        bounded(value, number)
    };
    let from = number(from)?;
    let to = if to.trim().is_empty() { u32::MAX } else { number(to)? };
    if to < from {
        return Err(value.error(format!("\"{text}\" ends before it begins"), "write the smaller number first"));
    }
    Ok((from, to))
}
