//! Statements as operations.

use super::block::Folded;
use super::{Compiler, Lookup, Op, Span};
use crate::error::{Fault, fault};
use crate::names::{Symbol, word};
use crate::syntax::{Access, Action, Choice, Expression, Operation, Register, Statement, Value};

/// Where a result goes, and how wide it is there.
#[derive(Clone, Copy)]
enum Place {
    Word(u8, u32),
    Entry { index: u8, span: Span, bits: u32 },
}

impl Compiler<'_> {
    pub(super) fn statement(&mut self, statement: &Statement) -> Result<(), Fault> {
        match &statement.action {
            Action::Assign { to, value } => {
                let to = self.target(to)?;
                self.expression(value, None, to)?;
            }
            Action::Access(access) => self.access(access)?,
            Action::Meter { to, meter, index, bytes } => {
                let (to, index, bytes) =
                    (self.target_word(to)?, self.names.value(index, None)?, self.names.value(bytes, None)?);
                let (index, bytes) = (self.word(index)?, self.word(bytes)?);
                let Some(span) = self.places.meters.get(meter).copied() else { return unknown(meter) };
                let array = self.array(span)?;
                self.ops.push(Op::Meter { to, index, bytes, array });
            }
            Action::Lookup { to, table, keys } => {
                let Some(place) = self.places.tables.get(table).copied() else { return unknown(table) };
                let (_, declared) = self.names.table(table)?;
                let mut shift: u64 = declared.keys.iter().map(|(_, bits)| bits).sum();
                let mut words = Vec::new();
                for (key, (_, bits)) in keys.iter().zip(&declared.keys) {
                    shift -= bits;
                    let value = self.names.value(key, None)?;
                    words.push((self.word(value)?, shift as u8));
                }
                let to = to.iter().map(|to| self.target_word(to)).collect::<Result<_, _>>()?;
                let Ok(lookup) = u16::try_from(self.lookups.len()) else {
                    return fault("more lookups than can be counted", "use fewer tables or kinds of packets");
                };
                self.ops.push(Op::Lookup { lookup });
                self.lookups.push(Lookup { table: place, keys: words.into_boxed_slice(), to });
            }
            Action::Drop => self.ops.push(Op::Drop),
            Action::Trim => self.ops.push(Op::Trim),
            Action::Mark => self.ops.push(Op::Mark),
            Action::Recirculate => self.ops.push(Op::Recirculate),
            Action::Mirror(kind) => self.ops.push(Op::Mirror { kind: self.names.kind(kind)? }),
            Action::Multicast(kind) => self.ops.push(Op::Multicast { kind: self.names.kind(kind)? }),
        }
        for name in statement.action.writes() {
            self.writes(self.target_word(name)?);
        }
        Ok(())
    }

    fn target(&self, name: &str) -> Result<Place, Fault> {
        match self.names.get(name) {
            Some(Symbol::Field(word, bits)) => Ok(Place::Word(word, bits)),
            _ => unknown(name),
        }
    }

    fn target_word(&self, name: &str) -> Result<u8, Fault> {
        match self.target(name)? {
            Place::Word(word, _) => Ok(word),
            Place::Entry { .. } => unknown(name),
        }
    }

    /// An expression into its place.
    fn expression(&mut self, expression: &Expression, register: Option<&Register>, to: Place) -> Result<(), Fault> {
        let (word, bits) = match to {
            Place::Word(word, bits) => (word, bits),
            Place::Entry { bits, .. } => (word::SCRATCH, bits),
        };
        let from = match expression {
            Expression::Copy(operand) => {
                let value = self.names.value(operand, register)?;
                let from = self.word(value)?;
                if let Place::Word(to, _) = to {
                    self.ops.push(Op::Copy { to, from });
                }
                from
            }
            Expression::Operation(operation, a, b) => {
                let (a, b) = (self.names.value(a, register)?, self.names.value(b, register)?);
                let (a, b) = (self.word(a)?, self.word(b)?);
                self.ops.push(operate(*operation, word, a, b, (64 - bits) as u8));
                word
            }
        };
        if let Place::Entry { index, span, .. } = to {
            let array = self.array(span)?;
            self.ops.push(Op::Write { from, index, array });
        }
        Ok(())
    }

    fn access(&mut self, access: &Access) -> Result<(), Fault> {
        let (_, register) = self.names.register(&access.register)?;
        let Some(span) = self.places.registers.get(&access.register).copied() else { return unknown(&access.register) };
        let index = self.names.value(&access.index, None)?;
        let index = self.word(index)?;
        let read = self.read(access, index, span)?;
        self.maybe(|compiler| compiler.update(access, register, index, span))?;
        match (read, &access.to) {
            (Some(read), Some(to)) => self.misses.push((read, self.target_word(to)?, self.ops.len())),
            (Some(read), None) => self.land(&[read]),
            (None, _) => {}
        }
        Ok(())
    }

    /// What is written to an entry, and what is given back.
    fn update(&mut self, access: &Access, register: &Register, index: u8, span: Span) -> Result<(), Fault> {
        let bits = register.bits;
        let second = Span { base: span.base + span.entries, ..span };
        for (choice, span) in [(&access.mem, span), (&access.mem2, second)] {
            if let Some(choice) = choice {
                self.choice(choice, register, Place::Entry { index, span, bits })?;
            }
        }
        if let (Some(choice), Some(to)) = (&access.out, &access.to) {
            let to = self.target(to)?;
            self.choice(choice, register, to)?;
        }
        Ok(())
    }

    /// Reads an entry, unless it is only written.
    fn read(&mut self, access: &Access, index: u8, span: Span) -> Result<Option<usize>, Fault> {
        let reads = |name: &str| access.operands().any(|operand| operand.name() == Some(name));
        let (array, jump) = (self.array(span)?, 0);
        if reads("mem2") {
            self.ops.push(Op::ReadPair { index, array, jump });
        } else if access.to.is_some() || reads("mem") {
            self.ops.push(Op::Read { index, array, jump });
        } else {
            return Ok(None);
        }
        Ok(Some(self.ops.len() - 1))
    }

    /// `value if condition else otherwise`
    fn choice(&mut self, choice: &Choice, register: &Register, to: Place) -> Result<(), Fault> {
        let Some(condition) = &choice.condition else { return self.chosen(&choice.value, register, to) };
        match self.fold(condition, Some(register))? {
            Folded::Known(true) => self.chosen(&choice.value, register, to),
            Folded::Known(false) => self.otherwise(choice, register, to),
            Folded::Unknown { tests, any } => {
                let misses = self.maybe(|compiler| {
                    let misses = compiler.unless(&tests, any)?;
                    compiler.chosen(&choice.value, register, to)?;
                    Ok(misses)
                })?;
                if choice.otherwise.is_none() && matches!(to, Place::Entry { .. }) {
                    self.land(&misses);
                    return Ok(());
                }
                let end = self.jump();
                self.land(&misses);
                self.maybe(|compiler| compiler.otherwise(choice, register, to))?;
                self.land(&[end]);
                Ok(())
            }
        }
    }

    /// What is taken if the condition does not hold: an entry stays, a field becomes 0.
    fn otherwise(&mut self, choice: &Choice, register: &Register, to: Place) -> Result<(), Fault> {
        match (&choice.otherwise, to) {
            (Some(expression), _) => self.expression(expression, Some(register), to),
            (None, Place::Word(to, _)) => {
                self.ops.push(Op::Copy { to, from: word::ZERO });
                Ok(())
            }
            (None, Place::Entry { .. }) => Ok(()),
        }
    }

    fn chosen(&mut self, value: &Value, register: &Register, to: Place) -> Result<(), Fault> {
        let condition = match value {
            Value::Expression(expression) => return self.expression(expression, Some(register), to),
            Value::Truth(condition) => condition,
        };
        let Place::Word(to, _) = to else { return fault("a comparison cannot be kept", "write 1 if it holds else 0") };
        match self.fold(condition, Some(register))? {
            Folded::Known(known) => {
                let from = self.number(u64::from(known))?;
                self.ops.push(Op::Copy { to, from });
            }
            Folded::Unknown { tests, any } => {
                let [first, others @ ..] = tests.as_slice() else { return Ok(()) };
                let Some(second) = others.first() else { return self.set(to, *first) };
                self.set(word::SCRATCH, *first)?;
                self.set(word::SCRATCH2, *second)?;
                let (a, b) = (word::SCRATCH, word::SCRATCH2);
                self.ops.push(if any { Op::Or { to, a, b } } else { Op::And { to, a, b } });
            }
        }
        Ok(())
    }
}

fn operate(operation: Operation, to: u8, a: u8, b: u8, cut: u8) -> Op {
    match operation {
        Operation::Add => Op::Add { to, a, b, cut },
        Operation::Subtract => Op::Subtract { to, a, b, cut },
        Operation::SubtractToZero => Op::SubtractToZero { to, a, b },
        Operation::Min => Op::Min { to, a, b },
        Operation::Max => Op::Max { to, a, b },
        Operation::ShiftLeft => Op::ShiftLeft { to, a, b, cut },
        Operation::ShiftRight => Op::ShiftRight { to, a, b },
        Operation::And => Op::And { to, a, b },
        Operation::Or => Op::Or { to, a, b },
        Operation::Xor => Op::Xor { to, a, b },
    }
}

fn unknown<T>(name: &str) -> Result<T, Fault> {
    fault(format!("{name} is unknown"), "declare it")
}
