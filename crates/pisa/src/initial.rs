//! What registers hold at the start, what a program asks for, and a look at what it has worked out.

use crate::checked::Checked;
use crate::error::LoadError;
use crate::names::word;
use crate::pipeline::Pipeline;

impl Checked {
    /// What all entries of a register array hold at the start; without this, 0.
    pub fn set_initial(&mut self, register: &str, value: u64) -> Result<(), LoadError> {
        let Some((start, entries, bits)) = self.register_values(register) else {
            return Err(LoadError(format!("the program {} has no register {register}", self.name())));
        };
        if value >> bits != 0 {
            return Err(LoadError(format!("the register {register} has {bits} bits, too few for {value}")));
        }
        self.initial.push((start, entries, value));
        Ok(())
    }

    /// Whether it reads random numbers: a caller need not draw any for others.
    pub fn reads_random(&self) -> bool {
        self.code.read.contains(&word::RANDOM)
    }

    /// Whether it reads what egress is told of a packet's time in its queue.
    pub fn reads_waiting(&self) -> bool {
        self.code.read.contains(&word::WAIT) || self.code.read.contains(&word::ENQUEUED_DEPTH)
    }

    /// The place of a metadata field, for [`Pipeline::value`].
    pub fn field(&self, name: &str) -> Option<usize> {
        self.fields.get(name).copied()
    }
}

impl Pipeline {
    /// What a metadata field held at the end of the last pass, if the program writes it for packets of that kind.
    pub fn value(&self, field: usize) -> u64 {
        self.words[field]
    }
}
