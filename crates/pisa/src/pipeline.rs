//! The machine: the state of one pipeline, and packets that go through it.

use crate::HEADERS;
use crate::checked::Checked;
use crate::compile::{List, OPS, Op, Span, WORDS, Window};
use crate::meter::{Buckets, GREEN};
use crate::names::word;
use crate::syntax::Direction;
use std::ops::{Index, IndexMut};
use std::sync::Arc;

/// What a pipeline is told of a packet. What is wider than its field is cut, header fields excepted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pass {
    /// The time in picoseconds; programs see nanoseconds.
    pub now: u64,
    /// The kind of packet.
    pub kind: u8,
    /// The port that it came from.
    pub in_port: u32,
    /// The port that routing has chosen.
    pub out_port: u32,
    /// The queue at that port.
    pub out_queue: u32,
    /// The class of the packet.
    pub class: u32,
    /// The length of the packet.
    pub bytes: u32,
    /// The rank of the packet.
    pub rank: u64,
    /// A hash of its flow.
    pub flow: u64,
    /// A fresh random number.
    pub random: u64,
    /// The length of the queue in cells: at ingress what the chip knows of it, at egress when the packet left it.
    pub depth: u64,
    /// The length of the queue in cells when the packet joined it; egress only.
    pub enqueued_depth: u64,
    /// The time in the queue in nanoseconds; egress only.
    pub wait: u64,
    /// What a control packet carries: what an [`Outcome`] has given, or what a generator puts in, each within its
    /// width.
    pub headers: [u64; HEADERS],
}

/// What a pipeline has done to a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The packet goes.
    pub drop: bool,
    /// The payload goes.
    pub trim: bool,
    /// The packet is marked.
    pub mark: bool,
    /// The packet goes to the recirculation port.
    pub recirculate: bool,
    /// The kind of the copy that goes to the recirculation port; 0 if there is none.
    pub mirror: u8,
    /// The kind of the packet that goes to all recirculation ports; 0 if there is none.
    pub multicast: u8,
    /// The port that it goes to.
    pub out_port: u32,
    /// The queue at that port.
    pub out_queue: u32,
    /// What the packet and its copies carry.
    pub headers: [u64; HEADERS],
}

/// One pipeline of a chip: its registers and meters, before and after the traffic manager.
#[derive(Clone, Debug)]
pub struct Pipeline {
    program: Arc<Checked>,
    pub(crate) words: Box<[u64; WORDS]>,
    registers: Box<[u64]>,
    meters: Box<[Buckets]>,
}

impl Pipeline {
    /// A pipeline whose registers are as the control plane wants them at the start, and whose meters are full.
    pub fn new(program: &Arc<Checked>, number: u32) -> Self {
        let mut words = program.code.words.clone();
        words[usize::from(word::PIPE)] = u64::from(number) & 3;
        let mut registers = vec![0; program.registers].into_boxed_slice();
        for (start, entries, value) in &program.initial {
            registers[*start..start + entries].fill(*value);
        }
        Self { program: program.clone(), words, registers, meters: program.meters.clone() }
    }

    /// Runs a packet through the stages before the traffic manager.
    #[inline]
    pub fn ingress(&mut self, pass: &Pass) -> Outcome {
        self.run(Direction::Ingress, pass)
    }

    /// Runs a packet through the stages after the traffic manager.
    #[inline]
    pub fn egress(&mut self, pass: &Pass) -> Outcome {
        self.run(Direction::Egress, pass)
    }

    /// The values of a register array; the second ones of pairs are those of `name.mem2`.
    pub fn register(&self, name: &str) -> Option<&[u64]> {
        let (start, length, _) = self.program.register_values(name)?;
        self.registers.get(start..start + length)
    }

    /// Sets a value of a register array, as a control plane does; false if there is no such entry or the value is
    /// wider.
    pub fn set_register(&mut self, name: &str, index: usize, value: u64) -> bool {
        match self.program.register_values(name) {
            Some((start, length, bits)) if index < length && value >> bits == 0 => {
                self.registers[start + index] = value;
                true
            }
            _ => false,
        }
    }

