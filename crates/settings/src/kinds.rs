//! What can be named in a file: the kinds that the readers know, for people who look for one.

use crate::described::example;
use crate::registered::{Registered, choices, fields};
use crate::scheduler;
use forebay_tm::admit::PolicyConfig;
use forebay_tm::described::{Absent, Field};
use forebay_tm::mark::MarkConfig;
use forebay_tm::rank::RankConfig;
use forebay_tm::trim::TrimConfig;

/// A kind of something, by its name in files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: String,
    /// The keys that its reader takes.
    pub keys: Vec<&'static str>,
    /// The lines of TOML that a file must have beside its name, with values that will do.
    pub needed: String,
}

impl Kind {
    /// A kind, with all keys that its reader takes; `kind` itself is left out.
    pub fn new(name: &'static str, about: impl Into<String>, keys: &[&'static str]) -> Self {
        let keys = keys.iter().copied().filter(|key| *key != "kind").collect();
        Self { name, about: about.into(), keys, needed: String::new() }
    }
}

/// All kinds of a choice; `more` are the keys that a kind has beside its settings.
fn kinds<C: Registered>(more: impl Fn(&C) -> Vec<&'static str>) -> Vec<Kind> {
    let kind = |choice: &C| {
        let fields = fields(choice);
        let keys: Vec<&str> = fields.iter().map(|field| field.key).chain(more(choice)).collect();
        Kind { needed: needed(choice), ..Kind::new(choice.name(), choice.about(), &keys) }
    };
    choices().iter().map(kind).collect()
}

/// The lines that a file must have beside the name of a choice.
fn needed<C: Registered>(choice: &C) -> String {
    let mut choice = choice.clone();
    let Some(settings) = choice.settings() else { return String::new() };
    let line = |(number, field): (usize, &Field)| match field.absent {
        Absent::Refused(_) | Absent::NeverRight(_) | Absent::Like(_) => {
            Some(format!("{:28} # {}\n", example(settings, number), field.about))
        }
        Absent::Default | Absent::Means(_) => None,
    };
    settings.fields().iter().enumerate().filter_map(line).collect()
}

/// The buffer policies.
pub fn policies() -> Vec<Kind> {
    kinds::<PolicyConfig>(|_| Vec::new())
}

/// The schedulers.
pub fn schedulers() -> Vec<Kind> {
    kinds(scheduler::rank_keys)
}

/// The rank functions of schedulers by rank.
pub fn rank_functions() -> Vec<Kind> {
    kinds::<RankConfig>(|_| Vec::new())
}

/// The marking rules.
pub fn marking_rules() -> Vec<Kind> {
    kinds::<MarkConfig>(|_| Vec::new())
}

/// The trimming schemes.
pub fn trimming_schemes() -> Vec<Kind> {
    kinds::<TrimConfig>(|_| Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_described() {
        for kind in [policies(), schedulers(), rank_functions(), marking_rules(), trimming_schemes()].concat() {
            assert!(!kind.about.is_empty() && kind.about.len() < 90, "{kind:?}");
        }
        assert_eq!(policies()[2].keys, ["alpha", "reserved"]);
        assert_eq!(schedulers()[6].keys, ["capacity", "rank", "flow_weights"]);
    }
}
