//! Kinds that other crates bring, beside those of the core.
//!
//! A program registers its kinds when it starts; every reader, writer and list then has them like the core's own.

use forebay_tm::admit::{CustomPolicy, PolicyConfig};
use forebay_tm::described::{Choice, Field};
use forebay_tm::mark::MarkConfig;
use forebay_tm::schedule::SchedulerConfig;
use forebay_tm::trim::TrimConfig;
use std::sync::{PoisonError, RwLock};

static POLICIES: RwLock<Vec<PolicyConfig>> = RwLock::new(Vec::new());

/// Makes a buffer policy of another crate known by its name in files. False, and nothing changes, if there is one of that name.
pub fn register_policy(policy: CustomPolicy) -> bool {
    let policy = PolicyConfig::Custom(policy);
    let mut policies = POLICIES.write().unwrap_or_else(PoisonError::into_inner);
    let is_new =
        !PolicyConfig::NAMES.contains(&policy.name()) && policies.iter().all(|known| known.name() != policy.name());
    if is_new {
        policies.push(policy);
    }
    is_new
}

/// A choice to which other crates may add.
pub(crate) trait Registered: Choice {
    /// What they have added.
    fn added() -> Vec<Self> {
        Vec::new()
    }
}

impl Registered for PolicyConfig {
    fn added() -> Vec<Self> {
        POLICIES.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Registered for SchedulerConfig {}
impl Registered for MarkConfig {}
impl Registered for TrimConfig {}

/// All that can be chosen, with their default settings.
pub(crate) fn choices<C: Registered>() -> Vec<C> {
    C::NAMES.iter().filter_map(|name| C::by_name(name)).chain(C::added()).collect()
}

/// One by its name in files, with its default settings.
pub(crate) fn by_name<C: Registered>(name: &str) -> Option<C> {
    C::by_name(name).or_else(|| C::added().into_iter().find(|choice| choice.name() == name))
}

/// What there is to set with a choice.
pub(crate) fn fields<C: Registered>(choice: &C) -> &'static [Field] {
    choice.clone().settings().map_or(&[], |settings| settings.fields())
}
