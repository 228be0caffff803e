//! What can be named in a file: the kinds that the readers know, for people who look for one.

use crate::described::keys;
use crate::scheduler;
use forebay_tm::admit::PolicyConfig;
use forebay_tm::described::Choice;
use forebay_tm::mark::MarkConfig;
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
}

impl Kind {
    /// A kind, with all keys that its reader takes; `kind` itself is left out.
    pub fn new(name: &'static str, about: impl Into<String>, keys: &[&'static str]) -> Self {
        let keys = keys.iter().copied().filter(|key| *key != "kind").collect();
        Self { name, about: about.into(), keys }
    }
}

/// All kinds of a choice; `more` are the keys that a kind has beside its settings.
fn kinds<C: Choice>(more: impl Fn(&C) -> &'static [&'static str]) -> Vec<Kind> {
    let kind = |name: &&'static str| {
        let choice = C::by_name(name)?;
        let keys: Vec<&str> = keys::<C>(name).into_iter().chain(more(&choice).iter().copied()).collect();
        Some(Kind::new(name, choice.about(), &keys))
    };
    C::NAMES.iter().filter_map(kind).collect()
}

/// The buffer policies.
pub fn policies() -> Vec<Kind> {
    kinds::<PolicyConfig>(|_| &[])
}

/// The schedulers.
pub fn schedulers() -> Vec<Kind> {
    kinds(scheduler::rank_keys)
}

/// The marking rules.
pub fn marking_rules() -> Vec<Kind> {
    kinds::<MarkConfig>(|_| &[])
}

/// The trimming schemes.
pub fn trimming_schemes() -> Vec<Kind> {
    kinds::<TrimConfig>(|_| &[])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_described() {
        for kind in [policies(), schedulers(), marking_rules(), trimming_schemes()].concat() {
            assert!(!kind.about.is_empty() && kind.about.len() < 90, "{kind:?}");
        }
        assert_eq!(policies()[2].keys, ["alpha", "reserved"]);
        assert_eq!(schedulers()[6].keys, ["capacity", "rank", "flow_weights"]);
    }
}
