//! What the names of a program mean.

use crate::error::{Fault, did_you_mean, fault};
use crate::syntax::{Direction, Meter, Operand, Register, Syntax, Table};
use crate::{ANSWER, DATA, DEFLECTED, HEADER, HEADERS};
use std::collections::BTreeMap;

/// A field that every packet has: its name and width. Its place in this list is its word in the machine.
pub(crate) const BUILTINS: [(&str, u32); 14] = [
    ("kind", 8),
    ("now", 48),
    ("in_port", 9),
    ("pipe", 2),
    ("bytes", 16),
    ("class", 5),
    ("rank", 32),
    ("flow", 32),
    ("out_port", 9),
    ("out_queue", 5),
    ("random", 16),
    ("depth", 32),
    ("enqueued_depth", 32),
    ("wait", 32),
];

/// Kinds of packets that every program knows.
pub(crate) const KINDS: [(&str, u8); 4] =
    [("DATA", DATA), ("HEADER", HEADER), ("ANSWER", ANSWER), ("DEFLECTED", DEFLECTED)];

/// The words of the machine that have a fixed place.
pub(crate) mod word {
    pub(crate) const KIND: u8 = 0;
    pub(crate) const NOW: u8 = 1;
    pub(crate) const IN_PORT: u8 = 2;
    pub(crate) const PIPE: u8 = 3;
    pub(crate) const BYTES: u8 = 4;
    pub(crate) const CLASS: u8 = 5;
    pub(crate) const RANK: u8 = 6;
    pub(crate) const FLOW: u8 = 7;
    pub(crate) const OUT_PORT: u8 = 8;
    pub(crate) const OUT_QUEUE: u8 = 9;
    pub(crate) const RANDOM: u8 = 10;
    pub(crate) const DEPTH: u8 = 11;
    pub(crate) const ENQUEUED_DEPTH: u8 = 12;
    pub(crate) const WAIT: u8 = 13;
    /// The first header field.
    pub(crate) const HEADERS: u8 = 14;
    /// The first value of the entry that is being accessed.
    pub(crate) const MEM: u8 = HEADERS + crate::HEADERS as u8;
    /// The second.
    pub(crate) const MEM2: u8 = MEM + 1;
    /// What an ALU works out on its way.
    pub(crate) const SCRATCH: u8 = MEM2 + 1;
    pub(crate) const SCRATCH2: u8 = SCRATCH + 1;
    /// Always 0.
    pub(crate) const ZERO: u8 = SCRATCH2 + 1;
    /// The first metadata field.
    pub(crate) const FIELDS: u8 = ZERO + 1;
}

/// The most metadata fields, so that fields, numbers and slices have words enough.
pub(crate) const FIELDS: usize = 128;

/// What a name stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Symbol<'a> {
    /// A number: a constant or a kind.
    Number(u64),
    /// A kind of packet.
    Kind(u8),
    /// A built-in field, a header field or a metadata field: its word and width.
    Field(u8, u32),
    Register(Direction, &'a Register),
    Meter(Direction, &'a Meter),
    Table(Direction, &'a Table),
}

/// What an operand reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Number(u64),
    /// Some bits of a word: the lowest, and how many; all of them if `whole`.
    Word {
        word: u8,
        low: u32,
        bits: u32,
        whole: bool,
    },
}

impl Value {
    /// How wide it is.
    pub(crate) fn bits(self) -> u32 {
        match self {
            Self::Number(number) => 64 - number.leading_zeros(),
            Self::Word { bits, .. } => bits,
        }
    }
}

/// All names of a program.
pub(crate) struct Names<'a> {
    symbols: BTreeMap<&'a str, Symbol<'a>>,
}

impl<'a> Names<'a> {
    /// The word of a field.
    pub(crate) fn field_word(&self, name: &str) -> Option<usize> {
        match self.symbols.get(name) {
            Some(Symbol::Field(word, _)) => Some(usize::from(*word)),
            _ => None,
        }
    }