    #[inline]
    fn run(&mut self, direction: Direction, pass: &Pass) -> Outcome {
        let list = self.program.code.lists[direction as usize].get(usize::from(pass.kind));
        let Some(List { ops: Some(ops), zeros, headers, rare }) = list else {
            let Pass { out_port, out_queue, headers, .. } = *pass;
            return Outcome { out_port, out_queue, headers, ..Outcome::default() };
        };
        let words = &mut self.words;
        load(words, pass);
        if *rare {
            load_rare(words, pass);
        }
        if *headers {
            load_headers(words, &pass.headers);
        }
        for zero in zeros {
            words[usize::from(*zero)] = 0;
        }
        let Actions { drop, trim, mark, recirculate, mirror, multicast } =
            execute(&self.program, ops, words, &mut self.registers, &mut self.meters, pass.now);
        Outcome {
            drop,
            trim,
            mark,
            recirculate,
            mirror,
            multicast,
            out_port: words[usize::from(word::OUT_PORT)] as u32,
            out_queue: words[usize::from(word::OUT_QUEUE)] as u32,
            headers: if *headers { carried(words) } else { pass.headers },
        }
    }
}

/// What a program has asked for; see [`Outcome`].
#[derive(Clone, Copy, Default)]
struct Actions {
    drop: bool,
    trim: bool,
    mark: bool,
    recirculate: bool,
    mirror: u8,
    multicast: u8,
}

/// Writes what most programs read of a packet.
#[inline]
fn load(words: &mut [u64; WORDS], pass: &Pass) {
    let mut set = |word: u8, value: u64| words[usize::from(word)] = value;
    set(word::BYTES, u64::from(pass.bytes & 0xffff));
    set(word::RANK, pass.rank & 0xffff_ffff);
    set(word::OUT_PORT, u64::from(pass.out_port & 0x1ff));
    set(word::OUT_QUEUE, u64::from(pass.out_queue & 0x1f));
    set(word::DEPTH, pass.depth & 0xffff_ffff);
}

/// Writes what else there is to read.
#[inline]
fn load_rare(words: &mut [u64; WORDS], pass: &Pass) {
    let mut set = |word: u8, value: u64| words[usize::from(word)] = value;
    set(word::NOW, (pass.now / 1000) & 0xffff_ffff_ffff);
    set(word::IN_PORT, u64::from(pass.in_port & 0x1ff));
    set(word::CLASS, u64::from(pass.class & 0x1f));
    set(word::FLOW, pass.flow & 0xffff_ffff);
    set(word::RANDOM, pass.random & 0xffff);
    set(word::ENQUEUED_DEPTH, pass.enqueued_depth & 0xffff_ffff);
    set(word::WAIT, pass.wait & 0xffff_ffff);
}

/// Writes what a control packet carries.
#[inline]
fn load_headers(words: &mut [u64; WORDS], headers: &[u64; HEADERS]) {
    for (i, header) in headers.iter().enumerate() {
        words[usize::from(word::HEADERS) + i] = *header;
    }
}

/// What a packet carries on.
#[inline]
fn carried(words: &[u64; WORDS]) -> [u64; HEADERS] {
    core::array::from_fn(|i| words[usize::from(word::HEADERS) + i])
}

/// Where an array stands.
#[inline(always)]
fn span_of(program: &Checked, array: u8) -> Span {
    program.code.arrays[usize::from(array)]
}

/// Looks up a row of a table, and puts its results into words.
#[inline(always)]
fn look_up(program: &Checked, lookup: u16, words: &mut [u64; WORDS]) {
    let lookup = &program.code.lookups[usize::from(lookup)];
    let table = &program.tables[usize::from(lookup.table)];
    let row = table.find(words, &lookup.keys);
    for (i, to) in lookup.to.iter().enumerate() {
        words[usize::from(*to)] = table.result(row, i);
    }
}

/// Looks through a window, and lets it slide. The operation that comes next.
#[inline]
fn slide(window: &Window, words: &mut [u64; WORDS], registers: &mut [u64]) -> usize {
    let index = words[usize::from(window.index)];
    let (position, from) = (words[usize::from(window.position)], words[usize::from(window.from)]);
    let below = words[usize::from(window.below)];
    for slot in &window.slots {
        let mut is_below = 0;
        // Where there is no such entry nothing is below, and nothing is kept.
        if index < u64::from(window.entries) {
            if let Some(entry) = registers.get_mut(slot.base as usize + index as usize) {
                is_below = u64::from(*entry < below);
                if position == words[usize::from(slot.number)] {
                    *entry = from;
                }
            }
        }
        words[usize::from(slot.to)] = is_below;
    }
    usize::from(window.next)
}

/// The words of a pass, by the numbers that operands have.
struct Words<'w>(&'w mut [u64; WORDS]);

impl Index<u8> for Words<'_> {
    type Output = u64;

    #[inline(always)]
    fn index(&self, word: u8) -> &u64 {
        &self.0[usize::from(word)]
    }
}

