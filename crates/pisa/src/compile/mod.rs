//! From syntax to operations: one flat list for each direction and kind of packet.
//!
//! All operands are words of one array: fields, numbers, what a register held. Conditions are jumps, and those that the
//! kind of packet or a constant decides are decided here.

mod block;
mod op;
mod statement;
mod window;

pub(crate) use op::{Lookup, Op};
pub(crate) use window::Window;

use crate::error::{Fault, fault};
use crate::names::{Names, Value, word};
use crate::syntax::{Direction, Syntax};
use std::collections::{BTreeMap, BTreeSet};

/// The words of a pipeline: as many as a byte can tell apart, so that no access to them needs a check.
pub(crate) const WORDS: usize = 256;
/// The most arrays of registers and meters; a second value of a pair is one of its own.
pub(crate) const ARRAYS: usize = 256;
/// The most operations of a list; a power of two, for the same reason.
pub(crate) const OPS: usize = 512;

/// Where an array stands among those of its kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) base: u32,
    pub(crate) entries: u32,
}

impl Span {
    /// Where an entry stands, if there is such an entry.
    #[inline(always)]
    pub(crate) fn place(self, index: u64) -> Option<usize> {
        (index < u64::from(self.entries)).then(|| self.base as usize + index as usize)
    }
}

/// The operations of a program.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    /// By direction and kind.
    pub(crate) lists: [Vec<List>; 2],
    pub(crate) lookups: Vec<Lookup>,
    pub(crate) windows: Vec<Window>,
    /// The arrays that operations name.
    pub(crate) arrays: Box<[Span; ARRAYS]>,
    /// The words as they are before the first packet.
    pub(crate) words: Box<[u64; WORDS]>,
    /// The words that are read.
    pub(crate) read: BTreeSet<u8>,
}

/// What is done with packets of one kind in one direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct List {
    /// The metadata fields that may be read or looked at without having been written.
    pub(crate) zeros: Box<[u8]>,
    /// Whether what control packets carry is read or written.
    pub(crate) headers: bool,
    /// Whether something is read that few programs ask for.
    pub(crate) rare: bool,
    /// Operations, with ends behind the last; none if there is nothing to do.
    pub(crate) ops: Option<Box<[Op; OPS]>>,
}

/// What has been worked out on every way to where the compiler is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Done {
    /// A field is written.
    Field(u8),
    /// Some bits of a word are in their own word.
    Slice(u8, u32, u32),
}

/// Where registers, meters and tables are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    pub(crate) registers: BTreeMap<String, Span>,
    pub(crate) meters: BTreeMap<String, Span>,
    pub(crate) tables: BTreeMap<String, u16>,
}

/// What is shared by all lists of a program.
struct Compiler<'a> {
    names: &'a Names<'a>,
    places: &'a Places,
    words: Box<[u64; WORDS]>,
    next_word: usize,
    numbers: BTreeMap<u64, u8>,
    slices: BTreeMap<(u8, u32, u32), u8>,
    lookups: Vec<Lookup>,
    windows: Vec<Window>,
    arrays: Vec<Span>,
    kind: u8,
    ops: Vec<Op>,
    fields: std::ops::Range<u8>,
    done: BTreeSet<Done>,
    zeros: BTreeSet<u8>,
    written: BTreeSet<u8>,
    read: BTreeSet<u8>,
    headers: bool,
    rare: bool,
    /// What happens where an index is beyond its array: the jump there, what is to become 0, and where to go on.
    misses: Vec<(usize, u8, usize)>,
}

/// Compiles a program whose names are all known.
pub(crate) fn compile(syntax: &Syntax, names: &Names<'_>, places: &Places) -> Result<Code, Fault> {
    let mut compiler = Compiler {
        names,
        places,
        words: Box::new([0; WORDS]),
        next_word: usize::from(word::FIELDS) + syntax.fields.len(),
        numbers: BTreeMap::from([(0, word::ZERO)]),
        slices: BTreeMap::new(),
        lookups: Vec::new(),
        windows: Vec::new(),
        arrays: Vec::new(),
        kind: 0,
        ops: Vec::new(),
        fields: word::FIELDS..word::FIELDS + syntax.fields.len() as u8,
        done: BTreeSet::new(),
        zeros: BTreeSet::new(),
        written: BTreeSet::new(),
        read: BTreeSet::new(),
        headers: false,
        rare: false,
        misses: Vec::new(),
    };
    let kinds = crate::names::KINDS.len() + syntax.packets.len();
    let mut lists = [Vec::new(), Vec::new()];
    for direction in [Direction::Ingress, Direction::Egress] {
        for kind in 0..kinds {
            compiler.kind = kind as u8;
            for stage in &syntax.section(direction).stages {
                compiler.items(&stage.items)?;
            }
            lists[direction as usize].push(compiler.finish()?);
        }
    }
    let mut arrays = Box::new([Span::default(); ARRAYS]);
    arrays[..compiler.arrays.len()].copy_from_slice(&compiler.arrays);
    Ok(Code {
        lists,
        lookups: compiler.lookups,
        windows: compiler.windows,
        arrays,
        words: compiler.words,
        read: compiler.read,
    })
}