    /// The names, and what is wrong with them, by line.
    pub(crate) fn new(syntax: &'a Syntax, constants: &[(&str, u64)]) -> (Self, Vec<(usize, Fault)>) {
        let mut names = Self { symbols: BTreeMap::new() };
        let mut faults = Vec::new();
        for (word, (name, bits)) in BUILTINS.iter().enumerate() {
            names.symbols.insert(name, Symbol::Field(word as u8, *bits));
        }
        for (name, kind) in KINDS {
            names.symbols.insert(name, Symbol::Kind(kind));
        }
        let mut declared = declarations(syntax, constants);
        declared.sort_by_key(|(line, ..)| *line);
        for (line, name, symbol) in declared {
            if names.symbols.contains_key(name) {
                let problem = format!("the name {name} is there already");
                faults.push((line, (problem, "choose another: built-in fields and kinds have names, too".to_owned())));
            } else {
                names.symbols.insert(name, symbol);
            }
        }
        (names, faults)
    }

    /// What a name stands for.
    pub(crate) fn get(&self, name: &str) -> Option<Symbol<'a>> {
        self.symbols.get(name).copied()
    }

    /// The fault of a name that stands for nothing, or for something else than what is looked for.
    pub(crate) fn missing<T>(&self, name: &str, what: &str, is: impl Fn(&Symbol<'_>) -> bool) -> Result<T, Fault> {
        let known = self.symbols.iter().filter(|(_, symbol)| is(symbol)).map(|(name, _)| *name);
        let problem = match self.symbols.contains_key(name) {
            true => format!("{name} is not {what}"),
            false => format!("{name} is unknown"),
        };
        fault(problem, did_you_mean(name, known, &format!("declare {what} of that name")))
    }

    /// What an operand reads; `mem` has the width of the register that is accessed.
    pub(crate) fn value(&self, operand: &Operand, register: Option<&Register>) -> Result<Value, Fault> {
        let name = match operand {
            Operand::Number(number) => return Ok(Value::Number(*number)),
            Operand::Name(name) | Operand::Slice(name, ..) => name.as_str(),
        };
        let (word, bits) = match (name, register) {
            ("mem", Some(register)) => (word::MEM, register.bits),
            ("mem2", Some(register)) if register.pair => (word::MEM2, register.bits),
            ("mem2", Some(register)) => {
                return fault(
                    format!("{} has one value an entry, not mem2", register.name),
                    format!("declare it as {0}+{0}", register.bits),
                );
            }
            ("mem" | "mem2", None) => return fault(format!("{name} outside of a register access"), "use a field"),
            _ => match self.get(name) {
                Some(Symbol::Field(word, bits)) => (word, bits),
                Some(Symbol::Number(number)) => return constant(operand, number),
                Some(Symbol::Kind(kind)) => return constant(operand, u64::from(kind)),
                Some(_) => {
                    return fault(
                        format!("{name} is an array, not a value"),
                        "access it in a statement of its own: a field = array[index] { out mem }, or a field = table(keys)",
                    );
                }
                None => {
                    return self.missing(name, "a field or a constant", |symbol| {
                        matches!(symbol, Symbol::Field(..) | Symbol::Number(_) | Symbol::Kind(_))
                    });
                }
            },
        };
        match operand {
            Operand::Slice(_, high, low) if low > high || *high >= u64::from(bits) => fault(
                format!("{operand} is not inside of {name}, which has {bits} bits"),
                format!("write the highest bit first, such as {name}[{}:0]", bits.saturating_sub(1)),
            ),
            Operand::Slice(_, high, low) => {
                let width = (high - low + 1) as u32;
                Ok(Value::Word { word, low: *low as u32, bits: width, whole: width == bits })
            }
            _ => Ok(Value::Word { word, low: 0, bits, whole: true }),
        }
    }

    /// The value of a size.
    pub(crate) fn size(&self, size: &Operand) -> Result<u64, Fault> {
        match size {
            Operand::Number(number) => Ok(*number),
            _ => match size.name().and_then(|name| self.get(name)) {
                Some(Symbol::Number(number)) => Ok(number),
                _ => {
                    self.missing(size.name().unwrap_or(""), "a constant", |symbol| matches!(symbol, Symbol::Number(_)))
                }
            },
        }
    }

    /// A kind of packet.
    pub(crate) fn kind(&self, name: &str) -> Result<u8, Fault> {
        match self.get(name) {
            Some(Symbol::Kind(kind)) => Ok(kind),
            _ => self.missing(name, "a kind of packet", |symbol| matches!(symbol, Symbol::Kind(_))),
        }
    }

    /// A register.
    pub(crate) fn register(&self, name: &str) -> Result<(Direction, &'a Register), Fault> {
        match self.get(name) {
            Some(Symbol::Register(direction, register)) => Ok((direction, register)),
            _ => self.missing(name, "a register", |symbol| matches!(symbol, Symbol::Register(..))),
        }
    }

    /// A meter.
    pub(crate) fn meter(&self, name: &str) -> Result<(Direction, &'a Meter), Fault> {
        match self.get(name) {
            Some(Symbol::Meter(direction, meter)) => Ok((direction, meter)),
            _ => self.missing(name, "a meter", |symbol| matches!(symbol, Symbol::Meter(..))),
        }
    }

    /// A table.
    pub(crate) fn table(&self, name: &str) -> Result<(Direction, &'a Table), Fault> {
        match self.get(name) {
            Some(Symbol::Table(direction, table)) => Ok((direction, table)),
            _ => self.missing(name, "a table", |symbol| matches!(symbol, Symbol::Table(..))),
        }
    }
}

