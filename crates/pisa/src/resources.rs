//! What a program needs of a chip.
//!
//! ALUs, meters, gateways and sizes are what the program says. Logical tables, crossbar bytes, hash bits, memory blocks
//! and PHV bits are what a plain compiler would need: one logical table for each access to an array and for each block
//! of other statements, every field once on the crossbar of a stage, one spare block for each array that is written.

use crate::check::flat::{Point, What};
use crate::names::{Names, Value};
use crate::syntax::{Action, Direction, Meter, Operand, Register, Syntax, Table};
use crate::target::Target;
use std::collections::BTreeSet;
use std::fmt;

/// Bits of a meter's entry: two buckets, rates and a time.
const METER_BITS: u64 = 128;
/// Bits that tell an entry of an exact table from a free one, beside its key and results.
const ENTRY_BITS: u64 = 4;
/// The bits of the address of a line of SRAM.
const LINE_BITS: u64 = 10;
/// An exact table looks in so many places at once.
const WAYS: u64 = 4;

/// Resources of a program, both directions together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// Stages with something in them before the traffic manager.
    pub ingress_stages: u64,
    /// Stages with something in them after it.
    pub egress_stages: u64,
    /// Register arrays: each has a stateful ALU.
    pub stateful_alus: u64,
    /// Bytes of register arrays.
    pub stateful_bytes: u64,
    /// Meter arrays.
    pub meters: u64,
    /// Logical tables.
    pub tables: u64,
    /// Entries that the match tables have room for.
    pub table_entries: u64,
    /// Comparisons.
    pub gateways: u64,
    /// Bytes of the crossbars.
    pub crossbar_bytes: u64,
    /// Bits that are hashed.
    pub hash_bits: u64,
    /// Blocks of SRAM.
    pub sram_blocks: u64,
    /// Blocks of TCAM.
    pub tcam_blocks: u64,
    /// Bits of fields that travel with a packet.
    pub phv_bits: u64,
}

/// A resource: how much of it is used, and how much there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Its name.
    pub name: &'static str,
    /// How much of it is used.
    pub used: u64,
    /// How much of it the chip has, if that is a number of its own.
    pub available: Option<u64>,
}

impl Share {
    /// The part that is used.
    pub fn part(&self) -> Option<f64> {
        self.available.map(|available| self.used as f64 / available as f64)
    }
}

impl Resources {
    /// Shares of a chip.
    pub fn of(&self, target: &Target) -> Vec<Share> {
        let all = |of_a_stage: u64| Some(of_a_stage * target.stages);
        let share = |name, used, available| Share { name, used, available };
        vec![
            share("ingress stages", self.ingress_stages, Some(target.stages)),
            share("egress stages", self.egress_stages, Some(target.stages)),
            share("stateful ALUs", self.stateful_alus, all(target.stateful_alus)),
            share("stateful bytes", self.stateful_bytes, None),
            share("meters", self.meters, all(target.stateful_alus)),
            share("logical tables", self.tables, all(target.tables)),
            share("table entries", self.table_entries, None),
            share("gateways", self.gateways, all(target.gateways)),
            share("crossbar bytes", self.crossbar_bytes, all(target.crossbar_bytes)),
            share("hash bits", self.hash_bits, all(target.hash_bits)),
            share("SRAM blocks", self.sram_blocks, all(target.sram_blocks)),
            share("TCAM blocks", self.tcam_blocks, all(target.tcam_blocks)),
            share("PHV bits", self.phv_bits, Some(target.phv_bits)),
        ]
    }

    /// Two parts of a program together.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            ingress_stages: self.ingress_stages + other.ingress_stages,
            egress_stages: self.egress_stages + other.egress_stages,
            stateful_alus: self.stateful_alus + other.stateful_alus,
            stateful_bytes: self.stateful_bytes.saturating_add(other.stateful_bytes),
            meters: self.meters + other.meters,
            tables: self.tables + other.tables,
            table_entries: self.table_entries.saturating_add(other.table_entries),
            gateways: self.gateways + other.gateways,
            crossbar_bytes: self.crossbar_bytes + other.crossbar_bytes,
            hash_bits: self.hash_bits + other.hash_bits,
            sram_blocks: self.sram_blocks.saturating_add(other.sram_blocks),
            tcam_blocks: self.tcam_blocks.saturating_add(other.tcam_blocks),
            phv_bits: self.phv_bits + other.phv_bits,
        }
    }
}

/// The amounts, one a line; with the shares of the chips that [`Resources::of`] is asked for, see [`table`].
impl fmt::Display for Resources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for share in self.of(&Target::tofino()) {
            writeln!(f, "{:<16}{:>8}", share.name, share.used)?;
        }
        Ok(())
    }
}

/// Resources as a small table: used, of how many, and the share.
pub fn table(shares: &[Share]) -> String {
    let mut text = String::new();
    for share in shares {
        let of = share.available.map_or(String::new(), |available| format!("of {available:>6}"));
        let part = share.part().map_or(String::new(), |part| format!("{:>8.2}%", 100.0 * part));
        text.push_str(format!("{:<16}{:>8}  {of:<9}{part}", share.name, share.used).trim_end());
        text.push('\n');
    }
    text
}

