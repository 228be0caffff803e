//! Errors as exceptions.

use forebay_runner::{Error as RunnerError, WayOut};
use forebay_settings::Diagnostic;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::{PyErr, create_exception};
use std::path::Path;

create_exception!(
    forebay,
    Error,
    PyValueError,
    "Something that the caller can put right: file, line, key, problem and remedy."
);
create_exception!(forebay, InternalError, PyRuntimeError, "A mistake in Forebay itself.");

/// What an exception has beside its text.
struct Parts<'e> {
    file: Option<String>,
    line: Option<usize>,
    key: &'e str,
    problem: &'e str,
    remedy: String,
}

/// The exception of an error, in the words of Python.
pub(crate) fn exception(py: Python<'_>, error: &RunnerError) -> PyErr {
    match error {
        RunnerError::Settings(diagnostic) => of_settings(py, diagnostic),
        RunnerError::Directory { path, problem, way_out } => {
            let remedy = match way_out {
                WayOut::Another => "give another directory",
                WayOut::Replace => "give another directory, or replace what is here with force=True",
                WayOut::Wait => "wait for it, stop it, or give another directory",
                WayOut::Room => {
                    "make room, give another directory, or take fewer samples: measure.sample, queues, timeline"
                }
            };
            let file = Some(path.display().to_string());
            let parts = Parts { file, line: None, key: "", problem, remedy: remedy.to_owned() };
            raised(py, plain_text(&parts), parts)
        }
    }
}

/// An error that the package itself has found.
pub(crate) fn refused(py: Python<'_>, what: &str, problem: &str, remedy: &str) -> PyErr {
    let parts = Parts { file: None, line: None, key: what, problem, remedy: remedy.to_owned() };
    raised(py, plain_text(&parts), parts)
}

/// How the names of files end that the package reads or writes.
const FILES: [&str; 10] = ["toml", "json", "csv", "parquet", "pcap", "pcapng", "gz", "pisa", "html", "txt"];

/// Whether an error that is about no line is about a file, rather than about something that was asked for.
fn names_a_file(what: &str) -> bool {
    let path = Path::new(what);
    let is_known = path.extension().is_some_and(|end| FILES.iter().any(|known| *known == end));
    path.exists() || is_known || path.components().count() > 1
}

fn of_settings(py: Python<'_>, diagnostic: &Diagnostic) -> PyErr {
    // An override has no file: its key says where it is from.
    let given = diagnostic.file.strip_prefix("--set ").or_else(|| diagnostic.file.strip_prefix("grid "));
    let (problem, remedy) = (in_python(&diagnostic.problem), in_python(&diagnostic.remedy));
    let shown = Diagnostic {
        file: given.map_or_else(|| diagnostic.file.clone(), str::to_owned),
        problem: problem.clone(),
        remedy: remedy.clone(),
        ..diagnostic.clone()
    };
    if given.is_none() && diagnostic.line.is_none() && diagnostic.field.is_empty() && !names_a_file(&shown.file) {
        let parts = Parts { file: None, line: None, key: &shown.file, problem: &problem, remedy };
        return raised(py, plain_text(&parts), parts);
    }
    let text = shown.to_string();
    let parts = Parts {
        file: given.is_none().then(|| diagnostic.file.clone()),
        line: diagnostic.line,
        key: &diagnostic.field,
        problem: &problem,
        remedy,
    };
    raised(py, text.strip_prefix("error: ").unwrap_or(&text).to_owned(), parts)
}

/// The command line's arguments as those of functions.
fn in_python(text: &str) -> String {
    text.replace("write --seeds 1-5 instead", "give them as seeds=")
        .replace("--set gives", "an override gives")
        .replace("--set ", "the override ")
        .replace("`forebay run` or `forebay sweep` has written", "a run or a sweep has written")
        .replace(
            "write KEY=VALUE with the key's tables before it, such as policy.alpha=0.5",
            "write a key with its tables before it, such as \"policy.alpha\"",
        )
}

fn plain_text(parts: &Parts<'_>) -> String {
    let what = parts.file.as_deref().unwrap_or(parts.key);
    let begin = if what.is_empty() { String::new() } else { format!("{what}: ") };
    let end = if parts.remedy.is_empty() { String::new() } else { format!("\n  help: {}", parts.remedy) };
    format!("{begin}{}{end}", parts.problem)
}

fn raised(py: Python<'_>, text: String, parts: Parts<'_>) -> PyErr {
    let error = Error::new_err(text);
    let value = error.value(py);
    // An exception takes any attribute.
    let _ = value.setattr("file", parts.file);
    let _ = value.setattr("line", parts.line);
    let _ = value.setattr("key", Some(parts.key).filter(|key| !key.is_empty()));
    let _ = value.setattr("problem", parts.problem);
    let _ = value.setattr("remedy", parts.remedy);
    error
}

/// Results whose errors are exceptions.
pub(crate) trait OrRaise<T> {
    /// The value, or the exception.
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T, E: Into<RunnerError>> OrRaise<T> for Result<T, E> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| exception(py, &error.into()))
    }
}
