//! Schemes that other crates bring: how they are chosen, and how they are called through a pointer.
//!
//! A scheme of this crate is a variant of an enum, and no call of it goes through a pointer. One of another crate is
//! the variant `Custom`: in a configuration a [`Custom`] choice with its settings, and at work a box behind a trait
//! with the same methods.

use crate::described::{Described, Field, Value, Wrong};
use alloc::boxed::Box;
use core::fmt::{self, Debug, Formatter};

/// Settings of another crate that can do what `R`, such as `dyn PolicySettings`, asks for.
trait Held<R: ?Sized>: Send + Sync {
    fn role(&self) -> &R;
    fn described(&self) -> &dyn Described;
    fn described_mut(&mut self) -> &mut dyn Described;
    fn copy(&self) -> Box<dyn Held<R>>;
}

/// Settings of a type, with the way to see them as an `R`.
struct Settings<S, R: ?Sized> {
    settings: S,
    role: fn(&S) -> &R,
}

impl<S: Described + Clone + Send + Sync + 'static, R: ?Sized + 'static> Held<R> for Settings<S, R> {
    fn role(&self) -> &R {
        (self.role)(&self.settings)
    }

    fn described(&self) -> &dyn Described {
        &self.settings
    }

    fn described_mut(&mut self) -> &mut dyn Described {
        &mut self.settings
    }

    fn copy(&self) -> Box<dyn Held<R>> {
        Box::new(Self { settings: self.settings.clone(), role: self.role })
    }
}

/// The choice of a scheme of another crate, with its settings, which are an `R`.
pub struct Custom<R: ?Sized> {
    name: &'static str,
    about: &'static str,
    rule: &'static str,
    settings: Box<dyn Held<R>>,
}

impl<R: ?Sized + 'static> Custom<R> {
    /// A scheme by the name that it has in files, one sentence about it, its settings, and these seen as what they are
    /// for.
    pub fn of<S: Described + Clone + Send + Sync + 'static>(
        name: &'static str,
        about: &'static str,
        settings: S,
        role: fn(&S) -> &R,
    ) -> Self {
        Self { name, about, rule: "", settings: Box::new(Settings { settings, role }) }
    }

    /// Its name in files.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// What it is, in one sentence.
    pub const fn about(&self) -> &'static str {
        self.about
    }

    /// How it decides, where the sentence does not say it.
    pub const fn rule(&self) -> &'static str {
        self.rule
    }

    /// The same with a rule for lists and tables.
    #[must_use]
    pub fn with_rule(self, rule: &'static str) -> Self {
        Self { rule, ..self }
    }

    /// What its settings are for.
    pub fn role(&self) -> &R {
        self.settings.role()
    }

    /// What there is to set.
    pub fn settings(&self) -> &dyn Described {
        self.settings.described()
    }

    /// What there is to set, to be changed.
    pub fn settings_mut(&mut self) -> &mut dyn Described {
        self.settings.described_mut()
    }
}

impl<R: ?Sized + 'static> Described for Custom<R> {
    fn fields(&self) -> &'static [Field] {
        self.settings().fields()
    }

    fn get(&self, field: usize) -> Value {
        self.settings().get(field)
    }

    fn set(&mut self, field: usize, value: Value) -> Result<(), Wrong> {
        self.settings_mut().set(field, value)
    }
}

impl<R: ?Sized> Clone for Custom<R> {
    fn clone(&self) -> Self {
        Self { settings: self.settings.copy(), ..*self }
    }
}

impl<R: ?Sized + 'static> PartialEq for Custom<R> {
    fn eq(&self, other: &Self) -> bool {
        let (one, two) = (self.settings(), other.settings());
        self.name == other.name && (0..one.fields().len()).all(|field| one.get(field) == two.get(field))
    }
}

impl<R: ?Sized> Debug for Custom<R> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let settings = self.settings.described();
        let mut shown = f.debug_struct(self.name);
        for (number, field) in settings.fields().iter().enumerate() {
            shown.field(field.key, &settings.get(number));
        }
        shown.finish()
    }
}

/// Methods of a trait that can be called through a pointer: declared, passed on to the scheme itself, or passed on to
/// the box that has one. A list of methods is a macro of its own, so that it is written once and used in all three
/// ways.
macro_rules! methods {
    (declare $trait:ident looks { $(fn $look:ident($($a:ident: $A:ty),*) $(-> $L:ty)?;)* }
        changes { $(fn $change:ident($($b:ident: $B:ty),*) $(-> $C:ty)?;)* }) => {
        $(fn $look(&self $(, $a: $A)*) $(-> $L)?;)*
        $(fn $change(&mut self $(, $b: $B)*) $(-> $C)?;)*
    };
    (scheme $trait:ident looks { $(fn $look:ident($($a:ident: $A:ty),*) $(-> $L:ty)?;)* }
        changes { $(fn $change:ident($($b:ident: $B:ty),*) $(-> $C:ty)?;)* }) => {
        $(fn $look(&self $(, $a: $A)*) $(-> $L)? { $trait::$look(self $(, $a)*) })*
        $(fn $change(&mut self $(, $b: $B)*) $(-> $C)? { $trait::$change(self $(, $b)*) })*
    };
    (boxed $trait:ident looks { $(fn $look:ident($($a:ident: $A:ty),*) $(-> $L:ty)?;)* }
        changes { $(fn $change:ident($($b:ident: $B:ty),*) $(-> $C:ty)?;)* }) => {
        $(fn $look(&self $(, $a: $A)*) $(-> $L)? { self.0.$look($($a),*) })*
        $(fn $change(&mut self $(, $b: $B)*) $(-> $C)? { self.0.$change($($b),*) })*
    };
}
pub(crate) use methods;

/// Makes the box of a scheme: `$name(Box<dyn $erased>)`, which is cloned by `copy`.
macro_rules! boxed {
    ($(#[$meta:meta])* $name:ident($erased:ident) of $trait:ident) => {
        $(#[$meta])*
        #[derive(Debug)]
        pub(crate) struct $name(alloc::boxed::Box<dyn $erased>);

        impl $name {
            pub(super) fn new(scheme: impl $trait) -> Self {
                Self(alloc::boxed::Box::new(scheme))
            }
        }

        impl Clone for $name {
            fn clone(&self) -> Self {
                Self(self.0.copy())
            }
        }
    };
}
pub(crate) use boxed;
