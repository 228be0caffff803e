//! Schemes written in Python: what they are called, what there is to set, and what becomes of their exceptions.
//!
//! A class is registered by its name. Files then choose it as they choose the built-in ones. An exception in a scheme
//! leaves the simulator as a panic that carries it, and becomes the exception of whatever was called ([`caught`]).

use forebay_tm::ConfigError;
use forebay_tm::described::{Absent, Described, Field, Kind, Value, Wrong};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, PoisonError, RwLock};

/// A class that was registered.
#[derive(Clone, Debug)]
pub(crate) struct Scheme {
    /// Its name in files.
    name: &'static str,
    /// The class as it was registered last.
    class: Arc<Py<PyType>>,
    fields: &'static [Field],
    /// By field.
    defaults: Arc<Vec<Value>>,
}

static SCHEMES: RwLock<BTreeMap<&'static str, Scheme>> = RwLock::new(BTreeMap::new());

/// A setting of a class: its name, one sentence about it, and its default.
pub(crate) type Given = (String, String, Py<PyAny>);

/// The function of the module that makes a class of one kind known by its name. What adds it to the choices of its
/// kind is given.
macro_rules! registers {
    ($(#[$about:meta])* $function:ident, $add:expr) => {
        $(#[$about])*
        #[pyfunction]
        pub(crate) fn $function(
            py: Python<'_>,
            class: &Bound<'_, PyType>,
            name: &str,
            about: &str,
            settings: Vec<Given>,
        ) -> PyResult<bool> {
            Scheme::register(py, class, (name, about), settings, $add)
        }
    };
}
pub(crate) use registers;

impl Scheme {
    /// Makes a class known by its name. `add` adds a choice of that name, with a sentence and its settings, to those of
    /// its kind. False if there is one that is not written in Python.
    pub(crate) fn register(
        py: Python<'_>,
        class: &Bound<'_, PyType>,
        (name, about): (&str, &str),
        settings: Vec<Given>,
        add: impl FnOnce(&'static str, &'static str, Settings) -> bool,
    ) -> PyResult<bool> {
        let (scheme, is_new) = Self::noted(py, class, name, settings)?;
        let is_taken = is_new && !add(scheme.name, about.to_owned().leak(), Settings::new(scheme.clone()));
        if is_taken {
            scheme.forget();
        }
        Ok(!is_taken)
    }

    /// Takes note of a class. The second is whether its name is new.
    fn noted(py: Python<'_>, class: &Bound<'_, PyType>, name: &str, settings: Vec<Given>) -> PyResult<(Self, bool)> {
        let mut schemes = SCHEMES.write().unwrap_or_else(PoisonError::into_inner);
        let known = schemes.get(name).map(|scheme| scheme.name);
        let (mut fields, mut defaults) = (Vec::new(), Vec::new());
        for (key, about, default) in settings {
            let (kind, value) = value_of(default.bind(py))?;
            let (key, about) = (&*key.leak(), &*about.leak());
            fields.push(Field { key, about, kind, optional: false, absent: Absent::Default });
            defaults.push(value);
        }
        let scheme = Self {
            // Names in files live as long as the program.
            name: known.unwrap_or_else(|| name.to_owned().leak()),
            class: Arc::new(class.clone().unbind()),
            fields: fields.leak(),
            defaults: Arc::new(defaults),
        };
        schemes.insert(scheme.name, scheme.clone());
        Ok((scheme, known.is_none()))
    }

    /// Forgets a class that Forebay does not take.
    fn forget(&self) {
        SCHEMES.write().unwrap_or_else(PoisonError::into_inner).remove(self.name);
    }

    /// The class as it is now.
    fn current(&self) -> Self {
        SCHEMES.read().unwrap_or_else(PoisonError::into_inner).get(self.name).unwrap_or(self).clone()
    }
}

/// The first scheme written in Python that a resolved scenario names.
pub(crate) fn used_by(resolved: &str) -> Option<&'static str> {
    let schemes = SCHEMES.read().unwrap_or_else(PoisonError::into_inner);
    schemes.keys().copied().find(|name| resolved.contains(&format!("\"{name}\"")))
}

/// The default of a setting says what it may be.
fn value_of(default: &Bound<'_, PyAny>) -> PyResult<(Kind, Value)> {
    if let Ok(flag) = default.cast_exact::<pyo3::types::PyBool>() {
        return Ok((Kind::Flag, Value::Flag(flag.is_true())));
    }
    if let Ok(number) = default.extract::<u64>() {
        return Ok((Kind::Integer(u64::MAX), Value::Integer(number)));
    }
    match default.extract::<f64>() {
        Ok(number) if !default.is_instance_of::<pyo3::types::PyInt>() => Ok((Kind::Real, Value::Real(number))),
        _ => Err(PyTypeError::new_err("settings are real numbers, whole numbers from 0, or True and False")),
    }
}

/// The settings of a scheme.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    scheme: Scheme,
    /// What is not as the class has it.
    changed: BTreeMap<&'static str, Value>,
}

