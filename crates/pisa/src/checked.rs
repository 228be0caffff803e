//! A program that a chip can run.

use crate::compile::{Code, Places};
use crate::meter::Buckets;
use crate::resources::Resources;
use crate::syntax::Direction;
use crate::table::Entries;
use crate::target::Target;
use std::collections::BTreeMap;

/// A program that keeps to the rules of a target, with its table entries and meter rates.
#[derive(Clone, Debug)]
pub struct Checked {
    pub(crate) name: String,
    pub(crate) target: Target,
    pub(crate) code: Code,
    pub(crate) places: Places,
    /// The widths of registers, and whether they are pairs.
    pub(crate) widths: BTreeMap<String, (u32, bool)>,
    /// The values of all register arrays together.
    pub(crate) registers: usize,
    /// The full buckets of all meters, entry by entry.
    pub(crate) meters: Box<[Buckets]>,
    pub(crate) tables: Vec<Entries>,
    pub(crate) kinds: BTreeMap<String, u8>,
    pub(crate) headers: Vec<String>,
    /// Values of registers that do not start at 0: where they begin, how many there are, and what they hold.
    pub(crate) initial: Vec<(usize, usize, u64)>,
    /// The words of metadata fields.
    pub(crate) fields: BTreeMap<String, usize>,
    pub(crate) resources: Resources,
}

impl Checked {
    /// What the program needs of the chip.
    pub fn resources(&self) -> Resources {
        self.resources
    }

    /// The number of a kind of packet.
    pub fn kind(&self, packet: &str) -> Option<u8> {
        self.kinds.get(packet).copied()
    }

    /// The place of a header field in [`crate::Pass::headers`].
    pub fn header(&self, name: &str) -> Option<usize> {
        self.headers.iter().position(|header| header == name)
    }

    /// The chip that it was checked against.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The name of the program.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the program does anything with packets of a kind in a direction.
    pub fn runs(&self, egress: bool, kind: u8) -> bool {
        let direction = if egress { Direction::Egress } else { Direction::Ingress };
        self.code.lists[direction as usize].get(usize::from(kind)).is_some_and(|list| list.ops.is_some())
    }

    /// Where the values of a register array begin, how many there are, and how wide they are.
    pub(crate) fn register_values(&self, name: &str) -> Option<(usize, usize, u32)> {
        let (array, second) = match name.strip_suffix(".mem2") {
            Some(array) => (array, true),
            None => (name, false),
        };
        let (bits, pair) = *self.widths.get(array)?;
        let span = self.places.registers.get(array)?;
        let entries = span.entries as usize;
        let start = span.base as usize + if second { entries } else { 0 };
        (pair || !second).then_some((start, entries, bits))
    }
}
