//! What can be named in a file: the kinds that the readers know, for people who look for one.

use crate::{policy, scheduler};
use forebay_tm::admit::PolicyConfig;
use forebay_tm::schedule::SchedulerConfig;

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

/// The buffer policies.
pub fn policies() -> Vec<Kind> {
    let kind = |name: &&'static str| Kind::new(name, policy::about(name), policy::keys_of(name));
    PolicyConfig::NAMES.iter().map(kind).collect()
}

/// The schedulers.
pub fn schedulers() -> Vec<Kind> {
    let kind = |name: &&'static str| Kind::new(name, scheduler::about(name), scheduler::keys_of(name));
    SchedulerConfig::NAMES.iter().map(kind).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_described() {
        for kind in policies().into_iter().chain(schedulers()) {
            assert!(!kind.about.is_empty() && kind.about.len() < 90, "{kind:?}");
        }
        assert_eq!(policies()[2].keys, ["alpha", "reserved"]);
    }
}
