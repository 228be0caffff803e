//! What was measured for a statement, by the statement's id.

use crate::counts::Count;
use crate::found::Found;
use crate::stat::Stat;

/// The numbers for one statement. The words, the paper's number and the rule are in the figure's file of claims.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The id in the file.
    pub(crate) id: String,
    /// What the statement is made for, where it is made for several: fills `{0}`, `{1}` and so on.
    pub(crate) at: Vec<String>,
    /// Numbers that the reason quotes: fill `{a}`, `{b}` and so on.
    pub(crate) told: Vec<String>,
    /// The paper's number, where it is computed from data that the authors have published.
    pub(crate) theirs: Option<f64>,
    pub(crate) what: What,
}

/// The numbers themselves.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum What {
    Number(Stat),
    /// One share over another.
    Ratio(Count, Count),
    Order(Vec<(String, Stat)>),
    Points(Vec<(String, Found)>),
}

impl Measured {
    fn new(id: &str, what: What) -> Self {
        Self { id: id.to_owned(), at: Vec::new(), told: Vec::new(), theirs: None, what }
    }

    /// A number.
    pub fn stat(id: &str, stat: &Stat) -> Self {
        Self::new(id, What::Number(stat.clone()))
    }

    /// How many percent more one share is than another.
    pub fn ratio(id: &str, ours: Count, theirs: Count) -> Self {
        Self::new(id, What::Ratio(ours, theirs))
    }

    /// A number for each of several schemes, of which the paper gives the order.
    pub fn order<S: ToString>(id: &str, all: &[(S, Stat)]) -> Self {
        Self::new(id, What::Order(all.iter().map(|(name, stat)| (name.to_string(), stat.clone())).collect()))
    }

    /// Whether something is so at each of several points; points without a number do not count.
    pub fn points<F: Into<Found>>(id: &str, points: Vec<(String, F)>) -> Self {
        let points = points.into_iter().map(|(name, found)| (name, found.into()));
        Self::new(id, What::Points(points.filter(|(_, found)| *found != Found::Nothing).collect()))
    }

    /// For which of several settings the statement is made.
    #[must_use]
    pub fn at<S: ToString>(mut self, at: impl IntoIterator<Item = S>) -> Self {
        self.at = at.into_iter().map(|part| part.to_string()).collect();
        self
    }

    /// Numbers that the reason quotes.
    #[must_use]
    pub fn telling<S: ToString>(mut self, told: impl IntoIterator<Item = S>) -> Self {
        self.told = told.into_iter().map(|part| part.to_string()).collect();
        self
    }

    /// The paper's number, from data that the authors have published.
    #[must_use]
    pub fn theirs(mut self, value: f64) -> Self {
        self.theirs = Some(value);
        self
    }

    /// The id of the statement.
    pub fn statement(&self) -> &str {
        &self.id
    }

    /// The setting as a part of an id: "small-flows-mean".
    pub fn place(&self) -> String {
        slug(&self.at.join(" "))
    }
}

/// Lower case, with hyphens between words.
pub(crate) fn slug(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            c if c.is_ascii_alphanumeric() => out.push(c.to_ascii_lowercase()),
            '.' => out.push('.'),
            _ if !out.ends_with('-') && !out.is_empty() => out.push('-'),
            _ => {}
        }
    }
    out.trim_matches(['-', '.']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_become_parts_of_ids() {
        assert_eq!(
            Measured::stat("x", &Stat::default()).at(["small flows, mean", "80%"]).place(),
            "small-flows-mean-80"
        );
        assert_eq!(slug("ABM (28 KB)"), "abm-28-kb");
        assert_eq!(slug("k = 0.1"), "k-0.1");
    }

    #[test]
    fn points_without_numbers_do_not_count() {
        let points = vec![("a".to_owned(), Found::Yes), ("b".to_owned(), Found::Nothing)];
        assert_eq!(Measured::points("x", points).what, What::Points(vec![("a".to_owned(), Found::Yes)]));
    }
}
