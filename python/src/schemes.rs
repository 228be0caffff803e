//! Schemes written in Python: what they are called, what there is to set, and what becomes of their exceptions.
//!
//! A class is registered by its name. Files then choose it as they choose the built-in ones. An exception in a scheme leaves the
//! simulator as a panic that carries it, and becomes the exception of whatever was called ([`caught`]).

use forebay_sim::described as scenario;
use forebay_tm::described::{Absent, Described, Field, Kind, Value};
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
    pub(crate) name: &'static str,
    /// The class as it was registered last.
    class: Arc<Py<PyType>>,
    fields: &'static [Field],
    /// The same, as scenarios have them.
    in_scenarios: &'static [scenario::Field],
    /// By field.
    defaults: Arc<Vec<Value>>,
}

static SCHEMES: RwLock<BTreeMap<&'static str, Scheme>> = RwLock::new(BTreeMap::new());

/// A setting of a class: its name, one sentence about it, and its default.
type Given = (String, String, Py<PyAny>);

impl Scheme {
    /// Takes note of a class. The second is whether its name is new.
    pub(crate) fn register(
        py: Python<'_>,
        class: &Bound<'_, PyType>,
        name: &str,
        settings: Vec<Given>,
    ) -> PyResult<(Self, bool)> {
        let mut schemes = SCHEMES.write().unwrap_or_else(PoisonError::into_inner);
        let known = schemes.get(name).map(|scheme| scheme.name);
        let (mut fields, mut defaults) = (Vec::new(), Vec::new());
        for (key, about, default) in settings {
            let (kind, value) = value_of(default.bind(py))?;
            let (key, about) = (&*key.leak(), &*about.leak());
            fields.push(Field { key, about, kind, optional: false, absent: Absent::Default });
            defaults.push(value);
        }
        let in_scenarios = fields.iter().map(|field: &Field| {
            let values = match field.kind {
                Kind::Flag => "true, false",
                Kind::Real => "number",
                _ => "whole number",
            };
            scenario::Field::optional(field.key, values, field.about)
        });
        let in_scenarios = in_scenarios.collect::<Vec<_>>().leak();
        let scheme = Self {
            // Names in files live as long as the program.
            name: known.unwrap_or_else(|| name.to_owned().leak()),
            class: Arc::new(class.clone().unbind()),
            fields: fields.leak(),
            in_scenarios,
            defaults: Arc::new(defaults),
        };
        schemes.insert(scheme.name, scheme.clone());
        Ok((scheme, known.is_none()))
    }

    /// Forgets a class that Forebay does not take.
    pub(crate) fn forget(&self) {
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
    pub(crate) fn new(scheme: Scheme) -> Self {
        Self { scheme, changed: BTreeMap::new() }
    }

    /// The name of the scheme in files.
    pub(crate) fn name(&self) -> &'static str {
        self.scheme.name
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

    fn set(&mut self, field: usize, value: Value) -> bool {
        let Field { key, kind, .. } = &self.scheme.current().fields[field];
        let fits = matches!(
            (kind, &value),
            (Kind::Real, Value::Real(_)) | (Kind::Integer(_), Value::Integer(_)) | (Kind::Flag, Value::Flag(_))
        );
        if fits {
            self.changed.insert(key, value);
        }
        fits
    }
}

impl scenario::Described for Settings {
    fn fields(&self) -> &'static [scenario::Field] {
        self.scheme.current().in_scenarios
    }

    fn read(&mut self, field: usize, value: &scenario::Value<'_>) -> Result<(), scenario::Diagnostic> {
        let Field { key, kind, .. } = &self.scheme.current().fields[field];
        let read = match kind {
            Kind::Flag => Value::Flag(value.boolean()?),
            Kind::Real => Value::Real(value.real()?),
            _ => Value::Integer(value.number()?),
        };
        self.changed.insert(key, read);
        Ok(())
    }

    fn text(&self, field: usize) -> Option<String> {
        match self.get(field) {
            Value::Real(number) => Some(format!("{number:?}")),
            Value::Integer(number) => Some(number.to_string()),
            Value::Flag(flag) => Some(flag.to_string()),
            _ => None,
        }
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