fn constant(operand: &Operand, number: u64) -> Result<Value, Fault> {
    match operand {
        Operand::Slice(name, ..) => {
            fault(format!("{operand} is some bits of a constant"), format!("load {name} with these bits alone"))
        }
        _ => Ok(Value::Number(number)),
    }
}

/// All that a program declares: lines, names and what they stand for. What there is too much of has no place of its
/// own.
fn declarations<'a>(syntax: &'a Syntax, constants: &[(&str, u64)]) -> Vec<(usize, &'a str, Symbol<'a>)> {
    let mut all: Vec<(usize, &str, Symbol<'_>)> = Vec::new();
    for constant in &syntax.constants {
        let given = constants.iter().find(|(name, _)| *name == constant.name).map(|(_, value)| *value);
        // One that is not given is told of elsewhere; 1 is a size that makes no other error.
        all.push((constant.line, &constant.name, Symbol::Number(given.or(constant.default).unwrap_or(1))));
    }
    for (i, packet) in syntax.packets.iter().enumerate() {
        all.push((packet.line, &packet.name, Symbol::Kind((KINDS.len() + i).min(255) as u8)));
    }
    for (i, header) in syntax.headers.iter().enumerate() {
        let word = word::HEADERS + i.min(HEADERS - 1) as u8;
        all.push((header.line, &header.name, Symbol::Field(word, header.bits.min(64) as u32)));
    }
    for (i, field) in syntax.fields.iter().enumerate() {
        let word = word::FIELDS + i.min(FIELDS - 1) as u8;
        all.push((field.line, &field.name, Symbol::Field(word, field.bits.min(64) as u32)));
    }
    for direction in [Direction::Ingress, Direction::Egress] {
        let section = syntax.section(direction);
        all.extend(section.registers.iter().map(|of| (of.line, of.name.as_str(), Symbol::Register(direction, of))));
        all.extend(section.meters.iter().map(|of| (of.line, of.name.as_str(), Symbol::Meter(direction, of))));
        all.extend(section.tables.iter().map(|of| (of.line, of.name.as_str(), Symbol::Table(direction, of))));
    }
    all
}
