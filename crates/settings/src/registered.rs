//! Kinds that other crates bring, beside those of the core.
//!
//! A program registers its kinds when it starts; every reader, writer and list then has them like the core's own.

use forebay_tm::admit::PolicyConfig;
use forebay_tm::described::{Choice, Field};
use forebay_tm::mark::MarkConfig;
use forebay_tm::rank::RankConfig;
use forebay_tm::schedule::SchedulerConfig;
use forebay_tm::trim::TrimConfig;
use std::sync::{PoisonError, RwLock};

/// What other crates have brought of a kind.
#[derive(Debug)]
pub struct Registry<T>(RwLock<Vec<T>>);

impl<T: Clone> Registry<T> {
    /// Nothing yet.
    pub const fn new() -> Self {
        Self(RwLock::new(Vec::new()))
    }

    /// Adds one. False, and nothing changes, if its name is among `taken` or that of one that was added before.
    pub fn add(&self, one: T, name: impl Fn(&T) -> &str, taken: &[&str]) -> bool {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let is_new = !taken.contains(&name(&one)) && all.iter().all(|known| name(known) != name(&one));
        if is_new {
            all.push(one);
        }
        is_new
    }

    /// Those that were added, in that order.
    pub fn all(&self) -> Vec<T> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl<T: Clone> Default for Registry<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// A choice to which other crates may add.
pub trait Registered: Choice + 'static {
    /// What they have added. `None` if there is nothing that they could add.
    fn registry() -> Option<&'static Registry<Self>>;
}

macro_rules! registered {
    ($($choice:ty),*) => {
        $(impl Registered for $choice {
            fn registry() -> Option<&'static Registry<Self>> {
                static ADDED: Registry<$choice> = Registry::new();
                Some(&ADDED)
            }
        })*
    };
}

registered!(PolicyConfig, SchedulerConfig, RankConfig, MarkConfig);

/// Trimming is the core's alone.
impl Registered for TrimConfig {
    fn registry() -> Option<&'static Registry<Self>> {
        None
    }
}

/// Makes a scheme of another crate known by its name in files: `register(PolicyConfig::Custom(policy))`, and so for
/// schedulers, rank functions and marking rules. False, and nothing changes, if there is one of that name.
pub fn register<C: Registered>(choice: C) -> bool {
    C::registry().is_some_and(|registry| registry.add(choice, |choice| choice.name(), C::NAMES))
}

/// What other crates have added.
fn added<C: Registered>() -> Vec<C> {
    C::registry().map_or_else(Vec::new, Registry::all)
}

/// All that can be chosen, with their default settings.
pub fn choices<C: Registered>() -> Vec<C> {
    C::NAMES.iter().filter_map(|name| C::by_name(name)).chain(added()).collect()
}

/// One by its name in files, with its default settings.
pub fn by_name<C: Registered>(name: &str) -> Option<C> {
    C::by_name(name).or_else(|| added::<C>().into_iter().find(|choice| choice.name() == name))
}

/// What there is to set with a choice.
pub(crate) fn fields<C: Registered>(choice: &C) -> &'static [Field] {
    choice.clone().settings().map_or(&[], |settings| settings.fields())
}