impl IndexMut<u8> for Words<'_> {
    #[inline(always)]
    fn index_mut(&mut self, word: u8) -> &mut u64 {
        &mut self.0[usize::from(word)]
    }
}

/// Does one operation after another.
fn execute(
    program: &Checked,
    ops: &[Op; OPS],
    words: &mut [u64; WORDS],
    registers: &mut [u64],
    meters: &mut [Buckets],
    now: u64,
) -> Actions {
    let mut actions = Actions::default();
    let mut words = Words(words);
    let mut at = 0;
    macro_rules! jump {
        ($jump:expr) => {{
            at = usize::from($jump);
            continue;
        }};
    }
    macro_rules! jump_if {
        ($condition:expr, $jump:expr) => {
            if $condition {
                jump!($jump);
            }
        };
    }
    loop {
        let op = &ops[at % OPS];
        at += 1;
        match *op {
            Op::Copy { to, from } => words[to] = words[from],
            Op::Add { to, a, b, cut } => words[to] = words[a].wrapping_add(words[b]) & mask(cut),
            Op::Subtract { to, a, b, cut } => words[to] = words[a].wrapping_sub(words[b]) & mask(cut),
            Op::SubtractToZero { to, a, b } => words[to] = words[a].saturating_sub(words[b]),
            Op::Min { to, a, b } => words[to] = words[a].min(words[b]),
            Op::Max { to, a, b } => words[to] = words[a].max(words[b]),
            Op::ShiftLeft { to, a, b, cut } => words[to] = shift_left(words[a], words[b]) & mask(cut),
            Op::ShiftRight { to, a, b } => words[to] = shift_right(words[a], words[b]),
            Op::And { to, a, b } => words[to] = words[a] & words[b],
            Op::Or { to, a, b } => words[to] = words[a] | words[b],
            Op::Xor { to, a, b } => words[to] = words[a] ^ words[b],
            Op::Slice { to, from, low, cut } => words[to] = words[from] >> (low & 63) & mask(cut),
            Op::SetEqual { to, a, b } => words[to] = u64::from(words[a] == words[b]),
            Op::SetDifferent { to, a, b } => words[to] = u64::from(words[a] != words[b]),
            Op::SetLess { to, a, b } => words[to] = u64::from(words[a] < words[b]),
            Op::SetAtLeast { to, a, b } => words[to] = u64::from(words[a] >= words[b]),
            Op::IfEqual { a, b, jump } => jump_if!(words[a] == words[b], jump),
            Op::IfDifferent { a, b, jump } => jump_if!(words[a] != words[b], jump),
            Op::IfLess { a, b, jump } => jump_if!(words[a] < words[b], jump),
            Op::IfAtLeast { a, b, jump } => jump_if!(words[a] >= words[b], jump),
            Op::Jump { jump } => jump!(jump),
            Op::Read { index, array, jump } => {
                let Some(place) = span_of(program, array).place(words[index]) else { jump!(jump) };
                words[word::MEM] = registers[place];
            }
            Op::Window { window } => at = slide(&program.code.windows[usize::from(window)], words.0, registers),
            Op::ReadPair { index, array, jump } => {
                let span = span_of(program, array);
                let Some(first) = span.place(words[index]) else { jump!(jump) };
                words[word::MEM] = registers[first];
                words[word::MEM2] = registers[first + span.entries as usize];
            }
            Op::Write { from, index, array } => {
                if let Some(place) = span_of(program, array).place(words[index]) {
                    registers[place] = words[from];
                }
            }
            Op::Meter { to, index, bytes, array } => {
                let place = span_of(program, array).place(words[index]);
                words[to] = place.map_or(GREEN, |place| meters[place].colour(now, words[bytes]));
            }
            Op::Lookup { lookup } => look_up(program, lookup, words.0),
            Op::Drop => actions.drop = true,
            Op::Trim => actions.trim = true,
            Op::Mark => actions.mark = true,
            Op::Recirculate => actions.recirculate = true,
            Op::Mirror { kind } => actions.mirror = kind,
            Op::Multicast { kind } => actions.multicast = kind,
            Op::End => return actions,
        }
    }
}

/// The bits that are left when so many are cut off.
#[inline]
fn mask(cut: u8) -> u64 {
    u64::MAX >> (cut & 63)
}

#[inline]
fn shift_left(a: u64, by: u64) -> u64 {
    if by < 64 { a << by } else { 0 }
}

#[inline]
fn shift_right(a: u64, by: u64) -> u64 {
    if by < 64 { a >> by } else { 0 }
}