/// What one stage of one direction needs.
pub(crate) fn of_stage(
    syntax: &Syntax,
    names: &Names<'_>,
    points: &[Point<'_>],
    direction: Direction,
    stage: u64,
) -> Resources {
    let section = syntax.section(direction);
    let mut sum = Resources::default();
    for register in section.registers.iter().filter(|register| register.stage == stage) {
        sum = sum.plus(of_register(register, names));
    }
    for meter in section.meters.iter().filter(|meter| meter.stage == stage) {
        sum = sum.plus(of_meter(meter, names));
    }
    for table in section.tables.iter().filter(|table| table.stage == stage) {
        sum = sum.plus(of_table(table, names));
    }
    let here: Vec<&Point<'_>> =
        points.iter().filter(|point| point.direction == direction && point.stage == stage).collect();
    sum = sum.plus(of_points(&here, names));
    let used = u64::from(sum != Resources::default());
    match direction {
        Direction::Ingress => Resources { ingress_stages: used, ..sum },
        Direction::Egress => Resources { egress_stages: used, ..sum },
    }
}

fn of_register(register: &Register, names: &Names<'_>) -> Resources {
    let values = if register.pair { 2 } else { 1 };
    let bits = size(&register.entries, names).saturating_mul(u64::from(register.bits) * values);
    Resources { stateful_alus: 1, stateful_bytes: bits / 8, sram_blocks: sram(bits) + 1, ..Resources::default() }
}

fn of_meter(meter: &Meter, names: &Names<'_>) -> Resources {
    let bits = size(&meter.entries, names).saturating_mul(METER_BITS);
    Resources { meters: 1, sram_blocks: sram(bits) + 1, ..Resources::default() }
}

fn of_table(table: &Table, names: &Names<'_>) -> Resources {
    let entries = size(&table.size, names);
    let sum = |columns: &[(String, u64)]| columns.iter().fold(0, |sum: u64, (_, bits)| sum.saturating_add(*bits));
    let (key, results) = (sum(&table.keys), sum(&table.results));
    if table.ternary {
        let tcam_blocks = key.div_ceil(Target::TCAM_BITS).saturating_mul(entries.div_ceil(Target::TCAM_ENTRIES));
        let sram_blocks = sram(entries.saturating_mul(results));
        return Resources { table_entries: entries, tcam_blocks, sram_blocks, ..Resources::default() };
    }
    let entry = key.saturating_add(results).saturating_add(ENTRY_BITS);
    Resources {
        table_entries: entries,
        sram_blocks: sram(entries.saturating_mul(entry)),
        hash_bits: WAYS * LINE_BITS,
        ..Resources::default()
    }
}

fn of_points(points: &[&Point<'_>], names: &Names<'_>) -> Resources {
    let mut sum = Resources::default();
    let mut crossbar = BTreeSet::new();
    let mut blocks = BTreeSet::new();
    for point in points {
        match point.what {
            What::Condition(condition) => sum.gateways += condition.tests.len() as u64,
            What::Statement(statement) => match &statement.action {
                Action::Access(access) => {
                    sum.tables += 1;
                    let entries = names.register(&access.register).map_or(1, |(_, of)| size(&of.entries, names));
                    sum.hash_bits += address_bits(&access.index, entries, names);
                }
                Action::Meter { meter, index, .. } => {
                    sum.tables += 1;
                    let entries = names.meter(meter).map_or(1, |(_, of)| size(&of.entries, names));
                    sum.hash_bits += address_bits(index, entries, names);
                }
                Action::Lookup { .. } => sum.tables += 1,
                _ => {
                    blocks.insert(point.block());
                    continue;
                }
            },
        }
        for operand in point.reads() {
            if let Ok(Value::Word { word, low, bits, .. }) = names.value(operand, None) {
                crossbar.insert((word, low, bits));
            }
        }
    }
    sum.tables += blocks.len() as u64;
    sum.crossbar_bytes = crossbar.iter().map(|(_, _, bits)| u64::from(bits.div_ceil(8))).sum();
    sum
}

/// An entry that a field points to is addressed by hashed bits.
fn address_bits(index: &Operand, entries: u64, names: &Names<'_>) -> u64 {
    match names.value(index, None) {
        Ok(Value::Word { .. }) => LINE_BITS.max(u64::from(u64::BITS - entries.saturating_sub(1).leading_zeros())),
        _ => 0,
    }
}

/// The bits of the fields that one direction uses, in containers of 8, 16 and 32 bits.
pub(crate) fn phv_bits(names: &Names<'_>, points: &[Point<'_>], direction: Direction) -> u64 {
    let mut fields = BTreeSet::new();
    for point in points.iter().filter(|point| point.direction == direction) {
        let writes = point.writes().into_iter().map(|name| Operand::Name(name.to_owned()));
        let reads =
            point.reads().into_iter().filter_map(|operand| operand.name()).map(|name| Operand::Name(name.to_owned()));
        for operand in writes.chain(reads) {
            if let Ok(Value::Word { word, bits, .. }) = names.value(&operand, None) {
                fields.insert((word, bits));
            }
        }
    }
    let containers = |bits: u32| match bits {
        0..=8 => 8,
        9..=16 => 16,
        17..=32 => 32,
        _ => 48,
    };
    fields.into_iter().map(|(_, bits)| containers(bits)).sum()
}

fn size(size: &Operand, names: &Names<'_>) -> u64 {
    names.size(size).unwrap_or(1)
}

fn sram(bits: u64) -> u64 {
    bits.div_ceil(Target::SRAM_BLOCK_BITS)
}
