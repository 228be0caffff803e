//! A circuit in Verilator, in lock step with its model.
//!
//! The model is run first and recorded: what goes in each cycle, and what must come out. Then the circuit is given the
//! same, and the first cycle and signal in which it differs is reported.

use crate::sources;
use crate::tools::{Problem, file_problem, run};
use std::fmt::Write as _;
use std::io::{Seek, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A port of a module: its name and its bits.
pub type Port = (&'static str, u32);

/// A module with its parameters and the ports that are driven and compared. The clock is driven by itself.
#[derive(Clone, Copy, Debug)]
pub struct Circuit {
    /// The module.
    pub module: &'static str,
    /// Parameters that are not left as they are.
    pub parameters: &'static [(&'static str, u32)],
    /// What goes in.
    pub inputs: &'static [Port],
    /// What comes out; at most 64 bits each.
    pub outputs: &'static [Port],
}

/// What goes in and what must come out, cycle by cycle.
#[derive(Clone, Debug)]
pub struct Recording {
    circuit: Circuit,
    stimulus: String,
    expected: Vec<Option<u64>>,
}

/// How many words a port takes: up to 64 bits are one, wider ones are words of 32 bits, the lowest first.
fn words(width: u32) -> usize {
    if width <= 64 { 1 } else { width.div_ceil(32) as usize }
}

impl Recording {
    /// Nothing yet.
    pub fn new(circuit: Circuit) -> Self {
        Self { circuit, stimulus: String::new(), expected: Vec::new() }
    }

    /// A cycle: the words of all inputs, and every output, `None` where it may be anything.
    pub fn cycle(&mut self, inputs: &[u64], outputs: &[Option<u64>]) {
        assert_eq!(inputs.len(), self.circuit.inputs.iter().map(|(_, width)| words(*width)).sum::<usize>());
        assert_eq!(outputs.len(), self.circuit.outputs.len());
        for word in inputs {
            let _ = write!(self.stimulus, "{word:x} ");
        }
        self.stimulus.push('\n');
        self.expected.extend_from_slice(outputs);
    }

    /// Cycles so far.
    pub fn cycles(&self) -> usize {
        self.expected.len() / self.circuit.outputs.len()
    }
}

/// A circuit that was built.
#[derive(Clone, Debug)]
pub struct Simulation {
    circuit: Circuit,
    directory: PathBuf,
}

impl Simulation {
    /// Builds a circuit in a directory of its own. What is there from an earlier time is used again.
    pub fn build(circuit: Circuit, directory: &Path) -> Result<Self, Problem> {
        let rtl = directory.join("rtl");
        sources::write(&rtl)?;
        let main = directory.join("main.cpp");
        std::fs::write(&main, main_of(&circuit)).map_err(|error| file_problem(&main, &error))?;
        let mut command = Command::new("verilator");
        command.args(["--cc", "--exe", "--build", "-Wall", "--x-initial", "unique", "--prefix", "Circuit"]);
        command.args(["-MAKEFLAGS", "OPT_FAST=-O1 OPT_SLOW=-O0 OPT_GLOBAL=-O1"]);
        command.arg("--Mdir").arg(directory.join("build")).arg("-y").arg(&rtl);
        command.args(parameter_arguments(circuit.parameters));
        run(command.arg("--top-module").arg(circuit.module).arg(rtl.join(format!("{}.v", circuit.module))).arg(&main))?;
        Ok(Self { circuit, directory: directory.to_path_buf() })
    }

    /// Runs a recording through the circuit. Memories and registers begin with random contents that `seed` decides.
    pub fn compare(&self, recording: &Recording, seed: u32) -> Result<(), Problem> {
        let input = as_file(&recording.stimulus).map_err(|error| file_problem(&std::env::temp_dir(), &error))?;
        let mut command = Command::new(self.directory.join("build").join("Circuit"));
        command.stdin(Stdio::from(input));
        command.arg("+verilator+rand+reset+2").arg(format!("+verilator+seed+{}", seed.max(1)));
        let said = run(&mut command)?;
        let mut lines = said.lines();
        for (cycle, expected) in recording.expected.chunks(self.circuit.outputs.len()).enumerate() {
            let line = lines.next().unwrap_or_default();
            let came: Vec<Option<u64>> =
                line.split_whitespace().map(|word| u64::from_str_radix(word, 16).ok()).collect();
            for (at, (name, _)) in self.circuit.outputs.iter().enumerate() {
                let (wanted, got) = (expected[at], came.get(at).copied().flatten());
                if wanted.is_some() && wanted != got {
                    return Err(self.difference(recording, cycle, name, wanted, got));
                }
            }
        }
        Ok(())
    }

    fn difference(
        &self,
        recording: &Recording,
        cycle: usize,
        name: &str,
        wanted: Option<u64>,
        got: Option<u64>,
    ) -> Problem {
        let show = |value: Option<u64>| value.map_or_else(|| "nothing".to_owned(), |value| format!("{value:#x}"));
        Problem {
            what: format!(
                "{} in cycle {cycle}: {name} is {}, and {} in the model",
                self.circuit.module,
                show(got),
                show(wanted)
            ),
            help: format!("its inputs are {}", recording.stimulus.lines().nth(cycle).unwrap_or_default()),
        }
    }
}

/// A file without a name, to be read from its beginning.
fn as_file(text: &str) -> std::io::Result<std::fs::File> {
    let mut file = tempfile::tempfile()?;
    file.write_all(text.as_bytes())?;
    file.rewind()?;
    Ok(file)
}

/// Lints a module with all warnings.
pub fn lint(module: &str, parameters: &[(&str, u32)], rtl: &Path) -> Result<(), Problem> {
    let mut command = Command::new("verilator");
    command.args(["--lint-only", "-Wall"]).arg("-y").arg(rtl).args(parameter_arguments(parameters));
    run(command.arg("--top-module").arg(module).arg(rtl.join(format!("{module}.v")))).map(|_| ())
}

fn parameter_arguments(parameters: &[(&str, u32)]) -> Vec<String> {
    parameters.iter().map(|(name, value)| format!("-G{name}={value}")).collect()
}

/// A program that reads the inputs of a cycle, prints the outputs, and lets the clock tick.
fn main_of(circuit: &Circuit) -> String {
    let mut text = String::from(
        "#include \"Circuit.h\"\n#include \"verilated.h\"\n#include <cstdio>\n\
         static bool read(unsigned long long *word) { return scanf(\"%llx\", word) == 1; }\n\
         int main(int argc, char **argv) {\n\
         \tVerilated::commandArgs(argc, argv);\n\tCircuit circuit;\n\tunsigned long long word;\n\
         \tcircuit.clk = 0;\n\tfor (;;) {\n",
    );
    for (name, width) in circuit.inputs {
        let _ = match words(*width) {
            1 => writeln!(text, "\t\tif (!read(&word)) return 0;\n\t\tcircuit.{name} = word;"),
            count => writeln!(
                text,
                "\t\tfor (int i = 0; i < {count}; i++) {{ if (!read(&word)) return 0; circuit.{name}[i] = word; }}"
            ),
        };
    }
    text.push_str("\t\tcircuit.eval();\n");
    for (name, _) in circuit.outputs {
        let _ = writeln!(text, "\t\tprintf(\"%llx \", (unsigned long long)circuit.{name});");
    }
    text.push_str("\t\tputchar('\\n');\n\t\tcircuit.clk = 1;\n\t\tcircuit.eval();\n\t\tcircuit.clk = 0;\n\t\tcircuit.eval();\n\t}\n}\n");
    text
}