impl Settings {
    fn new(scheme: Scheme) -> Self {
        Self { scheme, changed: BTreeMap::new() }
    }

    /// What the class itself says of these settings. `key` is what chooses it in files.
    pub(crate) fn check(&self, key: &'static str) -> Result<(), ConfigError> {
        let tried = Python::attach(|py| self.object(py)?.call_method0(py, "check").map(drop));
        tried.map_err(|error| ConfigError::new(key, self.scheme.name, error.to_string()).remedy("see its class"))
    }

    /// An object of the class, with these settings as its attributes.
    pub(crate) fn object(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let scheme = self.scheme.current();
        let object = scheme.class.bind(py).call0()?;
        for (number, field) in scheme.fields.iter().enumerate() {
            match self.get(number) {
                Value::Real(number) => object.setattr(field.key, number)?,
                Value::Integer(number) => object.setattr(field.key, number)?,
                Value::Flag(flag) => object.setattr(field.key, flag)?,
                _ => {}
            }
        }
        Ok(object.unbind())
    }

    /// An attribute of the class that is true.
    pub(crate) fn says(&self, name: &str) -> bool {
        let class = self.scheme.current().class;
        Python::attach(|py| class.bind(py).getattr(name).and_then(|value| value.is_truthy())).unwrap_or(false)
    }
}

impl Described for Settings {
    fn fields(&self) -> &'static [Field] {
        self.scheme.current().fields
    }

    fn get(&self, field: usize) -> Value {
        let scheme = self.scheme.current();
        let (key, default) = (scheme.fields[field].key, &scheme.defaults[field]);
        self.changed.get(key).unwrap_or(default).clone()
    }

    fn set(&mut self, field: usize, value: Value) -> Result<(), Wrong> {
        let Field { key, kind, .. } = &self.scheme.current().fields[field];
        let fits = matches!(
            (kind, &value),
            (Kind::Real, Value::Real(_)) | (Kind::Integer(_), Value::Integer(_)) | (Kind::Flag, Value::Flag(_))
        );
        if !fits {
            return Err(Wrong::kind(*kind));
        }
        self.changed.insert(key, value);
        Ok(())
    }
}

/// An object of a scheme at work.
#[derive(Debug)]
pub(crate) struct Object(Py<PyAny>);

impl Clone for Object {
    /// With a state of its own.
    fn clone(&self) -> Self {
        Python::attach(|py| {
            let copied = py.import("copy").and_then(|module| module.call_method1("deepcopy", (&self.0,)));
            Self(copied.unwrap_or_else(|error| leave(error)).unbind())
        })
    }
}

impl Object {
    pub(crate) fn new(object: Py<PyAny>) -> Self {
        Self(object)
    }

    /// Whether it has a method of its own, and not that of the base class of this name: what is not overridden is not
    /// called.
    pub(crate) fn overrides(object: &Bound<'_, PyAny>, base: &str, name: &str) -> PyResult<bool> {
        let base = object.py().import("forebay")?.getattr(base)?;
        Ok(!object.get_type().getattr(name)?.is(&base.getattr(name)?))
    }

    /// Does something with the object. An exception leaves the simulator.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> T {
        Python::attach(|py| work(self.0.bind(py))).unwrap_or_else(|error| leave(error))
    }
}

/// Leaves whatever is at work, with an exception.
pub(crate) fn leave(error: PyErr) -> ! {
    resume_unwind(Box::new(error))
}

/// Does something in which schemes are at work: their exceptions are its own.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| match panic.downcast::<PyErr>() {
        Ok(error) => *error,
        Err(panic) => resume_unwind(panic),
    })
}
