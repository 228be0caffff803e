//! Verilator and Yosys, run as they are.

use std::fmt;
use std::path::Path;
use std::process::Command;

/// What went wrong, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What.
    pub what: String,
    /// The remedy.
    pub help: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        forebay_settings::Diagnostic::from(self.clone()).fmt(f)
    }
}

impl std::error::Error for Problem {}

impl From<Problem> for forebay_settings::Diagnostic {
    fn from(problem: Problem) -> Self {
        Self::of_file("", problem.what, problem.help)
    }
}

/// A file or directory that could not be used.
pub fn file_problem(path: &Path, error: &std::io::Error) -> Problem {
    Problem {
        what: format!("{}: {error}", path.display()),
        help: "give a directory that can be written to, and look whether the disk is full".to_owned(),
    }
}

/// Runs a tool to its end; what it printed, if it succeeded. The Debian package of a tool has its name.
pub fn run(command: &mut Command) -> Result<String, Problem> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| Problem {
        what: format!("cannot run {name}: {error}"),
        help: format!("install it: apt-get install {name}"),
    })?;
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.success() {
        return Ok(said);
    }
    let from = ["%Error", "%Warning", "ERROR"].iter().filter_map(|word| said.find(word)).min().unwrap_or(0);
    Err(Problem {
        what: format!("{name} failed ({}): {}", output.status, said[from..].trim_end()),
        help: "the sources in rtl/ are to pass: change what it names; g++ and make are needed, too".to_owned(),
    })
}

/// The version of Yosys that is installed, such as "Yosys 0.23".
pub fn yosys_version() -> Result<String, Problem> {
    let said = run(Command::new("yosys").arg("-V"))?;
    Ok(said.split_whitespace().take(2).collect::<Vec<_>>().join(" "))
}
