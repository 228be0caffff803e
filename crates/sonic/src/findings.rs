//! What is wrong with a configuration, or worth knowing.

use serde::Serialize;
use std::collections::HashMap;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; shipped configurations have it on purpose.
    Note,
    /// Traffic suffers in situations that happen.
    Warning,
    /// It cannot be applied, or not as it is meant.
    Error,
}

impl Severity {
    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The rule.
    pub rule: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// Where: `TABLE|key` or `TABLE|key.field`.
    pub keys: Vec<String>,
    /// What is the case, and why it is wrong.
    pub why: String,
    /// What happens to traffic.
    pub effect: String,
    /// The change that cures it.
    pub cure: String,
}

/// Findings, in the order in which they were made. The same finding at several keys is one.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    list: Vec<Finding>,
    places: HashMap<(&'static str, String), usize>,
}

impl Findings {
    /// Adds a finding at a key.
    pub fn add(
        &mut self,
        (rule, severity): (&'static str, Severity),
        key: impl Into<String>,
        why: impl Into<String>,
        effect: impl Into<String>,
        cure: impl Into<String>,
    ) {
        let (key, why) = (key.into(), why.into());
        let next = self.list.len();
        let place = *self.places.entry((rule, why.clone())).or_insert(next);
        if place < next {
            let keys = &mut self.list[place].keys;
            if keys.last() != Some(&key) {
                keys.push(key);
            }
            return;
        }
        self.list.push(Finding { rule, severity, keys: vec![key], why, effect: effect.into(), cure: cure.into() });
    }

    /// All of them.
    pub fn list(&self) -> &[Finding] {
        &self.list
    }

    /// The worst severity.
    pub fn worst(&self) -> Option<Severity> {
        self.list.iter().map(|finding| finding.severity).max()
    }

    /// The worst first; of the same severity, in the order in which they were made.
    pub fn sorted(mut self) -> Vec<Finding> {
        self.list.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        self.list
    }
}