/// What a pass is told only if its program reads one of these.
const RARE: [u8; 7] =
    [word::NOW, word::IN_PORT, word::CLASS, word::FLOW, word::RANDOM, word::ENQUEUED_DEPTH, word::WAIT];

/// Whether a word is a header field.
fn is_header(word: u8) -> bool {
    (word::HEADERS..word::MEM).contains(&word)
}

impl Compiler<'_> {
    /// The list that has been made; the next one begins empty.
    fn finish(&mut self) -> Result<List, Fault> {
        let mut ops = std::mem::take(&mut self.ops);
        // A field that only some packets write is 0 for the others at the end, too, where it can be looked at.
        let mut zeros = std::mem::take(&mut self.zeros);
        let written = std::mem::take(&mut self.written);
        zeros.extend(written.into_iter().filter(|word| !self.done.contains(&Done::Field(*word))));
        self.done.clear();
        let headers = std::mem::take(&mut self.headers);
        let rare = std::mem::take(&mut self.rare);
        if ops.is_empty() {
            return Ok(List::default());
        }
        ops.push(Op::End);
        for (read, to, back) in std::mem::take(&mut self.misses) {
            let here = ops.len() as u16;
            ops[read].set_jump(here);
            ops.extend([Op::Copy { to, from: word::ZERO }, Op::Jump { jump: back as u16 }]);
        }
        window::fuse(&mut ops, &self.arrays, &mut self.windows);
        if ops.len() > OPS {
            return fault(
                format!("a pass needs {} operations and the machine has room for {OPS}", ops.len()),
                "leave something out",
            );
        }
        let mut list = Box::new([Op::End; OPS]);
        list[..ops.len()].copy_from_slice(&ops);
        Ok(List { zeros: zeros.into_iter().collect(), headers, rare, ops: Some(list) })
    }

    /// The number of an array.
    fn array(&mut self, span: Span) -> Result<u8, Fault> {
        let known = self.arrays.iter().position(|array| *array == span);
        let number = known.unwrap_or(self.arrays.len());
        if number == ARRAYS {
            return fault(format!("more than {ARRAYS} arrays"), "use fewer");
        }
        if known.is_none() {
            self.arrays.push(span);
        }
        Ok(number as u8)
    }

    fn new_word(&mut self) -> Result<u8, Fault> {
        let word = self.next_word;
        self.next_word += 1;
        match u8::try_from(word) {
            Ok(word) => Ok(word),
            Err(_) => fault(
                format!("more than {WORDS} different fields, numbers and slices"),
                "use fewer, or give numbers by a table",
            ),
        }
    }

    /// The word of a number.
    fn number(&mut self, number: u64) -> Result<u8, Fault> {
        if let Some(word) = self.numbers.get(&number) {
            return Ok(*word);
        }
        let word = self.new_word()?;
        self.words[usize::from(word)] = number;
        self.numbers.insert(number, word);
        Ok(word)
    }

    /// The word of a value; some bits of a field are put into a word of their own.
    fn word(&mut self, value: Value) -> Result<u8, Fault> {
        match value {
            Value::Number(number) => self.number(number),
            Value::Word { word: word::KIND, low, bits, .. } => {
                self.number(u64::from(self.kind) >> low & (u64::MAX >> (64 - bits)))
            }
            Value::Word { word, whole: true, .. } => {
                self.reads(word);
                Ok(word)
            }
            Value::Word { word, low, bits, .. } => {
                self.reads(word);
                self.slice(word, low, bits)
            }
        }
    }

    /// The word of some bits of another word, worked out unless it has been.
    fn slice(&mut self, from: u8, low: u32, bits: u32) -> Result<u8, Fault> {
        let to = match self.slices.get(&(from, low, bits)) {
            Some(to) => *to,
            None => {
                let to = self.new_word()?;
                self.slices.insert((from, low, bits), to);
                to
            }
        };
        if self.done.insert(Done::Slice(from, low, bits)) {
            self.ops.push(Op::Slice { to, from, low: low as u8, cut: (64 - bits) as u8 });
        }
        Ok(to)
    }

    /// Notes that a word is read: a field that is not written on every way here begins at 0.
    fn reads(&mut self, word: u8) {
        self.rare |= RARE.contains(&word);
        self.headers |= is_header(word);
        self.read.insert(word);
        if self.fields.contains(&word) && !self.done.contains(&Done::Field(word)) {
            self.zeros.insert(word);
        }
    }

    /// Notes that a word is written.
    fn writes(&mut self, word: u8) {
        self.headers |= is_header(word);
        self.done.retain(|done| !matches!(done, Done::Slice(from, ..) if *from == word));
        self.done.insert(Done::Field(word));
        if self.fields.contains(&word) {
            self.written.insert(word);
        }
    }

    /// Runs what may be left out by a jump: what it has worked out cannot be relied on behind it.
    fn maybe<T>(&mut self, part: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        let before = self.done.clone();
        let result = part(self)?;
        self.done.retain(|done| before.contains(done));
        Ok(result)
    }

    /// The number that a value is known to be.
    fn known(&self, value: Value) -> Option<u64> {
        match value {
            Value::Number(number) => Some(number),
            Value::Word { word: word::KIND, whole: true, .. } => Some(u64::from(self.kind)),
            Value::Word { .. } => None,
        }
    }
}
