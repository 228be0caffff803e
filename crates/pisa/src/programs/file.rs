//! A program of somebody's own, from a file.

use super::{Facts, Image, ProgramError};
use crate::{Program, Target};

/// An entry of an exact table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableEntry {
    /// The table.
    pub table: String,
    /// Its key.
    pub key: Vec<u64>,
    /// What the table gives for it.
    pub result: Vec<u64>,
}

/// A program of somebody's own. Its control plane gives constants and fills exact tables before the run; it starts no
/// control packets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileProgram {
    /// The file, as errors name it.
    pub file: String,
    /// What is in it.
    pub text: String,
    /// Constants. Those called `ports`, `queues`, `cell`, `buffer` (in cells) and `pipelines` are the chip's, unless
    /// they are given.
    pub constants: Vec<(String, u64)>,
    /// Entries of exact tables.
    pub entries: Vec<TableEntry>,
}

impl FileProgram {
    pub(super) fn load(&self, target: &Target, facts: &Facts) -> Result<Image, ProgramError> {
        let program = Program::parse(&self.file, &self.text)?;
        let known = [
            ("ports", facts.ports() as u64),
            ("queues", facts.queues as u64),
            ("cell", facts.cell),
            ("buffer", facts.buffer),
            ("pipelines", facts.pipelines as u64),
        ];
        if let Some((name, _)) = self.constants.iter().find(|(name, _)| !program.constants().any(|own| own == name)) {
            let own: Vec<&str> = program.constants().collect();
            let problem = format!("the program has no constant {name}");
            let remedy = if own.is_empty() { "it has none".to_owned() } else { format!("it has {}", own.join(", ")) };
            return Err(ProgramError::Option("chip.options.constants", problem, remedy));
        }
        let mut constants: Vec<(&str, u64)> =
            self.constants.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        let is_given = |name: &str| self.constants.iter().any(|(own, _)| own == name);
        constants.extend(
            known.into_iter().filter(|(name, _)| program.constants().any(|own| own == *name) && !is_given(name)),
        );
        let mut program = program.check(target, &constants)?;
        for entry in &self.entries {
            program.insert(&entry.table, &entry.key, &entry.result)?;
        }
        Ok(Image { program, generators: Vec::new() })
    }
}
